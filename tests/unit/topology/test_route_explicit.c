/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "topology/routing/route.h"
#include "tests/unit/bare_system.h"
#include "tests/unit/topology_help.h"

static int add_segment(th_system *s, const char *name, int64_t bits_per_s, th_time latency_ps)
{
    return th_system_add_segment(s, name, th_system_add_medium(s, bits_per_s, NULL), latency_ps,
                                 NULL);
}

/* A ring of four; 0 to 1 is sent the long way round and over a slow segment; 1 to 0 goes as
 * ever. */
TEST(a_pair_takes_its_route)
{
    auto_system *s = new_chain(4);
    int last =
        th_system_add_cable(s, 3, 0, th_cable_symmetric(50, 5, true), NULL); /* 6: 3_0, 7: 0_3 */
    int slow = add_segment(s, "slow", 20, 100);
    CU_ASSERT_TRUE(last == 6 && slow == 8);
    CU_ASSERT_EQUAL(th_system_add_route(s, 0, 1, (int[]){7, slow, 5, 3}, 4, NULL), 0);
    finish_system(s);
    TAP_ASSERT_TEXT(links_of(s, 0, 1), "0_3 slow 3_2 2_1");
    TAP_ASSERT_TEXT(links_of(s, 1, 0), "1_0");
    TAP_ASSERT_TEXT(links_of(s, 0, 2), "0_1 1_2");
    th_route_summary r;
    CU_ASSERT_EQUAL(th_route_summarize(s, 0, 1, &r), 0);
    CU_ASSERT_TRUE(r.n_links == 4 && r.bits_per_s == 20 && r.latency_ps == 115);
    CU_ASSERT_EQUAL(th_system_find_link(s, "slow"), slow);
    TAP_ASSERT_TEXT(th_system_node_name(s, s->links[slow].from), "");
}

/* Three accelerators and no cable: all their pairs have routes over two segments. */
TEST(routes_of_segments_alone_connect)
{
    for (int n_pairs = 5; n_pairs <= 6; n_pairs++) {
        static const int pairs[6][2] = {{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {2, 1}};
        th_error e = {"", ""};
        auto_system *s = new_chain(3);
        s->n_links = s->n_media = 0; /* nobody has looked at them yet */
        int a = add_segment(s, "a", 50, 5), b = add_segment(s, "b", 40, 6);
        for (int i = 0; i < n_pairs; i++)
            CU_ASSERT_EQUAL(
                th_system_add_route(s, pairs[i][0], pairs[i][1], (int[]){a, b}, 1 + i % 2, NULL),
                0);
        CU_ASSERT_EQUAL(th_system_finish(s, &e), n_pairs == 6 ? 0 : -1);
        TAP_ASSERT_TEXT(e.text, n_pairs == 6 ? "" : "system \"sys\": no path from \"2\" to \"1\"");
        if (n_pairs == 6)
            TAP_ASSERT_TEXT(links_of(s, 1, 0), "a b");
    }
}

/* All of 60 x 59 pairs, each over a segment of its own. */
TEST(thousands_of_routes_are_found)
{
    enum { N = 60 };
    auto_system *s = new_chain(N);
    int n_wrong = 0, links[TH_ROUTE_MAX];
    char name[16];
    for (int i = 0; i < N * N; i++) {
        snprintf(name, sizeof name, "s%d", i);
        if (i / N != i % N)
            n_wrong += th_system_add_route(s, i / N, i % N, (int[]){add_segment(s, name, 1 + i, 0)},
                                           1, NULL);
    }
    finish_system(s);
    for (int i = 0; i < N * N; i++) {
        snprintf(name, sizeof name, "s%d", i);
        if (i / N != i % N)
            n_wrong +=
                th_route(s, i / N, i % N, links) != 1 || links[0] != th_system_find_link(s, name);
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
}

/* ---- refusals ---- */

static void expect_refusal(th_system *s, const int *links, int n, const char *id, const char *text)
{
    th_error e = {"", ""};
    CU_ASSERT_EQUAL(th_system_add_route(s, 0, 2, links, n, &e), -1);
    TAP_ASSERT_ERROR(e, id, text);
}

TEST(refuses_routes_that_do_not_lead_there)
{
    static int many[TH_ROUTE_MAX + 1];
    th_error e = {"", ""};
    auto_system *s = new_chain(5);
    int loop = th_system_add_cable(s, 1, 0, th_cable_symmetric(50, 5, true), NULL),
        seg = add_segment(s, "seg", 9, 9);
    expect_refusal(
        s, (int[]){0, 4}, 2, "TOPO-0053",
        "route from \"0\" to \"2\": link \"2_3\" begins at \"2\", but the route has come to \"1\"");
    expect_refusal(s, (int[]){0, seg}, 2, "TOPO-0057",
                   "route from \"0\" to \"2\": ends at node \"1\"");
    expect_refusal(s, (int[]){0, loop}, 2, "TOPO-0055",
                   "route from \"0\" to \"2\": has a loop: it comes twice to node \"0\"");
    expect_refusal(s, (int[]){0, 2, 4, 5}, 4, "TOPO-0055",
                   "route from \"0\" to \"2\": has a loop: it comes twice to node \"2\"");
    expect_refusal(s, (int[]){seg, 0, seg, 2}, 4, "TOPO-0052",
                   "route from \"0\" to \"2\": has a loop: it comes twice to segment \"seg\"");
    expect_refusal(s, NULL, 0, "TOPO-0060",
                   "route from \"0\" to \"2\": has 0 links, from 1 to 4096 are expected");
    expect_refusal(s, many, TH_ROUTE_MAX + 1, "TOPO-0060",
                   "route from \"0\" to \"2\": has 4097 links, from 1 to 4096 are expected");
    s->links[2].is_dead = true;
    expect_refusal(s, (int[]){0, 2}, 2, "TOPO-0056",
                   "route from \"0\" to \"2\": takes a dead link: \"1_2\"");
    s->links[2].is_dead = false;
    s->nodes[1].forwards = false;
    expect_refusal(s, (int[]){0, 2}, 2, "TOPO-0054",
                   "route from \"0\" to \"2\": passes through a node that does not forward: \"1\"");
    s->nodes[1].forwards = true;
    CU_ASSERT_EQUAL(th_system_add_route(s, 0, 2, (int[]){0, 2}, 2, NULL), 0);
    expect_refusal(s, (int[]){0, 2}, 2, "TOPO-0059",
                   "route from \"0\" to \"2\": the pair has one already");
    CU_ASSERT_EQUAL(th_system_add_route(s, 2, 2, (int[]){4}, 1, &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0058", "route from \"2\" to itself: two nodes are expected");
    finish_system(s);
    TAP_ASSERT_TEXT(links_of(s, 0, 2), "0_1 1_2");
}

TEST(refuses_segments)
{
    th_error e = {"", ""};
    auto_system *s = new_chain(2);
    int seg = add_segment(s, "seg", 9, 9);
    CU_ASSERT_EQUAL(th_system_add_segment(s, "a b", 0, 0, &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0050",
                     "segment \"a b\": a name must be made of letters, digits and _ - . :");
    CU_ASSERT_EQUAL(th_system_add_segment(s, "seg", 0, 0, &e), -1);
    TAP_ASSERT_ERROR(
        e, "TOPO-0051",
        "segment \"seg\": the name is taken; names must be unique among links and segments");
    CU_ASSERT_EQUAL(th_system_add_segment(s, "0_1", 0, 0, NULL), -1);
    CU_ASSERT_EQUAL(th_system_add_segment(s, "late", 0, 1001 * TH_PS_PER_S, NULL), -1);
    int named = add_segment(s, "1_0.1", 9, 9);
    th_system_add_cable(s, 1, 0, th_cable_symmetric(50, 5, true),
                        NULL); /* its name goes round the segment's */
    CU_ASSERT_EQUAL(s->n_links, 6);
    finish_system(s);
    CU_ASSERT_TRUE(th_system_find_link(s, "seg") == seg &&
                   th_system_find_link(s, "1_0.1") == named);
    CU_ASSERT_TRUE(th_system_find_link(s, "1_0.2") == 4 && th_system_find_link(s, "late") == -1);
}

/* ---- dead links ---- */

/* A ring of four as a torus of one dimension: dimension order goes 0 1 2; with 0_1 dead the other
 * way is taken, 1 to 0 being as before. Asked for by name, dimension order is refused. */
TEST(dead_links_are_gone_round)
{
    th_error e = {"", ""};
    for (int i = 0; i < 2; i++) {
        auto_system *s = new_chain(4);
        th_system_add_cable(s, 3, 0, th_cable_symmetric(50, 5, true), NULL);
        s->n_dims = 1;
        s->dims[0] = (th_shape_dim){TH_TOPOLOGY_DIM_RING, 4};
        s->links[0].is_dead = true;
        s->routing = i == 0 ? NULL : th_routing_find("dimension_order");
        CU_ASSERT_EQUAL(th_system_finish(s, &e), i == 0 ? 0 : -1);
        TAP_ASSERT_TEXT(i == 0 ? links_of(s, 0, 2) : e.id, i == 0 ? "0_3 3_2" : "TOPO-0061");
        TAP_ASSERT_TEXT(i == 0 ? links_of(s, 1, 0) : e.text,
                        i == 0 ? "1_0"
                               : "system \"sys\": routing \"dimension_order\" finds no path around "
                                 "the dead link from \"0\" to \"1\"; shortest and ecmp do");
    }
}

TEST(a_pair_behind_a_dead_link_is_named)
{
    th_error e = {"", ""};
    auto_system *s = new_chain(4);
    s->links[3].is_dead = true; /* 2_1 */
    CU_ASSERT_EQUAL(th_system_finish(s, &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0013", "system \"sys\": no path from \"2\" to \"0\"");
}

TAP_MAIN("route_explicit")
