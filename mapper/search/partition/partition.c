/* SPDX-License-Identifier: GPL-3.0-or-later */
/* partition.c - which partitions of a system searches try, from the tree of sets (sets.h).
 *   init -> clear
 * candidates.c keeps the list, heterogeneous_sets.c adds those for heterogeneous accelerators. */
#include <config.h>

#include "mapper/search/partition/partition_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/strategies.h"

static const int FRONTIER_SETS_MAX = 16; /* finer frontiers of the tree are not tried */

/* --- partitions --- */

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
                            !th_partitioner_can_be_set(pr, (int32_t)same)))
            same++;
        if (same == i && th_partitioner_add(pr, &(th_partition){1, {(int32_t)i}, TH_ASSIGN_RANGES}))
            return -1;
    }
    return 0;
}

/* Is it a size for a set that leaves accelerators idle? Those up to seven, times a power of two,
 * share most layers evenly; one less than all lets nothing be lost where one is added. Where
 * dynamic programming takes long, only the one just below a size that does not share evenly. */
static bool is_subset_size(const th_partitioner *pr, int32_t n)
{
    const int32_t all = pr->tree.node[0].n;
    int32_t odd = n;
    for (int32_t i = 0; i < pr->first_given; i++)
        if (pr->tree.node[i].n == n)
            return false;
    while (odd > 7 && odd % 2 == 0)
        odd /= 2;
    return n < TH_INITIAL_LARGE_SET ? odd <= 7 || n == all - 1 : odd <= 7 && 8 * n > 7 * all;
}

/* Of equal accelerators the first of the smallest node on the left edge of the tree that has as
 * many: they are near to one another. Into the list from place `at` on. 0, or -1: no memory. */
static int add_subsets(th_partitioner *pr, size_t at)
{
    int32_t n = th_partitioner_has_several_kinds(pr) ? 0 : pr->tree.node[0].n;
    while (--n > 1) {
        const size_t before = pr->n;
        const th_set_node *from = pr->tree.node;
        if (!is_subset_size(pr, n))
            continue;
        while (from->n_children > 0 && pr->tree.node[from->first_child].n >= n)
            from = &pr->tree.node[from->first_child];
        int32_t node = th_set_tree_add(&pr->tree, pr->problem->system, from->accels, n);
        if (node < 0 || th_partitioner_add(pr, &(th_partition){1, {node}, TH_ASSIGN_RANGES}))
            return -1;
        if (pr->n == before)
            continue;
        th_partition last = pr->partitions[before], *to = &pr->partitions[at++];
        memmove(to + 1, to, (before + 1 - at) * sizeof last);
        *to = last;
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

/* The first accelerator, for the layers that only one can run, beside a set for all others: for
 * each node between it and the root, the node's largest sibling. */
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

bool th_partitioner_has_several_kinds(const th_partitioner *pr)
{
    return th_has_several_kinds(th_initial_plans(pr->generator), pr->problem->system);
}

/* Do all multiply-accumulates clearly exceed those of the longest path through the network? */
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
    if (add_single_sets(pr))
        return th_error_no_memory(err);
    const size_t singles = pr->n;
    if (add_frontiers(pr) || (pr->n_given == 0 && add_uneven(pr)) || add_by_finish(pr))
        return th_error_no_memory(err);
    if ((th_partitioner_has_several_kinds(pr) || p->constraints) &&
        th_partitioner_add_heterogeneous(pr, err))
        return -1;
    if (th_partitioner_add_equal_shares(pr))
        return th_error_no_memory(err);
    pr->n_places = (int32_t)pr->tree.n;
    return add_subsets(pr, singles) ? th_error_no_memory(err) : 0;
}

void th_partitioner_clear(th_partitioner *pr)
{
    th_partitioner_clear_analysis(pr);
    th_set_tree_clear(&pr->tree);
    th_free(pr->partitions);
}
