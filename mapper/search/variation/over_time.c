/* SPDX-License-Identifier: GPL-3.0-or-later */
/* over_time.c - variation of sets that change over time.
 *
 *   over_time: a copy of mother -> narrow, widen or merge: a range of layers goes to other
 *     accelerators | split: the two sides of a join go to two parts of a set -> (regroup)* -> sets
 *     without layers go
 *
 * A range is a run of layers of one set in the order of whole branches. An accelerator that leaves
 * a set for some layers stays in it for the others; it keeps one design. With sets_inside_groups no
 * set comes to span groups. Not where a partial mapping gives sets. */
#include <config.h>

#include "mapper/search/variation/over_time.h"

#include <string.h>

#include "base/alloc.h"
#include "mapper/search/variation/members.h"

enum { RUN_MOST = 8 }; /* layers of a short range */

static const th_system *system_of(const th_variation *v)
{
    return v->search->problem.system;
}

/* --- layers to accelerators --- */

/* A set with the same members, in any order; -1: none. */
static int32_t find_same(const th_mapping *m, const int32_t *accels, int32_t n)
{
    for (int32_t i = 0; i < m->n_sets; i++) {
        int32_t same = 0;
        for (int32_t r = 0; r < n; r++)
            same += th_set_place(&m->sets[i], accels[r]) >= 0;
        if (same == n && m->sets[i].n_accels == n)
            return i;
    }
    return -1;
}

/* A new last set with a design that agrees with the other sets, that of its like (a set) first. Its
 * number; -1: there is none; -2: memory is out. */
static int32_t add_set(th_variation *v, th_mapping *m, const th_regrouping *how, int32_t like)
{
    const th_system *s = system_of(v);
    int32_t set = th_mapping_add_set(m, how->accels, how->n, m->sets[like].design);
    if (set < 0)
        return -2;
    for (int32_t d = TH_DESIGN_OWN - 1; d < s->n_designs; d++) {
        if (d >= TH_DESIGN_OWN)
            m->sets[set].design = d;
        if (th_set_supports_design(s, &m->sets[set], m->sets[set].design) &&
            th_mapping_designs_agree(m, s))
            return set;
    }
    return -1;
}

/* All strategies but those of the layers that move are as before. 0; 1: some cannot be. */
static int keep_others(th_variation *v, th_mapping *m, const th_mapping *before, const bool *moves)
{
    for (int l = 0; l < m->n_layers; l++)
        if (!moves[l])
            th_mapping_take_strategies(m, before, l, l + 1);
    return th_variation_take_chunks(v, m, before);
}

int th_regroup(th_variation *v, th_mapping *m, const th_mapping *before, const th_regrouping *how,
               th_error *err)
{
    const th_constraints *c = v->search->problem.constraints;
    int32_t set = find_same(m, how->accels, how->n), like = -1, moved = 0;
    for (int l = 0; l < m->n_layers; l++)
        like = how->moves[l] && like < 0 ? m->set_of[l] : like;
    bool is_new = set < 0;
    if (like < 0 || set == like || m->n_sets == TH_PARTITION_SETS_MAX)
        return 1;
    if (is_new && (set = add_set(v, m, how, like)) < 0)
        return set == -2 ? th_error_no_memory(err) : 1;
    if (v->search->options.sets_inside_groups && th_set_spans_groups(system_of(v), &m->sets[set]))
        return 1;
    for (int l = 0; l < m->n_layers; l++) {
        if (!how->moves[l])
            continue;
        if (!th_constraints_allows_set(c, l, &m->sets[set]))
            return 1;
        moved += m->set_of[l] != set;
        m->set_of[l] = set;
    }
    th_time estimate;
    int failed = moved == 0;
    if (!failed && is_new)
        failed = th_partitioner_set_shares(&v->partitioner, m, set, err);
    if (!failed)
        failed = th_initial_solve(v->generator, m, set, (th_jitter){how->jitter, v->random},
                                  &estimate, err);
    return failed ? failed : keep_others(v, m, before, how->moves);
}

/* --- ranges --- */

/* Are the layers at two places of the order on one set and one branch? */
static bool belong_together(const th_variation *v, const th_mapping *m, int i, int j)
{
    const int32_t a = v->partitioner.order[i], b = v->partitioner.order[j];
    return m->set_of[a] == m->set_of[b] &&
           v->partitioner.branch_of[a] == v->partitioner.branch_of[b];
}

/* A run of layers of one set: a short one, one up to the end of a branch, or all of the set there.
 */
static void draw_range(th_variation *v, const th_mapping *m, bool *in)
{
    const int n = m->n_layers, kind = th_variation_below(v, 4),
              length = kind < 2 ? 1 + th_variation_below(v, RUN_MOST) : n;
    int first = th_variation_below(v, n);
    while (kind == 3 && first > 0 && belong_together(v, m, first - 1, first))
        first--;
    for (int i = first; i < n && i - first < length && belong_together(v, m, first, i); i++)
        in[v->partitioner.order[i]] = true;
}

/* --- accelerators --- */

/* Members of the set that a node has (is_in), or has not, in the order of the set. Their number. */
static int32_t common(const th_set *set, const th_set_node *node, bool is_in, int32_t *out)
{
    const th_set of_node = {TH_DESIGN_OWN, node->n, node->accels, NULL};
    int32_t n = 0;
    for (int32_t r = 0; r < set->n_accels; r++)
        if ((th_set_place(&of_node, set->accels[r]) >= 0) == is_in)
            out[n++] = set->accels[r];
    return n;
}

static const th_set_node *draw_node(th_variation *v)
{
    return &v->partitioner.tree.node[th_variation_below(v, v->partitioner.n_places)];
}

/* Narrow or move: a part of the set or another one of the tree's; widen: the set and another one;
 * one member less or more; those of another set. Their number. */
static int32_t draw_accels(th_variation *v, const th_mapping *m, const th_set *set, int32_t *out)
{
    const th_set_node *node = draw_node(v);
    int32_t n = set->n_accels, a = (int32_t)th_variation_below(v, system_of(v)->n_accels),
            at = th_set_place(set, a);
    memcpy(out, set->accels, (size_t)n * sizeof *out);
    switch (th_variation_below(v, 6)) {
    case 0:
        return common(set, node, true, out);
    case 1:
        memcpy(out, node->accels, (size_t)node->n * sizeof *out);
        return node->n;
    case 2:
        for (int32_t i = 0; i < node->n; i++)
            if (th_set_place(set, node->accels[i]) < 0)
                out[n++] = node->accels[i];
        return n;
    case 3:
        return common(set, node, false, out);
    case 4:
        if (at < 0)
            out[n++] = a;
        else
            memmove(out + at, out + at + 1, (size_t)(--n - at) * sizeof *out);
        return n;
    default:
        set = &m->sets[th_variation_below(v, m->n_sets)];
        memcpy(out, set->accels, (size_t)set->n_accels * sizeof *out);
        return set->n_accels;
    }
}

/* --- joins --- */

/* The layers that a layer follows from, and itself. */
static void find_ancestors(const th_workload *w, int layer, bool *is)
{
    is[layer] = true;
    for (int l = layer; l >= 0; l--)
        for (int i = 0; is[l] && i < w->layers[l].n_inputs; i++)
            if (w->layers[l].inputs[i] >= 0)
                is[w->layers[l].inputs[i]] = true;
}

/* Two inputs of a layer, and the layers on one set that only one of them follows from. Their set;
 * -1: there are none. */
static int32_t draw_sides(th_variation *v, const th_mapping *m, bool *a, bool *b)
{
    const th_workload *w = v->search->problem.workload;
    int join = th_variation_below(v, w->n_layers), n = w->n_layers;
    for (int i = 0; i < n && w->layers[join].n_inputs < 2; i++)
        join = (join + 1) % n;
    const th_layer *at = &w->layers[join];
    int x = at->inputs[th_variation_below(v, at->n_inputs)],
        y = at->inputs[th_variation_below(v, at->n_inputs)];
    if (x < 0 || y < 0 || x == y || m->set_of[x] != m->set_of[y])
        return -1;
    find_ancestors(w, x, a);
    find_ancestors(w, y, b);
    bool has_a = false, has_b = false;
    for (int l = 0; l < n; l++) {
        bool both = (a[l] && b[l]) || m->set_of[l] != m->set_of[x];
        a[l] &= !both;
        b[l] &= !both;
        has_a |= a[l];
        has_b |= b[l];
    }
    return has_a && has_b ? m->set_of[x] : -1;
}

/* --- all together --- */

/* Scratch: by layer, and by accelerator. */
typedef struct {
    bool *a, *b;
    int32_t *accels;
} scratch;

/* The two sides of a join go to two parts of their set. */
static int split(th_variation *v, th_mapping *m, const th_mapping *mother, const scratch *x,
                 double jitter, th_error *err)
{
    const int32_t set = draw_sides(v, m, x->a, x->b);
    if (set < 0)
        return 1;
    const th_set_node *node = draw_node(v);
    int32_t n = common(&mother->sets[set], node, true, x->accels);
    if (n == 0 || n == mother->sets[set].n_accels)
        return 1;
    int failed = th_regroup(v, m, mother, &(th_regrouping){x->a, x->accels, n, jitter}, err);
    if (failed)
        return failed;
    n = common(&mother->sets[set], node, false, x->accels);
    th_mapping *half = th_mapping_copy(m);
    if (!half)
        return th_error_no_memory(err);
    failed = th_regroup(v, m, half, &(th_regrouping){x->b, x->accels, n, jitter}, err);
    th_mapping_free(half);
    return failed;
}

static int regroup_range(th_variation *v, th_mapping *m, const th_mapping *mother, const scratch *x,
                         double jitter, th_error *err)
{
    int first = 0;
    draw_range(v, m, x->a);
    while (!x->a[first])
        first++;
    int32_t n = draw_accels(v, m, &mother->sets[m->set_of[first]], x->accels);
    return n == 0 ? 1 : th_regroup(v, m, mother, &(th_regrouping){x->a, x->accels, n, jitter}, err);
}

int th_variation_over_time(th_variation *v, const th_mapping *mother, th_mapping **out,
                           th_error *err)
{
    const double SPLIT_RATE = 0.3;
    const size_t layers = (size_t)mother->n_layers + 1;
    scratch x = {th_alloc_zero(layers, 1), th_alloc_zero(layers, 1),
                 th_alloc_array(2 * (size_t)system_of(v)->n_accels + 1, sizeof *x.accels)};
    th_mapping *m = x.a && x.b && x.accels ? th_mapping_copy(mother) : NULL;
    int failed = m ? 0 : th_error_no_memory(err);
    if (!failed) {
        double jitter = th_variation_chance(v, 0.5) ? 0.3 : 0;
        m->generator = TH_GENERATOR_OVER_TIME;
        failed = (th_variation_chance(v, SPLIT_RATE) ? split : regroup_range)(v, m, mother, &x,
                                                                              jitter, err);
    }
    if (!failed)
        th_mapping_drop_idle_sets(m);
    th_free(x.a);
    th_free(x.b);
    th_free(x.accels);
    *out = failed ? NULL : m;
    if (failed)
        th_mapping_free(m);
    return failed < 0 ? -1 : 0;
}
