/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees and fat trees, and up_down on them. */
#include <config.h>
#include "tests/unit/topology_help.h"

static th_system *new_tree(const char *type, int arity, int n_levels, double oversubscription)
{
    th_topology_options o = options_of((const int[]){arity, n_levels, 0});
    o.oversubscription = oversubscription;
    return create(type, &o);
}

/* ---- sizes by hand ---- */

/* Arity 3, depth 3: 27 leaves, 9 + 3 + 1 switches, 27 + 9 + 3 cables; 2 * 3 links from end to
 * end. */
TEST(makes_trees)
{
    auto_system *s = new_tree("tree", 3, 3, 0);
    expect_counts(s, 27, 13, 39, __LINE__);
    CU_ASSERT_EQUAL(diameter(s), 6);
    const th_node *n = &s->nodes[th_system_find_node(s, "s2.1")];
    CU_ASSERT_TRUE(n->level == 2 && n->leaf_first == 9 && n->n_leaves == 9);
    CU_ASSERT_TRUE(th_system_find_link(s, "s1.5_s2.1") >= 0 &&
                   th_system_find_link(s, "14_s1.4") >= 0);
    CU_ASSERT_TRUE(s->nodes[14].group == 4 && s->nodes[14].leaf_first == 14 &&
                   s->nodes[14].n_leaves == 1);
    TAP_ASSERT_TEXT(s->routing->name, "up_down");
}

/* The K-ary N-tree: K^N leaves, N * K^(N - 1) switches, N * K^N cables, diameter 2 N. 4 and 2: 16,
 * 8, 32,
 * 4; 3 and 3: 27, 27, 81, 6. A switch has K cables down and, but for the roots, K up. */
TEST(makes_fat_trees)
{
    auto_system *s = new_tree("fattree", 4, 2, 0);
    expect_counts(s, 16, 8, 32, __LINE__);
    CU_ASSERT_EQUAL(diameter(s), 4);
    for (int i = 16; i < 24; i++)
        CU_ASSERT_EQUAL(s->adjacency.out_start[i + 1] - s->adjacency.out_start[i], i < 20 ? 8 : 4);
    CU_ASSERT_TRUE(th_system_find_link(s, "s1.2_s2.3") >= 0 && s->nodes[7].group == 1);
    th_system_free(s);
    s = new_tree("fattree", 3, 3, 0);
    expect_counts(s, 27, 27, 81, __LINE__);
    CU_ASSERT_EQUAL(diameter(s), 6);
}

/* K 4, N 3, two down per one up: U = 2. Level l has 4^(3 - l) * 2^(l - 1) switches: 16 + 8 + 4;
 * cables 64 +
 * 16 * 2 + 8 * 2 = 112. K 6, 1.5: U = 4, 6 + 4 switches, 36 + 24 cables. K 3, 3: the plain tree. */
TEST(oversubscribes)
{
    auto_system *s = new_tree("fattree", 4, 3, 2);
    expect_counts(s, 64, 28, 112, __LINE__);
    CU_ASSERT_EQUAL(diameter(s), 6);
    th_system_free(s);
    s = new_tree("fattree", 6, 2, 1.5);
    expect_counts(s, 36, 10, 60, __LINE__);
    th_system_free(s);
    s = new_tree("fattree", 3, 2, 3);
    expect_counts(s, 9, 4, 12, __LINE__);
}

/* Cables between the switches above the first half of the leaves and the roots: half of the leaves
 * where nothing is oversubscribed, a half of that at 2. */
TEST(halves_are_joined_by_as_many_cables_as_said)
{
    for (int ratio = 1; ratio <= 2; ratio++) {
        auto_system *s = new_tree("fattree", 4, 2, ratio);
        int n_up = 0;
        for (int l = 0; l < s->n_links; l++) {
            const th_node *from = &s->nodes[s->links[l].from], *to = &s->nodes[s->links[l].to];
            n_up += from->level == 1 && to->level == 2 && from->leaf_first < 8;
        }
        CU_ASSERT_EQUAL(n_up, 8 / ratio);
    }
}

TEST(levels_have_bandwidths_of_their_own)
{
    th_topology_options o = options_of((const int[]){2, 3, 0});
    static const int64_t bits[] = {900, 400, 70};
    memcpy(o.bits_per_s, bits, sizeof bits);
    o.n_bandwidths = 3;
    auto_system *s = create("fattree", &o);
    th_route_summary r;
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(th_route_summarize(s, 0, 1 << i, &r), 0);
        CU_ASSERT_TRUE(r.bits_per_s == bits[i] && r.n_links == 2 * (i + 1) &&
                       r.latency_ps == 6 * (i + 1));
    }
}

/* ---- routes ---- */

/* Between leaves: twice the level of the lowest switch above both, which has K^l leaves. */
static int up_and_down(const th_system *s, int a, int b)
{
    int arity = s->nodes[s->n_accels].n_leaves, level = 0;
    for (; a != b; level++) {
        a /= arity;
        b /= arity;
    }
    return 2 * level;
}

TEST(routes_are_sound_and_go_no_higher_than_needed)
{
    static const struct {
        const char *type;
        int arity, n_levels;
        double ratio;
    } cases[] = {{"tree", 2, 5, 0},    {"tree", 5, 2, 0},      {"tree", 7, 1, 0},
                 {"fattree", 2, 4, 0}, {"fattree", 3, 3, 0},   {"fattree", 4, 2, 4},
                 {"fattree", 4, 3, 2}, {"fattree", 6, 2, 1.5}, {"fattree", 2, 5, 2},
                 {"fattree", 9, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        th_topology_options o = options_of((const int[]){cases[i].arity, cases[i].n_levels, 0});
        o.oversubscription = cases[i].ratio;
        o.with_host = i % 2 == 0;
        auto_system *s = create(cases[i].type, &o);
        CU_ASSERT_EQUAL(n_wrong_routes(s, s->n_accels, up_and_down), 0);
        CU_ASSERT_EQUAL(n_wrong_routes(s, s->n_nodes, any_length), 0);
    }
}

/* D-mod-k by hand, 4-ary 2-tree: leaf j is reached through root j mod 4, from wherever. */
TEST(the_destination_chooses_the_root)
{
    auto_system *s = new_tree("fattree", 4, 2, 0);
    for (int j = 0; j < 16; j++)
        for (int i = 0; i < 16; i++) {
            int links[TH_ROUTE_MAX];
            if (i / 4 != j / 4) {
                CU_ASSERT_EQUAL(th_route(s, i, j, links), 4);
                CU_ASSERT_EQUAL(s->links[links[1]].to, 20 + j % 4);
            }
        }
}

/* The most routes of a shift by n_steps that share a link between switches. */
static int worst_shared(const th_system *s, int n_steps)
{
    int n_on[2048] = {0}, worst = 0, links[TH_ROUTE_MAX];
    CU_ASSERT_TRUE_FATAL(s->n_links <= 2048);
    for (int i = 0; i < s->n_accels; i++) {
        int n = th_route(s, i, (i + n_steps) % s->n_accels, links);
        for (int k = 0; k < n; k++)
            worst = ++n_on[links[k]] > worst ? n_on[links[k]] : worst;
    }
    return worst;
}

/* What D-mod-k is for: without oversubscription no shift permutation makes two routes share a link;
 * with U = K / 2 no more than two do for each level of switches but the first. */
TEST(shifts_do_not_block)
{
    auto_system *full = new_tree("fattree", 4, 3, 0), *half = new_tree("fattree", 4, 2, 2);
    auto_system *quarter = new_tree("fattree", 4, 3, 2);
    for (int n_steps = 1; n_steps < 64; n_steps++) {
        CU_ASSERT_EQUAL(worst_shared(full, n_steps), 1);
        CU_ASSERT_TRUE(worst_shared(quarter, n_steps) <= 4);
    }
    CU_ASSERT_EQUAL(worst_shared(quarter, 16), 4);
    for (int n_steps = 1; n_steps < 16; n_steps++)
        CU_ASSERT_TRUE(worst_shared(half, n_steps) <= 2);
    CU_ASSERT_EQUAL(worst_shared(half, 4), 2);
}

TAP_MAIN("generate_tree")
