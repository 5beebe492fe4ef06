/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "tests/unit/closed_form.h"
#include "tests/unit/pipeline_help.h"

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

/* docs/models/pipeline.md: B 2, K 128, C 192, 13 x 13, 3 x 3, tile (8, 32, 13, 13), ports of 2.
 *   t_I = 32*169/2 = 2704   t_W = 8*32*9/2 = 1152   t_O = 8*169/2 = 676   t_C = 9*169 = 1521
 *   q = 6, L1 = 2704, P = 2*16 = 32: published P max(q L1, t_O) = 32*16224 = 519168
 *   two slots: + min(t_L, t_C) + min(t_O, q L1) = + 1521 + 676 = 521365 */
TEST(the_published_tiled_layer)
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

/* cycles = P max(q L1, t_O) + min(t_L, t_C) + min(t_O, q L1), for unclipped tiles and two slots. */
TEST(the_two_slot_closed_form)
{
    auto_rng *r = th_random_stream(2, "closed form", 0);
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
}

/* Ports of 3.2 GB/s on a DRAM of 5 GB/s, latency 70 ns, bursts of 64; three steps of 100 bytes,
 * each 40 ns to load 128 bytes at 3.2 GB/s (the port), compute 25 ns, one output of 64 bytes, 20
 * ns.
 *   loads: 70 .. 110, 110 .. 150 (its slot was free from the start), then step 0 has computed at
 *   135, so the third may begin at 135 and moves from 135 + 70 = 205 on, .. 245
 *   computes: 110 .. 135, 150 .. 175, 245 .. 270;  store: 270 + 70 = 340 .. 360 */
TEST(latency_is_paid_once_and_hidden_when_slots_are_free)
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
TEST(engines_share_the_dram_fairly)
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
    th_pipeline_start(&p, &s, &dram, &(th_pipeline_options){.demand_bytes_per_s = 2e9});
    CU_ASSERT_EQUAL(th_pipeline_finish(&p, &s, &dram), 7500000);
}

/* Two tiles (K) inside two iterations of C: sums of 80 bytes are stored and read back. Cycles of 5
 * ns; inputs of 100 bytes at 10 bytes a cycle (50 ns), sums at 20 (20 ns), outputs of 40 bytes (10
 * ns); a step 20 ns; latency 10 ns. One input slot:
 *   input 10 .. 60, step 0 60 .. 80, its sums' store 90 .. 110; input 90 .. 140, step 1 140 .. 160,
 *   store
 *   170 .. 190; input 170 .. 220, sums 0 170 .. 190, step 2 220 .. 240, output 250 .. 260; input
 *   250 ..
 *   300, sums 1 250 .. 270, step 3 300 .. 320, output 330 .. 340.
 * With four slots inputs are in at 60, 110, 160, 210; step 0 60 .. 80, its sums are stored 90 ..
 * 110, which request 2 waits for: 120 .. 140. Step 1 110 .. 130, stored 140 .. 160, read 170 ..
 * 190. Step 2 160 .. 180, step 3 210 .. 230, output 240 .. 250. Where the inputs stay too, step 1
 * is 80 .. 100 after input 0 alone; its sums are stored 110 .. 130, read 140 .. 160, those of step
 * 0 120 .. 140; step 2 140 .. 160, step 3 160 .. 180, output 190 .. 200. */
TEST(sums_are_spilled_and_read_back)
{
    const th_port dram = {1000000000000000, 10000, 1, 1, 0, {0}};
    th_schedule s = {.hz = HZ,
                     .count = {1, 1, 1, 2, 2},
                     .order = {TH_LOOP_B, TH_LOOP_C, TH_LOOP_H, TH_LOOP_W, TH_LOOP_K},
                     .weight_stays = 31,
                     .slots_in = 1,
                     .slots_out = 2};
    for (int e = 0; e < TH_N_ENGINES; e++)
        s.port_bits_per_s[e] = 80LL * HZ;
    for (int m = 0; m < TH_N_STEP_KINDS; m++)
        s.step[m] = (th_step){100, 0, 4};
    for (int m = 0; m < TH_N_STORE_KINDS; m++) {
        s.output_bytes[m] = 40;
        s.partial_bytes[m] = 80;
    }
    for (int e = TH_ENGINE_PARTIAL; e <= TH_ENGINE_OUTPUT; e++)
        s.port_bits_per_s[e] = 160LL * HZ;
    th_pipeline_stats stats;
    CU_ASSERT_EQUAL(run(&s, &dram, false, &stats), 340000);
    CU_ASSERT_TRUE(stats.moved_bytes[TH_ENGINE_PARTIAL] == 160 &&
                   stats.moved_bytes[TH_ENGINE_OUTPUT] == 160 + 80);
    s.slots_in = 4;
    CU_ASSERT_EQUAL(run(&s, &dram, false, NULL), 250000);
    s.input_stays = 31;
    CU_ASSERT_EQUAL(run(&s, &dram, false, NULL), 200000);
    s.sums_stay = true; /* steps 60 .. 140, outputs 130 .. 140 and 150 .. 160 */
    CU_ASSERT_EQUAL(run(&s, &dram, false, &stats), 160000);
    CU_ASSERT_TRUE(stats.moved_bytes[TH_ENGINE_PARTIAL] == 0 &&
                   stats.moved_bytes[TH_ENGINE_OUTPUT] == 80);
}

/* --- skipping, inspecting, sharing: never a different picosecond ------------------------ */

static bool same_stats(const th_pipeline_stats *a, const th_pipeline_stats *b)
{
    return a->busy_ps == b->busy_ps && memcmp(a->stall_ps, b->stall_ps, sizeof a->stall_ps) == 0 &&
           memcmp(a->moved_bytes, b->moved_bytes, sizeof a->moved_bytes) == 0;
}

/* The DRAM demand of others may change at some times; it is the same for every mode of simulation.
 */
enum { CHANGES_MAX = 12 };
typedef struct {
    int n;
    th_time at[CHANGES_MAX];
    double demand[CHANGES_MAX];
} demands;

static demands random_demands(gsl_rng *r, const th_port *port, th_time about)
{
    demands d = {.n = (int)pick(r, 0, CHANGES_MAX)};
    th_time at = 0;
    for (int i = 0; i < d.n; i++) {
        at += pick(r, 0, about / 4);
        d.at[i] = at;
        d.demand[i] = pick(r, 0, 2) ? th_random_unit(r) * 0.9 * (double)port->bits_per_s / 8 : 0;
    }
    return d;
}

typedef struct mode {
    bool skip;
    th_time piece; /* the simulation advances by at most this; 0: as far as possible */
} mode;

static th_time run_with(const th_schedule *s, const th_port *port, const demands *d, mode how,
                        gsl_rng *r, th_pipeline_stats *stats)
{
    th_pipeline p;
    th_time piece = how.piece;
    th_pipeline_start(&p, s, port, &(th_pipeline_options){.skip = how.skip});
    for (int i = 0; i < d->n && !p.done; i++) {
        while (piece && !p.done && p.now < d->at[i])
            th_pipeline_advance(&p, s, port, min2(d->at[i], p.now + pick(r, 0, piece) + 1));
        th_pipeline_advance(&p, s, port, d->at[i]);
        if (!p.done)
            th_pipeline_set_demand(&p, port, d->demand[i]);
    }
    for (int i = 0; piece && !p.done && i < 500; i++)
        th_pipeline_advance(&p, s, port, p.now + pick(r, 0, piece));
    th_time end = th_pipeline_finish(&p, s, port);
    CU_ASSERT_EQUAL(p.stats.busy_ps + stalls(&p.stats), end);
    *stats = p.stats;
    return end;
}

TEST(skipping_and_inspecting_change_no_time)
{
    auto_rng *r = th_random_stream(13, "skip", 0);
    int wrong = 0;
    for (int round = 0; round < 1500; round++) {
        th_schedule s = random_schedule(r);
        th_port port = random_port(r);
        th_pipeline_stats plain, skipped, inspected;
        demands d = random_demands(r, &port, run(&s, &port, false, NULL));
        th_time end = run_with(&s, &port, &d, (mode){false, 0}, r, &plain);
        wrong += run_with(&s, &port, &d, (mode){true, 0}, r, &skipped) != end ||
                 !same_stats(&plain, &skipped);
        th_time piece = end / pick(r, 1, 200) + 1;
        wrong += run_with(&s, &port, &d, (mode){pick(r, 0, 1), piece}, r, &inspected) != end ||
                 !same_stats(&plain, &inspected);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* Long loops of every kind, so that whole periods recur and are jumped. */
TEST(skipping_long_layers_changes_nothing)
{
    auto_rng *r = th_random_stream(17, "long", 0);
    int wrong = 0;
    for (int round = 0; round < 60; round++) {
        th_schedule s = random_schedule(r);
        for (int loop = 0; loop < TH_N_LOOPS; loop++)
            s.count[loop] = (int32_t)pick(r, 1, loop == round % TH_N_LOOPS ? 1000 : 4);
        th_port port = pick(r, 0, 1) ? ideal : random_port(r);
        th_pipeline_stats plain, skipped;
        demands d = random_demands(r, &port, run(&s, &port, true, NULL));
        th_time end = run_with(&s, &port, &d, (mode){false, 0}, r, &plain);
        wrong += run_with(&s, &port, &d, (mode){true, 0}, r, &skipped) != end ||
                 !same_stats(&plain, &skipped);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* 2e9 steps, which only jumps get through: P max(q L1, t_O) + min(t_L, t_C) + min(t_O, q L1), with
 * t_L = 30, t_C = 50 and t_O = 70 cycles. First most of them in C, then spread over all loops. */
TEST(jumps_whole_periods_of_every_loop)
{
    const int32_t deep[] = {2, 1, 1, 1, 1000000000}, wide[] = {20, 100, 100, 100, 100};
    th_schedule s = uniform(deep, 120, 100, 50, 280, 4);
    CU_ASSERT_EQUAL(run(&s, &ideal, true, NULL), (2 * 50000000000LL + 30 + 70) * CYCLE_PS);
    s = uniform(wide, 120, 100, 50, 280, 4);
    CU_ASSERT_EQUAL(run(&s, &ideal, true, NULL), (20000000LL * 5000 + 30 + 70) * CYCLE_PS);
}

/* Slots that wait for the latency are filled and computed in groups, so states recur after as many
 * steps as there are slots. Inputs alone, m = 30 cycles to move, c = 50 to compute, latency l =
 * 400: with two slots compute[j] = compute[j - 2] + l + m + c, compute[1] = l + m + 2 c; the one
 * store of 70 cycles begins after the latency. With three, l + m + c for three steps, of which the
 * last one ends c later still. Steps of no time behind no memory take none in any number. */
TEST(jumps_periods_of_several_steps)
{
    const int32_t count[] = {1, 1, 1, 1, 999999996};
    const th_port slow = {ideal.bits_per_s, 400 * CYCLE_PS, 1, 1, 0, {0}},
                  none = {TH_UNLIMITED, 0, 1, 1, 0, {0}};
    th_schedule s = uniform(count, 120, 0, 50, 280, 4);
    for (int slots = 2; slots <= 3; slots++) {
        s.slots_in = slots;
        int64_t computed = count[TH_LOOP_C] / slots * (400 + 30 + 50LL) + (slots - 1) * 50;
        CU_ASSERT_EQUAL(run(&s, &slow, true, NULL), (computed + 400 + 70) * CYCLE_PS);
    }
    s = uniform(count, 120, 0, 0, 280, 4);
    memset(s.port_bits_per_s, 0, sizeof s.port_bits_per_s);
    CU_ASSERT_EQUAL(run(&s, &none, true, NULL), 0);
}

/* Max-min fair rates of the engines that move, each behind its port. */
static void set_fair_rates(th_pipeline *p, const th_port *port)
{
    unsigned moving = th_pipeline_demand(p), open = moving;
    double left = (double)port->bits_per_s / 8, rate[TH_N_ENGINES] = {0};
    while (open) {
        int n = 0, least = -1;
        for (int e = 0; e < TH_N_ENGINES; e++) {
            n += open >> e & 1;
            if (open >> e & 1 && (least < 0 || p->engine[e].cap < p->engine[least].cap))
                least = e;
        }
        rate[least] = p->engine[least].cap < left / n ? p->engine[least].cap : left / n;
        left -= rate[least];
        open &= ~(1u << least);
    }
    for (int e = 0; e < TH_N_ENGINES; e++)
        if (moving >> e & 1)
            th_pipeline_set_rate(p, (th_engine_kind)e, rate[e]);
}

TEST(rates_from_outside_give_the_same_times)
{
    auto_rng *r = th_random_stream(19, "shared", 0);
    int wrong = 0;
    for (int round = 0; round < 1500; round++) {
        th_schedule s = random_schedule(r);
        th_port port = random_port(r);
        th_pipeline p;
        th_pipeline_stats own;
        th_time end = run(&s, &port, true, &own);
        th_pipeline_start(&p, &s, &port, &(th_pipeline_options){.rates_from_outside = true});
        set_fair_rates(&p, &port);
        while (!p.done && th_pipeline_next(&p) != TH_TIME_MAX) {
            th_pipeline_advance(&p, &s, &port, th_pipeline_next(&p));
            set_fair_rates(&p, &port);
        }
        wrong += !p.done || p.now != end || !same_stats(&p.stats, &own);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* --- bounds ----------------------------------------------------------------------------------- */

/* Steps of no time or one cycle, few bytes or none, one slot or eight; kinds of step are alike or
 * not. */
static th_schedule extreme_schedule(gsl_rng *r)
{
    th_schedule s = random_schedule(r);
    s.slots_in = pick(r, 0, 1) ? 1 : TH_SLOTS_MAX;
    s.slots_out = pick(r, 0, 1) ? 1 : TH_SLOTS_MAX;
    for (int m = 0; m < TH_N_STEP_KINDS; m++)
        s.step[m] = m > 0 && pick(r, 0, 1)
                        ? s.step[0]
                        : (th_step){pick(r, 0, 50), pick(r, 0, 1) * pick(r, 0, 200), pick(r, 0, 1)};
    for (int m = 0; m < TH_N_STORE_KINDS; m++) {
        s.output_bytes[m] = pick(r, 0, 50);
        s.partial_bytes[m] = pick(r, 0, 50);
    }
    memset(s.port_bits_per_s, 0, sizeof s.port_bits_per_s);
    return s;
}

/* A loop of 2^31 - 1 iterations, or inputs of 2^53 bytes a step: no sum overflows, nothing is lost.
 */
TEST(the_largest_counts_and_sizes)
{
    auto_rng *r = th_random_stream(29, "limits", 0);
    int wrong = 0;
    for (int round = 0; round < 600; round++) {
        th_schedule s = extreme_schedule(r);
        th_port port = ideal;
        int longest = (int)pick(r, 0, TH_N_LOOPS);
        port.latency_ps = pick(r, 0, 1) * pick(r, 0, 1000);
        for (int loop = 0; loop < TH_N_LOOPS; loop++)
            s.count[loop] = (int32_t)(loop == longest ? INT32_MAX - pick(r, 0, 2) : pick(r, 1, 2));
        for (int m = 0; longest == TH_N_LOOPS && m < TH_N_STEP_KINDS; m++)
            s.step[m].input_bytes = ((int64_t)1 << 53) - pick(r, 0, 100);
        th_pipeline_stats stats;
        run(&s, &port, true, &stats);
        th_schedule_totals t = th_schedule_sum(&s);
        wrong += stats.busy_ps != t.cycles * CYCLE_PS;
        wrong += th_stats_read(&stats) != t.input_bytes + t.weight_bytes + t.partial_bytes ||
                 stats.moved_bytes[TH_ENGINE_OUTPUT] != t.output_bytes;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* A thousand steps of 8,000 bytes at a byte a second: 93 days. At half of that they last too long,
 * and so do several latencies of 53 days. */
TEST(what_does_not_end_in_time_never_ends)
{
    const int32_t count[] = {1, 1, 1, 1, 1000};
    const th_port slow = {8, 0, 1, 1, 0, {0}}, late = {1000000000, TH_TIME_MAX / 2, 1, 1, 0, {0}};
    th_schedule s = uniform(count, 4000, 0, 5, 20, 0);
    th_pipeline p;
    for (int skip = 0; skip < 2; skip++) {
        th_pipeline_start(&p, &s, &slow, &(th_pipeline_options){.skip = skip});
        CU_ASSERT_DOUBLE_EQUAL((double)th_pipeline_finish(&p, &s, &slow), 8000040.0 * 1e12, 1e6);
        th_pipeline_start(&p, &s, &slow,
                          &(th_pipeline_options){.demand_bytes_per_s = 0.5, .skip = skip});
        CU_ASSERT_EQUAL(th_pipeline_finish(&p, &s, &slow), TH_TIME_MAX);
        th_pipeline_start(&p, &s, &late, &(th_pipeline_options){.skip = skip});
        CU_ASSERT_EQUAL(th_pipeline_finish(&p, &s, &late), TH_TIME_MAX);
    }
}

TAP_MAIN("pipeline")
