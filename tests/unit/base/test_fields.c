/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_fields.c - every table of fields: what is written reads back, whatever the values, each
 * field changed once; what is out of range is refused; docs/formats.md shows the tables
 * (THARSIS_WRITE_DOCS=1 writes them). */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <gsl/gsl_rng.h>
#include "base/alloc.h"
#include "base/files/fields.h"
#include "base/random.h"
#include "base/files/text_file.h"
#include "tests/unit/tap.h"
#include "topology/files/astra.h"
#include "topology/files/system_fields.h"
#include "topology/generate/generate.h"
#include "training/plan_file.h"
#include "workloads/workload_fields.h"

static const struct {
    const char *name;
    const th_field *fields;
} tables[] = {{"workload", th_workload_fields},
              {"input", th_input_fields},
              {"model", th_model_fields},
              {"system", th_system_fields},
              {"accelerator", th_accel_fields},
              {"dram", th_dram_fields},
              {"vector", th_vector_fields},
              {"host", th_host_fields},
              {"switch", th_switch_fields},
              {"link", th_link_fields},
              {"topology", th_topology_fields},
              {"generated host", th_generated_host_fields},
              {"plan", th_plan_fields},
              {"astra", th_astra_fields},
              {"astra dimension", th_astra_dim_fields}};
enum { N_TABLES = sizeof tables / sizeof *tables };

/* Larger than every structure that a table describes, and aligned like them. */
typedef union {
    th_system system;
    th_node node;
    th_topology_options options;
    th_astra astra;
    th_plan_file plan;
    th_model model;
} object;

/* ---- values ---- */

static void set_random(const th_field *f, object *o, gsl_rng *r)
{
    char *at = (char *)o + f->offset;
    const int64_t least = f->flags & TH_FIELD_ABOVE ? (int64_t)f->min + 1 : (int64_t)f->min;
    int64_t most = f->max > 0 ? (int64_t)f->max : 1000000000000000, x;
    double number;
    int n_words = 0;
    switch (f->kind) {
    case TH_FIELD_NUMBER:
        number =
            f->min + gsl_rng_uniform_pos(r) * (f->max > 0 && f->max < 1e6 ? f->max - f->min : 99);
        memcpy(at, &number, sizeof number);
        return;
    case TH_FIELD_BOOL:
        *(bool *)at = gsl_rng_uniform_int(r, 2);
        return;
    case TH_FIELD_WORD:
        while (f->words[n_words])
            n_words++;
        x = (int64_t)gsl_rng_uniform_int(r, (unsigned long)n_words);
        break;
    case TH_FIELD_BANDWIDTH:
        x = f->flags & TH_FIELD_UNLIMITED && gsl_rng_uniform_int(r, 3) == 0
                ? TH_UNLIMITED
                : 1 + (int64_t)(gsl_rng_uniform(r) * 1e15);
        break;
    default:
        if (f->kind == TH_FIELD_FREQUENCY)
            most = 1000000000000;
        x = least + (int64_t)(gsl_rng_uniform(r) * (double)(most - least));
    }
    const int32_t small = (int32_t)x;
    if (f->size == sizeof x)
        memcpy(at, &x, sizeof x);
    else if (f->size == sizeof small)
        memcpy(at, &small, sizeof small);
    else
        *(bool *)at = x;
}

static bool is_whole(const th_field *f)
{
    return f->kind != TH_FIELD_OWN;
}

/* The text of a group; what its owner writes stands as the owner wants it. */
static void write_group(const th_field *fields, const object *o, th_strbuf *out)
{
    th_strbuf_add(out, "g = {");
    for (const th_field *f = fields; f->key; f++)
        if (is_whole(f)) {
            th_field one[2] = {*f, {NULL}};
            th_fields_write(one, o, (th_fields_form){" ", ";\n", true}, out);
        }
    th_strbuf_add(out, "};\n");
}

static int read_group(const th_field *fields, const char *text, object *o, th_error *err)
{
    th_config *c = th_config_open_text(text, "group.cfg", err);
    int failed = c ? th_fields_read_group(fields, th_config_root(c), "g", true, o, err) : -1;
    th_config_close(c);
    return failed;
}

static void assert_comes_back(const th_field *fields, const object *o)
{
    th_strbuf text = TH_STRBUF_INIT, again = TH_STRBUF_INIT;
    th_error e = {"", ""};
    object back;
    memset(&back, 0xA5, sizeof back); /* what is absent must be set, too */
    write_group(fields, o, &text);
    CU_ASSERT_EQUAL(read_group(fields, text.text, &back, &e), 0);
    TAP_ASSERT_TEXT(e.text, "");
    for (const th_field *f = fields; f->key; f++)
        if (is_whole(f) &&
            memcmp((const char *)&back + f->offset, (const char *)o + f->offset, f->size) != 0)
            CU_FAIL("a field does not come back");
    write_group(fields, &back, &again);
    TAP_ASSERT_TEXT(again.text, text.text);
    th_strbuf_clear(&text);
    th_strbuf_clear(&again);
}

/* Two rows of one key say what no single one does: they are set together. */
static bool is_paired(const th_field *fields, const th_field *f)
{
    return (f > fields && strcmp(f[-1].key, f->key) == 0) ||
           (f[1].key && !strcmp(f[1].key, f->key));
}

TEST(each_field_comes_back)
{
    gsl_rng *r = th_random_stream(1, "fields", 0);
    for (int t = 0; t < N_TABLES; t++)
        for (int i = 0; i < 40; i++) {
            object o;
            memset(&o, 0, sizeof o);
            for (const th_field *f = tables[t].fields; f->key; f++)
                if (is_whole(f) && !is_paired(tables[t].fields, f))
                    set_random(f, &o, r);
            if (tables[t].fields == th_topology_fields) { /* reduces: true, false or unsaid */
                o.options.switches_reduce = i % 3 == 1;
                o.options.islands_only_forward = i % 3 == 2;
            }
            assert_comes_back(tables[t].fields, &o);
            for (const th_field *f = tables[t].fields; f->key; f++)
                if (is_whole(f) && !is_paired(tables[t].fields, f)) {
                    set_random(f, &o, r);
                    assert_comes_back(tables[t].fields, &o);
                }
        }
    gsl_rng_free(r);
}

/* ---- what is refused ---- */

static void refuse(const th_field *fields, const char *text, const char *id, const char *expected)
{
    th_error e = {"", ""};
    object o;
    CU_ASSERT_EQUAL(read_group(fields, text, &o, &e), -1);
    TAP_ASSERT_TEXT(e.id, id);
    TAP_ASSERT_TEXT(e.text, expected);
}

TEST(errors_name_file_line_and_range)
{
    refuse(th_input_fields, "g = { channels = 1; height = 1; width = 1;\ndensity = 1.5; };",
           "BASE-0461", "group.cfg:2: key \"density\": must be above 0 and at most 1, not 1.5");
    refuse(th_input_fields, "g = { channels = 1; height = 1; width = 1; density = 0; };",
           "BASE-0461", "group.cfg:1: key \"density\": must be above 0 and at most 1, not 0");
    refuse(th_input_fields, "g = { channels = 1;\nheight = 0; width = 1; };", "BASE-0035",
           "group.cfg:2: key \"height\": must be from 1 to 268435456, not 0");
    refuse(th_input_fields, "g = { channels = 1; height = 2; };", "BASE-0034",
           "group.cfg:1: key \"g\": has no key \"width\"");
    refuse(th_dram_fields, "g = { capacity = \"1GiB\"; bandwidth = \"unlimitd\"; };", "BASE-0002",
           "group.cfg:1: key \"bandwidth\": bandwidth \"unlimitd\": must be a number with one of "
           "the units bps, b/s, B/s with a prefix k, M, G, T, P, Ki, Mi, Gi, Ti (as in 8Gbps, "
           "16GB/s)");
    refuse(th_vector_fields,
           "g = { clock = \"1GHz\"; elements_per_cycle = 1;\n\nconcat = \"fre\"; };", "BASE-0460",
           "group.cfg:3: concat \"fre\": did you mean \"free\"? (must be one of copy, free)");
    refuse(th_topology_fields, "g = { reduces = 1; };", "BASE-0033",
           "group.cfg:1: key \"reduces\": must be true or false, not an integer");
    refuse(th_topology_fields, "g = { link_mtbf = \"0h\"; };", "BASE-0461",
           "group.cfg:1: key \"link_mtbf\": must be above 0, not 0");
    refuse(th_topology_fields, "g = { oversubscription = 0.5; };", "BASE-0461",
           "group.cfg:1: key \"oversubscription\": must be at least 1, not 0.5");
    refuse(th_generated_host_fields, "g = { bandwith = \"1GB/s\"; };", "BASE-0037",
           "group.cfg:1: unknown key \"bandwith\" in key \"g\": did you mean \"bandwidth\"? (one "
           "of bandwidth, latency, cost)");
}

/* ---- docs/formats.md ---- */

static void put_default(const th_field *f, th_strbuf *out)
{
    th_field one[2] = {*f, {NULL}};
    object o;
    th_error e;
    memset(&o, 0, sizeof o);
    if (f->flags & TH_FIELD_REQUIRED) {
        th_strbuf_add(out, "required");
    } else if (f->otherwise) {
        th_strbuf_add(out, f->otherwise);
    } else if (f->kind == TH_FIELD_OWN) {
        th_strbuf_add(out, "–");
    } else { /* what reading nothing gives */
        one->flags |= TH_FIELD_ALWAYS;
        CU_ASSERT_EQUAL(read_group(one, "g = { };", &o, &e), 0);
        th_fields_write(one, &o, (th_fields_form){"`", "`", false}, out);
        char *at = strstr(out->text, f->key);
        for (char *next; (next = strstr(at + 1, f->key));)
            at = next;
        memmove(at, at + strlen(f->key) + 3, strlen(at + strlen(f->key) + 3) + 1);
        out->length = strlen(out->text);
    }
}

static void explain(const th_field *fields, th_strbuf *out)
{
    th_strbuf_add(out, "| key | meaning | default |\n|---|---|---|\n");
    for (const th_field *f = fields; f->key; f++) {
        if (!f->says) /* the second row of a key */
            continue;
        th_strbuf_printf(out, "| `%s` | %s", f->key, f->says);
        for (int i = 0; f->words && f->words[i]; i++)
            th_strbuf_printf(out, "%s`\"%s\"`%s", i > 0 ? ", " : " (", f->words[i],
                             f->words[i + 1] ? "" : ")");
        th_strbuf_add(out, " | ");
        put_default(f, out);
        th_strbuf_add(out, " |\n");
    }
}

TEST(the_page_shows_the_tables)
{
    char path[2048], mark[100];
    th_error e = {"", ""};
    const char *top = getenv("srcdir");
    th_strbuf page = TH_STRBUF_INIT, made = TH_STRBUF_INIT;
    snprintf(path, sizeof path, "%s/docs/formats.md", top ? top : ".");
    CU_ASSERT_EQUAL_FATAL(th_text_file_read(path, 1 << 20, &page, &e), 0);
    const char *at = page.text;
    for (int t = 0; t < N_TABLES; t++) {
        th_strbuf table = TH_STRBUF_INIT;
        snprintf(mark, sizeof mark, "<!-- fields: %s -->\n", tables[t].name);
        const char *begin = strstr(at, mark);
        const char *end = begin ? strstr(begin, "\n<!-- end of fields -->") : NULL;
        if (!end) {
            TAP_ASSERT_TEXT("no mark in docs/formats.md", mark);
            continue;
        }
        begin += strlen(mark);
        explain(tables[t].fields, &table);
        th_strbuf_add_bytes(&made, at, (size_t)(begin - at));
        th_strbuf_add(&made, table.text);
        at = end + 1;
        th_strbuf_clear(&table);
    }
    th_strbuf_add(&made, at);
    if (getenv("THARSIS_WRITE_DOCS")) {
        FILE *f = fopen(path, "w");
        fputs(made.text, f);
        fclose(f);
    } else if (strcmp(made.text, page.text) != 0) {
        size_t i = 0;
        while (made.text[i] == page.text[i])
            i++;
        while (i > 0 && made.text[i - 1] != '\n')
            i--;
        printf("# page:  %.200s\n# table: %.200s\n", page.text + i, made.text + i);
        CU_FAIL("docs/formats.md differs: THARSIS_WRITE_DOCS=1 tests/unit/base/test_fields");
    }
    th_strbuf_clear(&page);
    th_strbuf_clear(&made);
}

TAP_MAIN("fields")
