/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "base/alloc.h"
#include "mapper/search/partition/sets.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

/* "(01(2)(3))": the accelerators of leaves, children in brackets. */
static void print_node(const th_set_tree *t, int32_t node, th_strbuf *out)
{
    const th_set_node *n = &t->node[node];
    th_strbuf_add(out, "(");
    for (int32_t i = 0; n->n_children == 0 && i < n->n; i++)
        th_strbuf_printf(out, "%d", (int)n->accels[i]);
    for (int32_t c = 0; c < n->n_children; c++) {
        CU_ASSERT_EQUAL(t->node[n->first_child + c].parent, node);
        print_node(t, n->first_child + c, out);
    }
    th_strbuf_add(out, ")");
}

static void assert_tree(const th_system *s, const char *expected)
{
    auto_set_tree t;
    auto_strbuf text = TH_STRBUF_INIT;
    CU_ASSERT_EQUAL_FATAL(th_set_tree_init(&t, s, NULL), 0);
    print_node(&t, 0, &text);
    TAP_ASSERT_TEXT(text.text, expected);
}

#define EIGHT "name = \"t\"; " MAP_HELP_ACCEL("1GiB")

/* The host's 2 Gb/s fall first: two groups of four, all of whose links are alike. */
TEST(f1_parts_into_its_groups)
{
    auto_system *s = shipped_system("f1_16xlarge");
    assert_tree(s, "((((0)(1))((2)(3)))(((4)(5))((6)(7))))");
    auto_set_tree t;
    th_set_tree_init(&t, s, NULL);
    CU_ASSERT_TRUE(t.n == 15 && t.node[0].spans_groups && t.node[0].n == 8);
    for (size_t i = 1; i < t.n; i++)
        CU_ASSERT_FALSE(t.node[i].spans_groups);
    CU_ASSERT_TRUE(t.node[2].n == 4 && t.node[2].accels[0] == 4 && t.node[2].accels[3] == 7);
}

static void assert_interleaved(const th_set_tree *t, int32_t block, const char *expected)
{
    auto_strbuf text = TH_STRBUF_INIT;
    int32_t accels[8];
    th_set_tree_interleave(t, 0, block, accels);
    for (int i = 0; i < t->node[0].n; i++)
        th_strbuf_printf(&text, "%d", (int)accels[i]);
    TAP_ASSERT_TEXT(text.text, expected);
}

/* One of each group in turn, or two; groups whole is how they are. A half of a group stays as it
 * is: its links are alike. */
TEST(members_are_interleaved_across_slow_links)
{
    auto_system *s = shipped_system("f1_16xlarge");
    auto_set_tree t;
    th_set_tree_init(&t, s, NULL);
    assert_interleaved(&t, 0, "01234567");
    assert_interleaved(&t, 1, "04152637");
    assert_interleaved(&t, 2, "01452367");
    assert_interleaved(&t, 3, "01234567");
    assert_interleaved(&t, 4, "01234567");
    CU_ASSERT_TRUE(th_set_tree_can_interleave(&t, 0, 1) && th_set_tree_can_interleave(&t, 0, 2));
    CU_ASSERT_FALSE(th_set_tree_can_interleave(&t, 0, 0) || th_set_tree_can_interleave(&t, 0, 3) ||
                    th_set_tree_can_interleave(&t, 0, 4));
    for (int32_t i = 1; i < (int32_t)t.n; i++)
        CU_ASSERT_FALSE(th_set_tree_can_interleave(&t, i, 1));
}

static void assert_orders(const th_system *s, const char *members, const char *expected)
{
    int32_t n = (int32_t)strlen(members), accels[8], *orders;
    auto_strbuf text = TH_STRBUF_INIT;
    for (int32_t i = 0; i < n; i++)
        accels[i] = members[i] - '0';
    int32_t n_orders = th_set_orders(s, accels, n, &orders);
    for (int32_t i = 0; i < n_orders * n; i++)
        th_strbuf_printf(&text, "%s%d", i > 0 && i % n == 0 ? " " : "", (int)orders[i]);
    TAP_ASSERT_TEXT(text.text, expected);
    th_free(orders);
}

/* As given, then one of each group in turn, then two, where the groups are as large as one another:
 * links to accelerators outside the set do not count. Inside a group links are alike. */
TEST(orders_of_a_set)
{
    auto_system *s = shipped_system("f1_16xlarge");
    assert_orders(s, "01234567", "01234567 04152637 01452367");
    assert_orders(s, "104567", "104567");
    assert_orders(s, "102457", "102457 041527");
    assert_orders(s, "3210", "3210");
    assert_orders(s, "5", "5");
}

/* Links alike: halves by number, the first one larger when odd. */
TEST(rings_and_meshes_are_halved)
{
    auto_system *ring = system_of(EIGHT "topology = { type = \"ring\"; dims = [5]; bandwidth = "
                                        "\"8Gbps\"; latency = \"1us\"; };");
    assert_tree(ring, "((((0)(1))(2))((3)(4)))");
    auto_system *mesh = system_of(EIGHT "topology = { type = \"mesh\"; dims = [3, 2]; bandwidth = "
                                        "\"8Gbps\"; latency = \"1us\"; };");
    assert_tree(mesh, "((((0)(1))(2))(((3)(4))(5)))");
    auto_set_tree t;
    th_set_tree_init(&t, mesh, NULL);
    CU_ASSERT_FALSE(th_set_tree_can_interleave(&t, 0, 1));
    assert_interleaved(&t, 1, "012345");
}

/* A chain 0 =4= 1 -2- 2 =4= 3 -1- 4 =8= 5 -2- 6: 1 Gb/s falls first, then 2 on both sides. */
TEST(weak_links_part_a_chain)
{
    auto_system *s = system_of(
        "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "
        "macs_per_cycle = 1; } ); accelerators = ( { count = 7; dram = { capacity = \"1GiB\"; "
        "bandwidth = \"1GB/s\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; designs "
        "= [\"d\"]; } ); links = ("
        "{ between = [\"0\", \"1\"]; bandwidth = \"4Gbps\"; latency = \"1us\"; },"
        "{ between = [\"1\", \"2\"]; bandwidth = \"2Gbps\"; latency = \"1us\"; },"
        "{ between = [\"2\", \"3\"]; bandwidth = \"4Gbps\"; latency = \"1us\"; },"
        "{ between = [\"3\", \"4\"]; bandwidth = \"1Gbps\"; latency = \"1us\"; },"
        "{ between = [\"4\", \"5\"]; bandwidth = \"8Gbps\"; latency = \"1us\"; },"
        "{ between = [\"5\", \"6\"]; bandwidth = \"2Gbps\"; latency = \"1us\"; } );");
    assert_tree(s, "((((0)(1))((2)(3)))(((4)(5))(6)))");
    auto_set_tree t;
    th_set_tree_init(&t, s, NULL);
    CU_ASSERT_FALSE(th_set_tree_can_interleave(&t, 0, 1)); /* parts of four and of three */
    CU_ASSERT_TRUE(th_set_tree_can_interleave(&t, 1, 1));  /* {0, 1} and {2, 3} */
}

/* Children part their parent, whatever the links. */
TEST(every_node_is_the_union_of_its_children)
{
    auto_system *s = system_of(EIGHT "topology = { type = \"tree\"; dims = [3, 3]; bandwidth = "
                                     "\"8Gbps\"; latency = \"1us\"; };");
    auto_set_tree t;
    CU_ASSERT_EQUAL_FATAL(th_set_tree_init(&t, s, NULL), 0);
    for (size_t i = 0; i < t.n; i++) {
        int32_t sum = 0;
        for (int32_t c = 0; c < t.node[i].n_children; c++) {
            const th_set_node *child = &t.node[t.node[i].first_child + c];
            CU_ASSERT_EQUAL(child->accels[0], t.node[i].accels[sum]);
            sum += child->n;
        }
        CU_ASSERT_EQUAL(sum, t.node[i].n_children > 0 ? t.node[i].n : 0);
        CU_ASSERT_TRUE(t.node[i].n_children > 0 || t.node[i].n == 1);
    }
}

TEST(groups_become_sets)
{
    auto_system *f1 = shipped_system("f1_16xlarge"), *ring = shipped_system("ring8");
    auto_mapping *m = th_sets_by_group(f1, 3), *r = th_sets_by_group(ring, 3);
    CU_ASSERT_TRUE(th_sets_first_group_size(f1) == 4 && th_sets_first_group_size(ring) == 8);
    for (int i = 0; i < 2; i++) { /* one group of several: two halves */
        CU_ASSERT_TRUE(m->n_sets == 2 && m->sets[i].n_accels == 4 &&
                       m->sets[i].accels[3] == 4 * i + 3);
        CU_ASSERT_TRUE(r->n_sets == 2 && r->sets[i].n_accels == 4 && r->sets[i].accels[0] == 4 * i);
    }
}

/* Groups 7 3 7: sets by first appearance. One accelerator alone: one set. */
TEST(groups_may_be_interleaved)
{
    auto_system *s = system_of(
        "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "
        "macs_per_cycle = 1; }, { name = \"x\"; type = \"roofline\"; clock = \"1GHz\"; "
        "macs_per_cycle "
        "= 2; } ); accelerators = ("
        "{ name = \"a\"; group = 7; dram = { capacity = \"1GiB\"; bandwidth = \"1GB/s\"; }; vector "
        "= { "
        "clock = \"1GHz\"; elements_per_cycle = 1; }; designs = [\"d\"]; },"
        "{ name = \"b\"; group = 3; dram = { capacity = \"1GiB\"; bandwidth = \"1GB/s\"; }; vector "
        "= { "
        "clock = \"1GHz\"; elements_per_cycle = 1; }; designs = [\"x\"]; },"
        "{ name = \"c\"; group = 7; dram = { capacity = \"1GiB\"; bandwidth = \"1GB/s\"; }; vector "
        "= { "
        "clock = \"1GHz\"; elements_per_cycle = 1; }; designs = [\"x\", \"d\"]; } );"
        "links = ( { all_pairs = [\"a\", \"b\", \"c\"]; bandwidth = \"1Gbps\"; latency = \"1us\"; "
        "} );");
    auto_mapping *m = th_sets_by_group(s, 1);
    CU_ASSERT_TRUE(m->n_sets == 2 && m->sets[0].n_accels == 2 && m->sets[1].n_accels == 1);
    CU_ASSERT_TRUE(m->sets[0].accels[1] == 2 && m->sets[1].accels[0] == 1);
    CU_ASSERT_TRUE(th_set_supports_design(s, &m->sets[0], 0) &&
                   !th_set_supports_design(s, &m->sets[0], 1));
    CU_ASSERT_TRUE(!th_set_supports_design(s, &m->sets[1], 0) &&
                   th_set_supports_design(s, &m->sets[1], 1));
    th_mapping_free(m);
    th_system_free(s);
    s = shipped_system("npu_v1");
    m = th_sets_by_group(s, 1);
    CU_ASSERT_TRUE(m->n_sets == 1 && m->sets[0].n_accels == 1);
}

TAP_MAIN("sets")
