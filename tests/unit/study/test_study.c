/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "study/study.h"
#include <string.h>
#include "tests/unit/tap.h"

static const char *const letters[] = {"a", "b", "c"}, *const digits[] = {"1", "2"},
                         *const dims[] = {"16", "4 4", "2 2 4"};

/* {letter a b c} {digit 1 2} {dims ...}, one metric. */
static th_study *a_study(void)
{
    th_study *s = th_study_new();
    th_study_add_parameter(s, "letter", letters, 3, NULL);
    th_study_add_parameter(s, "digit", digits, 2, NULL);
    th_study_add_parameter(s, "dims", dims, 3, NULL);
    th_study_add_metric(
        s, &(th_study_metric){"latency", "time", "latency_ps", TH_FIGURE_INTEGER, false}, NULL);
    s->name = "s";
    s->script = "one\ntwo\nthree";
    s->seed = 1;
    return s;
}

static void expect_cell(const th_study *s, int64_t cell, const char *letter, const char *digit,
                        const char *dim)
{
    TAP_ASSERT_TEXT(th_study_value(s, cell, 0), letter);
    TAP_ASSERT_TEXT(th_study_value(s, cell, 1), digit);
    TAP_ASSERT_TEXT(th_study_value(s, cell, 2), dim);
}

/* Of 3 x 2 x 3 cells number 8 is 1, 0, 2: 1 x 6 + 0 x 3 + 2. */
TEST(counts_the_last_parameter_fastest)
{
    th_study *s = a_study();
    CU_ASSERT_EQUAL(th_study_n_cells(s), 18);
    expect_cell(s, 0, "a", "1", "16");
    expect_cell(s, 1, "a", "1", "4 4");
    expect_cell(s, 8, "b", "1", "2 2 4");
    expect_cell(s, 17, "c", "2", "2 2 4");
    th_study_free(s);
}

/* letter and dims are one axis, the first: cells 0 .. 5 are a1 a2 b1 b2 c1 c2. */
TEST(joins_parameters)
{
    th_study *s = a_study();
    CU_ASSERT_EQUAL(th_study_join(s, "dims", "letter", NULL), 0);
    CU_ASSERT_EQUAL(th_study_n_cells(s), 6);
    expect_cell(s, 1, "a", "2", "16");
    expect_cell(s, 2, "b", "1", "4 4");
    expect_cell(s, 5, "c", "2", "2 2 4");
    th_error e;
    CU_ASSERT_EQUAL(th_study_join(s, "letter", "dims", &e), -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0007");
    CU_ASSERT_EQUAL(th_study_join(s, "letter", "digit", &e), -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0006");
    CU_ASSERT_EQUAL(th_study_join(s, "letter", "digits", &e), -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0005");
    th_study_free(s);
}

/* The seed of a point is that of its values: in a larger grid they have it too. */
TEST(seeds_points_by_their_values)
{
    th_study *s = a_study(), *larger = th_study_new();
    th_study_add_parameter(larger, "letter", letters, 3, NULL);
    th_study_add_parameter(larger, "digit", (const char *const[]){"0", "1", "2"}, 3, NULL);
    th_study_add_parameter(larger, "dims", dims, 3, NULL);
    larger->seed = 1;
    CU_ASSERT_EQUAL(th_study_point_seed(s, 0), th_study_point_seed(larger, 3));
    CU_ASSERT_NOT_EQUAL(th_study_point_seed(s, 0), th_study_point_seed(s, 1));
    CU_ASSERT_TRUE(th_study_point_seed(s, 0) >= 1 && th_study_point_seed(s, 0) <= INT32_MAX);
    int64_t before = th_study_point_seed(s, 0);
    s->seed = 2;
    CU_ASSERT_NOT_EQUAL(th_study_point_seed(s, 0), before);
    th_study_free(larger);
    th_study_free(s);
}

static void expect_difference(th_study *here, const char *text)
{
    th_study *file = a_study();
    th_error e;
    CU_ASSERT_EQUAL(th_study_compare(file, here, &e), -1);
    TAP_ASSERT_TEXT(e.text, text);
    CU_ASSERT_NOT_EQUAL(th_study_digest(file), th_study_digest(here));
    th_study_free(file);
    th_study_free(here);
}

TEST(names_the_differences)
{
    th_study *s = a_study(), *same = a_study();
    CU_ASSERT_EQUAL(th_study_compare(s, same, NULL), 0);
    CU_ASSERT_EQUAL(th_study_digest(s), th_study_digest(same));
    th_study_free(same);
    s->script = "one\n2\nthree";
    expect_difference(s,
                      "the file holds another study: -script, line 2: \"two\" there, \"2\" here");
    s = a_study();
    s->script = "one\ntwo";
    expect_difference(s,
                      "the file holds another study: -script, line 3: \"three\" there, \"\" here");
    s = a_study();
    s->parameters[2].n_values = 2;
    expect_difference(s,
                      "the file holds another study: parameter dims: \"16 {4 4} {2 2 4}\" there, "
                      "\"16 {4 4}\" here");
    s = a_study();
    th_study_join(s, "letter", "dims", NULL);
    expect_difference(
        s, "the file holds another study: -zip: \"another grouping\" there, \"dims\" here");
}

TEST(refuses_what_is_no_study)
{
    th_error e;
    th_study *s = th_study_new();
    CU_ASSERT_EQUAL(th_study_check(s, &e), -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0009");
    CU_ASSERT_EQUAL(th_study_add_parameter(s, "a b", letters, 3, &e), -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0001");
    CU_ASSERT_EQUAL(th_study_add_parameter(s, "1st", letters, 3, &e), -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0001");
    CU_ASSERT_EQUAL(th_study_add_parameter(s, "none", letters, 0, &e), -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0003");
    for (int i = 0; i < TH_STUDY_PARAMETERS_MAX; i++) {
        char name[20];
        snprintf(name, sizeof name, "p%d", i);
        CU_ASSERT_EQUAL(th_study_add_parameter(s, name, letters, 3, &e), 0);
    }
    CU_ASSERT_EQUAL(th_study_add_parameter(s, "more", letters, 3, &e), -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0002");
    CU_ASSERT_EQUAL(th_study_check(s, &e), -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0010");
    th_study_add_metric(s, &(th_study_metric){"m", "count", "m", TH_FIGURE_INTEGER, false}, &e);
    CU_ASSERT_EQUAL(th_study_check(s, &e), -1); /* 3^24 points */
    TAP_ASSERT_TEXT(e.id, "STUDY-0011");
    th_study_free(s);
}

/* "Status" is the file's own column; SQL takes "LETTER" for "letter". */
TEST(refuses_names_that_are_taken)
{
    static const char *const taken[] = {"Status", "LETTER", "latency", "latency_ps"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        th_error e;
        th_study *s = a_study();
        CU_ASSERT_EQUAL(th_study_add_parameter(s, taken[i], letters, 3, &e), 0);
        CU_ASSERT_EQUAL(th_study_check(s, &e), -1);
        TAP_ASSERT_TEXT(e.id, "STUDY-0008");
        th_study_free(s);
    }
}

TEST(limits_metrics)
{
    th_error e;
    th_study *s = th_study_new();
    for (int i = 0; i < TH_STUDY_METRICS_MAX; i++)
        CU_ASSERT_EQUAL(th_study_add_metric(
                            s, &(th_study_metric){"m", "count", "m", TH_FIGURE_INTEGER, false}, &e),
                        0);
    CU_ASSERT_EQUAL(
        th_study_add_metric(s, &(th_study_metric){"m", "count", "m", TH_FIGURE_INTEGER, false}, &e),
        -1);
    TAP_ASSERT_TEXT(e.id, "STUDY-0004");
    th_study_free(s);
}

TAP_MAIN("study")
