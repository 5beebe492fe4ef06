/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/alloc.h"
#include "base/strbuf.h"
#include "tests/unit/tap.h"

TEST(appends)
{
    auto_strbuf b = TH_STRBUF_INIT;
    CU_ASSERT_PTR_NULL(b.text);
    th_strbuf_add(&b, "");
    TAP_ASSERT_TEXT(b.text, "");
    th_strbuf_add(&b, "accel");
    th_strbuf_add_bytes(&b, "/x", 1);
    th_strbuf_printf(&b, "%d of %s", 3, "8");
    TAP_ASSERT_TEXT(b.text, "accel/3 of 8");
    CU_ASSERT_EQUAL(b.length, 12);
    CU_ASSERT_FALSE(b.failed);
    th_strbuf_clear(&b);
    CU_ASSERT_PTR_NULL(b.text);
    th_strbuf_add(&b, "again");
    TAP_ASSERT_TEXT(b.text, "again");
}

TEST(keeps_zero_bytes)
{
    auto_strbuf b = TH_STRBUF_INIT;
    th_strbuf_add_bytes(&b, "a\0b", 3);
    CU_ASSERT_EQUAL(b.length, 3);
    CU_ASSERT_EQUAL(memcmp(b.text, "a\0b", 4), 0);
}

TEST(writes_json)
{
    auto_strbuf b = TH_STRBUF_INIT;
    th_strbuf_add_json(&b, "a \"b\" c:\\d\n\r\t\001\177 \303\251 \342\202\254");
    TAP_ASSERT_TEXT(b.text, "\"a \\\"b\\\" c:\\\\d\\n\\r\\t\\u0001\\u007f \\u00e9 \\u20ac\"");
}

/* Latin-1, an overlong form, a surrogate, one cut short at the end: none of them is UTF-8. */
TEST(replaces_what_is_no_utf8)
{
    auto_strbuf b = TH_STRBUF_INIT;
    th_strbuf_add_json(&b, "\351t\351 \300\200 \355\240\200 \360\237\230\200 \342\202");
    TAP_ASSERT_TEXT(b.text, "\"\\ufffdt\\ufffd \\ufffd\\ufffd \\ufffd\\ufffd\\ufffd \\ud83d\\ude00 "
                            "\\ufffd\\ufffd\"");
}

/* The bytes of the characters of text, in a letter each, that fit. */
static int whole_bytes(const char *lengths, int most)
{
    int bytes = 0;
    while (*lengths && bytes + (*lengths - '0') <= most)
        bytes += *lengths++ - '0';
    return bytes;
}

TEST(prints_whole_characters)
{
    static const char text[] = "a\303\251\346\227\245b\360\235\204\236\303\251",
                      lengths[] = "123142";
    char out[40], expected[40];
    for (int most = 0; most < 20; most++) {
        int bytes = whole_bytes(lengths, most);
        th_print(out, sizeof out, "%.*s\" %d", most, text, most);
        snprintf(expected, sizeof expected, "%.*s\" %d", bytes, text, most);
        TAP_ASSERT_TEXT(out, expected);
        th_print(out, (size_t)most + 1, "%s", text);
        snprintf(expected, sizeof expected, "%.*s", bytes, text);
        TAP_ASSERT_TEXT(out, expected);
    }
    th_print(out, sizeof out, "%.2s%.3s%.1s|\200x", "a\303\251", "\346\227\245", "\303\251");
    TAP_ASSERT_TEXT(out, "a\346\227\245|\200x");
}

TEST(stays_failed)
{
    int64_t live = th_alloc_live();
    th_strbuf b = TH_STRBUF_INIT;
    th_strbuf_add(&b, "1234567");
    th_alloc_fail_at(1);
    th_strbuf_add(&b, "8");
    CU_ASSERT_TRUE(b.failed);
    th_strbuf_printf(&b, "%d", 9);
    th_strbuf_add_json(&b, "x");
    TAP_ASSERT_TEXT(b.text, "1234567");
    th_strbuf_clear(&b);
    CU_ASSERT_FALSE(b.failed);
    CU_ASSERT_EQUAL(th_alloc_live(), live);
}

TAP_MAIN("strbuf")
