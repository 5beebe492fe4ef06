/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dragonflies, and minimal routes in them. */
#include <config.h>
#include "base/alloc.h"
#include "tests/unit/topology_help.h"

#define DIMS(...) ((const int[]){__VA_ARGS__, 0})

static th_system *new_dragonfly(const int *dims)
{
    th_topology_options o = options_of(dims);
    return create("dragonfly", &o);
}

/* P 2, A 4, H 2: G = 9 groups, 72 accelerators on 36 routers; 72 cables to accelerators, 9 * 6
 * local ones,
 * 36 global ones, one between any two groups. A router has 2 + 3 + 2 links; no route has more than
 * 5. */
TEST(makes_balanced_ones)
{
    auto_system *s = new_dragonfly(DIMS(2, 4, 2));
    int n_between[9][9] = {{0}};
    expect_counts(s, 72, 36, 72 + 54 + 36, __LINE__);
    CU_ASSERT_EQUAL(diameter(s), 5);
    for (int i = 72; i < 108; i++)
        CU_ASSERT_EQUAL(s->adjacency.out_start[i + 1] - s->adjacency.out_start[i], 7);
    for (int l = 0; l < s->n_links; l++)
        n_between[s->nodes[s->links[l].from].group][s->nodes[s->links[l].to].group]++;
    for (int g = 0; g < 9; g++)
        for (int h = 0; h < 9; h++)
            CU_ASSERT_TRUE(g == h || n_between[g][h] == 1);
    CU_ASSERT_TRUE(s->nodes[17].group == 2 && s->nodes[72 + 11].group == 2);
    /* Group 3, port 5 = router 2: to group 3 + 6 - 9 = 0, port 9 - 6 - 1 = 2 there, router 1. */
    CU_ASSERT_TRUE(th_system_find_link(s, "s3.2_s0.1") >= 0 &&
                   th_system_find_link(s, "s0.1_s3.2") >= 0);
    TAP_ASSERT_TEXT(s->routing->name, "dragonfly");
}

/* P 1, A 4, H 2, G 4: 8 ports for 3 other groups, 2 cables to each and 2 ports empty: 16 + 4 * 6 +
 * 2 * 6 cables. G 3: 4 to each. One group: a clique of routers. */
TEST(makes_smaller_ones)
{
    auto_system *s = new_dragonfly(DIMS(1, 4, 2, 4));
    expect_counts(s, 16, 16, 16 + 24 + 12, __LINE__);
    CU_ASSERT_EQUAL(diameter(s), 5);
    th_system_free(s);
    s = new_dragonfly(DIMS(3, 4, 2, 3));
    expect_counts(s, 36, 12, 36 + 18 + 12, __LINE__);
    th_system_free(s);
    s = new_dragonfly(DIMS(3, 4, 2, 1));
    expect_counts(s, 12, 4, 12 + 6, __LINE__);
    CU_ASSERT_EQUAL(diameter(s), 3);
    th_system_free(s);
    s = new_dragonfly(DIMS(1, 1, 4)); /* five routers, each joined to each */
    expect_counts(s, 5, 5, 5 + 10, __LINE__);
    CU_ASSERT_EQUAL(diameter(s), 3);
}

TEST(kinds_of_cable_have_bandwidths_of_their_own)
{
    th_topology_options o = options_of(DIMS(2, 2, 1));
    static const int64_t bits[] = {900, 400, 70};
    memcpy(o.bits_per_s, bits, sizeof bits);
    o.n_bandwidths = 3;
    auto_system *s = create("dragonfly", &o);
    th_route_summary r;
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 1, &r) == 0 && r.bits_per_s == 900 && r.n_links == 2);
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 2, &r) == 0 && r.bits_per_s == 400 && r.n_links == 3);
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 11, &r) == 0 && r.bits_per_s == 70);
}

static int is_router(const th_system *s, int node)
{
    return s->nodes[node].kind == TH_NODE_SWITCH;
}

/* The router of an accelerator. */
static int router_of(const th_system *s, int accel)
{
    for (int i = s->adjacency.out_start[accel]; i < s->adjacency.out_start[accel + 1]; i++)
        if (is_router(s, s->links[s->adjacency.out_links[i]].to))
            return s->links[s->adjacency.out_links[i]].to;
    return -1;
}

/* Links between two accelerators over one global link at most, from all there are. */
static int fewest_links(const th_system *s, int a, int b)
{
    int from = router_of(s, a), to = router_of(s, b), fewest = 99;
    if (s->nodes[from].group == s->nodes[to].group)
        return a == b ? 0 : from == to ? 2 : 3;
    for (int i = 0; i < s->n_links; i++) {
        const th_link *l = &s->links[i];
        bool joins = is_router(s, l->from) && is_router(s, l->to) &&
                     s->nodes[l->from].group == s->nodes[from].group &&
                     s->nodes[l->to].group == s->nodes[to].group;
        int n = 3 + (l->from != from) + (l->to != to);
        fewest = joins && n < fewest ? n : fewest;
    }
    return fewest;
}

/* How many pairs of accelerators have a route that is not up, local?, global?, local?, down, with
 * no local link that a better global one would save. */
static int n_not_minimal(const th_system *s)
{
    int links[TH_ROUTE_MAX], n_wrong = 0;
    for (int a = 0; a < s->n_accels; a++)
        for (int b = 0; b < s->n_accels; b++) {
            int n = th_route(s, a, b, links), n_global = 0, n_local[2] = {0, 0};
            for (int i = 0; i < n; i++) {
                const th_link *l = &s->links[links[i]];
                bool is_inner = is_router(s, l->from) && is_router(s, l->to);
                bool is_global = is_inner && s->nodes[l->from].group != s->nodes[l->to].group;
                n_local[n_global > 0] += is_inner && !is_global;
                n_global += is_global;
            }
            n_wrong += n_global != (s->nodes[a].group != s->nodes[b].group) || n_local[0] > 1 ||
                       n_local[1] > 1 || n != fewest_links(s, a, b);
        }
    return n_wrong;
}

TEST(routes_are_sound_and_minimal)
{
    static const int cases[][5] = {{2, 4, 2, 0}, {1, 4, 2, 4, 0}, {3, 4, 2, 3, 0}, {2, 3, 1, 0},
                                   {1, 1, 4, 0}, {2, 5, 3, 7, 0}, {4, 2, 1, 2, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        th_topology_options o = options_of(cases[i]);
        o.with_host = i % 2 == 0;
        auto_system *s = create("dragonfly", &o);
        CU_ASSERT_EQUAL(n_wrong_routes(s, s->n_nodes, any_length), 0);
        CU_ASSERT_EQUAL(n_not_minimal(s), 0);
    }
}

/* Several cables between two groups: all of them carry routes. */
TEST(parallel_cables_are_all_used)
{
    auto_system *s = new_dragonfly(DIMS(3, 4, 2, 3));
    int links[TH_ROUTE_MAX], *n_on = th_alloc_zero((size_t)s->n_links, sizeof *n_on), n_idle = 0;
    for (int a = 0; a < s->n_accels; a++)
        for (int b = 0; b < s->n_accels; b++)
            for (int i = th_route(s, a, b, links) - 1; i >= 0; i--)
                n_on[links[i]]++;
    for (int l = 0; l < s->n_links; l++)
        n_idle += n_on[l] == 0;
    CU_ASSERT_EQUAL(n_idle, 0);
    th_free(n_on);
}

TAP_MAIN("generate_dragonfly")
