/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_shard_kinds.c - what each kind of layer splits, rotates and keeps resident, by hand. */
#include <config.h>
#include "tests/unit/shard_help.h"

/* Batch 4, pixel by pixel on a column of h rows. */
static th_layer column(th_layer_kind kind, int k, int c, int h)
{
    th_layer l = th_layer_over(kind, 4, c, h, 1, TH_FP16);
    l.name = "x";
    l.dim[TH_DIM_K] = k;
    l.n_inputs = 1;
    return l;
}

static void assert_runs(const th_layer *l, const char *strategy, int n)
{
    th_strategy s = strategy_of(strategy);
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_strategy_check(&s, l, 4, n, "", &e), 0);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_TRUE(th_strategy_fits(&s, l, 4, n));
}

static th_box needs(const th_layer *l, int input, const char *strategy, int r)
{
    th_strategy s = strategy_of(strategy);
    th_loop_box loops = th_shard_loops(l, 4, &s, NULL, r);
    return th_layer_input_of(l, input, &loops);
}

static int64_t weights(const th_layer *l, const char *strategy, int r)
{
    th_strategy s = strategy_of(strategy);
    return th_shard_weight_bytes(l, &s, NULL, r);
}

/* --- products of two inputs ------------------------------------------------------------------- */

/* Scores of 6 heads, 10 rows by 9 columns each, over 8 channels of each head: K = 54, C = 48. */
static th_layer scores(void)
{
    th_layer l = column(TH_LAYER_MATMUL, 54, 48, 10);
    l.n_inputs = 2;
    l.groups = 6;
    l.is_transposed = true;
    return l;
}

/* K3: two heads each; position 1 has heads 2 and 3, channels 16 .. 31 of both inputs, all 9 rows of
 * the second. K18: a third of a head; position 7 has columns 3 .. 5 of head 2. H2 leaves the second
 * input whole. */
TEST(products_need_other_boxes_of_each_input)
{
    th_layer l = scores();
    assert_box(needs(&l, 0, "K3", 1), (th_box){{0, 16, 0, 0}, {4, 32, 10, 1}});
    assert_box(needs(&l, 1, "K3", 1), (th_box){{0, 16, 0, 0}, {4, 32, 9, 1}});
    assert_box(needs(&l, 0, "K18", 7), (th_box){{0, 16, 0, 0}, {4, 24, 10, 1}});
    assert_box(needs(&l, 1, "K18", 7), (th_box){{0, 16, 3, 0}, {4, 24, 6, 1}});
    assert_box(needs(&l, 0, "H2", 1), (th_box){{0, 0, 5, 0}, {4, 48, 10, 1}});
    assert_box(needs(&l, 1, "H2", 1), (th_box){{0, 0, 0, 0}, {4, 48, 9, 1}});
    assert_runs(&l, "B2 K3 H2", 12);
    assert_refused(&l, 4, "K4", 4, "MAP-0004",
                   ": a grouped matmul layer cannot be split 4 ways along K");
    CU_ASSERT_EQUAL(weights(&l, "K3", 1), 0);
}

/* One head of 12 x 20 by 20 x 10. Positions that differ in K alone share the first input, which may
 * rotate along B, H or C. Those that differ in H alone share the second one, which never does. */
TEST(products_rotate_their_first_input_alone)
{
    th_layer l = column(TH_LAYER_MATMUL, 10, 20, 12);
    l.n_inputs = 2;
    th_strategy c = strategy_of("H2 K2 rC"), b = strategy_of("B2 K2 rB");
    assert_runs(&l, "B2 K2 rB", 4);
    assert_runs(&l, "H2 K2 rH", 4);
    assert_runs(&l, "H2 K2 rC", 4);
    CU_ASSERT_EQUAL(th_shard_rotating(&l, &c), TH_OPERAND_INPUT);
    CU_ASSERT_EQUAL(th_shard_phases(&l, &c), 2);
    CU_ASSERT_EQUAL(th_shard_phases(&l, &b), 2);
    assert_cannot_rotate(&l, 4, "H2 K2 rK", 4, "K");
    assert_cannot_rotate(&l, 4, "H4 rC", 4, "C");
    l.n_inputs = 1; /* with weights instead they are what rotates */
    CU_ASSERT_EQUAL(th_shard_rotating(&l, &c), TH_OPERAND_WEIGHT);
    assert_runs(&l, "H2 K2 rK", 4);
}

/* --- recurrent layers, tables ----------------------------------------------------------------- */

/* 5 inputs, 6 hidden units: lstm 4 * 6 * (5 + 6) = 264 weights and 8 * 6 biases, gru 198 and 6 * 6.
 */
TEST(recurrent_layers_split_images_alone)
{
    th_layer l = column(TH_LAYER_LSTM, 6, 5, 10);
    assert_runs(&l, "B4", 4);
    assert_refused(&l, 4, "K2", 2, "MAP-0004", ": a lstm layer cannot be split 2 ways along K");
    assert_refused(&l, 4, "C5", 5, "MAP-0004", ": a lstm layer cannot be split 5 ways along C");
    assert_refused(&l, 4, "H2", 2, "MAP-0004", ": a lstm layer cannot be split 2 ways along H");
    assert_cannot_rotate(&l, 4, "B4 rK", 4, "K");
    CU_ASSERT_EQUAL(weights(&l, "B4", 2), 264 * 2);
    l.has_bias = true;
    CU_ASSERT_EQUAL(weights(&l, "B4", 2), (264 + 48) * 2);
    l.kind = TH_LAYER_GRU;
    CU_ASSERT_EQUAL(weights(&l, "", 0), (198 + 36) * 2);
}

/* 1,000 rows of 10 channels: K3 cuts the table into 3, 3, 4 columns. It does not rotate. */
TEST(an_embedding_cuts_its_table)
{
    th_layer l = column(TH_LAYER_EMBEDDING, 10, 1, 7);
    l.vocabulary = 1000;
    assert_runs(&l, "B2 K3 H7", 42);
    CU_ASSERT_EQUAL(weights(&l, "K3", 0), 1000 * 3 * 2);
    CU_ASSERT_EQUAL(weights(&l, "K3", 2), 1000 * 4 * 2);
    CU_ASSERT_EQUAL(weights(&l, "H7", 6), 1000 * 10 * 2);
    assert_box(needs(&l, 0, "K3", 2), (th_box){{0, 0, 0, 0}, {4, 1, 7, 1}});
    assert_box(needs(&l, 0, "H7", 2), (th_box){{0, 0, 2, 0}, {4, 1, 3, 1}});
    assert_cannot_rotate(&l, 4, "H2 rK", 2, "K");
}

/* --- pixel by pixel --------------------------------------------------------------------------- */

/* A group is not cut: 12 channels in 6 groups split into 2, 3 and 6, not into 4. */
TEST(softmax_keeps_groups_whole)
{
    th_layer l = column(TH_LAYER_SOFTMAX, 12, 12, 5);
    l.groups = 6;
    assert_runs(&l, "K3", 3);
    assert_box(needs(&l, 0, "K3", 1), (th_box){{0, 4, 0, 0}, {4, 8, 5, 1}});
    assert_refused(&l, 4, "K4", 4, "MAP-0004",
                   ": a grouped softmax layer cannot be split 4 ways along K");
    l.groups = 1;
    assert_refused(&l, 4, "K2", 2, "MAP-0004", ": a softmax layer cannot be split 2 ways along K");
    assert_runs(&l, "H5", 5);
}

/* Scale and shift of 12 channels; rms has a scale alone. Batch norm knows channels, the others
 * pixels. */
TEST(norms_hold_their_parameters)
{
    th_layer l = column(TH_LAYER_NORM, 12, 12, 5);
    l.function = TH_FUNCTION_LAYER_NORM;
    assert_refused(&l, 4, "K2", 2, "MAP-0004",
                   ": a layer_norm layer cannot be split 2 ways along K");
    CU_ASSERT_EQUAL(weights(&l, "H5", 4), 2 * 12 * 2);
    l.function = TH_FUNCTION_RMS_NORM;
    CU_ASSERT_EQUAL(weights(&l, "H5", 4), 12 * 2);
    l.function = TH_FUNCTION_BATCH_NORM;
    CU_ASSERT_EQUAL(weights(&l, "K4", 3), 2 * 3 * 2);
    assert_box(needs(&l, 0, "K4", 3), (th_box){{0, 9, 0, 0}, {4, 12, 5, 1}});
}

/* 2 + 7 + 3 channels. K4, position 0: channels 0 .. 2, so both of the first input and one of the
 * second; position 1: 3 .. 5, of the second alone. A slice begins at channel 20. */
TEST(a_part_of_a_concat_may_need_nothing_of_an_input)
{
    int32_t channels[] = {2, 7, 3};
    th_layer l = column(TH_LAYER_CONCAT, 12, 12, 5), s = column(TH_LAYER_SLICE, 12, 60, 5);
    l.n_inputs = 3;
    l.input_channels = channels;
    assert_box(needs(&l, 0, "K4", 0), (th_box){{0, 0, 0, 0}, {4, 2, 5, 1}});
    assert_box(needs(&l, 1, "K4", 0), (th_box){{0, 0, 0, 0}, {4, 1, 5, 1}});
    assert_box(needs(&l, 2, "K4", 0), (th_box){{0}, {0}});
    assert_box(needs(&l, 0, "K4", 1), (th_box){{0}, {0}});
    assert_box(needs(&l, 1, "K4", 1), (th_box){{0, 1, 0, 0}, {4, 4, 5, 1}});
    s.first_channel = 20;
    assert_box(needs(&s, 0, "K4", 1), (th_box){{0, 23, 0, 0}, {4, 26, 5, 1}});
}

/* --- precision and zeros ---------------------------------------------------------------------- */

/* 3 filters of 5 channels: 15 weights and 3 biases. int4: 7.5 and 1.5 bytes, each rounded up. A
 * third is not zero: 5 of 16 bits and a bit for each of 15: 95 bits. 2 of 4 along C: 8 of 16 bits
 * and 2 for their places: 144 bits. */
TEST(weights_lie_in_their_own_precision_without_their_zeros)
{
    th_layer l = column(TH_LAYER_MATMUL, 6, 5, 7);
    l.has_bias = true;
    l.precision[TH_TENSOR_INPUT] = l.precision[TH_TENSOR_OUTPUT] = TH_FP32;
    CU_ASSERT_EQUAL(weights(&l, "K2", 0), 15 * 2 + 3 * 2);
    l.precision[TH_TENSOR_WEIGHT] = TH_INT4;
    CU_ASSERT_EQUAL(weights(&l, "K2", 0), 8 + 2);
    l.precision[TH_TENSOR_WEIGHT] = TH_FP16;
    l.density[TH_TENSOR_WEIGHT] = 0.33;
    CU_ASSERT_EQUAL(weights(&l, "K2", 0), 12 + 6);
    l.density[TH_TENSOR_WEIGHT] = 1;
    l.sparse_n = 2;
    l.sparse_m = 4;
    CU_ASSERT_EQUAL(weights(&l, "K2", 0), 18 + 6);
    /* H2 rK: the piece of a phase, 3 filters, and all biases */
    CU_ASSERT_EQUAL(weights(&l, "H2 rK", 0), 18 + 12);
}

TAP_MAIN("shard_kinds")
