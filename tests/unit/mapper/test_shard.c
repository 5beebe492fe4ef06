/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "tests/unit/shard_help.h"

/* Batch 5, 10 -> 12 channels, 11 x 9 output pixels of a 3 x 3 kernel. */
static th_layer conv(void)
{
    th_layer l = th_layer_over(TH_LAYER_CONV, 5, 10, 11, 9, TH_FP16);
    l.name = "c";
    l.dim[TH_DIM_K] = 12;
    l.dim[TH_DIM_R] = l.dim[TH_DIM_S] = 3;
    l.in_h = 13, l.in_w = 11;
    l.n_inputs = 1;
    return l;
}

static void assert_range(const th_loop_box *b, int d, int lo, int hi)
{
    CU_ASSERT_EQUAL(b->lo[d], lo);
    CU_ASSERT_EQUAL(b->hi[d], hi);
}

/* --- exclusive shards ------------------------------------------------------------------------- */

/* 11 rows in 4 pieces: 0, 2.75, 5.5, 8.25, 11 -> 2, 3, 3, 3 rows. 12 channels in 2. Position 5 of
 * K2 H4 is digits K 1, H 1. */
TEST(cuts_unevenly_but_exactly)
{
    th_layer l = conv();
    th_strategy s = strategy_of("K2 H4");
    const int cuts[] = {0, 2, 5, 8, 11};
    for (int r = 0; r < 8; r++) {
        th_loop_box b = th_shard_loops(&l, 5, &s, NULL, r);
        assert_range(&b, TH_DIM_K, r / 4 * 6, r / 4 * 6 + 6);
        assert_range(&b, TH_DIM_H, cuts[r % 4], cuts[r % 4 + 1]);
        assert_range(&b, TH_DIM_B, 0, 5);
        assert_range(&b, TH_DIM_C, 0, 10);
    }
}

/* Shares 3 1 1 | 2 1 4 of K2 H3, by position; K: 5 and 7 of 12, H: 5, 2, 5 of 12.
 * 12 channels: cut at 5. 11 rows: 55/12 = 4, 77/12 = 6. */
TEST(cuts_in_proportion_to_shares)
{
    th_layer l = conv();
    th_strategy s = strategy_of("K2 H3");
    const int32_t shares[] = {3, 1, 1, 2, 1, 4};
    const int rows[] = {0, 4, 6, 11}, channels[] = {0, 5, 12};
    for (int r = 0; r < 6; r++) {
        th_loop_box b = th_shard_loops(&l, 5, &s, shares, r);
        assert_range(&b, TH_DIM_K, channels[r / 3], channels[r / 3 + 1]);
        assert_range(&b, TH_DIM_H, rows[r % 3], rows[r % 3 + 1]);
        assert_range(&b, TH_DIM_W, 0, 9);
        /* 90 weights of 2 bytes per channel */
        CU_ASSERT_EQUAL(th_shard_weight_bytes(&l, &s, shares, r), (r < 3 ? 5 : 7) * 90 * 2);
    }
}

/* Every piece has an element, whatever the shares: 5 images as 1 1 3, or 3 1 1, or 1 3 1. Along
 * rotate it has one per phase: K2 H3 rH rotates inputs in 2 phases, so 11 rows are cut as 7 2 2. */
TEST(leaves_no_piece_empty)
{
    th_layer l = conv();
    th_strategy s = strategy_of("B3"), rotating = strategy_of("K2 H3 rH");
    const int32_t heavy[3][3] = {{1, 1, 9000}, {9000, 1, 1}, {1, 9000, 1}},
                  first[] = {9000, 1, 1, 9000, 1, 1};
    const int images[3][4] = {{0, 1, 2, 5}, {0, 3, 4, 5}, {0, 1, 4, 5}}, rows[] = {0, 7, 9, 11};
    for (int i = 0; i < 3; i++) {
        for (int r = 0; r < 3; r++) {
            th_loop_box b = th_shard_loops(&l, 5, &s, heavy[i], r);
            assert_range(&b, TH_DIM_B, images[i][r], images[i][r + 1]);
        }
    }
    for (int r = 0; r < 6; r++) {
        th_loop_box b = th_shard_loops(&l, 5, &rotating, first, r);
        assert_range(&b, TH_DIM_H, rows[r % 3], rows[r % 3 + 1]);
    }
    th_loop_box phase = th_shard_phase_loops(&l, 5, &rotating, first, 4, 1); /* row 7 of 7 and 8 */
    assert_range(&phase, TH_DIM_H, 7, 8);
}

/* A softmax of 4 groups of 3: shares 1 and 6 would cut 12 channels at 1, and leave at least one
 * group. */
TEST(parts_no_group)
{
    th_layer l = conv();
    th_strategy s = strategy_of("K2");
    l.kind = TH_LAYER_SOFTMAX;
    l.groups = 4;
    for (int32_t second = 1; second < 40; second++) {
        const int32_t shares[] = {6, second};
        th_loop_box b = th_shard_loops(&l, 5, &s, shares, 0);
        int groups = 4 * 6 / (6 + second);
        assert_range(&b, TH_DIM_K, 0, 3 * (groups > 1 ? groups : 1));
    }
}

/* Equal shares are the even cuts, exactly. */
TEST(equal_shares_are_even_cuts)
{
    static const char *const strategies[] = {"K2 H4", "B4 W2 rK", "H8", "C2 K4", "B2 K2 H2 rH"};
    th_layer l = conv();
    const int32_t shares[] = {7, 7, 7, 7, 7, 7, 7, 7};
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        th_strategy s = strategy_of(strategies[i]);
        CU_ASSERT_TRUE(th_strategy_fits(&s, &l, 5, 8));
        for (int r = 0; r < 8; r++) {
            th_loop_box a = th_shard_phase_loops(&l, 5, &s, NULL, r, 0),
                        b = th_shard_phase_loops(&l, 5, &s, shares, r, 0);
            CU_ASSERT_EQUAL(memcmp(&a, &b, sizeof a), 0);
        }
    }
}

/* Last dimension fastest: position 17 of B2 C3 S3 is 1 2 2; 17 = (1 * 3 + 2) * 3 + 2. Batch 3 of a
 * micro-batch, not the layer's 5: images 1 .. 2. C: 6 .. 9. */
TEST(numbers_positions_with_the_last_dimension_fastest)
{
    th_layer l = conv();
    th_strategy s = strategy_of("B2 C3 S3");
    th_loop_box b = th_shard_loops(&l, 3, &s, NULL, 17);
    assert_range(&b, TH_DIM_B, 1, 3);
    assert_range(&b, TH_DIM_C, 6, 10);
    assert_range(&b, TH_DIM_S, 2, 3);
}

/* Stride 2, padding 1, dilation 2, 3 kernel rows: output row h reads rows 2h-1, 2h+1, 2h+3. Rows 2
 * .. 4 (third of 4 pieces of 7: 3 .. 5) read 5 .. 11. The first piece, row 0: -1 1 3 -> rows 1
 * .. 3. */
TEST(halos_follow_stride_and_dilation)
{
    th_layer l = conv();
    l.dim[TH_DIM_H] = 7;
    l.in_h = 15;
    l.stride_h = 2;
    l.pad_top = 1;
    l.dilation_h = 2;
    th_strategy s = strategy_of("H4");
    th_loop_box first = th_shard_loops(&l, 5, &s, NULL, 0),
                third = th_shard_loops(&l, 5, &s, NULL, 2);
    assert_range(&first, TH_DIM_H, 0, 1);
    assert_range(&third, TH_DIM_H, 3, 5);
    assert_box(th_layer_input_of(&l, 0, &first), (th_box){{0, 0, 1, 0}, {5, 10, 4, 11}});
    assert_box(th_layer_input_of(&l, 0, &third), (th_box){{0, 0, 5, 0}, {5, 10, 12, 11}});
}

/* 12 outputs in 3 groups of 4, 9 inputs in 3 groups of 3. K5 pieces: 0 2 4 7 9 12. The fourth, 7 ..
 * 9, touches groups 1 and 2: inputs 3 .. 9. */
TEST(groups_need_whole_groups_of_inputs)
{
    th_layer l = conv();
    l.dim[TH_DIM_C] = 9;
    l.groups = 3;
    th_strategy s = strategy_of("K5");
    th_loop_box b = th_shard_loops(&l, 5, &s, NULL, 3);
    assert_range(&b, TH_DIM_K, 7, 9);
    assert_box(th_layer_input_of(&l, 0, &b), (th_box){{0, 3, 0, 0}, {5, 9, 13, 11}});
    /* weights: 2 channels x 3 inputs x 9, 2 bytes */
    CU_ASSERT_EQUAL(th_shard_weight_bytes(&l, &s, NULL, 3), 2 * 3 * 9 * 2);
}

/* 12 channels, each on its own; K4 H2: 3 filters of 3 x 3 and 3 folded shifts of 2 bytes. */
TEST(depthwise_reads_its_own_channels)
{
    th_layer l = conv();
    l.dim[TH_DIM_C] = l.groups = 12;
    l.has_norm = true;
    th_strategy s = strategy_of("K4 H2");
    th_loop_box b = th_shard_loops(&l, 5, &s, NULL, 5);
    assert_box(th_layer_input_of(&l, 0, &b), (th_box){{0, 6, 5, 0}, {5, 9, 13, 11}});
    CU_ASSERT_EQUAL(th_shard_weight_bytes(&l, &s, NULL, 5), (3 * 9 + 3) * 2);
    CU_ASSERT_FALSE(th_strategy_fits(&(th_strategy){{1, 1, 2, 1, 1, 1, 1}, -1}, &l, 5, 2));
    CU_ASSERT_FALSE(th_strategy_fits(&(th_strategy){{1, 2, 1, 1, 1, 1, 1}, TH_DIM_H}, &l, 5, 2));
    CU_ASSERT_TRUE(th_strategy_fits(&(th_strategy){{1, 1, 1, 2, 1, 1, 1}, TH_DIM_K}, &l, 5, 2));
}

/* K4 of 12: 3 filters of 10 x 9 weights, and 3 biases. C3 of 10: 3, 3, 4 channels of all 12
 * filters, and 12 biases each. An exact fifth of the batch holds everything. */
TEST(weights_by_position)
{
    th_layer l = conv();
    l.has_bias = true;
    th_strategy k = strategy_of("K4"), c = strategy_of("C3"), b = strategy_of("B5");
    CU_ASSERT_EQUAL(th_shard_weight_bytes(&l, &k, NULL, 2), (3 * 90 + 3) * 2);
    CU_ASSERT_EQUAL(th_shard_weight_bytes(&l, &c, NULL, 0), (12 * 3 * 9 + 12) * 2);
    CU_ASSERT_EQUAL(th_shard_weight_bytes(&l, &c, NULL, 2), (12 * 4 * 9 + 12) * 2);
    CU_ASSERT_EQUAL(th_shard_weight_bytes(&l, &b, NULL, 4), (12 * 90 + 12) * 2);
    l.kind = TH_LAYER_POOL;
    l.has_bias = false;
    CU_ASSERT_EQUAL(th_shard_weight_bytes(&l, &b, NULL, 4), 0);
}

/* --- partial sums ----------------------------------------------------------------------------- */

/* K2 C3 H2: positions are K*6 + C*2 + H. Position 9 = (1, 1, 1): partners 7, 9, 11. Its output box,
 * 6 channels x rows 5 .. 10 x 9 columns of 5 images: the longest is 9 columns: pieces of 3. */
TEST(partners_share_an_output_box)
{
    th_layer l = conv();
    th_strategy s = strategy_of("K2 C3 H2");
    int members[12], rank = -1;
    CU_ASSERT_EQUAL(th_shard_partners(&s, &l, 9, members, &rank), 3);
    CU_ASSERT_TRUE(members[0] == 7 && members[1] == 9 && members[2] == 11 && rank == 1);
    assert_box(th_shard_held(&l, 5, &s, NULL, 9, 0), (th_box){{0, 6, 5, 3}, {5, 12, 11, 6}});
    th_strategy none = strategy_of("K2 H2");
    CU_ASSERT_EQUAL(th_shard_partners(&none, &l, 3, members, &rank), 1);
    CU_ASSERT_TRUE(members[0] == 3 && rank == 0);
}

/* One image, 2 channels, 1 pixel in 3 pieces along the channels: 0, 1, 1 elements: 0, 0.67, 1.33.
 */
TEST(fewer_elements_than_partners_leave_some_empty)
{
    th_layer l = conv();
    l.dim[TH_DIM_K] = 2;
    l.dim[TH_DIM_H] = l.dim[TH_DIM_W] = 1;
    th_strategy s = strategy_of("R3");
    const int64_t elements[] = {0, 1, 1};
    for (int r = 0; r < 3; r++) {
        th_box held = th_shard_held(&l, 1, &s, NULL, r, 0);
        CU_ASSERT_EQUAL(th_box_elements(&held), elements[r]);
    }
}

/* --- shared shards ---------------------------------------------------------------------------- */

/* H2 W2 leaves weights alike on all four. Rotating K: 12 channels in 4 pieces of 3; position 2
 * starts with its own, channels 6 .. 8, then 9 .. 11, 0 .. 2, 3 .. 5. Resident: 3 of 12 filters. */
TEST(rotates_weights_along_k)
{
    th_layer l = conv();
    th_strategy s = strategy_of("H2 W2 rK");
    int members[4], rank = -1;
    CU_ASSERT_EQUAL(th_shard_rotating(&l, &s), TH_OPERAND_WEIGHT);
    CU_ASSERT_EQUAL(th_shard_phases(&l, &s), 4);
    CU_ASSERT_EQUAL(th_shard_ring(&l, &s, 2, members, &rank), 4);
    CU_ASSERT_TRUE(members[0] == 0 && members[3] == 3 && rank == 2);
    for (int p = 0; p < 4; p++) {
        th_loop_box b = th_shard_phase_loops(&l, 5, &s, NULL, 2, p);
        assert_range(&b, TH_DIM_K, (2 + p) % 4 * 3, (2 + p) % 4 * 3 + 3);
        assert_range(&b, TH_DIM_H, 5, 11);
    }
    CU_ASSERT_EQUAL(th_shard_weight_bytes(&l, &s, NULL, 2), 3 * 90 * 2);
}

/* Along C: 10 channels in 4 pieces of 2, 3, 2, 3; resident is the largest, 3, of 12 filters. */
TEST(rotates_weights_along_c)
{
    th_layer l = conv();
    th_strategy s = strategy_of("H4 rC");
    const int cuts[] = {0, 2, 5, 7, 10};
    CU_ASSERT_EQUAL(th_shard_rotating(&l, &s), TH_OPERAND_WEIGHT);
    for (int p = 0; p < 4; p++) {
        th_loop_box b = th_shard_phase_loops(&l, 5, &s, NULL, 3, p);
        assert_range(&b, TH_DIM_C, cuts[(3 + p) % 4], cuts[(3 + p) % 4 + 1]);
    }
    CU_ASSERT_EQUAL(th_shard_weight_bytes(&l, &s, NULL, 0), 12 * 3 * 9 * 2);
}

/* K3 W2 leaves inputs alike on positions that differ in K: rings {0, 2, 4} and {1, 3, 5}. Rotating
 * H: rows 0 .. 10 in 3, 4, 4; position 3 (K 1, W 1) starts with rows 3 .. 6, which it reads from
 * input rows 3 .. 8. K4 rC rotates inputs too (weights are all different). */
TEST(rotates_inputs)
{
    th_layer l = conv();
    th_strategy s = strategy_of("K3 W2 rH");
    int members[6], rank = -1;
    CU_ASSERT_EQUAL(th_shard_rotating(&l, &s), TH_OPERAND_INPUT);
    CU_ASSERT_EQUAL(th_shard_ring(&l, &s, 3, members, &rank), 3);
    CU_ASSERT_TRUE(members[0] == 1 && members[1] == 3 && members[2] == 5 && rank == 1);
    th_loop_box b = th_shard_phase_loops(&l, 5, &s, NULL, 3, 0);
    assert_box(th_layer_input_of(&l, 0, &b), (th_box){{0, 0, 3, 4}, {5, 10, 9, 11}});
    CU_ASSERT_EQUAL(th_shard_weight_bytes(&l, &s, NULL, 3), 4 * 90 * 2);
    th_strategy c = strategy_of("K4 rC"), both = strategy_of("K2 H3 rC");
    CU_ASSERT_EQUAL(th_shard_rotating(&l, &c), TH_OPERAND_INPUT);
    CU_ASSERT_EQUAL(th_shard_rotating(&l, &both), TH_OPERAND_WEIGHT);
    CU_ASSERT_EQUAL(th_shard_phases(&l, &both), 3);
}

/* --- which strategies ------------------------------------------------------------------------- */

TEST(refuses_what_a_layer_cannot_run)
{
    th_layer l = conv(), grouped = conv(), pool = conv();
    grouped.groups = 2;
    pool.kind = TH_LAYER_POOL;
    pool.dim[TH_DIM_C] = 12;
    assert_cannot_rotate(&l, 5, "K4 rK", 4, "K");
    assert_cannot_rotate(&l, 5, "H4 rH", 4, "H");
    assert_cannot_rotate(&l, 5, "K4 rR", 4, "R");
    assert_cannot_rotate(&pool, 5, "H4 rK", 4, "K");
    assert_refused(&l, 5, "H7 K2 rK", 14, "MAP-0002",
                   " cannot rotate along K: 7 pieces of 6 elements");
    assert_refused(&l, 5, "H12", 12, "MAP-0003", ": H is split 12 ways, must be 1 .. 11");
    assert_refused(&l, 5, "B6", 6, "MAP-0003", ": B is split 6 ways, must be 1 .. 5");
    assert_refused(&l, 5, "K0", 0, "MAP-0003", ": K is split 0 ways, must be 1 .. 12");
    assert_refused(&grouped, 5, "C2", 2, "MAP-0004",
                   ": a grouped conv layer cannot be split 2 ways along C");
    assert_refused(&pool, 5, "R3", 3, "MAP-0004",
                   ": a max_pool layer cannot be split 3 ways along R");
    assert_refused(&pool, 5, "C2", 2, "MAP-0004",
                   ": a max_pool layer cannot be split 2 ways along C");
    assert_refused(&l, 5, "K2 H3", 4, "MAP-0005",
                   ": the splits make 6 shards for a set of 4 accelerators");
    CU_ASSERT_EQUAL(th_strategy_check(&th_strategy_single, &l, 5, 1, "", NULL), 0);
}

/* 11 rows in two: 5 and 6; the second in 3 chunks: 2 each. Two halves of 6 input channels hold
 * halves of each chunk's longest dimension: of 12 channels x 2 rows x 6 columns the channels. */
TEST(chunks_cut_a_shard)
{
    th_layer l = conv();
    th_strategy s = strategy_of("C2 H2 xH3");
    CU_ASSERT_EQUAL_FATAL(l.dim[TH_DIM_H], 11);
    CU_ASSERT_EQUAL(th_strategy_check(&s, &l, 5, 4, "", NULL), 0);
    CU_ASSERT_EQUAL(th_shard_chunks(&s), 3);
    for (int i = 0; i < 3; i++) {
        th_loop_box box = th_shard_chunk_loops(&l, 5, &s, NULL, 1, i);
        CU_ASSERT_TRUE(box.lo[TH_DIM_H] == 5 + 2 * i && box.hi[TH_DIM_H] == 7 + 2 * i);
        CU_ASSERT_TRUE(box.lo[TH_DIM_C] == 0 && box.hi[TH_DIM_C] == l.dim[TH_DIM_C] / 2);
    }
    th_strategy_set_chunks(&s, 1, TH_DIM_H);
    CU_ASSERT_TRUE(s.chunks == 0 && th_shard_chunks(&s) == 1);
}

/* Shares of 1 : 99 leave the first of two a row per chunk. */
TEST(no_chunk_is_empty)
{
    th_layer l = conv();
    th_strategy s = strategy_of("H2 xH4");
    const int32_t shares[] = {1, 99};
    for (int i = 0; i < 4; i++) {
        th_loop_box box = th_shard_chunk_loops(&l, 5, &s, shares, 0, i);
        CU_ASSERT_TRUE(box.lo[TH_DIM_H] == i && box.hi[TH_DIM_H] == i + 1);
    }
}

/* 2^32 wraps to 0 in 32 bits, 2^70 in 64. */
TEST(a_product_that_wraps_is_no_small_one)
{
    th_layer l = conv();
    for (int d = 0; d < TH_N_DIMS; d++)
        l.dim[d] = 2000;
    /* 128^4 * 16 = 2^32 */
    th_strategy s = strategy_of("B128 K128 C128 H128 W16");
    CU_ASSERT_FALSE(th_strategy_fits(&s, &l, 2000, 0));
    th_error e = {"", ""};
    s = strategy_of("B1024 K1024 C1024 H1024 W1024 R1024 S1024");
    CU_ASSERT_FALSE(th_strategy_fits(&s, &l, 2000, 0));
    CU_ASSERT_EQUAL(th_strategy_check(&s, &l, 2000, 4, "", &e), -1);
    TAP_ASSERT_TEXT(e.id, "MAP-0005");
}

TEST(formats)
{
    char text[64];
    const char *const same[] = {"K4", "H2", "B2 K3 C4 H5 W6 R7 S8", "-"};
    for (int i = 0; i < 4; i++) {
        th_strategy s = strategy_of(i == 3 ? "" : same[i]);
        TAP_ASSERT_TEXT(th_strategy_format(&s, text, sizeof text), same[i]);
    }
    th_strategy s = strategy_of("H2 K2 xW3"), r = strategy_of("rH");
    TAP_ASSERT_TEXT(th_strategy_format(&s, text, sizeof text), "K2 H2 chunks W3");
    s = strategy_of("H2 K2 rC");
    TAP_ASSERT_TEXT(th_strategy_format(&s, text, sizeof text), "K2 H2 rotate C");
    TAP_ASSERT_TEXT(th_strategy_format(&r, text, sizeof text), "rotate H");
    for (size_t size = 1; size <= sizeof text; size++) { /* cut off, never beyond the end */
        memset(text, '#', sizeof text);
        th_strategy_format(&s, text, size);
        CU_ASSERT_EQUAL(strlen(text), size <= 14 ? size - 1 : 14);
        CU_ASSERT_TRUE(size == sizeof text || text[size] == '#');
    }
    CU_ASSERT_TRUE(th_strategy_equal(&s, &s) && !th_strategy_equal(&s, &r));
    r = s;
    r.rotate = TH_DIM_K;
    CU_ASSERT_FALSE(th_strategy_equal(&s, &r));
}

/* --- boxes ------------------------------------------------------------------------------------ */

static th_box random_box(gsl_rng *r)
{
    th_box b;
    for (int d = 0; d < TH_TENSOR_DIMS; d++) {
        b.lo[d] = (int32_t)pick(r, 0, 3);
        b.hi[d] = (int32_t)pick(r, 0, 4);
    }
    return b;
}

static bool has(const th_box *b, const int *x)
{
    for (int d = 0; d < TH_TENSOR_DIMS; d++)
        if (x[d] < b->lo[d] || x[d] >= b->hi[d])
            return false;
    return true;
}

/* Every point of 4 x 4 x 4 x 4 lies in exactly one piece when it is in a and not in b, else in
 * none. */
TEST(subtracts_like_brute_force)
{
    auto_rng *r = th_random_stream(11, "boxes", 0);
    int wrong = 0;
    for (int round = 0; round < 20000; round++) {
        th_box a = random_box(r), b = random_box(r), out[2 * TH_TENSOR_DIMS];
        int n = th_box_subtract(&a, &b, out);
        wrong += n < 0 || n > 2 * TH_TENSOR_DIMS;
        for (int i = 0; i < n; i++)
            wrong += th_box_is_empty(&out[i]);
        for (int p = 0; p < 256; p++) {
            const int x[] = {p & 3, p >> 2 & 3, p >> 4 & 3, p >> 6};
            int in = 0;
            for (int i = 0; i < n; i++)
                in += has(&out[i], x);
            wrong += in != (has(&a, x) && !has(&b, x));
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

TAP_MAIN("shard")
