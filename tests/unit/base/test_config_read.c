/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/files/config_guard.h"
#include "base/files/config_read.h"
#include "base/strbuf.h"
#include "tests/unit/refused.h"
#include "tests/unit/tap.h"
#include <unistd.h>

static const char sample[] =
    "name = \"ring8\";\n" /* line 1 */
    "count = 8;\n"
    "big = 9999999999L;\n"
    "mask = 0x7FFFFFFF;\n"
    "ratio = 0.25;\n" /* 5 */
    "half = true;\n"
    "links :\n"
    "(\n"
    "  { from = 0; to = 1; bandwidth = \"8Gbps\"; latency = \"1.5us\"; },\n"
    "  { from = 1; to = 2; bandwidth = \"16GB/s\"; latency = 0; }\n" /* 10 */
    ");\n"
    "dims = [4, 2];\n"
    "memory = { size = \"64GiB\"; clock = \"200MHz\"; };\n";

static th_config *open_text(const char *text)
{
    th_error e = {"", ""};
    th_config *c = th_config_open_text(text, "a.cfg", &e);
    if (!c)
        printf("# %s\n", e.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    return c;
}

TEST(reads_scalars)
{
    auto_config *c = open_text(sample);
    const th_config_node *root = th_config_root(c);
    th_error e;
    const char *name = NULL;
    int64_t i = 0;
    double d = 0;
    bool b = false;
    CU_ASSERT_EQUAL(th_config_string(root, "name", true, &name, &e), 0);
    TAP_ASSERT_TEXT(name, "ring8");
    CU_ASSERT(th_config_int(root, "count", true, (th_int_range){1, 8}, &i, &e) == 0 && i == 8);
    CU_ASSERT(th_config_int(root, "big", true, (th_int_range){0, INT64_MAX}, &i, &e) == 0 &&
              i == 9999999999);
    CU_ASSERT(th_config_int(root, "mask", true, (th_int_range){0, INT64_MAX}, &i, &e) == 0 &&
              i == 0x7FFFFFFF);
    CU_ASSERT(th_config_double(root, "ratio", true, &d, &e) == 0 && d == 0.25);
    CU_ASSERT(th_config_double(root, "count", true, &d, &e) == 0 && d == 8.0);
    CU_ASSERT(th_config_bool(root, "half", true, &b, &e) == 0 && b);
}

TEST(reads_quantities)
{
    auto_config *c = open_text(sample);
    const th_config_node *memory, *links, *second;
    th_error e;
    int64_t value = 0;
    CU_ASSERT_EQUAL(
        th_config_child(th_config_root(c), "memory", true, TH_CONFIG_GROUP, &memory, &e), 0);
    CU_ASSERT(th_config_as_bytes(th_config_member(memory, "size"), &value, &e) == 0 &&
              value == 64LL << 30);
    CU_ASSERT(th_config_as_frequency(th_config_member(memory, "clock"), &value, &e) == 0 &&
              value == 200000000);
    CU_ASSERT_EQUAL(th_config_child(th_config_root(c), "links", true, TH_CONFIG_LIST, &links, &e),
                    0);
    second = th_config_at(links, 1);
    CU_ASSERT(th_config_bandwidth(second, "bandwidth", true, &value, &e) == 0 &&
              value == 128000000000);
    CU_ASSERT(th_config_time(second, "latency", true, &value, &e) == 0 && value == 0);
    CU_ASSERT(th_config_time(th_config_at(links, 0), "latency", true, &value, &e) == 0 &&
              value == 1500000);
}

TEST(walks_nodes)
{
    auto_config *c = open_text(sample);
    const th_config_node *root = th_config_root(c), *links = th_config_member(root, "links");
    const th_config_node *dims = th_config_member(root, "dims");
    int64_t value = 0;
    CU_ASSERT_EQUAL(th_config_kind_of(root), TH_CONFIG_GROUP);
    CU_ASSERT_EQUAL(th_config_count(root), 9);
    CU_ASSERT_PTR_NULL(th_config_key(root));
    CU_ASSERT_EQUAL(th_config_kind_of(links), TH_CONFIG_LIST);
    CU_ASSERT_EQUAL(th_config_count(links), 2);
    CU_ASSERT_PTR_NULL(th_config_key(th_config_at(links, 0)));
    CU_ASSERT_EQUAL(th_config_kind_of(dims), TH_CONFIG_LIST);
    CU_ASSERT_EQUAL(th_config_count(dims), 2);
    CU_ASSERT(th_config_as_int(th_config_at(dims, 0), 1, 9, &value, NULL) == 0 && value == 4);
    CU_ASSERT_EQUAL(th_config_kind_of(th_config_at(root, 0)), TH_CONFIG_STRING);
    CU_ASSERT_EQUAL(th_config_kind_of(th_config_at(root, 4)), TH_CONFIG_FLOAT);
    CU_ASSERT_EQUAL(th_config_kind_of(th_config_at(root, 5)), TH_CONFIG_BOOL);
    TAP_ASSERT_TEXT(th_config_key(th_config_at(root, 4)), "ratio");
    CU_ASSERT_EQUAL(th_config_count(th_config_at(root, 4)), 0);
    CU_ASSERT_PTR_NULL(th_config_member(root, "nothing"));
}

TEST(knows_file_and_line)
{
    auto_config *c = open_text(sample);
    const th_config_node *root = th_config_root(c), *links = th_config_member(root, "links");
    TAP_ASSERT_TEXT(th_config_file(links), "a.cfg");
    CU_ASSERT_EQUAL(th_config_line(root), 1);
    CU_ASSERT_EQUAL(th_config_line(th_config_member(root, "ratio")), 5);
    CU_ASSERT_EQUAL(th_config_line(links), 7);
    CU_ASSERT_EQUAL(th_config_line(th_config_at(links, 1)), 10);
    CU_ASSERT_EQUAL(th_config_line(th_config_member(th_config_at(links, 1), "to")), 10);
}

TEST(leaves_absent_keys_alone)
{
    auto_config *c = open_text("");
    const th_config_node *root = th_config_root(c), *child = root;
    int64_t value = 41;
    CU_ASSERT(th_config_int(root, "count", false, (th_int_range){0, 9}, &value, NULL) == 0 &&
              value == 41);
    CU_ASSERT(th_config_time(root, "latency", false, &value, NULL) == 0 && value == 41);
    CU_ASSERT_EQUAL(th_config_child(root, "links", false, TH_CONFIG_LIST, &child, NULL), 0);
    CU_ASSERT_PTR_NULL(child);
}

/* ---- messages about values ---- */

static void expect(const th_error *e, const char *id, const char *text)
{
    TAP_ASSERT_ERROR(*e, id, text);
}

TEST(names_missing_keys)
{
    auto_config *c = open_text(sample);
    const th_config_node *root = th_config_root(c);
    th_error e;
    int64_t value = 41;
    CU_ASSERT_EQUAL(th_config_int(root, "cost", true, (th_int_range){0, 9}, &value, &e), -1);
    expect(&e, "BASE-0034", "a.cfg:1: the file: has no key \"cost\"");
    CU_ASSERT_EQUAL(
        th_config_time(th_config_at(th_config_member(root, "links"), 1), "delay", true, &value, &e),
        -1);
    expect(&e, "BASE-0034", "a.cfg:10: element 2 of \"links\": has no key \"delay\"");
    CU_ASSERT_EQUAL(th_config_time(th_config_member(root, "links"), "delay", false, &value, &e),
                    -1);
    expect(&e, "BASE-0033", "a.cfg:7: key \"links\": must be a group { ... }, not a list ( ... )");
    CU_ASSERT_EQUAL(value, 41);
}

TEST(names_wrong_types)
{
    auto_config *c = open_text(sample);
    const th_config_node *root = th_config_root(c), *child = root;
    th_error e;
    int64_t value = 41;
    double d = 0.5;
    bool b = true;
    const char *text = "untouched";
    CU_ASSERT_EQUAL(th_config_int(root, "ratio", true, (th_int_range){0, 9}, &value, &e), -1);
    expect(&e, "BASE-0033",
           "a.cfg:5: key \"ratio\": must be an integer, not a number with a fraction");
    CU_ASSERT_EQUAL(th_config_double(root, "name", true, &d, &e), -1);
    expect(&e, "BASE-0033", "a.cfg:1: key \"name\": must be a number, not a text in quotes");
    CU_ASSERT_EQUAL(th_config_bool(root, "count", true, &b, &e), -1);
    expect(&e, "BASE-0033", "a.cfg:2: key \"count\": must be true or false, not an integer");
    CU_ASSERT_EQUAL(th_config_string(root, "memory", true, &text, &e), -1);
    expect(&e, "BASE-0033",
           "a.cfg:13: key \"memory\": must be a text in quotes, not a group { ... }");
    CU_ASSERT_EQUAL(th_config_as_bytes(th_config_member(root, "half"), &value, &e), -1);
    expect(&e, "BASE-0033",
           "a.cfg:6: key \"half\": must be a quantity with its unit in quotes, not true or false");
    CU_ASSERT_EQUAL(th_config_child(root, "dims", true, TH_CONFIG_GROUP, &child, &e), -1);
    expect(&e, "BASE-0033", "a.cfg:12: key \"dims\": must be a group { ... }, not a list ( ... )");
    CU_ASSERT(value == 41 && d == 0.5 && b && child == root);
    TAP_ASSERT_TEXT(text, "untouched");
}

TEST(names_bad_values)
{
    auto_config *c = open_text("n = 9;\nhuge = 1.0e999;\nlatency = 15;\nbw = \"8Gx\";\n");
    const th_config_node *root = th_config_root(c);
    th_error e;
    int64_t value = 41;
    double d = 0.5;
    CU_ASSERT_EQUAL(th_config_int(root, "n", true, (th_int_range){-3, 8}, &value, &e), -1);
    expect(&e, "BASE-0035", "a.cfg:1: key \"n\": must be from -3 to 8, not 9");
    CU_ASSERT_EQUAL(th_config_double(root, "huge", true, &d, &e), -1);
    expect(&e, "BASE-0036", "a.cfg:2: key \"huge\": must be a finite number");
    CU_ASSERT_EQUAL(th_config_time(root, "latency", true, &value, &e), -1);
    expect(&e, "BASE-0003",
           "a.cfg:3: key \"latency\": time \"15\": has no unit: must be one of ps, ns, us, ms, s, "
           "min, h, d (as in 1.5us)");
    CU_ASSERT_EQUAL(th_config_bandwidth(root, "bw", true, &value, &e), -1);
    TAP_ASSERT_TEXT(e.id, "BASE-0004");
    CU_ASSERT(value == 41 && d == 0.5);
}

TEST(names_unknown_keys)
{
    static const char *const link_keys[] = {"from", "to", "bandwidth", "latency", NULL};
    static const char *const other_keys[] = {"from", "to", "bandwith", NULL};
    static const char *const none[] = {NULL};
    auto_config *c = open_text(sample);
    const th_config_node *link = th_config_at(th_config_member(th_config_root(c), "links"), 0);
    th_error e;
    CU_ASSERT_EQUAL(th_config_check_keys(link, link_keys, &e), 0);
    CU_ASSERT_EQUAL(th_config_check_keys(link, other_keys, &e), -1);
    expect(&e, "BASE-0037",
           "a.cfg:9: unknown key \"bandwidth\" in element 1 of \"links\": did you mean "
           "\"bandwith\"? (one of from, to, bandwith)");
    CU_ASSERT_EQUAL(th_config_check_keys(link, none, &e), -1);
    expect(&e, "BASE-0037",
           "a.cfg:9: unknown key \"from\" in element 1 of \"links\" (one of none)");
}

/* ---- what never reaches libconfig ---- */

static void refuse(const char *text, const char *id, const char *message)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_config_open_text(text, "a.cfg", &e));
    TAP_ASSERT_TEXT(e.id, id);
    if (message)
        TAP_ASSERT_TEXT(e.text, message);
}

TEST(accepts_integers_that_fit)
{
    auto_config *c = open_text(
        "a = 2147483647; b = -2147483648; c = 9223372036854775807L; d = 5e9; e = 5000000000.0;\n"
        "conv9999999999 = \"9999999999\"; # 9999999999\n// 9999999999\n/* 9999999999 */\n");
    int64_t value = 0;
    CU_ASSERT(th_config_int(th_config_root(c), "b", true, (th_int_range){INT64_MIN, 0}, &value,
                            NULL) == 0 &&
              value == INT32_MIN);
    CU_ASSERT(th_config_int(th_config_root(c), "c", true, (th_int_range){0, INT64_MAX}, &value,
                            NULL) == 0 &&
              value == INT64_MAX);
}

TEST(refuses_deep_nesting)
{
    auto_strbuf b = TH_STRBUF_INIT;
    th_strbuf_add(&b, "a = ");
    for (int i = 0; i < TH_CONFIG_DEPTH_MAX; i++)
        th_strbuf_add(&b, "(");
    size_t allowed = b.length;
    th_strbuf_add(&b, "(");
    refuse(b.text, "BASE-0022", "a.cfg:1: more than 32 groups and lists within each other");
    b.text[allowed] = 0;
    b.length = allowed;
    for (int i = 0; i < TH_CONFIG_DEPTH_MAX; i++)
        th_strbuf_add(&b, ")");
    th_config_close(open_text(b.text));
}

TEST(refuses_huge_groups_but_no_long_lists)
{
    auto_strbuf group = TH_STRBUF_INIT, list = TH_STRBUF_INIT;
    for (int i = 0; i < TH_CONFIG_MEMBERS_MAX; i++)
        th_strbuf_printf(&group, "k%d = %d;\n", i, i);
    th_config_close(open_text(group.text));
    th_strbuf_add(&group, "last = 1;");
    refuse(group.text, "BASE-0023",
           "a.cfg:257: a group of more than 256 keys: write a list ( ... ) for many elements");
    th_strbuf_add(&list, "a = (0");
    for (int i = 0; i < 100000; i++)
        th_strbuf_add(&list, ", {k = 1;}");
    th_strbuf_add(&list, ");");
    auto_config *c = open_text(list.text);
    CU_ASSERT_EQUAL(th_config_count(th_config_member(th_config_root(c), "a")), 100001);
}

TEST(refuses_includes)
{
    refuse("# @include is a word here\n@include \"/etc/passwd\"\n", "BASE-0024",
           "a.cfg:2: @include is not supported: one file, one system or network");
    th_config_close(open_text("a = \"x@y\";\n"));
}

TEST(refuses_long_tokens)
{
    auto_strbuf b = TH_STRBUF_INIT;
    th_strbuf_add(&b, "\na = \"");
    for (int i = 0; i < TH_CONFIG_TOKEN_MAX; i++)
        th_strbuf_add(&b, "x");
    th_strbuf_add(&b, "\";");
    refuse(b.text, "BASE-0025",
           "a.cfg:2: a name, number or string of more than 4096 bytes: \"xxxxxxxxxxxxxxxxxxx...");
}

static int open_refused(const char *text, th_error *e)
{
    th_config *c = th_config_open_text(text, "a.cfg", e);
    th_config_close(c);
    return c ? 0 : -1;
}

TEST(refuses_what_is_listed)
{
    static const refusing_reader readers[] = {{"text", open_refused}, {NULL, NULL}};
    assert_refusals("base/config_read.refused", readers);
}

/* ---- files ---- */

static const char path[] = "test_config_read.tmp";

static void write_file(const char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fwrite(bytes, 1, n, file);
    fclose(file);
}

TEST(reads_files)
{
    write_file(sample, sizeof sample - 1);
    th_error e;
    auto_config *c = th_config_open(path, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    TAP_ASSERT_TEXT(th_config_file(th_config_root(c)), path);
    CU_ASSERT_EQUAL(th_config_count(th_config_root(c)), 9);
    th_config_close(NULL);
    remove(path);
}

static void refuse_file(const char *name, const char *id, const char *message)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_config_open(name, &e));
    expect(&e, id, message);
}

TEST(refuses_files_that_are_none)
{
    refuse_file("no/such.cfg", "BASE-0031",
                "no/such.cfg: cannot be opened: No such file or directory");
    refuse_file(".", "BASE-0030", ".: cannot be read: Is a directory");
    write_file("a = 1;\nb\0 = 2;\n", 15);
    refuse_file(path, "BASE-0027", "test_config_read.tmp:2: holds a zero byte: not a text file");
    remove(path);
}

TEST(refuses_ten_megabytes_of_noise)
{
    th_strbuf b = TH_STRBUF_INIT;
    for (uint32_t i = 1; b.length < 10000000; i = i * 1664525u + 1013904223u)
        th_strbuf_add_bytes(&b, &i, sizeof i);
    write_file(b.text, b.length);
    th_strbuf_clear(&b);
    refuse_file(path, "BASE-0326", "test_config_read.tmp: must be 4194304 bytes at most");
    remove(path);
}

TAP_MAIN("config_read")
