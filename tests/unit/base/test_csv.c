/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/files/csv.h"
#include "tests/unit/tap.h"

TEST(cuts_lines_and_fields)
{
    char text[] = "a, b ,c\r\n\n  \n1,,\"x, \"\"y\"\"\" ,\nlast";
    th_error e = {"", ""};
    auto_csv c = th_csv_open("f", text);
    CU_ASSERT_EQUAL(th_csv_next(&c, &e), 1);
    CU_ASSERT_EQUAL_FATAL(c.n_fields, 3);
    CU_ASSERT_EQUAL(c.line, 1);
    TAP_ASSERT_TEXT(c.field[1], "b");
    TAP_ASSERT_TEXT(c.field[2], "c");
    CU_ASSERT_EQUAL(th_csv_next(&c, &e), 1);
    CU_ASSERT_EQUAL_FATAL(c.n_fields, 4);
    CU_ASSERT_EQUAL(c.line, 4);
    TAP_ASSERT_TEXT(c.field[1], "");
    TAP_ASSERT_TEXT(c.field[2], "x, \"y\"");
    TAP_ASSERT_TEXT(c.field[3], "");
    CU_ASSERT_EQUAL(th_csv_next(&c, &e), 1);
    TAP_ASSERT_TEXT(c.field[0], "last");
    CU_ASSERT_EQUAL(th_csv_next(&c, &e), 0);
    th_csv_clear(&c);
    c = th_csv_open("f", NULL);
    CU_ASSERT_EQUAL(th_csv_next(&c, &e), 0);
}

static void assert_bad_quote(char *text, const char *message)
{
    th_error e = {"", ""};
    auto_csv c = th_csv_open("f", text);
    CU_ASSERT_EQUAL(th_csv_next(&c, &e), -1);
    TAP_ASSERT_ERROR(e, "BASE-0320", message);
}

TEST(a_quote_must_end_with_its_field)
{
    char open[] = "\"abc,d\ne", behind[] = "\xEF\xBB\xBF\n1,\"abc\" d,e";
    assert_bad_quote(open, "f:1: field 1, \"abc,d\": a quote must end before a comma or the end of "
                           "its line");
    assert_bad_quote(behind, "f:2: field 2, \"abc\": a quote must end before a comma or the end of "
                             "its line");
}

static const char *const names[] = {"time_us", "Num filter;Num filters", "bytes", NULL};

TEST(headings_are_found_by_name)
{
    int place[3];
    th_error e = {"", ""};
    auto_strbuf notes = TH_STRBUF_INIT;
    char text[] = "# a comment\nnote, NUM FILTERS,,Time us\na,1,2,3\n#\nb,2,3,4";
    auto_csv c = th_csv_open("f", text);
    CU_ASSERT_EQUAL(th_csv_first(&c, &e), 0);
    CU_ASSERT_EQUAL(th_csv_place(&c, names, 2, place, &notes, &e), 0);
    CU_ASSERT_TRUE(place[0] == 3 && place[1] == 1 && place[2] == -1);
    TAP_ASSERT_TEXT(notes.text, "columns are not read: \"note\"");
    CU_ASSERT_EQUAL(th_csv_row(&c, &e), 1);
    TAP_ASSERT_TEXT(c.field[place[0]], "3");
    CU_ASSERT_EQUAL(th_csv_row(&c, &e), 1);
    TAP_ASSERT_TEXT(c.field[0], "b");
    CU_ASSERT_TRUE(th_csv_row(&c, &e) == 0);
    th_csv_note_cut(&c, &notes);
    TAP_ASSERT_TEXT(notes.text,
                    "columns are not read: \"note\"; its last line has no end: the file "
                    "may be cut short");
}

TEST(says_which_heading_is_wrong)
{
    static const struct {
        const char *text, *id, *message;
    } bad[] = {
        {"time_us,num filter,Time_us\n", "BASE-0322", "f:1: column \"Time_us\" comes twice"},
        {"num filter\n", "BASE-0323", "f:1: column \"time_us\": must be there"},
        {"\n# x\n", "BASE-0324", "f: must have a line of headings"},
        {"time_us,num filter\n1,2\n1\n", "BASE-0325",
         "f:3: must have 2 fields as the line of headings, has 1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int place[3], status;
        char text[60];
        th_error e = {"", ""};
        snprintf(text, sizeof text, "%s", bad[i].text);
        auto_csv c = th_csv_open("f", text);
        status = th_csv_first(&c, &e) || th_csv_place(&c, names, 2, place, NULL, &e) ? -1 : 1;
        while (status > 0)
            status = th_csv_row(&c, &e);
        CU_ASSERT_EQUAL(status, -1);
        TAP_ASSERT_ERROR(e, bad[i].id, bad[i].message);
    }
}

TAP_MAIN("csv")
