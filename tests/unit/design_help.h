/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design_help.h - what the tests of designs share: a system of one design, its schedule of a shard.
 */
#ifndef TH_TESTS_UNIT_DESIGN_HELP_H
#define TH_TESTS_UNIT_DESIGN_HELP_H
#include "sim/design/design.h"
#include "sim/pipeline/pipeline.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

#define ACCELERATOR                                                                                \
    "accelerators = ( { names = [\"0\"]; dram = { capacity = \"1GiB\"; bandwidth = \"16GB/s\"; "   \
    "latency = "                                                                                   \
    "\"100ns\"; burst = \"64B\"; }; vector = { clock = \"200MHz\"; elements_per_cycle = 64; }; "   \
    "designs = "                                                                                   \
    "[\"d\"]; } );\n"

/* A system of one accelerator with the design of these keys, on line 1. */
static inline th_system *system_with(const char *keys)
{
    char text[2000];
    snprintf(text, sizeof text, "name = \"one\"; designs = ( { name = \"d\"; %s } );\n" ACCELERATOR,
             keys);
    return system_of(text);
}

static const th_port fast_memory = {1000000000000000, 0, 1, 1, 0, {0}};

/* The schedule of a shard on a design of these keys. */
static inline th_schedule schedule_on(const char *keys, const th_shard *shard)
{
    auto_system *s = system_with(keys);
    const th_design_type *type = NULL;
    th_design_config config;
    th_error e = {"", ""};
    th_schedule out = {0};
    CU_ASSERT_EQUAL_FATAL(th_design_configure(&s->designs[0], &type, &config, &e), 0);
    CU_ASSERT_EQUAL(type->schedule(&config, shard, &fast_memory, &out, &e), 0);
    th_design_release(type, &config);
    return out;
}

static inline double simulated_cycles(const th_schedule *s)
{
    th_pipeline p;
    th_pipeline_start(&p, s, &fast_memory, &(th_pipeline_options){.skip = true});
    return (double)th_pipeline_finish(&p, s, &fast_memory) * (double)s->hz / 1e12;
}

/* A design of these keys cannot run the shard, and says why. */
static inline void assert_unfit(const char *keys, const th_shard *shard, const char *id,
                                const char *message)
{
    auto_system *s = system_with(keys);
    const th_design_type *type = NULL;
    th_design_config config;
    th_error e = {"", ""};
    th_schedule out = {0};
    CU_ASSERT_EQUAL_FATAL(th_design_configure(&s->designs[0], &type, &config, &e), 0);
    CU_ASSERT_EQUAL(type->schedule(&config, shard, &fast_memory, &out, &e), -1);
    TAP_ASSERT_ERROR(e, id, message);
    th_design_release(type, &config);
}

static inline void assert_counts(const th_schedule *s, int b, int h, int w, int k, int c)
{
    const int32_t expected[] = {b, h, w, k, c};
    CU_ASSERT_EQUAL(memcmp(s->count, expected, sizeof expected), 0);
}

static inline void assert_step(const th_schedule *s, unsigned mask, int64_t in, int64_t weight,
                               int64_t cycles, int64_t out)
{
    CU_ASSERT_EQUAL(s->step[mask].input_bytes, in);
    CU_ASSERT_EQUAL(s->step[mask].weight_bytes, weight);
    CU_ASSERT_EQUAL(s->step[mask].cycles, cycles);
    CU_ASSERT_EQUAL(s->output_bytes[mask & 7u], out);
}

enum { ALL_LAST = TH_LAST_H | TH_LAST_W | TH_LAST_K | TH_LAST_C };

static inline th_shard random_shard(gsl_rng *r)
{
    int groups = (int)pick(r, 0, 2) == 0 ? (int)pick(r, 2, 4) : 1, kernel = (int)pick(r, 1, 5);
    th_shard s =
        conv_shard((int)pick(r, 1, 3), groups * (int)pick(r, 1, 60), groups * (int)pick(r, 1, 60),
                   (int)pick(r, 1, 40), (int)pick(r, 1, 40), kernel);
    s.groups = groups;
    s.stride_h = s.stride_w = (int)pick(r, 0, 3) == 0 ? 2 : 1;
    s.in_h = (s.dim[TH_DIM_H] - 1) * s.stride_h + kernel;
    s.in_w = (s.dim[TH_DIM_W] - 1) * s.stride_w + kernel;
    int pad = (int)pick(r, 0, (kernel - 1) / 2);
    s.in_h = s.in_h > 2 * pad ? s.in_h - 2 * pad : 1;
    s.in_w = s.in_w > 2 * pad ? s.in_w - 2 * pad : 1;
    s.precision[0] = s.precision[1] = s.precision[2] = (int)pick(r, TH_FP32, TH_INT8);
    return s;
}

/* Of an element; all tensors are alike. */
static inline int64_t bytes_of(const th_shard *s)
{
    return th_precision_bits((th_precision)s->precision[0]) / 8;
}

static inline int64_t over(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* B 2, K 20, C 10, 9 x 7, 3 x 3, stride 2. Last tiles: 4 of K, 2 of C, 4 of H, 3 of W. */
static inline th_shard strided(void)
{
    th_shard s = conv_shard(2, 20, 10, 9, 7, 3);
    s.stride_h = s.stride_w = 2;
    s.in_h = 19;
    s.in_w = 15;
    return s;
}

#endif
