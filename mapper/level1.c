/* SPDX-License-Identifier: GPL-3.0-or-later */
/* level1.c - candidates of the upper level, from the tree of sets (sets.h).
 *   init -> (next_designs | mapping)* -> clear */
#include <config.h>

#include "mapper/level1.h"

#include <string.h>

#include "base/alloc.h"
#include "mapper/strategies.h"

static bool can_take(const th_level1 *l, int32_t node, int32_t design)
{
    th_set set = {design, l->tree.node[node].n, l->tree.node[node].accels, NULL};
    return th_set_can_take(l->problem->system, &set, design);
}

/* Inside a group if that is asked for, and with a design that all its accelerators can take. */
static bool can_be_set(const th_level1 *l, int32_t node, bool inside_groups)
{
    if (inside_groups && l->tree.node[node].spans_groups)
        return false;
    for (int32_t d = 0; d < l->problem->system->n_designs; d++)
        if (can_take(l, node, d))
            return true;
    return false;
}

static int add_partition(th_level1 *l, const th_partition *p, bool inside_groups)
{
    for (int32_t i = 0; i < p->n; i++)
        if (!can_be_set(l, p->node[i], inside_groups))
            return 0;
    if (p->n > l->problem->workload->n_layers)
        return 0;
    if (th_grow(&l->partitions, &l->capacity, l->n + 1, sizeof *l->partitions))
        return -1;
    l->partitions[l->n++] = *p;
    return 0;
}

/* One set alone: the first of every size that can be one, the others idle. */
static int add_single_sets(th_level1 *l, bool inside_groups)
{
    for (size_t i = 0; i < l->tree.n; i++) {
        size_t same = 0;
        while (same < i && (l->tree.node[same].n != l->tree.node[i].n ||
                            !can_be_set(l, (int32_t)same, inside_groups)))
            same++;
        if (same == i && add_partition(l, &(th_partition){1, {(int32_t)i}, false}, inside_groups))
            return -1;
    }
    return 0;
}

/* The frontier below p: every node that has children is replaced by them. False when nothing
 * changes or there are too many. */
static bool descend(const th_level1 *l, const th_partition *p, th_partition *out)
{
    *out = (th_partition){0};
    for (int32_t i = 0; i < p->n; i++) {
        const th_set_node *node = &l->tree.node[p->node[i]];
        int32_t children = node->n_children;
        if (out->n + (children ? children : 1) > TH_LEVEL1_SETS_MAX)
            return false;
        if (!children)
            out->node[out->n++] = p->node[i];
        for (int32_t c = 0; c < children; c++)
            out->node[out->n++] = node->first_child + c;
    }
    return out->n > p->n;
}

/* Can n accelerators share the layer at all? */
static bool can_share(const th_level1 *l, int layer, int32_t n)
{
    const th_workload *w = l->problem->workload;
    th_strategy s = th_strategy_single;
    return th_strategy_repair(&s, &w->layers[layer], w->batch / l->problem->stream.micro_batches, n);
}

static bool can_share_some_layers(const th_level1 *l, int32_t n)
{
    int n_layers = l->problem->workload->n_layers, shared = 0;
    for (int i = 0; i < n_layers; i++)
        shared += can_share(l, i, n);
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

/* The first accelerator, for the layers that only one can run, beside a set for all others: on every
 * way from it to the root the largest part that it is not in. */
static int add_uneven(th_level1 *l, bool inside_groups)
{
    const th_set_tree *t = &l->tree;
    int32_t leaf = 0;
    while (t->node[leaf].n_children > 0)
        leaf = t->node[leaf].first_child;
    for (int32_t i = leaf; t->node[i].parent >= 0; i = t->node[i].parent) {
        int32_t beside = largest_sibling(t, i);
        const th_partition p = {2, {leaf, beside}, true};
        if (can_share_some_layers(l, t->node[beside].n) && add_partition(l, &p, inside_groups))
            return -1;
    }
    return 0;
}

int th_level1_init(th_level1 *l, const th_problem *p, bool inside_groups)
{
    *l = (th_level1){.problem = p};
    if (th_set_tree_init(&l->tree, p->system) || add_single_sets(l, inside_groups))
        return -1;
    th_partition now = {1, {0}, false}, next;
    while (descend(l, &now, &next)) {
        if (add_partition(l, &next, inside_groups))
            return -1;
        now = next;
    }
    return add_uneven(l, inside_groups);
}

void th_level1_clear(th_level1 *l)
{
    th_set_tree_clear(&l->tree);
    th_free(l->partitions);
}

bool th_level1_next_designs(const th_level1 *l, const th_partition *p, int32_t *design)
{
    int32_t i = p->n - 1, n = l->problem->system->n_designs;
    bool is_first = design[0] < 0;
    if (is_first)
        i = 0;
    for (;;) {
        if (!is_first)
            design[i]++;
        while (design[i] < 0 || (design[i] < n && !can_take(l, p->node[i], design[i])))
            design[i]++;
        if (design[i] < n) {
            if (i == p->n - 1)
                return true;
            design[++i] = -1; /* the sets after it start again */
            is_first = true;
            continue;
        }
        if (i == 0)
            return false;
        i--;
        is_first = false;
    }
}

/* --- layers to sets --------------------------------------------------------------------------- */

static int estimate_layers(const th_level1 *l, th_seeder *s, const th_mapping *m, th_time *time,
                           th_error *err)
{
    const th_workload *w = l->problem->workload;
    for (int i = 0; i < w->n_layers; i++) {
        if (!th_layer_has_macs(&w->layers[i])) {
            time[i] = 0;
            continue;
        }
        const th_choices *c = th_seeder_choices(s, &m->sets[0], i, err);
        if (!c)
            return -1;
        time[i] = c->n > 0 ? c->time[0] : 0;
    }
    return 0;
}

static void cut_evenly(th_mapping *m, const th_time *time)
{
    th_time all = 0, so_far = 0;
    for (int i = 0; i < m->n_layers; i++)
        all += time[i];
    for (int i = 0; i < m->n_layers; i++) {
        int32_t set = (int32_t)((double)so_far * m->n_sets / ((double)all + 1));
        m->set_of[i] = set < m->n_sets ? set : m->n_sets - 1;
        so_far += time[i];
    }
}

/* Near-equal ranges; of an uneven partition all that the second set can run. */
static int give_layers(const th_level1 *l, th_seeder *s, const th_partition *p, th_mapping *m,
                       th_error *err)
{
    for (int i = 0; p->is_uneven && i < m->n_layers; i++)
        m->set_of[i] = can_share(l, i, m->sets[1].n_accels);
    if (p->is_uneven)
        return 0;
    th_time *time = th_alloc_zero((size_t)m->n_layers, sizeof *time);
    int failed = time ? estimate_layers(l, s, m, time, err) : th_error_no_memory(err);
    if (!failed)
        cut_evenly(m, time);
    th_free(time);
    return failed;
}

static th_mapping *empty_mapping(const th_level1 *l, const th_partition *p, const int32_t *design)
{
    int32_t sizes[TH_LEVEL1_SETS_MAX];
    for (int32_t i = 0; i < p->n; i++)
        sizes[i] = l->tree.node[p->node[i]].n;
    th_mapping *m = th_mapping_new(p->n, sizes, l->problem->workload->n_layers);
    for (int32_t i = 0; m && i < p->n; i++) {
        m->sets[i].design = design[i];
        memcpy(m->sets[i].accels, l->tree.node[p->node[i]].accels,
               (size_t)sizes[i] * sizeof *m->sets[i].accels);
    }
    return m;
}

int th_level1_mapping(const th_level1 *l, th_seeder *s, const th_partition *p,
                      const int32_t *design, double jitter, gsl_rng *r, th_mapping **out,
                      th_error *err)
{
    th_mapping *m = empty_mapping(l, p, design);
    int failed = m ? give_layers(l, s, p, m, err) : th_error_no_memory(err);
    for (int32_t set = 0; !failed && set < p->n; set++) {
        th_time estimate;
        failed = th_seeder_run(s, m, set, jitter, r, &estimate, err);
    }
    *out = failed ? NULL : m;
    if (failed)
        th_mapping_free(m);
    return failed < 0 ? -1 : 0;
}
