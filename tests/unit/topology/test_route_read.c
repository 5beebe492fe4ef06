/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "topology/files/system_read.h"
#include "base/strbuf.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/refused.h"
#include "tests/unit/topology_help.h"

/* Three lines; what follows stands on line 4. */
#define HEAD                                                                                       \
    "name = \"sys\";\ndesigns = ( { name = \"d\"; type = \"tiled\"; } );\naccelerators = ( { "     \
    "count = 4; dram = "                                                                           \
    "{ capacity = \"1GiB\"; bandwidth = \"16GB/s\"; }; vector = { clock = \"1GHz\"; "              \
    "elements_per_cycle = 1; }; "                                                                  \
    "designs = [\"d\"]; } );\n"
#define CABLE "bandwidth = \"8Gbps\"; latency = \"1us\"; "
/* One line: a ring 0 1 2 3. */
#define RING                                                                                       \
    "links = ( { between = [\"0\", \"1\"]; " CABLE "}, { between = [\"1\", \"2\"]; " CABLE "}, "   \
    "{ between = [\"2\", \"3\"]; " CABLE "}, { between = [\"3\", \"0\"]; " CABLE "} );\n"

static th_system *read_or_tell(const char *text)
{
    th_error e = {"", ""};
    th_system *s = th_system_read_text(text, "sys.cfg", &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    return s;
}

static void expect_link(const th_system *s, const char *name, int64_t bits_per_s,
                        th_time latency_ps)
{
    int link = th_system_find_link(s, name);
    CU_ASSERT_FATAL(link >= 0);
    CU_ASSERT_EQUAL(s->media[s->links[link].medium].bits_per_s, bits_per_s);
    CU_ASSERT_EQUAL(s->links[link].latency_ps, latency_ps);
}

/* ---- what is read ---- */

static const char *const with_routes = HEAD RING
    "segments = ( { name = \"cw0\"; bandwidth = \"80Gbps\"; latency = \"3ns\"; } );\n"
    "routes = ( { from = \"0\"; to = \"1\"; links = [\"0_3\", \"3_2\", \"cw0\", \"2_1\"]; },\n"
    "{ from = \"2\"; to = \"0\"; links = [\"cw0\"]; } );\n";

TEST(reads_segments_and_routes)
{
    th_system *s = read_or_tell(with_routes);
    CU_ASSERT_EQUAL(s->n_links, 9);
    expect_link(s, "cw0", 80000000000, 3000);
    TAP_ASSERT_TEXT(links_of(s, 0, 1), "0_3 3_2 cw0 2_1");
    TAP_ASSERT_TEXT(links_of(s, 2, 0), "cw0");
    TAP_ASSERT_TEXT(links_of(s, 1, 0), "1_0");
    TAP_ASSERT_TEXT(links_of(s, 0, 2), "0_1 1_2");
    th_system_free(s);
}

/* Of a generated ring too, whose links have names as any others. */
TEST(reads_routes_of_a_topology)
{
    th_system *s = read_or_tell(
        HEAD "topology = { type = \"ring\"; dims = [4]; " CABLE "};\n"
             "routes = ( { from = \"0\"; to = \"1\"; links = [\"0_3\", \"3_2\", \"2_1\"]; } );\n"
             "dead_links = [\"1_2\"];\n");
    TAP_ASSERT_TEXT(links_of(s, 0, 1), "0_3 3_2 2_1");
    TAP_ASSERT_TEXT(links_of(s, 1, 3), "1_0 0_3");
    TAP_ASSERT_TEXT(links_of(s, 3, 1), "3_0 0_1");
    TAP_ASSERT_TEXT(links_of(s, 1, 2), "1_0 0_3 3_2");
    th_system_free(s);
}

TEST(reads_links_that_differ_by_direction)
{
    th_system *s = read_or_tell(
        HEAD "switches = ( { name = \"sw\"; reduces = true; }, \"plain\" );\n"
             "links = ( { between = [\"0\", \"1\"]; bandwidth = [\"100Gbps\", \"25Gbps\"]; latency "
             "= \"1us\"; },\n"
             "{ center = \"sw\"; leaves = [\"0\", \"2\"]; bandwidth = [\"8Gbps\", \"9Gbps\"];\n"
             "latency = [\"1us\", \"2us\"]; },\n"
             "{ between = [\"2\", \"plain\"]; bandwidth = \"5Gbps\"; latency = [\"3us\", \"4us\"]; "
             "duplex = \"half\"; },\n"
             "{ from = \"1\"; to = \"3\"; bandwidth = \"7Gbps\"; latency = \"6us\"; },\n"
             "{ from = \"3\"; to = \"2\"; " CABLE "} );\n");
    CU_ASSERT_TRUE(s->n_links == 10 && s->n_media == 2 + 4 + 1 + 2);
    expect_link(s, "0_1", 100000000000, 1000000);
    expect_link(s, "1_0", 25000000000, 1000000);
    expect_link(s, "2_sw", 8000000000, 1000000);
    expect_link(s, "sw_2", 9000000000, 2000000);
    expect_link(s, "2_plain", 5000000000, 3000000);
    expect_link(s, "plain_2", 5000000000, 4000000);
    expect_link(s, "1_3", 7000000000, 6000000);
    CU_ASSERT_EQUAL(th_system_find_link(s, "3_1"), -1);
    TAP_ASSERT_TEXT(links_of(s, 3, 1), "3_2 2_sw sw_0 0_1");
    CU_ASSERT_TRUE(s->nodes[th_system_find_node(s, "sw")].reduces);
    CU_ASSERT_FALSE(s->nodes[th_system_find_node(s, "plain")].reduces);
    th_system_free(s);
}

TEST(reads_the_routing)
{
    th_system *s = read_or_tell(HEAD RING "routing = \"ecmp\";\n");
    TAP_ASSERT_TEXT(s->routing->name, "ecmp");
    th_system_free(s);
    s = read_or_tell(HEAD "topology = { type = \"ring\"; dims = [4]; " CABLE
                          "};\nrouting = \"shortest\";\n");
    TAP_ASSERT_TEXT(s->routing->name, "shortest");
    TAP_ASSERT_TEXT(links_of(s, 2, 0), "2_1 1_0"); /* dimension order goes over 3 */
    th_system_free(s);
}

/* Both directions of a cable; the ring is gone round the other way. */
TEST(reads_dead_cables)
{
    th_system *s = read_or_tell(
        HEAD "links = ( { between = [\"0\", \"1\"]; " CABLE "dead = true; },\n"
             "{ between = [\"1\", \"2\"]; " CABLE "}, { between = [\"2\", \"3\"]; " CABLE "},\n"
             "{ between = [\"3\", \"0\"]; " CABLE "},\n"
             "{ from = \"0\"; to = \"2\"; " CABLE "dead = true; } );\n");
    TAP_ASSERT_TEXT(links_of(s, 0, 1), "0_3 3_2 2_1");
    TAP_ASSERT_TEXT(links_of(s, 1, 0), "1_2 2_3 3_0");
    CU_ASSERT_TRUE(s->links[th_system_find_link(s, "0_2")].is_dead);
    th_system_free(s);
}

/* ---- messages ---- */

#define SEGMENT HEAD RING "segments = ( { name = \"seg\"; " CABLE "} );\n"

static int read_text(const char *text, th_error *e)
{
    auto_system *s = th_system_read_text(text, "sys.cfg", e);
    return s ? 0 : -1;
}

TEST(wrong_links_and_routes_are_refused)
{
    static const refusing_reader readers[] = {{"accelerators", read_text, HEAD},
                                              {"ring", read_text, HEAD RING},
                                              {"segment", read_text, SEGMENT},
                                              {NULL, NULL, NULL}};
    assert_refusals("topology/route_read.refused", readers);
}

/* ---- size and memory ---- */

/* A file of 2,000 segments and as many routes takes their number, not its square. */
TEST(reads_thousands_of_routes)
{
    enum { N = 2000 };
    th_strbuf b = TH_STRBUF_INIT;
    th_strbuf_add(&b, HEAD RING "switches = (");
    for (int i = 0; i < N; i++)
        th_strbuf_printf(&b, "%s\"s%d\"", i ? ", " : "", i);
    th_strbuf_add(&b, ");\nsegments = (");
    for (int i = 0; i < N; i++)
        th_strbuf_printf(&b, "%s{ name = \"g%d\"; " CABLE "}", i ? ", " : "", i);
    th_strbuf_add(&b, ");\nroutes = (");
    for (int i = 0; i < N; i++)
        th_strbuf_printf(&b, "%s{ from = \"1\"; to = \"s%d\"; links = [\"g%d\", \"g%d\"]; }",
                         i ? ", " : "", i, i, (i + 1) % N);
    th_strbuf_add(&b, ");\n");
    CU_ASSERT_FALSE_FATAL(b.failed);
    th_system *s = read_or_tell(b.text);
    TAP_ASSERT_TEXT(links_of(s, 1, th_system_find_node(s, "s1999")), "g1999 g0");
    th_system_free(s);
    th_strbuf_clear(&b);
}

static int read_routes(const void *text, th_error *e)
{
    return read_text(text, e);
}

TEST(survives_every_failing_allocation)
{
    CU_ASSERT_TRUE(fail_each_allocation(read_routes, with_routes) > 40);
}

TAP_MAIN("route_read")
