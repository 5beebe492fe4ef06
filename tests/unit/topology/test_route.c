/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "topology/routing/route.h"
#include "base/random.h"
#include "tests/unit/bare_system.h"
#include "tests/unit/tap.h"

/* The nodes of the route as "0 2 3"; "none" when there is no way. */
static const char *way(const th_system *s, int src, int dst)
{
    static char text[4096];
    int links[TH_ROUTE_MAX], n = th_route(s, src, dst, links), at = 0;
    if (n < 0)
        return "none";
    at += snprintf(text, sizeof text, "%s", s->nodes[src].name);
    for (int i = 0; i < n; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, " %s",
                       s->nodes[s->links[links[i]].to].name);
    return text;
}

/* 0 - 1 directly but slow; 0 - 2 - 1 wide: fewest links win. */
TEST(fewest_links_first)
{
    auto_system *s = new_system(3, 1);
    th_system_add_cable(s, 0, 2, th_cable_symmetric(9000, 1, true), NULL);
    th_system_add_cable(s, 2, 1, th_cable_symmetric(9000, 1, true), NULL);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(20, 90, true), NULL);
    finish_system(s);
    TAP_ASSERT_TEXT(way(s, 0, 1), "0 1");
    TAP_ASSERT_TEXT(way(s, 0, 0), "0");
}

/* From 0 to 4 over 1, 2 or 3: smallest bandwidths 30, 50, 50, sums of latencies 8, 12, 11. */
TEST(then_width_then_latency_then_the_lowest_node)
{
    auto_system *s = new_system(5, 1);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(30, 4, true), NULL);
    th_system_add_cable(s, 1, 4, th_cable_symmetric(99, 4, true), NULL);
    th_system_add_cable(s, 0, 2, th_cable_symmetric(50, 5, true), NULL);
    th_system_add_cable(s, 2, 4, th_cable_symmetric(70, 7, true), NULL);
    th_system_add_cable(s, 0, 3, th_cable_symmetric(60, 5, true), NULL);
    th_system_add_cable(s, 3, 4, th_cable_symmetric(50, 6, true), NULL);
    finish_system(s);
    TAP_ASSERT_TEXT(way(s, 0, 4), "0 3 4");
    th_route_summary r;
    CU_ASSERT_EQUAL(th_route_summarize(s, 0, 4, &r), 0);
    CU_ASSERT_TRUE(r.bits_per_s == 50 && r.latency_ps == 11 && r.n_links == 2);
    CU_ASSERT_EQUAL(th_route_summarize(s, 4, 4, &r), 0);
    CU_ASSERT_TRUE(r.bits_per_s == INT64_MAX && r.latency_ps == 0 && r.n_links == 0);
}

TEST(ties_go_to_the_lowest_node_and_link)
{
    auto_system *s = new_system(4, 1);
    th_system_add_cable(s, 0, 2, th_cable_symmetric(50, 5, true), NULL);
    th_system_add_cable(s, 2, 3, th_cable_symmetric(50, 5, true), NULL);
    th_system_add_cable(s, 1, 3, th_cable_symmetric(50, 5, true), NULL);
    th_system_add_cable(s, 1, 3, th_cable_symmetric(50, 5, true), NULL);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(50, 5, true), NULL);
    finish_system(s);
    int links[TH_ROUTE_MAX];
    TAP_ASSERT_TEXT(way(s, 0, 3), "0 1 3");
    CU_ASSERT_EQUAL(th_route(s, 1, 3, links), 1);
    TAP_ASSERT_TEXT(s->links[links[0]].name, "1_3");
}

/* 0 - 1 - 2 is short but 1 does not forward; the way round is 0 - 3 - 4 - 2. Node 1 itself is
 * reached. */
TEST(avoids_nodes_that_do_not_forward)
{
    auto_system *s = new_system(5, 1);
    th_system_add_cable(s, 0, 1, th_cable_symmetric(50, 5, true), NULL);
    th_system_add_cable(s, 1, 2, th_cable_symmetric(50, 5, true), NULL);
    th_system_add_cable(s, 0, 3, th_cable_symmetric(50, 5, true), NULL);
    th_system_add_cable(s, 3, 4, th_cable_symmetric(50, 5, true), NULL);
    th_system_add_cable(s, 4, 2, th_cable_symmetric(50, 5, true), NULL);
    s->nodes[1].forwards = false;
    finish_system(s);
    TAP_ASSERT_TEXT(way(s, 0, 2), "0 3 4 2");
    TAP_ASSERT_TEXT(way(s, 0, 1), "0 1");
    TAP_ASSERT_TEXT(way(s, 1, 2), "1 2");
}

TEST(reports_when_there_is_no_path)
{
    auto_system *s = new_system(1, 1);
    int lonely = th_system_add_node(s, "lonely", TH_NODE_SWITCH, 0, NULL);
    th_route_summary r;
    finish_system(s);
    TAP_ASSERT_TEXT(way(s, 0, lonely), "none");
    CU_ASSERT_EQUAL(th_route_summarize(s, lonely, 0, &r), -1);
}

/* ---- dimension order ---- */

/* A grid x by y, dimension 0 fastest; wraps closes the rows and columns. */
static th_system *new_grid(int x, int y, bool wraps)
{
    th_system *s = new_system(x * y, 1);
    for (int i = 0; i < x * y; i++) {
        int right = i % x + 1 < x ? i + 1 : i + 1 - x, up = i / x + 1 < y ? i + x : i + x - x * y;
        if (right > i || wraps)
            th_system_add_cable(s, i, right, th_cable_symmetric(50, 5, true), NULL);
        if (up > i || wraps)
            th_system_add_cable(s, i, up, th_cable_symmetric(50, 5, true), NULL);
    }
    s->n_dims = 2;
    s->dims[0] = (th_shape_dim){wraps ? TH_TOPOLOGY_DIM_RING : TH_TOPOLOGY_DIM_LINE, x};
    s->dims[1] = (th_shape_dim){wraps ? TH_TOPOLOGY_DIM_RING : TH_TOPOLOGY_DIM_LINE, y};
    return s;
}

/* 4 x 3:  8 9 10 11 / 4 5 6 7 / 0 1 2 3. From (0, 0) to (2, 2): along the row, then up. */
TEST(meshes_go_along_dimension_0_first)
{
    auto_system *s = new_grid(4, 3, false);
    finish_system(s);
    TAP_ASSERT_TEXT(way(s, 0, 10), "0 1 2 6 10");
    TAP_ASSERT_TEXT(way(s, 10, 0), "10 9 8 4 0");
    TAP_ASSERT_TEXT(way(s, 3, 4), "3 2 1 0 4");
}

/* 4 x 5: row 3 -> 0 wraps (1 step); columns of 5 go the shorter way: from row 0 to row 3 downwards
 * through row 4. Two steps along a row of 4 are a tie: up where x of the source and y of both ends
 * have an even sum. */
TEST(tori_take_the_shorter_direction_and_parity_on_a_tie)
{
    auto_system *s = new_grid(4, 5, true);
    finish_system(s);
    TAP_ASSERT_TEXT(way(s, 3, 0), "3 0");
    TAP_ASSERT_TEXT(way(s, 0, 12), "0 16 12");
    TAP_ASSERT_TEXT(way(s, 0, 2), "0 1 2");
    TAP_ASSERT_TEXT(way(s, 2, 0), "2 3 0");
    TAP_ASSERT_TEXT(way(s, 1, 3), "1 0 3");
    TAP_ASSERT_TEXT(way(s, 5, 7), "5 4 7");
    TAP_ASSERT_TEXT(way(s, 0, 6), "0 3 2 6");
    TAP_ASSERT_TEXT(way(s, 1, 15), "1 2 3 19 15");
    TAP_ASSERT_TEXT(way(s, 1, 7), "1 2 3 7");
}

/* 4 x 4 and a host at node 1: it has no coordinates, so those of 1 count. In the row to 3, x is 1:
 * down; in the column to 9, y is 0 and x is 1 at both ends: up. */
TEST(from_outside_a_tie_goes_as_from_where_the_route_comes_in)
{
    auto_system *s = new_grid(4, 4, true);
    int host = th_system_add_node(s, "host", TH_NODE_HOST, 0, NULL);
    th_system_add_cable(s, host, 1, th_cable_symmetric(50, 5, true), NULL);
    finish_system(s);
    TAP_ASSERT_TEXT(way(s, host, 3), "host 1 0 3");
    TAP_ASSERT_TEXT(way(s, host, 9), "host 1 5 9");
}

/* A forwarding hub one link from everybody would be shorter, but is not part of the mesh. */
TEST(a_mesh_ignores_short_cuts)
{
    auto_system *s = new_grid(5, 1, false);
    int hub = th_system_add_node(s, "hub", TH_NODE_HOST, 0, NULL);
    for (int i = 0; i < 5; i++)
        th_system_add_cable(s, i, hub, th_cable_symmetric(9000, 1, true), NULL);
    finish_system(s);
    TAP_ASSERT_TEXT(way(s, 0, 4), "0 1 2 3 4");
    TAP_ASSERT_TEXT(way(s, hub, 4), "hub 4");
}

/* ---- limits ---- */

TEST(refuses_routes_that_are_too_long)
{
    th_error e = {"", ""};
    int links[TH_ROUTE_MAX];
    auto_system *s = new_chain(TH_ROUTE_MAX + 1);
    finish_system(s);
    CU_ASSERT_EQUAL(th_route(s, 0, 4096, links), 4096);
    CU_ASSERT_EQUAL(th_route(s, 4096, 1, links), 4095);
    th_system_free(s);
    s = new_chain(TH_ROUTE_MAX + 2);
    CU_ASSERT_EQUAL(th_system_finish(s, &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0014",
                     "system \"sys\": the route from \"0\" to \"4097\" has 4097 links, at "
                     "most 4096 are supported");
    th_system_free(s);
    s = new_chain(TH_ROUTE_MAX + 2);
    s->n_dims = 1;
    s->dims[0] = (th_shape_dim){TH_TOPOLOGY_DIM_LINE, TH_ROUTE_MAX + 2};
    CU_ASSERT_EQUAL(th_system_finish(s, &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0015",
                     "system \"sys\": routes of up to 4097 links, at most 4096 are supported");
}

/* Only the ways of accelerators are measured: 4,096 in a row are 4,095 links, 4,096 to a host at
 * either end, and 4,097 between the hosts. */
TEST(paths_between_hosts_may_be_too_long)
{
    th_error e = {"", ""};
    int links[TH_ROUTE_MAX];
    auto_system *s = new_chain(TH_ROUTE_MAX);
    int left = th_system_add_node(s, "left", TH_NODE_HOST, 0, NULL);
    int right = th_system_add_node(s, "right", TH_NODE_HOST, 0, NULL);
    th_system_add_cable(s, left, 0, th_cable_symmetric(50, 5, true), NULL);
    th_system_add_cable(s, right, TH_ROUTE_MAX - 1, th_cable_symmetric(50, 5, true), NULL);
    finish_system(s);
    CU_ASSERT_EQUAL(th_route(s, left, TH_ROUTE_MAX - 1, links), 4096);
    CU_ASSERT_EQUAL(th_route(s, left, right, links), TH_NO_PATH);
    CU_ASSERT_EQUAL(s->links[th_route_first(s, left, right)].to, 0);
    CU_ASSERT_EQUAL(th_route_error(s, left, right, TH_NO_PATH, &e), -1);
    TAP_ASSERT_ERROR(e, "TOPO-0067",
                     "system \"sys\": no path of at most 4096 links from \"left\" to \"right\"");
    CU_ASSERT_EQUAL(th_route_error(s, left, right, TH_NO_MEMORY, &e), -1);
    TAP_ASSERT_TEXT(e.id, "BASE-0001");
}

/* ---- against Floyd and Warshall ---- */

enum { N_RANDOM = 12 };

static th_system *new_random_system(gsl_rng *r)
{
    th_system *s = new_chain(N_RANDOM); /* connected */
    for (int i = 0; i < 18; i++) {
        int a = (int)th_random_below(r, N_RANDOM), b = (int)th_random_below(r, N_RANDOM);
        if (a != b)
            th_system_add_cable(s, a, b,
                                th_cable_symmetric(10 + (int64_t)th_random_below(r, 3),
                                                   (th_time)th_random_below(r, 4), true),
                                NULL);
    }
    finish_system(s);
    return s;
}

static void fill_distances(const th_system *s, int distance[N_RANDOM][N_RANDOM])
{
    for (int i = 0; i < N_RANDOM; i++)
        for (int j = 0; j < N_RANDOM; j++)
            distance[i][j] = i == j ? 0 : 1000;
    for (int l = 0; l < s->n_links; l++)
        distance[s->links[l].from][s->links[l].to] = 1;
    for (int k = 0; k < N_RANDOM; k++)
        for (int i = 0; i < N_RANDOM; i++)
            for (int j = 0; j < N_RANDOM; j++)
                if (distance[i][k] + distance[k][j] < distance[i][j])
                    distance[i][j] = distance[i][k] + distance[k][j];
}

static int count_other_ends(const th_system *s, const int *links, const int *others, int n)
{
    int other = 0;
    for (int i = 0; i < n; i++)
        other += s->links[links[i]].to != s->links[others[i]].to;
    return other;
}

/* As many links as the shortest way, and a tail that is the route of its first node, but that the
 * source chooses among parallel links. */
TEST(routes_are_shortest_and_consistent)
{
    auto_rng *r = th_random_stream(3, "routes", 0);
    int distance[N_RANDOM][N_RANDOM], links[TH_ROUTE_MAX], tail[TH_ROUTE_MAX], n_wrong = 0;
    for (int round = 0; round < 200; round++) {
        auto_system *s = new_random_system(r);
        fill_distances(s, distance);
        for (int i = 0; i < N_RANDOM; i++)
            for (int j = 0; j < N_RANDOM; j++) {
                int n = th_route(s, i, j, links);
                n_wrong += n != distance[i][j];
                if (n > 1 && (th_route(s, s->links[links[0]].to, j, tail) != n - 1 ||
                              count_other_ends(s, tail, links + 1, n - 1) > 0))
                    n_wrong++;
            }
    }
    CU_ASSERT_EQUAL(n_wrong, 0);
}

TAP_MAIN("route")
