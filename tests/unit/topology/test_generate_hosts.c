/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hosts with PCIe trees, and islands joined by a fabric. */
#include <config.h>
#include "base/alloc.h"
#include "tests/unit/topology_help.h"

#define DIMS(...) ((const int[]){__VA_ARGS__, 0})

/* The nodes of a route: "0 s1.0 host0". */
/* ---- pcie_tree ---- */

/* 2 hosts of 3 switches of 4: 24 accelerators, 6 switches, 2 hosts, the network; 24 + 6 + 2
 * cables. */
TEST(makes_pcie_trees)
{
    th_topology_options o = options_of(DIMS(2, 3, 4));
    static const int64_t bits[] = {900, 400, 70};
    memcpy(o.bits_per_s, bits, sizeof bits);
    o.n_bandwidths = 3;
    auto_system *s = create("pcie_tree", &o);
    expect_counts(s, 24, 9, 32, __LINE__);
    CU_ASSERT_TRUE(s->n_hosts == 2 && s->nodes[13].group == 3);
    TAP_ASSERT_TEXT(way(s, 0, 3), "0 s1.0 3");
    TAP_ASSERT_TEXT(way(s, 0, 4), "0 s1.0 host0 s1.1 4");
    TAP_ASSERT_TEXT(way(s, 0, 23), "0 s1.0 host0 s3.0 host1 s1.5 23");
    TAP_ASSERT_TEXT(way(s, 23, s->host_node[0]), "23 s1.5 host1 s3.0 host0");
    TAP_ASSERT_TEXT(way(s, s->host_node[1], 12), "host1 s1.3 12");
    CU_ASSERT_EQUAL(n_wrong_routes(s, s->n_nodes, any_length), 0);
    th_route_summary r;
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 3, &r) == 0 && r.bits_per_s == 900);
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 4, &r) == 0 && r.bits_per_s == 400);
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 23, &r) == 0 && r.bits_per_s == 70);
}

/* One host needs no network: 8 accelerators, 2 switches, the host; 8 + 2 cables of two kinds. */
TEST(one_host_has_no_network)
{
    th_topology_options o = options_of(DIMS(1, 2, 4));
    o.n_latencies = 2;
    o.latency_ps[1] = 5;
    auto_system *s = create("pcie_tree", &o);
    expect_counts(s, 8, 3, 10, __LINE__);
    CU_ASSERT_EQUAL(diameter(s), 4);
    th_route_summary r;
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 7, &r) == 0 && r.latency_ps == 3 + 5 + 5 + 3);
}

/* ---- islands ---- */

static th_system *new_islands(const int *dims, bool is_full, bool has_island_nics)
{
    th_topology_options o = options_of(dims);
    static const int64_t bits[] = {900, 70, 300};
    memcpy(o.bits_per_s, bits, sizeof bits);
    o.n_bandwidths = o.n_dims;
    o.has_full_islands = is_full;
    o.has_island_nics = has_island_nics;
    return create("islands", &o);
}

/* 3 islands of 4, a card for each accelerator: 3 + 1 switches, 12 + 12 cables. */
TEST(islands_have_a_switch_and_cards)
{
    auto_system *s = new_islands(DIMS(3, 4), false, false);
    expect_counts(s, 12, 4, 24, __LINE__);
    CU_ASSERT_EQUAL(s->nodes[7].group, 1);
    TAP_ASSERT_TEXT(way(s, 0, 3), "0 s1.0 3");
    TAP_ASSERT_TEXT(way(s, 0, 4), "0 s2.0 4");
    TAP_ASSERT_TEXT(way(s, 0, th_system_find_node(s, "s1.2")), "0 s2.0 8 s1.2");
    CU_ASSERT_EQUAL(diameter(s), 2);
    th_route_summary r;
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 3, &r) == 0 && r.bits_per_s == 900);
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 4, &r) == 0 && r.bits_per_s == 70);
}

/* A card per island hangs on its switch: 12 + 3 cables. */
TEST(islands_may_share_a_card)
{
    auto_system *s = new_islands(DIMS(3, 4), false, true);
    expect_counts(s, 12, 4, 15, __LINE__);
    TAP_ASSERT_TEXT(way(s, 0, 3), "0 s1.0 3");
    TAP_ASSERT_TEXT(way(s, 0, 11), "0 s1.0 s2.0 s1.2 11");
}

/* Each to each inside: 3 * 6 cables, and 12 cards; or, with a card per island, 12 cables to its
 * switch and
 * 3 from there. */
TEST(islands_may_be_fully_connected)
{
    auto_system *s = new_islands(DIMS(3, 4), true, false);
    expect_counts(s, 12, 1, 30, __LINE__);
    TAP_ASSERT_TEXT(way(s, 0, 3), "0 3");
    TAP_ASSERT_TEXT(way(s, 0, 4), "0 s2.0 4");
    th_system_free(s);
    s = new_islands(DIMS(3, 4), true, true);
    expect_counts(s, 12, 4, 18 + 12 + 3, __LINE__);
    TAP_ASSERT_TEXT(way(s, 0, 3), "0 3");
    TAP_ASSERT_TEXT(way(s, 1, 11), "1 s1.0 s2.0 s1.2 11");
}

/* A fat tree of arity 4 above 4 islands of 4: 16 ports, 4 + 4 switches with 16 cables between them.
 * Leaf 14 is below root 14 mod 4. With a card per island, 4 ports: one switch of the fabric. */
TEST(the_fabric_may_be_a_fat_tree)
{
    auto_system *s = new_islands(DIMS(4, 4, 4), false, false);
    expect_counts(s, 16, 4 + 8, 16 + 16 + 16, __LINE__);
    TAP_ASSERT_TEXT(way(s, 0, 14), "0 s2.0 s3.2 s2.3 14");
    TAP_ASSERT_TEXT(way(s, 12, 14), "12 s1.3 14");
    th_route_summary r;
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 14, &r) == 0 && r.bits_per_s == 70);
    CU_ASSERT_EQUAL(s->media[s->links[th_system_find_link(s, "s2.0_s3.2")].medium].bits_per_s, 300);
    th_system_free(s);
    s = new_islands(DIMS(4, 4, 4), false, true);
    expect_counts(s, 16, 4 + 1, 16 + 4, __LINE__);
    th_system_free(s);
    /* Arity 2: 16, 8, 4, 2 ... switches below islands of 4. To the switch of one: down to its first
     * leaf. */
    s = new_islands(DIMS(4, 4, 2), false, false);
    TAP_ASSERT_TEXT(way(s, 4, th_system_find_node(s, "s1.0")), "4 s2.2 s3.2 s4.0 s3.0 s2.0 0 s1.0");
    th_system_free(s);
    s = new_islands(DIMS(4, 3, 2), true,
                    true); /* two levels over 4 islands: 2 + 2 switches, 4 + 4 cables */
    expect_counts(s, 12, 4 + 4, 12 + 12 + 8, __LINE__);
    TAP_ASSERT_TEXT(way(s, 0, 11), "0 s1.0 s2.0 s3.1 s2.1 s1.3 11");
}

/* Every way to build them, also oversubscribed, with a host: sound, and inside an island short. */
static int inside(const th_system *s, int a, int b)
{
    bool is_joined = th_route_link_to(s, a, b) >= 0;
    return a == b ? 0 : s->nodes[a].group != s->nodes[b].group ? -1 : is_joined ? 1 : 2;
}

TEST(routes_are_sound_and_stay_inside)
{
    static const int cases[][4] = {{5, 3}, {4, 4, 4}, {4, 4, 2}, {8, 2, 2}, {2, 32, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int variant = 0; variant < 16; variant++) {
            th_topology_options o = options_of(cases[i]);
            o.has_full_islands = variant & 1;
            o.has_island_nics = variant & 2 && cases[i][1] < 32;
            o.with_host = variant & 4;
            o.oversubscription = variant & 8 && o.n_dims == 3 ? 2 : 0;
            auto_system *s = create("islands", &o);
            CU_ASSERT_EQUAL(n_wrong_routes(s, s->n_accels, inside), 0);
            CU_ASSERT_EQUAL(n_wrong_routes(s, s->n_nodes, any_length), 0);
        }
}

/* Switches that join an island reduce; those of a fabric, or that only hold a card, when told
 * so. */
TEST(switches_reduce)
{
    th_system *s = new_islands(DIMS(3, 4), false, false);
    CU_ASSERT_TRUE(s->nodes[12].reduces && s->nodes[14].reduces && !s->nodes[15].reduces);
    th_system_free(s);
    s = new_islands(DIMS(3, 4), true, true);
    CU_ASSERT_TRUE(!s->nodes[12].reduces && !s->nodes[15].reduces);
    th_system_free(s);
    th_topology_options o = options_of(DIMS(4, 2));
    o.switches_reduce = true;
    s = create("fattree", &o);
    for (int i = 0; i < s->n_nodes; i++)
        CU_ASSERT_EQUAL(s->nodes[i].reduces, i >= 16);
    th_system_free(s);
}

/* ---- rails ---- */

/* 5 islands of 3 in units of 2: 5 switches of islands, 3 units of 3 leaf switches, 2 spines; cables
 * 15 + 15 + 9 * 2. Leaf r 5 + i is accelerator r of island i. */
TEST(rails_keep_their_messages)
{
    th_topology_options o = options_of(DIMS(5, 3, 2));
    static const int64_t bits[] = {900, 70, 300};
    memcpy(o.bits_per_s, bits, sizeof bits);
    o.n_bandwidths = 3;
    auto_system *s = create("rails", &o);
    expect_counts(s, 15, 5 + 9 + 2, 48, __LINE__);
    TAP_ASSERT_TEXT(s->routing->name, "rails");
    TAP_ASSERT_TEXT(way(s, 0, 2), "0 s1.0 2");
    TAP_ASSERT_TEXT(way(s, 1, 4), "1 s2.3 4");             /* rail 1, unit 0 */
    TAP_ASSERT_TEXT(way(s, 1, 13), "1 s2.3 s3.1 s2.5 13"); /* leaf 9 of spine 9 mod 2 */
    TAP_ASSERT_TEXT(way(s, 0, 13), "0 s1.0 1 s2.3 s3.1 s2.5 13");
    TAP_ASSERT_TEXT(way(s, 0, 4), "0 s1.0 1 s2.3 4");
    TAP_ASSERT_TEXT(way(s, 0, th_system_find_node(s, "s1.0")), "0 s1.0");
    CU_ASSERT_TRUE(s->nodes[15].reduces && !s->nodes[20].reduces);
    th_route_summary r;
    CU_ASSERT_TRUE(th_route_summarize(s, 0, 13, &r) == 0 && r.bits_per_s == 70 && r.n_links == 6);
}

/* The real unit: 2 of 32 islands of 8, at 2 to 1. Shifts by one island on every rail load every
 * cable up from a leaf with at most 2 of its 32 messages, evenly. */
TEST(rails_share_spines_evenly)
{
    th_topology_options o = options_of(DIMS(64, 8, 32));
    o.oversubscription = 2;
    auto_system *s = create("rails", &o);
    expect_counts(s, 512, 64 + 16 + 16, 512 + 512 + 16 * 16, __LINE__);
    int *used = th_alloc_zero((size_t)s->n_links, sizeof *used), most = 0, links[TH_ROUTE_MAX];
    for (int a = 0; a < 512; a++)
        for (int n = th_route(s, a, (a + 256) % 512, links), i = 0; i < n; i++)
            used[links[i]]++;
    for (int i = 0; i < s->n_links; i++)
        most = used[i] > most ? used[i] : most;
    CU_ASSERT_EQUAL(most, 2);
    th_free(used);
}

static int rails_distance(const th_system *s, int a, int b)
{
    if (a == b || s->nodes[a].accel < 0 || s->nodes[b].accel < 0)
        return a == b ? 0 : -1;
    int unit = s->generator->options.dims[2], accels = s->generator->options.dims[1];
    int island_a = a / accels, island_b = b / accels;
    if (island_a == island_b)
        return 2;
    int n = island_a / unit == island_b / unit ? 2 : 4;
    return a % accels == b % accels ? n : n + 2;
}

TEST(routes_in_rails_are_sound)
{
    static const int cases[][4] = {{5, 3, 2}, {4, 4, 4}, {6, 2, 3},
                                   {8, 4, 4}, {3, 1, 2}, {1, 4, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int with_host = 0; with_host < 2; with_host++) {
            th_topology_options o = options_of(cases[i]);
            o.with_host = with_host;
            auto_system *s = create("rails", &o);
            CU_ASSERT_EQUAL(n_wrong_routes(s, s->n_accels, rails_distance), 0);
            CU_ASSERT_EQUAL(n_wrong_routes(s, s->n_nodes, any_length), 0);
        }
}

TAP_MAIN("generate_hosts")
