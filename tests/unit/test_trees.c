/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "base/random.h"
#include "predictor/boost.h"
#include "predictor/trees.h"
#include "tests/unit/tap.h"

/* x1 < 2 ? (x0 < 5 ? 1 : 2) : (x0 < 7 ? 4 : 8), and x0 < 0.5 ? 16 : (x1 < 3 ? 32 : 64) with the first
 * answer filled up. */
static th_trees by_hand(void)
{
    static const uint8_t feature[] = {1, 0, 0, 0, 0, 1};
    static const float threshold[] = {2, 5, 7, 0.5f, 0, 3}, leaf[] = {1, 2, 4, 8, 16, 16, 32, 64};
    th_trees t;
    CU_ASSERT_EQUAL_FATAL(th_trees_init(&t, 2, 2), 0);
    memcpy(t.feature, feature, sizeof feature);
    memcpy(t.threshold, threshold, sizeof threshold);
    memcpy(t.leaf, leaf, sizeof leaf);
    return t;
}

static void trees_by_hand(void)
{
    static const float x[][2] = {{4, 1}, {5, 1}, {6, 2}, {7, 4}, {0, 1}};
    static const double sums[] = {1 + 32, 2 + 32, 4 + 32, 8 + 64, 1 + 16};
    double many[5];
    th_trees t = by_hand();
    th_trees_sum_many(&t, &x[0][0], 5, 2, many);
    for (int i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(th_trees_sum(&t, x[i]), sums[i]);
        CU_ASSERT_EQUAL(many[i], sums[i]);
    }
    th_trees_clear(&t);
}

enum { ROWS = 3000, WIDTH = 3 };

/* A step, a slope and something that does not matter. */
static void make_rows(float *x, float *y)
{
    gsl_rng *rng = th_random_stream(5, "trees", 0);
    for (int i = 0; i < ROWS; i++) {
        for (int f = 0; f < WIDTH; f++)
            x[i * WIDTH + f] = (float)th_random_unit(rng);
        y[i] = (x[i * WIDTH] < 0.3f ? -1.0f : 1.0f) + x[i * WIDTH + 1];
    }
    gsl_rng_free(rng);
}

static void boosting_learns_and_repeats(void)
{
    static float x[ROWS * WIDTH], y[ROWS];
    static double one[ROWS], many[ROWS];
    const th_boost_options o = {.rounds = 60,
                                .depth = 5,
                                .rate = 0.2,
                                .slope = 0.5,
                                .least_weight = 5,
                                .row_share = 1,
                                .column_share = 1,
                                .seed = 4};
    th_trees t, again;
    th_error e = {"", ""};
    make_rows(x, y);
    if (!th_boost_is_there()) {
        CU_ASSERT_EQUAL(th_boost_train(x, y, ROWS, WIDTH, &o, &t, &e), -1);
        TAP_ASSERT_TEXT(e.id, "PRED-0052");
        return;
    }
    CU_ASSERT_EQUAL_FATAL(th_boost_train(x, y, ROWS, WIDTH, &o, &t, &e), 0);
    CU_ASSERT_EQUAL_FATAL(th_boost_train(x, y, ROWS, WIDTH, &o, &again, &e), 0);
    th_trees_sum_many(&t, x, ROWS, WIDTH, many);
    double off = 0;
    for (int i = 0; i < ROWS; i++) {
        one[i] = th_trees_sum(&again, x + i * WIDTH);
        off += fabs(one[i] - (double)y[i]) / ROWS;
    }
    CU_ASSERT_EQUAL(memcmp(one, many, sizeof one), 0);
    CU_ASSERT(off < 0.05); /* a constant is off by 0.9 */
    th_trees_clear(&t);
    th_trees_clear(&again);
}

static void the_library_says_what_is_wrong(void)
{
    static float x[ROWS * WIDTH], y[ROWS];
    th_boost_options o = {
        .rounds = 1, .depth = 3, .rate = -1, .slope = 0.5, .row_share = 1, .column_share = 1};
    th_trees t;
    th_error e = {"", ""};
    if (!th_boost_is_there())
        return;
    make_rows(x, y);
    CU_ASSERT_EQUAL(th_boost_train(x, y, ROWS, WIDTH, &o, &t, &e), -1);
    TAP_ASSERT_TEXT(e.id, "PRED-0050");
}

/* A tree of two leaves below a question, beside a leaf; and lines that no tree has. */
static void text_of_the_library_is_understood_or_refused(void)
{
#ifdef HAVE_XGBOOST
    static const char good[] = "0:[f1<0.5] yes=1,no=2,missing=1\n\t1:[f0<2] yes=3,no=4,missing=3\n"
                               "\t\t3:leaf=0.25\n\t\t4:leaf=-1\n\t2:leaf=4\n";
    static const char *const bad[] = {"0:leaf", "0[f1<0.5]", "5000:leaf=1", "0:[f1<0.5] yes=1",
                                      "0:[f1<0.5] yes=1,no=5000", "0:[f1=0.5] yes=1,no=2"};
    static const float x[3][2] = {{1, 0}, {3, 0}, {9, 1}};
    static const double answer[] = {0.25, -1, 4};
    th_trees t;
    th_error e = {"", ""};
    CU_ASSERT_EQUAL_FATAL(th_trees_init(&t, 1, 2), 0);
    CU_ASSERT_EQUAL(th_boost_read_tree(&t, 0, good, &e), 0);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(th_trees_sum(&t, x[i]), answer[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CU_ASSERT_EQUAL(th_boost_read_tree(&t, 3, bad[i], &e), -1);
        TAP_ASSERT_TEXT(e.id, "PRED-0051");
        CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "XGBoost: tree 3: has a line that is not known: "));
    }
    th_trees_clear(&t);
#endif
}

static void no_memory(void)
{
    int64_t live = th_alloc_live();
    for (int k = 1; k <= 3; k++) {
        th_trees t;
        th_alloc_fail_at(k);
        CU_ASSERT_EQUAL(th_trees_init(&t, 2, 3), -1);
        th_alloc_fail_at(0);
    }
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        TAP(trees_by_hand),
        TAP(boosting_learns_and_repeats),
        TAP(the_library_says_what_is_wrong),
        TAP(text_of_the_library_is_understood_or_refused),
        TAP(no_memory),
        TAP_END,
    };
    return tap_main("trees", tests, argc, argv);
}
