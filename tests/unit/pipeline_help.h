/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_help.h - what the tests of the pipeline share: running a schedule, drawing one. */
#ifndef TH_TESTS_UNIT_PIPELINE_HELP_H
#define TH_TESTS_UNIT_PIPELINE_HELP_H
#include "sim/pipeline/pipeline.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

enum { HZ = 200000000, CYCLE_PS = 5000 };

/* A DRAM that never limits a port: 1e15 bits/s, no latency, single bytes. */
static const th_port ideal = {1000000000000000, 0, 1, 1, 0, {0}};

static inline int64_t port_bits(int elements_per_cycle)
{
    return (int64_t)elements_per_cycle * 2 * 8 * HZ;
}

static inline th_time stalls(const th_pipeline_stats *s)
{
    return th_stats_stall_in(s) + s->stall_ps[TH_ENGINE_OUTPUT];
}

/* The end; busy and stalls must add up to it. */
static inline th_time run(const th_schedule *s, const th_port *port, bool skip,
                          th_pipeline_stats *stats)
{
    th_pipeline p;
    th_pipeline_start(&p, s, port, &(th_pipeline_options){.skip = skip});
    th_time end = th_pipeline_finish(&p, s, port);
    CU_ASSERT_EQUAL(p.stats.busy_ps + stalls(&p.stats), end);
    if (stats)
        *stats = p.stats;
    return end;
}

static inline int64_t max2(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t min2(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline void shuffle_order(gsl_rng *r, th_schedule *s)
{
    for (int i = 0; i < TH_N_LOOPS; i++)
        s->order[i] = (uint8_t)i;
    for (int i = TH_N_LOOPS - 1; i > 0; i--) {
        int other = (int)pick(r, 0, i);
        uint8_t kept = s->order[i];
        s->order[i] = s->order[other];
        s->order[other] = kept;
    }
}

/* Any order, sums that come in, spill or stay, stores that come first, short runs. */
static inline void draw_variant(gsl_rng *r, th_schedule *s)
{
    if (pick(r, 0, 3) > 0)
        shuffle_order(r, s);
    s->sums_stay = pick(r, 0, 2) == 0;
    s->reads_sums = pick(r, 0, 3) == 0;
    s->serial = pick(r, 0, 3) == 0;
    for (int e = 0; e < TH_N_ENGINES; e++)
        s->run_bytes[e] = pick(r, 0, 2) ? 0 : pick(r, 1, 300);
}

/* Clipped tiles: the last iteration of a loop is smaller, everything else is drawn. */
static inline th_schedule random_schedule(gsl_rng *r)
{
    th_schedule s = {.hz = HZ,
                     .slots_in = (int32_t)pick(r, 1, TH_SLOTS_MAX),
                     .slots_out = (int32_t)pick(r, 1, TH_SLOTS_MAX),
                     .start_cycles = pick(r, 0, 1) * pick(r, 0, 500),
                     .first_row_extra_bytes = pick(r, 0, 1) * pick(r, 0, 900)};
    bool long_loops = pick(r, 0, 1);
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        s.count[loop] = (int32_t)pick(r, 1, long_loops && pick(r, 0, 1) ? 8 : 3);
    if (pick(r, 0, 2) == 0)
        s.input_stays = (uint8_t)pick(r, 0, 31);
    if (pick(r, 0, 2) == 0)
        s.weight_stays = (uint8_t)pick(r, 0, 31);
    int64_t in = pick(r, 0, 3000), weight = pick(r, 0, 3000), out = pick(r, 0, 3000),
            cycles = pick(r, 1, 900), partial = pick(r, 0, 3) * out;
    int64_t part[TH_N_LOOPS];
    for (int loop = 1; loop < TH_N_LOOPS; loop++)
        part[loop] = pick(r, 1, 4); /* quarters that the last iteration holds */
    for (unsigned m = 0; m < TH_N_STEP_KINDS; m++) {
        int64_t h = m & TH_LAST_H ? part[1] : 4, w = m & TH_LAST_W ? part[2] : 4;
        int64_t k = m & TH_LAST_K ? part[3] : 4, c = m & TH_LAST_C ? part[4] : 4;
        s.step[m] = (th_step){in * h * w * c / 64, weight * k * c / 16, 1 + cycles * h * w / 16};
        s.output_bytes[m & 7u] = out * h * w * k / 64;
        s.partial_bytes[m & 7u] = partial * h * w * k / 64;
    }
    for (int e = 0; e < TH_N_ENGINES; e++)
        s.port_bits_per_s[e] = port_bits((int)pick(r, 1, 16));
    draw_variant(r, &s);
    return s;
}

/* Shares of 1/4, 1/2 and 1 at runs of 16, 256 and 4096 bytes. */
static inline void draw_efficiency(gsl_rng *r, th_port *port)
{
    static const th_dram_efficiency curve = {3, {16, 256, 4096}, {0.25, 0.5, 1}};
    if (pick(r, 0, 1))
        port->efficiency = curve;
}

static inline th_port random_port(gsl_rng *r)
{
    th_port port = {pick(r, 1, 400) * 1000000000 + pick(r, 0, 999),
                    pick(r, 0, 3) * pick(r, 0, 300000),
                    pick(r, 0, 1) ? 1 : 64,
                    1,
                    0,
                    {0}};
    if (pick(r, 0, 2) == 0) {
        port.channels = (int32_t)pick(r, 2, 16);
        port.interleave_bytes = pick(r, 16, 512);
    }
    draw_efficiency(r, &port);
    return port;
}

#endif
