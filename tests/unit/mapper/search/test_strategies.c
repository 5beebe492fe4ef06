/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/alloc.h"
#include "mapper/strategies.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

static th_layer layer_of(th_layer_kind kind, int k, int c, int h, int w, int kernel)
{
    return (th_layer){.name = "l",
                      .kind = kind,
                      .dim = {1, k, c, h, w, kernel, kernel},
                      .in_h = h + kernel - 1,
                      .in_w = w + kernel - 1,
                      .stride_h = 1,
                      .stride_w = 1,
                      .dilation_h = 1,
                      .dilation_w = 1,
                      .groups = 1,
                      .precision = {TH_FP16, TH_FP16, TH_FP16},
                      .density = {1, 1, 1},
                      .up_h = 1,
                      .up_w = 1,
                      .n_inputs = 1};
}

static th_layer random_layer(gsl_rng *r)
{
    static const th_layer_kind kinds[] = {
        TH_LAYER_CONV, TH_LAYER_CONV,   TH_LAYER_MATMUL,      TH_LAYER_FC,
        TH_LAYER_POOL, TH_LAYER_LSTM,   TH_LAYER_ELEMENTWISE, TH_LAYER_SOFTMAX,
        TH_LAYER_NORM, TH_LAYER_CONCAT, TH_LAYER_SLICE,       TH_LAYER_EMBEDDING};
    enum { N_KINDS = sizeof kinds / sizeof *kinds };
    th_layer l = layer_of(kinds[pick(r, 0, N_KINDS - 1)], (int)pick(r, 1, 20), (int)pick(r, 1, 20),
                          (int)pick(r, 1, 20), (int)pick(r, 1, 20), (int)pick(r, 1, 3));
    if (l.kind == TH_LAYER_NORM)
        l.function = pick(r, 0, 1) ? TH_FUNCTION_BATCH_NORM : TH_FUNCTION_LAYER_NORM;
    if (l.kind == TH_LAYER_MATMUL)
        l.n_inputs = (int32_t)pick(r, 1, 2);
    bool has_groups = l.kind == TH_LAYER_CONV || l.kind == TH_LAYER_SOFTMAX ||
                      (l.kind == TH_LAYER_MATMUL && l.n_inputs == 2);
    if (has_groups && pick(r, 0, 2) == 0) {
        l.groups = (int32_t)pick(r, 2, 6);
        l.dim[TH_DIM_K] *= l.groups;
        l.dim[TH_DIM_C] *= l.groups;
    }
    if (th_layer_is_channelwise(&l) || l.kind == TH_LAYER_SOFTMAX)
        l.dim[TH_DIM_C] = l.dim[TH_DIM_K];
    return l;
}

/* --- list ------------------------------------------------------------------------------------- */

/* All strategies over B, K, C, H, W there could be, by trying every five factors up to n. */
static int count_by_force(const th_layer *l, int32_t batch, int n, const th_strategy *list,
                          int count)
{
    int fitting = 0;
    for (int b = 1; b <= n; b++)
        for (int k = 1; k <= n; k++)
            for (int c = 1; c <= n; c++)
                for (int h = 1; h <= n; h++)
                    for (int w = 1; w <= n; w++)
                        for (int rotate = -1; rotate < TH_N_DIMS && b * k * c * h * w == n;
                             rotate++) {
                            th_strategy s = {{b, k, c, h, w, 1, 1}, rotate};
                            if (th_strategy_check(&s, l, batch, n, "", NULL))
                                continue;
                            int found = 0;
                            for (int i = 0; i < count; i++)
                                found += th_strategy_equal(&list[i], &s);
                            CU_ASSERT_EQUAL(found, 1);
                            fitting++;
                        }
    return fitting;
}

TEST(lists_every_strategy_once)
{
    auto_rng *r = th_random_stream(3, "list", 0);
    int most = 0;
    for (int round = 0; round < 250; round++) {
        th_layer l = random_layer(r);
        int n = (int)pick(r, 1, 12), batch = (int)pick(r, 1, 3);
        th_strategy *list = NULL;
        int count = th_strategies_list(&l, batch, n, &list);
        CU_ASSERT_EQUAL(count, count_by_force(&l, batch, n, list, count));
        most = count > most ? count : most;
        th_free(list);
    }
    CU_ASSERT_TRUE(most > 100);
}

/* With copies: every strategy of every divisor, in copies that make n of it. Those needed: the
 * fewest with which there is any. */
TEST(lists_copies_of_smaller_sets)
{
    auto_rng *r = th_random_stream(5, "copies", 0);
    int n_needed = 0;
    for (int round = 0; round < 250; round++) {
        th_layer l = random_layer(r);
        int n = (int)pick(r, 1, 12), batch = (int)pick(r, 1, 3), at = 0, fewest = 0;
        th_strategy *all = NULL, *needed = NULL, *list = NULL;
        int count = th_strategies_list_copied(&l, batch, n, true, &all),
            n_listed = th_strategies_list_copied(&l, batch, n, false, &needed);
        for (int copies = 1; copies <= n; copies++) {
            if (n % copies)
                continue;
            int some = th_strategies_list(&l, batch, n / copies, &list);
            fewest = fewest == 0 && some > 0 ? copies : fewest;
            CU_ASSERT_TRUE(copies != fewest || n_listed == some);
            for (int i = 0; i < some && at < count; i++, at++) {
                th_strategy_set_copies(&list[i], copies);
                CU_ASSERT_TRUE(th_strategy_equal(&all[at], &list[i]) &&
                               th_strategy_fits(&list[i], &l, batch, n));
                CU_ASSERT_TRUE(copies != fewest || th_strategy_equal(&needed[i], &list[i]));
            }
            th_free(list);
            list = NULL;
        }
        CU_ASSERT_TRUE(at == count && fewest > 0);
        n_needed += fewest > 1;
        th_free(all);
        th_free(needed);
    }
    CU_ASSERT_TRUE(n_needed > 10);
}

/* 512 = 2^9 over K, C, H, W: C(12, 3) = 220 ways. */
TEST(lists_sets_of_hundreds)
{
    th_layer l = layer_of(TH_LAYER_CONV, 1000, 1000, 1000, 1000, 1);
    th_strategy *list = NULL;
    int count = th_strategies_list(&l, 1, 512, &list), still = 0;
    for (int i = 0; i < count; i++)
        still += list[i].rotate == TH_NO_ROTATION;
    CU_ASSERT_EQUAL(still, 220);
    th_free(list);
}

/* --- repair, follow, longest ------------------------------------------------------------------ */

static void assert_repaired(const th_layer *l, const char *wish, int n, const char *expected)
{
    th_strategy s = strategy_of(wish), e = strategy_of(expected);
    CU_ASSERT_TRUE(th_strategy_repair(&s, l, 1, n));
    CU_ASSERT_TRUE(th_strategy_equal(&s, &e));
}

/* 12 -> 20 channels, 3 x 9 pixels. */
TEST(repairs_to_the_nearest)
{
    th_layer l = layer_of(TH_LAYER_CONV, 20, 12, 3, 9, 3);
    assert_repaired(&l, "K4", 4, "K4");
    assert_repaired(&l, "H4", 4, "K2 H2"); /* H takes 2 of 3; most room: K 20 > C 12 > W 9 */
    assert_repaired(&l, "K2", 8, "K4 C2"); /* pieces: C 12 > K 10 > W 9, then K 10 > W 9 > C 6 */
    assert_repaired(&l, "H2 W2 rK", 4, "H2 W2 rK");
    assert_repaired(&l, "K4 rK", 4, "K4"); /* K cannot rotate when it is cut */
    assert_repaired(&l, "K8 C8", 8, "K8");
}

/* A wish that fits is granted; what comes of any other one fits, without copies where it can be
 * cut by any prime of what is left. */
TEST(repairs_what_does_not_fit)
{
    auto_rng *r = th_random_stream(4, "repair", 0);
    int copied = 0, unwished = 0;
    for (int round = 0; round < 20000; round++) {
        th_layer l = random_layer(r);
        int n = (int)pick(r, 1, 16), batch = (int)pick(r, 1, 2);
        th_strategy s = th_strategy_single, wish;
        for (int d = 0; d < TH_N_DIMS; d++)
            s.split[d] = pick(r, 0, 2) ? 1 : pick(r, 1, 300);
        s.rotate = (int32_t)pick(r, -1, TH_DIM_W);
        wish = s;
        bool fits = th_strategy_fits(&wish, &l, batch, n),
             done = th_strategy_repair(&s, &l, batch, n);
        CU_ASSERT_TRUE(done && th_strategy_fits(&s, &l, batch, n));
        if (fits)
            CU_ASSERT_TRUE(done && th_strategy_equal(&s, &wish)); /* a good wish is granted */
        unwished += done && !fits;
        copied += s.copies > 0;
        for (int d = 0; d < TH_N_DIMS && s.copies > 0; d++) {
            th_strategy more = s;
            more.split[d] *= s.copies;
            more.copies = 0;
            more.rotate = TH_NO_ROTATION;
            CU_ASSERT_TRUE(d > TH_DIM_W || !th_strategy_fits(&more, &l, batch, n));
        }
    }
    CU_ASSERT_TRUE(unwished > 1000 && copied > 100);
}

/* A pool behind "K2 C2 H2": the four pieces of K that the reduction leaves, and the rows. */
TEST(follows_its_producer)
{
    th_layer pool = layer_of(TH_LAYER_POOL, 20, 20, 4, 4, 3), shallow = pool;
    th_strategy producer = strategy_of("K2 C2 H2"), s, expected = strategy_of("K4 H2");
    CU_ASSERT_TRUE(th_strategy_follow(&s, &pool, 1, 8, &producer));
    CU_ASSERT_TRUE(th_strategy_equal(&s, &expected));
    producer = strategy_of("H4 W2 rK");
    expected = strategy_of("H4 W2");
    CU_ASSERT_TRUE(th_strategy_follow(&s, &pool, 1, 8, &producer));
    CU_ASSERT_TRUE(th_strategy_equal(&s, &expected));
    s = producer; /* of layers in a row each follows the one before, in one place */
    CU_ASSERT_TRUE(th_strategy_follow(&s, &pool, 1, 8, &s));
    CU_ASSERT_TRUE(th_strategy_equal(&s, &expected));
    CU_ASSERT_TRUE(th_strategy_follow(&s, &pool, 1, 5, NULL)); /* no producer: most room, K */
    expected = strategy_of("K5");
    CU_ASSERT_TRUE(th_strategy_equal(&s, &expected));
    shallow.dim[TH_DIM_K] = shallow.dim[TH_DIM_C] = 3;
    CU_ASSERT_TRUE(th_strategy_follow(&s, &shallow, 1, 5, &producer)); /* 3 x 4 x 4: none takes 5 */
    CU_ASSERT_EQUAL(s.copies, 5);
    CU_ASSERT_TRUE(
        th_strategy_follow(&s, &pool, 1, 5, &s)); /* nothing travels from copies to copies */
    CU_ASSERT_EQUAL(s.copies, 5);
    CU_ASSERT_TRUE(th_strategy_follow(&s, &pool, 1, 4, &s)); /* whole on fewer, too */
    CU_ASSERT_EQUAL(s.copies, 4);
}

/* A softmax of four heads takes whole heads alone: of "K5 H2" K can take no 5, so the rows do; of
 * "K8" it takes 4. */
TEST(follows_by_whole_groups)
{
    th_layer softmax = layer_of(TH_LAYER_SOFTMAX, 20, 20, 30, 1, 1);
    softmax.groups = 4;
    th_strategy producer = strategy_of("K5 H2"), s, expected = strategy_of("H10");
    CU_ASSERT_TRUE(th_strategy_follow(&s, &softmax, 1, 10, &producer));
    CU_ASSERT_TRUE(th_strategy_equal(&s, &expected));
    producer = strategy_of("K8");
    expected = strategy_of("K4 H2");
    CU_ASSERT_TRUE(th_strategy_follow(&s, &softmax, 1, 8, &producer));
    CU_ASSERT_TRUE(th_strategy_equal(&s, &expected));
    th_layer lstm = layer_of(TH_LAYER_LSTM, 20, 20, 30, 1, 1);
    expected = strategy_of("c8"); /* one image */
    CU_ASSERT_TRUE(th_strategy_repair(&s, &lstm, 1, 8) && th_strategy_equal(&s, &expected));
    s = th_strategy_single;
    expected = strategy_of("B8");
    CU_ASSERT_TRUE(th_strategy_repair(&s, &lstm, 9, 8) && th_strategy_equal(&s, &expected));
    producer = strategy_of("K8");
    softmax.dim[TH_DIM_H] = 1;
    expected = strategy_of("K4 c2");
    CU_ASSERT_TRUE(th_strategy_follow(&s, &softmax, 1, 8, &producer));
    CU_ASSERT_TRUE(th_strategy_equal(&s, &expected));
    CU_ASSERT_TRUE(th_strategy_repair(&s, &softmax, 1, 8) && th_strategy_equal(&s, &expected));
}

static void assert_longest(const th_layer *l, int n, const char *expected)
{
    static const th_dim dims[] = {TH_DIM_K, TH_DIM_C, TH_DIM_H, TH_DIM_W};
    th_strategy s, e = strategy_of(expected);
    CU_ASSERT_TRUE(th_strategy_longest(&s, l, 1, n, dims, 4));
    CU_ASSERT_TRUE(th_strategy_equal(&s, &e));
}

TEST(splits_the_two_longest)
{
    th_layer l = layer_of(TH_LAYER_CONV, 64, 3, 55, 55, 11);
    assert_longest(&l, 4, "K2 H2"); /* 64, then 55: H before W */
    assert_longest(&l, 8, "K4 H2"); /* the longer one gets the larger factor */
    assert_longest(&l, 12, "K4 H3");
    assert_longest(&l, 7, "K7"); /* prime: 7 x 1 */
    l = layer_of(TH_LAYER_CONV, 192, 256, 27, 27, 5);
    assert_longest(&l, 4, "C2 K2");
    l.dim[TH_DIM_K] = 256; /* a tie: K before C */
    assert_longest(&l, 8, "K4 C2");
    l.groups = 2; /* C cannot be cut, so H */
    assert_longest(&l, 8, "K4 H2");
    l = layer_of(TH_LAYER_FC, 4096, 9216, 1, 1, 1);
    assert_longest(&l, 4, "K2 C2");
    l = layer_of(TH_LAYER_POOL, 256, 256, 1, 1, 6); /* one dimension that is longer than 1 */
    assert_longest(&l, 4, "K4");
}

/* One dimension into hundreds of pieces, and into no more than it has elements. */
TEST(splits_one_dimension_into_hundreds)
{
    static const th_dim dims[] = {TH_DIM_K, TH_DIM_C, TH_DIM_H, TH_DIM_W};
    th_layer pool = layer_of(TH_LAYER_POOL, 2048, 2048, 1, 1, 7);
    th_strategy s;
    assert_longest(&pool, 255, "K255");
    assert_longest(&pool, 256, "K256");
    assert_longest(&pool, 2048, "K2048");
    CU_ASSERT_TRUE(th_strategy_longest(&s, &pool, 1, 4096, dims, 4) && s.copies > 1);
    th_layer conv = layer_of(TH_LAYER_CONV, 2048, 1024, 7, 7, 3);
    CU_ASSERT_TRUE(th_strategy_longest(&s, &conv, 1, 1024, dims, 4));
    CU_ASSERT_TRUE(s.split[TH_DIM_K] == 32 && s.split[TH_DIM_C] == 32);
}

/* Pools and sums take the strategy of the first producer on their own set; convolutions keep
 * theirs. */
TEST(layers_without_weights_follow)
{
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 1; input = { channels = 3; height = 16; width = 16; }; layers = ("
        "{ name = \"a\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; },"
        "{ name = \"b\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; },"
        "{ name = \"s\"; type = \"add\"; inputs = [\"a\", \"b\"]; },"
        "{ name = \"p\"; type = \"max_pool\"; kernel = 2; },"
        "{ name = \"q\"; type = \"relu\"; inputs = \"a\"; } );");
    auto_mapping *m = mapping_on("0123 45", w);
    put_layer(m, 0, 0, "K2 C2");
    put_layer(m, 1, 1, "W2");
    put_layer(m, 2, 1, "K2");
    put_layer(m, 3, 0, "K2 H2");
    put_layer(m, 4, 0, "");
    CU_ASSERT_TRUE(th_mapping_follow(m, w, 1));
    /* s is on b's set: W2. p is on a set of four, s is not: most room for 2 is K 8, then K 4 < H 8.
     */
    const char *const expected[] = {"K2 C2", "W2", "W2", "K2 H2", "K4"};
    for (int l = 0; l < 5; l++) {
        th_strategy e = strategy_of(expected[l]);
        CU_ASSERT_TRUE(th_strategy_equal(&m->strategy[l], &e));
    }
}

TAP_MAIN("strategies")
