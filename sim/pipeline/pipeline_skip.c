/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_skip.c - jumping whole periods of a tile pipeline that has reached a steady state.
 *
 *   init -> try_skip after every computed step
 *
 * When a step's end moves loop L on (its inner loops are at 0), the state is compared with those of
 * earlier moves of L: everything relative to now and to the counters, doubles bit by bit. Where
 * slots wait for the latency, states recur after as many moves as there are slots, or more; so
 * besides the state of the move before, one is held for 1, 2, 4 ... moves (R. Brent, BIT 20, 1980),
 * which finds any period. If one recurs, what follows is the same period again, for as long as no
 * cursor (array, load engines, store engine) enters the first or last iteration of L, where tiles
 * may differ. So n periods are jumped by adding n times the difference, and the result equals the
 * one of going step by step to the last bit. */
#include <config.h>

#include "sim/pipeline/pipeline_skip.h"

#include <stddef.h>
#include <string.h>

void th_pipeline_skip_init(th_pipeline_skip *k)
{
    for (int loop = 0; loop < TH_N_LOOPS; loop++) {
        k->of[loop].known = false;
        k->of[loop].anchor = 0;
        k->of[loop].gap = 1;
    }
}

/* Cursors agree outside and inside loop, and moved by so many iterations in it. */
static bool index_moved(const int32_t *before, const int32_t *now, int loop, int32_t by)
{
    int32_t differs = 0;
    for (int i = 0; i < TH_N_LOOPS; i++)
        differs |= now[i] - before[i] - (i == loop ? by : 0);
    return differs == 0;
}

static bool same_engine(const th_engine *a, th_time a_now, const th_engine *b, th_time b_now)
{
    if (a->phase != b->phase || a->was_blocked != b->was_blocked)
        return false;
    switch ((th_engine_phase)a->phase) {
    case TH_ENGINE_IDLE:
        return true;
    case TH_ENGINE_WAITS:
        return a->at - a_now == b->at - b_now && a->left_bytes == b->left_bytes && a->cap == b->cap;
    case TH_ENGINE_MOVES:
        return a->left_bytes == b->left_bytes && a->bytes_per_s == b->bytes_per_s &&
               a->cap == b->cap && a->since - a_now == b->since - b_now &&
               a->at - a_now == b->at - b_now;
    }
    return false;
}

/* A slot that became free longer ago than the latency is as good as any other such. */
static th_time freshness(th_time at, th_time now, th_time latency)
{
    return at - now < -latency ? -latency : at - now;
}

static bool same_slots(const th_time *a, int64_t a_first, th_time a_now, const th_time *b,
                       int64_t b_first, th_time b_now, int n, int slots, th_time latency)
{
    for (int i = 0; i < n; i++)
        if (freshness(a[(a_first + i) % slots], a_now, latency) !=
            freshness(b[(b_first + i) % slots], b_now, latency))
            return false;
    return true;
}

static bool in_use(const th_pipeline *p, int e)
{
    return e != TH_ENGINE_PARTIAL || p->reads_partials;
}

static bool same_engines(const th_pipeline *a, const th_pipeline *b, int loop, int32_t moves)
{
    for (int e = 0; e < TH_N_ENGINES; e++) {
        const th_engine *x = &a->engine[e], *y = &b->engine[e];
        bool is_store = e == TH_ENGINE_OUTPUT;
        int32_t by = is_store && loop == TH_LOOP_C && !a->revisits ? 0 : moves;
        if (!in_use(a, e))
            continue;
        int64_t x_lead = x->n_done - (is_store ? a->tiles_done : a->steps_done);
        int64_t y_lead = y->n_done - (is_store ? b->tiles_done : b->steps_done);
        if (x_lead != y_lead || !index_moved(x->index, y->index, loop, by) ||
            !same_engine(x, a->now, y, b->now))
            return false;
    }
    return true;
}

static bool recurs(const th_pipeline *a, const th_pipeline *b, int loop, const th_schedule *s,
                   th_time latency)
{
    int32_t moves = b->index[loop] - a->index[loop];
    if (moves < 1 || !index_moved(a->index, b->index, loop, moves) ||
        !same_engines(a, b, loop, moves))
        return false;
    if ((a->compute_end == TH_TIME_MAX) != (b->compute_end == TH_TIME_MAX) ||
        (a->compute_end != TH_TIME_MAX && a->compute_end - a->now != b->compute_end - b->now))
        return false;
    int stores = (int)(b->tiles_done - b->engine[TH_ENGINE_OUTPUT].n_done);
    return same_slots(a->in_free, a->steps_done, a->now, b->in_free, b->steps_done, b->now,
                      s->slots_in, s->slots_in, latency) &&
           (!a->spills || same_slots(a->sums_free, a->steps_done, a->now, b->sums_free,
                                     b->steps_done, b->now, s->slots_in, s->slots_in, latency)) &&
           same_slots(a->out_full, a->engine[TH_ENGINE_OUTPUT].n_done, a->now, b->out_full,
                      b->engine[TH_ENGINE_OUTPUT].n_done, b->now, stores, s->slots_out, latency);
}

/* How many periods can be jumped before a cursor reaches the last iteration of loop. */
static int64_t room(const th_pipeline *before, const th_pipeline *p, int loop, const th_schedule *s)
{
    int32_t first = before->engine[TH_ENGINE_INPUT].index[loop], furthest = p->index[loop];
    for (int e = TH_ENGINE_WEIGHT; e < TH_ENGINE_OUTPUT; e++)
        if (in_use(before, e) && before->engine[e].index[loop] < first)
            first = before->engine[e].index[loop];
    for (int e = 0; e < TH_N_ENGINES; e++) /* a store may lag behind in the outer loop's previous
                                              iteration */
        if (in_use(p, e) && p->engine[e].index[loop] > furthest)
            furthest = p->engine[e].index[loop];
    int32_t moves = p->index[loop] - before->index[loop];
    return first < 1 ? 0 : ((int64_t)s->count[loop] - 2 - furthest) / moves;
}

static void shift_slots(th_time *slots, int n, int64_t moved, th_time by)
{
    th_time old[TH_SLOTS_MAX];
    memcpy(old, slots, sizeof old);
    for (int i = 0; i < n; i++)
        slots[(i + moved) % n] = old[i] + by;
}

static void shift_engine(th_engine *g, const th_engine *before, int64_t n, th_time by, int loop)
{
    int64_t requests = g->n_done - before->n_done;
    g->index[loop] += (int32_t)((g->index[loop] - before->index[loop]) * n);
    g->n_done += n * requests;
    g->since += by;
    g->at = th_time_add(g->at, by);
}

static void jump(th_pipeline *p, const th_pipeline *before, const th_schedule *s, int64_t n,
                 int loop)
{
    th_time by = n * (p->now - before->now);
    int64_t steps = n * (p->steps_done - before->steps_done),
            tiles = n * (p->tiles_done - before->tiles_done);
    for (int e = 0; e < TH_N_ENGINES; e++)
        shift_engine(&p->engine[e], &before->engine[e], n, by, loop);
    shift_slots(p->in_free, s->slots_in, steps, by);
    shift_slots(p->sums_free, s->slots_in, steps, by);
    shift_slots(p->out_full, s->slots_out, tiles, by);
    p->now += by;
    p->compute_end = th_time_add(p->compute_end, by);
    p->steps_done += steps;
    p->tiles_done += tiles;
    p->index[loop] += (int32_t)n * (p->index[loop] - before->index[loop]);
    p->stats.busy_ps += n * (p->stats.busy_ps - before->stats.busy_ps);
    for (int e = 0; e < TH_N_ENGINES; e++) {
        p->stats.stall_ps[e] += n * (p->stats.stall_ps[e] - before->stats.stall_ps[e]);
        p->stats.moved_bytes[e] += n * (p->stats.moved_bytes[e] - before->stats.moved_bytes[e]);
    }
}

/* Steps of no time, whose periods take none either, fit in any limit. */
static int64_t periods_until(th_time limit, th_time now, th_time period)
{
    return period > 0 ? (limit - now) / period : INT64_MAX;
}

static bool jump_from(const th_pipeline *before, th_pipeline *p, const th_schedule *s,
                      const th_port *port, th_time limit)
{
    int loop = p->last_carry;
    if (!recurs(before, p, loop, s, port->latency_ps))
        return false;
    int64_t n = room(before, p, loop, s), fits = periods_until(limit, p->now, p->now - before->now);
    n = n < fits ? n : fits;
    if (n > 0)
        jump(p, before, s, n, loop);
    return n > 0;
}

/* Has the anchor been there long enough? One of another round of the loops outside is of no use. */
static bool anchor_moves(th_pipeline_seen *seen, const th_pipeline *p, int loop)
{
    const int32_t *at = seen->state[seen->anchor].index;
    int32_t moves = p->index[loop] - at[loop];
    bool same_round = moves > 0 && index_moved(at, p->index, loop, moves);
    if (same_round && moves < seen->gap)
        return false;
    seen->gap = !same_round ? 1 : moves < INT32_MAX / 2 ? 2 * moves : INT32_MAX;
    return true;
}

void th_pipeline_try_skip(th_pipeline_skip *k, th_pipeline *p, const th_schedule *s,
                          const th_port *port, th_time limit)
{
    int loop = p->last_carry;
    th_pipeline_seen *seen = &k->of[loop];
    if (s->count[loop] < 5)
        return;
    if (seen->known && !jump_from(&seen->state[seen->newest], p, s, port, limit) &&
        seen->anchor != seen->newest)
        jump_from(&seen->state[seen->anchor], p, s, port, limit);
    bool moves = !seen->known || anchor_moves(seen, p, loop);
    seen->newest = 1 - seen->anchor;
    if (moves)
        seen->anchor = seen->newest;
    memcpy(&seen->state[seen->newest], p, offsetof(th_pipeline, shares_known));
    seen->known = true;
}
