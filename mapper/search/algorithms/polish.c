/* SPDX-License-Identifier: GPL-3.0-or-later */
/* polish.c - local search from the best known mapping: tries small changes as long as any of them
 * is an improvement.
 *
 *   init -> iterate: the initial mappings where there is no start -> cycles over all moves,
 *     batch by batch -> done after a whole cycle without improvement -> clear
 *
 * Moves, in this order: another design for a set; a moved boundary between two ranges; other
 * members (members.h) where there are several sets or kinds of accelerators; other accelerators for
 * a run of layers (over_time.h); a larger or smaller
 * share for a member of a set, which moves cuts to where tiles end; chunks, or none, for all layers
 * of a shape; for one layer; for two neighbours; a strategy for all layers of a shape; for one
 * layer; for a run of two and of three; a strategy each for two neighbours. Strategies are the
 * choices of dynamic programming (initial_mapping.h), with the chunks that the layer had. The best
 * improvement of a batch is kept, and the cycle continues from there. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/search/variation/members.h"
#include "mapper/search/variation/over_time.h"
#include "mapper/search/searches.h"
#include "mapper/strategies.h"

enum {
    BATCH = 16,
    INITIAL_BATCH = 32,
    LONGEST_RUN = 3,
    LONGEST_CHUNK_RUN = 2,
    PAIR_CHOICES = 4, /* of each of two neighbours */
    MOST_MOVED = 16   /* accelerators whose members it moves */
};
static const int shifts[] = {1, -1, 2, -2, 4, -4}; /* of a boundary, in layers */
enum { N_SHIFTS = sizeof shifts / sizeof *shifts };

static const int share_percents[] = {90, 111, 75, 133, 50, 200}; /* of what a member has */
enum { N_SHARE_PERCENTS = sizeof share_percents / sizeof *share_percents };

/* Those up to MOVE_SHARE change the partitioning. */
typedef enum {
    MOVE_DESIGN,
    MOVE_BOUNDARY,
    MOVE_EXCHANGE,
    MOVE_MEMBER,
    MOVE_REGROUP,
    MOVE_SHARE,
    MOVE_SHAPE_CHUNKS,
    MOVE_RUN_CHUNKS,
    MOVE_SHAPE,
    MOVE_RUN,
    MOVE_PAIR
} move_kind;

typedef struct {
    move_kind kind;
    int at; /* set; accelerator; or layer: the first after the boundary, of the run, of the pair */
    int to; /* design; layers; accelerator; set, -1: idle; percent; chunks; choice */
    int other; /* of a share the position; of a run its length; of a pair the second choice */
    int dim;   /* of chunks */
    bool reoptimised; /* strategies of the sets that change by dynamic programming */
} move;

typedef struct {
    th_variation variation;
    th_mapping *now;
    double value;
    move *moves; /* of one cycle */
    size_t n_moves, capacity, next;
    bool improved; /* in this cycle */
} polish;

static int init(th_search *s, th_error *err)
{
    polish *p = s->state;
    p->value = INFINITY;
    return th_variation_init(&p->variation, s, "polish", err);
}

static void clear(th_search *s)
{
    polish *p = s->state;
    th_mapping_free(p->now);
    th_free(p->moves);
    th_variation_clear(&p->variation);
}

/* --- the moves of a cycle --- */

static const th_workload *workload_of(const polish *p)
{
    return p->variation.search->problem.workload;
}

static int add(polish *p, const move *m)
{
    if (th_grow(&p->moves, &p->capacity, p->n_moves + 1, sizeof *p->moves))
        return -1;
    p->moves[p->n_moves++] = *m;
    return 0;
}

static int list_designs(polish *p)
{
    const th_system *system = p->variation.search->problem.system;
    for (int32_t set = 0; set < p->now->n_sets; set++)
        for (int32_t d = 0; d < system->n_designs; d++)
            if (d != p->now->sets[set].design &&
                th_set_supports_design(system, &p->now->sets[set], d) &&
                (add(p, &(move){MOVE_DESIGN, set, d, 0, 0, true}) ||
                 add(p, &(move){MOVE_DESIGN, set, d, 0, 0, false})))
                return -1;
    return 0;
}

static int list_boundaries(polish *p)
{
    for (int l = 1; l < p->now->n_layers; l++)
        for (int i = 0; p->now->set_of[l] != p->now->set_of[l - 1] && i < N_SHIFTS; i++)
            if (add(p, &(move){MOVE_BOUNDARY, l, shifts[i], 0, 0, true}) ||
                add(p, &(move){MOVE_BOUNDARY, l, shifts[i], 0, 0, false}))
                return -1;
    return 0;
}

/* Two accelerators change places; or one goes to another set, or becomes idle. */
static int list_members(polish *p)
{
    const int32_t n = p->variation.search->problem.system->n_accels;
    if (n > MOST_MOVED || !th_variation_has_members(&p->variation, p->now))
        return 0;
    for (int32_t a = 0; a < n; a++) {
        for (int32_t b = a + 1; b < n; b++)
            if (add(p, &(move){MOVE_EXCHANGE, a, b, 0, 0, false}) ||
                add(p, &(move){MOVE_EXCHANGE, a, b, 0, 0, true}))
                return -1;
        for (int32_t set = -1; set < p->now->n_sets; set++)
            if (add(p, &(move){MOVE_MEMBER, a, set, 0, 0, true}))
                return -1;
    }
    return 0;
}

/* Has the layer next to no work, so that to bring its parts together costs more than it gains? */
static bool is_small(const polish *p, int l)
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
static int end_of_run(const polish *p, int from, bool by_size)
{
    const th_partitioner *pr = &p->variation.partitioner;
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
static int list_regroupings(polish *p)
{
    const th_partitioner *pr = &p->variation.partitioner;
    const int n = p->now->n_layers;
    if (!th_search_sets_overlap(p->variation.search) || pr->n_places > 2 * MOST_MOVED ||
        !th_mapping_sets_overlap(p->now))
        return 0;
    for (int by_size = 0; by_size < 2; by_size++)
        for (int from = 0, to; from < n; from = to) {
            to = end_of_run(p, from, by_size);
            for (int i = 0; i < pr->n_places; i++)
                if ((!by_size || (pr->tree.node[i].n == 1 && is_small(p, pr->order[from]))) &&
                    add(p, &(move){MOVE_REGROUP, from, i, to - from, 0, true}))
                    return -1;
        }
    return 0;
}

static int list_shares(polish *p)
{
    if (p->variation.search->options.space == TH_SPACE_BASIC)
        return 0; /* they are by speed */
    for (int32_t set = 0; set < p->now->n_sets; set++)
        for (int32_t r = 0; p->now->sets[set].shares && r < p->now->sets[set].n_accels; r++)
            for (int i = 0; i < N_SHARE_PERCENTS; i++)
                if (add(p, &(move){MOVE_SHARE, set, share_percents[i], r, 0, false}))
                    return -1;
    return 0;
}

/* Does the layer follow no other? */
static bool is_free(const polish *p, int l)
{
    return th_mapping_is_free(p->now, workload_of(p), l);
}

/* The next layer that follows no other, if it is on the same set, or -1. */
static int next_free(const polish *p, int l)
{
    for (int i = l + 1; i < p->now->n_layers; i++)
        if (is_free(p, i))
            return p->now->set_of[i] == p->now->set_of[l] ? i : -1;
    return -1;
}

static bool same_shape(const polish *p, int a, int b)
{
    const th_plans *plans =
        th_lower_plans(th_evaluator_lower(th_pool_evaluator(p->variation.search->pool)));
    return p->now->set_of[a] == p->now->set_of[b] &&
           th_plans_shape_class(plans, a) == th_plans_shape_class(plans, b);
}

/* Is l the first of several layers of its shape on its set? */
static bool is_first_of_shape(const polish *p, int l)
{
    bool others = false;
    for (int i = 0; i < l; i++)
        if (same_shape(p, i, l))
            return false;
    for (int i = l + 1; i < p->now->n_layers; i++)
        others |= same_shape(p, i, l);
    return others;
}

static const th_choices *choices_of(polish *p, int l, th_error *err)
{
    return th_initial_choices(p->variation.generator, &p->now->sets[p->now->set_of[l]], l, err);
}

/* All choices of layer l for it and the layers after it, length in all; 0: all of its shape. */
static int list_run(polish *p, int l, int length, th_error *err)
{
    const th_choices *c = choices_of(p, l, err);
    for (int i = 0; c && i < c->n; i++)
        if (add(p, &(move){length ? MOVE_RUN : MOVE_SHAPE, l, i, length, 0, false}))
            return th_error_no_memory(err);
    return c ? 0 : -1;
}

static const th_dim chunk_dims[] = {TH_DIM_H, TH_DIM_W, TH_DIM_K, TH_DIM_B};
enum { N_CHUNK_DIMS = sizeof chunk_dims / sizeof *chunk_dims };

static bool may_chunk(const polish *p, int l, th_dim d, int n)
{
    const th_layer *x = &workload_of(p)->layers[l];
    th_strategy s = p->now->strategy[l];
    s.rotate = TH_NO_ROTATION;
    th_strategy_set_chunks(&s, n, (int32_t)d);
    return !th_strategy_equal(&s, &p->now->strategy[l]) &&
           th_strategy_fits(&s, x, th_search_batch(p->variation.search),
                            p->now->sets[p->now->set_of[l]].n_accels);
}

/* All chunks for layer l and the layers after it, length in all; 0: all of its shape. */
static int list_chunks(polish *p, int l, int length)
{
    const int most = p->variation.search->options.chunks;
    move m = {.kind = length ? MOVE_RUN_CHUNKS : MOVE_SHAPE_CHUNKS, .at = l, .other = length};
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

static int list_pair(polish *p, int l, th_error *err)
{
    int second = next_free(p, l);
    const th_choices *a = choices_of(p, l, err), *b = second < 0 ? a : choices_of(p, second, err);
    if (!a || !b)
        return -1;
    for (int i = 0; second >= 0 && i < a->n && i < PAIR_CHOICES; i++)
        for (int j = 0; j < b->n && j < PAIR_CHOICES; j++)
            if (add(p, &(move){MOVE_PAIR, l, i, j, 0, false}))
                return th_error_no_memory(err);
    return 0;
}

static int list_strategies(polish *p, th_error *err)
{
    const th_workload *w = workload_of(p);
    for (int length = 0; length <= LONGEST_CHUNK_RUN; length++)
        for (int l = 0; l < w->n_layers; l++)
            if (is_free(p, l) && (length > 0 || is_first_of_shape(p, l)) &&
                list_chunks(p, l, length))
                return th_error_no_memory(err);
    for (int length = 0; length <= LONGEST_RUN; length++)
        for (int l = 0; l < w->n_layers; l++)
            if (is_free(p, l) && (length > 0 || is_first_of_shape(p, l)) &&
                list_run(p, l, length, err))
                return -1;
    for (int l = 0; l < w->n_layers; l++)
        if (is_free(p, l) && list_pair(p, l, err))
            return -1;
    return 0;
}

static int list_moves(polish *p, th_error *err)
{
    p->n_moves = p->next = 0;
    p->improved = false;
    if (list_designs(p) || list_boundaries(p) || list_members(p) || list_regroupings(p) ||
        list_shares(p))
        return th_error_no_memory(err);
    return list_strategies(p, err);
}

/* --- one move --- */

/* The nearest that the layer can have; false when there is none. */
static bool give(const polish *p, th_mapping *m, int l, const th_strategy *wish)
{
    const th_layer *x = &workload_of(p)->layers[l];
    th_strategy s = *wish;
    if (!th_mapping_is_free(m, workload_of(p), l))
        return true; /* it follows */
    if (!th_strategy_repair(&s, x, th_search_batch(p->variation.search),
                            m->sets[m->set_of[l]].n_accels))
        return false;
    m->strategy[l] = s;
    return true;
}

static int shift_boundary(polish *p, th_mapping *m, const move *v, th_error *err)
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
    int failed = v->reoptimised ? th_variation_reoptimise(&p->variation, m, lower, 0, err) : 0;
    return failed || !v->reoptimised ? failed
                                     : th_variation_reoptimise(&p->variation, m, upper, 0, err);
}

static int change_members(polish *p, th_mapping *m, const move *v, th_error *err)
{
    const th_members_settling how = {.keeps_strategies = !v->reoptimised};
    int failed =
        v->kind == MOVE_EXCHANGE
            ? th_member_exchange(m, v->at, v->to)
            : th_member_move(m, v->at, v->to, v->to < 0 ? 0 : m->sets[v->to].n_accels, err);
    return failed ? failed : th_members_settle(&p->variation, m, p->now, &how, err);
}

static int regroup(polish *p, th_mapping *m, const move *v, th_error *err)
{
    const th_partitioner *pr = &p->variation.partitioner;
    const th_set_node *node = &pr->tree.node[v->to];
    bool *moves = th_alloc_zero((size_t)m->n_layers + 1, sizeof *moves);
    if (!moves)
        return th_error_no_memory(err);
    for (int i = v->at; i < v->at + v->other; i++)
        moves[pr->order[i]] = true;
    int failed = th_regroup(&p->variation, m, p->now,
                            &(th_regrouping){moves, node->accels, node->n, 0}, err);
    th_free(moves);
    if (!failed)
        th_mapping_drop_idle_sets(m);
    return failed;
}

static int change_share(th_mapping *m, const move *v)
{
    const int all = 100;
    int32_t *share = &m->sets[v->at].shares[v->other];
    int64_t wanted = (int64_t)*share * v->to / all;
    *share = wanted < 1 ? 1 : wanted > TH_SHARE_MAX ? TH_SHARE_MAX : (int32_t)wanted;
    return 0;
}

/* A choice, with the chunks that the layer has. */
static void give_choice(const polish *p, th_mapping *m, int l, const th_strategy *choice)
{
    th_strategy s = *choice;
    th_strategy_take_chunks(&s, &m->strategy[l]);
    give(p, m, l, &s);
}

/* Chunks as a move has them, instead of a rotation. */
static void chunk(const polish *p, th_mapping *m, int l, const move *v)
{
    th_strategy s = m->strategy[l];
    if (v->to > 0)
        s.rotate = TH_NO_ROTATION;
    th_strategy_set_chunks(&s, v->to, v->dim);
    give(p, m, l, &s);
}

/* Changes m, a copy of p->now. 0; 1: it cannot be done; -1: error. */
static int apply(polish *p, th_mapping *m, const move *v, th_error *err)
{
    int l = v->at;
    const th_choices *c;
    switch (v->kind) {
    case MOVE_DESIGN:
        m->sets[v->at].design = v->to;
        if (!th_mapping_spread_design(m, p->variation.search->problem.system, v->at))
            return 1;
        return v->reoptimised ? th_variation_reoptimise(&p->variation, m, v->at, 0, err) : 0;
    case MOVE_BOUNDARY:
        return shift_boundary(p, m, v, err);
    case MOVE_EXCHANGE:
    case MOVE_MEMBER:
        return change_members(p, m, v, err);
    case MOVE_REGROUP:
        return regroup(p, m, v, err);
    case MOVE_SHARE:
        return change_share(m, v);
    case MOVE_SHAPE_CHUNKS:
        for (int i = v->at; i < m->n_layers; i++)
            if (same_shape(p, i, v->at))
                chunk(p, m, i, v);
        return 0;
    case MOVE_RUN_CHUNKS:
        for (int i = 0; i < v->other && l >= 0; i++, l = next_free(p, l))
            chunk(p, m, l, v);
        return 0;
    case MOVE_SHAPE:
    case MOVE_RUN:
        if (!(c = choices_of(p, v->at, err)))
            return -1;
        for (int i = v->at; v->kind == MOVE_SHAPE && i < m->n_layers; i++)
            if (same_shape(p, i, v->at))
                give_choice(p, m, i, &c->strategy[v->to]);
        for (int i = 0; v->kind == MOVE_RUN && i < v->other && l >= 0; i++, l = next_free(p, l))
            give_choice(p, m, l, &c->strategy[v->to]);
        return 0;
    case MOVE_PAIR:
        if (!(c = choices_of(p, v->at, err)))
            return -1;
        give_choice(p, m, v->at, &c->strategy[v->to]);
        l = next_free(p, v->at);
        if (!(c = choices_of(p, l, err)))
            return -1;
        give_choice(p, m, l, &c->strategy[v->other]);
        return 0;
    }
    return 1;
}

/* *out NULL: the move changes nothing, or cannot be made. */
static int make(polish *p, const move *v, th_mapping **out, th_error *err)
{
    th_mapping *m = th_mapping_copy(p->now);
    if (!m)
        return th_error_no_memory(err);
    m->generator = TH_GENERATOR_LOCAL_MOVE;
    int failed = apply(p, m, v, err);
    bool can_run =
        failed == 0 && th_mapping_follow(m, workload_of(p), th_search_batch(p->variation.search));
    if (can_run)
        failed = th_search_apply_constraints(p->variation.search, m, err);
    *out = can_run && !failed && !th_mapping_equal(m, p->now) ? m : NULL;
    if (!*out)
        th_mapping_free(m);
    return failed < 0 ? -1 : 0;
}

/* --- steps --- */

static int start_at(polish *p, const th_mapping *m, double value, th_error *err)
{
    th_mapping *copy = th_mapping_copy(m);
    if (!copy)
        return th_error_no_memory(err);
    th_mapping_free(p->now);
    p->now = copy;
    p->value = value;
    return list_moves(p, err);
}

/* Starts at what it has evaluated already, the parent's best, options.start or an initial one. */
static int find_start(th_search *s, th_error *err)
{
    polish *p = s->state;
    th_mapping *batch[INITIAL_BATCH] = {NULL};
    th_fitness fitness[INITIAL_BATCH];
    const th_search *from = s->parent && !s->best ? s->parent : s;
    if (from->best && (s->parent || s->options.start))
        return start_at(p, from->best, from->best_fitness.value, err);
    int n = th_variation_initial(&p->variation, batch, th_search_left(s, INITIAL_BATCH), err);
    if (n < 0)
        return -1;
    int failed = th_search_evaluate(s, batch, n, s->best_fitness.value, fitness, err);
    for (int i = 0; i < n; i++)
        th_mapping_free(batch[i]);
    if (failed || th_variation_has_initial(&p->variation))
        return failed;
    s->done = !s->best; /* nothing fits */
    return s->best ? start_at(p, s->best, s->best_fitness.value, err) : 0;
}

static int fill(polish *p, int wanted, th_mapping **batch, const move **made, th_error *err)
{
    int n = 0, failed = 0;
    while (!failed && n < wanted && p->next < p->n_moves) {
        made[n] = &p->moves[p->next++];
        failed = make(p, made[n], &batch[n], err);
        n += !failed && batch[n];
    }
    while (failed && n > 0)
        th_mapping_free(batch[--n]);
    return failed ? -1 : n;
}

/* Takes the best of the batch over if it is better. After a change of the partitioning the cycle
 * begins again, since the choices are others. */
static int accept_best(polish *p, th_mapping **batch, const move **made, const th_fitness *fitness,
                       int n, th_error *err)
{
    int best = -1;
    for (int i = 0; i < n; i++)
        if (fitness[i].fit == TH_FIT &&
            fitness[i].value < (best < 0 ? p->value : fitness[best].value))
            best = i;
    if (best < 0)
        return 0;
    th_mapping *old = p->now;
    p->now = batch[best];
    batch[best] = old;
    p->value = fitness[best].value;
    p->improved = true;
    return made[best]->kind <= MOVE_SHARE ? list_moves(p, err) : 0;
}

static int iterate(th_search *s, th_error *err)
{
    polish *p = s->state;
    th_mapping *batch[BATCH] = {NULL};
    const move *made[BATCH];
    th_fitness fitness[BATCH];
    if (!p->now)
        return find_start(s, err);
    int n = fill(p, th_search_left(s, BATCH), batch, made, err);
    if (n < 0)
        return -1;
    int failed = th_search_evaluate(s, batch, n, p->value, fitness, err);
    if (!failed)
        failed = accept_best(p, batch, made, fitness, n, err);
    for (int i = 0; i < n; i++)
        th_mapping_free(batch[i]);
    if (!failed && p->next == p->n_moves) {
        s->done = !p->improved;
        failed = p->improved ? list_moves(p, err) : 0;
    }
    return failed;
}

const th_search_type th_search_polish = {
    "polish",
    "local search: one change of a strategy, a design, a boundary, a share after the other",
    false,
    0,
    TH_INITIAL_HEURISTIC,
    sizeof(polish),
    init,
    iterate,
    clear,
};
