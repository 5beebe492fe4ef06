/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "predictor/op/op.h"
#include "tests/unit/tap.h"

typedef struct conv_shape {
    int32_t batch, in, channels_in, channels_out, kernel, stride, pad;
} conv_shape;

static th_op conv(conv_shape x)
{
    return (th_op){TH_OP_CONV,
                   {[TH_OP_BATCH] = x.batch,
                    [TH_OP_IN_H] = x.in,
                    [TH_OP_IN_W] = x.in,
                    [TH_OP_CHANNELS_IN] = x.channels_in,
                    [TH_OP_CHANNELS_OUT] = x.channels_out,
                    [TH_OP_KERNEL_H] = x.kernel,
                    [TH_OP_KERNEL_W] = x.kernel,
                    [TH_OP_STRIDE_H] = x.stride,
                    [TH_OP_STRIDE_W] = x.stride,
                    [TH_OP_PAD_H] = x.pad,
                    [TH_OP_PAD_W] = x.pad}};
}

/* The first layer of AlexNet: 227 x 227 x 3, 96 kernels of 11 x 11, stride 4: 55 x 55 outputs of
 * 363 products each; 2 x 55 x 55 x 96 x 363 = 210830400 operations. */
/* However many fields there are. */
TEST(fields_are_bits)
{
    for (int k = 0; k < TH_N_OP_KINDS; k++) {
        uint64_t fields = 0;
        for (int f = 0; f < TH_N_OP_FIELDS; f++)
            fields |= th_op_has((th_op_kind)k, (th_op_field)f) ? TH_OP_BIT(f) : 0;
        CU_ASSERT_EQUAL(th_op_fields((th_op_kind)k), fields);
        CU_ASSERT_TRUE(th_op_has((th_op_kind)k, TH_OP_BATCH));
    }
    CU_ASSERT_TRUE(th_op_has(TH_OP_EXPERTS, TH_OP_SKEW) && !th_op_has(TH_OP_CONV, TH_OP_SKEW));
}

TEST(a_convolution_by_hand)
{
    th_op op = conv((conv_shape){2, 227, 3, 96, 11, 4, 0});
    CU_ASSERT_EQUAL(th_op_out_h(&op), 55);
    CU_ASSERT_EQUAL(th_op_sizes_of(&op).flops, 2 * 210830400.0);
    CU_ASSERT_EQUAL(th_op_input_bytes(&op), 4.0 * 2 * 227 * 227 * 3);
    CU_ASSERT_EQUAL(th_op_weight_bytes(&op), 4.0 * 96 * 363);
    CU_ASSERT_EQUAL(th_op_output_bytes(&op), 4.0 * 2 * 55 * 55 * 96);
}

TEST(products_by_hand)
{
    th_op m = {
        TH_OP_MATMUL,
        {[TH_OP_BATCH] = 5, [TH_OP_ROWS] = 7, [TH_OP_CHANNELS_IN] = 11, [TH_OP_CHANNELS_OUT] = 13}};
    CU_ASSERT_EQUAL(th_op_sizes_of(&m).flops, 2.0 * 5 * 7 * 11 * 13);
    CU_ASSERT_EQUAL(th_op_input_bytes(&m), 4.0 * 5 * 7 * 11);
    CU_ASSERT_EQUAL(th_op_weight_bytes(&m), 4.0 * 5 * 11 * 13);
    CU_ASSERT_EQUAL(th_op_output_bytes(&m), 4.0 * 5 * 7 * 13);
    th_op d = {TH_OP_DENSE,
               {[TH_OP_BATCH] = 3, [TH_OP_CHANNELS_IN] = 17, [TH_OP_CHANNELS_OUT] = 19}};
    CU_ASSERT_EQUAL(th_op_sizes_of(&d).flops, 2.0 * 3 * 17 * 19);
}

/* "Same" padding keeps ceil(in / stride) outputs, with no zero more than that needs. */
TEST(same_padding_keeps_the_size)
{
    for (int32_t in = 1; in < 20; in++)
        for (int32_t kernel = 1; kernel < 8; kernel++)
            for (int32_t stride = 1; stride < 5; stride++) {
                int32_t pad = th_op_same_padding(in, kernel, stride),
                        out = (in + stride - 1) / stride;
                th_op op = conv((conv_shape){1, in, 1, 1, kernel, stride, pad});
                CU_ASSERT_EQUAL(th_op_out_h(&op), out);
                op.x[TH_OP_PAD_H]--;
                CU_ASSERT(pad == 0 || th_op_out_h(&op) == out - 1);
            }
    CU_ASSERT_EQUAL(th_op_same_padding(28, 4, 1), 3);
    CU_ASSERT_EQUAL(th_op_same_padding(28, 5, 2), 3);
}

TEST(checks_ranges)
{
    th_error e = {"", ""};
    th_op op = conv((conv_shape){2, 5, 3, 4, 7, 1, 2});
    CU_ASSERT_EQUAL(th_op_check(&op, &e), 0);
    op.x[TH_OP_PAD_W] = 1;
    CU_ASSERT_EQUAL(th_op_check(&op, &e), -1);
    TAP_ASSERT_TEXT(e.text, "conv: kernel 7 x 7: must fit into the padded input, 7 x 6");
    op.x[TH_OP_BATCH] = 0;
    CU_ASSERT_EQUAL(th_op_check(&op, &e), -1);
    TAP_ASSERT_TEXT(e.text, "conv: batch 0: must be 1 to 16777216");
}

/* 3 sequences of 4 queries on 10 keys: they see 7 + 8 + 9 + 10 = 34 of them, in a window of 8:
 * 7 + 8 + 8 + 8 = 31, of 5: 20; 6 heads of 32 numbers for keys and 16 for values. */
TEST(attention_by_hand)
{
    th_op op = {TH_OP_ATTENTION,
                {[TH_OP_BATCH] = 3,
                 [TH_OP_ROWS] = 4,
                 [TH_OP_CHANNELS_IN] = 32,
                 [TH_OP_CHANNELS_OUT] = 16,
                 [TH_OP_HEADS] = 6,
                 [TH_OP_KV_HEADS] = 2,
                 [TH_OP_KEYS] = 10,
                 [TH_OP_CAUSAL] = 1,
                 [TH_OP_PRECISION] = TH_PRECISION_BF16}};
    CU_ASSERT_EQUAL(th_op_sizes_of(&op).flops, 2.0 * 3 * 6 * 34 * (32 + 16));
    CU_ASSERT_EQUAL(th_op_input_bytes(&op), 2.0 * 3 * 4 * 6 * 32);
    CU_ASSERT_EQUAL(th_op_weight_bytes(&op), 2.0 * 3 * 10 * 2 * (32 + 16));
    CU_ASSERT_EQUAL(th_op_output_bytes(&op), 2.0 * 3 * 4 * 6 * 16);
    op.x[TH_OP_WINDOW] = 8;
    CU_ASSERT_EQUAL(th_op_sizes_of(&op).flops, 2.0 * 3 * 6 * 31 * (32 + 16));
    op.x[TH_OP_WINDOW] = 5;
    CU_ASSERT_EQUAL(th_op_sizes_of(&op).flops, 2.0 * 3 * 6 * 20 * (32 + 16));
    CU_ASSERT_EQUAL(th_op_weight_bytes(&op), 2.0 * 3 * (5 + 4) * 2 * (32 + 16));
    op.x[TH_OP_CAUSAL] = op.x[TH_OP_WINDOW] = 0;
    CU_ASSERT_EQUAL(th_op_sizes_of(&op).flops, 2.0 * 3 * 6 * 40 * (32 + 16));
}

TEST(attention_is_checked)
{
    th_error e = {"", ""};
    th_op op = {TH_OP_ATTENTION,
                {[TH_OP_BATCH] = 1,
                 [TH_OP_ROWS] = 9,
                 [TH_OP_CHANNELS_IN] = 8,
                 [TH_OP_CHANNELS_OUT] = 8,
                 [TH_OP_HEADS] = 6,
                 [TH_OP_KV_HEADS] = 4,
                 [TH_OP_KEYS] = 5}};
    CU_ASSERT_EQUAL(th_op_check(&op, &e), -1);
    TAP_ASSERT_TEXT(e.text, "attention: kv_heads 4: must divide heads, 6");
    TAP_ASSERT_TEXT(e.id, "PRED-0160");
    op.x[TH_OP_KV_HEADS] = 3;
    CU_ASSERT_EQUAL(th_op_check(&op, &e), 0);
    op.x[TH_OP_CAUSAL] = 1;
    CU_ASSERT_EQUAL(th_op_check(&op, &e), -1);
    TAP_ASSERT_TEXT(e.text, "attention: keys 5: must contain the 9 rows, where it is causal");
    TAP_ASSERT_TEXT(e.id, "PRED-0161");
}

/* 100 tokens of 32 numbers, each to 6 of 64 experts of 16 on 4 ranks: a rank has 150 of the 600
 * choices, each three products of 32 x 16; no token asks an expert twice, so two are there at
 * least. */
TEST(experts_by_hand)
{
    th_error e = {"", ""};
    th_op op = {TH_OP_EXPERTS,
                {[TH_OP_BATCH] = 100,
                 [TH_OP_CHANNELS_IN] = 32,
                 [TH_OP_CHANNELS_OUT] = 16,
                 [TH_OP_N_EXPERTS] = 64,
                 [TH_OP_TOP_K] = 6,
                 [TH_OP_RANKS] = 4,
                 [TH_OP_SKEW] = 120,
                 [TH_OP_PRECISION] = TH_PRECISION_FP8}};
    CU_ASSERT_EQUAL(th_op_check(&op, &e), 0);
    CU_ASSERT_EQUAL(th_op_sizes_of(&op).flops, 2.0 * 150 * 3 * 32 * 16);
    CU_ASSERT_EQUAL(th_op_weight_bytes(&op), 2 * 3 * 32 * 16);
    CU_ASSERT_EQUAL(th_op_output_bytes(&op), 2.0 * 100 * 32);
    op.x[TH_OP_RANKS] = 5;
    CU_ASSERT_EQUAL(th_op_check(&op, &e), -1);
    TAP_ASSERT_TEXT(e.text, "experts: ranks 5: must divide n_experts, 64");
    TAP_ASSERT_TEXT(e.id, "PRED-0710");
    op.x[TH_OP_RANKS] = 1;
    op.x[TH_OP_TOP_K] = 65;
    CU_ASSERT_EQUAL(th_op_check(&op, &e), -1);
    TAP_ASSERT_TEXT(e.text, "experts: top_k 65: must be at most n_experts, 64");
    TAP_ASSERT_TEXT(e.id, "PRED-0711");
}

static void assert_traffic(th_op_kind kind, th_op_function f, th_op_precision p, double read,
                           double written)
{
    th_op op = {kind,
                {[TH_OP_BATCH] = 10,
                 [TH_OP_CHANNELS_IN] = 100,
                 [TH_OP_FUNCTION] = (int32_t)f,
                 [TH_OP_PRECISION] = (int32_t)p}};
    double r, w;
    th_op_traffic(&op, &r, &w);
    CU_ASSERT_EQUAL(r, read);
    CU_ASSERT_EQUAL(w, written);
}

/* 1000 numbers. Adam in mixed precision: gradient 2, weight and moments 3 x 4 read; the latter and
 * a copy of 2 written: 28 bytes; all of single precision: 4 x 4 and 3 x 4. */
TEST(traffic_of_passes)
{
    assert_traffic(TH_OP_ELEMENTWISE, TH_EW_ADD, TH_PRECISION_FP32, 8000, 4000);
    assert_traffic(TH_OP_ELEMENTWISE, TH_EW_SILU_GATE, TH_PRECISION_BF16, 4000, 2000);
    assert_traffic(TH_OP_ELEMENTWISE, TH_EW_QUANTIZE, TH_PRECISION_FP8, 2000, 1000);
    assert_traffic(TH_OP_ELEMENTWISE, TH_EW_DEQUANTIZE, TH_PRECISION_FP4, 500, 2000);
    assert_traffic(TH_OP_ELEMENTWISE, TH_EW_ADAM, TH_PRECISION_BF16, 14000, 14000);
    assert_traffic(TH_OP_ELEMENTWISE, TH_EW_ADAM, TH_PRECISION_FP32, 16000, 12000);
    assert_traffic(TH_OP_CROSS_ENTROPY, 0, TH_PRECISION_BF16, 2000, 0);
    assert_traffic(TH_OP_RMS_NORM, 0, TH_PRECISION_FP16, 2000, 2000);
    assert_traffic(TH_OP_DENSE, 0, TH_PRECISION_FP16, 0, 0);
}

/* 7 rows of 8 numbers to 9: operands of 1 byte (half a byte), results of 2. */
TEST(narrow_products)
{
    th_op op = {TH_OP_DENSE,
                {[TH_OP_BATCH] = 7,
                 [TH_OP_CHANNELS_IN] = 8,
                 [TH_OP_CHANNELS_OUT] = 9,
                 [TH_OP_PRECISION] = TH_PRECISION_FP8}};
    CU_ASSERT(th_op_is_narrow(&op));
    CU_ASSERT(th_op_input_bytes(&op) == 56 && th_op_weight_bytes(&op) == 72 &&
              th_op_output_bytes(&op) == 126);
    op.x[TH_OP_PRECISION] = TH_PRECISION_FP4;
    CU_ASSERT(th_op_input_bytes(&op) == 28 && th_op_output_bytes(&op) == 126);
    CU_ASSERT_EQUAL(th_op_sizes_of(&op).flops, 2.0 * 7 * 8 * 9);
}

TEST(names_and_words)
{
    for (int k = 0; k < TH_N_OP_KINDS; k++)
        CU_ASSERT_EQUAL(th_op_kind_find(th_op_kind_name((th_op_kind)k)), k);
    for (int p = 0; p < TH_N_PHASES; p++)
        CU_ASSERT_EQUAL(th_phase_find(th_phase_name((th_phase)p)), p);
    TAP_ASSERT_TEXT(th_op_kind_title(TH_OP_DENSE, true), "narrow dense");
    TAP_ASSERT_TEXT(th_op_kind_title(TH_OP_DENSE, false), "dense");
    CU_ASSERT_EQUAL(th_op_value(TH_OP_PRECISION, "bf16"), TH_PRECISION_BF16);
    CU_ASSERT_EQUAL(th_op_kind_find("convolutional"), -1);
    CU_ASSERT_EQUAL(th_phase_find(""), -1);
    CU_ASSERT_EQUAL(th_op_value(TH_OP_ACTIVATION, "relu"), TH_ACT_RELU);
    CU_ASSERT_EQUAL(th_op_value(TH_OP_ACTIVATION, "2"), 2);
    CU_ASSERT_EQUAL(th_op_value(TH_OP_BATCH, "relu"), -1);
    CU_ASSERT_EQUAL(th_op_value(TH_OP_BATCH, "99999999999"), -1);
    CU_ASSERT_EQUAL(th_op_value(TH_OP_BATCH, "-1"), -1);
    TAP_ASSERT_TEXT(th_op_word(TH_OP_OPTIMIZER, TH_OPTIMIZER_ADAM), "adam");
    CU_ASSERT_PTR_NULL(th_op_word(TH_OP_BATCH, 1));
    CU_ASSERT(th_op_has(TH_OP_POOLING, TH_OP_KERNEL_H) &&
              !th_op_has(TH_OP_POOLING, TH_OP_CHANNELS_OUT));
}

TAP_MAIN("op")
