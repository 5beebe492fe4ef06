/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "topology/system.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/tap.h"

static int the_design = 0;

/* A valid accelerator of design 0. */
static th_accel some_accel(void)
{
    return (th_accel){.dram_bytes = 1 << 20,
                      .dram_bits_per_s = 3000,
                      .dram_latency_ps = 7,
                      .dram_burst_bytes = 64,
                      .vector_hz = 200,
                      .vector_elements_per_cycle = 5,
                      .designs = &the_design,
                      .n_designs = 1};
}

/* n accelerators a0, a1 ... of one design with one key, not connected. */
static th_system *new_system(int n)
{
    char name[] = "a0";
    th_accel a = some_accel();
    const th_param clock = {.key = "clock", .kind = TH_PARAM_TEXT, .text = "200MHz", .line = 4};
    th_system *s = th_system_new("sys", NULL);
    int design = th_system_add_design(s, "d", "tiled", "sys.cfg", 3, NULL);
    CU_ASSERT_EQUAL(design, 0);
    CU_ASSERT_EQUAL(th_system_add_param(s, design, &clock, NULL), 0);
    for (int i = 0; i < n; i++) {
        name[1] = (char)('0' + i);
        CU_ASSERT_EQUAL(th_system_add_node(s, name, TH_NODE_ACCEL, i / 2, NULL), i);
        CU_ASSERT_EQUAL(th_system_set_accel(s, i, &a, NULL), 0);
    }
    return s;
}

static void expect_finish_refuses(th_system *s, const char *id, const char *text)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_system_finish(s, &e), -1);
    TAP_ASSERT_ERROR(e, id, text);
    th_system_free(s);
}

/* Host h between a0 and a1; numbers of accelerators skip it. */
TEST(numbers_accelerators_and_hosts)
{
    th_accel a = some_accel();
    auto_system *s = new_system(1);
    int host = th_system_add_node(s, "h", TH_NODE_HOST, 0, NULL);
    int late = th_system_add_node(s, "late", TH_NODE_ACCEL, 3, NULL);
    CU_ASSERT_EQUAL(th_system_set_accel(s, late, &a, NULL), 0);
    CU_ASSERT_EQUAL(th_system_add_cable(s, 0, host, th_cable_symmetric(900, 5, true), NULL), 0);
    CU_ASSERT_EQUAL(th_system_add_cable(s, host, late, th_cable_symmetric(800, 6, false), NULL), 2);
    CU_ASSERT_EQUAL(th_system_finish(s, NULL), 0);
    CU_ASSERT_TRUE(s->n_accels == 2 && s->n_hosts == 1);
    CU_ASSERT_TRUE(s->accel_node[1] == late && s->host_node[0] == host);
    CU_ASSERT_TRUE(s->nodes[late].accel == 1 && s->nodes[host].accel == -1);
    CU_ASSERT_EQUAL(s->nodes[late].group, 3);
    CU_ASSERT_TRUE(s->nodes[host].forwards);
    CU_ASSERT_EQUAL(th_system_find_node(s, "late"), late);
    CU_ASSERT_EQUAL(th_system_find_node(s, "nobody"), -1);
}

TEST(cables_are_two_links_on_one_or_two_media)
{
    auto_system *s = new_system(3);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(900, 5, true), NULL);
    th_system_add_cable(s, 1, 2, th_cable_symmetric(800, 6, false), NULL);
    CU_ASSERT_TRUE(s->n_links == 4 && s->n_media == 3);
    CU_ASSERT_NOT_EQUAL(s->links[0].medium, s->links[1].medium);
    CU_ASSERT_EQUAL(s->links[2].medium, s->links[3].medium);
    CU_ASSERT_EQUAL(s->media[s->links[3].medium].bits_per_s, 800);
    CU_ASSERT_TRUE(s->links[3].from == 2 && s->links[3].to == 1 && s->links[3].latency_ps == 6);
}

/* Two cables a0 - a1, and a node a0_a1: link a0_a1 -> a2 and a0 -> a1_a2 would both be a0_a1_a2. */
TEST(link_names_are_unique)
{
    th_accel a = some_accel();
    auto_system *s = new_system(3);
    int left = th_system_add_node(s, "a0_a1", TH_NODE_SWITCH, 0, NULL);
    int right = th_system_add_node(s, "a1_a2", TH_NODE_SWITCH, 0, NULL);
    th_system_set_accel(s, 0, &a, NULL);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(900, 5, true), NULL);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(900, 5, true), NULL);
    th_system_add_cable(s, left, 2, th_cable_symmetric(900, 5, true), NULL);
    th_system_add_cable(s, 0, right, th_cable_symmetric(900, 5, true), NULL);
    th_system_add_cable(s, 1, 2, th_cable_symmetric(900, 5, true), NULL);
    CU_ASSERT_EQUAL(th_system_find_link(s, "a0_a1"), -1);
    CU_ASSERT_EQUAL(th_system_finish(s, NULL), 0);
    static const char *const expected[] = {"a0_a1",    "a1_a0",    "a0_a1.1",    "a1_a0.1",
                                           "a0_a1_a2", "a2_a0_a1", "a0_a1_a2.1", "a1_a2_a0",
                                           "a1_a2",    "a2_a1"};
    for (int i = 0; i < s->n_links; i++) {
        TAP_ASSERT_TEXT(s->links[i].name, expected[i]);
        CU_ASSERT_EQUAL(th_system_find_link(s, expected[i]), i);
    }
    CU_ASSERT_EQUAL(th_system_find_link(s, "a0_a2"), -1);
}

TEST(copies_accelerators_with_their_designs)
{
    auto_system *from = new_system(2), *to = th_system_new("copy", NULL);
    CU_ASSERT_EQUAL(th_system_add_cable(from, 0, 1, th_cable_symmetric(900, 5, true), NULL), 0);
    CU_ASSERT_EQUAL(th_system_finish(from, NULL), 0);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(th_system_add_node(to, i ? "y" : "x", TH_NODE_ACCEL, 0, NULL), i);
        CU_ASSERT_EQUAL(th_system_copy_accel(to, i, from, 1, NULL), 0);
    }
    CU_ASSERT_EQUAL(to->n_designs, 1);
    TAP_ASSERT_TEXT(to->designs[0].type, "tiled");
    TAP_ASSERT_TEXT(to->designs[0].file, "sys.cfg");
    TAP_ASSERT_TEXT(to->designs[0].params[0].text, "200MHz");
    CU_ASSERT_EQUAL(to->designs[0].params[0].line, 4);
    CU_ASSERT_EQUAL(to->nodes[1].a.dram_burst_bytes, 64);
    CU_ASSERT_EQUAL(to->nodes[1].a.designs[0], 0);
}

TEST(refuses_nodes)
{
    th_error e = {"", ""};
    auto_system *s = new_system(1);
    CU_ASSERT_EQUAL(th_system_add_node(s, "a*", TH_NODE_HOST, 0, &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0001",
                     "node \"a*\": a name must be made of letters, digits and _ - . :");
    CU_ASSERT_EQUAL(th_system_add_node(s, "a0", TH_NODE_HOST, 0, &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0002", "node \"a0\": the name is taken; names must be unique");
    CU_ASSERT_EQUAL(s->n_nodes, 1);
}

TEST(refuses_too_many_nodes)
{
    enum { MAX_NODES = 1 << 20 };
    th_error e = {"", ""};
    auto_system *s = th_system_new("sys", NULL);
    s->n_nodes = MAX_NODES; /* pretend: the names alone would take 16 MiB */
    CU_ASSERT_EQUAL(th_system_add_node(s, "more", TH_NODE_HOST, 0, &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0003", "node \"more\": a system has at most 1048576 nodes");
    s->n_nodes = 0;
}

TEST(refuses_links)
{
    th_error e = {"", ""};
    auto_system *s = new_system(2);
    CU_ASSERT_EQUAL(th_system_add_cable(s, 0, 1, th_cable_symmetric(0, 5, true), &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0004", "a bandwidth of 0 bits/s: must be from 1 bit/s to 1 Pbit/s");
    CU_ASSERT_EQUAL(th_system_add_cable(s, 0, 1, th_cable_symmetric(1000000000000001, 5, true), &e),
                    -1);
    TAP_ASSERT_TEXT(e.text,
                    "a bandwidth of 1000000000000001 bits/s: must be from 1 bit/s to 1 Pbit/s");
    CU_ASSERT_EQUAL(th_system_add_cable(s, 0, 1, th_cable_symmetric(1000000000000000, 5, true), &e),
                    0);
    s->n_links = s->n_media = 0;
    CU_ASSERT_EQUAL(th_system_add_cable(s, 1, 1, th_cable_symmetric(900, 5, true), &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0005", "node \"a1\" is linked to itself: must be two nodes");
    CU_ASSERT_EQUAL(
        th_system_add_cable(s, 0, 1, th_cable_symmetric(900, 1001 * TH_PS_PER_S, true), &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0006", "link from \"a0\" to \"a1\": latency must be from 0 to 1000s");
    CU_ASSERT_TRUE(s->n_links == 0 && s->n_media == 0);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(900, 5, true), NULL);
    s->n_links = TH_LINKS_DEFAULT_MAX; /* pretend */
    CU_ASSERT_EQUAL(th_system_add_link(s, 0, 1, 0, 5, &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0016",
                     "link from \"a0\" to \"a1\": a system has at most 2097152 links, unless "
                     "-max_links allows more (16777216 at most)");
    s->max_links = 2;
    s->n_links = 1;
    CU_ASSERT_EQUAL(th_system_add_link(s, 0, 1, 0, 5, &e), 1);
    CU_ASSERT_EQUAL(th_system_add_link(s, 0, 1, 0, 5, &e), -1);
    s->n_links = 2;
}

TEST(refuses_designs)
{
    th_error e = {"", ""};
    auto_system *s = new_system(1);
    CU_ASSERT_EQUAL(th_system_add_design(s, "", "tiled", NULL, 0, &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0007",
                     "design \"\": a name must be made of letters, digits and _ - . :");
    CU_ASSERT_EQUAL(th_system_add_design(s, "d", "tiled", NULL, 0, &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0008", "design \"d\": the name is taken; names must be unique");
}

TEST(finish_refuses_accelerators_that_lack_something)
{
    th_system *s = new_system(1);
    s->nodes[0].a.n_designs = 0;
    expect_finish_refuses(s, "TOPO-0009", "system \"sys\": accelerator \"a0\" has no design");
    s = new_system(2);
    s->nodes[1].a.dram_bytes = 0;
    expect_finish_refuses(s, "TOPO-0010",
                          "system \"sys\": accelerator \"a1\": capacity, bandwidth and burst of "
                          "the DRAM must be greater than 0, its latency at least 0");
    s = new_system(1);
    s->nodes[0].a.vector_hz = 0;
    expect_finish_refuses(s, "TOPO-0011",
                          "system \"sys\": accelerator \"a0\": clock and elements per cycle of the "
                          "vector unit must be greater than 0");
    expect_finish_refuses(new_system(0), "TOPO-0012",
                          "system \"sys\": no accelerator: must have at least one");
}

TEST(finish_names_a_pair_that_is_apart)
{
    th_system *s = new_system(3);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(900, 5, true), NULL);
    expect_finish_refuses(s, "TOPO-0013", "system \"sys\": no path from \"a0\" to \"a2\"");
    s = new_system(1); /* a host that can send and not be reached */
    int host = th_system_add_node(s, "h", TH_NODE_HOST, 0, NULL);
    th_system_add_link(s, host, 0, th_system_add_medium(s, 900, NULL), 5, NULL);
    expect_finish_refuses(s, "TOPO-0013", "system \"sys\": no path from \"a0\" to \"h\"");
}

/* A system whose last two cables are parallel, and a copy of its accelerator. */
static int make_system(const void *unused, th_error *e)
{
    (void)unused;
    th_accel a = some_accel();
    const th_param p = {.key = "clock", .kind = TH_PARAM_TEXT, .text = "1GHz"};
    th_cable cable = th_cable_symmetric(900, 5, true);
    th_system *s = th_system_new("sys", e), *t = s ? th_system_new("copy", e) : NULL;
    int done = t && th_system_add_design(s, "d", "tiled", "f", 1, e) >= 0 &&
               th_system_add_param(s, 0, &p, e) >= 0 && th_system_add_param(s, 0, &p, e) >= 0 &&
               th_system_add_node(s, "x", TH_NODE_ACCEL, 0, e) >= 0 &&
               th_system_add_node(s, "y", TH_NODE_ACCEL, 0, e) >= 0 &&
               th_system_set_accel(s, 0, &a, e) == 0 && th_system_set_accel(s, 1, &a, e) == 0 &&
               th_system_add_cable(s, 0, 1, cable, e) >= 0 &&
               th_system_add_cable(s, 0, 1, cable, e) >= 0 && th_system_finish(s, e) == 0 &&
               th_system_add_node(t, "z", TH_NODE_ACCEL, 0, e) >= 0 &&
               th_system_copy_accel(t, 0, s, 1, e) == 0;
    if (t && !done)
        CU_ASSERT_EQUAL(t->n_designs, 0); /* a copy that fails leaves no design behind */
    th_system_free(s);
    th_system_free(t);
    return done ? 0 : -1;
}

TEST(survives_every_failing_allocation)
{
    CU_ASSERT_TRUE(fail_each_allocation(make_system, NULL) > 20);
}

TAP_MAIN("system")
