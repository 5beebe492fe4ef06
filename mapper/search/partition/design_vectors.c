/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design_vectors.c - the designs that the sets of a partition can have, in the order in which
 * searches try them.
 *   init -> (next | draw)*
 * The designs of each set are ranked by the time that they take for the set's layers. */
#include <config.h>

#include <stdlib.h>

#include "base/alloc.h"
#include "base/random.h"
#include "mapper/search/partition/partition_state.h"

/* Of a set of the partial mapping; TH_DESIGN_ANY where it leaves that open, and of other sets. */
static int32_t given_design(const th_partitioner *pr, int32_t node)
{
    const th_set_node *at = &pr->tree.node[node];
    const th_set set = {TH_DESIGN_OWN, at->n, at->accels, NULL},
                 *given = node >= pr->first_given && node < pr->first_given + pr->n_given
                              ? th_constraints_fixed_set(pr->problem->constraints, &set)
                              : NULL;
    return given ? given->design : TH_DESIGN_ANY;
}

/* The designs that all accelerators of the node can take, at most max, or TH_DESIGN_OWN alone when
 * there is none. Their number. */
static int32_t designs_of(const th_partitioner *pr, int32_t node, int32_t *design, int32_t max)
{
    const th_set_node *at = &pr->tree.node[node];
    const th_set set = {TH_DESIGN_OWN, at->n, at->accels, NULL};
    int32_t n = 0, given = given_design(pr, node);
    if (given != TH_DESIGN_ANY)
        design[n++] = given;
    for (int32_t d = 0; given == TH_DESIGN_ANY && d < pr->problem->system->n_designs && n < max;
         d++)
        if (th_set_supports_design(pr->problem->system, &set, d))
            design[n++] = d;
    if (n == 0)
        design[n++] = TH_DESIGN_OWN;
    return n;
}

typedef struct {
    int32_t design;
    int n_unsupported; /* layers that it cannot run */
    double sum;        /* time for the others */
} ranked;

static int by_sum(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->n_unsupported != y->n_unsupported)
        return x->n_unsupported - y->n_unsupported;
    if (x->sum != y->sum)
        return x->sum < y->sum ? -1 : 1;
    return x->design - y->design;
}

/* The designs of a set by the time for its layers; set_of NULL: for all layers. */
static int rank_designs(th_design_vectors *d, th_partitioner *pr, const th_partition *p,
                        int32_t set, const int32_t *set_of, th_error *err)
{
    int32_t n_designs = pr->problem->system->n_designs, n;
    int32_t *can = th_alloc_zero((size_t)n_designs + 1, sizeof *can);
    ranked *all = th_alloc_zero((size_t)n_designs + 1, sizeof *all);
    int failed = can && all ? 0 : th_error_no_memory(err);
    n = failed ? 0 : designs_of(pr, p->node[set], can, n_designs);
    for (int32_t i = 0; !failed && i < n; i++) {
        const th_capability *a = th_partitioner_node_capability(pr, p->node[set], can[i], err);
        failed = a ? 0 : -1;
        all[i].design = can[i];
        for (int k = 0; a && k < pr->problem->workload->n_layers; k++) {
            if (set_of && set_of[k] != set)
                continue;
            all[i].n_unsupported += a->time[k] == TH_TIME_MAX;
            all[i].sum += a->time[k] < TH_TIME_MAX ? (double)a->time[k] : 0;
        }
    }
    if (!failed) {
        qsort(all, (size_t)n, sizeof *all, by_sum);
        d->n_of[set] = n < TH_PARTITION_DESIGNS_MAX ? n : TH_PARTITION_DESIGNS_MAX;
        for (int32_t i = 0; i < d->n_of[set]; i++)
            d->of[set][i] = all[i].design;
    }
    th_free(can);
    th_free(all);
    return failed;
}

static int rank_all(th_design_vectors *d, th_partitioner *pr, const th_partition *p,
                    const int32_t *set_of, th_error *err)
{
    for (int32_t set = 0; set < p->n; set++)
        if (rank_designs(d, pr, p, set, set_of, err))
            return -1;
    return 0;
}

int th_design_vectors_init(th_design_vectors *d, th_partitioner *pr, const th_partition *p,
                           th_error *err)
{
    int32_t first[TH_PARTITION_SETS_MAX],
        *set_of = th_alloc_zero((size_t)pr->problem->workload->n_layers + 1, sizeof *set_of);
    *d = (th_design_vectors){.n = p->n, .uniform = -1};
    if (p->assignment == TH_ASSIGN_BRANCHES) {
        d->n = 1;
        th_free(set_of);
        return rank_designs(d, pr, p, 0, NULL, err);
    }
    int failed = set_of ? rank_all(d, pr, p, NULL, err) : th_error_no_memory(err);
    for (int32_t i = 0; i < p->n; i++)
        first[i] = d->of[i][0];
    if (!failed)
        failed = th_partitioner_assign_layers(pr, p, first, (th_jitter){0}, set_of, err);
    if (failed == 0) /* else every design leaves some layer out */
        failed = rank_all(d, pr, p, set_of, err);
    th_free(set_of);
    return failed < 0 ? -1 : 0;
}

static bool can_have(const th_design_vectors *d, int32_t set, int32_t design)
{
    bool can = false;
    for (int32_t i = 0; i < d->n_of[set]; i++)
        can |= d->of[set][i] == design;
    return can;
}

static void read_digits(const th_design_vectors *d, int32_t *design)
{
    for (int32_t i = 0; i < d->n; i++)
        design[i] = d->of[i][d->digit[i]];
}

static bool is_uniform(const th_design_vectors *d)
{
    int32_t first = d->of[0][d->digit[0]];
    bool same = first != TH_DESIGN_OWN;
    for (int32_t i = 1; i < d->n; i++)
        same &= d->of[i][d->digit[i]] == first;
    return same;
}

/* The next design that all sets can have, the first one's order. */
static bool next_uniform(th_design_vectors *d, int32_t *design)
{
    while (d->uniform < d->n_of[0]) {
        int32_t which = d->of[0][d->uniform++];
        bool all = which != TH_DESIGN_OWN, is_first = true;
        for (int32_t i = 0; i < d->n; i++) {
            all &= can_have(d, i, which);
            is_first &= d->of[i][0] == which;
        }
        for (int32_t i = 0; all && !is_first && i < d->n; i++)
            design[i] = which;
        if (all && !is_first)
            return true;
    }
    return false;
}

/* Deals sum out to the digits from set i on, the last ones first; what is left over. */
static int32_t distribute(th_design_vectors *d, int32_t i, int32_t sum)
{
    for (int32_t at = d->n - 1; at >= i; at--) {
        int32_t most = d->n_of[at] - 1;
        d->digit[at] = sum < most ? sum : most;
        sum -= d->digit[at];
    }
    return sum;
}

/* The next digits with the same sum, counting up, or else the first with the next sum. */
static bool next_digits(th_design_vectors *d)
{
    int32_t behind = 0;
    for (int32_t i = d->n - 1; i >= 0; i--) {
        if (behind > 0 && d->digit[i] + 1 < d->n_of[i]) {
            d->digit[i]++;
            distribute(d, i + 1, behind - 1);
            return true;
        }
        behind += d->digit[i];
    }
    return distribute(d, 0, ++d->sum) == 0;
}

bool th_design_vectors_next(th_design_vectors *d, int32_t *design)
{
    if (d->uniform < 0) {
        d->uniform = 0;
        read_digits(d, design);
        return true;
    }
    if (next_uniform(d, design))
        return true;
    while (next_digits(d)) {
        if (is_uniform(d))
            continue;
        read_digits(d, design);
        return true;
    }
    return false;
}

void th_design_vectors_draw(const th_design_vectors *d, gsl_rng *r, int32_t *design)
{
    for (int32_t i = 0; i < d->n; i++)
        design[i] = d->of[i][th_random_below(r, (uint64_t)d->n_of[i])];
}
