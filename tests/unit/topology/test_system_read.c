/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "topology/files/system_read.h"
#include "base/strbuf.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/refused.h"
#include "tests/unit/tap.h"
#include "topology/routing/route.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY "dram = { capacity = \"1GiB\"; bandwidth = \"16GB/s\"; }; "
#define VECTOR "vector = { clock = \"200MHz\"; elements_per_cycle = 64; }; "
#define ACCEL  MEMORY VECTOR "designs = [\"d\"]; "
#define CABLE  "bandwidth = \"8Gbps\"; latency = \"1us\"; "
/* Two lines; what follows stands on line 3. */
#define HEAD                                                                                       \
    "name = \"sys\";\ndesigns = ( { name = \"d\"; type = \"tiled\"; clock = \"200MHz\"; tile_k = " \
    "8; } );\n"
#define ONE "accelerators = ( { " ACCEL "} );\n"
#define TWO "accelerators = ( { count = 2; " ACCEL "} );\n"

static th_system *read_or_tell(const char *text)
{
    th_error e = {"", ""};
    th_system *s = th_system_read_text(text, "sys.cfg", &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    return s;
}

static th_system *read_shipped(const char *name)
{
    char path[4096];
    th_error e = {"", ""};
    const char *root = getenv("srcdir");
    snprintf(path, sizeof path, "%s/topology/systems/%s.cfg", root ? root : ".", name);
    th_system *s = th_system_read(path, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    TAP_ASSERT_TEXT(s->name, name);
    return s;
}

/* ---- the systems that are shipped ---- */

/* A key of a design: its number or text. */
static const th_param *param_of(const th_system *s, const char *design, const char *key)
{
    static const th_param none = {.number = -1, .text = "none"};
    int d = th_system_find_design(s, design);
    for (int i = 0; d >= 0 && i < s->designs[d].n_params; i++)
        if (strcmp(s->designs[d].params[i].key, key) == 0)
            return &s->designs[d].params[i];
    return &none;
}

typedef struct design_key {
    const char *design, *key;
    double number;
} design_key;

static void expect_numbers(const th_system *s, const design_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const th_param *p = param_of(s, keys[i].design, keys[i].key);
        if (p->number != keys[i].number)
            TAP_ASSERT_TEXT(keys[i].key, keys[i].design);
        CU_ASSERT_TRUE(p->kind == TH_PARAM_NUMBER || p->kind == TH_PARAM_BOOL);
    }
}

/* Keys that all three F1 platforms have in common. */
static void expect_common_designs(const th_system *s)
{
    static const design_key keys[] = {
        {"tiled", "tile_h", 7},
        {"tiled", "tile_w", 14},
        {"tiled", "clip", 1},
        {"tiled", "slots", 2},
        {"tiled", "input_port", 40},
        {"tiled", "weight_port", 40},
        {"tiled", "output_port", 40},
        {"systolic_vec", "vec", 8},
        {"systolic_vec", "overlap", 1},
        {"systolic_vec", "slots", 2},
        {"systolic_vec", "input_port", 40},
        {"systolic_vec", "weight_port", 40},
        {"systolic_vec", "output_port", 40},
        {"winograd", "m", 4},
        {"winograd", "r", 3},
        {"winograd", "pn", 2},
        {"winograd", "pm", 8},
        {"winograd", "slots", 2},
        {"winograd", "input_port", 40},
        {"winograd", "weight_port", 40},
        {"winograd", "output_port", 40},
    };
    CU_ASSERT_EQUAL(s->n_designs, 3);
    expect_numbers(s, keys, sizeof keys / sizeof keys[0]);
    for (int d = 0; d < 3; d++) {
        TAP_ASSERT_TEXT(s->designs[d].type, s->designs[d].name);
        TAP_ASSERT_TEXT(param_of(s, s->designs[d].name, "clock")->text, "200MHz");
    }
    TAP_ASSERT_TEXT(param_of(s, "winograd", "weight_buffer")->text, "64KiB");
    CU_ASSERT_EQUAL(param_of(s, "tiled", "clip")->kind, TH_PARAM_BOOL);
}

static void expect_eight_accelerators(const th_system *s, int64_t dram_bytes)
{
    CU_ASSERT_TRUE(s->n_nodes == 9 && s->n_accels == 8 && s->n_hosts == 1 && s->n_dims == 0);
    TAP_ASSERT_TEXT(s->nodes[s->host_node[0]].name, "host");
    CU_ASSERT_TRUE(s->nodes[s->host_node[0]].forwards);
    for (int i = 0; i < 8; i++) {
        const char name[] = {(char)('0' + i), 0};
        const th_node *n = &s->nodes[s->accel_node[i]];
        TAP_ASSERT_TEXT(n->name, name);
        CU_ASSERT_EQUAL(n->group, i / 4);
        CU_ASSERT_EQUAL(n->a.dram_bytes, dram_bytes);
        CU_ASSERT_EQUAL(n->a.dram_bits_per_s, 128000000000); /* 16 GB/s */
        CU_ASSERT_EQUAL(n->a.dram_latency_ps, 100000);
        CU_ASSERT_EQUAL(n->a.dram_burst_bytes, 64);
        CU_ASSERT_EQUAL(n->a.vector_hz, 200000000);
        CU_ASSERT_EQUAL(n->a.vector_elements_per_cycle, 64);
        CU_ASSERT_EQUAL(n->a.n_designs, 3);
        for (int d = 0; d < n->a.n_designs; d++)
            CU_ASSERT_EQUAL(n->a.designs[d], d);
    }
}

/* 2 groups * 6 pairs * 2 links in the groups, 8 * 2 to the host, each on a medium of its own. */
static void expect_f1_links(const th_system *s)
{
    CU_ASSERT_TRUE(s->n_links == 40 && s->n_media == 40);
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 9; b++) {
            bool near = b == 8 || a / 4 == b / 4;
            th_route_summary r;
            CU_ASSERT_EQUAL(th_route_summarize(s, a, b, &r), 0);
            if (a == b)
                continue;
            CU_ASSERT_EQUAL(r.bits_per_s, near && b != 8 ? 8000000000 : 2000000000);
            CU_ASSERT_EQUAL(r.latency_ps, near ? 1000000 : 2000000);
            CU_ASSERT_EQUAL(r.n_links, near ? 1 : 2);
        }
    CU_ASSERT_TRUE(th_system_find_link(s, "0_3") >= 0 && th_system_find_link(s, "7_4") >= 0);
    CU_ASSERT_TRUE(th_system_find_link(s, "host_5") >= 0 && th_system_find_link(s, "3_4") < 0);
}

TEST(f1_16xlarge_is_pinned)
{
    static const design_key keys[] = {{"tiled", "tile_k", 64},
                                      {"tiled", "tile_c", 7},
                                      {"systolic_vec", "rows", 11},
                                      {"systolic_vec", "cols", 13}};
    th_system *s = read_shipped("f1_16xlarge");
    expect_eight_accelerators(s, 1073741824);
    expect_common_designs(s);
    expect_numbers(s, keys, 4);
    expect_f1_links(s);
    th_system_free(s);
}

TEST(f1_16xlarge_balanced_is_pinned)
{
    static const design_key keys[] = {{"tiled", "tile_k", 16},
                                      {"tiled", "tile_c", 18},
                                      {"systolic_vec", "rows", 12},
                                      {"systolic_vec", "cols", 12}};
    th_system *s = read_shipped("f1_16xlarge_balanced");
    expect_eight_accelerators(s, 1073741824);
    expect_common_designs(s);
    expect_numbers(s, keys, 4);
    expect_f1_links(s);
    th_system_free(s);
}

TEST(f1_16xlarge_small_is_pinned)
{
    static const design_key keys[] = {{"tiled", "tile_k", 64},
                                      {"tiled", "tile_c", 7},
                                      {"systolic_vec", "rows", 11},
                                      {"systolic_vec", "cols", 13}};
    th_system *s = read_shipped("f1_16xlarge_small");
    expect_eight_accelerators(s, 24 * 1048576);
    expect_common_designs(s);
    expect_numbers(s, keys, 4);
    expect_f1_links(s);
    th_system_free(s);
}

TEST(npu_v1_is_a_single_accelerator)
{
    static const design_key keys[] = {{"npu_v1", "macs_per_cycle", 16384},
                                      {"npu_v1", "efficiency", 0.8}};
    th_system *s = read_shipped("npu_v1");
    CU_ASSERT_TRUE(s->n_accels == 1 && s->n_nodes == 1 && s->n_links == 0);
    CU_ASSERT_EQUAL(s->nodes[0].a.dram_bytes, 17179869184);
    CU_ASSERT_EQUAL(s->nodes[0].a.dram_bits_per_s, 6400000000000);
    CU_ASSERT_EQUAL(s->nodes[0].a.vector_elements_per_cycle, 512);
    TAP_ASSERT_TEXT(s->designs[0].type, "roofline");
    expect_numbers(s, keys, 2);
    th_system_free(s);
}

TEST(ring8_is_generated)
{
    th_system *s = read_shipped("ring8");
    th_route_summary r;
    CU_ASSERT_TRUE(s->n_accels == 8 && s->n_hosts == 1 && s->n_links == 16 + 16 && s->n_dims == 1);
    CU_ASSERT_EQUAL(th_route_summarize(s, 0, 3, &r), 0);
    CU_ASSERT_TRUE(r.bits_per_s == 100000000000 && r.latency_ps == 1500000 && r.n_links == 3);
    CU_ASSERT_EQUAL(th_route_summarize(s, s->host_node[0], 3, &r), 0);
    CU_ASSERT_TRUE(r.bits_per_s == 64000000000 && r.latency_ps == 1000000 && r.n_links == 1);
    CU_ASSERT_TRUE(th_system_find_link(s, "3_4") >= 0);
    th_system_free(s);
}

/* 4 * 8 cables inside, 32 cards, 32 to the host. Inside an island two links, and so to another
 * one. */
TEST(islands_4x8_is_generated)
{
    th_system *s = read_shipped("islands_4x8");
    th_route_summary r;
    CU_ASSERT_TRUE(s->n_accels == 32 && s->n_nodes == 32 + 5 + 1 && s->n_links == 2 * 96);
    CU_ASSERT_TRUE(s->nodes[32].reduces && !s->nodes[36].reduces && s->nodes[31].group == 3);
    CU_ASSERT_TRUE(th_route_summarize(s, 8, 15, &r) == 0 && r.n_links == 2 &&
                   r.bits_per_s == 2400000000000);
    CU_ASSERT_TRUE(th_route_summarize(s, 8, 16, &r) == 0 && r.n_links == 2 &&
                   r.bits_per_s == 200000000000);
    th_system_free(s);
}

/* ---- what is read ---- */

TEST(reads_all_forms_of_links)
{
    th_system *s =
        read_or_tell(HEAD "accelerators = ( { count = 2; group = 5; " ACCEL
                          "}, { name = \"x\"; " ACCEL "}, { " ACCEL "} );\n"
                          "hosts = ( { name = \"h\"; forwards = false; }, \"g\" );\n"
                          "switches = ( \"sw\" );\n"
                          "links = ( { between = [\"0\", \"1\"]; " CABLE "duplex = \"half\"; },\n"
                          "{ all_pairs = [\"x\", \"0\", \"3\"]; " CABLE "},\n"
                          "{ center = \"sw\"; leaves = (\"h\", \"g\", \"0\"); " CABLE "} );\n");
    TAP_ASSERT_TEXT(s->nodes[3].name, "3");
    CU_ASSERT_TRUE(s->nodes[1].group == 5 && s->nodes[2].group == 0);
    CU_ASSERT_TRUE(s->n_hosts == 2 && !s->nodes[4].forwards && s->nodes[5].forwards);
    CU_ASSERT_EQUAL(s->nodes[6].kind, TH_NODE_SWITCH);
    CU_ASSERT_EQUAL(s->n_links, 2 + 6 + 6);
    CU_ASSERT_EQUAL(s->n_media, 1 + 6 + 6);
    CU_ASSERT_EQUAL(s->nodes[0].a.dram_burst_bytes, 1);
    CU_ASSERT_EQUAL(s->nodes[0].a.dram_latency_ps, 0);
    th_system_free(s);
}

/* Costs: of each accelerator; of a cable 7, half of it on either medium of a full-duplex one. */
TEST(reads_costs)
{
    th_system *s =
        read_or_tell(HEAD "accelerators = ( { names = [\"a\", \"b\"]; cost = 2500.5; " ACCEL
                          "}, { name = \"c\"; " ACCEL
                          "} );\nlinks = ( { between = [\"a\", \"b\"]; cost = 7; " CABLE "},\n"
                          "{ between = [\"b\", \"c\"]; duplex = \"half\"; cost = 5; " CABLE "},\n"
                          "{ from = \"a\"; to = \"c\"; cost = 3; " CABLE
                          "}, { from = \"c\"; to = \"a\"; " CABLE "} );");
    CU_ASSERT_TRUE(s->nodes[0].a.cost == 2500.5 && s->nodes[1].a.cost == 2500.5);
    CU_ASSERT_EQUAL(s->nodes[2].a.cost, 0);
    CU_ASSERT_EQUAL_FATAL(s->n_media, 5);
    CU_ASSERT_TRUE(s->media[0].cost == 3.5 && s->media[1].cost == 3.5);
    CU_ASSERT_TRUE(s->media[2].cost == 5 && s->media[3].cost == 3 && s->media[4].cost == 0);
    th_system_free(s);
    s = read_or_tell(HEAD "accelerators = ( { " ACCEL "} );\ntopology = { type = \"ring\"; "
                          "dims = [3]; cost = 10; " CABLE "host = { cost = 4; }; };");
    CU_ASSERT_EQUAL_FATAL(s->n_media, 12);
    CU_ASSERT_TRUE(s->media[0].cost == 5 && s->media[5].cost == 5 && s->media[6].cost == 2);
    th_system_free(s);
}

TEST(keeps_design_keys_with_type_and_line)
{
    th_system *s = read_or_tell(
        "name = \"sys\"; designs = (\n{ name = \"d\";\n type = \"odd\"; clock = \"1GHz\";\n"
        " ratio = 0.25; big = 9999999999L; on = true; } );\n"
        "accelerators = ( { " ACCEL "} );");
    const th_design_block *d = &s->designs[0];
    CU_ASSERT_TRUE(d->n_params == 4 && d->line == 2);
    TAP_ASSERT_TEXT(d->file, "sys.cfg");
    TAP_ASSERT_TEXT(d->params[0].key, "clock");
    CU_ASSERT_TRUE(d->params[0].kind == TH_PARAM_TEXT && d->params[0].line == 3);
    CU_ASSERT_TRUE(d->params[1].kind == TH_PARAM_NUMBER && d->params[1].number == 0.25 &&
                   d->params[1].line == 4);
    CU_ASSERT_EQUAL(d->params[2].number, 9999999999.0);
    CU_ASSERT_TRUE(d->params[3].kind == TH_PARAM_BOOL && d->params[3].number == 1);
    th_system_free(s);
}

TEST(describes_generated_accelerators)
{
    th_system *s = read_or_tell(
        HEAD "accelerators = ( { count = 3; " ACCEL "}, { group = 2; " ACCEL "} );\n"
             "topology = { type = \"mesh\"; dims = [2, 2]; " CABLE "duplex = \"half\"; };\n");
    CU_ASSERT_TRUE(s->n_accels == 4 && s->n_links == 8 && s->n_media == 4 && s->n_dims == 2);
    CU_ASSERT_TRUE(s->nodes[2].group == 0 && s->nodes[3].group == 2);
    th_system_free(s);
}

/* ---- messages ---- */

static int read_text(const char *text, th_error *e)
{
    auto_system *s = th_system_read_text(text, "sys.cfg", e);
    return s ? 0 : -1;
}

TEST(wrong_systems_are_refused)
{
    static const refusing_reader readers[] = {{"file", read_text, NULL},
                                              {"designs", read_text, HEAD},
                                              {"one accelerator", read_text, HEAD ONE},
                                              {"two accelerators", read_text, HEAD TWO},
                                              {NULL, NULL, NULL}};
    assert_refusals("topology/system_read.refused", readers);
}

/* Lists of bandwidths and latencies; dimensions with their own, over what the topology says for
 * all. */
TEST(reads_lists_and_compositions)
{
    th_route_summary r;
    th_system *s =
        read_or_tell(HEAD ONE "topology = { type = \"torus\"; dims = [3, 3]; latency = \"1us\";\n"
                              "bandwidth = [\"8Gbps\", \"2Gbps\"]; };");
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 1, &r) == 0 && r.bits_per_s == 8000000000);
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 3, &r) == 0 && r.bits_per_s == 2000000000 &&
                   r.latency_ps == 1000000);
    th_system_free(s);
    s = read_or_tell(HEAD ONE "topology = { type = \"composition\"; latency = [\"1us\", \"2us\"]; "
                              "bandwidth = \"5Gbps\";\n"
                              "dims = ( { type = \"line\"; size = 2; },\n"
                              "{ type = \"fully_connected\"; size = 3; bandwidth = \"4Gbps\"; "
                              "latency = \"7us\"; } ); };");
    CU_ASSERT_TRUE(s->n_accels == 6 && s->n_links == 2 * (3 + 2 * 3));
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 1, &r) == 0 && r.bits_per_s == 5000000000 &&
                   r.latency_ps == 1000000);
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 4, &r) == 0 && r.bits_per_s == 4000000000 &&
                   r.latency_ps == 7000000);
    th_system_free(s);
}

TEST(reads_fat_trees)
{
    static const char good[] = HEAD ONE
        "topology = { type = \"fattree\"; dims = [4, 2]; oversubscription = 2; " CABLE "};";
    th_system *s = read_or_tell(good);
    CU_ASSERT_TRUE(s->n_accels == 16 && s->n_nodes == 22 && s->n_links == 48);
    th_system_free(s);
}

TEST(reads_islands)
{
    th_system *s = read_or_tell(
        HEAD ONE "topology = { type = \"islands\"; dims = [3, 4]; island = \"fully_connected\";\n"
                 "nics = \"island\"; " CABLE "};");
    CU_ASSERT_TRUE(s->n_accels == 12 && s->n_nodes == 16 && s->n_links == 2 * (18 + 12 + 3));
    th_system_free(s);
    s = read_or_tell(
        HEAD ONE "topology = { type = \"islands\"; dims = [3, 4]; nics = \"accelerator\"; " CABLE
                 "};");
    CU_ASSERT_TRUE(s->n_nodes == 16 && s->n_links == 2 * (12 + 12));
    th_system_free(s);
}

/* ---- memory ---- */

/* Of texts that are read, and of some that are refused after some work. */
static int read_or_refuse(const void *text, th_error *e)
{
    return read_text(text, e) == 0 || !th_error_is_no_memory(e) ? 0 : -1;
}

TEST(survives_every_failing_allocation)
{
    static const char *const texts[] = {
        HEAD TWO "hosts = (\"h\"); links = ( { all_pairs = [\"0\", \"1\", \"h\"]; " CABLE "} );",
        HEAD TWO "topology = { type = \"ring\"; dims = [2]; host = {}; " CABLE "};",
        HEAD TWO "links = ( { center = \"0\"; leaves = [\"2\"]; " CABLE "} );",
        HEAD "accelerators = ( { " MEMORY VECTOR "designs = [\"e\"]; } );",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CU_ASSERT_TRUE(fail_each_allocation(read_or_refuse, texts[i]) > 10);
}

TAP_MAIN("system_read")
