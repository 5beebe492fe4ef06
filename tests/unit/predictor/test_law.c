/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_law.c - amounts of the time law's terms by hand. */
#include <config.h>
#include <math.h>
#include <string.h>
#include "predictor/law/law.h"
#include "tests/unit/tap.h"

static char names[TH_TERMS_MAX][TH_TERM_NAME_MAX];

/* 1 TB/s, `peak` in 1e12 operations/s, 100 multiprocessors. */
static th_gpu gpu_of(double peak)
{
    th_gpu g = {.name = "test"};
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
        g.x[i] = 1;
    g.x[TH_GPU_BANDWIDTH] = 1000;
    g.x[TH_GPU_PEAK] = peak * 1e3;
    g.x[TH_GPU_SMS] = 100;
    return g;
}

static double amount_of(const th_op *op, const th_gpu *gpu, const char *name)
{
    th_terms t;
    th_law_terms(op, TH_PHASE_EXECUTION, gpu, names, &t);
    for (int i = 0; i < t.n; i++)
        if (strcmp(names[i], name) == 0)
            return t.amount[i];
    CU_FAIL("no term of that name");
    return NAN;
}

/* 1000 rows, 512 inner, 2000 columns: 2.048e9 operations, or 8 x 16 tiles of 2 x 128^2 x 512 =
 * 16777216. */
static const th_op dense = {
    TH_OP_DENSE, {[TH_OP_BATCH] = 1000, [TH_OP_CHANNELS_IN] = 512, [TH_OP_CHANNELS_OUT] = 2000}};

TEST(operations_and_waves)
{
    th_gpu g = gpu_of(10);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&dense, &g, "operations"), 2.048e9 / 1e10, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&dense, &g, "tiles 128x128"), 128 * 16777216. / 1e10, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&dense, &g, "waves 128x128"), 200 * 16777216. / 1e10, 1e-9);
    CU_ASSERT_EQUAL(amount_of(&dense, &g, "throttled"), 0);
}

/* Square tiles of 128 have 2 x 128^2 k operations for 2 x 128 k x 4 bytes: 32 a byte, 3.2e13 a
 * second here; at 0.8 of a peak of 1e14 that is 2.5 times slower. */
TEST(operands_of_tiles_bound_the_peak)
{
    th_gpu g = gpu_of(100);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&dense, &g, "operations"), 2.5 * 2.048e9 / 1e11, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&dense, &g, "waves 128x128"), 2.5 * 200 * 16777216. / 1e11,
                           1e-9);
    CU_ASSERT_EQUAL(amount_of(&dense, &g, "throttled"), 0); /* waits longer for operands */
}

/* Above 24 operations a byte clocks fall: as much again where operands are there (0.8 x 30 < 32),
 * and 2 - 0.8 x 60 / 32 = half as much where they are late. */
TEST(clocks_fall)
{
    th_gpu low = gpu_of(30), late = gpu_of(60), high = gpu_of(24);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&dense, &low, "throttled"), 2.048e9 / 3e10, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&dense, &low, "throttled 128x128"), 128 * 16777216. / 3e10,
                           1e-9);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&dense, &late, "throttled"), 0.5 * 2.048e9 / 6e10, 1e-9);
    CU_ASSERT_EQUAL(amount_of(&dense, &high, "throttled"), 0);
}

/* 4.096 MB of weights at 1 TB/s; 20 rows pass by them 3 times, 1000 no oftener than 64. */
TEST(few_rows_stream_the_weights)
{
    th_gpu g = gpu_of(10);
    th_op few = dense;
    few.x[TH_OP_BATCH] = 20;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&few, &g, "weights per 8 rows"), 3 * 4.096e-3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&dense, &g, "weights per 8 rows"), 8 * 4.096e-3, 1e-12);
}

TAP_MAIN("law")
