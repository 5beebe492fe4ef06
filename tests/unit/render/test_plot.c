/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_plot.c - labels of plots, by hand. */
#include <config.h>
#include "render/plot/plot.h"
#include "tests/unit/tap.h"

static void check_label(double value, const char *expected)
{
    char text[40];
    CU_ASSERT_STRING_EQUAL(th_plot_label(value, text, sizeof text), expected);
}

TEST(labels_have_three_digits_or_all_of_a_whole_number)
{
    check_label(24000.4, "24,000");
    check_label(1234567.25, "1,234,567");
    check_label(-1234, "-1,234");
    check_label(-123, "-123");
    check_label(64.83, "64.8");
    check_label(0.000123, "0.000123");
    check_label(2.5e9, "2.5e+09");
    check_label(0, "0");
}

TAP_MAIN("plot")
