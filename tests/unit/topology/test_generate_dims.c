/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Systems made of dimensions, and dimension order on them. */
#include <config.h>
#include "tests/unit/topology_help.h"

#define DIMS(...) ((const int[]){__VA_ARGS__, 0})

/* {kind size} ... in pairs; size 0 ends. */
static th_topology_options composition_of(const int (*dims)[2])
{
    th_topology_options o = options_of(DIMS(1));
    for (o.n_dims = 0; dims[o.n_dims][1] != 0; o.n_dims++) {
        o.kinds[o.n_dims] = (th_topology_dim_kind)dims[o.n_dims][0];
        o.dims[o.n_dims] = dims[o.n_dims][1];
    }
    return o;
}

#define COMPOSITION(...) composition_of((const int[][2]){__VA_ARGS__, {0, 0}})

/* ---- sizes by hand ---- */

/* n nodes: n - 1 cables, from end to end n - 1 links; one cable joins the halves. */
TEST(makes_lines)
{
    th_topology_options o = options_of(DIMS(9));
    auto_system *s = create("line", &o);
    expect_counts(s, 9, 0, 8, __LINE__);
    CU_ASSERT_TRUE(diameter(s) == 8 && n_links_across(s, 4) == 1);
    CU_ASSERT_TRUE(th_system_find_link(s, "7_8") >= 0 && th_system_find_link(s, "8_0") < 0);
}

/* D dimensions: 2^D nodes of degree D, D * 2^(D - 1) cables, diameter D, 2^(D - 1) cables between
 * the halves. 4 dimensions: 16, 32, 4, 8; and 10: 1024, 5120, 10, 512. */
TEST(makes_hypercubes)
{
    th_topology_options o = options_of(DIMS(4));
    auto_system *s = create("hypercube", &o);
    expect_counts(s, 16, 0, 32, __LINE__);
    CU_ASSERT_TRUE(diameter(s) == 4 && n_links_across(s, 8) == 8);
    for (int i = 0; i < 16; i++)
        CU_ASSERT_EQUAL(s->adjacency.out_start[i + 1] - s->adjacency.out_start[i], 4);
    CU_ASSERT_TRUE(th_system_find_link(s, "5_13") >= 0 && th_system_find_link(s, "5_6") < 0);
    th_system_free(s);
    o = options_of(DIMS(2, 2, 2));
    s = create("hypercube", &o);
    expect_counts(s, 8, 0, 12, __LINE__);
    th_system_free(s);
    o = options_of(DIMS(10));
    s = create("hypercube", &o);
    expect_counts(s, 1024, 0, 5120, __LINE__);
    CU_ASSERT_TRUE(n_links_across(s, 512) == 512 && route_length(s, 0, 1023) == 10);
}

/* 4 x 6 torus (even k): 2 * 24 cables, diameter 2 + 3; cut across dimension 1, two cables of each
 * of the
 * 4 columns are cut. The mesh: 3 * 6 + 4 * 5 = 38 cables, 3 + 5, one cable per column. */
TEST(tori_and_meshes_have_their_bisection)
{
    th_topology_options o = options_of(DIMS(4, 6));
    auto_system *s = create("torus", &o);
    expect_counts(s, 24, 0, 48, __LINE__);
    CU_ASSERT_TRUE(diameter(s) == 5 && n_links_across(s, 12) == 8);
    th_system_free(s);
    s = create("mesh", &o);
    expect_counts(s, 24, 0, 38, __LINE__);
    CU_ASSERT_TRUE(diameter(s) == 8 && n_links_across(s, 12) == 4);
}

/* {ring 4} {fully_connected 3} {switch 5}: 60 nodes. Ring: 15 rings of 4 cables; fully connected:
 * 20 times
 * 3; switch: 12 switches of 5. 60 + 60 + 60 cables; diameter 2 + 1 + 2. Node 37 = (1, 0, 3). */
TEST(makes_compositions)
{
    th_topology_options o = COMPOSITION({TH_TOPOLOGY_DIM_RING, 4}, {TH_TOPOLOGY_DIM_FULL, 3},
                                        {TH_TOPOLOGY_DIM_SWITCH, 5});
    auto_system *s = create("composition", &o);
    expect_counts(s, 60, 12, 180, __LINE__);
    CU_ASSERT_EQUAL(diameter(s), 5);
    CU_ASSERT_TRUE(th_system_find_link(s, "37_36") >= 0 && th_system_find_link(s, "37_38") >= 0);
    CU_ASSERT_TRUE(th_system_find_link(s, "37_41") >= 0 && th_system_find_link(s, "37_45") >= 0);
    CU_ASSERT_TRUE(th_system_find_link(s, "37_s2.1") >= 0 &&
                   th_system_find_link(s, "s2.1_49") >= 0);
    CU_ASSERT_EQUAL(s->adjacency.out_start[38] - s->adjacency.out_start[37], 2 + 2 + 1);
    TAP_ASSERT_TEXT(s->nodes[60].name, "s2.0");
}

/* A composition of rings is the torus, of lines the mesh, of pairs the hypercube: link for link. */
TEST(special_cases_are_compositions)
{
    static const struct {
        const char *type;
        int kind, dims[4];
    } cases[] = {{"torus", TH_TOPOLOGY_DIM_RING, {3, 4, 2}},
                 {"mesh", TH_TOPOLOGY_DIM_LINE, {3, 4, 2}},
                 {"hypercube", TH_TOPOLOGY_DIM_FULL, {2, 2, 2}},
                 {"star", TH_TOPOLOGY_DIM_SWITCH, {6}},
                 {"fully_connected", TH_TOPOLOGY_DIM_FULL, {6}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        th_topology_options o = options_of(cases[i].dims);
        auto_system *a = create(cases[i].type, &o);
        for (int d = 0; d < 4; d++)
            o.kinds[d] = (th_topology_dim_kind)cases[i].kind;
        auto_system *b = create("composition", &o);
        CU_ASSERT_EQUAL(a->n_links, b->n_links);
        for (int l = 0; l < a->n_links && l < b->n_links; l++)
            TAP_ASSERT_TEXT(a->links[l].name, b->links[l].name);
    }
}

TEST(dimensions_have_bandwidths_and_latencies_of_their_own)
{
    th_topology_options o = COMPOSITION({TH_TOPOLOGY_DIM_RING, 4}, {TH_TOPOLOGY_DIM_SWITCH, 3});
    o.n_bandwidths = 2;
    o.bits_per_s[0] = 700;
    o.bits_per_s[1] = 90;
    auto_system *s = create("composition", &o);
    th_route_summary r;
    CU_ASSERT_EQUAL(th_route_summarize(s, 0, 2, &r), 0);
    CU_ASSERT_TRUE(r.bits_per_s == 700 && r.latency_ps == 6 && r.n_links == 2);
    CU_ASSERT_EQUAL(th_route_summarize(s, 0, 9, &r),
                    0); /* (0, 0) -> (1, 2): a ring, then up and down */
    CU_ASSERT_TRUE(r.bits_per_s == 90 && r.latency_ps == 9 && r.n_links == 3);
}

/* ---- routes ---- */

static int distance_along(const th_shape_dim *dim, int a, int b)
{
    int far = a > b ? a - b : b - a;
    switch ((th_topology_dim_kind)dim->kind) {
    case TH_TOPOLOGY_DIM_LINE:
        return far;
    case TH_TOPOLOGY_DIM_RING:
        return 2 * far > dim->size ? dim->size - far : far;
    case TH_TOPOLOGY_DIM_FULL:
        return far != 0;
    case TH_TOPOLOGY_DIM_SWITCH:
        return far != 0 ? 2 : 0;
    }
    return -1;
}

/* The sum over the dimensions. */
static int distance(const th_system *s, int a, int b)
{
    int sum = 0;
    for (int d = 0; d < s->n_dims; d++) {
        int size = s->dims[d].size;
        sum += distance_along(&s->dims[d], a % size, b % size);
        a /= size;
        b /= size;
    }
    return sum;
}

/* Between places as long as the dimensions say; between switches, and with a host, at least
 * sound. */
TEST(routes_are_sound_and_as_long_as_the_dimensions_say)
{
    const th_topology_options cases[] = {
        COMPOSITION({TH_TOPOLOGY_DIM_LINE, 7}),
        COMPOSITION({TH_TOPOLOGY_DIM_RING, 1}),
        COMPOSITION({TH_TOPOLOGY_DIM_RING, 2}, {TH_TOPOLOGY_DIM_RING, 3}),
        COMPOSITION({TH_TOPOLOGY_DIM_RING, 5}, {TH_TOPOLOGY_DIM_RING, 4},
                    {TH_TOPOLOGY_DIM_LINE, 3}),
        COMPOSITION({TH_TOPOLOGY_DIM_FULL, 5}, {TH_TOPOLOGY_DIM_LINE, 1},
                    {TH_TOPOLOGY_DIM_RING, 6}),
        COMPOSITION({TH_TOPOLOGY_DIM_SWITCH, 4}, {TH_TOPOLOGY_DIM_SWITCH, 3}),
        COMPOSITION({TH_TOPOLOGY_DIM_SWITCH, 3}, {TH_TOPOLOGY_DIM_RING, 4},
                    {TH_TOPOLOGY_DIM_SWITCH, 2}, {TH_TOPOLOGY_DIM_FULL, 3}),
        COMPOSITION({TH_TOPOLOGY_DIM_FULL, 2}, {TH_TOPOLOGY_DIM_FULL, 2}, {TH_TOPOLOGY_DIM_FULL, 2},
                    {TH_TOPOLOGY_DIM_FULL, 2}, {TH_TOPOLOGY_DIM_FULL, 2}),
        COMPOSITION({TH_TOPOLOGY_DIM_SWITCH, 1}, {TH_TOPOLOGY_DIM_LINE, 2}),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        th_topology_options o = cases[i];
        o.with_host = i % 2 == 0;
        auto_system *s = create("composition", &o);
        CU_ASSERT_EQUAL(n_wrong_routes(s, s->n_accels, distance), 0);
        CU_ASSERT_EQUAL(n_wrong_routes(s, s->n_nodes, any_length), 0);
    }
}

/* The dimension in which the ends of a link differ. */
static int dim_of_link(const th_system *s, const th_link *l)
{
    for (int d = 0, below = 1; d < s->n_dims; below *= s->dims[d++].size)
        if (l->from / below % s->dims[d].size != l->to / below % s->dims[d].size)
            return d;
    return -1;
}

/* What each pair of places sends over each link; n_wrong of the links of dimension d carry another
 * number of pairs than expected says, to less than one. */
static int n_uneven_links(const th_system *s, const double *expected)
{
    int links[TH_ROUTE_MAX], n_wrong = 0;
    int *pairs = calloc((size_t)s->n_links, sizeof *pairs);
    for (int i = 0; i < s->n_accels; i++)
        for (int j = 0; j < s->n_accels; j++) {
            int n = th_route(s, i, j, links);
            for (int k = 0; k < n; k++)
                pairs[links[k]]++;
        }
    for (int l = 0; l < s->n_links; l++)
        n_wrong += fabs(pairs[l] - expected[dim_of_link(s, &s->links[l])]) >= 1;
    free(pairs);
    return n_wrong;
}

/* On a ring of n nodes, n even, the distances from a node are 0, 1 1, 2 2, ... n/2: together n^2/4,
 * (n^2 - 1)/4 with n odd. A torus of N nodes has N sources and N/n destinations at each distance,
 * so its 2 N links along that dimension (N where n is 2) carry N/n n^2/4 / 2 = N n/8 pairs each if
 * ties are evenly split, and where that is no whole number the next one below or above. */
TEST(uniform_traffic_loads_the_links_of_a_torus_equally)
{
    const int cases[][3] = {{8, 8, 1},  {6, 6, 1}, {6, 10, 1}, {4, 6, 1}, {8, 1, 1}, {6, 1, 1},
                            {10, 1, 1}, {6, 3, 1}, {3, 6, 1},  {2, 6, 1}, {6, 2, 1}, {2, 2, 2},
                            {4, 3, 6},  {6, 4, 2}, {2, 4, 6},  {5, 6, 3}, {6, 6, 6}, {5, 7, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double expected[3];
        th_topology_options o = options_of(DIMS(cases[i][0], cases[i][1], cases[i][2]));
        auto_system *s = create("torus", &o);
        for (int d = 0; d < 3; d++) {
            int n = cases[i][d], n_squares = n % 2 == 0 ? n * n : n * n - 1;
            expected[d] = (double)s->n_accels / n * n_squares / (n == 2 ? 4 : 8);
        }
        int n_uneven = n_uneven_links(s, expected);
        CU_ASSERT_EQUAL(n_uneven, 0);
        if (n_uneven > 0)
            printf("# %d x %d x %d: %d of %d links\n", cases[i][0], cases[i][1], cases[i][2],
                   n_uneven, s->n_links);
    }
}

/* {ring 4} {switch 3}: places (c0, c1) = c0 + 4 * c1. The ring first, whatever comes then. Half way
 * round it goes up where c0 of the source and c1 of both ends have an even sum; switch s1.2 counts
 * as (2, 0). */
TEST(dimension_0_goes_first)
{
    th_topology_options o = COMPOSITION({TH_TOPOLOGY_DIM_RING, 4}, {TH_TOPOLOGY_DIM_SWITCH, 3});
    auto_system *s = create("composition", &o);
    TAP_ASSERT_TEXT(way(s, 0, 11), "0 3 s1.3 11");
    TAP_ASSERT_TEXT(way(s, 11, 0), "11 8 s1.0 0");
    TAP_ASSERT_TEXT(way(s, 1, 3), "1 0 3");
    TAP_ASSERT_TEXT(way(s, 5, th_system_find_node(s, "s1.2")), "5 6 s1.2");
    TAP_ASSERT_TEXT(way(s, th_system_find_node(s, "s1.2"), 4), "s1.2 6 5 4");
}

/* ---- what is refused ---- */

/* A shape that the links do not have: 0 - 1 - 2 is no ring, and has no dimensions at all. */
TEST(dimension_order_needs_its_links)
{
    th_error e = {"", ""};
    for (int n_dims = 0; n_dims < 2; n_dims++) {
        auto_system *prototype = new_prototype(), *s = th_system_new("sys", NULL);
        for (int i = 0; i < 3; i++) {
            th_system_add_node(s, (const char[]){(char)('a' + i), 0}, TH_NODE_ACCEL, 0, NULL);
            th_system_copy_accel(s, i, prototype, 0, NULL);
        }
        th_system_add_cable(s, 0, 1, th_cable_symmetric(500, 3, true), NULL);
        th_system_add_cable(s, 1, 2, th_cable_symmetric(500, 3, true), NULL);
        s->dims[0] = (th_shape_dim){TH_TOPOLOGY_DIM_RING, 3};
        s->n_dims = n_dims;
        s->routing = th_routing_find("dimension_order");
        CU_ASSERT_EQUAL(th_system_finish(s, &e), -1);
        TAP_ASSERT_ERROR(
            e, n_dims ? "TOPO-0085" : "TOPO-0086",
            n_dims ? "system \"sys\": node \"a\" lacks a link along dimension 0, and routes go in "
                     "dimension order"
                   : "system \"sys\": dimension_order needs a system made of dimensions");
    }
}

TAP_MAIN("generate_dims")
