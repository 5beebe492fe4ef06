/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/csv.h"
#include "tests/unit/tap.h"

TEST(cuts_lines_and_fields)
{
    char text[] = "a, b ,c\r\n\n  \n1,,\"x, \"\"y\"\"\" ,\nlast";
    th_csv c = th_csv_open(text);
    CU_ASSERT_EQUAL(th_csv_next(&c), 1);
    CU_ASSERT_EQUAL_FATAL(c.n_fields, 3);
    CU_ASSERT_EQUAL(c.line, 1);
    TAP_ASSERT_TEXT(c.field[1], "b");
    TAP_ASSERT_TEXT(c.field[2], "c");
    CU_ASSERT_EQUAL(th_csv_next(&c), 1);
    CU_ASSERT_EQUAL_FATAL(c.n_fields, 4);
    CU_ASSERT_EQUAL(c.line, 4);
    TAP_ASSERT_TEXT(c.field[1], "");
    TAP_ASSERT_TEXT(c.field[2], "x, \"y\"");
    TAP_ASSERT_TEXT(c.field[3], "");
    CU_ASSERT_EQUAL(th_csv_next(&c), 1);
    TAP_ASSERT_TEXT(c.field[0], "last");
    CU_ASSERT_EQUAL(th_csv_next(&c), 0);
    th_csv_clear(&c);
    c = th_csv_open(NULL);
    CU_ASSERT_EQUAL(th_csv_next(&c), 0);
    th_csv_clear(&c);
}

TEST(an_open_quote_ends_with_its_line)
{
    char text[] = "\"abc,d\ne";
    th_csv c = th_csv_open(text);
    CU_ASSERT_EQUAL(th_csv_next(&c), 1);
    CU_ASSERT_EQUAL(c.n_fields, 1);
    TAP_ASSERT_TEXT(c.field[0], "abc,d");
    CU_ASSERT_EQUAL(th_csv_next(&c), 1);
    TAP_ASSERT_TEXT(c.field[0], "e");
    th_csv_clear(&c);
}

TEST(no_memory)
{
    char text[] = "a,b";
    int64_t live = th_alloc_live();
    th_csv c = th_csv_open(text);
    th_alloc_fail_at(1);
    CU_ASSERT_EQUAL(th_csv_next(&c), -1);
    th_alloc_fail_at(0);
    th_csv_clear(&c);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

TAP_MAIN("csv")
