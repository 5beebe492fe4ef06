/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters, operations and elements of layers, worked out by hand. */
#include <config.h>
#include "workloads/layer.h"
#include "tests/unit/tap.h"
#include "tests/unit/workload_help.h"

static th_layer layer_of(th_layer_kind kind, int b, int k, int c, int h)
{
    return (th_layer){.kind = kind,
                      .dim = {b, k, c, h, 1, 1, 1},
                      .in_h = h,
                      .in_w = 1,
                      .stride_h = 1,
                      .stride_w = 1,
                      .dilation_h = 1,
                      .dilation_w = 1,
                      .up_h = 1,
                      .up_w = 1,
                      .groups = 1,
                      .n_inputs = 1};
}

/* 3 channels to 5, kernel 3 x 3, up 2, over 4 x 6 pixels, padding 1: (4 - 1) 2 + 3 - 2 = 7 rows and
 * 11 columns. 135 weights, each meets every one of 24 pixels: 2 * 135 * 24 = 6480, 5 biases. */
TEST(counts_a_transposed_conv)
{
    th_layer l = layer_of(TH_LAYER_CONV, 2, 5, 3, 7);
    l.dim[TH_DIM_W] = 11;
    l.dim[TH_DIM_R] = l.dim[TH_DIM_S] = 3;
    l.up_h = l.up_w = 2;
    l.pad_top = l.pad_left = 1;
    l.in_h = 4;
    l.in_w = 6;
    l.has_bias = true;
    CU_ASSERT_EQUAL(th_layer_macs(&l), 6480);
    CU_ASSERT_EQUAL(th_layer_parameters(&l), 140);
    CU_ASSERT_EQUAL(first_input_elements(&l), 2 * 3 * 24);
}

/* Output rows 2 and 3 of up 2, kernel 3, padding 1 see stuffed rows 1 .. 4: input rows 1 and 2; row
 * 2 alone sees 1 .. 3, of which only row 1 (stuffed row 2) is real. */
TEST(reads_past_the_zeros_of_a_transposed_conv)
{
    th_layer l = layer_of(TH_LAYER_CONV, 1, 1, 1, 7);
    l.dim[TH_DIM_R] = 3;
    l.up_h = 2;
    l.pad_top = 1;
    l.in_h = 4;
    th_loop_box part = th_layer_loops(&l);
    part.lo[TH_DIM_H] = 2;
    part.hi[TH_DIM_H] = 4;
    th_box box = th_layer_input_of(&l, 0, &part), expected = {{0, 0, 1, 0}, {1, 1, 3, 1}};
    CU_ASSERT_TRUE(th_box_equal(&box, &expected));
    part.hi[TH_DIM_H] = 3;
    expected.hi[2] = 2;
    box = th_layer_input_of(&l, 0, &part);
    CU_ASSERT_TRUE(th_box_equal(&box, &expected));
}

/* 3 sentences of 7 words, 5 inputs, 4 hidden units: 4 * (5 + 4) = 36 weights per gate, 8 biases. */
TEST(counts_recurrent_layers)
{
    th_layer lstm = layer_of(TH_LAYER_LSTM, 3, 4, 5, 7), gru = layer_of(TH_LAYER_GRU, 3, 4, 5, 7);
    CU_ASSERT_EQUAL(th_layer_weights(&lstm), 144);
    CU_ASSERT_EQUAL(th_layer_macs(&lstm), 144 * 21);
    CU_ASSERT_EQUAL(th_layer_parameters(&lstm), 144);
    lstm.has_bias = gru.has_bias = true;
    CU_ASSERT_EQUAL(th_layer_parameters(&lstm), 144 + 32);
    CU_ASSERT_EQUAL(th_layer_macs(&gru), 108 * 21);
    CU_ASSERT_EQUAL(th_layer_parameters(&gru), 108 + 24);
    th_layer rnn = layer_of(TH_LAYER_RNN, 3, 4, 5, 7);
    CU_ASSERT_TRUE(th_layer_macs(&rnn) == 36 * 21 && th_layer_parameters(&rnn) == 36);
}

/* 2 heads of 3 channels, 5 queries, 7 keys, batch 2: 2 * 5 * 14 * 3 = 420 products, no weights. */
TEST(counts_a_matmul_of_activations)
{
    th_layer l = layer_of(TH_LAYER_MATMUL, 2, 14, 6, 5);
    l.n_inputs = l.groups = 2;
    l.is_transposed = true;
    th_box second = th_layer_input_box(&l, 1), keys = {{0, 0, 0, 0}, {2, 6, 7, 1}};
    CU_ASSERT_EQUAL(th_layer_macs(&l), 420);
    CU_ASSERT_TRUE(th_layer_weights(&l) == 0 && th_layer_parameters(&l) == 0);
    CU_ASSERT_TRUE(th_box_equal(&second, &keys));
    CU_ASSERT_TRUE(th_layer_has_macs(&l) && !th_layer_has_weights(&l));
}

/* A table of 11 rows of 4; norms of 6 channels; a concat of 2 + 3 channels reads 2 of them first.
 */
TEST(counts_what_runs_beside_the_array)
{
    th_layer table = layer_of(TH_LAYER_EMBEDDING, 2, 4, 1, 7),
             norm = layer_of(TH_LAYER_NORM, 2, 6, 6, 3);
    table.vocabulary = 11;
    CU_ASSERT_EQUAL(th_layer_weights(&table), 44);
    CU_ASSERT_EQUAL(th_layer_parameters(&table), 44);
    CU_ASSERT_TRUE(th_layer_macs(&table) == 0 && th_layer_has_weights(&table));
    norm.function = TH_FUNCTION_LAYER_NORM;
    CU_ASSERT_EQUAL(th_layer_parameters(&norm), 12);
    norm.function = TH_FUNCTION_RMS_NORM;
    CU_ASSERT_EQUAL(th_layer_parameters(&norm), 6);
    int32_t channels[] = {2, 3};
    th_layer concat = layer_of(TH_LAYER_CONCAT, 2, 5, 5, 3);
    concat.input_channels = channels;
    concat.n_inputs = 2;
    CU_ASSERT_EQUAL(first_input_elements(&concat), 12);
}

TAP_MAIN("layer_counts")
