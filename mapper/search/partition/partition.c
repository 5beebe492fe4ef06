/* SPDX-License-Identifier: GPL-3.0-or-later */
/* partition.c - candidates of partitioning, from the tree of sets (sets.h), and the designs of
 * their sets. init -> (designs_init -> (next | draw)*)* -> clear */
#include <config.h>

#include "mapper/search/partition/partition_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/strategies.h"

static const int FRONTIER_SETS_MAX = 16; /* finer frontiers of the tree are not tried */

/* --- partitions ------------------------------------------------------------------------------- */

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

static bool has_own_designs(const th_partitioner *pr, const th_set_node *node)
{
    const th_system *s = pr->problem->system;
    bool all = true;
    for (int i = 0; i < node->n; i++)
        all &= s->nodes[s->accel_node[node->accels[i]]].a.n_designs > 0;
    return all;
}

/* Inside a group if that is asked for, and with designs. */
static bool can_be_set(const th_partitioner *pr, int32_t node)
{
    if (pr->inside_groups && pr->tree.node[node].spans_groups)
        return false;
    return pr->tree.node[node].n > 0 && has_own_designs(pr, &pr->tree.node[node]);
}

static bool is_known(const th_partitioner *pr, const th_partition *p)
{
    for (size_t i = 0; i < pr->n; i++)
        if (pr->partitions[i].n == p->n && pr->partitions[i].assignment == p->assignment &&
            pr->partitions[i].block == p->block &&
            memcmp(pr->partitions[i].node, p->node, (size_t)p->n * sizeof *p->node) == 0)
            return true;
    return false;
}

/* The same sets with their members interleaved in blocks, wherever one of them can be: which links
 * neighbouring shards talk over is as much a choice as the sets themselves. */
static int add_interleaved(th_partitioner *pr, const th_partition *p)
{
    for (int32_t block = 1; p->block == 0 && block < pr->problem->system->n_accels; block++) {
        th_partition interleaved = *p;
        bool can = false;
        for (int32_t i = 0; i < p->n; i++)
            can |= th_set_tree_can_interleave(&pr->tree, p->node[i], block);
        interleaved.block = block;
        if (can && th_partitioner_add(pr, &interleaved))
            return -1;
    }
    return 0;
}

int th_partitioner_add(th_partitioner *pr, const th_partition *p)
{
    th_partition with = {.n = pr->n_given, .assignment = p->assignment, .block = p->block};
    for (int32_t i = 0; i < p->n; i++)
        if (!can_be_set(pr, p->node[i]))
            return 0;
    bool is_idle = p->assignment == TH_ASSIGN_RANGES && p->n > pr->problem->workload->n_layers;
    if (is_idle || p->n + pr->n_given > TH_PARTITION_SETS_MAX)
        return 0;
    for (int32_t i = 0; i < pr->n_given; i++)
        with.node[i] = pr->first_given + i;
    for (int32_t i = 0; i < p->n; i++)
        with.node[with.n++] = p->node[i];
    if (with.n == 0 || is_known(pr, &with))
        return 0;
    if (th_grow(&pr->partitions, &pr->capacity, pr->n + 1, sizeof *pr->partitions))
        return -1;
    pr->partitions[pr->n++] = with;
    return add_interleaved(pr, p);
}

static bool are_of_a_kind(const th_partitioner *pr, const th_set_node *a, const th_set_node *b)
{
    bool same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++)
        same = pr->kind_of[a->accels[i]] == pr->kind_of[b->accels[i]];
    return same;
}

/* One set alone: the first of every size and row of kinds that can be one, the others idle. */
static int add_single_sets(th_partitioner *pr)
{
    for (size_t i = 0; i < (size_t)pr->first_given; i++) {
        size_t same = 0;
        while (same < i && (!are_of_a_kind(pr, &pr->tree.node[same], &pr->tree.node[i]) ||
                            !can_be_set(pr, (int32_t)same)))
            same++;
        if (same == i && th_partitioner_add(pr, &(th_partition){1, {(int32_t)i}, TH_ASSIGN_RANGES}))
            return -1;
    }
    return 0;
}

/* The frontier below p: every node that has children is replaced by them. False when nothing
 * changes or there are too many. */
static bool descend(const th_partitioner *pr, const th_partition *p, th_partition *out)
{
    *out = (th_partition){0};
    for (int32_t i = 0; i < p->n; i++) {
        const th_set_node *node = &pr->tree.node[p->node[i]];
        int32_t children = node->n_children;
        if (out->n + (children ? children : 1) > FRONTIER_SETS_MAX)
            return false;
        if (!children)
            out->node[out->n++] = p->node[i];
        for (int32_t c = 0; c < children; c++)
            out->node[out->n++] = node->first_child + c;
    }
    return out->n > p->n;
}

static bool can_share_some_layers(const th_partitioner *pr, int32_t n)
{
    int n_layers = pr->problem->workload->n_layers, shared = 0;
    for (int i = 0; i < n_layers; i++)
        shared += th_partitioner_can_split(pr, i, n);
    return shared > 0 && shared < n_layers;
}

static int32_t largest_sibling(const th_set_tree *t, int32_t first)
{
    const th_set_node *parent = &t->node[t->node[first].parent];
    int32_t best = first + 1;
    for (int32_t i = best; i < first + parent->n_children; i++)
        if (t->node[i].n > t->node[best].n)
            best = i;
    return best;
}

/* The first accelerator, for the layers that only one can run, beside a set for all others: on
 * every way from it to the root the largest part that it is not in. */
static int add_uneven(th_partitioner *pr)
{
    const th_set_tree *t = &pr->tree;
    int32_t leaf = 0;
    while (t->node[leaf].n_children > 0)
        leaf = t->node[leaf].first_child;
    for (int32_t i = leaf; t->node[i].parent >= 0; i = t->node[i].parent) {
        int32_t beside = largest_sibling(t, i);
        const th_partition p = {2, {leaf, beside}, TH_ASSIGN_UNEVEN};
        if (can_share_some_layers(pr, t->node[beside].n) && th_partitioner_add(pr, &p))
            return -1;
    }
    return 0;
}

static int add_frontiers(th_partitioner *pr)
{
    th_partition now = {1, {0}, TH_ASSIGN_RANGES}, next;
    while (descend(pr, &now, &next)) {
        if (th_partitioner_add(pr, &next))
            return -1;
        now = next;
    }
    return 0;
}

static bool has_several_kinds(const th_partitioner *pr)
{
    bool several = false;
    for (int a = 0; a < pr->problem->system->n_accels; a++)
        several |= pr->kind_of[a] != pr->kind_of[0];
    return several;
}

/* Multiply-accumulates in all against those of the longest way through the network. */
static bool has_parallel_work(const th_partitioner *pr, int64_t *longest)
{
    const double WORTH_IT = 1.25;
    const th_workload *w = pr->problem->workload;
    int64_t all = 0, most = 0;
    for (int i = 0; i < w->n_layers; i++) {
        longest[i] = 0;
        for (int j = 0; j < w->layers[i].n_inputs; j++) {
            int from = w->layers[i].inputs[j];
            if (from >= 0 && longest[from] > longest[i])
                longest[i] = longest[from];
        }
        longest[i] += th_layer_macs(&w->layers[i]);
        most = longest[i] > most ? longest[i] : most;
        all += th_layer_macs(&w->layers[i]);
    }
    return (double)all > WORTH_IT * (double)most;
}

/* Where there is work to be done side by side, the same sets again with layers where they end
 * earliest. */
static int add_by_finish(th_partitioner *pr)
{
    size_t n = pr->n; /* of those with given sets the second way would be put before them again */
    int64_t *longest = th_alloc_zero((size_t)pr->problem->workload->n_layers + 1, sizeof *longest);
    if (!longest)
        return -1;
    bool is_parallel = has_parallel_work(pr, longest);
    th_free(longest);
    for (size_t i = 0; i < n && is_parallel; i++) {
        th_partition p = pr->partitions[i];
        p.assignment = TH_ASSIGN_EARLIEST_FINISH;
        memmove(p.node, p.node + pr->n_given, sizeof *p.node * (size_t)(p.n - pr->n_given));
        p.n -= pr->n_given;
        if (p.n + pr->n_given > 1 && th_partitioner_add(pr, &p))
            return -1;
    }
    return 0;
}

/* The accelerators that the partial mapping leaves, as a tree, and its sets behind it. */
static int make_tree(th_partitioner *pr)
{
    const th_system *s = pr->problem->system;
    const th_constraints *c = pr->problem->constraints;
    bool *is_taken = th_alloc_zero((size_t)s->n_accels + 1, sizeof *is_taken);
    int failed = is_taken ? 0 : -1;
    for (int32_t a = 0; !failed && a < s->n_accels; a++)
        is_taken[a] = th_constraints_fixes_accel(c, a);
    if (!failed)
        failed = th_set_tree_init(&pr->tree, s, is_taken);
    th_free(is_taken);
    pr->first_given = (int32_t)pr->tree.n;
    for (; !failed && pr->n_given < th_constraints_n_sets(c); pr->n_given++) {
        const th_set *set = &c->partial->sets[pr->n_given];
        failed = th_set_tree_add(&pr->tree, s, set->accels, set->n_accels) < 0;
    }
    return failed ? -1 : 0;
}

/* The first layer on the array that no accelerator it may use can run alone: why searches find
 * nothing, if they do not. */
static int find_infeasibility(th_partitioner *pr, th_error *err)
{
    const th_workload *w = pr->problem->workload;
    const th_system *s = pr->problem->system;
    for (int i = 0; i < w->n_layers; i++) {
        th_strbuf names = TH_STRBUF_INIT;
        bool can = !th_layer_has_macs(&w->layers[i]);
        for (int32_t a = 0; !can && a < s->n_accels; a++) {
            if (!th_constraints_allows(pr->problem->constraints, i, a))
                continue;
            int capable = th_partitioner_runs_alone(pr, a, i, err);
            if (capable < 0) {
                th_strbuf_clear(&names);
                return -1;
            }
            can = capable;
            th_strbuf_printf(&names, "%saccel/%s", names.length > 0 ? ", " : "",
                             s->nodes[s->accel_node[a]].name);
        }
        if (!can)
            th_error_set(&pr->infeasibility, "MAP-0096",
                         "layer \"%s\" can run on none of the accelerators that it may use: %s",
                         w->layers[i].name, names.text ? names.text : "");
        th_strbuf_clear(&names);
        if (!can)
            return 0;
    }
    return 0;
}

int th_partitioner_init(th_partitioner *pr, th_initial_generator *s, const th_problem *p,
                        bool inside_groups, th_error *err)
{
    *pr = (th_partitioner){.problem = p, .generator = s, .inside_groups = inside_groups};
    if (make_tree(pr))
        return th_error_no_memory(err);
    if (th_partitioner_analyze(pr, err) || (p->constraints && find_infeasibility(pr, err)))
        return -1;
    if (pr->n_given > 0 &&
        th_partitioner_add(pr, &(th_partition){.assignment = TH_ASSIGN_EARLIEST_FINISH}))
        return th_error_no_memory(err);
    if (add_single_sets(pr) || add_frontiers(pr) || (pr->n_given == 0 && add_uneven(pr)) ||
        add_by_finish(pr))
        return th_error_no_memory(err);
    return has_several_kinds(pr) || p->constraints ? th_partitioner_add_heterogeneous(pr, err) : 0;
}

void th_partitioner_clear(th_partitioner *pr)
{
    th_partitioner_clear_analysis(pr);
    th_set_tree_clear(&pr->tree);
    th_free(pr->partitions);
}

/* --- designs ---------------------------------------------------------------------------------- */

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
