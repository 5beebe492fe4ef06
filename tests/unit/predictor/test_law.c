/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_law.c - amounts of the time law's terms by hand. */
#include <config.h>
#include "predictor/law/law.h"
#include "predictor/law/law_power.h"
#include "predictor/op/make_op.h"
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

/* 1 TB/s, 100 multiprocessors of 1e12 operations/s in 16 bits each, 1410 MHz, a cache of 16 MiB and
 * 4 TB/s. */
static th_gpu narrow_gpu(void)
{
    th_gpu g = gpu_of(10);
    g.x[TH_GPU_CLOCK] = 1410;
    g.x[TH_GPU_L2] = 16;
    g.extra[TH_GPU_FP16] = 1e5;
    g.extra[TH_GPU_L2_BANDWIDTH] = 4000;
    return g;
}

/* What one multiprocessor of narrow_gpu does in a us at the usual ceiling, 0.85 x 0.96; operands
 * come at 2.3 x 64 bytes a clock, results go at 0.14 x 64. */
static const double PER_US = 0.85 * 0.96 * 1e6, STORED = 0.14 * 64 * 1410 / 2;

/* 256 rows, 1024 inner, 12800 columns: 100 tiles of 256 x 128 are one wave of 2 x (32768 + 2400) x
 * 1024 operations, 900 clocks, and the results; smaller tiles are two waves or more, and fill less.
 * Six weights of 26 MB are gone from 16 MB of cache; of the rows, 7.08 MB, 1 / (1 + (7.08 / (0.76 x
 * 16))^6) is there. */
TEST(a_product_on_tensor_cores)
{
    th_gpu g = narrow_gpu();
    th_op op = th_op_product(256, 1024, 12800, TH_PRECISION_FP16);
    double compute = 2. * 35168 * 1024 / PER_US + 900 / 1410. + 32768 / STORED;
    double rows = 524288 + 6553600, here = rows / (1 + pow(rows / 12.16e6, 6));
    double memory = 0.8 + (26214400 + rows - here) / 0.845e6 + here / 1.68e6;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "start"), 1e-3 * (0.7 + 2150 / 1410.), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "compute"), 1e-3 * compute, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "memory"), 1e-3 * memory, 1e-8);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "compute and memory"), 1e-3 * hypot(compute, memory),
                           1e-8);
    CU_ASSERT_EQUAL(amount_of(&op, &g, "cast"), 0);
    CU_ASSERT_DOUBLE_EQUAL(th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g),
                           1e-3 * (0.7 + 2150 / 1410. + hypot(compute, memory)), 1e-8);
}

/* 64 x 64, 8192 inner: four tiles of 16 x 64, split 32 ways: 128 on 100 multiprocessors, 0.18 of
 * two waves and 0.82 of 1.28, of 256 inner each, and 6400 clocks for the sums. */
TEST(the_inner_dimension_is_split)
{
    th_gpu g = narrow_gpu();
    th_op op = {TH_OP_MATMUL,
                {[TH_OP_BATCH] = 1,
                 [TH_OP_ROWS] = 64,
                 [TH_OP_CHANNELS_IN] = 8192,
                 [TH_OP_CHANNELS_OUT] = 64,
                 [TH_OP_PRECISION] = TH_PRECISION_FP16}};
    double tile = 256 * 2. * (1024 + 2400) / PER_US + 900 / 1410. + 1024 / STORED;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "compute"),
                           1e-3 * ((0.18 * 2 + 0.82 * 1.28) * tile + 6400 / 1410.), 1e-9);
}

/* To 8 bits: a row in 13.5 clocks; a number in 0.61 of a multiprocessor's, which takes longer than
 * its 3 bytes at 0.836 TB/s; both as the root of squares. To 4 bits: 2.5625 bytes a number. */
TEST(casts_of_the_first_factor)
{
    th_gpu g = narrow_gpu();
    th_op op = th_op_product(4000, 2000, 64, TH_PRECISION_FP8);
    g.extra[TH_GPU_FP8] = 2e5;
    g.extra[TH_GPU_FP4] = 4e5;
    double rows = 4000 * 13.5 / 1410, numbers = 0.61 * 8e6 / 1410 / 100, start = 6300 / 1410.;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "cast"), 1e-3 * (start + hypot(rows, numbers)), 1e-9);
    op.x[TH_OP_PRECISION] = TH_PRECISION_FP4;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "cast"), 1e-3 * (start + 2.5625 * 8e6 / 0.836e6),
                           1e-9);
}

/* Hopper's instructions leave the store of results beside the next products: 0.6 x 64 bytes a
 * clock; Blackwell's pairs of multiprocessors take tiles of 256 x 256, and start sooner. */
TEST(generations)
{
    th_gpu g = narrow_gpu();
    th_op op = th_op_product(2560, 1024, 2560, TH_PRECISION_FP16);
    g.extra[TH_GPU_TENSOR_M] = 64;
    double stored = 0.6 * 64 * 1410 / 2;
    double tile = 1024 * 2. * 35168 / PER_US + 900 / 1410. + 32768 / stored;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "compute"), 1e-3 * 2 * tile, 1e-9);
    g.extra[TH_GPU_TENSOR_M] = 256;
    tile = 1024 * 2. * (65536 + 2400) / PER_US + 900 / 1410. + 65536 / stored;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "compute"), 1e-3 * tile, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "start"), 1e-3 * (0.7 + 0.35 * 2150 / 1410), 1e-9);
}

/* Members of 300 and 20 rows by 128 columns on 256 x 128 and other tiles take those of 320 rows at
 * most, and equal members of 160 what the batch takes. */
TEST(members_of_unequal_rows)
{
    th_gpu g = narrow_gpu();
    th_op op = {TH_OP_MATMUL,
                {[TH_OP_BATCH] = 200,
                 [TH_OP_ROWS] = 160,
                 [TH_OP_CHANNELS_IN] = 4096,
                 [TH_OP_CHANNELS_OUT] = 1024,
                 [TH_OP_PRECISION] = TH_PRECISION_FP16}};
    int32_t equal[200], skewed[200] = {0};
    for (int i = 0; i < 200; i++)
        equal[i] = 160;
    skewed[0] = 200 * 160;
    double even = th_law_grouped_ms(&op, equal, &g), one = th_law_grouped_ms(&op, skewed, &g);
    CU_ASSERT_DOUBLE_EQUAL(even, th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g), 1e-12);
    CU_ASSERT(one < even); /* full tiles in place of 160 of 256 rows, or 160 of 192 */
}

/* 640 tokens, each to 2 of 8 experts on 2 ranks: 4 experts of 160 rows, gate and up together and
 * down; 1280 choices are gathered (256 numbers), activated (3 x 512) and summed up (256), tokens
 * pass twice, in 16 bits, 1.5 times at 1 TB/s. Unequal shares give the fullest rank more. */
TEST(experts_of_a_rank)
{
    th_gpu g = narrow_gpu();
    static const int32_t rows[] = {160, 160, 160, 160};
    th_op up = {TH_OP_MATMUL,
                {[TH_OP_BATCH] = 4,
                 [TH_OP_ROWS] = 160,
                 [TH_OP_CHANNELS_IN] = 256,
                 [TH_OP_CHANNELS_OUT] = 1024,
                 [TH_OP_PRECISION] = TH_PRECISION_FP16}},
          down = up;
    down.x[TH_OP_CHANNELS_IN] = 512;
    down.x[TH_OP_CHANNELS_OUT] = 256;
    th_op op = {TH_OP_EXPERTS,
                {[TH_OP_BATCH] = 640,
                 [TH_OP_CHANNELS_IN] = 256,
                 [TH_OP_CHANNELS_OUT] = 512,
                 [TH_OP_N_EXPERTS] = 8,
                 [TH_OP_TOP_K] = 2,
                 [TH_OP_RANKS] = 2,
                 [TH_OP_PRECISION] = TH_PRECISION_FP16}};
    double numbers = 1280. * (256 + 3 * 512 + 256) + 2. * 640 * 256;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "gate and up"), th_law_grouped_work_ms(&up, rows, &g),
                           1e-12);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "down"), th_law_grouped_work_ms(&down, rows, &g),
                           1e-12);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "passes"), 1.5 * 2 * numbers / 1e9, 1e-12);
    op.x[TH_OP_BATCH] = 64000; /* many tiles each */
    double last = th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g);
    for (int skew = 60; skew <= 160; skew += 50) {
        op.x[TH_OP_SKEW] = skew;
        double ms = th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g);
        CU_ASSERT(ms > last);
        last = ms;
    }
    /* one token reads as many experts as it asks */
    op.x[TH_OP_BATCH] = op.x[TH_OP_RANKS] = 1;
    op.x[TH_OP_SKEW] = 0;
    static const int32_t one[8] = {1, 1};
    up.x[TH_OP_BATCH] = 8;
    up.x[TH_OP_ROWS] = 1;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "gate and up"), th_law_grouped_work_ms(&up, one, &g),
                           1e-12);
}

/* As many rows take the ratio of their times. Attention of 1 and 3999 keys takes what 3999 take
 * alone, that of 1999 and 2001 what 2000 and 2000 take; each way, a phase of its own. */
TEST(unequal_over_equal)
{
    th_gpu g = narrow_gpu();
    static const int32_t rows[] = {300, 20}, skewed[] = {1, 3999}, like[] = {1999, 2001};
    th_op op = {TH_OP_MATMUL,
                {[TH_OP_BATCH] = 2,
                 [TH_OP_ROWS] = 160,
                 [TH_OP_CHANNELS_IN] = 4096,
                 [TH_OP_CHANNELS_OUT] = 1024,
                 [TH_OP_PRECISION] = TH_PRECISION_FP16}};
    CU_ASSERT_DOUBLE_EQUAL(th_law_unequal(&op, rows, TH_PHASE_EXECUTION, &g) *
                               th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g),
                           th_law_grouped_ms(&op, rows, &g), 1e-12);
    op = (th_op){TH_OP_ATTENTION,
                 {[TH_OP_BATCH] = 2,
                  [TH_OP_ROWS] = 1,
                  [TH_OP_CHANNELS_IN] = 128,
                  [TH_OP_CHANNELS_OUT] = 128,
                  [TH_OP_HEADS] = 8,
                  [TH_OP_KV_HEADS] = 8,
                  [TH_OP_KEYS] = 2000,
                  [TH_OP_UNSPLIT] = 1,
                  [TH_OP_KERNEL] = TH_KERNEL_FLASH2,
                  [TH_OP_PRECISION] = TH_PRECISION_FP16}};
    th_op longest = op;
    longest.x[TH_OP_BATCH] = 1;
    longest.x[TH_OP_KEYS] = 3999;
    for (int i = 0; i < 2; i++) {
        th_phase phase = i == 0 ? TH_PHASE_EXECUTION : TH_PHASE_BACKWARD;
        double even = th_law_sheet_ms(&op, phase, &g), by = th_law_unequal(&op, skewed, phase, &g);
        CU_ASSERT(by > 1.5);
        CU_ASSERT_DOUBLE_EQUAL(by * even, th_law_sheet_ms(&longest, phase, &g), 1e-12);
        CU_ASSERT_EQUAL(th_law_unequal(&op, like, phase, &g), 1);
    }
}

/* 10 sequences of one query, 16 heads, 1000 keys: 160 blocks of 64 rows by 1024 keys (whole tiles
 * of 128). A pair: 512 operations at 0.99 of 709.2 a clock, and 0.198 clocks of softmax; a block
 * 1810 besides. 1.6 blocks a multiprocessor, 2 of which count 0.74. Unsplit. */
TEST(blocks_of_attention)
{
    th_gpu g = narrow_gpu();
    th_op op = {TH_OP_ATTENTION,
                {[TH_OP_BATCH] = 10,
                 [TH_OP_ROWS] = 1,
                 [TH_OP_CHANNELS_IN] = 128,
                 [TH_OP_CHANNELS_OUT] = 128,
                 [TH_OP_HEADS] = 16,
                 [TH_OP_KV_HEADS] = 2,
                 [TH_OP_KEYS] = 1000,
                 [TH_OP_CAUSAL] = 1,
                 [TH_OP_UNSPLIT] = 1,
                 [TH_OP_KERNEL] = TH_KERNEL_FLASH2,
                 [TH_OP_PRECISION] = TH_PRECISION_FP16}};
    double key = 64 * (512 / (1e8 / (100 * 1410.) * 0.99) + 0.198), block = 1024 * key + 1810;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "longest block"), 1e-3 * block / 1410, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "all blocks"), 1.896e-3 * block / 1410, 1e-9);
    op.x[TH_OP_UNSPLIT] = 0; /* 20 blocks of 8 rows, each split 3 ways: 333.3 keys, 384 */
    op.x[TH_OP_WINDOW] = 0;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "longest block"), 1e-3 * (384 * key + 1810) / 1410,
                           1e-9);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "start"), 1e-3 * (3.9 + (4460 + 8200) / 1410.), 1e-9);
    op.x[TH_OP_WINDOW] = 500; /* heads that share keys stand apart: 160 blocks again, not split */
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "all blocks"), 1.896e-3 * (512 * key + 1810) / 1410,
                           1e-9);
}

/* The numbers of devices.csv. */
static th_gpu h100(void)
{
    th_gpu g = {.name = "h100",
                .x = {[TH_GPU_BANDWIDTH] = 3350,
                      [TH_GPU_SMS] = 132,
                      [TH_GPU_CORES] = 128,
                      [TH_GPU_CLOCK] = 1980,
                      [TH_GPU_PEAK] = 66908,
                      [TH_GPU_L2] = 50,
                      [TH_GPU_MEMORY] = 80},
                .extra = {[TH_GPU_BF16] = 989400,
                          [TH_GPU_FP16] = 989400,
                          [TH_GPU_FP8] = 1978900,
                          [TH_GPU_TENSOR_M] = 64,
                          [TH_GPU_TENSOR_N] = 256,
                          [TH_GPU_TENSOR_K] = 16}};
    return g;
}

static double reached(const th_op *op, const th_gpu *g)
{
    return th_op_sizes_of(op).flops / th_law_sheet_ms(op, TH_PHASE_EXECUTION, g) /
           1e9; /* TFLOP/s */
}

/* Measured: 8 prompts of 16384 tokens, 32 heads (8 of keys), bf16: 604 TFLOP/s by FlashAttention 3
 * (Shah 2024, figure 5: 600 to 650); FlashAttention 2 reaches 350 to 400 there. */
TEST(kernels_have_generations)
{
    th_gpu g = h100();
    th_op op = th_op_attention(8, 16384, 16384, 32, 8, 128, TH_PRECISION_BF16);
    double best = reached(&op, &g);
    CU_ASSERT(best > 0.9 * 604 && best < 1.1 * 604);
    op.x[TH_OP_KERNEL] = TH_KERNEL_FLASH3;
    CU_ASSERT_EQUAL(reached(&op, &g), best);
    op.x[TH_OP_KERNEL] = TH_KERNEL_CUDNN;
    CU_ASSERT_EQUAL(reached(&op, &g), best);
    op.x[TH_OP_KERNEL] = TH_KERNEL_FLASH2;
    CU_ASSERT(reached(&op, &g) > 350 && reached(&op, &g) < 420);
    op.x[TH_OP_KERNEL] = TH_KERNEL_BEST;
    op.x[TH_OP_WINDOW] = 1024; /* an eighth of the pairs, and a little */
    CU_ASSERT(reached(&op, &g) > 0.5 * best);
    op.x[TH_OP_WINDOW] = 0;
    op.x[TH_OP_KV_PRECISION] = TH_PRECISION_FP8;
    CU_ASSERT(reached(&op, &g) > best);
}

/* A decode step reads all keys: half of them take half of the time where there are many; those of
 * 8 bits less; a cache that fits into the last-level cache is quicker by more than the bytes. */
TEST(decode_reads_its_cache)
{
    th_gpu g = h100();
    th_op op = th_op_attention(64, 1, 8192, 32, 8, 128, TH_PRECISION_BF16), half = op, fp8 = op;
    double ms = th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g);
    CU_ASSERT(ms > 0.9 * 0.688 && ms < 1.15 * 0.688); /* measured */
    half.x[TH_OP_KEYS] = 4096;
    CU_ASSERT_DOUBLE_EQUAL(th_law_sheet_ms(&half, TH_PHASE_EXECUTION, &g) / ms, 0.5, 0.03);
    fp8.x[TH_OP_KV_PRECISION] = TH_PRECISION_FP8;
    CU_ASSERT(th_law_sheet_ms(&fp8, TH_PHASE_EXECUTION, &g) < ms);
    op.x[TH_OP_PAGED] = 1;
    CU_ASSERT(th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g) > ms);
}

/* A latent is read once for all heads: 576 numbers a token, where 128 heads of their own had
 * 40,960. A call of an engine takes its host's time at least. */
TEST(latent_keys_and_values)
{
    th_gpu g = h100();
    th_op op = th_op_attention(32, 1, 65536, 128, 1, 576, TH_PRECISION_BF16);
    op.x[TH_OP_CHANNELS_OUT] = op.x[TH_OP_LATENT] = 512;
    CU_ASSERT_EQUAL(th_op_weight_bytes(&op), 32. * 65536 * 576 * 2);
    double ms = th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g);
    CU_ASSERT(ms > 0.8 * 0.945 && ms < 1.25 * 0.945); /* measured */
    op.x[TH_OP_KEYS] = 2;
    CU_ASSERT(th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g) < 0.03);
    CU_ASSERT_EQUAL(th_law_sheet_ms(&op, TH_PHASE_CALL, &g), 0.164);
}

/* Read and written: 4 MB of the cache's 16 MiB (from there), 16.78 MB (half), 40 MB (none). */
TEST(what_fits_lies_in_the_cache)
{
    th_gpu g = narrow_gpu();
    th_op op = {
        TH_OP_RMS_NORM,
        {[TH_OP_BATCH] = 1000, [TH_OP_CHANNELS_IN] = 1000, [TH_OP_PRECISION] = TH_PRECISION_FP16}};
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "cache 0"), 4e6 / 4e9, 1e-12);
    CU_ASSERT_EQUAL(amount_of(&op, &g, "memory 0"), 0);
    /* 200 rows at a time, each of a turn for its numbers and one for their sum */
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "steps 0"), 2 * 5e-3, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g),
                           0.8 * 2e-3 + 2.6 * 1e-3 + 0.6 * 10e-3, 1e-12);
    op.x[TH_OP_BATCH] = 4096;
    op.x[TH_OP_CHANNELS_IN] = 1024;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "memory 0"), 0.5 * 16777216 / 1e9, 1e-12);
    op.x[TH_OP_BATCH] = 10000;
    op.x[TH_OP_CHANNELS_IN] = 1000;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "memory 0"), 40e6 / 1e9, 1e-12);
    CU_ASSERT_EQUAL(amount_of(&op, &g, "cache 0"), 0);
}

/* Rows of 300 numbers take 10 warps: 6 of them share a multiprocessor, 600 the device. */
TEST(narrow_rows_run_beside_each_other)
{
    th_gpu g = narrow_gpu();
    th_op op = th_op_rows(TH_OP_SOFTMAX, 601, 300, TH_PRECISION_FP16);
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "steps 0"), 2 * 2e-3, 1e-12);
    op.x[TH_OP_BATCH] = 600;
    CU_ASSERT_DOUBLE_EQUAL(amount_of(&op, &g, "steps 0"), 2e-3, 1e-12);
}

/* Two starts; each of the kernels has half of the bytes, which decide whether they fit. */
TEST(a_sum_of_three_is_two_kernels)
{
    th_gpu g = narrow_gpu();
    th_op two = th_op_pass(TH_EW_ADD, 1000, 2000, TH_PRECISION_FP16),
          three = th_op_pass(TH_EW_ADD_THREE, 1000, 2000, TH_PRECISION_FP16);
    CU_ASSERT_DOUBLE_EQUAL(th_law_sheet_ms(&three, TH_PHASE_EXECUTION, &g),
                           2 * th_law_sheet_ms(&two, TH_PHASE_EXECUTION, &g), 1e-15);
}

/* Functions that were not measured: a sum of three has the weights of sums, others the mean of what
 * was measured, but for steps; of embeddings nothing is taken. */
TEST(what_was_not_measured_has_the_mean)
{
    enum { TERMS = 4 };
    double weight[TH_N_EWS * TERMS] = {0};
    const double sum[TERMS] = {1, 2, 3, 0}, gate[TERMS] = {4, 0, 12, 5},
                 embedding[TERMS] = {9, 9, 9, 9};
    memcpy(weight + TH_EW_ADD * TERMS, sum, sizeof sum);
    memcpy(weight + TH_EW_SILU_GATE * TERMS, gate, sizeof gate);
    memcpy(weight + TH_EW_EMBEDDING * TERMS, embedding, sizeof embedding);
    th_law_passes_complete(weight);
    const double *gelu = weight + TH_EW_GELU * TERMS, *three = weight + TH_EW_ADD_THREE * TERMS;
    CU_ASSERT_DOUBLE_EQUAL(gelu[0], 2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(gelu[1], 2, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(gelu[2], 6, 1e-12);
    CU_ASSERT_EQUAL(gelu[3], 0);
    CU_ASSERT_EQUAL(memcmp(three, sum, sizeof sum), 0);
    CU_ASSERT_EQUAL(memcmp(weight + TH_EW_EMBEDDING * TERMS, embedding, sizeof embedding), 0);
}

/* 100 multiprocessors at 0.96 of the peak; a board that gives a quarter of what this takes halves
 * it. */
TEST(power_lowers_the_ceiling_of_products)
{
    th_gpu g = narrow_gpu();
    th_op op = th_op_product(25600, 8192, 12800, TH_PRECISION_FP16);
    double usual = th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g);
    double peak = th_gpu_peak(&g, TH_PRECISION_FP16) * 1e-3;
    g.extra[TH_GPU_FP16_ENERGY] = 1;
    g.extra[TH_GPU_IDLE_POWER] = 10;
    g.extra[TH_GPU_BOARD_POWER] = 10 + peak;
    double full = th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g);
    g.extra[TH_GPU_BOARD_POWER] = 10 + 0.96 * peak / 4;
    double halved = th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g);
    CU_ASSERT_DOUBLE_EQUAL(usual / full, 1 / 0.85, 1e-2);
    CU_ASSERT_DOUBLE_EQUAL(halved / full, 2, 2e-2);
}

/* Products at their peak take 1 pJ x 1e14/s = 100 W above 20 W, of which a tenth whatever runs. */
static th_gpu powered_gpu(void)
{
    th_gpu g = narrow_gpu();
    g.extra[TH_GPU_FP16_ENERGY] = 1;
    g.extra[TH_GPU_IDLE_POWER] = 20;
    g.extra[TH_GPU_BOARD_POWER] = 200;
    return g;
}

/* 100 x 200 x 300: 1.2e7 operations of 0.9 pJ, 220,000 bytes of 20 pJ: 15.2 uJ in 1 us. A copy of
 * 2^20 x 16 numbers of 16 bits reads and writes 64 MiB, of which 48 are not in the cache, 48 pJ
 * each: 64 x 20 + 48 x 48 = 3584 pJ x 2^20 in 1 ms, and an operation a number. Of 2 x 3 heads,
 * 100 queries see 100 keys at most, 50.5 in the mean: 30,300 scores of 4 x 64 operations of 0.9 pJ,
 * and of 10 of 9 pJ. */
TEST(power_by_hand)
{
    th_gpu g = powered_gpu();
    th_op op = th_op_product(100, 200, 300, TH_PRECISION_FP16);
    CU_ASSERT_DOUBLE_EQUAL(th_law_power_w(&op, &g, 1e-3), 30 + 15.2, 1e-9);
    op = th_op_pass(TH_EW_RELU, 1 << 20, 16, TH_PRECISION_FP16);
    CU_ASSERT_DOUBLE_EQUAL(th_law_power_w(&op, &g, 1),
                           30 + (3584 + 16 * 0.9) * 1e-12 * 1048576 / 1e-3, 1e-6);
    op = th_op_attention(2, 100, 100, 3, 3, 64, TH_PRECISION_FP16);
    double bytes = 4 * 2 * 100 * 3 * 64 * 2;
    CU_ASSERT_DOUBLE_EQUAL(th_law_power_w(&op, &g, 1e-2),
                           30 + (30300 * (256 * 0.9 + 90) + bytes * 20) * 1e-12 / 1e-5, 1e-6);
    CU_ASSERT_EQUAL(th_law_power_w(&op, &g, 1e-9), 200);
    g.extra[TH_GPU_IDLE_POWER] = 0;
    CU_ASSERT_EQUAL(th_law_power_w(&op, &g, 1), 0);
}

/* Whatever runs: between idle and limit, less where it takes longer, but never less energy. */
TEST(power_is_within_the_board)
{
    th_gpu g = powered_gpu();
    uint64_t state = 7;
    for (int i = 0; i < 2000; i++) {
        int32_t x[4];
        for (int k = 0; k < 4; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            x[k] = 1 + (int32_t)((state >> 33) % 4000);
        }
        th_op_precision p = (th_op_precision)(x[3] % TH_N_OP_PRECISIONS);
        th_op op = i % 3 == 0   ? th_op_product(x[0], x[1], x[2], p)
                   : i % 3 == 1 ? th_op_attention(1 + x[0] % 64, x[1], x[1], 8, 8, 128, p)
                                : th_op_pass(TH_EW_SILU_GATE, x[0], x[1], p);
        double before = g.extra[TH_GPU_BOARD_POWER], energy = 0;
        for (double ms = 1e-4; ms < 100; ms *= 2.5) {
            double watts = th_law_power_w(&op, &g, ms);
            CU_ASSERT(watts >= 20 && watts <= before);
            CU_ASSERT(watts * ms >= energy);
            before = watts;
            energy = watts * ms;
        }
    }
}

/* The clock that products get is the one at which they take what the board has for them. */
TEST(the_clock_leaves_the_limit)
{
    th_gpu g = powered_gpu();
    CU_ASSERT_EQUAL(th_law_clock(&g, th_law_products_w(&g, 1)), 1);
    for (double limit = 25; limit < 120; limit += 5) {
        g.extra[TH_GPU_BOARD_POWER] = limit;
        double wanted = th_law_products_w(&g, 1), clock = th_law_clock(&g, wanted);
        CU_ASSERT_DOUBLE_EQUAL(20 + wanted * clock * clock, limit, 1e-9);
    }
}

TAP_MAIN("law")
