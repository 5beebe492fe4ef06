/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_skip.c - skips whole periods of a tile pipeline that has reached a steady state.
 *
 *   init -> try_skip after every computed step
 *
 * When the end of a step advances loop L (its inner loops are at 0), the state is compared with
 * earlier states at advances of L: everything relative to now and to the counters, doubles bit by
 * bit. States can recur after more advances than there are slots, so besides the last state one is
 * kept for 1, 2, 4 ... advances (R. Brent, BIT 20, 1980), which finds any period. If a state
 * recurs, the same period repeats until an index (of the array or an engine) enters the first or
 * last iteration of L, where tiles may differ. So n periods are skipped by adding n times the
 * difference, and the result equals stepping to the last bit. Skipping makes the default search of
 * ResNet-34 1.6 times as fast. */
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

/* Are the indices equal but for `by` iterations of loop? */
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

/* Slots that became free longer ago than the latency are equivalent. */
static th_time freshness(th_time at, th_time now, th_time latency)
{
    return at - now < -latency ? -latency : at - now;
}

/* Some slots, from number first on, as seen at time now. */
typedef struct slot_view {
    const th_time *slots;
    int64_t first;
    th_time now;
} slot_view;

static bool same_slots(slot_view a, slot_view b, int n, int slots, th_time latency)
{
    for (int i = 0; i < n; i++)
        if (freshness(a.slots[(a.first + i) % slots], a.now, latency) !=
            freshness(b.slots[(b.first + i) % slots], b.now, latency))
            return false;
    return true;
}

static bool in_use(const th_pipeline *p, int e)
{
    return e != TH_ENGINE_PARTIAL || p->loops.reads_partials;
}

static bool same_engines(const th_pipeline *a, const th_pipeline *b, int loop, int32_t moves)
{
    for (int e = 0; e < TH_N_ENGINES; e++) {
        const th_engine *x = &a->engine[e], *y = &b->engine[e];
        bool is_store = e == TH_ENGINE_OUTPUT;
        int32_t by = is_store && loop == TH_LOOP_C && !a->loops.revisits ? 0 : moves;
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
    return same_slots((slot_view){a->slots.in_free, a->steps_done, a->now},
                      (slot_view){b->slots.in_free, b->steps_done, b->now}, s->slots_in,
                      s->slots_in, latency) &&
           (!a->loops.spills || same_slots((slot_view){a->slots.sums_free, a->steps_done, a->now},
                                           (slot_view){b->slots.sums_free, b->steps_done, b->now},
                                           s->slots_in, s->slots_in, latency)) &&
           same_slots((slot_view){a->slots.out_full, a->engine[TH_ENGINE_OUTPUT].n_done, a->now},
                      (slot_view){b->slots.out_full, b->engine[TH_ENGINE_OUTPUT].n_done, b->now},
                      stores, s->slots_out, latency);
}

/* How many periods can be skipped before an index reaches the last iteration of loop. */
static int64_t periods_left(const th_pipeline *before, const th_pipeline *p, int loop,
                            const th_schedule *s)
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

static void skip_periods(th_pipeline *p, const th_pipeline *before, const th_schedule *s, int64_t n,
                         int loop)
{
    th_time by = n * (p->now - before->now);
    int64_t steps = n * (p->steps_done - before->steps_done),
            tiles = n * (p->tiles_done - before->tiles_done);
    for (int e = 0; e < TH_N_ENGINES; e++)
        shift_engine(&p->engine[e], &before->engine[e], n, by, loop);
    shift_slots(p->slots.in_free, s->slots_in, steps, by);
    shift_slots(p->slots.sums_free, s->slots_in, steps, by);
    shift_slots(p->slots.out_full, s->slots_out, tiles, by);
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

/* Periods of steps that take no time fit in any limit. */
static int64_t periods_until(th_time limit, th_time now, th_time period)
{
    return period > 0 ? (limit - now) / period : INT64_MAX;
}

static bool skip_from(const th_pipeline *before, th_pipeline *p, const th_schedule *s,
                      const th_port *port, th_time limit)
{
    int loop = p->last_carry;
    if (!recurs(before, p, loop, s, port->latency_ps))
        return false;
    int64_t n = periods_left(before, p, loop, s),
            fits = periods_until(limit, p->now, p->now - before->now);
    n = n < fits ? n : fits;
    if (n > 0)
        skip_periods(p, before, s, n, loop);
    return n > 0;
}

/* Is the anchor to be replaced? Always if it is of another iteration of the outer loops. */
static bool anchor_moves(th_pipeline_states *kept, const th_pipeline *p, int loop)
{
    const int32_t *at = kept->state[kept->anchor].index;
    int32_t moves = p->index[loop] - at[loop];
    bool same_outer = moves > 0 && index_moved(at, p->index, loop, moves);
    if (same_outer && moves < kept->gap)
        return false;
    kept->gap = !same_outer ? 1 : moves < INT32_MAX / 2 ? 2 * moves : INT32_MAX;
    return true;
}

void th_pipeline_try_skip(th_pipeline_skip *k, th_pipeline *p, const th_schedule *s,
                          const th_port *port, th_time limit)
{
    int loop = p->last_carry;
    th_pipeline_states *kept = &k->of[loop];
    if (s->count[loop] < 5)
        return;
    if (kept->known && !skip_from(&kept->state[kept->newest], p, s, port, limit) &&
        kept->anchor != kept->newest)
        skip_from(&kept->state[kept->anchor], p, s, port, limit);
    bool moves = !kept->known || anchor_moves(kept, p, loop);
    kept->newest = 1 - kept->anchor;
    if (moves)
        kept->anchor = kept->newest;
    memcpy(&kept->state[kept->newest], p, sizeof *p);
    kept->known = true;
}
