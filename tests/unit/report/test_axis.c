/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_axis.c - ends and ticks of axes, and numbers with their thousands set apart, by hand. */
#include <config.h>
#include "base/alloc.h"
#include "report/plot/plot.h"
#include "tests/unit/tap.h"

static void check_axis(double least, double largest, bool is_log, const char *const *texts)
{
    th_plot_ticks t;
    int n = 0;
    th_plot_axis_find(least, largest, is_log, 5, &t);
    for (; texts[n]; n++)
        CU_ASSERT_STRING_EQUAL(n < t.n ? t.text[n] : "", texts[n]);
    CU_ASSERT_EQUAL(t.n, n);
    CU_ASSERT_TRUE(t.from <= least && t.to >= largest);
}

#define AXIS(least, largest, is_log, ...)                                                          \
    check_axis(least, largest, is_log, (const char *const[]){__VA_ARGS__, NULL})

/* Steps of 1, 2, 5: 24,000 / 5 = 4,800 -> 5,000; 0.9 / 5 = 0.18 -> 0.2. */
TEST(linear_axes_have_round_steps)
{
    AXIS(0, 24000, false, "0", "5,000", "10,000", "15,000", "20,000", "25,000");
    AXIS(0.1, 0.9, false, "0.0", "0.2", "0.4", "0.6", "0.8", "1.0");
    AXIS(41.7, 64.8, false, "40", "45", "50", "55", "60", "65");
}

/* 1 is near 0 compared with 5, so the axis begins there, but 4 is not; none goes below it. */
TEST(an_axis_of_positive_values_does_not_go_below_zero)
{
    AXIS(1, 5, false, "0", "1", "2", "3", "4", "5");
    AXIS(4, 5, false, "4.0", "4.2", "4.4", "4.6", "4.8", "5.0");
    AXIS(0, 0, false, "-1.0", "-0.5", "0.0", "0.5", "1.0");
    AXIS(-3, 2, false, "-3", "-2", "-1", "0", "1", "2");
}

/* One value has 10 % of room on both sides. */
TEST(a_single_value_stands_in_the_middle)
{
    AXIS(10, 10, false, "9.0", "9.5", "10.0", "10.5", "11.0");
}

/* Whole decades; up to two of them also have twice and five times a power of ten. */
TEST(logarithmic_axes_have_decades)
{
    AXIS(3, 40000, true, "1", "10", "100", "1,000", "10,000", "100,000");
    AXIS(2, 70, true, "1", "2", "5", "10", "20", "50", "100");
    AXIS(0.02, 0.05, true, "0.01", "0.02", "0.05", "0.1");
}

TEST(thousands_are_set_apart)
{
    char text[40];
    CU_ASSERT_STRING_EQUAL(th_plot_number(1234567.25, 2, text, sizeof text), "1,234,567.25");
    CU_ASSERT_STRING_EQUAL(th_plot_number(-1234, 0, text, sizeof text), "-1,234");
    CU_ASSERT_STRING_EQUAL(th_plot_number(-123, 0, text, sizeof text), "-123");
    CU_ASSERT_STRING_EQUAL(th_plot_label(24000.4, text, sizeof text), "24,000");
    CU_ASSERT_STRING_EQUAL(th_plot_label(64.83, text, sizeof text), "64.8");
    CU_ASSERT_STRING_EQUAL(th_plot_label(0.000123, text, sizeof text), "0.000123");
}

/* Two points at one place: their labels are on different sides, and inside the area. */
TEST(labels_do_not_cover_each_other)
{
    th_plot *p = th_plot_new(TH_PLOT_SCATTER);
    th_plot_ticks x, y;
    th_plot_series_begin(p, "s", TH_JOIN_NONE);
    th_plot_point_add(p, 5, 5, "first");
    th_plot_point_add(p, 5, 5, "second");
    th_plot_point_add(p, 10, 10, "at the corner");
    th_plot_axis_find(0, 10, false, 5, &x);
    th_plot_axis_find(0, 10, false, 5, &y);
    th_plot_place *place = th_plot_place_labels(p, &(th_plot_area){500, 300, 8, 16, &x, &y});
    CU_ASSERT_PTR_NOT_NULL_FATAL(place);
    CU_ASSERT_TRUE(place[0].is_shown && place[1].is_shown && place[2].is_shown);
    CU_ASSERT_TRUE(place[0].dy != place[1].dy || place[0].side != place[1].side);
    CU_ASSERT_EQUAL(place[2].side, -1); /* to its left, for there is no room to its right */
    th_free(place);
    th_plot_free(p);
}

TAP_MAIN("axis")
