/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "topology/generate/generate.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/refused.h"
#include "tests/unit/topology_help.h"

static th_topology_options cables(void)
{
    return (th_topology_options){.bits_per_s = {500},
                                 .latency_ps = {3},
                                 .n_bandwidths = 1,
                                 .n_latencies = 1,
                                 .host_latency_ps = -1};
}

static th_system *create2(const char *type, int n_dims, int x, int y)
{
    th_topology_options o = cables();
    o.n_dims = n_dims;
    o.dims[0] = x;
    o.dims[1] = y;
    return create(type, &o);
}

static void expect_sizes(const th_system *s, int n_accels, int n_nodes, int n_cables, int longest,
                         int line)
{
    int right = s->n_accels == n_accels && s->n_nodes == n_nodes && s->n_links == 2 * n_cables &&
                s->n_media == 2 * n_cables && diameter(s) == longest;
    CU_assertImplementation(right, (unsigned)line, "sizes", __FILE__, "", CU_FALSE);
}

TEST(has_a_table_of_types)
{
    static const char *const names[] = {
        "line",    "ring",   "mesh",       "torus",   "hypercube", "fully_connected",
        "star",    "switch", "tree",       "fattree", "dragonfly", "pcie_tree",
        "islands", "rails",  "composition"};
    enum { N = sizeof names / sizeof *names };
    for (int i = 0; i < N; i++) {
        TAP_ASSERT_TEXT(th_topology_types[i]->name, names[i]);
        CU_ASSERT_PTR_EQUAL(th_topology_find(names[i]), th_topology_types[i]);
    }
    CU_ASSERT_PTR_NULL(th_topology_types[N]);
    CU_ASSERT_PTR_NULL(th_topology_find("rin"));
}

/* Cables: a ring of n has n, but 1 of two and none of one; the farthest is n / 2 away. */
TEST(makes_rings)
{
    static const int expected[][3] = {{1, 0, 0}, {2, 1, 1}, {3, 3, 1}, {7, 7, 3}, {8, 8, 4}};
    for (int i = 0; i < 5; i++) {
        auto_system *s = create2("ring", 1, expected[i][0], 0);
        expect_sizes(s, expected[i][0], expected[i][0], expected[i][1], expected[i][2], __LINE__);
    }
}

/* x * y nodes: mesh (x - 1) * y + x * (y - 1) cables, torus 2 * x * y (both extents above 2). */
TEST(makes_meshes_and_tori)
{
    auto_system *s = create2("mesh", 2, 4, 3);
    expect_sizes(s, 12, 12, 3 * 3 + 4 * 2, 5, __LINE__);
    CU_ASSERT_TRUE(s->n_dims == 2 && s->dims[0].size == 4 && s->dims[1].size == 3 &&
                   s->dims[0].kind == TH_TOPOLOGY_DIM_LINE);
    CU_ASSERT_TRUE(th_system_find_link(s, "0_1") >= 0 && th_system_find_link(s, "4_0") >= 0);
    CU_ASSERT_TRUE(th_system_find_link(s, "3_4") < 0 && th_system_find_link(s, "3_0") < 0);
    th_system_free(s);
    s = create2("torus", 2, 4, 3);
    expect_sizes(s, 12, 12, 24, 2 + 1, __LINE__);
    CU_ASSERT_TRUE(s->dims[1].kind == TH_TOPOLOGY_DIM_RING && th_system_find_link(s, "3_0") >= 0 &&
                   th_system_find_link(s, "8_0") >= 0);
    th_system_free(s);
    s = create2("torus", 2, 2, 5); /* a dimension of two closes once: 5 + 10 */
    expect_sizes(s, 10, 10, 15, 1 + 2, __LINE__);
}

/* 3 x 2 x 4 x 2: cables per dimension 2 * 16 + 1 * 24 + 3 * 12 + 1 * 24 = 116; diameter 2 + 1 + 3 +
 * 1. */
TEST(makes_meshes_of_many_dimensions)
{
    th_topology_options o = cables();
    static const int dims[] = {3, 2, 4, 2};
    o.n_dims = 4;
    memcpy(o.dims, dims, sizeof dims);
    auto_system *s = create("mesh", &o);
    expect_sizes(s, 48, 48, 116, 7, __LINE__);
}

TEST(makes_cliques_and_stars)
{
    auto_system *s = create2("fully_connected", 1, 6, 0);
    expect_sizes(s, 6, 6, 15, 1, __LINE__);
    th_system_free(s);
    s = create2("star", 1, 6, 0);
    expect_sizes(s, 6, 7, 6, 2, __LINE__);
    CU_ASSERT_EQUAL(s->nodes[6].kind, TH_NODE_SWITCH);
}

/* Arity 3, depth 2: 9 leaves, 3 + 1 switches, 9 + 3 cables; up two, down two. */
TEST(makes_trees)
{
    auto_system *s = create2("tree", 2, 3, 2);
    expect_sizes(s, 9, 13, 12, 4, __LINE__);
    CU_ASSERT_TRUE(s->nodes[2].group == 0 && s->nodes[3].group == 1 && s->nodes[8].group == 2);
    TAP_ASSERT_TEXT(s->nodes[9].name, "s1.0");
    TAP_ASSERT_TEXT(s->nodes[12].name, "s2.0");
    CU_ASSERT_TRUE(th_system_find_link(s, "5_s1.1") >= 0 &&
                   th_system_find_link(s, "s2.0_s1.2") >= 0);
}

TEST(gives_every_accelerator_the_prototype)
{
    auto_system *s = create2("ring", 1, 3, 0);
    CU_ASSERT_EQUAL(s->n_designs, 1);
    for (int a = 0; a < 3; a++)
        CU_ASSERT_TRUE(s->nodes[a].a.dram_bytes == 77 && s->nodes[a].a.designs[0] == 0);
    TAP_ASSERT_TEXT(s->designs[0].name, "npu");
    TAP_ASSERT_TEXT(s->name, "sys");
}

/* The host is a neighbour of all, and no short cut. */
TEST(a_host_does_not_forward)
{
    th_topology_options o = cables();
    o.n_dims = 1;
    o.dims[0] = 8;
    o.with_host = true;
    o.host_bits_per_s = 40;
    o.host_latency_ps = 9;
    auto_system *s = create("fully_connected", &o);
    CU_ASSERT_TRUE(s->n_hosts == 1 && s->n_links == 56 + 16);
    th_system_free(s);
    s = create("ring", &o);
    th_route_summary r;
    CU_ASSERT_EQUAL(th_route_summarize(s, 0, 4, &r), 0);
    CU_ASSERT_TRUE(r.n_links == 4 && r.bits_per_s == 500 && r.latency_ps == 12);
    CU_ASSERT_EQUAL(th_route_summarize(s, s->host_node[0], 4, &r), 0);
    CU_ASSERT_TRUE(r.n_links == 1 && r.bits_per_s == 40 && r.latency_ps == 9);
    th_system_free(s);
    o.host_bits_per_s = 0;
    o.host_latency_ps = -1;
    o.n_dims = 2;
    o.dims[0] = o.dims[1] = 2;
    s = create("tree", &o); /* up two, down two, though the host would be in between */
    CU_ASSERT_EQUAL(diameter(s), 4);
    th_system_free(s);
    o.n_dims = 1;
    o.dims[0] = 8;
    s = create("star", &o);
    CU_ASSERT_EQUAL(th_route_summarize(s, 5, s->host_node[0], &r), 0);
    CU_ASSERT_TRUE(r.n_links == 1 && r.bits_per_s == 500 && r.latency_ps == 3);
}

TEST(half_duplex_cables_share_a_medium)
{
    th_topology_options o = cables();
    o.n_dims = 1;
    o.dims[0] = 5;
    o.half_duplex = true;
    auto_system *s = create("ring", &o);
    CU_ASSERT_TRUE(s->n_links == 10 && s->n_media == 5);
}

/* An option of the tests, by its name in generate.refused. */
static void set_option(th_topology_options *o, const char *name, double value)
{
    if (strcmp(name, "oversubscription") == 0)
        o->oversubscription = value;
    else if (strcmp(name, "bandwidths") == 0)
        o->n_bandwidths = (int)value;
    else if (strcmp(name, "latencies") == 0)
        o->n_latencies = (int)value;
    else if (strcmp(name, "switches_reduce") == 0)
        o->switches_reduce = true;
    else if (strcmp(name, "host") == 0)
        o->with_host = true;
    else if (strcmp(name, "island_options") == 0)
        o->has_island_options = true;
    else
        CU_FAIL("no such option");
}

/* TYPE DIM ... OPTION=VALUE ... */
static int generate(const char *text, th_error *e)
{
    char type[20], name[20];
    double value;
    int at, n;
    th_topology_options o = cables();
    CU_ASSERT_EQUAL_FATAL(sscanf(text, "%19s%n", type, &at), 1);
    for (; sscanf(text + at, "%d%n", &o.dims[o.n_dims], &n) == 1; at += n)
        o.n_dims++;
    for (; sscanf(text + at, " %19[^=]=%lf%n", name, &value, &n) == 2; at += n)
        set_option(&o, name, value);
    CU_ASSERT_EQUAL(text[at], '\0');
    auto_system *p = new_prototype();
    auto_system *s = th_topology_create("sys", th_topology_find(type), &o, p, e);
    return s ? 0 : -1;
}

TEST(wrong_topologies_are_refused)
{
    static const refusing_reader readers[] = {{"type dims options", generate, NULL},
                                              {NULL, NULL, NULL}};
    assert_refusals("topology/generate.refused", readers);
}

/* A routing that goes by the shape of a generated system. */
TEST(some_routings_need_their_topology)
{
    static const struct {
        const char *routing, *type;
        int dims[3];
        const char *id, *text;
    } of[] = {
        {"up_down", "ring", {4}, "TOPO-0089", "system \"sys\": up_down needs a generated tree"},
        {"rails", "ring", {4}, "TOPO-0194", "system \"sys\": rails routing needs generated rails"},
        {"dragonfly",
         "ring",
         {4},
         "TOPO-0092",
         "system \"sys\": dragonfly routing needs a generated dragonfly"},
        {"dragonfly",
         "fattree",
         {2, 2},
         "TOPO-0092",
         "system \"sys\": dragonfly routing needs a generated dragonfly"},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        th_error e = {"", ""};
        th_topology_options o = options_of(of[i].dims);
        auto_system *p = new_prototype(), *s = th_system_new("sys", NULL);
        CU_ASSERT_EQUAL(th_topology_generate(s, th_topology_find(of[i].type), &o, NULL), 0);
        for (int a = 0; a < 4; a++)
            th_system_copy_accel(s, a, p, 0, NULL);
        s->routing = th_routing_find(of[i].routing);
        CU_ASSERT_EQUAL(th_system_finish(s, &e), -1);
        TAP_ASSERT_ERROR(e, of[i].id, of[i].text);
    }
}

static th_system *prototype;

static int make_topology(const void *type, th_error *e)
{
    const th_topology_type *t = type;
    th_topology_options o = cables();
    o.n_dims = t->min_dims;
    for (int d = 0; d < o.n_dims; d++)
        o.dims[d] = 2;
    o.with_host = !(t->takes & TH_HAS_HOSTS);
    th_system *s = th_topology_create("sys", t, &o, prototype, e);
    th_system_free(s);
    return s ? 0 : -1;
}

TEST(survives_every_failing_allocation)
{
    prototype = new_prototype();
    for (int i = 0; th_topology_types[i]; i++)
        CU_ASSERT_TRUE(fail_each_allocation(make_topology, th_topology_types[i]) > 10);
    th_system_free(prototype);
}

TAP_MAIN("generate")
