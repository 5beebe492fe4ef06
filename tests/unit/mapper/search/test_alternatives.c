/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_alternatives.c - what layers might have taken instead: against every strategy, run. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/search/alternatives.h"
#include "mapper/strategies.h"
#include "tests/unit/search_help.h"

/* 64 channels of 8 x 8 to 64, 1 x 1, int8: weights, inputs and outputs have 4,096 bytes each. */
#define SQUARE                                                                                     \
    "name = \"n\"; batch = 1; precision = \"int8\"; input = { channels = 64; height = 8; width = " \
    "8; }; "                                                                                       \
    "layers = ( { name = \"a\"; type = \"conv\"; outputs = 64; }, { name = \"r\"; type = "         \
    "\"relu\"; }, "                                                                                \
    "{ name = \"b\"; type = \"conv\"; outputs = 64; } );"

static th_system *ring(const char *designs, const char *names, const char *capacity)
{
    char text[2000];
    snprintf(
        text, sizeof text,
        "name = \"t\"; designs = ( %s ); accelerators = ( { dram = { capacity = \"%s\"; bandwidth "
        "= "
        "\"1000GB/s\"; latency = \"1ns\"; burst = \"1B\"; }; vector = { clock = \"1GHz\"; "
        "elements_per_cycle = 8; }; designs = [%s]; } ); topology = { type = \"ring\"; dims = [4]; "
        "bandwidth = \"8Gbps\"; latency = \"100ns\"; host = { bandwidth = \"2Gbps\"; }; };",
        designs, capacity, names);
    return system_of(text);
}
#define ONE_MAC   "{ name = \"x\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 1; }"
#define FOUR_MACS "{ name = \"y\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 4; }"
/* Its buffers hold no tile. */
#define NONE                                                                                       \
    "{ name = \"z\"; type = \"systolic\"; clock = \"1GHz\"; rows = 8; cols = 8; dataflow = "       \
    "\"os\"; "                                                                                     \
    "output_buffer = \"16B\"; }"

static th_mapping *mapping_of(const th_workload *w, const char *a, const char *r, const char *b)
{
    th_mapping *m = mapping_on("0123", w);
    put_layer(m, 0, 0, a);
    put_layer(m, 1, 0, r);
    put_layer(m, 2, 0, b);
    return m;
}

/* 64 x 64 x 64 MACs by four accelerators: 65,536 at one a ns, and a quarter of that. a's weights
 * rotate along K in pieces of 16 x 64 bytes, b keeps still. */
TEST(designs_and_pieces_by_hand)
{
    auto_system *s = ring(ONE_MAC "," FOUR_MACS "," NONE, "\"x\", \"y\", \"z\"", "1GiB");
    auto_workload *w = workload_of(SQUARE);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    auto_mapping *m = mapping_of(w, "H4 rK", "H4", "H4");
    th_alternatives a;
    CU_ASSERT_EQUAL(th_alternatives_find(&a, &p, m, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(a.n, 2);
    CU_ASSERT_TRUE(a.at[0].layer == 0 && a.at[1].layer == 2);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_TRUE(a.at[i].by_design[0] > 65536000 && a.at[i].by_design[0] < 65700000);
        CU_ASSERT_TRUE(a.at[i].by_design[1] > 16384000 && a.at[i].by_design[1] < 16500000);
        CU_ASSERT_EQUAL(a.at[i].by_design[2], -1);
        CU_ASSERT_TRUE(a.at[i].alone_ps >= a.at[i].by_design[0] && a.at[i].alone_ps < 67000000);
    }
    CU_ASSERT_TRUE(a.at[0].rotating == TH_OPERAND_WEIGHT && a.at[0].phase_bytes == 1024);
    CU_ASSERT_TRUE(a.at[0].is_simulated && a.at[0].instead.fit == TH_FIT);
    CU_ASSERT_TRUE(a.at[1].rotating == TH_OPERAND_NONE && a.at[1].phase_bytes == 0);
    CU_ASSERT_TRUE(!a.at[1].is_simulated && a.at[1].has_exclusive);
    th_alternatives_clear(&a);
}

/* Both layers rotate; each one's best exclusive shards, by running all of them with the relu
 * following. */
TEST(the_best_instead_by_brute_force)
{
    auto_system *s = ring(ONE_MAC, "\"x\"", "1GiB");
    auto_workload *w = workload_of(SQUARE);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    auto_mapping *m = mapping_of(w, "H4 rK", "H4", "K4 rC");
    th_alternatives a;
    CU_ASSERT_EQUAL(th_alternatives_find(&a, &p, m, NULL), 0);
    CU_ASSERT_EQUAL(a.whole.value, fitness_of(&p, m));
    CU_ASSERT_EQUAL_FATAL(a.n, 2);
    for (int i = 0; i < 2; i++) {
        th_strategy *list = NULL;
        int layer = a.at[i].layer, n = th_strategies_list(&w->layers[layer], 1, 4, &list);
        auto_mapping *trial = th_mapping_copy(m);
        double best = INFINITY;
        for (int k = 0; k < n; k++) {
            trial->strategy[layer] = list[k];
            th_mapping_follow(trial, w, 1);
            double value = list[k].rotate == TH_NO_ROTATION ? fitness_of(&p, trial) : INFINITY;
            best = value < best ? value : best;
        }
        CU_ASSERT_EQUAL(a.at[i].instead.value, best);
        trial->strategy[layer] = a.at[i].exclusive;
        th_mapping_follow(trial, w, 1);
        CU_ASSERT_TRUE(a.at[i].exclusive.rotate == TH_NO_ROTATION && fitness_of(&p, trial) == best);
        th_free(list);
    }
    th_alternatives_clear(&a);
}

/* H4 with weights that rotate holds two quarters of them, and a quarter of inputs and outputs:
 * 4,096 bytes. K4 wants all of the input, 6,144; K2 H2 5,120; H4 all weights; C4 all partial sums,
 * of four bytes each. b's weights rotate too. */
TEST(where_nothing_else_fits)
{
    auto_system *s = ring(ONE_MAC, "\"x\"", "1GiB"), *small;
    auto_workload *w =
        workload_of("name = \"n\"; batch = 1; precision = \"int8\"; input = { "
                    "channels = 64; height = 8; width = 8; }; "
                    "layers = ( { name = \"a\"; type = \"conv\"; outputs = 64; } );");
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    auto_mapping *m = mapping_on("0123", w);
    th_alternatives a;
    put_layer(m, 0, 0, "H4 rK");
    th_evaluator *e = th_evaluator_new(&p, NULL);
    th_fitness f;
    char capacity[32];
    CU_ASSERT_EQUAL(th_evaluator_run(e, m, INFINITY, &f, NULL), 0);
    int64_t peak = th_lower_peak_bytes(th_evaluator_lower(e))[0];
    CU_ASSERT_TRUE(peak >= 4096 && peak < 5120);
    snprintf(capacity, sizeof capacity, "%lldB", (long long)peak);
    th_evaluator_free(e);
    small = ring(ONE_MAC, "\"x\"", capacity);
    p.system = small;
    CU_ASSERT_EQUAL(th_alternatives_find(&a, &p, m, NULL), 0);
    CU_ASSERT_TRUE(a.whole.fit == TH_FIT && a.at[0].is_simulated && a.at[0].has_exclusive);
    CU_ASSERT_EQUAL(a.at[0].instead.fit, TH_FIT_INFEASIBLE);
    TAP_ASSERT_TEXT(a.at[0].why.id, "MAP-0022");
    CU_ASSERT_PTR_NOT_NULL(strstr(a.at[0].why.text, "bytes too few at layer \"a\""));
    th_alternatives_clear(&a);
}

TAP_MAIN("alternatives")
