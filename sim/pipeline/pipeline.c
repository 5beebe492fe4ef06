/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline.c - the tile pipeline of one accelerator.
 *
 *   start -> (advance | set_demand)* -> finish
 *   inside: run_until: { next -> move_to -> finish_all_due -> begin_all_possible -> share_dram
 *                        -> try_skip }
 *
 * Rules (docs/models/pipeline.md): request j of a load engine may begin when step j - slots_in has
 * computed. Its transfer starts one DRAM latency after that, or when the request before it ends,
 * whichever is later. A request for partial sums may begin only after the store that wrote them has
 * ended; in a serial schedule, only when no finished tile waits to be stored. Step j computes when
 * its operands are loaded, step j - 1 has computed and, if it opens an output tile, one of
 * slots_out is free. A store begins when its tile has computed, likewise after the latency and the
 * store before it.
 *
 * Invariants: engine[e].n_done >= steps_done for all load engines in use, and < steps_done +
 * slots_in while a request is in flight; tiles_done - engine[OUTPUT].n_done <= slots_out.
 * left_bytes changes only when a rate changes, so advancing in several parts changes no result.
 *
 * Which engine ends next is unpredictable for a branch predictor; where it is cheap, both cases are
 * computed without a branch. Not modelled here: other users of the DRAM beyond their total demand
 * (see sim/network/fluid). */
#include <config.h>

#include "sim/pipeline/pipeline.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/kernel/fluid_time.h"
#include "sim/pipeline/pipeline_requests.h"
#include "sim/pipeline/pipeline_skip.h"

static bool all_stored(const th_pipeline *p, const th_schedule *s)
{
    return is_past_end(p->engine[TH_ENGINE_OUTPUT].index, p, s);
}

/* --- sharing the DRAM ------------------------------------------------------------------------- */

static void change_rate(th_engine *g, th_time now, double rate)
{
    if (rate == g->bytes_per_s)
        return;
    g->left_bytes = th_fluid_left(g->left_bytes, g->bytes_per_s, now - g->since);
    g->since = now;
    g->bytes_per_s = rate;
    th_time duration = th_fluid_duration(g->left_bytes, rate);
    g->at = duration > TH_TIME_MAX - now ? TH_TIME_MAX : now + duration;
}

/* Sets the rates of the moving engines: max-min fair shares of the bandwidth that flows leave, each
 * up to its cap. */
static void share_dram(th_pipeline *p, const th_port *port)
{
    if (!p->rates_are_stale)
        return;
    p->rates_are_stale = false;
    double left = (double)port->bits_per_s / 8.0 - p->demand_bytes_per_s;
    assert(left > 0);
    for (unsigned open = p->moving; open;) {
        th_engine *slowest = NULL;
        int n = __builtin_popcount(open), number = 0;
        for (unsigned rest = open; rest; rest &= rest - 1) {
            th_engine *g = &p->engine[__builtin_ctz(rest)];
            if (slowest && g->cap >= slowest->cap)
                continue;
            slowest = g;
            number = __builtin_ctz(rest);
        }
        double share = left / n, rate = slowest->cap < share ? slowest->cap : share;
        change_rate(slowest, p->now, rate);
        left -= rate;
        open &= ~(1u << number);
    }
}

/* --- beginning -------------------------------------------------------------------------------- */

/* The maximum rate of a request through the engine's port and its channels, in effective bytes:
 * bytes / efficiency, as a byte in inefficient bursts takes the DRAM time of more than one. */
static double cap_of(const th_schedule *s, const th_port *port, int e, int64_t bytes,
                     double efficiency)
{
    int64_t bits = s->port_bits_per_s[e];
    double channels = th_port_channel_rate(port, bytes), own = (double)bits / 8.0 / efficiency;
    return bits > 0 && own < channels ? own : channels;
}

/* The step that reads back the sums of a visit waited for them, if its slot is free already. */
static void release_sums(th_pipeline *p, const th_schedule *s, int64_t visit)
{
    int64_t step = visit + p->loops.steps_in_c;
    if (step >= p->steps_done && step < p->steps_done + s->slots_in)
        p->slots.sums_free[slot_of(step, s->slots_in)] = p->now;
}

static void end_request(th_pipeline *p, const th_schedule *s, int e)
{
    th_engine *g = &p->engine[e];
    if (e == TH_ENGINE_OUTPUT && p->loops.spills)
        release_sums(p, s, g->n_done);
    g->phase = TH_ENGINE_IDLE;
    g->at = TH_TIME_MAX;
    g->n_done++;
    advance_index(g->index, p, s, e == TH_ENGINE_OUTPUT && !p->loops.revisits);
}

static void finish_request(th_pipeline *p, const th_schedule *s, int e)
{
    th_engine *g = &p->engine[e];
    p->moving &= ~(1u << e);
    p->rates_are_stale = true;
    p->stats.moved_bytes[e] += g->bytes;
    end_request(p, s, e);
}

/* The latency is over. */
static void begin_to_move(th_pipeline *p, const th_schedule *s, int e)
{
    th_engine *g = &p->engine[e];
    g->phase = TH_ENGINE_MOVES;
    g->since = p->now;
    g->at = TH_TIME_MAX;
    p->moving |= 1u << e;
    p->rates_are_stale = true;
    if (isinf(g->cap))
        finish_request(p, s, e);
}

static void wait_or_move(th_pipeline *p, const th_schedule *s, const th_port *port, int e,
                         double dram_bytes, th_time possible_since)
{
    th_engine *g = &p->engine[e];
    g->left_bytes = dram_bytes;
    g->bytes_per_s = 0;
    g->at = th_time_add(possible_since, port->latency_ps);
    g->phase = TH_ENGINE_WAITS;
    if (g->at <= p->now)
        begin_to_move(p, s, e);
}

static void begin_request(th_pipeline *p, const th_schedule *s, const th_port *port, int e,
                          int64_t bytes, th_time possible_since)
{
    th_engine *g = &p->engine[e];
    int64_t run = s->run_bytes[e];
    double efficiency = th_port_efficiency(port, run > 0 && run < bytes ? run : bytes);
    g->bytes = bytes_in_bursts(bytes, run, port->burst_bytes);
    g->cap = cap_of(s, port, e, g->bytes, efficiency);
    wait_or_move(p, s, port, e, (double)g->bytes / efficiency, possible_since);
}

static bool reads_back(const th_pipeline *p, int e)
{
    return e == TH_ENGINE_PARTIAL && p->loops.spills && p->engine[e].index[TH_LOOP_C] > 0;
}

/* Are the sums that the next load of e reads back not stored yet? */
static bool waits_for_sums(const th_pipeline *p, int e)
{
    return reads_back(p, e) &&
           p->engine[TH_ENGINE_OUTPUT].n_done <= p->engine[e].n_done - p->loops.steps_in_c;
}

/* Of a serial schedule: is a tile finished, but not stored? */
static bool waits_for_stores(const th_pipeline *p, const th_schedule *s)
{
    return s->serial && p->engine[TH_ENGINE_OUTPUT].n_done < p->tiles_done;
}

static bool may_load(const th_pipeline *p, const th_schedule *s, const th_engine *g)
{
    bool is_idle = g->phase == TH_ENGINE_IDLE, has_slot = g->n_done < p->steps_done + s->slots_in;
    return is_idle & has_slot & !is_past_end(g->index, p, s); /* one branch */
}

/* Empty requests (an operand that stays on chip) end at once. Inlined, so that e is a constant. */
static inline __attribute__((always_inline)) void begin_load(th_pipeline *p, const th_schedule *s,
                                                             const th_port *port, int e)
{
    th_engine *g = &p->engine[e];
    while (may_load(p, s, g)) {
        int64_t bytes = request_bytes(p, s, e, g->index);
        if (bytes > 0 && waits_for_sums(p, e))
            return;
        if (bytes > 0 && waits_for_stores(p, s)) {
            g->was_blocked = true;
            return;
        }
        const th_time *ready = reads_back(p, e) ? p->slots.sums_free : p->slots.in_free;
        th_time since = g->was_blocked ? p->now : ready[slot_of(g->n_done, s->slots_in)];
        g->was_blocked = false;
        if (bytes > 0)
            begin_request(p, s, port, e, bytes, since);
        else
            end_request(p, s, e);
    }
}

static void begin_store(th_pipeline *p, const th_schedule *s, const th_port *port)
{
    th_engine *g = &p->engine[TH_ENGINE_OUTPUT];
    while ((g->phase == TH_ENGINE_IDLE) & (g->n_done < p->tiles_done)) {
        int64_t bytes = request_bytes(p, s, TH_ENGINE_OUTPUT, g->index);
        if (bytes > 0)
            begin_request(p, s, port, TH_ENGINE_OUTPUT, bytes,
                          p->slots.out_full[slot_of(g->n_done, s->slots_out)]);
        else
            end_request(p, s, TH_ENGINE_OUTPUT);
    }
}

static bool output_slot_free(const th_pipeline *p, const th_schedule *s)
{
    return (!p->loops.revisits && p->index[TH_LOOP_C] != 0) ||
           p->tiles_done < p->engine[TH_ENGINE_OUTPUT].n_done + s->slots_out;
}

static void begin_compute(th_pipeline *p, const th_schedule *s)
{
    if (p->compute_end != TH_TIME_MAX || is_past_end(p->index, p, s))
        return;
    if (missing_operand(p) != TH_ENGINE_OUTPUT || !output_slot_free(p, s))
        return;
    int64_t cycles =
        s->step[last_mask(p->index, s)].cycles + (p->steps_done == 0 ? s->start_cycles : 0);
    p->compute_end = th_time_add(p->now, th_cycles_ps(cycles, s->hz));
}

/* One pass in this order is enough: a store that takes no time lets loads begin, but the begin of a
 * step lets no request begin. */
static void begin_all_possible(th_pipeline *p, const th_schedule *s, const th_port *port)
{
    begin_store(p, s, port);
    begin_load(p, s, port, TH_ENGINE_INPUT);
    begin_load(p, s, port, TH_ENGINE_WEIGHT);
    if (p->loops.reads_partials)
        begin_load(p, s, port, TH_ENGINE_PARTIAL);
    begin_compute(p, s);
    p->done = all_stored(p, s);
}

/* --- ending ----------------------------------------------------------------------------------- */

static void finish_compute(th_pipeline *p, const th_schedule *s)
{
    int slot = slot_of(p->steps_done, s->slots_in);
    p->slots.in_free[slot] = p->slots.sums_free[slot] = p->now;
    p->steps_done++;
    if (p->loops.revisits || p->index[TH_LOOP_C] == s->count[TH_LOOP_C] - 1)
        p->slots.out_full[slot_of(p->tiles_done++, s->slots_out)] = p->now;
    p->compute_end = TH_TIME_MAX;
    p->last_carry = advance_index(p->index, p, s, false);
}

static void finish_all_due(th_pipeline *p, const th_schedule *s)
{
    unsigned due = 0;
    for (int e = 0; e < TH_N_ENGINES; e++)
        due |= (unsigned)(p->engine[e].at <= p->now) << e;
    for (; due; due &= due - 1) {
        int e = __builtin_ctz(due);
        if (p->engine[e].phase == TH_ENGINE_WAITS)
            begin_to_move(p, s, e);
        else
            finish_request(p, s, e);
    }
    if (p->compute_end <= p->now)
        finish_compute(p, s);
}

/* --- time ------------------------------------------------------------------------------------- */

th_time th_pipeline_next(const th_pipeline *p)
{
    th_time next = p->compute_end;
    if (p->done)
        return TH_TIME_MAX;
    for (int e = 0; e < TH_N_ENGINES; e++)
        next = p->engine[e].at < next ? p->engine[e].at : next;
    return next;
}

/* Advances time, which is busy time or a stall of the engine that the array waits for. */
static void move_to(th_pipeline *p, const th_schedule *s, th_time t)
{
    th_engine_kind missing = is_past_end(p->index, p, s) ? TH_ENGINE_OUTPUT : missing_operand(p);
    bool computes = p->compute_end != TH_TIME_MAX;
    *(computes ? &p->stats.busy_ps : &p->stats.stall_ps[missing]) += t - p->now;
    p->now = t;
}

static void run_until(th_pipeline *p, const th_schedule *s, const th_port *port, th_time limit)
{
    th_pipeline_skip skip;
    if (p->skip)
        th_pipeline_skip_init(&skip);
    for (;;) {
        th_time next = th_pipeline_next(p);
        if (next > limit || p->done || next == TH_TIME_MAX)
            break;
        int64_t steps = p->steps_done;
        move_to(p, s, next);
        finish_all_due(p, s);
        begin_all_possible(p, s, port);
        if (!p->rates_from_outside)
            share_dram(p, port);
        if (p->skip && p->steps_done != steps)
            th_pipeline_try_skip(&skip, p, s, port, limit);
    }
}

/* Moves C innermost where no loop of several iterations is inside it. */
static void order_loops(th_pipeline *p, const th_schedule *s)
{
    int n = 0;
    p->loops.revisits = th_schedule_revisits(s);
    p->loops.spills = p->loops.revisits && !s->sums_stay;
    p->loops.reads_partials = p->loops.spills || s->reads_sums;
    p->loops.steps_in_c = 1;
    bool inside = false;
    for (int place = 0; place < TH_N_LOOPS; place++) {
        int loop = th_schedule_loop(s, place);
        if (inside)
            p->loops.steps_in_c *= s->count[loop];
        inside |= loop == TH_LOOP_C;
        if (loop != TH_LOOP_C || p->loops.revisits)
            p->loops.order[n++] = (uint8_t)loop;
    }
    if (!p->loops.revisits)
        p->loops.order[n] = TH_LOOP_C;
}

void th_pipeline_start(th_pipeline *p, const th_schedule *s, const th_port *port,
                       const th_pipeline_options *o)
{
    assert(s->slots_in <= TH_SLOTS_MAX && s->slots_out <= TH_SLOTS_MAX);
    *p = (th_pipeline){.skip = o->skip,
                       .demand_bytes_per_s = o->demand_bytes_per_s,
                       .rates_from_outside = o->rates_from_outside,
                       .compute_end = TH_TIME_MAX};
    for (int e = 0; e < TH_N_ENGINES; e++)
        p->engine[e].at = TH_TIME_MAX;
    order_loops(p, s);
    p->rates_are_stale = true;
    begin_all_possible(p, s, port);
    if (!p->rates_from_outside)
        share_dram(p, port);
}

void th_pipeline_advance(th_pipeline *p, const th_schedule *s, const th_port *port, th_time t)
{
    run_until(p, s, port, t);
    if (!p->done && t > p->now)
        move_to(p, s, t);
}

void th_pipeline_set_demand(th_pipeline *p, const th_port *port, double bytes_per_s)
{
    p->demand_bytes_per_s = bytes_per_s;
    p->rates_are_stale = true;
    share_dram(p, port);
}

th_time th_pipeline_finish(th_pipeline *p, const th_schedule *s, const th_port *port)
{
    run_until(p, s, port, TH_TIME_MAX - 1);
    return p->done ? p->now : TH_TIME_MAX;
}

void th_pipeline_enter_contention(th_pipeline *p)
{
    p->rates_from_outside = true;
    p->skip = false;
}

void th_pipeline_leave_contention(th_pipeline *p, const th_port *port, bool skip)
{
    p->rates_from_outside = false;
    p->skip = skip;
    th_pipeline_set_demand(p, port, 0);
}

unsigned th_pipeline_demand(const th_pipeline *p)
{
    return p->moving;
}

double th_pipeline_cap(const th_pipeline *p, th_engine_kind e)
{
    return p->engine[e].cap;
}

void th_pipeline_set_rate(th_pipeline *p, th_engine_kind e, double bytes_per_s)
{
    assert(p->engine[e].phase == TH_ENGINE_MOVES);
    change_rate(&p->engine[e], p->now, bytes_per_s);
}
