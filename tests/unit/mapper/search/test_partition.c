/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_partition.c - partitioning: heterogeneous accelerators, branches, designs, and what finds
 * them. */
#include <config.h>
#include "mapper/search/partition/partition_state.h"
#include "mapper/search/search.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

#define VECTOR "vector = { clock = \"1GHz\"; elements_per_cycle = 1000; }; "
#define DRAM                                                                                       \
    "dram = { capacity = \"1GiB\"; bandwidth = \"1000GB/s\"; latency = \"1ns\"; burst = \"1B\"; "  \
    "}; "
#define MACS(NAME, N)                                                                              \
    "{ name = \"" NAME "\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = " N "; }"
#define ACCEL(NAME, DESIGN) "{ name = \"" NAME "\"; " DRAM VECTOR "designs = [\"" DESIGN "\"]; }"

typedef struct {
    th_problem problem;
    th_evaluator *evaluator;
    th_initial_generator *generator;
    th_partitioner partitioner;
} fixture;

static void set_up(fixture *f, const th_system *s, const th_workload *w)
{
    th_error e = {"", ""};
    f->problem = (th_problem){.system = s, .workload = w, .stream = th_stream_single};
    f->evaluator = th_evaluator_new(&f->problem, &e);
    f->generator = th_initial_new(f->evaluator, &e);
    if (th_partitioner_init(&f->partitioner, f->generator, &f->problem, false, &e))
        bail_out(&e);
}

static void tear_down(fixture *f)
{
    th_partitioner_clear(&f->partitioner);
    th_initial_free(f->generator);
    th_evaluator_free(f->evaluator);
}

static th_search *found(const char *name, const th_problem *p, int64_t evaluations)
{
    th_error e = {"", ""};
    th_search_options o = {.seed = 1, .evaluations = evaluations, .threads = 1};
    th_search *s = th_search_new(th_search_find(name), p, &o, &e);
    while (s && !s->done && th_search_iterate(s, &e) == 0)
        ;
    if (!s || !s->best)
        bail_out(&e);
    return s;
}

/* Accelerators of 3 and 1 multiply-accumulates per cycle, links and memories that take next to no
 * time. 64 x 64 channels, 64 x 64 pixels: 2^24 products. The fast one alone takes 2^24 / 3 = 5.59
 * ms, even halves 2^23 / 1 = 8.39 ms, three to one 2^24 / 4 = 4.19 ms: 48 and 16 channels or rows.
 */
TEST(the_proportional_split_is_the_optimum)
{
    auto_system *s = system_of("name = \"two\"; designs = ( " MACS("fast", "3") ", " MACS(
        "slow",
        "1") " ); accelerators = ( " ACCEL("a",
                                           "fast") ", " ACCEL("b",
                                                              "slow") " ); links = ( { between = "
                                                                      "[\"a\", \"b\"]; "
                                                                      "bandwidth = \"8000Gbps\"; "
                                                                      "latency = \"1ns\"; } );");
    auto_workload *w =
        workload_of("name = \"n\"; batch = 1; input = { channels = 64; height = 64; width = 64; }; "
                    "layers = ( { name = \"c\"; type = \"conv\"; outputs = 64; kernel = 1; } );");
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    auto_search *x = found("two_level", &p, 60);
    const double best = 4194304e3; /* 2^22 cycles of 1 ns */
    CU_ASSERT_TRUE(x->best_fitness.value >= best && x->best_fitness.value < best * 1.01);
    CU_ASSERT_EQUAL(x->best->sets[0].n_accels, 2);
    CU_ASSERT_EQUAL(x->best->sets[0].design, TH_DESIGN_OWN);
    CU_ASSERT_PTR_NOT_NULL_FATAL(x->best->sets[0].shares);
    for (int r = 0; r < 2; r++) {
        th_loop_box b =
            th_shard_loops(&w->layers[0], 1, &x->best->strategy[0], x->best->sets[0].shares, r);
        int64_t part = 1;
        for (int d = 0; d < TH_N_DIMS; d++)
            part *= b.hi[d] - b.lo[d];
        CU_ASSERT_EQUAL(part, x->best->sets[0].accels[r] == 0 ? 3 << 22 : 1 << 22);
    }
}

/* c is fast at convolutions, d a little less; r has no tiles for them, but is fast at recurrent
 * layers. */
static const char kinds[] = "name = \"kinds\"; designs = ( " MACS("cd", "100") ", " MACS(
    "dd", "60") ", "
                "{ name = \"rd\"; type = \"serial_tiled\"; clock = \"1GHz\"; bus_bits = 4096; "
                "throughput = 2e12; } ); "
                "accelerators = ( " ACCEL("c", "cd") ", " ACCEL("r", "rd") ", " ACCEL(
                    "d", "dd") " ); hosts = ( \"h\" ); "
                               "links = ( { center = \"h\"; leaves = [\"c\", \"r\", \"d\"]; "
                               "bandwidth = \"100Gbps\"; latency = \"1us\"; } );";

/* Two rows of convolutions and one of LSTMs that read the same words: nothing joins them. */
static const char three_branches[] =
    "name = \"net\"; batch = 1; input = { channels = 16; height = 32; width = 1; }; layers = ("
    "{ name = \"a1\"; type = \"conv\"; outputs = 64; kernel = 3; padding = 1; },"
    "{ name = \"a2\"; type = \"conv\"; outputs = 64; kernel = 3; padding = 1; },"
    "{ name = \"b1\"; type = \"conv\"; outputs = 64; kernel = 3; padding = 1; inputs = \"input\"; "
    "},"
    "{ name = \"b2\"; type = \"conv\"; outputs = 64; kernel = 3; padding = 1; },"
    "{ name = \"l1\"; type = \"lstm\"; outputs = 512; inputs = \"input\"; },"
    "{ name = \"l2\"; type = \"lstm\"; outputs = 512; } );";

/* Layers 1: 64 * 16 * 9 * 32 products, 2.9 us on c and 4.9 us on d; layers 2 four times that. By
 * rank a1, b1, a2, b2 of the convolutions. a1 on c to 2.9. b1: c would end at 5.9, d at 4.9. a2
 * stays on c: to 14.7. b2: c would end at 26.5, d at 24.6. LSTMs load 4 * 512 * 528 weights of 2
 * bytes at 512 bytes per ns, 32 times: 135 us; 346 us on c. */
TEST(branches_go_where_they_end_earliest)
{
    static const char *const at[] = {"c", "c", "d", "d", "r", "r"};
    auto_system *s = system_of(kinds);
    auto_workload *w = workload_of(three_branches);
    fixture f;
    set_up(&f, s, w);
    bool was_there = false;
    for (size_t i = 0; i < f.partitioner.n; i++) {
        const th_partition *p = &f.partitioner.partitions[i];
        int32_t design[TH_PARTITION_SETS_MAX];
        th_design_vectors d;
        th_mapping *m = NULL;
        if (p->n != 3 || p->assignment != TH_ASSIGN_EARLIEST_FINISH)
            continue;
        CU_ASSERT_EQUAL(th_design_vectors_init(&d, &f.partitioner, p, NULL), 0);
        CU_ASSERT_TRUE(th_design_vectors_next(&d, design));
        CU_ASSERT_FALSE(th_design_vectors_next(&d, design)); /* all designs are fixed */
        CU_ASSERT_EQUAL(th_partitioner_mapping(&f.partitioner, p, design, (th_jitter){0}, &m, NULL),
                        0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(m);
        for (int l = 0; l < w->n_layers; l++)
            TAP_ASSERT_TEXT(s->nodes[s->accel_node[m->sets[m->set_of[l]].accels[0]]].name, at[l]);
        th_mapping_free(m);
        was_there = true;
    }
    CU_ASSERT_TRUE(was_there);
    tear_down(&f);
}

/* Convolutions never go to r, which cannot run them, alone or among others; what is written is read
 * and takes the same time. */
TEST(mixed_kinds_find_their_layers)
{
    auto_system *s = system_of(kinds);
    auto_workload *w = workload_of(three_branches);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    auto_search *x = found("two_level", &p, 300);
    for (int l = 0; l < 4; l++) {
        const th_set *set = &x->best->sets[x->best->set_of[l]];
        for (int i = 0; i < set->n_accels; i++)
            CU_ASSERT_NOT_EQUAL(set->accels[i], 1);
    }
    auto_strbuf text = TH_STRBUF_INIT;
    th_error e = {"", ""};
    th_mapping_write(x->best, s, w, &text);
    auto_mapping *back = th_mapping_read_text(text.text, "m.map", s, w, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    auto_evaluator *again = th_evaluator_new(&p, &e);
    th_fitness fitness;
    CU_ASSERT_EQUAL(th_evaluator_run(again, back, INFINITY, &fitness, &e), 0);
    CU_ASSERT_TRUE(fitness.value == x->best_fitness.value);
}

/* Two sets of f1 with three designs each: nine vectors, each once, the fastest of both sets first,
 * then one for all; a set alone: three. */
TEST(each_vector_of_designs_comes_once)
{
    auto_system *s = shipped_system("f1_16xlarge");
    auto_workload *w = shipped_workload("alexnet");
    fixture f;
    set_up(&f, s, w);
    const th_partition *halves = &f.partitioner.partitions[6];
    int32_t design[TH_PARTITION_SETS_MAX];
    bool came[3][3] = {{false}};
    int n = 0;
    th_design_vectors d;
    CU_ASSERT_EQUAL(halves->n, 2);
    CU_ASSERT_EQUAL(th_design_vectors_init(&d, &f.partitioner, halves, NULL), 0);
    while (th_design_vectors_next(&d, design)) {
        if (n == 0)
            CU_ASSERT_TRUE(design[0] == d.of[0][0] && design[1] == d.of[1][0]);
        if (n == 1 || n == 2)
            CU_ASSERT_EQUAL(design[0], design[1]);
        CU_ASSERT_FALSE(came[design[0]][design[1]]);
        came[design[0]][design[1]] = true;
        n++;
    }
    CU_ASSERT_EQUAL(n, 9);
    CU_ASSERT_EQUAL(th_design_vectors_init(&d, &f.partitioner, &f.partitioner.partitions[0], NULL),
                    0);
    for (n = 0; th_design_vectors_next(&d, design); n++)
        ;
    CU_ASSERT_EQUAL(n, 3);
    tear_down(&f);
}

/* Twenty-four accelerators of eight kinds: candidates stay few, none overlaps itself. */
TEST(candidates_stay_few)
{
    auto_strbuf text = TH_STRBUF_INIT;
    th_strbuf_add(&text, "name = \"many\"; designs = ( ");
    for (int i = 1; i <= 8; i++)
        th_strbuf_printf(
            &text,
            "%s{ name = \"d%d\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = %d; }",
            i > 1 ? ", " : "", i, 10 * i);
    th_strbuf_add(&text, " ); accelerators = ( ");
    for (int i = 0; i < 24; i++)
        th_strbuf_printf(&text, "%s{ name = \"a%d\"; " DRAM VECTOR "designs = [\"d%d\"]; }",
                         i > 0 ? ", " : "", i, i % 8 + 1);
    th_strbuf_add(&text, " ); hosts = ( \"h\" ); links = ( { center = \"h\"; leaves = [ \"a0\"");
    for (int i = 1; i < 24; i++)
        th_strbuf_printf(&text, ", \"a%d\"", i);
    th_strbuf_add(&text, " ]; bandwidth = \"10Gbps\"; latency = \"1us\"; } );");
    auto_system *s = system_of(text.text);
    auto_workload *w = workload_of(three_branches);
    fixture f;
    set_up(&f, s, w);
    int n_equal_shares = 0;
    for (size_t i = 0; i < f.partitioner.n; i++) {
        const th_partition *p = &f.partitioner.partitions[i];
        bool used[24] = {false};
        n_equal_shares += p->equal_shares;
        for (int k = 0; k < p->n; k++) {
            const th_set_node *node = &f.partitioner.tree.node[p->node[k]];
            for (int j = 0; j < node->n; j++) {
                CU_ASSERT_FALSE(used[node->accels[j]]);
                used[node->accels[j]] = true;
            }
        }
    }
    const int n_others = (int)f.partitioner.n - n_equal_shares;
    CU_ASSERT_TRUE(n_others > 8 && n_others < 48);
    CU_ASSERT_TRUE(n_equal_shares > 0 && n_equal_shares <= n_others);
    tear_down(&f);
}

static bool differ(const th_partition *a, const th_partition *b)
{
    return a->n != b->n || a->assignment != b->assignment || a->block != b->block ||
           memcmp(a->node, b->node, (size_t)a->n * sizeof *a->node) != 0;
}

TEST(sets_of_several_kinds_have_equal_shares_too)
{
    auto_system *s = system_of(kinds);
    auto_workload *w = workload_of(three_branches);
    fixture f;
    set_up(&f, s, w);
    int n = 0;
    for (size_t i = 0; i < f.partitioner.n; i++) {
        const th_partition *p = &f.partitioner.partitions[i];
        size_t twin = 0;
        int32_t design[TH_PARTITION_SETS_MAX];
        th_design_vectors d;
        th_mapping *m = NULL;
        if (!p->equal_shares)
            continue;
        while (twin < i && differ(p, &f.partitioner.partitions[twin]))
            twin++;
        CU_ASSERT_TRUE(twin < i && !f.partitioner.partitions[twin].equal_shares);
        CU_ASSERT_EQUAL(th_design_vectors_init(&d, &f.partitioner, p, NULL), 0);
        CU_ASSERT_TRUE(th_design_vectors_next(&d, design));
        CU_ASSERT_EQUAL(th_partitioner_mapping(&f.partitioner, p, design, (th_jitter){0}, &m, NULL),
                        0);
        for (int32_t k = 0; m && k < m->n_sets; k++)
            CU_ASSERT_PTR_NULL(m->sets[k].shares);
        n += m != NULL;
        th_mapping_free(m);
    }
    CU_ASSERT_TRUE(n > 0);
    tear_down(&f);
}

/* Four accelerators of one kind in a row, of which the last two have a slow link: how quick a set
 * is depends on its links, and not on which set was asked about first. */
TEST(a_capability_is_that_of_its_set)
{
    auto_system *s = system_of("name = \"row\"; designs = ( " MACS(
        "d",
        "100") " ); accelerators = ( { names = [\"a\", "
               "\"b\", \"c\", \"d\"]; " DRAM VECTOR "designs = [\"d\"]; } ); links = ( { between = "
               "[\"a\", \"b\"]; bandwidth = \"100GB/s\"; latency = \"1ns\"; }, { between = [\"b\", "
               "\"c\"]; bandwidth = \"1GB/s\"; latency = \"1ns\"; }, { between = [\"c\", \"d\"]; "
               "bandwidth = \"2GB/s\"; latency = \"3us\"; } );");
    auto_workload *w =
        workload_of("name = \"n\"; batch = 1; input = { channels = 512; height = 1; width = 1; }; "
                    "layers = ( { name = \"f\"; type = \"fc\"; outputs = 1; } );");
    int32_t first[] = {0, 1}, last[] = {2, 3};
    const th_set sets[] = {{0, 2, first, NULL}, {0, 2, last, NULL}};
    th_time time[2][2];
    for (int order = 0; order < 2; order++) {
        fixture f;
        set_up(&f, s, w);
        for (int i = 0; i < 2; i++) {
            const int set = i ^ order;
            time[order][set] = th_partitioner_capability(&f.partitioner, &sets[set], NULL)->time[0];
        }
        tear_down(&f);
    }
    CU_ASSERT_EQUAL(time[0][0], time[1][0]);
    CU_ASSERT_EQUAL(time[0][1], time[1][1]);
    CU_ASSERT_TRUE(time[0][0] < time[0][1]);
}

TAP_MAIN("partitioner")
