/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_baseline.c - the simple searches: what each takes, worked out by hand. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/search/search.h"
#include "mapper/strategies.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

#define HOST "host = { bandwidth = \"2Gbps\"; }; };"
#define RING(N)                                                                                    \
    "name = \"t\"; " MAP_HELP_ACCEL("1GiB") "topology = { type = \"ring\"; dims = [" N             \
                                            "]; bandwidth = \"8Gbps\"; latency = \"100ns\"; " HOST

static th_search *found_with(const char *name, const th_problem *p, const th_search_options *o)
{
    th_error e = {"", ""};
    th_search *s = th_search_new(th_search_find(name), p, o, &e);
    while (s && !s->done && th_search_iterate(s, &e) == 0)
        ;
    if (!s || !s->done || !s->best)
        bail_out(&e);
    CU_ASSERT_EQUAL(th_mapping_check(s->best, p->system, p->workload, &e), 0);
    return s;
}

static th_search *found(const char *name, const th_problem *p, bool inside_groups)
{
    th_search_options o = th_search_defaults;
    o.sets_inside_groups = inside_groups;
    return found_with(name, p, &o);
}

static th_problem problem_of(const th_system *s, const th_workload *w)
{
    return (th_problem){.system = s, .workload = w, .stream = th_stream_single};
}

static void assert_splits(const th_search *s, const char *const *splits)
{
    char text[64];
    for (int l = 0; l < s->problem.workload->n_layers; l++) {
        th_strategy wanted = strategy_of(splits[l]);
        if (!th_strategy_equal(&s->best->strategy[l], &wanted))
            printf("# layer %d: %s, not %s\n", l,
                   th_strategy_format(&s->best->strategy[l], text, sizeof text), splits[l]);
        CU_ASSERT_TRUE(th_strategy_equal(&s->best->strategy[l], &wanted));
    }
}

/* --- greedy ----------------------------------------------------------------------------------- */

/* Two accelerators, 1 MAC per ns, links of 1 byte per ns and 100 ns, the host's of 0.25 bytes per
 * ns; int8. a, 4 channels of 8 x 7 to 8, 1 x 1: 1,792 MACs. H2: 896 ns, and 112 of 224 bytes to
 * each, 448 ns. W2 makes 4 and 3 columns, 1,024 ns. C2 needs as little, but exchanges partial sums;
 * K2 all of the input. H2. b, 3 x 3 to 8 again: 32,256 MACs, 16,128 ns by H2, K2 or C2. H2 lacks a
 * row of 7 x 8: 56 bytes; K2 the other half of 448: 224 bytes. H2. The relu follows. f, 448 inputs
 * to 1,000: K2 lacks 224 bytes, 324 ns; where halves of C rotate, 112 bytes, 212 ns, and the other
 * half comes while it computes; C2 lacks as little, but exchanges 500 partial sums of 4 bytes, at
 * least 2,000 ns. K2, and K2 rotate C where it may rotate. */
TEST(greedy_by_hand)
{
    static const char *const splits[] = {"H2", "H2", "H2", "K2"}, *const rotating[] = {
                                                                      "H2", "H2", "H2", "K2 rC"};
    auto_system *s = system_of(RING("2"));
    auto_workload *w =
        workload_of("name = \"n\"; batch = 1; precision = \"int8\"; input = { channels = 4; height "
                    "= 8; width = 7; };"
                    "layers = ( { name = \"a\"; type = \"conv\"; outputs = 8; },"
                    "{ name = \"b\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; }, { "
                    "name = \"r\"; type "
                    "= \"relu\"; }, { name = \"f\"; type = \"fc\"; outputs = 1000; } );");
    th_problem p = problem_of(s, w);
    auto_search *g = found("greedy", &p, false);
    assert_splits(g, splits);
    CU_ASSERT_TRUE(g->n_evaluations == 1 && g->best->sets[0].n_accels == 2);
    th_search_free(g);
    g = found("greedy_rotating", &p, false);
    assert_splits(g, rotating);
}

typedef struct {
    th_plans *plans;
    const th_mapping *m;
    const th_workload *w;
    int32_t batch;
} walk;

/* Own time and the coming of all inputs, as plan.h estimates them; m has the layers before. */
static th_time cost(const walk *k, int layer, const th_strategy *s)
{
    th_placed at, from;
    th_plans_place(k->plans, layer, &k->m->sets[0], s, &at, NULL);
    th_time sum = th_plans_layer_time(k->plans, &at, th_plans_layer(k->plans, &at, k->batch, NULL),
                                      NULL, NULL);
    for (int i = 0; i < k->w->layers[layer].n_inputs; i++) {
        int32_t p = k->w->layers[layer].inputs[i];
        at.input = i;
        if (p >= 0)
            th_plans_place(k->plans, p, &k->m->sets[0], &k->m->strategy[p], &from, NULL);
        sum += th_plans_edge_time(
            k->plans, th_plans_edge(k->plans, p >= 0 ? &from : NULL, &at, 1, k->batch, NULL), NULL);
    }
    return sum;
}

/* No strategy of any layer costs less than the one that was taken. */
static void assert_least(const th_problem *p, const th_search *g, bool may_rotate)
{
    const th_workload *w = p->workload;
    auto_evaluator *e = th_evaluator_new(p, NULL);
    const walk k = {th_lower_plans(th_evaluator_lower(e)), g->best, w, 1};
    for (int l = 0; l < w->n_layers; l++) {
        th_strategy *list = NULL;
        if (!th_layer_has_macs(&w->layers[l]))
            continue;
        int n = th_strategies_list(&w->layers[l], 1, 8, &list);
        th_time taken = cost(&k, l, &g->best->strategy[l]);
        CU_ASSERT_TRUE(may_rotate || g->best->strategy[l].rotate == TH_NO_ROTATION);
        for (int i = 0; i < n; i++)
            if (may_rotate || list[i].rotate == TH_NO_ROTATION)
                CU_ASSERT_TRUE(cost(&k, l, &list[i]) >= taken);
        th_free(list);
    }
}

TEST(greedy_takes_the_least)
{
    auto_system *s = shipped_system("f1_16xlarge");
    auto_workload *w = shipped_workload("resnet18");
    th_problem p = problem_of(s, w);
    th_search *g = found("greedy", &p, false), *r = found("greedy_rotating", &p, false);
    CU_ASSERT_TRUE(g->n_evaluations == 3 * 3 && g->best->n_sets == 1 &&
                   g->best->sets[0].n_accels == 8);
    assert_least(&p, g, false);
    assert_least(&p, r, true);
    th_search_free(r);
    th_search_free(g);
    g = found("greedy", &p, true); /* the first group */
    CU_ASSERT_TRUE(g->best->sets[0].n_accels == 4 && g->best->sets[0].accels[3] == 3);
    th_search_free(g);
}

/* Two pairs, 8 bytes per ns inside, 1 across. */
#define TWO_PAIRS                                                                                  \
    "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "            \
    "macs_per_cycle = 64; } ); accelerators = ( { count = 4; dram = { capacity = \"1GiB\"; "       \
    "bandwidth = \"1000GB/s\"; latency = \"1ns\"; burst = \"1B\"; }; vector = { clock = "          \
    "\"1GHz\"; elements_per_cycle = 1; }; designs = [\"d\"]; } ); links = ( { between = [\"0\", "  \
    "\"1\"]; bandwidth = \"64Gbps\"; latency = \"1ns\"; }, { between = [\"2\", \"3\"]; "           \
    "bandwidth = \"64Gbps\"; latency = \"1ns\"; }, { between = [\"0\", \"2\"]; bandwidth = "       \
    "\"8Gbps\"; latency = \"1ns\"; }, { between = [\"1\", \"3\"]; bandwidth = \"8Gbps\"; latency " \
    "= \"1ns\"; } );"

static bool is_interleaved(const th_set *set)
{
    return set->n_accels == 4 && set->accels[0] == 0 && set->accels[1] == 2 &&
           set->accels[2] == 1 && set->accels[3] == 3;
}

/* The value of a mapping whose members stand by number. */
static double value_by_number(const th_problem *p, const th_mapping *m)
{
    th_mapping *by_number = th_mapping_copy(m);
    for (int32_t i = 0; i < by_number->sets[0].n_accels; i++)
        by_number->sets[0].accels[i] = i;
    th_evaluator *e = th_evaluator_new(p, NULL);
    th_fitness f;
    CU_ASSERT_EQUAL(th_evaluator_run(e, by_number, INFINITY, &f, NULL), 0);
    th_evaluator_free(e);
    th_mapping_free(by_number);
    return f.value;
}

/* The baselines that share layers over a set try its members interleaved too. A position is written
 * K H, so K2 H2 by number exchanges halves of the channels over the slow links, and interleaved
 * inside the pairs. a: K4 takes 8 x 2 outputs, K2 H2 15. b and c need the other half of the
 * channels of their row. */
TEST(members_are_interleaved)
{
    static const char *const names[] = {"greedy", "greedy_rotating", "uniform"};
    static const char *const splits[] = {"K2 H2", "K2 H2", "K2 H2"};
    static const int evaluations[] = {2, 2, 2 * 10 * 3 + 1};
    auto_system *s = system_of(TWO_PAIRS);
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 1; input = { channels = 64; height = 2; width = 1; }; layers = ( "
        "{ name = \"a\"; type = \"conv\"; outputs = 30; }, { name = \"b\"; type = \"conv\"; "
        "outputs = "
        "64; }, { name = \"c\"; type = \"conv\"; outputs = 64; } );");
    th_problem p = problem_of(s, w);
    for (int i = 0; i < 3; i++) {
        auto_search *x = found(names[i], &p, false);
        double by_number = value_by_number(&p, x->best);
        printf("# %s: %.0f ns, by number %.0f ns\n", names[i], x->best_fitness.value * 1e-3,
               by_number * 1e-3);
        assert_splits(x, splits);
        CU_ASSERT_EQUAL(x->n_evaluations, evaluations[i]);
        CU_ASSERT_TRUE(is_interleaved(&x->best->sets[0]) && x->best_fitness.value < by_number);
    }
}

/* --- one set ---------------------------------------------------------------------------------- */

#define UNLIKE(NAME, GROUP, DESIGNS, VECTOR)                                                       \
    "{ name = \"" NAME "\"; group = " GROUP "; dram = { capacity = \"1GiB\"; bandwidth = "         \
    "\"1000GB/s\"; latency = \"1ns\"; burst = \"1B\"; }; vector = { clock = \"1GHz\"; "            \
    "elements_per_cycle = " VECTOR "; }; designs = [" DESIGNS "]; }"
/* 30 or 50 MACs per ns; b is the only one with a fast vector unit. */
#define FOUR_KINDS                                                                                 \
    "name = \"mixed\"; designs = ( { name = \"x\"; type = \"roofline\"; clock = \"1GHz\"; "        \
    "macs_per_cycle = 30; }, { name = \"y\"; type = \"roofline\"; clock = \"1GHz\"; "              \
    "macs_per_cycle = 50; } ); accelerators = (" UNLIKE("a", "0", "\"x\"", "4") "," UNLIKE(        \
        "b", "1", "\"x\", \"y\"",                                                                  \
        "8") "," UNLIKE("c", "0", "\"x\"",                                                         \
                        "4") "," UNLIKE("d", "1", "\"y\"",                                         \
                                        "4") "); links = ( { all_pairs = [\"a\", \"b\", \"c\", "   \
                                             "\"d\"]; "                                            \
                                             "bandwidth = \"8Gbps\"; latency = \"1us\"; } );"

/* Several layers of one line, and perhaps a last one. */
static th_workload *equal_layers(int n, const char *head, const char *line, const char *last)
{
    auto_strbuf text = TH_STRBUF_INIT;
    th_strbuf_printf(&text, "name = \"n\"; %s layers = (", head);
    for (int i = 0; i < n; i++)
        th_strbuf_printf(&text, "%s{ name = \"l%d\"; %s }", i > 0 ? "," : "", i, line);
    th_strbuf_printf(&text, "%s );", last);
    return workload_of(text.text);
}

/* 3 x 81 x 40 x 40 x 9 MACs each for three images, and 3 x 81 x 40 elements of the relu. */
static th_workload *convolutions(int n)
{
    return equal_layers(n, "batch = 3; input = { channels = 40; height = 9; width = 9; };",
                        "type = \"conv\"; outputs = 40; kernel = 3; padding = 1;",
                        ", { name = \"r\"; type = \"relu\"; }");
}

/* Five pairs of accelerator and design; the fast design beside the fast vector unit. No host:
 * nothing moves. */
TEST(single_takes_the_fastest)
{
    auto_system *s = system_of(FOUR_KINDS);
    auto_workload *w = convolutions(2);
    th_problem p = problem_of(s, w);
    auto_search *x = found("single", &p, false);
    CU_ASSERT_TRUE(x->n_evaluations == 5 && x->best->n_sets == 1 &&
                   x->best->sets[0].n_accels == 1 && x->best->sets[0].accels[0] == 1 &&
                   x->best->sets[0].design == 1);
    /* 2 x 3 x 81 x 40 x 40 x 9 MACs by 50, 3 x 81 x 40 elements by 8; DRAM adds a little */
    double ps = 2e3 * 3 * 81 * 40 * 40 * 9 / 50 + 1e3 * 3 * 81 * 40 / 8;
    CU_ASSERT_TRUE(x->best_fitness.value >= ps && x->best_fitness.value < 1.01 * ps);
}

/* Three images: three of four equal accelerators, a third of the work each; of mixed ones the
 * design that two have. */
TEST(data_parallel_splits_images)
{
    static const char *const thirds[] = {"B3", "B3", "B3"}, *const halves[] = {"B2", "B2", "B2"};
    auto_system *ring = system_of(RING("4")), *mixed = system_of(FOUR_KINDS);
    auto_workload *w = convolutions(2);
    th_problem p = problem_of(ring, w);
    auto_search *x = found("data_parallel", &p, false);
    CU_ASSERT_TRUE(x->n_evaluations == 1 && x->best->sets[0].n_accels == 3);
    assert_splits(x, thirds);
    th_search_free(x);
    /* x on a and c, then b, which is third; y on b and d: two images by 50 beat three by 30?
     * ceil(3/2) = 2 images at 50 take 40, one at 30 takes 33.3: three accelerators with x */
    p.system = mixed;
    x = found("data_parallel", &p, false);
    CU_ASSERT_TRUE(x->n_evaluations == 3 && x->best->sets[0].design == 0 &&
                   x->best->sets[0].n_accels == 3 && x->best->sets[0].accels[1] == 2);
    assert_splits(x, thirds);
    th_search_free(x);
    x = found("data_parallel", &p, true); /* in the first group there is x alone */
    CU_ASSERT_TRUE(x->n_evaluations == 1 && x->best->sets[0].n_accels == 2);
    assert_splits(x, halves);
}

/* One image, or one in each micro-batch: there is nothing to split, one accelerator is all that it
 * can use. */
TEST(data_parallel_needs_images)
{
    auto_system *s = system_of(RING("4"));
    auto_workload *w = convolutions(2);
    th_problem p = problem_of(s, w);
    p.stream.micro_batches = 3;
    auto_search *x = found("data_parallel", &p, false), *one = found("single", &p, false);
    CU_ASSERT_TRUE(x->best->sets[0].n_accels == 1 &&
                   x->best_fitness.value == one->best_fitness.value);
}

/* Four images, but no split of them; every layer that can splits one dimension alone. The second
 * has 2 x 2 outputs of 3 channels, of which none can be cut in four, and its input's 8 channels
 * can. The third can split nothing in four but two dimensions: 2 x 2 pixels. */
TEST(model_parallel_splits_no_images)
{
    auto_system *s = system_of(RING("4"));
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 4; input = { channels = 8; height = 6; width = 6; }; layers = ( "
        "{ name = \"a\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; },"
        "{ name = \"b\"; type = \"conv\"; outputs = 3; kernel = 3; stride = 3; },"
        "{ name = \"c\"; type = \"conv\"; outputs = 1; } );");
    th_problem p = problem_of(s, w);
    auto_search *x = found("model_parallel", &p, false);
    CU_ASSERT_TRUE(x->n_evaluations == 1 && x->best->sets[0].n_accels == 4);
    for (int l = 0; l < 3; l++) {
        int dimensions = 0;
        for (int d = 0; d < TH_N_DIMS; d++)
            dimensions += x->best->strategy[l].split[d] > 1;
        CU_ASSERT_TRUE(dimensions == (l == 2 ? 2 : 1) &&
                       x->best->strategy[l].rotate == TH_NO_ROTATION);
        CU_ASSERT_EQUAL(x->best->strategy[l].split[TH_DIM_B], 1);
    }
    CU_ASSERT_EQUAL(x->best->strategy[1].split[TH_DIM_C], 4);
}

/* An LSTM of one image cannot be shared; a pool of 3 channels to one pixel by two. In the full
 * space sets of more members are tried, too, with copies. */
TEST(too_little_to_share)
{
    static const char *const nets[] = {
        "name = \"n\"; batch = 1; input = { channels = 8; height = 4; width = 1; }; layers = ( "
        "{ name = \"l\"; type = \"lstm\"; outputs = 16; } );",
        "name = \"n\"; batch = 1; input = { channels = 3; height = 4; width = 4; }; layers = ( "
        "{ name = \"p\"; type = \"mean_pool\"; } );"};
    static const char *const names[] = {"greedy", "greedy_rotating", "model_parallel"};
    auto_system *s = system_of(RING("4"));
    for (int i = 0; i < 2; i++) {
        auto_workload *w = workload_of(nets[i]);
        th_problem p = problem_of(s, w);
        for (int n = 0; n < 3; n++) {
            th_search_options basic = th_search_defaults;
            basic.space = TH_SPACE_BASIC;
            auto_search *x = found_with(names[n], &p, &basic), *any = found(names[n], &p, false);
            CU_ASSERT_EQUAL(x->best->sets[0].n_accels, i + 1);
            CU_ASSERT_TRUE(any->best_fitness.value <= x->best_fitness.value);
        }
    }
}

/* --- pipeline_parallel ------------------------------------------------------------------------ */

static void assert_stages(const th_search *s, const int32_t *set_of, const char *of)
{
    for (int l = 0; l < s->problem.workload->n_layers; l++)
        CU_ASSERT_EQUAL(s->best->set_of[l], set_of[l]);
    for (int i = 0; i < s->best->n_sets; i++)
        CU_ASSERT_EQUAL(s->best->sets[i].accels[0], of[i] - '0');
}

/* LSTMs of one image, which no group can share, on four accelerators. Ten steps of 4 x outputs x
 * (inputs + outputs) MACs: 60,000, 20,160, 19,720, 39,360 and 40,480 ns. The first alone, then two,
 * one and one; with three together the longest stage takes more than 60,000. A stream of 12 leaves
 * in about the time of the longest. */
TEST(pipeline_of_accelerators)
{
    static const int32_t stage[] = {0, 1, 1, 2, 3};
    auto_system *s = system_of(
        "name = \"t\"; " MAP_HELP_ACCEL("1GiB") "topology = { type = \"ring\"; dims = [4]; "
                                                "bandwidth = \"800Gbps\"; latency = \"1ns\"; };");
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 1; input = { channels = 20; height = 10; width = 1; }; layers = ( "
        "{ name = \"a\"; type = \"lstm\"; outputs = 30; }, { name = \"b\"; type = \"lstm\"; "
        "outputs = 12; }, "
        "{ name = \"c\"; type = \"lstm\"; outputs = 17; }, { name = \"d\"; type = \"lstm\"; "
        "outputs = 24; }, "
        "{ name = \"e\"; type = \"lstm\"; outputs = 22; } );");
    th_problem p = problem_of(s, w);
    p.stream.n_inputs = 12;
    p.objective = TH_OBJECTIVE_THROUGHPUT;
    auto_search *x = found("pipeline_parallel", &p, false);
    CU_ASSERT_TRUE(x->n_evaluations == 1 && x->best->n_sets == 4);
    assert_stages(x, stage, "0123");
    printf("# %.0f ns between inputs\n", x->best_fitness.value * 1e-3);
    CU_ASSERT_TRUE(x->best_fitness.value > 60e6 && x->best_fitness.value < 65e6);
}

/* Equal layers at 30, 50, 30 and 50 a unit, b with its fast design: 16 of them in the time of 3,
 * 5, 3 and 5. */
TEST(pipeline_of_heterogeneous_accelerators)
{
    static const int32_t stage[] = {0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3};
    auto_system *s = system_of(FOUR_KINDS);
    auto_workload *w =
        equal_layers(16, "batch = 1; input = { channels = 300; height = 9; width = 1; };",
                     "type = \"lstm\"; outputs = 300;", "");
    th_problem p = problem_of(s, w);
    auto_search *x = found("pipeline_parallel", &p, false);
    CU_ASSERT_EQUAL_FATAL(x->best->n_sets, 4);
    assert_stages(x, stage, "0123");
    CU_ASSERT_TRUE(x->best->sets[0].design == 0 && x->best->sets[1].design == 1 &&
                   x->best->sets[2].design == 0 && x->best->sets[3].design == 1);
}

/* The first of three can run nothing: it is no stage. */
TEST(pipeline_passes_over_who_cannot)
{
    static const int32_t stage[] = {0, 1};
    auto_system *s = system_of(
        "name = \"t\"; designs = ( { name = \"wide\"; type = \"roofline\"; clock = \"1GHz\"; "
        "macs_per_cycle = 64; }, { name = \"narrow\"; type = \"systolic\"; clock = \"1GHz\"; rows "
        "= 8; cols "
        "= 8; dataflow = \"os\"; output_buffer = \"16B\"; } ); accelerators = (" UNLIKE(
            "a", "0", "\"narrow\"",
            "4") "," UNLIKE("b", "0", "\"wide\"",
                            "4") "," UNLIKE("c", "0", "\"wide\"",
                                            "4") "); links = ( { all_pairs = [\"a\", \"b\", "
                                                 "\"c\"]; bandwidth = "
                                                 "\"8Gbps\"; latency = \"1us\"; } );");
    auto_workload *w =
        equal_layers(2, "batch = 1; input = { channels = 30; height = 9; width = 9; };",
                     "type = \"conv\"; outputs = 30; kernel = 3;", "");
    th_problem p = problem_of(s, w);
    p.stream.n_inputs = 8;
    p.objective = TH_OBJECTIVE_THROUGHPUT;
    auto_search *x = found("pipeline_parallel", &p, false);
    CU_ASSERT_EQUAL_FATAL(x->best->n_sets, 2);
    assert_stages(x, stage, "12");
}

/* One image, and as many layers as groups: for latency the groups are stages, and each shares its
 * layer. */
TEST(pipeline_of_groups)
{
    auto_system *s = shipped_system("f1_16xlarge");
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 1; input = { channels = 256; height = 28; width = 28; }; layers = ( "
        "{ name = \"a\"; type = \"conv\"; outputs = 256; kernel = 3; padding = 1; },"
        "{ name = \"b\"; type = \"conv\"; outputs = 256; kernel = 3; padding = 1; } );");
    static const int32_t stage[] = {0, 1};
    th_problem p = problem_of(s, w);
    auto_search *x = found("pipeline_parallel", &p, false);
    CU_ASSERT_EQUAL_FATAL(x->best->n_sets, 2);
    assert_stages(x, stage, "04");
    CU_ASSERT_TRUE(x->best->sets[0].n_accels == 4 && x->best->sets[1].n_accels == 4);
}

/* --- uniform ---------------------------------------------------------------------------------- */

/* 64 accelerators in one group: 84 x 7 combinations, of which 9 are simulated, and one accelerator
 * alone. What is left out is no better than what is there: a sample of them, evenly. */
TEST(uniform_prunes_by_estimates)
{
    auto_system *s = system_of("name = \"t\"; " MAP_HELP_ACCEL(
        "1GiB") "topology = { type = \"torus\"; dims = [8, 8]; bandwidth = \"8Gbps\"; latency = "
                "\"100ns\"; };");
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 1; input = { channels = 64; height = 64; width = 64; }; layers = ( "
        "{ name = \"a\"; type = \"conv\"; outputs = 64; kernel = 3; padding = 1; },"
        "{ name = \"f\"; type = \"fc\"; outputs = 64; } );");
    th_problem p = problem_of(s, w);
    auto_search *x = found("uniform", &p, false);
    CU_ASSERT_EQUAL(x->n_evaluations, 1 + 9);
    CU_ASSERT_TRUE(x->best->sets[0].n_accels == 64 && x->best->strategy[0].split[TH_DIM_C] == 1);
    th_strategy *conv = NULL, *dense = NULL;
    int n_conv = th_strategies_list(&w->layers[0], 1, 64, &conv),
        n_dense = th_strategies_list(&w->layers[1], 1, 64, &dense), n_compared = 0;
    auto_mapping *m = th_mapping_copy(x->best);
    for (int i = 0; i < n_conv; i += 7) {
        th_fitness f;
        m->strategy[0] = conv[i];
        m->strategy[1] = dense[i % n_dense];
        if (conv[i].rotate != TH_NO_ROTATION || dense[i % n_dense].rotate != TH_NO_ROTATION)
            continue;
        CU_ASSERT_EQUAL(th_evaluator_run(th_pool_evaluator(x->pool), m, INFINITY, &f, NULL), 0);
        CU_ASSERT_TRUE(f.value >= x->best_fitness.value);
        n_compared++;
    }
    CU_ASSERT_TRUE(n_compared > 5);
    th_free(conv);
    th_free(dense);
}

/* --- failure ---------------------------------------------------------------------------------- */

/* A systolic array whose buffer holds no tile: no accelerator can run the layer, whoever asks. */
TEST(no_design_can_run_it)
{
    static const char *const names[] = {"greedy", "single", "data_parallel", "model_parallel",
                                        "pipeline_parallel"};
    auto_system *s =
        system_of("name = \"t\"; designs = ( { name = \"narrow\"; type = \"systolic\"; "
                  "clock = \"1GHz\"; rows = 8; "
                  "cols = 8; dataflow = \"os\"; output_buffer = \"16B\"; } ); "
                  "accelerators = ( { dram = { capacity = "
                  "\"1GiB\"; bandwidth = \"8GB/s\"; }; vector = { clock = \"1GHz\"; "
                  "elements_per_cycle = 1; }; "
                  "designs = [\"narrow\"]; } ); topology = { type = \"ring\"; dims = "
                  "[4]; bandwidth = \"8Gbps\"; "
                  "latency = \"100ns\"; };");
    auto_workload *w = convolutions(1);
    th_problem p = problem_of(s, w);
    for (int i = 0; i < 5; i++) {
        th_error e = {"", ""};
        auto_search *x = th_search_new(th_search_find(names[i]), &p, &th_search_defaults, &e);
        while (x && !x->done && th_search_iterate(x, &e) == 0)
            ;
        CU_ASSERT_TRUE(x && !x->best);
        CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "layer \"l0\": the output buffer"));
        TAP_ASSERT_TEXT(e.id, i == 1 || i == 2 ? "MAP-0024" : "MAP-0042");
    }
}

TAP_MAIN("baseline")
