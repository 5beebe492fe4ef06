/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_search_candidates.c - what searches choose from: heterogeneous accelerators, candidate
 * partitions, and the baselines by hand. */
#include <config.h>
#include "mapper/search/partition/partition.h"
#include "mapper/strategies.h"
#include "tests/unit/search_main.h"

/* --- systems of heterogeneous accelerators --- */

#define UNLIKE(NAME, GROUP, DESIGN)                                                                \
    "{ name = \"" NAME "\"; group = " GROUP "; dram = { capacity = \"1GiB\"; bandwidth = "         \
    "\"16GB/s\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = 4; }; designs = [\"" DESIGN  \
    "\"]; }"
#define TWO_KINDS(GROUPS_OF_1_AND_2_1, GROUP_2)                                                    \
    "name = \"mixed\"; designs = ( { name = \"x\"; type = \"roofline\"; clock = \"1GHz\"; "        \
    "macs_per_cycle = 30; }, { name = \"y\"; type = \"roofline\"; clock = \"1GHz\"; "              \
    "macs_per_cycle = 50; } ); accelerators = (" UNLIKE("a", "0", "x") "," UNLIKE(                 \
        "b", GROUPS_OF_1_AND_2_1,                                                                  \
        "y") "," UNLIKE("c", GROUP_2,                                                              \
                        "x") "," UNLIKE("d", "1",                                                  \
                                        "y") "); links = ( { all_pairs = [\"a\", \"b\", \"c\", "   \
                                             "\"d\"]; bandwidth = \"8Gbps\"; "                     \
                                             "latency = \"1us\"; } );"

/* a and c have x, b and d have y: no set of two neighbours has a design, single accelerators do.
 * The groups are {a, c} and {b, d}: uniform runs on a and c. */
TEST(sets_without_a_common_design_are_left_out)
{
    auto_system *s = system_of(TWO_KINDS("1", "0"));
    th_problem p = problem_of(s, branches);
    for (int i = 0; th_search_types[i]; i++) {
        th_search_options o = {.seed = 1, .evaluations = 150, .threads = 1};
        auto_search *x = found(th_search_types[i]->name, &p, &o);
        if (strcmp(x->type->name, "uniform") == 0 && x->best->sets[0].n_accels == 2)
            CU_ASSERT_EQUAL(x->best->sets[0].accels[1], 2);
    }
}

/* Groups {a, b} and {c, d}: none has a design. The baseline says so, the search goes on without it.
 */
TEST(a_baseline_without_a_design_is_an_error)
{
    auto_system *s = system_of(TWO_KINDS("0", "1"));
    th_problem p = problem_of(s, branches);
    th_error e = {"", ""};
    th_search *x = search_of("computation_prioritized", &p, &th_search_defaults);
    CU_ASSERT_EQUAL(th_search_iterate(x, &e), -1);
    TAP_ASSERT_ERROR(e, "MAP-0026",
                     "computation_prioritized: no design that all 2 accelerators of group 0 can "
                     "be configured with");
    th_search_free(x);
    th_search_options o = {.seed = 1, .evaluations = 50, .threads = 1};
    th_search_free(found("two_level", &p, &o));
}

TEST(a_layer_that_cannot_be_split_is_an_error)
{
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 1; input = { channels = 3; height = 4; width = 4; }; layers = ( "
        "{ name = \"p\"; type = \"mean_pool\"; } );");
    th_problem p = problem_of(f1, w);
    th_error e = {"", ""};
    th_search_options basic = th_search_defaults;
    basic.space = TH_SPACE_BASIC;
    auto_search *s = search_of("computation_prioritized", &p, &basic),
                *any = found("computation_prioritized", &p, &th_search_defaults);
    CU_ASSERT_EQUAL(any->best->strategy[0].copies, 2); /* of K2 */
    CU_ASSERT_EQUAL(th_search_iterate(s, &e), -1);
    TAP_ASSERT_ERROR(e, "MAP-0025",
                     "computation_prioritized: layer \"p\" cannot be split over 4 accelerators");
}

TEST(nothing_that_fits_is_an_error)
{
    auto_system *s = system_of("name = \"t\"; " MAP_HELP_ACCEL(
        "100B") "topology = { type = \"ring\"; "
                "dims = [4]; bandwidth = \"8Gbps\"; latency = \"100ns\"; };");
    th_problem p = problem_of(s, alexnet);
    for (int i = 0; th_search_types[i]; i++) {
        if (strcmp(th_search_types[i]->name, "exhaustive") == 0)
            continue; /* too large */
        th_search_options o = {.seed = 1, .evaluations = 100, .threads = 2};
        th_error e = {"", ""};
        char expected[1200];
        auto_search *x = search_of(th_search_types[i]->name, &p, &o);
        while (!x->done && th_search_iterate(x, &e) == 0)
            ;
        TAP_ASSERT_TEXT(e.id, "MAP-0024");
        snprintf(expected, sizeof expected,
                 "%s: none of %lld mappings of \"alexnet\" onto \"t\" fits; the first: %s",
                 x->type->name, (long long)x->n_evaluations, x->first_infeasibility.text);
        TAP_ASSERT_TEXT(x->first_infeasibility.id, "MAP-0022");
        TAP_ASSERT_TEXT(e.text, expected);
        CU_ASSERT_TRUE(x->done && x->counts.infeasible == x->n_evaluations && !x->best);
    }
}

/* 256 accelerators of one group: sets beyond 255, and pools of 128 channels that cannot be cut as
 * often. */
TEST(hundreds_of_accelerators)
{
    auto_system *s = system_of("name = \"t\"; " MAP_HELP_ACCEL(
        "1GiB") "topology = { type = \"mesh\"; "
                "dims = [16, 16]; bandwidth = \"8Gbps\"; latency = \"100ns\"; };");
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 1; input = { channels = 64; height = 32; width = 32; }; layers = ( "
        "{ name = \"a\"; type = \"conv\"; outputs = 512; kernel = 1; },"
        "{ name = \"p\"; type = \"max_pool\"; kernel = 2; } );");
    th_problem p = problem_of(s, w);
    th_search_options o = {.seed = 1, .evaluations = 20, .threads = 1};
    th_search_free(found("random", &p, &o));
    th_search_free(found("computation_prioritized", &p, &o));
}

/* --- candidates of level 1 -------------------------------------------------------------------- */

TEST(partitions_of_f1)
{
    th_problem p = problem_of(f1, alexnet);
    th_partitioner l;
    auto_evaluator *e = th_evaluator_new(&p, NULL);
    auto_initial_generator *generator = th_initial_new(e, NULL);
    CU_ASSERT_EQUAL(th_partitioner_init(&l, generator, &p, false, NULL), 0);
    /* alone: 8, 8 interleaved by ones, by twos, 4 2 1, 7 6 5 3; together: 4 4, 2 2 2 2, 1 x 8 */
    static const int32_t sets[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8},
                         first[] = {8, 8, 8, 4, 2, 1, 7, 6, 5, 3, 4, 2, 1},
                         block[] = {0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    CU_ASSERT_EQUAL_FATAL(l.n, 13);
    for (int i = 0; i < 13; i++) {
        CU_ASSERT_EQUAL(l.partitions[i].block, block[i]);
        CU_ASSERT_EQUAL(l.partitions[i].n, sets[i]);
        CU_ASSERT_EQUAL(l.tree.node[l.partitions[i].node[0]].n, first[i]);
    }
    th_partitioner_clear(&l);
    CU_ASSERT_EQUAL(th_partitioner_init(&l, generator, &p, true, NULL), 0);
    CU_ASSERT_EQUAL(l.n, 7); /* alone: 4 2 1 3 */
    th_partitioner_clear(&l);
}

/* Sizes of single sets that leave accelerators of a star idle: those which share evenly, and one
 * less than all; of large systems no large ones but just below a size that does not share evenly.
 * They are the first accelerators, and no layers move to them over time. */
TEST(sizes_that_leave_accelerators_idle)
{
    static const char sizes[][40] = {"5:4", "12:11 10 8 7 5 4", "31:30 28 24 20 14 12 10 6 5",
                                     "33:32 28 24 20 14 12 10 7 6", "64:28 24 20 14 12 10 7 6 5 3"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[600], *listed = strchr(sizes[i], ':') + 1, is[80] = "";
        snprintf(text, sizeof text,
                 "name = \"s\"; " MAP_HELP_ACCEL(
                     "1GiB") "topology = { type = \"star\"; "
                             "dims = [%d]; bandwidth = \"8Gbps\"; latency = \"100ns\"; };",
                 atoi(sizes[i]));
        auto_system *s = system_of(text);
        th_problem p = problem_of(s, alexnet);
        th_partitioner l;
        auto_evaluator *e = th_evaluator_new(&p, NULL);
        auto_initial_generator *generator = th_initial_new(e, NULL);
        CU_ASSERT_EQUAL(th_partitioner_init(&l, generator, &p, false, NULL), 0);
        for (size_t k = 0; k < l.n; k++) {
            const th_set_node *node = &l.tree.node[l.partitions[k].node[0]];
            if (l.partitions[k].node[0] < l.n_places)
                continue;
            sprintf(is + strlen(is), " %d", node->n);
            for (int32_t r = 0; r < node->n; r++)
                CU_ASSERT_EQUAL(node->accels[r], r);
        }
        CU_ASSERT_STRING_EQUAL(is + 1, listed);
        th_partitioner_clear(&l);
    }
}

/* One image through an LSTM, which nothing but images could split, and a wide product. Alone: 8 in
 * three orders, 4 2 1, 7 6 5 3; together: 4 4; accelerator 0 beside {2, 3} and {4 .. 7}. In the
 * basic space the search gives the product a set of several; one accelerator for both, the uniform
 * answer, is slower. In the full one every member of a set computes the LSTM, and nothing travels
 * to the product. */
TEST(one_accelerator_runs_what_cannot_be_split)
{
    auto_workload *w =
        workload_of("name = \"words\"; batch = 1; input = { channels = 512; height = "
                    "32; width = 1; }; layers = ("
                    "{ name = \"lstm\"; type = \"lstm\"; outputs = 512; },"
                    "{ name = \"words\"; type = \"matmul\"; columns = 8192; } );");
    th_problem p = problem_of(f1, w);
    th_partitioner l;
    th_evaluator *e = th_evaluator_new(&p, NULL);
    th_initial_generator *generator = th_initial_new(e, NULL);
    CU_ASSERT_EQUAL(th_partitioner_init(&l, generator, &p, false, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(l.n, 13);
    for (int i = 11; i < 13; i++) {
        const th_partition *uneven = &l.partitions[i];
        CU_ASSERT_TRUE(uneven->assignment == TH_ASSIGN_UNEVEN && uneven->n == 2);
        CU_ASSERT_EQUAL(l.tree.node[uneven->node[0]].n, 1);
        CU_ASSERT_EQUAL(l.tree.node[uneven->node[1]].n, i == 11 ? 2 : 4);
    }
    CU_ASSERT_EQUAL(l.tree.node[l.partitions[12].node[1]].accels[0], 4);
    th_partitioner_clear(&l);
    th_initial_free(generator);
    th_evaluator_free(e);
    th_search_options options = th_search_defaults;
    options.evaluations = 100;
    auto_search *any = found("two_level", &p, &options);
    options.space = TH_SPACE_BASIC;
    auto_search *s = found("two_level", &p, &options);
    options.evaluations = 0;
    auto_search *u = found("uniform", &p, &options);
    CU_ASSERT_TRUE(any->best_fitness.value < s->best_fitness.value);
    CU_ASSERT_TRUE(any->best->set_of[0] == any->best->set_of[1] &&
                   any->best->strategy[0].copies == any->best->sets[0].n_accels);
    CU_ASSERT_TRUE(s->best_fitness.value < u->best_fitness.value);
    CU_ASSERT_EQUAL(s->best->sets[s->best->set_of[0]].n_accels, 1);
    CU_ASSERT_TRUE(s->best->sets[s->best->set_of[1]].n_accels > 1);
}

/* --- baselines -------------------------------------------------------------------------------- */

/* branches: stem, then a (3 x 3) and b (1 x 1) from it, and their sum. Sets are the groups of four,
 * alike. stem: both sets would end at once: set 0. a: likewise, 0. b: 0 is busy with a, 1 is
 * free: 1. sum waits for a, the longer: both free then: 0. Splits over the two longest: stem K 64,
 * H 56 (C 3): 2 x 2; a, b: K 96, C 64; sum: K 96, H 56. */
TEST(computation_prioritized_by_hand)
{
    th_problem p = problem_of(f1, branches);
    auto_search *s = found("computation_prioritized", &p, &th_search_defaults);
    static const char *const splits[] = {"K2 H2", "K2 C2", "K2 C2", "K2 H2"};
    static const int32_t sets[] = {0, 0, 1, 0};
    CU_ASSERT_TRUE(s->n_evaluations == 1 && s->best->n_sets == 2);
    for (int l = 0; l < 4; l++) {
        th_strategy e = strategy_of(splits[l]);
        CU_ASSERT_EQUAL(s->best->set_of[l], sets[l]);
        CU_ASSERT_TRUE(th_strategy_equal(&s->best->strategy[l], &e));
    }
    auto_evaluator *e = th_evaluator_new(&p, NULL);
    th_time best = TH_TIME_MAX;
    int32_t chosen = -1;
    for (int32_t d = 0; d < 3; d++) { /* the design of least total compute, layers of both sets */
        th_set set = s->best->sets[0];
        th_time sum = 0;
        set.design = d;
        for (int l = 0; l < 4; l++)
            sum += th_evaluator_shard_time(e, &set, l, &s->best->strategy[l], NULL);
        if (sum < best) {
            best = sum;
            chosen = d;
        }
    }
    CU_ASSERT_TRUE(s->best->sets[0].design == chosen && s->best->sets[1].design == chosen);
}

TEST(a_chain_leaves_the_second_group_idle)
{
    th_problem p = problem_of(f1, alexnet);
    auto_search *s = found("computation_prioritized", &p, &th_search_defaults);
    for (int l = 0; l < alexnet->n_layers; l++)
        CU_ASSERT_EQUAL(s->best->set_of[l], 0);
}

/* Two accelerators, one design: one alone, or both with conv K2, C2, H2 or W2 and fc K2 or C2: 1 +
 * 4 * 2 mappings. The relu follows the conv (C2: its halves of K). */
TEST(uniform_by_brute_force)
{
    static const char *const convs[] = {"K2", "C2", "H2", "W2"},
                             *const follows[] = {"K2", "K2", "H2", "W2"},
                             *const denses[] = {"K2", "C2"};
    auto_system *sys = system_of("name = \"t\"; " MAP_HELP_ACCEL(
        "1GiB") "topology = { type = "
                "\"ring\"; dims = [2]; bandwidth = \"8Gbps\"; latency = \"100ns\"; "
                "host = { bandwidth = \"2Gbps\"; }; };");
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 1; input = { channels = 6; height = 11; width = 9; }; layers = ( "
        "{ name = \"a\"; type = \"conv\"; outputs = 8; kernel = 3; }, { name = \"r\"; type = "
        "\"relu\"; },"
        "{ name = \"f\"; type = \"fc\"; outputs = 30; } );");
    th_problem p = problem_of(sys, w);
    th_mapping *m = mapping_on("0", w);
    double best = fitness_of(&p, m);
    th_mapping_free(m);
    m = mapping_on("01", w);
    for (int c = 0; c < 4; c++) {
        for (int d = 0; d < 2; d++) {
            put_layer(m, 0, 0, convs[c]);
            put_layer(m, 1, 0, follows[c]);
            put_layer(m, 2, 0, denses[d]);
            double t = fitness_of(&p, m);
            best = t < best ? t : best;
        }
    }
    th_mapping_free(m);
    auto_search *s = found("uniform", &p, &th_search_defaults);
    CU_ASSERT_TRUE(s->n_evaluations == 9 && s->best_fitness.value == best);
}

TAP_MAIN_WITH("search_candidates", make_search_cases)
