/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_over_time.c - sets that share accelerators: candidates whose branches run on subsets, and
 * random regroupings, each of which is held against the rules, a written and a sent copy, and the
 * bounds. */
#include <config.h>
#include "mapper/evaluate/bounds.h"
#include "mapper/mapping_read.h"
#include "mapper/search/variation/over_time.h"
#include "mapper/serialize/serializer.h"
#include "tests/unit/search_help.h"

#define ACCELS(NAMES, GROUP, DESIGNS)                                                              \
    "{ names = [" NAMES "]; group = " GROUP "; dram = { capacity = \"1MiB\"; bandwidth = "         \
    "\"8GB/s\"; latency = \"100ns\"; burst = \"64B\"; }; vector = { clock = \"1GHz\"; "            \
    "elements_per_cycle = 16; }; designs = [" DESIGNS "]; }"
#define SYSTEM(ACCELERATORS)                                                                       \
    "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "            \
    "macs_per_cycle = 64; }, { name = \"e\"; type = \"roofline\"; clock = \"1GHz\"; "              \
    "macs_per_cycle = 96; } ); accelerators = ( " ACCELERATORS " ); hosts = ( \"h\" ); "           \
    "links = ( { all_pairs = [\"0\", \"1\", \"2\", \"3\"]; bandwidth = \"8Gbps\"; latency = "      \
    "\"1us\"; }, { center = \"h\"; leaves = [\"0\", \"1\", \"2\", \"3\"]; bandwidth = "            \
    "\"16Gbps\"; latency = \"1us\"; } );"

static const char *const systems[] = {
    SYSTEM(ACCELS("\"0\", \"1\"", "0", "\"d\", \"e\"") "," ACCELS("\"2\", \"3\"", "1",
                                                                  "\"d\", \"e\"")),
    SYSTEM(ACCELS("\"0\", \"1\"", "0", "\"d\"") "," ACCELS("\"2\", \"3\"", "1", "\"d\", \"e\"")),
};
enum { N_SYSTEMS = sizeof systems / sizeof *systems, STEPS = 150 };

/* Three branches, of which b has most work and splits in two within, and what follows all. */
static const char net_text[] =
    "name = \"net\"; batch = 1; input = { channels = 8; height = 16; width = 16; }; layers = ("
    "{ name = \"a\"; type = \"conv\"; inputs = [\"input\"]; outputs = 8; kernel = 3; padding = 1; "
    "},"
    "{ name = \"b\"; type = \"conv\"; inputs = [\"input\"]; outputs = 32; kernel = 3; padding = 1; "
    "},"
    "{ name = \"b1\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; },"
    "{ name = \"b2\"; type = \"conv\"; inputs = [\"b\"]; outputs = 8; kernel = 1; },"
    "{ name = \"b3\"; type = \"add\"; inputs = [\"b1\", \"b2\"]; },"
    "{ name = \"c\"; type = \"conv\"; inputs = [\"input\"]; outputs = 8; kernel = 3; padding = 1; "
    "},"
    "{ name = \"join\"; type = \"concat\"; inputs = [\"a\", \"b3\", \"c\"]; },"
    "{ name = \"tail\"; type = \"conv\"; outputs = 32; kernel = 3; padding = 1; },"
    "{ name = \"pool\"; type = \"mean_pool\"; kernel = 16; },"
    "{ name = \"fc\"; type = \"fc\"; outputs = 16; } );";

static th_workload *net;

static th_time makespan(const th_problem *p, const th_mapping *m)
{
    double value = fitness_of(p, m);
    return isfinite(value) ? (th_time)value : -1;
}

/* What holds for every mapping. */
static void check_mapping(const th_problem *p, const th_mapping *m)
{
    th_error e = {"", ""};
    const th_serializer_limits limits = {p->system->n_accels, p->system->n_designs, net->n_layers};
    const th_bounds_scope scope = {.cuts = th_bounds_cuts_of(m), .chunks = th_bounds_chunks_of(m)};
    auto_strbuf text = TH_STRBUF_INIT;
    auto_bounds bounds;
    th_serializer w = TH_SERIALIZER_INIT;
    CU_ASSERT_EQUAL(th_mapping_check(m, p->system, net, &e), 0);
    TAP_ASSERT_TEXT(e.text, "");
    th_mapping_write(m, p->system, net, &text);
    auto_mapping *read = th_mapping_read_text(text.text, "m", p->system, net, &e);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(read);
    CU_ASSERT_TRUE(th_mapping_equal(m, read));
    th_serializer_write_mapping(&w, m);
    th_serializer r = th_serializer_reader(w.out.text, w.out.length);
    auto_mapping *sent = th_serializer_read_mapping(&r, &limits);
    CU_ASSERT_TRUE(sent && th_mapping_equal(m, sent));
    th_serializer_clear(&w);
    th_time took = makespan(p, m);
    CU_ASSERT_EQUAL(took, makespan(p, read));
    CU_ASSERT_EQUAL_FATAL(th_bounds_find(p, &scope, &bounds, &e), 0);
    CU_ASSERT_TRUE(took < 0 || bounds.makespan_ps[bounds.largest] <= took);
}

static bool spans_groups(const th_mapping *m)
{
    bool spans = false;
    for (int i = 0; i < m->n_sets; i++)
        for (int r = 0; r < m->sets[i].n_accels; r++)
            spans |= m->sets[i].accels[r] / 2 != m->sets[i].accels[0] / 2;
    return spans;
}

/* From one mapping to the next, and now and then back to one set. */
static void walk(const th_problem *p, bool inside, int *n_made, int *n_overlapping, int *n_split)
{
    th_error e = {"", ""};
    th_search_options o = th_search_defaults;
    o.sets_inside_groups = inside;
    auto_search *s = search_of("two_level", p, &o);
    th_variation v = {0};
    auto_mapping *start = NULL, *now = NULL;
    CU_ASSERT_EQUAL_FATAL(th_variation_init(&v, s, "over time", &e), 0);
    while (!start)
        CU_ASSERT_EQUAL_FATAL(th_variation_random(&v, true, &start, &e), 0);
    for (int i = 0; i < STEPS; i++) {
        th_mapping *next;
        if (i % 30 == 0) {
            th_mapping_free(now);
            now = th_mapping_copy(start);
        }
        CU_ASSERT_EQUAL_FATAL(th_variation_over_time(&v, now, &next, &e), 0);
        if (!next)
            continue;
        check_mapping(p, next);
        CU_ASSERT_FALSE(inside && spans_groups(next));
        (*n_made)++;
        *n_overlapping += th_mapping_sets_overlap(next);
        *n_split += next->set_of[2] != next->set_of[3];
        th_mapping_free(now);
        now = next;
    }
    th_variation_clear(&v);
}

TEST(random_regroupings_are_valid)
{
    int n_made = 0, n_overlapping = 0, n_split = 0;
    for (int i = 0; i < 2 * N_SYSTEMS; i++) {
        auto_system *s = system_of(systems[i / 2]);
        const th_problem p = problem_of(s, net);
        walk(&p, i % 2, &n_made, &n_overlapping, &n_split);
    }
    printf("# %d made, %d overlap, %d split\n", n_made, n_overlapping, n_split);
    CU_ASSERT_TRUE(n_made > 100 && n_overlapping > 50 && n_split > 20);
}

/* Sets of the mapping that the first candidate with branches gives, from branch `first` on. */
static void expect_branches(th_variation *v, int32_t first, const char *expected)
{
    const th_partitioner *pr = &v->partitioner;
    th_error e = {"", ""};
    char text[64] = "";
    int n = 0;
    for (size_t i = 0; i < pr->n; i++) {
        const th_partition *p = &pr->partitions[i];
        const int32_t design = 1;
        th_mapping *m;
        if (p->assignment != TH_ASSIGN_BRANCHES || p->n != 4 || p->first_branch != first ||
            p->block > 0 || n > 0)
            continue;
        CU_ASSERT_EQUAL_FATAL(
            th_partitioner_mapping(&v->partitioner, p, &design, (th_jitter){0}, &m, &e), 0);
        CU_ASSERT_EQUAL(th_mapping_check(m, v->search->problem.system, net, &e), 0);
        for (int l = 0; m && l < m->n_layers; l++) {
            const th_set *set = &m->sets[m->set_of[l]];
            CU_ASSERT_EQUAL(set->design, design);
            for (int r = 0; r < set->n_accels; r++)
                text[n++] = (char)('0' + set->accels[r]);
            text[n++] = ' ';
        }
        th_mapping_free(m);
    }
    TAP_ASSERT_TEXT(text, expected);
}

/* The tree: all; halves; single ones. With three branches the first half is parted: 0, 1 and 2 3. b
 * has most work and is placed first, on the two; a and c then find one accelerator each with less
 * work than half of b's and theirs. */
TEST(branches_run_on_subsets_and_the_tail_on_all)
{
    auto_system *s = system_of(systems[0]);
    const th_problem p = problem_of(s, net);
    th_error e = {"", ""};
    for (int basic = 0; basic < 2; basic++) {
        th_search_options o = th_search_defaults;
        o.space = basic ? TH_SPACE_BASIC : TH_SPACE_FULL;
        auto_search *x = search_of("two_level", &p, &o);
        th_variation v = {0};
        CU_ASSERT_EQUAL_FATAL(th_variation_init(&v, x, "branches", &e), 0);
        expect_branches(&v, 0, basic ? "" : "0 23 23 23 23 1 0123 0123 0123 0123 ");
        th_variation_clear(&v);
    }
}

/* The two sides of b3 go to other accelerators; b1 stays where it was. */
TEST(a_regrouping_by_hand)
{
    auto_system *s = system_of(systems[0]);
    const th_problem p = problem_of(s, net);
    th_error e = {"", ""};
    auto_search *x = search_of("two_level", &p, &th_search_defaults);
    th_variation v = {0};
    auto_mapping *m = mapping_on("0123", net);
    for (int l = 0; l < net->n_layers; l++)
        put_layer(m, l, 0, net->layers[l].dim[TH_DIM_K] % 4 == 0 ? "K4" : "H4");
    m->sets[0].design = 1;
    auto_mapping *before = th_mapping_copy(m);
    CU_ASSERT_EQUAL_FATAL(th_variation_init(&v, x, "hand", &e), 0);
    bool moves[16] = {[3] = true};
    const int32_t to[] = {3, 1};
    CU_ASSERT_EQUAL(th_regroup(&v, m, before, &(th_regrouping){moves, to, 2, 0}, &e), 0);
    CU_ASSERT_EQUAL(m->n_sets, 2);
    CU_ASSERT_EQUAL(m->set_of[3], 1);
    CU_ASSERT_EQUAL(m->sets[1].accels[0], 3);
    CU_ASSERT_EQUAL(m->sets[1].design, 1); /* that of the other set */
    CU_ASSERT_TRUE(th_strategy_equal(&m->strategy[2], &before->strategy[2]));
    CU_ASSERT_EQUAL(th_regroup(&v, m, before, &(th_regrouping){moves, to, 2, 0}, &e), 1); /* is */
    const int32_t other[] = {1, 3};
    auto_mapping *between = th_mapping_copy(m);
    moves[2] = true;
    moves[3] = false;
    CU_ASSERT_EQUAL(th_regroup(&v, m, between, &(th_regrouping){moves, other, 2, 0}, &e), 0);
    CU_ASSERT_EQUAL(m->set_of[2], 1); /* the set with these members, in whatever order */
    check_mapping(&p, m);
    /* one design for all that share accelerators */
    m->sets[1].design = 0;
    CU_ASSERT_FALSE(th_mapping_designs_agree(m, s));
    CU_ASSERT_TRUE(th_mapping_spread_design(m, s, 1));
    CU_ASSERT_EQUAL(m->sets[0].design, 0);
    CU_ASSERT_TRUE(th_mapping_designs_agree(m, s));
    th_variation_clear(&v);
}

static void make_all(void)
{
    net = workload_of(net_text);
}

TAP_MAIN_WITH("over_time", make_all)
