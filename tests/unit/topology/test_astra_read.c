/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/alloc.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/refused.h"
#include "tests/unit/astra_help.h"
#include "tests/unit/tap.h"
#include "topology/routing/route.h"

#define YML(topology, npus, bandwidth, latency)                                                    \
    "topology: [ " topology " ] # dimension 0 first\n"                                             \
    "npus_count: [ " npus " ]\n"                                                                   \
    "bandwidth: [ " bandwidth " ]  # GB/s\n"                                                       \
    "latency: [ " latency " ]  # ns\n"
#define TWO_DIMS YML("Ring, Switch", "4, 8", "50.0, 25.5", "500.0, 1000.25")
#define ONE_DIM  YML("Ring", "4", "50", "500")
/* The least that is needed; more is put in front, on line 2. */
#define JSON(more)                                                                                 \
    "{\n" more "\n\"preferred-dataset-splits\": 4,\n"                                              \
    "\"collective-optimization\": \"localBWAware\",\n\"local-mem-bw\": 1600\n}\n"

static th_system *read_or_tell(const char *network, const char *parameters)
{
    th_error e = {"", ""};
    th_system *s = astra_system(network, parameters, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    return s;
}

/* ---- what is read ---- */

TEST(reads_dimensions)
{
    th_system *s = read_or_tell(TWO_DIMS, JSON(""));
    TAP_ASSERT_TEXT(s->name, "astra_ring4_switch8");
    CU_ASSERT_EQUAL(s->astra->n_dims, 2);
    CU_ASSERT_EQUAL(s->astra->dims[0].kind, TH_TOPOLOGY_DIM_RING);
    CU_ASSERT_EQUAL(s->astra->dims[0].size, 4);
    CU_ASSERT_EQUAL(s->astra->dims[1].kind, TH_TOPOLOGY_DIM_SWITCH);
    CU_ASSERT_EQUAL(s->astra->dims[1].size, 8);
    CU_ASSERT_EQUAL(s->astra->dims[1].gib_per_s, 25.5);
    CU_ASSERT_EQUAL(s->astra->dims[1].latency_ns, 1000.25);
    th_system_free(s);
}

TEST(reads_parameters)
{
    th_system *s = read_or_tell(
        TWO_DIMS, JSON("\"endpoint-delay\": 12, \"active-chunks-per-dimension\": 3,"
                       "\"all-reduce-implementation\": [\"ring\", \"halvingDoubling\"],"
                       "\"all-to-all-implementation\": [\"direct\", \"direct16\"],"
                       "\"scheduling-policy\": \"FIFO\", \"boost-mode\": 1, \"L\": 500,"
                       "\"roofline-enabled\": 1, \"peak-perf\": 200, \"model-shared-bus\": 0,"));
    const th_astra *a = s->astra;
    CU_ASSERT_EQUAL(a->endpoint_delay_ns, 12);
    CU_ASSERT_EQUAL(a->active_chunks, 3);
    CU_ASSERT_EQUAL(a->splits, 4);
    CU_ASSERT_EQUAL(a->local_mem_gb_per_s, 1600);
    CU_ASSERT_TRUE(a->is_local_bw_aware);
    CU_ASSERT_EQUAL(a->implementation[TH_ASTRA_ALL_REDUCE][0], TH_ASTRA_RING);
    CU_ASSERT_EQUAL(a->implementation[TH_ASTRA_ALL_REDUCE][1], TH_ASTRA_HALVING_DOUBLING);
    CU_ASSERT_EQUAL(a->implementation[TH_ASTRA_ALL_TO_ALL][0], TH_ASTRA_DIRECT);
    CU_ASSERT_EQUAL(a->implementation[TH_ASTRA_ALL_TO_ALL][1], TH_ASTRA_DIRECT_WINDOW);
    CU_ASSERT_EQUAL(a->implementation[TH_ASTRA_ALL_GATHER][0], TH_ASTRA_NONE);
    /* 200e12 operations at 1 GHz are 100,000 multiply-accumulates a cycle */
    CU_ASSERT_EQUAL(s->designs[0].params[1].number, 100000);
    CU_ASSERT_EQUAL(s->nodes[31].a.dram_bits_per_s, 12800000000000);
    th_system_free(s);
}

/* What ASTRA-sim takes where a key is absent. */
TEST(has_defaults)
{
    th_system *s = read_or_tell(ONE_DIM, JSON(""));
    CU_ASSERT_EQUAL(s->astra->endpoint_delay_ns, 10);
    CU_ASSERT_EQUAL(s->astra->active_chunks, 1);
    CU_ASSERT_EQUAL(s->designs[0].params[1].number, 50000);
    th_system_free(s);
}

/* ---- the graph ---- */

static void expect_way(const th_system *s, int from, int to, int hops, th_time latency_ps,
                       int64_t bits_per_s)
{
    th_route_summary r = {0};
    CU_ASSERT_EQUAL(th_route_summarize(s, from, to, &r), 0);
    CU_ASSERT_EQUAL(r.n_links, hops);
    CU_ASSERT_EQUAL(r.latency_ps, latency_ps);
    CU_ASSERT_EQUAL(r.bits_per_s, bits_per_s);
}

/* Accelerator 6 is (2, 1): two steps along the ring of four, then through the switch of column 2.
 * 25.5 GB/s are 25.5 * 2^33 bits/s. */
TEST(makes_the_graph)
{
    const int64_t gib = 1LL << 33;
    th_system *s = read_or_tell(TWO_DIMS, JSON(""));
    CU_ASSERT_EQUAL(s->n_accels, 32);
    CU_ASSERT_EQUAL(s->n_nodes, 32 + 4);
    CU_ASSERT_EQUAL(s->n_links, 2 * (8 * 4 + 4 * 8));
    CU_ASSERT_EQUAL(s->n_dims, 2);
    expect_way(s, 0, 1, 1, 500000, 50 * gib);
    expect_way(s, 0, 3, 1, 500000, 50 * gib);
    expect_way(s, 0, 4, 2, 2000500, 51 * gib / 2);
    expect_way(s, 0, 6, 4, 3000500, 51 * gib / 2);
    th_system_free(s);
}

TEST(two_share_one_cable)
{
    th_system *s = read_or_tell(YML("Ring, FullyConnected", "2, 3", "1, 2", "0, 7"), JSON(""));
    CU_ASSERT_EQUAL(s->n_links, 2 * (3 * 1 + 2 * 3));
    expect_way(s, 1, 0, 1, 0, 1LL << 33);
    expect_way(s, 5, 1, 1, 7000, 2LL << 33);
    th_system_free(s);
}

/* ---- errors ---- */

static int read_network(const char *text, th_error *e)
{
    auto_system *s = astra_system(text, JSON(""), e);
    return s ? 0 : -1;
}

static int read_parameters(const char *text, th_error *e)
{
    auto_system *s = astra_system(ONE_DIM, text, e);
    return s ? 0 : -1;
}

static int read_parameters_of_two(const char *text, th_error *e)
{
    auto_system *s = astra_system(TWO_DIMS, text, e);
    return s ? 0 : -1;
}

TEST(wrong_files_are_refused)
{
    static const refusing_reader readers[] = {{"network", read_network, NULL},
                                              {"parameters", read_parameters, NULL},
                                              {"parameters of two", read_parameters_of_two, NULL},
                                              {NULL, NULL, NULL}};
    assert_refusals("topology/astra_read.refused", readers);
}

TEST(refuses_long_files)
{
    char *spaces = th_alloc(TH_ASTRA_FILE_MAX + 2);
    memset(spaces, ' ', TH_ASTRA_FILE_MAX + 1);
    spaces[TH_ASTRA_FILE_MAX + 1] = '\0';
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(read_network(spaces, &e), -1);
    TAP_ASSERT_ERROR(e, "BASE-0326", "network: must be 262144 bytes at most");
    CU_ASSERT_EQUAL(read_parameters(spaces, &e), -1);
    TAP_ASSERT_ERROR(e, "BASE-0326", "system: must be 262144 bytes at most");
    th_free(spaces);
}

TEST(refuses_missing_files)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_system_read_astra("no.yml", "no.json", TH_LINKS_DEFAULT_MAX, &e));
    TAP_ASSERT_ERROR(e, "BASE-0031", "no.yml: cannot be opened: No such file or directory");
}

/* Deeply nested, and names of names: an error or a system, soon, and no memory lost. */
TEST(survives_nesting)
{
    enum { DEPTH = 50000 };
    char *text = th_alloc(2 * DEPTH + 64);
    th_error e;
    memset(text, '[', DEPTH);
    text[DEPTH] = '\0';
    CU_ASSERT_PTR_NULL(astra_system(text, JSON(""), &e));
    TAP_ASSERT_TEXT(e.id, "TOPO-0110");
    CU_ASSERT_PTR_NULL(astra_system(ONE_DIM, text, &e));
    TAP_ASSERT_TEXT(e.id, "TOPO-0130");
    th_free(text);
    CU_ASSERT_PTR_NULL(astra_system("a: &a [*a, *a]\n", JSON(""), &e));
    TAP_ASSERT_TEXT(e.id, "TOPO-0112");
}

static int read_two_dims(const void *unused, th_error *e)
{
    (void)unused;
    th_system *s = astra_system(TWO_DIMS, JSON("\"L\": 1,"), e);
    th_system_free(s);
    return s ? 0 : -1;
}

TEST(survives_lack_of_memory)
{
    CU_ASSERT_TRUE(fail_each_allocation(read_two_dims, NULL) > 10);
}

TAP_MAIN("astra_read")
