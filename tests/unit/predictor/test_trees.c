/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/random.h"
#include "predictor/regress/boost.h"
#include "predictor/regress/trees.h"
#include "tests/unit/tap.h"

/* x1 < 2 ? (x0 < 5 ? 1 : 2) : (x0 < 7 ? 4 : 8), and x0 < 0.5 ? 16 : (x1 < 3 ? 32 : 64) with the
 * first answer filled up; in units. */
static th_trees by_hand(void)
{
    static const unsigned feature[] = {1, 0, 0, 0, 0, 1};
    static const float threshold[] = {2, 5, 7, 0.5f, 0, 3};
    static const int32_t leaf[] = {1, 2, 4, 8, 16, 16, 32, 64};
    th_trees t;
    CU_ASSERT_EQUAL_FATAL(th_trees_init(&t, 2, 2), 0);
    for (int i = 0; i < 6; i++)
        t.split[i] = th_trees_split(feature[i], threshold[i]);
    memcpy(t.leaf, leaf, sizeof leaf);
    return t;
}

TEST(trees_by_hand)
{
    static const float x[][2] = {{4, 1}, {5, 1}, {6, 2}, {7, 4}, {0, 1}};
    static const double sums[] = {1 + 32, 2 + 32, 4 + 32, 8 + 64, 1 + 16};
    auto_trees t = by_hand();
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(th_trees_sum(&t, x[i], 2), sums[i] * TH_TREES_UNIT);
}

/* 1 + 2^-17 has 18 binary digits, one more than a threshold: it becomes 1. Negative ones keep 16
 * digits behind the point, and the further seven are ones. */
TEST(thresholds_are_rounded_down)
{
    static const float x[] = {-1e30f, -2, -1, -0.5f, 0, 1e-30f, 0.5f, 1, 2, 1e30f};
    CU_ASSERT_EQUAL(th_trees_threshold(th_trees_split(126, 1 + 0x1p-17f)), 1);
    CU_ASSERT_EQUAL(th_trees_threshold(th_trees_split(3, -1 - 0x1p-17f)), -1 - 127 * 0x1p-23f);
    CU_ASSERT_EQUAL(th_trees_feature(th_trees_split(126, -2.5f)), 126);
    CU_ASSERT_EQUAL(th_trees_threshold(th_trees_split(0, -2.5f)), -2.5f - 127 * 0x1p-22f);
    for (size_t i = 1; i < sizeof x / sizeof *x; i++)
        CU_ASSERT(th_trees_key(x[i - 1]) < th_trees_key(x[i]));
}

enum { WALKS = 200, WALK_WIDTH = 9 };

/* A walk as the head of trees.h has it. */
static double walked(const th_trees *t, const float *x)
{
    int64_t sum = 0;
    size_t questions = ((size_t)1 << t->depth) - 1;
    for (size_t tree = 0; tree < (size_t)t->n; tree++) {
        size_t at = 0;
        for (int d = 0; d < t->depth; d++) {
            uint32_t q = t->split[tree * questions + at];
            at = 2 * at + 2 - (x[th_trees_feature(q)] < th_trees_threshold(q));
        }
        sum += t->leaf[tree * (questions + 1) + at - questions];
    }
    return (double)sum * TH_TREES_UNIT;
}

/* Any depth and number of trees; every third number of a row is one that is asked for. */
TEST(walks_at_a_time_are_walks)
{
    static float x[WALKS * WALK_WIDTH];
    auto_rng *rng = th_random_stream(9, "walks", 0);
    for (int depth = 0; depth <= 9; depth++) {
        auto_trees t;
        int n = 1 + 7 * depth, questions = (1 << depth) - 1;
        CU_ASSERT_EQUAL_FATAL(th_trees_init(&t, n, depth), 0);
        for (int i = 0; i < n * questions; i++)
            t.split[i] =
                th_trees_split((unsigned)th_random_below(rng, WALK_WIDTH),
                               (float)th_random_below(rng, 8) - 4 + (float)(i % 3 == 0) / 3);
        for (int i = 0; i < n * (questions + 1); i++)
            t.leaf[i] = (int32_t)th_random_below(rng, 2000) - 1000;
        for (int i = 0; i < WALKS * WALK_WIDTH; i++)
            x[i] = (float)th_random_below(rng, 8) - 4 + (i % 3 ? (float)th_random_unit(rng) : 0);
        for (size_t i = 0; i < WALKS; i++)
            CU_ASSERT_EQUAL(th_trees_sum(&t, x + i * WALK_WIDTH, WALK_WIDTH),
                            walked(&t, x + i * WALK_WIDTH));
    }
}

enum { ROWS = 3000, WIDTH = 3 };

/* A step, a slope and something that does not matter. */
static void make_rows(float *x, float *y)
{
    auto_rng *rng = th_random_stream(5, "trees", 0);
    for (int i = 0; i < ROWS; i++) {
        for (int f = 0; f < WIDTH; f++)
            x[i * WIDTH + f] = (float)th_random_unit(rng);
        y[i] = (x[i * WIDTH] < 0.3f ? -1.0f : 1.0f) + x[i * WIDTH + 1];
    }
}

TEST(boosting_learns_and_repeats)
{
    static float x[ROWS * WIDTH], y[ROWS];
    static double one[ROWS], other[ROWS];
    const th_boost_options o = {.rounds = 60,
                                .depth = 5,
                                .learning_rate = 0.2,
                                .huber_slope = 0.5,
                                .min_child_weight = 5,
                                .subsample = 1,
                                .colsample = 1,
                                .seed = 4};
    th_trees t, again;
    th_error e = {"", ""};
    make_rows(x, y);
    if (!th_boost_is_available()) {
        CU_ASSERT_EQUAL(th_boost_train(&(th_boost_data){x, y, ROWS, WIDTH}, &o, &t, &e), -1);
        TAP_ASSERT_TEXT(e.id, "PRED-0052");
        return;
    }
    CU_ASSERT_EQUAL_FATAL(th_boost_train(&(th_boost_data){x, y, ROWS, WIDTH}, &o, &t, &e), 0);
    CU_ASSERT_EQUAL_FATAL(th_boost_train(&(th_boost_data){x, y, ROWS, WIDTH}, &o, &again, &e), 0);
    double off = 0;
    for (int i = 0; i < ROWS; i++) {
        one[i] = th_trees_sum(&t, x + i * WIDTH, WIDTH);
        other[i] = th_trees_sum(&again, x + i * WIDTH, WIDTH);
        off += fabs(one[i] - (double)y[i]) / ROWS;
    }
    CU_ASSERT_EQUAL(memcmp(one, other, sizeof one), 0);
    CU_ASSERT(off < 0.05); /* a constant is off by 0.9 */
    th_trees_clear(&t);
    th_trees_clear(&again);
}

TEST(the_library_says_what_is_wrong)
{
    static float x[ROWS * WIDTH], y[ROWS];
    th_boost_options o = {.rounds = 1,
                          .depth = 3,
                          .learning_rate = -1,
                          .huber_slope = 0.5,
                          .subsample = 1,
                          .colsample = 1};
    th_trees t;
    th_error e = {"", ""};
    if (!th_boost_is_available())
        return;
    make_rows(x, y);
    CU_ASSERT_EQUAL(th_boost_train(&(th_boost_data){x, y, ROWS, WIDTH}, &o, &t, &e), -1);
    TAP_ASSERT_TEXT(e.id, "PRED-0050");
}

/* A tree of two leaves below a question, beside a leaf; and lines that no tree has. */
TEST(text_of_the_library_is_understood_or_refused)
{
#ifdef HAVE_XGBOOST
    static const char good[] = "0:[f1<0.5] yes=1,no=2,missing=1\n\t1:[f0<2] yes=3,no=4,missing=3\n"
                               "\t\t3:leaf=0.25\n\t\t4:leaf=-1\n\t2:leaf=4\n";
    static const char *const bad[] = {"0:leaf",
                                      "0[f1<0.5]",
                                      "5000:leaf=1",
                                      "0:[f1<0.5] yes=1",
                                      "0:[f1<0.5] yes=1,no=5000",
                                      "0:[f1=0.5] yes=1,no=2",
                                      "0:[f127<0.5] yes=1,no=2"};
    static const float x[3][2] = {{1, 0}, {3, 0}, {9, 1}};
    static const double answer[] = {0.25, -1, 4};
    th_trees t;
    th_error e = {"", ""};
    CU_ASSERT_EQUAL_FATAL(th_trees_init(&t, 1, 2), 0);
    CU_ASSERT_EQUAL(th_boost_read_tree(&t, 0, good, &e), 0);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(th_trees_sum(&t, x[i], 2), answer[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CU_ASSERT_EQUAL(th_boost_read_tree(&t, 3, bad[i], &e), -1);
        TAP_ASSERT_TEXT(e.id, "PRED-0051");
        CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "XGBoost: tree 3: has a line that is not known: "));
    }
    th_trees_clear(&t);
#endif
}

TAP_MAIN("trees")
