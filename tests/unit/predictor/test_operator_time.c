/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_operator_time.c - times of operations by the data sheet, backward, of unequal members, at
 * precisions that a device lacks. */
#include <config.h>
#include "predictor/model/operator_time.h"
#include "tests/unit/learned_help.h"

static th_gpu gpu_of(void)
{
    th_gpu g = {.name = "card",
                .x = {[TH_GPU_BANDWIDTH] = 1000,
                      [TH_GPU_SMS] = 100,
                      [TH_GPU_CORES] = 64,
                      [TH_GPU_CLOCK] = 1410,
                      [TH_GPU_PEAK] = 1e4,
                      [TH_GPU_L2] = 16,
                      [TH_GPU_MEMORY] = 32}};
    g.extra[TH_GPU_FP16] = 1e5;
    g.extra[TH_GPU_BF16] = 1e5;
    return g;
}

static th_op product(int32_t rows, int32_t in, int32_t out)
{
    return th_op_product(rows, in, out, TH_PRECISION_BF16);
}

static th_operator_time time_of(th_op op, th_phase phase, const int32_t *rows)
{
    th_operator_time t = {0, 0, 0, NULL};
    th_error e = {"", ""};
    th_gpu g = gpu_of();
    CU_ASSERT_EQUAL(th_operator_predict(&t, NULL, &(th_operator){op, phase, rows}, &g, &e), 0);
    return t;
}

TEST(by_the_data_sheet)
{
    th_gpu g = gpu_of();
    th_op op = product(100, 2000, 3000);
    th_operator_time t = time_of(op, TH_PHASE_EXECUTION, NULL);
    CU_ASSERT_PTR_NULL(t.model);
    CU_ASSERT_EQUAL(t.ms, th_law_sheet_ms(&op, TH_PHASE_EXECUTION, &g));
    CU_ASSERT(t.low_ms < t.ms && t.ms < t.high_ms);
}

/* dX = dY W', dW = X' dY. */
TEST(backward_of_a_product)
{
    double both = time_of(product(100, 3000, 2000), TH_PHASE_EXECUTION, NULL).ms +
                  time_of(product(2000, 100, 3000), TH_PHASE_EXECUTION, NULL).ms;
    CU_ASSERT_EQUAL(time_of(product(100, 2000, 3000), TH_PHASE_BACKWARD, NULL).ms, both);
}

TEST(backward_of_rows)
{
    th_op op = {
        TH_OP_RMS_NORM,
        {[TH_OP_BATCH] = 100, [TH_OP_CHANNELS_IN] = 200, [TH_OP_PRECISION] = TH_PRECISION_BF16}};
    CU_ASSERT_EQUAL(time_of(op, TH_PHASE_BACKWARD, NULL).ms,
                    2 * time_of(op, TH_PHASE_EXECUTION, NULL).ms);
    op.kind = TH_OP_ELEMENTWISE;
    op.x[TH_OP_FUNCTION] = TH_EW_PERMUTE;
    CU_ASSERT_EQUAL(time_of(op, TH_PHASE_BACKWARD, NULL).ms,
                    time_of(op, TH_PHASE_EXECUTION, NULL).ms);
}

static th_op decode(int32_t sequences, int32_t keys)
{
    th_op op = th_op_attention(sequences, 1, keys, 32, 8, 128, TH_PRECISION_BF16);
    op.x[TH_OP_UNSPLIT] = 1;
    return op;
}

/* The mean of 2000 keys, unless the longest alone takes longer. */
TEST(sequences_of_unequal_length)
{
    static const int32_t like[] = {1900, 2100, 1999, 2001}, skewed[] = {10, 20, 30, 7940};
    double mean = time_of(decode(4, 2000), TH_PHASE_EXECUTION, NULL).ms;
    CU_ASSERT_EQUAL(time_of(decode(4, 1), TH_PHASE_EXECUTION, like).ms, mean);
    CU_ASSERT_EQUAL(time_of(decode(4, 1), TH_PHASE_EXECUTION, skewed).ms,
                    time_of(decode(1, 7940), TH_PHASE_EXECUTION, NULL).ms);
}

TEST(experts_of_unequal_rows)
{
    th_op op = product(1, 2048, 1024);
    static const int32_t equal[] = {300, 300, 300, 300}, none[] = {0, 0, 0, 0};
    op.kind = TH_OP_MATMUL;
    op.x[TH_OP_BATCH] = 4;
    op.x[TH_OP_ROWS] = 300;
    double even = time_of(op, TH_PHASE_EXECUTION, NULL).ms;
    CU_ASSERT_DOUBLE_EQUAL(time_of(op, TH_PHASE_EXECUTION, equal).ms / even, 1, 1e-12);
    CU_ASSERT(time_of(op, TH_PHASE_EXECUTION, none).ms < even);
}

static void assert_refused(th_op op, th_phase phase, const char *id, const char *text)
{
    th_operator_time t;
    th_error e = {"", ""};
    th_gpu g = gpu_of();
    CU_ASSERT_EQUAL(th_operator_predict(&t, NULL, &(th_operator){op, phase, NULL}, &g, &e), -1);
    TAP_ASSERT_ERROR(e, id, text);
}

TEST(what_cannot_be_told)
{
    th_op op = product(1, 2, 3);
    op.x[TH_OP_PRECISION] = TH_PRECISION_FP8;
    assert_refused(op, TH_PHASE_EXECUTION, "PRED-0163",
                   "precision fp8: card has fp32, fp16, bf16; choose one of these, or describe "
                   "its peak (fp8_GFLOPs)");
    op.x[TH_OP_PRECISION] = TH_PRECISION_TF32;
    assert_refused(op, TH_PHASE_EXECUTION, "PRED-0163",
                   "precision tf32: card has fp32, fp16, bf16; choose one of these, or describe "
                   "its peak (tf32_GFLOPs)");
    op.x[TH_OP_PRECISION] = TH_PRECISION_BF16;
    assert_refused(
        op, TH_PHASE_LOSS, "PRED-0164",
        "narrow dense, loss: the predictor was not trained for it; of its kernels alone: "
        "phase execution");
}

TAP_MAIN("operator_time")
