/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heterogeneous_sets.c - candidate sets for heterogeneous accelerators.
 *
 * A class is the accelerators that can run the same layers (and, where sets may not span groups, of
 * one group). Sets are formed inside classes alone, fast members first. Candidates, few on
 * purpose:
 *   - every accelerator alone (or the fastest SINGLES of all classes, in turn);
 *   - the fastest 1, 2, 4 of each class as a set;
 *   - each class in 1, 2, 3, 4, 6, 8 parts of near-equal speed;
 *   - each class in as many parts as there are branches of the network that it has work in, each as
 *     fast as its branch's share of the work asks for.
 * Layers go where they end earliest; for a stream also by ranges, as pipelines. */
#include <config.h>

#include "mapper/search/partition/partition_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { SINGLES = 16 };

typedef struct {
    int32_t accel;
    double speed; /* 1 / time for all that it can run on its array; 0: nothing */
} member;

typedef struct {
    member *member; /* fast ones first */
    int32_t n;
    int32_t first; /* in the array of all */
} class;

typedef struct {
    th_partitioner *partitioner;
    member *all;
    class *classes;
    int32_t n;
    int32_t *part_of; /* scratch: by member of a class */
    double *speed_of; /* scratch: by part */
} kinds;

/* --- classes --- */

/* May it run there? Layers that a partial mapping has placed do not count. */
static bool may_now(const th_partitioner *pr, int layer, int32_t accel)
{
    const th_constraints *c = pr->problem->constraints;
    return th_constraints_allows(c, layer, accel) && !th_constraints_fixes_layer(c, layer);
}

/* What an accelerator can do with the best of its designs; *time NULL: on failure. */
static int alone(kinds *k, int32_t accel, th_time *time, th_error *err)
{
    th_partitioner *pr = k->partitioner;
    const th_accel *a = &pr->problem->system->nodes[pr->problem->system->accel_node[accel]].a;
    int n = pr->problem->workload->n_layers;
    for (int i = 0; i < n; i++)
        time[i] = TH_TIME_MAX;
    for (int d = 0; d < a->n_designs; d++) {
        const th_capability *with =
            th_partitioner_capability(pr, &(th_set){a->designs[d], 1, &accel, NULL}, err);
        if (!with)
            return -1;
        for (int i = 0; i < n; i++)
            if (with->time[i] < time[i] && may_now(pr, i, accel))
                time[i] = with->time[i];
    }
    return 0;
}

static double speed_of(const th_workload *w, const th_time *time)
{
    double sum = 0;
    for (int i = 0; i < w->n_layers; i++)
        sum += time[i] < TH_TIME_MAX ? (double)time[i] : 0;
    return sum > 0 ? 1 / sum : 0;
}

static bool can_some(const th_workload *w, const th_time *time)
{
    bool some = false;
    for (int i = 0; i < w->n_layers; i++)
        some |= time[i] < TH_TIME_MAX;
    return some;
}

static bool can_same(const th_workload *w, const th_time *a, const th_time *b)
{
    bool same = true;
    for (int i = 0; i < w->n_layers; i++)
        same &= (a[i] < TH_TIME_MAX) == (b[i] < TH_TIME_MAX);
    return same;
}

static int by_speed(const void *a, const void *b)
{
    const member *x = a, *y = b;
    if (x->speed != y->speed)
        return x->speed > y->speed ? -1 : 1;
    return x->accel - y->accel;
}

static int group_of(const th_partitioner *pr, int32_t accel)
{
    return pr->problem->system->nodes[pr->problem->system->accel_node[accel]].group;
}

/* The accelerators that can run the same layers as accel and are in no class yet. */
static void gather_class(kinds *k, int32_t accel, const th_time *time, bool *is_taken,
                         int32_t *n_members)
{
    const th_workload *w = k->partitioner->problem->workload;
    class *c = &k->classes[k->n++];
    *c = (class){k->all + *n_members, 0, *n_members};
    for (int32_t a = accel; a < k->partitioner->problem->system->n_accels; a++) {
        const th_time *its = time + (size_t)a * (size_t)w->n_layers;
        if (is_taken[a] || th_constraints_fixes_accel(k->partitioner->problem->constraints, a) ||
            !can_same(w, its, time + (size_t)accel * (size_t)w->n_layers) ||
            (k->partitioner->inside_groups &&
             group_of(k->partitioner, a) != group_of(k->partitioner, accel)))
            continue;
        is_taken[a] = true;
        c->member[c->n++] = (member){a, speed_of(w, its)};
    }
    qsort(c->member, (size_t)c->n, sizeof *c->member, by_speed);
    *n_members += c->n;
    if (!can_some(w, time + (size_t)accel * (size_t)w->n_layers))
        k->n--;
}

static int find_classes(kinds *k, th_error *err)
{
    int32_t n = k->partitioner->problem->system->n_accels, n_members = 0;
    size_t layers = (size_t)k->partitioner->problem->workload->n_layers;
    th_time *time = th_alloc_zero((size_t)n * layers + 1, sizeof *time);
    bool *is_taken = th_alloc_zero((size_t)n + 1, sizeof *is_taken);
    int failed = time && is_taken ? 0 : th_error_no_memory(err);
    for (int32_t a = 0; !failed && a < n; a++)
        failed = alone(k, a, time + (size_t)a * layers, err);
    for (int32_t a = 0; !failed && a < n; a++)
        if (!is_taken[a] && !th_constraints_fixes_accel(k->partitioner->problem->constraints, a))
            gather_class(k, a, time, is_taken, &n_members);
    th_free(time);
    th_free(is_taken);
    return failed;
}

/* --- nodes --- */

/* The node of these accelerators, in this order; -1: out of memory. */
static int32_t node_of(th_partitioner *pr, const int32_t *accels, int32_t n)
{
    for (size_t i = 0; i < pr->tree.n; i++)
        if (pr->tree.node[i].n == n &&
            memcmp(pr->tree.node[i].accels, accels, (size_t)n * sizeof *accels) == 0)
            return (int32_t)i;
    return th_set_tree_add(&pr->tree, pr->problem->system, accels, n);
}

/* The members of a class that are in a part, as a set of the partition. 0, or -1: out of memory. */
static int add_part(kinds *k, const class *c, int32_t part, th_partition *p)
{
    int32_t *accels = th_alloc_array((size_t)c->n + 1, sizeof *accels), n = 0, node = -1;
    for (int32_t i = 0; accels && i < c->n; i++)
        if (k->part_of[i] == part)
            accels[n++] = c->member[i].accel;
    if (accels && n > 0)
        node = node_of(k->partitioner, accels, n);
    th_free(accels);
    if (n > 0 && node < 0)
        return -1;
    if (n > 0 && p->n < TH_PARTITION_SETS_MAX)
        p->node[p->n++] = node;
    return accels ? 0 : -1;
}

static int add_both_assignments(kinds *k, th_partition *p)
{
    p->assignment = TH_ASSIGN_EARLIEST_FINISH;
    if (p->n == 0 || th_partitioner_add(k->partitioner, p))
        return p->n == 0 ? 0 : -1;
    const th_stream *stream = &k->partitioner->problem->stream;
    p->assignment = TH_ASSIGN_RANGES;
    return stream->n_inputs > 1 || stream->micro_batches > 1 ? th_partitioner_add(k->partitioner, p)
                                                             : 0;
}

/* --- candidates --- */

static int add_singles(kinds *k)
{
    th_partition p = {0};
    for (int32_t turn = 0; turn < SINGLES; turn++) {
        for (int32_t c = 0; c < k->n && p.n < SINGLES; c++)
            if (turn < k->classes[c].n)
                p.node[p.n++] = k->partitioner->leaf_of[k->classes[c].member[turn].accel];
    }
    return add_both_assignments(k, &p);
}

/* The fastest "most" of each class. */
static int add_fastest(kinds *k, int32_t most)
{
    th_partition p = {0};
    for (int32_t c = 0; c < k->n; c++) {
        for (int32_t i = 0; i < k->classes[c].n; i++)
            k->part_of[i] = i >= most;
        if (add_part(k, &k->classes[c], 0, &p))
            return -1;
    }
    return add_both_assignments(k, &p);
}

/* Distributes the members, fast ones first, each to the part that lacks most of its wanted
 * speed. */
static void distribute(kinds *k, const class *c, const double *wanted, int32_t parts)
{
    for (int32_t i = 0; i < parts; i++)
        k->speed_of[i] = 0;
    for (int32_t i = 0; i < c->n; i++) {
        int32_t poorest = 0;
        for (int32_t j = 1; j < parts; j++)
            if (k->speed_of[j] * wanted[poorest] < k->speed_of[poorest] * wanted[j] ||
                (k->speed_of[j] == 0 && k->speed_of[poorest] == 0 && wanted[j] > wanted[poorest]))
                poorest = j;
        k->part_of[i] = poorest;
        k->speed_of[poorest] += c->member[i].speed;
    }
}

static int add_parts(kinds *k, const class *c, const double *wanted, int32_t parts, th_partition *p)
{
    distribute(k, c, wanted, parts);
    for (int32_t i = 0; i < parts; i++)
        if (add_part(k, c, i, p))
            return -1;
    return 0;
}

static int add_equal_parts(kinds *k, int32_t parts)
{
    static const double equal[] = {1, 1, 1, 1, 1, 1, 1, 1};
    th_partition p = {0};
    for (int32_t c = 0; c < k->n; c++)
        if (add_parts(k, &k->classes[c], equal, parts < k->classes[c].n ? parts : k->classes[c].n,
                      &p))
            return -1;
    return add_both_assignments(k, &p);
}

/* The class's time for each branch (on its fastest member), branches without any left out. */
static int32_t find_work(kinds *k, const class *c, double *work, th_error *err)
{
    const th_workload *w = k->partitioner->problem->workload;
    int32_t n = 0;
    th_time *time = th_alloc_zero((size_t)w->n_layers + 1, sizeof *time);
    int failed = time ? alone(k, c->member[0].accel, time, err) : th_error_no_memory(err);
    for (int32_t b = 0; !failed && b < k->partitioner->n_branches; b++) {
        work[n] = 0;
        for (int i = 0; i < w->n_layers; i++)
            if (k->partitioner->branch_of[i] == b && time[i] < TH_TIME_MAX)
                work[n] += (double)time[i];
        n += work[n] > 0;
    }
    th_free(time);
    return failed ? -1 : n;
}

static int add_by_branches(kinds *k, th_error *err)
{
    th_partition p = {0};
    double *work = th_alloc_zero((size_t)k->partitioner->n_branches + 2, sizeof *work);
    int failed = work ? 0 : th_error_no_memory(err);
    for (int32_t c = 0; !failed && c < k->n; c++) {
        int32_t n = find_work(k, &k->classes[c], work, err);
        failed = n < 0 ? -1 : 0;
        if (n < 2 || n > k->classes[c].n) {
            n = 1;
            work[0] = 1;
        }
        if (!failed && add_parts(k, &k->classes[c], work, n, &p))
            failed = th_error_no_memory(err);
    }
    th_free(work);
    if (!failed && add_both_assignments(k, &p))
        failed = th_error_no_memory(err);
    return failed;
}

static int add_all(kinds *k, th_error *err)
{
    static const int32_t fastest[] = {1, 2, 4}, parts[] = {1, 2, 3, 4, 6, 8};
    bool failed = add_singles(k) != 0;
    for (size_t i = 0; !failed && i < sizeof parts / sizeof *parts; i++)
        failed = add_equal_parts(k, parts[i]) != 0;
    for (size_t i = 0; !failed && i < sizeof fastest / sizeof *fastest; i++)
        failed = add_fastest(k, fastest[i]) != 0;
    return failed ? th_error_no_memory(err) : add_by_branches(k, err);
}

int th_partitioner_add_heterogeneous(th_partitioner *pr, th_error *err)
{
    size_t n = (size_t)pr->problem->system->n_accels + 1, branches = (size_t)pr->n_branches + n;
    kinds k = {.partitioner = pr,
               .all = th_alloc_zero(n, sizeof *k.all),
               .classes = th_alloc_zero(n, sizeof *k.classes),
               .part_of = th_alloc_zero(n, sizeof *k.part_of),
               .speed_of = th_alloc_zero(branches, sizeof *k.speed_of)};
    int failed = k.all && k.classes && k.part_of && k.speed_of ? 0 : th_error_no_memory(err);
    if (!failed)
        failed = find_classes(&k, err);
    if (!failed)
        failed = add_all(&k, err);
    th_free(k.all);
    th_free(k.classes);
    th_free(k.part_of);
    th_free(k.speed_of);
    return failed;
}
