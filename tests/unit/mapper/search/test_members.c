/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_members.c - changes of the members of sets. */
#include <config.h>
#include "mapper/search/variation/members.h"
#include "tests/unit/search_help.h"

static th_system *sys; /* four accelerators of one multiply-accumulate per ns, 0 and 1 in a group */
static th_workload *net;
static th_problem problem;

/* The members of all sets, as mapping_on takes them. */
static void expect_sets(const th_mapping *m, const char *expected)
{
    char text[64];
    int n = 0;
    for (int set = 0; set < m->n_sets; set++) {
        for (int r = 0; r < m->sets[set].n_accels; r++)
            text[n++] = (char)('0' + m->sets[set].accels[r]);
        text[n++] = set + 1 < m->n_sets ? ' ' : '\0';
    }
    TAP_ASSERT_TEXT(text, expected);
}

TEST(members_move_and_change_places)
{
    th_error e = {"", ""};
    auto_mapping *m = mapping_on("01 2", net);
    CU_ASSERT_EQUAL(th_member_exchange(m, 0, 2), 0);
    expect_sets(m, "21 0");
    CU_ASSERT_EQUAL(th_member_exchange(m, 3, 1), 0); /* 3 was idle, now 1 is */
    expect_sets(m, "23 0");
    CU_ASSERT_EQUAL(th_member_exchange(m, 2, 3), 0);
    expect_sets(m, "32 0");
    CU_ASSERT_EQUAL(th_member_move(m, 1, 1, 0, &e), 0);
    expect_sets(m, "32 10");
    CU_ASSERT_EQUAL(th_member_move(m, 3, 1, 2, &e), 0);
    expect_sets(m, "2 103");
    CU_ASSERT_EQUAL(th_member_move(m, 2, 1, 0, &e), 1); /* the last of its set */
    CU_ASSERT_EQUAL(th_member_move(m, 3, 1, 0, &e), 1); /* it is there */
    CU_ASSERT_EQUAL(th_member_move(m, 3, -1, 0, &e), 0);
    CU_ASSERT_EQUAL(th_member_move(m, 3, -1, 0, &e), 1); /* it is idle */
    expect_sets(m, "2 10");
    CU_ASSERT_EQUAL(th_mapping_find(m, 0).at, 1);
    CU_ASSERT_EQUAL(th_mapping_find(m, 3).set, -1);
    CU_ASSERT_EQUAL(th_mapping_find(NULL, 3).set, -1);
}

/* Every mapping that random changes make is valid; with sets inside groups none comes to span
 * them. */
TEST(random_changes_are_valid)
{
    for (int inside = 0; inside < 2; inside++) {
        th_error e = {"", ""};
        th_search_options o = th_search_defaults;
        o.sets_inside_groups = inside;
        auto_search *s = search_of("two_level", &problem, &o);
        th_variation v = {0};
        auto_mapping *now = mapping_on("01 23", net);
        put_layer(now, 0, 0, "K2");
        put_layer(now, 1, 1, "H2");
        int n_made = 0;
        CU_ASSERT_EQUAL_FATAL(th_variation_init(&v, s, "members", &e), 0);
        for (int i = 0; i < 300; i++) {
            th_mapping *next;
            CU_ASSERT_EQUAL_FATAL(th_variation_members(&v, now, &next, &e), 0);
            if (!next)
                continue;
            n_made++;
            CU_ASSERT_EQUAL(th_mapping_check(next, sys, net, &e), 0);
            CU_ASSERT_EQUAL(next->n_sets, 2);
            for (int set = 0; inside && set < 2; set++)
                for (int r = 0; r < next->sets[set].n_accels; r++)
                    CU_ASSERT_EQUAL(next->sets[set].accels[r] / 2, next->sets[set].accels[0] / 2);
            th_mapping_free(now);
            now = next;
        }
        CU_ASSERT_TRUE(n_made > 50);
        th_variation_clear(&v);
    }
}

/* Products: 64 * 64 channels * 64 * 64 pixels = 2^24 of "large", 2^22 of "small". On two
 * accelerators each, large takes 2^23 ns; on three, 22 of 64 rows or channels each: 22 * 2^18 ns,
 * and small on one 2^22 ns, which is less; both on two or three would take longer. Links and
 * memories take next to no time. */
TEST(local_search_gives_members_to_the_set_with_more_work)
{
    auto_mapping *start = mapping_on("01 23", net);
    put_layer(start, 0, 0, "K2");
    put_layer(start, 1, 1, "K2");
    th_search_options o = th_search_defaults;
    o.start = start;
    auto_search *s = found("polish", &problem, &o);
    const double best = (22 << 18) * 1e3;
    CU_ASSERT_TRUE(fitness_of(&problem, start) >= (1 << 23) * 1e3);
    CU_ASSERT_TRUE(s->best_fitness.value >= best && s->best_fitness.value < best * 1.01);
    CU_ASSERT_EQUAL(s->best->sets[s->best->set_of[0]].n_accels, 3);
    CU_ASSERT_EQUAL(s->best->sets[s->best->set_of[1]].n_accels, 1);
}

static void make_all(void)
{
    sys = system_of(
        "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "
        "macs_per_cycle = 1; } ); accelerators = ( { names = [\"0\", \"1\"]; group = 0; dram = { "
        "capacity = \"1GiB\"; bandwidth = \"1000GB/s\"; latency = \"1ns\"; burst = \"1B\"; }; "
        "vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; designs = [\"d\"]; }, { names = "
        "[\"2\", \"3\"]; group = 1; dram = { capacity = \"1GiB\"; bandwidth = \"1000GB/s\"; "
        "latency = \"1ns\"; burst = \"1B\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = "
        "1; }; designs = [\"d\"]; } ); links = ( { all_pairs = [\"0\", \"1\", \"2\", \"3\"]; "
        "bandwidth = \"8000Gbps\"; latency = \"1ns\"; } );");
    net = workload_of(
        "name = \"net\"; batch = 1; input = { channels = 64; height = 64; width = 64; }; layers = "
        "( { name = \"large\"; type = \"conv\"; outputs = 64; kernel = 1; }, { name = \"small\"; "
        "type = \"conv\"; outputs = 64; kernel = 1; stride = 2; inputs = \"input\"; } );");
    problem = problem_of(sys, net);
}

TAP_MAIN_WITH("members", make_all)
