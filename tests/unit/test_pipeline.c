/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/pipeline.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include <string.h>

enum { HZ = 200000000, CYCLE_PS = 5000 };

/* A DRAM that never limits a port: 1e15 bits/s, no latency, single bytes. */
static const th_port ideal = {1000000000000000, 0, 1};

static int64_t port_bits(int elements_per_cycle)
{
    return (int64_t)elements_per_cycle * 2 * 8 * HZ;
}

static th_time run(const th_schedule *s, const th_port *port, bool skip, th_pipeline_stats *stats)
{
    th_pipeline p;
    th_pipeline_start(&p, s, port, 0, skip);
    th_time end = th_pipeline_finish(&p, s, port);
    CU_ASSERT_EQUAL(p.stats.busy_ps + th_stats_stall_in(&p.stats) + p.stats.stall_ps[TH_ENGINE_OUTPUT], end);
    if (stats)
        *stats = p.stats;
    return end;
}

/* All steps alike: elements, cycles of one step; elements of one store; two slots. */
static th_schedule uniform(const int32_t *count, int64_t in, int64_t weight, int64_t cycles,
                           int64_t out, int ports)
{
    th_schedule s = {.hz = HZ, .slots_in = 2, .slots_out = 2};
    memcpy(s.count, count, sizeof s.count);
    for (int m = 0; m < TH_N_STEP_KINDS; m++)
        s.step[m] = (th_step){2 * in, 2 * weight, cycles};
    for (int m = 0; m < TH_N_STORE_KINDS; m++)
        s.output_bytes[m] = 2 * out;
    for (int e = 0; e < TH_N_ENGINES; e++)
        s.port_bits_per_s[e] = port_bits(ports);
    return s;
}

/* --- known answers ---------------------------------------------------------------------------- */

/* models.md 2.1: B 2, K 128, C 192, 13 x 13, 3 x 3, tile (8, 32, 13, 13), ports of 2.
 *   t_I = 32*169/2 = 2704   t_W = 8*32*9/2 = 1152   t_O = 8*169/2 = 676   t_C = 9*169 = 1521
 *   q = 6, L1 = 2704, P = 2*16 = 32: published P max(q L1, t_O) = 32*16224 = 519168
 *   two slots: + min(t_L, t_C) + min(t_O, q L1) = + 1521 + 676 = 521365 */
static void the_published_tiled_layer(void)
{
    const int32_t count[] = {2, 1, 1, 16, 6};
    th_schedule s = uniform(count, 32 * 169, 8 * 32 * 9, 9 * 169, 8 * 169, 2);
    th_pipeline_stats stats;
    th_closed_form form = th_schedule_closed_form(&s);
    CU_ASSERT_TRUE(form.published_cycles == 519168 && form.two_slot_cycles == 521365);
    CU_ASSERT_EQUAL(run(&s, &ideal, true, &stats), 521365LL * CYCLE_PS);
    CU_ASSERT_EQUAL(run(&s, &ideal, false, NULL), 521365LL * CYCLE_PS);
    CU_ASSERT_EQUAL(stats.busy_ps, 192 * 1521LL * CYCLE_PS);
    CU_ASSERT_EQUAL(th_stats_read(&stats), 192 * 2 * (32 * 169 + 8 * 32 * 9));
    CU_ASSERT_EQUAL(stats.moved_bytes[TH_ENGINE_OUTPUT], 32 * 2 * 8 * 169);
}

static int64_t max2(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min2(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* cycles = P max(q L1, t_O) + min(t_L, t_C) + min(t_O, q L1), for unclipped tiles and two slots. */
static void the_two_slot_closed_form(void)
{
    gsl_rng *r = th_random_stream(2, "closed form", 0);
    int wrong = 0;
    for (int round = 0; round < 5000; round++) {
        int32_t count[] = {(int32_t)pick(r, 1, 3), (int32_t)pick(r, 1, 4), (int32_t)pick(r, 1, 4),
                           (int32_t)pick(r, 1, 6), (int32_t)pick(r, 1, 9)};
        int64_t t_i = pick(r, 1, 900), t_w = pick(r, 1, 900), t_c = pick(r, 1, 900),
                t_o = pick(r, 1, 4000);
        th_schedule s = uniform(count, 4 * t_i, 4 * t_w, t_c, 4 * t_o, 4);
        int64_t q = count[TH_LOOP_C], tiles = (int64_t)count[0] * count[1] * count[2] * count[3];
        int64_t t_l = max2(t_i, t_w), l1 = max2(t_l, t_c);
        int64_t cycles = tiles * max2(q * l1, t_o) + min2(t_l, t_c) + min2(t_o, q * l1);
        wrong += run(&s, &ideal, true, NULL) != cycles * CYCLE_PS ||
                 th_schedule_closed_form(&s).two_slot_cycles != (double)cycles;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    gsl_rng_free(r);
}

/* Ports of 3.2 GB/s on a DRAM of 5 GB/s, latency 70 ns, bursts of 64; three steps of 100 bytes,
 * each 40 ns to load 128 bytes at 3.2 GB/s (the port), compute 25 ns, one output of 64 bytes, 20
 * ns.
 *   loads: 70 .. 110, 110 .. 150 (its slot was free from the start), then step 0 has computed at
 *   135, so the third may begin at 135 and moves from 135 + 70 = 205 on, .. 245
 *   computes: 110 .. 135, 150 .. 175, 245 .. 270;  store: 270 + 70 = 340 .. 360 */
static void latency_is_paid_once_and_hidden_when_slots_are_free(void)
{
    th_schedule s = {.hz = HZ,
                     .count = {1, 1, 1, 1, 3},
                     .slots_in = 2,
                     .slots_out = 2,
                     .weight_stays = 31,
                     .port_bits_per_s = {25600000000, 25600000000, 25600000000, 25600000000}};
    const th_port dram = {40000000000, 70000, 64};
    for (int m = 0; m < TH_N_STEP_KINDS; m++)
        s.step[m] = (th_step){100, 0, 5};
    for (int m = 0; m < TH_N_STORE_KINDS; m++)
        s.output_bytes[m] = 64;
    th_pipeline_stats stats;
    CU_ASSERT_EQUAL(run(&s, &dram, false, &stats), 360000);
    CU_ASSERT_TRUE(stats.busy_ps == 75000 && stats.stall_ps[TH_ENGINE_OUTPUT] == 90000 &&
                   th_stats_stall_in(&stats) == 195000);
    CU_ASSERT_TRUE(th_stats_read(&stats) == 3 * 128 && stats.moved_bytes[TH_ENGINE_OUTPUT] == 64);
    /* with four slots all loads queue up: 70 .. 110 .. 150 .. 190, computes end at 215 */
    s.slots_in = 4;
    CU_ASSERT_EQUAL(run(&s, &dram, false, NULL), 215000 + 70000 + 20000);
}

/* A DRAM of 6 GB/s, three engines: input port 1 GB/s, the others without limit. Two steps, one tile
 * each. Inputs of 1000 bytes: always 1 GB/s, 1000 ns. Weights of 10000 bytes: 5 GB/s, 2000 ns,
 * while the input is under way (1000 ns, 5000 bytes; the second input follows at once and takes
 * another 1000 ns), so 2000 ns. Second weights from 2000 ns alone: 6 GB/s, 1666.667 ns -> 3666.667.
 * Step 0 computes 2000 .. 2500 and its store of 3000 bytes begins at 2500 and shares 3 GB/s each:
 * 3500 ns. Until then the weights have had 500 ns * 6 + 1000 ns * 3 = 6000 bytes; the rest of 4000
 * at 6 GB/s: 3500 + 666.667 = 4166.667 ns (rounded up). Step 1 computes 500 ns and stores 500 ns:
 * 5166.667. */
static void engines_share_the_dram_fairly(void)
{
    th_schedule s = {.hz = HZ,
                     .count = {1, 1, 1, 2, 1},
                     .slots_in = 2,
                     .slots_out = 2,
                     .port_bits_per_s = {8000000000, 0, 0}};
    const th_port dram = {48000000000, 0, 1};
    for (int m = 0; m < TH_N_STEP_KINDS; m++)
        s.step[m] = (th_step){1000, 10000, 100};
    for (int m = 0; m < TH_N_STORE_KINDS; m++)
        s.output_bytes[m] = 3000;
    CU_ASSERT_EQUAL(run(&s, &dram, false, NULL), 4166667 + 1000000);
    /* and with 2 GB/s drawn by others all the time, 4 GB/s are left:
     * weights 3 GB/s for 2000 ns (6000), then 4 GB/s: 3000 ns; step 0 ends at 3500. The second
     * weights from 3000: 4 GB/s * 500 ns = 2000, then 2 GB/s each while the store's 3000 take
     * 1500 ns (to 5000; 5000 by then), then 4 GB/s: 1250 ns, 6250; + 500 + 3000 / 4 = 750: 7500 */
    th_pipeline p;
    th_pipeline_start(&p, &s, &dram, 2e9, false);
    CU_ASSERT_EQUAL(th_pipeline_finish(&p, &s, &dram), 7500000);
}

/* --- random schedules ------------------------------------------------------------------------- */

/* Clipped tiles: the last iteration of a loop is smaller, everything else is drawn. */
static th_schedule random_schedule(gsl_rng *r)
{
    th_schedule s = {.hz = HZ,
                     .slots_in = (int32_t)pick(r, 1, TH_SLOTS_MAX),
                     .slots_out = (int32_t)pick(r, 1, TH_SLOTS_MAX),
                     .start_cycles = pick(r, 0, 1) * pick(r, 0, 500),
                     .first_row_extra_bytes = pick(r, 0, 1) * pick(r, 0, 900)};
    bool long_loops = pick(r, 0, 1);
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        s.count[loop] = (int32_t)pick(r, 1, long_loops && pick(r, 0, 1) ? 12 : 3);
    if (pick(r, 0, 2) == 0)
        s.input_stays = (uint8_t)pick(r, 0, 31);
    if (pick(r, 0, 2) == 0)
        s.weight_stays = (uint8_t)pick(r, 0, 31);
    int64_t in = pick(r, 0, 3000), weight = pick(r, 0, 3000), out = pick(r, 0, 3000),
            cycles = pick(r, 1, 900);
    int64_t part[TH_N_LOOPS];
    for (int loop = 1; loop < TH_N_LOOPS; loop++)
        part[loop] = pick(r, 1, 4); /* quarters that the last iteration holds */
    for (unsigned m = 0; m < TH_N_STEP_KINDS; m++) {
        int64_t h = m & TH_LAST_H ? part[1] : 4, w = m & TH_LAST_W ? part[2] : 4;
        int64_t k = m & TH_LAST_K ? part[3] : 4, c = m & TH_LAST_C ? part[4] : 4;
        s.step[m] = (th_step){in * h * w * c / 64, weight * k * c / 16, 1 + cycles * h * w / 16};
        s.output_bytes[m & 7u] = out * h * w * k / 64;
    }
    for (int e = 0; e < TH_N_ENGINES; e++)
        s.port_bits_per_s[e] = port_bits((int)pick(r, 1, 16));
    return s;
}

static th_port random_port(gsl_rng *r)
{
    return (th_port){pick(r, 1, 400) * 1000000000 + pick(r, 0, 999),
                     pick(r, 0, 3) * pick(r, 0, 300000), pick(r, 0, 1) ? 1 : 64};
}

/* --- an independent max-plus recurrence ------------------------------------------------------- */

enum { STEPS_MAX = 200000 };
static th_time loaded[2][STEPS_MAX], computed[STEPS_MAX], stored[STEPS_MAX];

/* ceil(bytes 8e12 / bits): bursts included. */
static th_time move_ps(int64_t bytes, int64_t burst, int64_t bits)
{
    __int128 ps = (__int128)((bytes + burst - 1) / burst * burst) * 8000000000000;
    return (th_time)((ps + bits - 1) / bits);
}

/* The end of a request that may begin at free (its slot) and comes after one that ended at
 * previous. */
static th_time request_end(th_time previous, th_time slot_free, int64_t bytes, const th_port *port,
                           int64_t bits)
{
    if (bytes == 0)
        return max2(previous, slot_free);
    return max2(previous, slot_free + port->latency_ps) + move_ps(bytes, port->burst_bytes, bits);
}

typedef struct {
    int64_t step, tile; /* numbers */
    unsigned last;
    bool opens, closes, input, weight, first_h;
} place;

static place place_of(const th_schedule *s, int64_t step)
{
    place p = {.step = step, .input = true, .weight = true, .tile = step / s->count[TH_LOOP_C]};
    for (int loop = TH_LOOP_C; loop >= 0; loop--) {
        int64_t index = loop == TH_LOOP_B ? step : step % s->count[loop];
        step /= s->count[loop];
        if (loop > 0 && index == s->count[loop] - 1)
            p.last |= 1u << (loop - 1);
        if (index && s->input_stays >> loop & 1)
            p.input = false;
        if (index && s->weight_stays >> loop & 1)
            p.weight = false;
        if (loop == TH_LOOP_H)
            p.first_h = index == 0;
        if (loop == TH_LOOP_C)
            p.opens = index == 0;
    }
    p.closes = p.last & TH_LAST_C;
    return p;
}

/*   load[j]    = max(load[j-1], compute[j - slots_in] + latency) + bytes / port, for both operands
 *   compute[j] = max(load_in[j], load_weight[j], compute[j-1],
 *                    store[i - slots_out] if j opens tile i) + cycles
 *   store[i]   = max(store[i-1], compute[last step of i] + latency) + bytes / port */
static th_time max_plus(const th_schedule *s, const th_port *port)
{
    int64_t n = 1;
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        n *= s->count[loop];
    for (int64_t j = 0; j < n; j++) {
        place at = place_of(s, j);
        const th_step *step = &s->step[at.last];
        int64_t bytes[] = {
            at.input ? step->input_bytes + (at.first_h ? s->first_row_extra_bytes : 0) : 0,
            at.weight ? step->weight_bytes : 0};
        th_time start = j ? computed[j - 1] : 0;
        for (int e = 0; e < 2; e++) {
            th_time slot_free = j >= s->slots_in ? computed[j - s->slots_in] : 0;
            loaded[e][j] = request_end(j ? loaded[e][j - 1] : 0, slot_free, bytes[e], port,
                                       s->port_bits_per_s[e]);
            start = max2(start, loaded[e][j]);
        }
        if (at.opens && at.tile >= s->slots_out)
            start = max2(start, stored[at.tile - s->slots_out]);
        computed[j] = start + (step->cycles + (j == 0 ? s->start_cycles : 0)) * CYCLE_PS;
        if (at.closes)
            stored[at.tile] = request_end(at.tile ? stored[at.tile - 1] : 0, computed[j],
                                          s->output_bytes[at.last & 7u], port,
                                          s->port_bits_per_s[TH_ENGINE_OUTPUT]);
    }
    return stored[n / s->count[TH_LOOP_C] - 1];
}

static void the_pipeline_is_a_max_plus_recurrence(void)
{
    gsl_rng *r = th_random_stream(7, "max plus", 0);
    int wrong = 0;
    for (int round = 0; round < 4000; round++) {
        th_schedule s = random_schedule(r);
        th_port port = {ideal.bits_per_s, pick(r, 0, 2) * pick(r, 0, 400000),
                        pick(r, 0, 1) ? 1 : pick(r, 2, 300)};
        wrong += run(&s, &port, pick(r, 0, 1), NULL) != max_plus(&s, &port);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    gsl_rng_free(r);
}

/* --- skipping, looking, sharing from outside: never a different picosecond -------------------- */

static bool same_stats(const th_pipeline_stats *a, const th_pipeline_stats *b)
{
    return a->busy_ps == b->busy_ps && th_stats_stall_in(a) == th_stats_stall_in(b) &&
           a->stall_ps[TH_ENGINE_OUTPUT] == b->stall_ps[TH_ENGINE_OUTPUT] && th_stats_read(a) == th_stats_read(b) &&
           a->moved_bytes[TH_ENGINE_OUTPUT] == b->moved_bytes[TH_ENGINE_OUTPUT];
}

/* What others draw may change at some instants; the same for every way of running. */
enum { CHANGES_MAX = 12 };
typedef struct {
    int n;
    th_time at[CHANGES_MAX];
    double draw[CHANGES_MAX];
} draws;

static draws random_draws(gsl_rng *r, const th_port *port, th_time about)
{
    draws d = {.n = (int)pick(r, 0, CHANGES_MAX)};
    th_time at = 0;
    for (int i = 0; i < d.n; i++) {
        at += pick(r, 0, about / 4);
        d.at[i] = at;
        d.draw[i] = pick(r, 0, 2) ? th_random_unit(r) * 0.9 * (double)port->bits_per_s / 8 : 0;
    }
    return d;
}

/* Advances in pieces of at most piece (0: as far as possible). */
static th_time run_with(const th_schedule *s, const th_port *port, const draws *d, bool skip,
                        gsl_rng *r, th_time piece, th_pipeline_stats *stats)
{
    th_pipeline p;
    th_pipeline_start(&p, s, port, 0, skip);
    for (int i = 0; i < d->n && !p.done; i++) {
        while (piece && !p.done && p.now < d->at[i])
            th_pipeline_advance(&p, s, port, min2(d->at[i], p.now + pick(r, 0, piece) + 1));
        th_pipeline_advance(&p, s, port, d->at[i]);
        if (!p.done)
            th_pipeline_set_foreign(&p, s, port, d->draw[i]);
    }
    for (int i = 0; piece && !p.done && i < 500; i++)
        th_pipeline_advance(&p, s, port, p.now + pick(r, 0, piece));
    th_time end = th_pipeline_finish(&p, s, port);
    CU_ASSERT_EQUAL(p.stats.busy_ps + th_stats_stall_in(&p.stats) + p.stats.stall_ps[TH_ENGINE_OUTPUT], end);
    *stats = p.stats;
    return end;
}

static void skipping_and_looking_change_nothing(void)
{
    gsl_rng *r = th_random_stream(13, "skip", 0);
    int wrong = 0;
    for (int round = 0; round < 6000; round++) {
        th_schedule s = random_schedule(r);
        th_port port = random_port(r);
        th_pipeline_stats plain, skipped, looked;
        draws d = random_draws(r, &port, run(&s, &port, false, NULL));
        th_time end = run_with(&s, &port, &d, false, r, 0, &plain);
        wrong +=
            run_with(&s, &port, &d, true, r, 0, &skipped) != end || !same_stats(&plain, &skipped);
        th_time piece = end / pick(r, 1, 200) + 1;
        wrong += run_with(&s, &port, &d, pick(r, 0, 1), r, piece, &looked) != end ||
                 !same_stats(&plain, &looked);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    gsl_rng_free(r);
}

/* Long loops of every kind, so that whole periods recur and are jumped. */
static void skipping_long_layers_changes_nothing(void)
{
    gsl_rng *r = th_random_stream(17, "long", 0);
    int wrong = 0;
    for (int round = 0; round < 60; round++) {
        th_schedule s = random_schedule(r);
        for (int loop = 0; loop < TH_N_LOOPS; loop++)
            s.count[loop] = (int32_t)pick(r, 1, loop == round % TH_N_LOOPS ? 2000 : 6);
        th_port port = pick(r, 0, 1) ? ideal : random_port(r);
        th_pipeline_stats plain, skipped;
        draws d = random_draws(r, &port, run(&s, &port, true, NULL));
        th_time end = run_with(&s, &port, &d, false, r, 0, &plain);
        wrong +=
            run_with(&s, &port, &d, true, r, 0, &skipped) != end || !same_stats(&plain, &skipped);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    gsl_rng_free(r);
}

/* 2e9 steps, which only jumps get through: P max(q L1, t_O) + min(t_L, t_C) + min(t_O, q L1), with
 * t_L = 30, t_C = 50 and t_O = 70 cycles. First most of them in C, then spread over all loops. */
static void jumps_whole_periods_of_every_loop(void)
{
    const int32_t deep[] = {2, 1, 1, 1, 1000000000}, wide[] = {20, 100, 100, 100, 100};
    th_schedule s = uniform(deep, 120, 100, 50, 280, 4);
    CU_ASSERT_EQUAL(run(&s, &ideal, true, NULL), (2 * 50000000000LL + 30 + 70) * CYCLE_PS);
    s = uniform(wide, 120, 100, 50, 280, 4);
    CU_ASSERT_EQUAL(run(&s, &ideal, true, NULL), (20000000LL * 5000 + 30 + 70) * CYCLE_PS);
}

/* Max-min fair rates of the engines that move, each behind its port. */
static void set_fair_rates(th_pipeline *p, const th_schedule *s, const th_port *port)
{
    unsigned moving = th_pipeline_demand(p), open = moving;
    double left = (double)port->bits_per_s / 8, rate[TH_N_ENGINES] = {0};
    while (open) {
        int n = 0, least = -1;
        double cap[TH_N_ENGINES];
        for (int e = 0; e < TH_N_ENGINES; e++) {
            cap[e] = (double)min2(s->port_bits_per_s[e], port->bits_per_s) / 8;
            n += open >> e & 1;
            if (open >> e & 1 && (least < 0 || cap[e] < cap[least]))
                least = e;
        }
        rate[least] = cap[least] < left / n ? cap[least] : left / n;
        left -= rate[least];
        open &= ~(1u << least);
    }
    for (int e = 0; e < TH_N_ENGINES; e++)
        if (moving >> e & 1)
            th_pipeline_set_rate(p, (th_engine_kind)e, rate[e]);
}

static void rates_from_outside_give_the_same_times(void)
{
    gsl_rng *r = th_random_stream(19, "shared", 0);
    int wrong = 0;
    for (int round = 0; round < 1500; round++) {
        th_schedule s = random_schedule(r);
        th_port port = random_port(r);
        th_pipeline p;
        th_pipeline_stats own;
        th_time end = run(&s, &port, true, &own);
        th_pipeline_start_shared(&p, &s, &port);
        set_fair_rates(&p, &s, &port);
        while (!p.done && th_pipeline_next(&p) != TH_TIME_MAX) {
            th_pipeline_advance(&p, &s, &port, th_pipeline_next(&p));
            set_fair_rates(&p, &s, &port);
        }
        wrong += !p.done || p.now != end || !same_stats(&p.stats, &own);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    gsl_rng_free(r);
}

/* --- bounds ----------------------------------------------------------------------------------- */

static void never_below_compute_or_traffic(void)
{
    gsl_rng *r = th_random_stream(23, "bound", 0);
    int wrong = 0;
    for (int round = 0; round < 3000; round++) {
        th_schedule s = random_schedule(r);
        th_port port = random_port(r);
        th_pipeline_stats stats;
        double end = (double)run(&s, &port, true, &stats);
        th_schedule_totals t = th_schedule_sum(&s);
        double bytes = (double)(th_stats_read(&stats) + stats.moved_bytes[TH_ENGINE_OUTPUT]);
        wrong += end < bytes * 8e12 / (double)port.bits_per_s * (1 - 1e-9) ||
                 end < (double)t.cycles * CYCLE_PS;
        wrong += stats.busy_ps != t.cycles * CYCLE_PS;
        wrong += th_stats_read(&stats) < t.input_bytes + t.weight_bytes ||
                 stats.moved_bytes[TH_ENGINE_OUTPUT] < t.output_bytes;
        wrong += port.burst_bytes == 1 && th_stats_read(&stats) != t.input_bytes + t.weight_bytes;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    gsl_rng_free(r);
}

/* A big layer comes within 1 % of max(compute, traffic / bandwidth) when its slots cover the
 * latency: 1600 tiles of 4 steps; traffic 6400*(4096+2048)+1600*4096 bytes, compute 6400*500 cycles
 * of 5 ns. */
static void converges_to_the_roofline(void)
{
    const int32_t count[] = {1, 20, 20, 4, 4};
    th_schedule s = uniform(count, 2048, 1024, 500, 2048, 16);
    th_pipeline_stats stats;
    s.slots_in = s.slots_out = TH_SLOTS_MAX;
    for (int64_t gbps = 2; gbps < 200; gbps *= 2) {
        const th_port port = {gbps * 1000000000, 100000, 64};
        double end = (double)run(&s, &port, true, &stats);
        double traffic =
            (double)(th_stats_read(&stats) + stats.moved_bytes[TH_ENGINE_OUTPUT]) * 8e12 / (double)port.bits_per_s;
        double compute = 6400 * 500 * 5000.0;
        double bound = traffic > compute ? traffic : compute;
        CU_ASSERT_TRUE(end >= bound && end < 1.01 * bound);
    }
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        TAP(the_published_tiled_layer),
        TAP(the_two_slot_closed_form),
        TAP(latency_is_paid_once_and_hidden_when_slots_are_free),
        TAP(engines_share_the_dram_fairly),
        TAP(the_pipeline_is_a_max_plus_recurrence),
        TAP(skipping_and_looking_change_nothing),
        TAP(skipping_long_layers_changes_nothing),
        TAP(jumps_whole_periods_of_every_loop),
        TAP(rates_from_outside_give_the_same_times),
        TAP(never_below_compute_or_traffic),
        TAP(converges_to_the_roofline),
        TAP_END,
    };
    return tap_main("pipeline", tests, argc, argv);
}
