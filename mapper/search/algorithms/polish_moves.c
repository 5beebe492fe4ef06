/* SPDX-License-Identifier: GPL-3.0-or-later */
/* polish_moves.c - see polish_moves.h. No state.
 *
 * Listed: another design for a set; a moved boundary between two ranges; another order of a set's
 * members; other members (members.h) where there are several sets or kinds of accelerators; other
 * accelerators for a run of layers (over_time.h); a larger or smaller share for a member of a set,
 * which moves cuts to where tiles end; chunks, or none, for all layers of a shape; for one layer;
 * for two neighbours; a strategy for all layers of a shape; for one layer; for a run of two and of
 * three. Strategies are the choices of dynamic programming (initial_mapping.h), with the chunks
 * that the layer had. */
#include <config.h>

#include "mapper/search/algorithms/polish_moves.h"

#include <string.h>

#include "base/alloc.h"
#include "mapper/search/variation/members.h"
#include "mapper/search/variation/over_time.h"
#include "mapper/strategies.h"

enum {
    LONGEST_RUN = 3,
    LONGEST_CHUNK_RUN = 2,
    MOST_MOVED = 16 /* accelerators whose members it moves */
};
static const int shifts[] = {1, -1, 2, -2, 4, -4}; /* of a boundary, in layers */
enum { N_SHIFTS = sizeof shifts / sizeof *shifts };

static const int share_percents[] = {90, 111, 75, 133, 50, 200}; /* of what a member has */
enum { N_SHARE_PERCENTS = sizeof share_percents / sizeof *share_percents };

/* The mapping that is to be changed, and where its moves go. */
typedef struct {
    th_variation *v;
    const th_mapping *now;
    th_moves *out;
} lister;

/* --- lists --- */

static const th_workload *workload_of(const lister *p)
{
    return p->v->search->problem.workload;
}

static bool is_basic(const lister *p)
{
    return p->v->search->options.space == TH_SPACE_BASIC;
}

static int add(const lister *p, const th_move *m)
{
    if (th_grow(&p->out->at, &p->out->capacity, p->out->n + 1, sizeof *p->out->at))
        return -1;
    p->out->at[p->out->n++] = *m;
    return 0;
}

static int list_designs(const lister *p)
{
    const th_system *system = p->v->search->problem.system;
    for (int32_t set = 0; set < p->now->n_sets; set++)
        for (int32_t d = 0; d < system->n_designs; d++)
            if (d != p->now->sets[set].design &&
                th_set_supports_design(system, &p->now->sets[set], d) &&
                (add(p, &(th_move){TH_MOVE_DESIGN, set, d, 0, 0, true}) ||
                 add(p, &(th_move){TH_MOVE_DESIGN, set, d, 0, 0, false})))
                return -1;
    return 0;
}

static int list_boundaries(const lister *p)
{
    for (int l = 1; l < p->now->n_layers; l++)
        for (int i = 0; p->now->set_of[l] != p->now->set_of[l - 1] && i < N_SHIFTS; i++)
            if (add(p, &(th_move){TH_MOVE_BOUNDARY, l, shifts[i], 0, 0, true}) ||
                add(p, &(th_move){TH_MOVE_BOUNDARY, l, shifts[i], 0, 0, false}))
                return -1;
    return 0;
}

static int list_orders(const lister *p)
{
    for (int32_t set = 0; !is_basic(p) && set < p->now->n_sets; set++)
        for (int j = 1; j < th_set_digits(&p->now->sets[set]); j++)
            for (int i = 0; i < j; i++)
                if (add(p, &(th_move){TH_MOVE_ORDER, set, i, j, 0, false}) ||
                    add(p, &(th_move){TH_MOVE_ORDER, set, i, j, 0, true}))
                    return -1;
    return 0;
}

/* Two accelerators change places; or one goes to another set, or becomes idle. */
static int list_members(const lister *p, th_move_kind kind)
{
    const int32_t n = p->v->search->problem.system->n_accels;
    if (n > MOST_MOVED || !th_variation_has_members(p->v, p->now))
        return 0;
    for (int32_t a = 0; a < n; a++) {
        for (int32_t b = a + 1; kind == TH_MOVE_EXCHANGE && b < n; b++)
            if (add(p, &(th_move){kind, a, b, 0, 0, false}) ||
                add(p, &(th_move){kind, a, b, 0, 0, true}))
                return -1;
        for (int32_t set = -1; kind == TH_MOVE_MEMBER && set < p->now->n_sets; set++)
            if (add(p, &(th_move){kind, a, set, 0, 0, true}))
                return -1;
    }
    return 0;
}

/* Has the layer next to no work, so that to bring its parts together costs more than it gains? */
static bool is_small(const lister *p, int l)
{
    const double SMALL = 0.01; /* of the mean */
    const th_workload *w = workload_of(p);
    double macs = 0, outputs = 0;
    for (int i = 0; i < w->n_layers; i++) {
        macs += (double)th_layer_macs(&w->layers[i]);
        outputs += (double)th_layer_output_elements(&w->layers[i]);
    }
    return (double)th_layer_macs(&w->layers[l]) * w->n_layers < SMALL * macs &&
           (double)th_layer_output_elements(&w->layers[l]) * w->n_layers < SMALL * outputs;
}

/* The end of the run of layers from place `from` on in the order of branches: on one set and one
 * branch; small: all or none of them are. */
static int end_of_run(const lister *p, int from, bool by_size)
{
    const th_partitioner *pr = &p->v->partitioner;
    const int32_t first = pr->order[from];
    int to = from + 1;
    for (; to < p->now->n_layers; to++) {
        const int32_t l = pr->order[to];
        if (p->now->set_of[l] != p->now->set_of[first] ||
            pr->branch_of[l] != pr->branch_of[first] ||
            (by_size && is_small(p, l) != is_small(p, first)))
            break;
    }
    return to;
}

/* Where sets overlap: each run to each set of the tree; a run of small layers to each
 * accelerator. */
static int list_regroupings(const lister *p)
{
    const th_partitioner *pr = &p->v->partitioner;
    const int n = p->now->n_layers;
    if (!th_search_sets_overlap(p->v->search) || pr->n_places > 2 * MOST_MOVED ||
        !th_mapping_sets_overlap(p->now))
        return 0;
    for (int by_size = 0; by_size < 2; by_size++)
        for (int from = 0, to; from < n; from = to) {
            to = end_of_run(p, from, by_size);
            for (int i = 0; i < pr->n_places; i++)
                if ((!by_size || (pr->tree.node[i].n == 1 && is_small(p, pr->order[from]))) &&
                    add(p, &(th_move){TH_MOVE_REGROUP, from, i, to - from, 0, true}))
                    return -1;
        }
    return 0;
}

static int list_shares(const lister *p)
{
    if (is_basic(p))
        return 0; /* they are by speed */
    for (int32_t set = 0; set < p->now->n_sets; set++)
        for (int32_t r = 0; p->now->sets[set].shares && r < p->now->sets[set].n_accels; r++)
            for (int i = 0; i < N_SHARE_PERCENTS; i++)
                if (add(p, &(th_move){TH_MOVE_SHARE, set, share_percents[i], r, 0, false}))
                    return -1;
    return 0;
}

/* Does the layer follow no other? */
static bool is_free(const lister *p, int l)
{
    return th_mapping_is_free(p->now, workload_of(p), l);
}

/* The next layer that follows no other, if it is on the same set, or -1. */
static int next_free(const lister *p, int l)
{
    for (int i = l + 1; i < p->now->n_layers; i++)
        if (is_free(p, i))
            return p->now->set_of[i] == p->now->set_of[l] ? i : -1;
    return -1;
}

static bool same_shape(const lister *p, int a, int b)
{
    const th_plans *plans =
        th_lower_plans(th_evaluator_lower(th_pool_evaluator(p->v->search->pool)));
    return p->now->set_of[a] == p->now->set_of[b] &&
           th_plans_shape_class(plans, a) == th_plans_shape_class(plans, b);
}

/* Is l the first of several layers of its shape on its set? */
static bool is_first_of_shape(const lister *p, int l)
{
    bool others = false;
    for (int i = 0; i < l; i++)
        if (same_shape(p, i, l))
            return false;
    for (int i = l + 1; i < p->now->n_layers; i++)
        others |= same_shape(p, i, l);
    return others;
}

static const th_choices *choices_of(const lister *p, int l, th_error *err)
{
    return th_initial_choices(p->v->generator, &p->now->sets[p->now->set_of[l]], l, err);
}

/* All choices of layer l for it and the layers after it, length in all; 0: all of its shape. */
static int list_run(const lister *p, int l, int length, th_error *err)
{
    const th_choices *c = choices_of(p, l, err);
    for (int i = 0; c && i < c->n; i++)
        if (add(p, &(th_move){length ? TH_MOVE_RUN : TH_MOVE_SHAPE, l, i, length, 0, false}))
            return th_error_no_memory(err);
    return c ? 0 : -1;
}

static const th_dim chunk_dims[] = {TH_DIM_H, TH_DIM_W, TH_DIM_K, TH_DIM_B};
enum { N_CHUNK_DIMS = sizeof chunk_dims / sizeof *chunk_dims };

static bool may_chunk(const lister *p, int l, th_dim d, int n)
{
    const th_layer *x = &workload_of(p)->layers[l];
    th_strategy s = p->now->strategy[l];
    s.rotate = TH_NO_ROTATION;
    th_strategy_set_chunks(&s, n, (int32_t)d);
    return !th_strategy_equal(&s, &p->now->strategy[l]) &&
           th_strategy_fits(&s, x, th_search_batch(p->v->search),
                            p->now->sets[p->now->set_of[l]].n_accels);
}

/* All chunks for layer l and the layers after it, length in all; 0: all of its shape. */
static int list_chunks(const lister *p, int l, int length)
{
    const int most = p->v->search->options.chunks;
    th_move m = {
        .kind = length ? TH_MOVE_RUN_CHUNKS : TH_MOVE_SHAPE_CHUNKS, .at = l, .other = length};
    if (p->now->strategy[l].chunks > 0 && add(p, &m))
        return -1;
    for (int d = 0; d < N_CHUNK_DIMS; d++)
        for (m.to = 2; m.to <= most; m.to++) {
            m.dim = (int)chunk_dims[d];
            if (may_chunk(p, l, chunk_dims[d], m.to) && add(p, &m))
                return -1;
        }
    return 0;
}

/* Does the layer begin a run of this length, or (0) is it the first of its shape? */
static bool begins(const lister *p, int l, int length)
{
    return is_free(p, l) && (length > 0 || is_first_of_shape(p, l));
}

static int list_lengths(const lister *p, int least, int most, bool of_chunks, th_error *err)
{
    int failed = 0;
    for (int length = least; length <= most; length++)
        for (int l = 0; !failed && l < p->now->n_layers; l++)
            if (begins(p, l, length))
                failed = of_chunks ? list_chunks(p, l, length) : list_run(p, l, length, err);
    return failed;
}

int th_moves_list(th_variation *v, const th_mapping *now, th_move_kind kind, th_moves *out,
                  th_error *err)
{
    lister p = {v, now, out};
    int failed = 0;
    out->n = 0;
    switch (kind) {
    case TH_MOVE_DESIGN:
        failed = list_designs(&p);
        break;
    case TH_MOVE_BOUNDARY:
        failed = list_boundaries(&p);
        break;
    case TH_MOVE_ORDER:
        failed = list_orders(&p);
        break;
    case TH_MOVE_EXCHANGE:
    case TH_MOVE_MEMBER:
        failed = list_members(&p, kind);
        break;
    case TH_MOVE_REGROUP:
        failed = list_regroupings(&p);
        break;
    case TH_MOVE_SHARE:
        failed = list_shares(&p);
        break;
    case TH_MOVE_SHAPE_CHUNKS:
        failed = list_lengths(&p, 0, 0, true, err);
        break;
    case TH_MOVE_RUN_CHUNKS:
        failed = list_lengths(&p, 1, LONGEST_CHUNK_RUN, true, err);
        break;
    case TH_MOVE_SHAPE:
        return list_lengths(&p, 0, 0, false, err);
    case TH_MOVE_RUN:
        return list_lengths(&p, 1, LONGEST_RUN, false, err);
    default:
        break;
    }
    return failed ? th_error_no_memory(err) : 0;
}

/* --- one move --- */

/* The nearest that the layer can have; false when there is none. */
static bool give(const lister *p, th_mapping *m, int l, const th_strategy *wish)
{
    const th_layer *x = &workload_of(p)->layers[l];
    th_strategy s = *wish;
    if (!th_mapping_is_free(m, workload_of(p), l))
        return true; /* it follows */
    if (!th_strategy_repair(&s, x, th_search_batch(p->v->search), m->sets[m->set_of[l]].n_accels))
        return false;
    m->strategy[l] = s;
    return true;
}

static int shift_boundary(const lister *p, th_mapping *m, const th_move *v, th_error *err)
{
    int32_t lower = p->now->set_of[v->at - 1], upper = p->now->set_of[v->at];
    int from = v->to > 0 ? v->at : v->at + v->to, to = v->to > 0 ? v->at + v->to : v->at;
    for (int l = from < 0 ? 0 : from; l < to && l < m->n_layers; l++) {
        if (m->set_of[l] != (v->to > 0 ? upper : lower))
            continue;
        m->set_of[l] = v->to > 0 ? lower : upper;
        if (!give(p, m, l, &m->strategy[v->to > 0 ? v->at - 1 : v->at]))
            return 1;
    }
    int failed = v->reoptimised ? th_variation_reoptimise(p->v, m, lower, 0, err) : 0;
    return failed || !v->reoptimised ? failed : th_variation_reoptimise(p->v, m, upper, 0, err);
}

static int change_members(const lister *p, th_mapping *m, const th_move *v, th_error *err)
{
    const th_members_settling how = {.keeps_strategies = !v->reoptimised};
    int failed =
        v->kind == TH_MOVE_EXCHANGE
            ? th_member_exchange(m, v->at, v->to)
            : th_member_move(m, v->at, v->to, v->to < 0 ? 0 : m->sets[v->to].n_accels, err);
    return failed ? failed : th_members_settle(p->v, m, p->now, &how, err);
}

static int regroup(const lister *p, th_mapping *m, const th_move *v, th_error *err)
{
    const th_partitioner *pr = &p->v->partitioner;
    const th_set_node *node = &pr->tree.node[v->to];
    bool *moves = th_alloc_zero((size_t)m->n_layers + 1, sizeof *moves);
    if (!moves)
        return th_error_no_memory(err);
    for (int i = v->at; i < v->at + v->other; i++)
        moves[pr->order[i]] = true;
    int failed =
        th_regroup(p->v, m, p->now, &(th_regrouping){moves, node->accels, node->n, 0}, err);
    th_free(moves);
    if (!failed)
        th_mapping_drop_idle_sets(m);
    return failed;
}

static int change_share(th_mapping *m, const th_move *v)
{
    const int all = 100;
    int32_t *share = &m->sets[v->at].shares[v->other];
    int64_t wanted = (int64_t)*share * v->to / all;
    *share = wanted < 1 ? 1 : wanted > TH_SHARE_MAX ? TH_SHARE_MAX : (int32_t)wanted;
    return 0;
}

/* A choice, with the chunks that the layer has. */
static void give_choice(const lister *p, th_mapping *m, int l, const th_strategy *choice)
{
    th_strategy s = *choice;
    th_strategy_take_chunks(&s, &m->strategy[l]);
    give(p, m, l, &s);
}

/* Chunks as a move has them, instead of a rotation. */
static void chunk(const lister *p, th_mapping *m, int l, const th_move *v)
{
    th_strategy s = m->strategy[l];
    if (v->to > 0)
        s.rotate = TH_NO_ROTATION;
    th_strategy_set_chunks(&s, v->to, v->dim);
    give(p, m, l, &s);
}

static int change_order(const lister *p, th_mapping *m, const th_move *v, th_error *err)
{
    if (th_constraints_fixed_set(p->v->search->problem.constraints, &m->sets[v->at]))
        return 1;
    if (th_set_swap_digits(&m->sets[v->at], v->to, v->other))
        return th_error_no_memory(err);
    return v->reoptimised ? th_variation_reoptimise(p->v, m, v->at, 0, err) : 0;
}

/* Changes m, a copy of p->now. 0; 1: it cannot be done; -1: error. */
static int apply(const lister *p, th_mapping *m, const th_move *v, th_error *err)
{
    int l = v->at;
    const th_choices *c;
    switch (v->kind) {
    case TH_MOVE_DESIGN:
        m->sets[v->at].design = v->to;
        if (!th_mapping_spread_design(m, p->v->search->problem.system, v->at))
            return 1;
        return v->reoptimised ? th_variation_reoptimise(p->v, m, v->at, 0, err) : 0;
    case TH_MOVE_BOUNDARY:
        return shift_boundary(p, m, v, err);
    case TH_MOVE_ORDER:
        return change_order(p, m, v, err);
    case TH_MOVE_EXCHANGE:
    case TH_MOVE_MEMBER:
        return change_members(p, m, v, err);
    case TH_MOVE_REGROUP:
        return regroup(p, m, v, err);
    case TH_MOVE_SHARE:
        return change_share(m, v);
    case TH_MOVE_SHAPE_CHUNKS:
        for (int i = v->at; i < m->n_layers; i++)
            if (same_shape(p, i, v->at))
                chunk(p, m, i, v);
        return 0;
    case TH_MOVE_RUN_CHUNKS:
        for (int i = 0; i < v->other && l >= 0; i++, l = next_free(p, l))
            chunk(p, m, l, v);
        return 0;
    case TH_MOVE_SHAPE:
    case TH_MOVE_RUN:
        if (!(c = choices_of(p, v->at, err)))
            return -1;
        for (int i = v->at; v->kind == TH_MOVE_SHAPE && i < m->n_layers; i++)
            if (same_shape(p, i, v->at))
                give_choice(p, m, i, &c->strategy[v->to]);
        for (int i = 0; v->kind == TH_MOVE_RUN && i < v->other && l >= 0; i++, l = next_free(p, l))
            give_choice(p, m, l, &c->strategy[v->to]);
        return 0;
    default:
        return 1;
    }
}

int th_move_make(th_variation *v, const th_mapping *now, const th_move *move, th_mapping **out,
                 th_error *err)
{
    const lister p = {v, now, NULL};
    th_mapping *m = th_mapping_copy(now);
    if (!m)
        return th_error_no_memory(err);
    int failed = apply(&p, m, move, err);
    bool can_run = failed == 0 && th_mapping_follow(m, workload_of(&p), th_search_batch(v->search));
    if (can_run)
        failed = th_search_apply_constraints(v->search, m, err);
    *out = can_run && !failed && !th_mapping_equal(m, now) ? m : NULL;
    if (!*out)
        th_mapping_free(m);
    return failed < 0 ? -1 : 0;
}
