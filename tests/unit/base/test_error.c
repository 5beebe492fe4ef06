/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/error.h"
#include "tests/unit/tap.h"

TEST(fills_id_and_text)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_error_set(&e, "TEST-0007", "%s:%d: key \"%s\"", "a.cfg", 12, "dims"), -1);
    TAP_ASSERT_ERROR(e, "TEST-0007", "a.cfg:12: key \"dims\"");
}

TEST(accepts_nobody_to_tell)
{
    CU_ASSERT_EQUAL(th_error_set(NULL, "TEST-0007", "%d", 1), -1);
    CU_ASSERT_EQUAL(th_error_no_memory(NULL), -1);
}

TEST(stays_on_one_line)
{
    th_error e;
    th_error_set(&e, "TEST-0007", "a\nb\r\tc\033d\177e \303\251");
    TAP_ASSERT_TEXT(e.text, "a b  c d e \303\251");
}

TEST(cuts_what_is_too_long)
{
    char text[2000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    th_error e;
    th_error_set(&e, "TEST-LONGER-THAN-IT-MAY-BE", "%s", text);
    CU_ASSERT_EQUAL(strlen(e.text), TH_ERROR_TEXT_MAX - 1);
    CU_ASSERT_EQUAL(strlen(e.id), TH_ERROR_ID_MAX - 1);
}

TEST(cuts_between_characters)
{
    th_error e;
    th_error_set(&e, "TEST-0008", "\"%.4s\": \"%.2s\"", "abc\303\251", "\346\227\245");
    TAP_ASSERT_TEXT(e.text, "\"abc\": \"\"");
}

TEST(may_quote_itself)
{
    th_error e;
    th_error_set(&e, "TEST-0001", "inner");
    th_error_set(&e, "TEST-0002", "outer: %s", e.text);
    TAP_ASSERT_TEXT(e.text, "outer: inner");
}

TEST(says_that_memory_ran_out)
{
    th_error e;
    CU_ASSERT_EQUAL(th_error_no_memory(&e), -1);
    TAP_ASSERT_ERROR(e, "BASE-0001", "memory ran out");
}

TEST(says_that_it_was_interrupted)
{
    th_error e;
    CU_ASSERT_EQUAL(th_error_interrupted(&e, "nothing was made"), -1);
    TAP_ASSERT_ERROR(e, "BASE-0008", "interrupted; nothing was made");
    CU_ASSERT_TRUE(th_error_is_interrupted(&e));
    th_error_set(&e, "TEST-0007", "interrupted; nothing was made");
    CU_ASSERT_FALSE(th_error_is_interrupted(&e));
}

TAP_MAIN("error")
