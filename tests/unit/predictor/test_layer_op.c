/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "predictor/model/network_prediction.h"
#include "predictor/op/layer_op.h"
#include "tests/unit/tap.h"

static th_layer_part part_of(th_layer_kind kind, const int32_t dim[TH_N_DIMS], int32_t in)
{
    th_layer_part p = {.kind = kind,
                       .groups = 1,
                       .in_h = in,
                       .in_w = in,
                       .stride_h = 1,
                       .stride_w = 1,
                       .dilation_h = 1,
                       .dilation_w = 1,
                       .up_h = 1,
                       .up_w = 1,
                       .n_operands = 1};
    memcpy(p.dim, dim, sizeof p.dim);
    return p;
}

/* ResNet's first layer: 7 x 7, stride 2, 224 -> 112: 111 * 2 + 7 - 224 = 5 zeros. */
TEST(a_conv_has_the_padding_that_its_outputs_need)
{
    const int32_t dim[] = {4, 64, 3, 112, 112, 7, 7};
    th_layer_part p = part_of(TH_LAYER_CONV, dim, 224);
    th_layer_op op;
    p.stride_h = p.stride_w = 2;
    p.has_bias = true;
    CU_ASSERT_EQUAL_FATAL(th_layer_op_of(&p, &op, NULL), 0);
    CU_ASSERT_TRUE(op.times == 1 && op.op.kind == TH_OP_CONV && op.op.x[TH_OP_PAD_H] == 5 &&
                   op.op.x[TH_OP_PAD_W] == 5 && op.op.x[TH_OP_BIAS] == 1 &&
                   op.op.x[TH_OP_CHANNELS_IN] == 3 && op.op.x[TH_OP_CHANNELS_OUT] == 64);
    CU_ASSERT_EQUAL(th_op_out_h(&op.op), 112);
}

TEST(groups_run_one_after_the_other)
{
    const int32_t dim[] = {1, 256, 96, 27, 27, 5, 5};
    th_layer_part p = part_of(TH_LAYER_CONV, dim, 27);
    th_layer_op op;
    p.groups = 2;
    CU_ASSERT_EQUAL_FATAL(th_layer_op_of(&p, &op, NULL), 0);
    CU_ASSERT_TRUE(op.times == 2 && op.op.x[TH_OP_CHANNELS_IN] == 48 &&
                   op.op.x[TH_OP_CHANNELS_OUT] == 128);
}

/* 2 images, 3 heads of 4 with values of 5, 6 queries, 7 keys. */
TEST(an_attention_is_two_products_and_a_softmax)
{
    const int32_t dim[] = {2, 15, 12, 6, 1, 7, 1};
    th_layer_part p = part_of(TH_LAYER_ATTENTION, dim, 6), parts[TH_ATTENTION_OPS];
    th_layer_op op;
    p.groups = 3;
    p.n_operands = 4;
    th_layer_attention_parts(&p, parts);
    CU_ASSERT_EQUAL_FATAL(th_layer_op_of(&parts[0], &op, NULL), 0);
    CU_ASSERT_TRUE(op.op.kind == TH_OP_MATMUL && op.op.x[TH_OP_BATCH] == 6 &&
                   op.op.x[TH_OP_ROWS] == 6 && op.op.x[TH_OP_CHANNELS_IN] == 4 &&
                   op.op.x[TH_OP_CHANNELS_OUT] == 7);
    CU_ASSERT_EQUAL_FATAL(th_layer_op_of(&parts[1], &op, NULL), 0);
    CU_ASSERT_TRUE(op.op.kind == TH_OP_SOFTMAX && op.op.x[TH_OP_BATCH] == 36 &&
                   op.op.x[TH_OP_CHANNELS_IN] == 7);
    CU_ASSERT_EQUAL_FATAL(th_layer_op_of(&parts[2], &op, NULL), 0);
    CU_ASSERT_TRUE(op.op.kind == TH_OP_MATMUL && op.op.x[TH_OP_ROWS] == 6 &&
                   op.op.x[TH_OP_CHANNELS_IN] == 7 && op.op.x[TH_OP_CHANNELS_OUT] == 5);
}

/* 2 images of 5 rows. */
TEST(matmuls_are_dense_or_products_of_heads)
{
    const int32_t dim[] = {2, 12, 24, 5, 1, 1, 1};
    th_layer_part p = part_of(TH_LAYER_MATMUL, dim, 5);
    th_layer_op op;
    CU_ASSERT_EQUAL_FATAL(th_layer_op_of(&p, &op, NULL), 0);
    CU_ASSERT_TRUE(op.op.kind == TH_OP_DENSE && op.op.x[TH_OP_BATCH] == 10 &&
                   op.op.x[TH_OP_CHANNELS_IN] == 24 && op.op.x[TH_OP_CHANNELS_OUT] == 12);
    p.n_operands = 2;
    p.groups = 4;
    CU_ASSERT_EQUAL_FATAL(th_layer_op_of(&p, &op, NULL), 0);
    CU_ASSERT_TRUE(op.op.kind == TH_OP_MATMUL && op.op.x[TH_OP_BATCH] == 8 &&
                   op.op.x[TH_OP_ROWS] == 5 && op.op.x[TH_OP_CHANNELS_IN] == 6 &&
                   op.op.x[TH_OP_CHANNELS_OUT] == 3);
}

static th_layer_op rows_of(th_layer_kind kind, th_function function, int n_operands, int groups)
{
    const int32_t dim[] = {2, 60, 60, 5, 3, 1, 1};
    th_layer_part p = part_of(kind, dim, 5);
    th_layer_op op;
    p.function = function;
    p.n_operands = n_operands;
    p.groups = groups;
    CU_ASSERT_EQUAL_FATAL(th_layer_op_of(&p, &op, NULL), 0);
    return op;
}

TEST(functions_go_over_rows_of_channels)
{
    th_layer_op add = rows_of(TH_LAYER_ELEMENTWISE, TH_FUNCTION_ADD, 3, 1),
                norm = rows_of(TH_LAYER_NORM, TH_FUNCTION_LAYER_NORM, 1, 1),
                batch = rows_of(TH_LAYER_NORM, TH_FUNCTION_BATCH_NORM, 1, 1),
                softmax = rows_of(TH_LAYER_SOFTMAX, 0, 1, 4);
    CU_ASSERT_TRUE(add.times == 2 && add.op.x[TH_OP_BATCH] == 30 &&
                   add.op.x[TH_OP_CHANNELS_IN] == 60 && add.op.x[TH_OP_FUNCTION] == TH_EW_ADD);
    CU_ASSERT_TRUE(norm.op.kind == TH_OP_NORM && norm.op.x[TH_OP_BATCH] == 30);
    CU_ASSERT_TRUE(batch.op.kind == TH_OP_ELEMENTWISE &&
                   batch.op.x[TH_OP_FUNCTION] == TH_EW_MUL_NUMBER);
    CU_ASSERT_TRUE(softmax.op.kind == TH_OP_SOFTMAX && softmax.op.x[TH_OP_BATCH] == 120 &&
                   softmax.op.x[TH_OP_CHANNELS_IN] == 15);
    CU_ASSERT_EQUAL(rows_of(TH_LAYER_SLICE, 0, 1, 1).times, 0);
    CU_ASSERT_EQUAL(rows_of(TH_LAYER_CONCAT, 0, 2, 1).op.x[TH_OP_FUNCTION], TH_EW_MUL_NUMBER);
    CU_ASSERT_EQUAL(rows_of(TH_LAYER_ELEMENTWISE, TH_FUNCTION_SILU, 1, 1).op.x[TH_OP_FUNCTION],
                    TH_EW_GELU);
    CU_ASSERT_EQUAL(rows_of(TH_LAYER_ELEMENTWISE, TH_FUNCTION_SIGMOID, 1, 1).op.x[TH_OP_FUNCTION],
                    TH_EW_TANH);
}

TEST(a_dropout_runs_in_training_alone)
{
    const int32_t dim[] = {2, 60, 60, 5, 1, 1, 1};
    th_layer_part p = part_of(TH_LAYER_ELEMENTWISE, dim, 5);
    th_layer_op op;
    p.function = TH_FUNCTION_DROPOUT;
    CU_ASSERT_TRUE(th_layer_op_of(&p, &op, NULL) == 0 && op.times == 0);
    p.is_training = true;
    CU_ASSERT_TRUE(th_layer_op_of(&p, &op, NULL) == 0 && op.times == 1 &&
                   op.op.x[TH_OP_FUNCTION] == TH_EW_MUL_NUMBER);
    p.function = TH_FUNCTION_POWER;
    CU_ASSERT_TRUE(th_layer_op_of(&p, &op, NULL) == 0 &&
                   op.op.x[TH_OP_FUNCTION] == TH_EW_POW_NUMBER);
}

static const char *refused(th_layer_kind kind, int groups, int dilation)
{
    const int32_t dim[] = {1, 8, 8, 5, 5, 1, 1};
    static th_error e;
    th_layer_part p = part_of(kind, dim, 5);
    th_layer_op op;
    p.groups = groups;
    p.dilation_h = dilation;
    CU_ASSERT_EQUAL(th_layer_op_of(&p, &op, &e), -1);
    static char text[TH_ERROR_TEXT_MAX + TH_ERROR_ID_MAX + 3];
    snprintf(text, sizeof text, "%s: %s", e.id, e.text);
    return text;
}

TEST(what_was_not_measured_is_named)
{
    TAP_ASSERT_TEXT(refused(TH_LAYER_LSTM, 1, 1),
                    "PRED-0132: a recurrent layer (lstm): GPUs were measured without");
    TAP_ASSERT_TEXT(refused(TH_LAYER_CONV, 8, 1),
                    "PRED-0131: a depthwise conv (8 groups): GPUs were measured without");
    TAP_ASSERT_TEXT(refused(TH_LAYER_CONV, 1, 2),
                    "PRED-0130: a conv with dilation or transposed: GPUs were measured without");
}

/* X is 10 x 24, W 24 x 12: dX = G W' is 10 x 12 by 12 x 24, dW = X' G is 24 x 10 by 10 x 12. */
TEST(the_backward_pass_of_a_dense_layer_is_two_products)
{
    const int32_t dim[] = {2, 12, 24, 5, 1, 1, 1};
    th_layer_part p = part_of(TH_LAYER_MATMUL, dim, 5);
    th_layer_op op, back[TH_BACKWARD_OPS_MAX];
    p.has_bias = true;
    CU_ASSERT_EQUAL_FATAL(th_layer_op_of(&p, &op, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(th_backward_ops(&p, &op, back), 3);
    CU_ASSERT_TRUE(back[0].op.x[TH_OP_BATCH] == 10 && back[0].op.x[TH_OP_CHANNELS_IN] == 12 &&
                   back[0].op.x[TH_OP_CHANNELS_OUT] == 24);
    CU_ASSERT_TRUE(back[1].op.x[TH_OP_BATCH] == 24 && back[1].op.x[TH_OP_CHANNELS_IN] == 10 &&
                   back[1].op.x[TH_OP_CHANNELS_OUT] == 12);
    CU_ASSERT_TRUE(back[2].op.kind == TH_OP_ELEMENTWISE && back[2].op.x[TH_OP_BATCH] == 5);
    p.n_operands = 2;
    CU_ASSERT_EQUAL_FATAL(th_layer_op_of(&p, &op, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(th_backward_ops(&p, &op, back), 2);
    CU_ASSERT_TRUE(th_op_sizes_of(&back[0].op).flops == th_op_sizes_of(&op.op).flops &&
                   th_op_sizes_of(&back[1].op).flops == th_op_sizes_of(&op.op).flops);
}

TEST(other_backward_passes)
{
    th_layer_op back[TH_BACKWARD_OPS_MAX];
    th_layer_part any = {.kind = TH_LAYER_ELEMENTWISE};
    th_layer_op add = rows_of(TH_LAYER_ELEMENTWISE, TH_FUNCTION_ADD, 2, 1),
                mul = rows_of(TH_LAYER_ELEMENTWISE, TH_FUNCTION_MUL, 2, 1),
                gelu = rows_of(TH_LAYER_ELEMENTWISE, TH_FUNCTION_GELU, 1, 1);
    CU_ASSERT_EQUAL(th_backward_ops(&any, &add, back), 0);
    CU_ASSERT_TRUE(th_backward_ops(&any, &mul, back) == 1 && back[0].times == 2);
    CU_ASSERT_TRUE(th_backward_ops(&any, &gelu, back) == 1 && back[0].times == 1 &&
                   back[0].op.x[TH_OP_FUNCTION] == TH_EW_MUL);
    CU_ASSERT_EQUAL(th_update_ops(TH_OPTIMIZER_NONE, 5000, back), 0);
    CU_ASSERT_TRUE(th_update_ops(TH_OPTIMIZER_ADAM, 5000, back) == 1 && back[0].times == 6 &&
                   back[0].op.x[TH_OP_BATCH] == 5 && back[0].op.x[TH_OP_CHANNELS_IN] == 1024);
}

static bool is_pass(const th_layer_op *op, int32_t batch, int32_t channels, th_op_function f)
{
    return op->op.kind == TH_OP_ELEMENTWISE && op->times == 1 && op->op.x[TH_OP_BATCH] == batch &&
           op->op.x[TH_OP_CHANNELS_IN] == channels && op->op.x[TH_OP_FUNCTION] == (int32_t)f;
}

/* Rows of 30 x 60: the slope of a power is a power and a product more. A table of 7 rows of 60. */
TEST(backward_passes_over_rows)
{
    const int32_t dim[] = {2, 60, 60, 5, 3, 1, 1};
    th_layer_op back[TH_BACKWARD_OPS_MAX], op;
    th_layer_part any = {.kind = TH_LAYER_ELEMENTWISE}, table = part_of(TH_LAYER_EMBEDDING, dim, 5);
    th_layer_op power = rows_of(TH_LAYER_ELEMENTWISE, TH_FUNCTION_POWER, 1, 1),
                scale = rows_of(TH_LAYER_ELEMENTWISE, TH_FUNCTION_SCALE, 1, 1),
                norm = rows_of(TH_LAYER_NORM, TH_FUNCTION_LAYER_NORM, 1, 1),
                softmax = rows_of(TH_LAYER_SOFTMAX, 0, 1, 1);
    CU_ASSERT_EQUAL_FATAL(th_backward_ops(&any, &power, back), 3);
    CU_ASSERT_TRUE(is_pass(&back[0], 30, 60, TH_EW_MUL) &&
                   is_pass(&back[1], 30, 60, TH_EW_POW_NUMBER) &&
                   is_pass(&back[2], 30, 60, TH_EW_MUL_NUMBER));
    CU_ASSERT_EQUAL_FATAL(th_backward_ops(&any, &scale, back), 1);
    CU_ASSERT_TRUE(is_pass(&back[0], 30, 60, TH_EW_MUL_NUMBER));
    CU_ASSERT_EQUAL_FATAL(th_backward_ops(&any, &norm, back), 2);
    CU_ASSERT_TRUE(is_pass(&back[0], 30, 60, TH_EW_MUL) &&
                   is_pass(&back[1], 30, 60, TH_EW_MUL_NUMBER));
    CU_ASSERT_EQUAL_FATAL(th_backward_ops(&any, &softmax, back), 1);
    CU_ASSERT_TRUE(is_pass(&back[0], 30, 60, TH_EW_MUL));
    table.vocabulary = 7;
    CU_ASSERT_EQUAL_FATAL(th_layer_op_of(&table, &op, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(th_backward_ops(&table, &op, back), 2);
    CU_ASSERT_TRUE(is_pass(&back[0], 7, 60, TH_EW_MUL_NUMBER) &&
                   is_pass(&back[1], 30, 60, TH_EW_MUL_NUMBER));
}

/* The gradients of input and weights, each as long as forward; of a pooling that of the input. */
TEST(backward_passes_over_windows)
{
    const int32_t dim[] = {4, 8, 8, 5, 5, 3, 3};
    th_layer_part conv = part_of(TH_LAYER_CONV, dim, 7), pool = part_of(TH_LAYER_POOL, dim, 7);
    th_layer_op op, back[TH_BACKWARD_OPS_MAX];
    CU_ASSERT_EQUAL_FATAL(th_layer_op_of(&conv, &op, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(th_backward_ops(&conv, &op, back), 1);
    CU_ASSERT_TRUE(back[0].times == 2 && memcmp(&back[0].op, &op.op, sizeof op.op) == 0);
    CU_ASSERT_EQUAL_FATAL(th_layer_op_of(&pool, &op, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(th_backward_ops(&pool, &op, back), 1);
    CU_ASSERT_TRUE(back[0].times == 1 && memcmp(&back[0].op, &op.op, sizeof op.op) == 0);
}

TAP_MAIN("layer_op")
