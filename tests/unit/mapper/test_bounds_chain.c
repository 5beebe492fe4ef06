/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_bounds_chain.c - the bound of layers that read each other: by hand, below the best of all
 * mappings of tiny workloads, and below random mappings that are improved step by step, in which
 * every layer has a set of its own, whatever the sets of others, in any order of its members. A
 * failure prints the number of its case; THARSIS_CASE=N runs that one alone, THARSIS_LONG=1 all. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/strategies.h"
#include "tests/unit/mapper/bounds_help.h"
#include "tests/unit/random_net.h"
#include "tests/unit/tap.h"
#include "workloads/models.h"

/* Two pairs of accelerators, each with links of its own, that talk through the host. */
#define DESIGNS                                                                                    \
    "designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 4; }, "   \
    "{ name = \"e\"; type = \"tiled\"; clock = \"1GHz\"; tile_k = 2; tile_c = 2; tile_h = 2; "     \
    "tile_w = 3; input_port = 4; weight_port = 4; output_port = 4; clip = true; } ); "
#define ACCEL(NAMES, REST)                                                                         \
    "{ names = [" NAMES "]; " REST "dram = { capacity = \"1GiB\"; bandwidth = \"4GB/s\"; "         \
    "latency = \"10ns\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = 2; }; "              \
    "designs = [\"d\", \"e\"]; }"
#define PAIRS                                                                                      \
    "name = \"pairs\"; " DESIGNS                                                                   \
    "accelerators = ( " ACCEL("\"0\", \"1\"", "group = 0; ") ", " ACCEL(                           \
        "\"2\", \"3\"", "group = 1; ") " ); hosts = ( \"h\" ); links = ( "                         \
                                       "{ between = [\"0\", \"1\"]; bandwidth = \"8Gbps\"; "       \
                                       "latency = \"50ns\"; }, "                                   \
                                       "{ between = [\"2\", \"3\"]; bandwidth = \"8Gbps\"; "       \
                                       "latency = \"50ns\"; duplex = \"half\"; }, "                \
                                       "{ center = \"h\"; leaves = [\"0\", \"1\", \"2\", \"3\"]; " \
                                       "bandwidth = \"2Gbps\"; latency = \"80ns\"; } );"
#define TOPOLOGY(TEXT)                                                                             \
    "name = \"t\"; " DESIGNS "accelerators = ( { dram = { capacity = \"1GiB\"; bandwidth = "       \
    "\"4GB/s\"; latency = \"10ns\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = 2; }; "   \
    "designs = [\"d\", \"e\"]; } ); topology = { " TEXT " bandwidth = \"4Gbps\"; latency = "       \
    "\"100ns\"; };"
static const char *const systems[] = {
    PAIRS,
    TOPOLOGY("type = \"ring\"; dims = [5]; host = { bandwidth = \"4Gbps\"; };"),
    TOPOLOGY("type = \"mesh\"; dims = [2, 3];"),
    TOPOLOGY("type = \"star\"; dims = [3]; host = { bandwidth = \"1Gbps\"; };"),
    TOPOLOGY("type = \"line\"; dims = [2];"),
};
enum { N_SYSTEMS = sizeof systems / sizeof *systems };

static bool is_long(void)
{
    return getenv("THARSIS_LONG") != NULL;
}

/* --- by hand ---------------------------------------------------------------------------------- */

/* 64 -> 64 -> 64 channels of one pixel, 4096 multiply-accumulates each, on two accelerators of one
 * per ns, with a link of 1 byte/ns and 1 us. Half of the channels each: 2048 ns. Then the second
 * layer wants all of them: each begins with the half that it has, 1024 ns, while the other half, 64
 * bytes, comes: 1064 ns; then 1024 ns with it. 2048 + 1064 + 1024 = 4136 ns. */
TEST(a_half_travels_while_the_other_is_used)
{
    auto_system *s = system_of(
        "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "
        "macs_per_cycle = 1; } ); accelerators = ( { count = 2; dram = { capacity = \"1GiB\"; "
        "bandwidth = \"unlimited\"; latency = \"0ns\"; }; vector = { clock = \"1GHz\"; "
        "elements_per_cycle = 1; }; designs = [\"d\"]; } ); links = ( { between = [\"0\", \"1\"]; "
        "bandwidth = \"8Gbps\"; latency = \"1us\"; } );");
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 1; element_bytes = 2; input = { channels = 64; height = 1; width = "
        "1; }; layers = ( { name = \"a\"; type = \"conv\"; outputs = 64; kernel = 1; }, "
        "{ name = \"b\"; type = \"conv\"; outputs = 64; kernel = 1; } );");
    th_problem p = problem_on(s, w, "fluid");
    auto_mapping *m = mapping_on("01", w);
    put_layer(m, 0, 0, "K2");
    put_layer(m, 1, 0, "K2 rC");
    auto_bounds b = find(&p, &(th_bounds_scope){.chunks = TH_SHARD_CHUNKS_MAX});
    CU_ASSERT_EQUAL(b.makespan_ps[TH_LIMIT_PATH], 4136000);
    CU_ASSERT_EQUAL(makespan_of(&p, m), 4136000);
    TAP_ASSERT_TEXT(b.why[TH_LIMIT_PATH], "2 layers, a .. b");
    CU_ASSERT_EQUAL(b.largest, TH_LIMIT_PATH);
}

/* 64 -> 64 channels, then 64 -> 128 in two groups, 4096 multiply-accumulates each, on four
 * accelerators of one per ns; no link is worth its millisecond. Halves of the first layer in two
 * copies each: 2048 ns. Then every accelerator has the group that its quarter of the second reads:
 * 1024 ns more. Without copies: halves of both on two, 2048 + 2048 ns. */
TEST(halves_in_two_copies_need_no_link)
{
    auto_system *s = system_of(
        "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "
        "macs_per_cycle = 1; } ); accelerators = ( { count = 4; dram = { capacity = \"1GiB\"; "
        "bandwidth = \"unlimited\"; latency = \"0ns\"; }; vector = { clock = \"1GHz\"; "
        "elements_per_cycle = 1; }; designs = [\"d\"]; } ); links = ( { all_pairs = [\"0\", "
        "\"1\", \"2\", \"3\"]; bandwidth = \"8Gbps\"; latency = \"1ms\"; } );");
    auto_workload *w = workload_of(
        "name = \"n\"; batch = 1; element_bytes = 2; input = { channels = 64; height = 1; width = "
        "1; }; layers = ( { name = \"a\"; type = \"conv\"; outputs = 64; kernel = 1; }, "
        "{ name = \"b\"; type = \"conv\"; outputs = 128; kernel = 1; groups = 2; } );");
    th_problem p = problem_on(s, w, "fluid");
    auto_mapping *m = mapping_on("0123", w), *two = mapping_on("01", w);
    put_layer(m, 0, 0, "K2 c2");
    put_layer(m, 1, 0, "K4");
    put_layer(two, 0, 0, "K2");
    put_layer(two, 1, 0, "K2");
    auto_bounds b = find(&p, &(th_bounds_scope){.chunks = TH_SHARD_CHUNKS_MAX});
    CU_ASSERT_EQUAL(b.makespan_ps[TH_LIMIT_PATH], 3072000);
    CU_ASSERT_EQUAL(makespan_of(&p, m), 3072000);
    CU_ASSERT_EQUAL(makespan_of(&p, two), 4096000);
}

/* --- mappings in which every layer has its own set -------------------------------------------- */

static int64_t n_runs, n_wrong, n_met, n_copied;
static double closest = INFINITY;

/* Layer l on n members in that order. False: the strategy does not fit. */
static bool place(th_mapping *m, int l, const int32_t *members, int n, const th_strategy *s,
                  const th_workload *w, int32_t batch)
{
    if (!th_strategy_fits(s, &w->layers[l], batch, n))
        return false;
    int32_t *accels = th_realloc_array(m->sets[l].accels, (size_t)n, sizeof *accels);
    if (!accels)
        return false;
    m->sets[l].n_accels = n;
    m->sets[l].accels = memcpy(accels, members, (size_t)n * sizeof *members);
    m->strategy[l] = *s;
    return true;
}

/* All sets have room for all accelerators, and design. */
static th_mapping *new_mapping(const th_system *s, const th_workload *w, int32_t design)
{
    int32_t sizes[2 * RANDOM_LAYERS_MAX];
    for (int l = 0; l < w->n_layers; l++)
        sizes[l] = s->n_accels;
    th_mapping *m = th_mapping_new(w->n_layers, sizes, w->n_layers);
    for (int l = 0; l < w->n_layers; l++) {
        m->set_of[l] = l;
        m->sets[l].design = design;
    }
    return m;
}

/* Any members in any order, any strategy, often chunks, in copies where a number drawn divides. */
static bool draw_layer(gsl_rng *r, th_mapping *m, int l, const th_system *s, const th_workload *w,
                       int32_t batch)
{
    int32_t order[RANDOM_ACCELS_MAX];
    th_strategy *list = NULL;
    const int n = (int)pick(r, 1, s->n_accels);
    for (int32_t a = 0; a < s->n_accels; a++)
        order[a] = a;
    for (int i = 0; i < n; i++) {
        const int j = (int)pick(r, i, s->n_accels - 1);
        const int32_t other = order[j];
        order[j] = order[i];
        order[i] = other;
    }
    int copies = (int)pick(r, 1, n);
    copies = n % copies ? 1 : copies;
    const int count = th_strategies_list_all(&w->layers[l], batch, n / copies, &list);
    bool placed = false;
    if (count > 0) {
        th_strategy x = list[pick(r, 0, count - 1)];
        th_strategy_set_copies(&x, copies);
        n_copied += copies > 1;
        placed = place(m, l, order, n, &x, w, batch);
        if (x.rotate == TH_NO_ROTATION && pick(r, 0, 2) > 0) {
            th_strategy_set_chunks(&x, (int32_t)pick(r, 2, TH_SHARD_CHUNKS_MAX),
                                   (int32_t)pick(r, 0, TH_N_DIMS - 1));
            place(m, l, order, n, &x, w, batch);
        }
    }
    th_free(list);
    return placed;
}

/* The makespan; INFINITY: it does not fit. */
static double run(const th_problem *p, const th_bounds *b, th_evaluator *v, const th_mapping *m,
                  int number)
{
    th_fitness f;
    th_error e = {"", ""};
    if (th_evaluator_run(v, m, INFINITY, &f, &e))
        bail_out(&e);
    if (f.fit != TH_FIT)
        return INFINITY;
    const th_time took = f.metrics.latency_ps, least = b->makespan_ps[b->largest];
    n_runs++;
    n_met += took == b->makespan_ps[TH_LIMIT_PATH];
    if (b->makespan_ps[TH_LIMIT_PATH] > 0)
        closest = fmin(closest, (double)took / (double)b->makespan_ps[TH_LIMIT_PATH]);
    if (took < least && n_wrong++ < 10)
        printf("# case %d, %s: %s %lld ps, but took %lld (%s)\n", number, p->network->name,
               th_limit_name(b->largest), (long long)least, (long long)took, b->why[b->largest]);
    return (double)took;
}

/* --- at random -------------------------------------------------------------------------------- */

/* A random mapping, then changes of one layer, of which those that do not make it longer stay. */
static void climb(gsl_rng *r, const th_problem *p, const th_bounds *b, th_evaluator *v, int number)
{
    enum { CHANGES = 12 };
    const int32_t batch = p->workload->batch / p->stream.micro_batches;
    auto_mapping *m = new_mapping(p->system, p->workload, (int32_t)pick(r, 0, 1));
    for (int l = 0; l < m->n_layers; l++)
        if (!draw_layer(r, m, l, p->system, p->workload, batch))
            return;
    double best = run(p, b, v, m, number);
    for (int i = 0; i < CHANGES; i++) {
        auto_mapping *changed = th_mapping_copy(m);
        if (!draw_layer(r, changed, (int)pick(r, 0, m->n_layers - 1), p->system, p->workload,
                        batch))
            continue;
        const double took = run(p, b, v, changed, number);
        if (took > best)
            continue;
        best = took;
        th_mapping_free(m);
        m = th_mapping_copy(changed);
    }
}

/* One network, or two that share the system. */
static th_workload *draw_networks(gsl_rng *r, bool two)
{
    th_error e = {"", ""};
    th_workload *first = random_workload(r);
    if (!two)
        return first;
    auto_workload *second = random_workload(r);
    th_workload *one = th_models_join(NULL, first, &(th_model_options){.name = "first"}, &e);
    th_workload *both =
        one ? th_models_join(one, second, &(th_model_options){.name = "second"}, &e) : NULL;
    th_workload_free(one);
    if (both)
        th_workload_free(first);
    return both ? both : first; /* batches differ */
}

static void check_case(int number)
{
    enum { CLIMBS = 4 };
    static const char *const networks[] = {"fluid", "fluid", "packet", "ideal"};
    auto_rng *r = th_random_stream(17, "chain", (uint64_t)number);
    auto_system *s = system_of(systems[number % N_SYSTEMS]);
    auto_workload *w = draw_networks(r, number % 3 == 0);
    th_problem p = problem_on(s, w, networks[number / N_SYSTEMS % 4]);
    th_error e = {"", ""};
    p.stream = random_stream(r, w);
    auto_evaluator *v = th_evaluator_new(&p, &e);
    if (!v)
        bail_out(&e);
    auto_bounds b = find(&p, &(th_bounds_scope){.chunks = TH_SHARD_CHUNKS_MAX});
    for (int i = 0; i < CLIMBS; i++)
        climb(r, &p, &b, v, number);
}

TEST(no_mapping_is_below_the_chain)
{
    const char *only = getenv("THARSIS_CASE");
    const int cases = is_long() ? 600 : TAP_REPEATS(60);
    n_runs = n_wrong = n_met = 0;
    closest = INFINITY;
    for (int i = only ? atoi(only) : 0; i < (only ? atoi(only) + 1 : cases); i++)
        check_case(i);
    printf("# %lld runs, %lld as long as the bound, the closest %.4f of it\n", (long long)n_runs,
           (long long)n_met, closest);
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(only || (n_runs > 20 * cases && n_copied > 5 * cases));
    CU_ASSERT_TRUE(only || TAP_STRIDE > 1 || closest < 1.1);
}

/* --- the best of all -------------------------------------------------------------------------- */

/* All placements of a layer on two accelerators. */
typedef struct {
    th_strategy *item; /* on n[i] of them, from first[i] on */
    int *n;
    int32_t *first;
    int count;
} placements;

static void add_placement(placements *x, const th_strategy *s, int n)
{
    for (int32_t first = 0; first < 2; first++) {
        const size_t room = (size_t)x->count + 1;
        x->item = realloc(x->item, room * sizeof *x->item);
        x->n = realloc(x->n, room * sizeof *x->n);
        x->first = realloc(x->first, room * sizeof *x->first);
        x->item[x->count] = *s;
        x->n[x->count] = n;
        x->first[x->count++] = first;
    }
}

static placements all_placements(const th_layer *l)
{
    placements x = {NULL, NULL, NULL, 0};
    for (int kind = 0; kind < 3; kind++) { /* on one, on two, in copies on both */
        const int n = kind == 0 ? 1 : 2;
        th_strategy *list;
        const int count = th_strategies_list_all(l, 1, kind == 1 ? 2 : 1, &list);
        for (int i = 0; i < count; i++) {
            th_strategy_set_copies(&list[i], kind == 2 ? 2 : 1);
            add_placement(&x, &list[i], n);
            for (int d = 0; list[i].rotate == TH_NO_ROTATION && d < TH_N_DIMS; d++)
                for (int chunks = 2; chunks <= TH_SHARD_CHUNKS_MAX; chunks++) {
                    th_strategy s = list[i];
                    th_strategy_set_chunks(&s, chunks, d);
                    if (th_strategy_fits(&s, l, 1, n))
                        add_placement(&x, &s, n);
                }
        }
        th_free(list);
    }
    return x;
}

static void free_placements(placements *x)
{
    free(x->item);
    free(x->n);
    free(x->first);
}

/* The least makespan of all mappings of two layers on two accelerators. */
static double best_of_all(const th_problem *p, const th_bounds *b, th_evaluator *v, int number)
{
    double best = INFINITY;
    placements of[2];
    for (int l = 0; l < 2; l++)
        of[l] = all_placements(&p->workload->layers[l]);
    for (int32_t design = 0; design < 2; design++) {
        auto_mapping *m = new_mapping(p->system, p->workload, design);
        for (int i = 0; i < of[0].count * of[1].count; i++) {
            const int at[2] = {i % of[0].count, i / of[0].count};
            for (int l = 0; l < 2; l++) {
                const int32_t first = of[l].first[at[l]];
                place(m, l, (const int32_t[]){first, 1 - first}, of[l].n[at[l]], &of[l].item[at[l]],
                      p->workload, 1);
            }
            best = fmin(best, run(p, b, v, m, number));
        }
    }
    for (int l = 0; l < 2; l++)
        free_placements(&of[l]);
    return best;
}

/* The gap of the bound to the optimum. */
static double gap_of_case(int number)
{
    static const char *const second[] = {
        "type = \"conv\"; outputs = 3; kernel = 3; padding = 1; stride = %d;",
        "type = \"conv\"; outputs = 4; kernel = 1; stride = %d;",
        "type = \"max_pool\"; kernel = 2; stride = %d;",
    };
    auto_rng *r = th_random_stream(19, "tiny", (uint64_t)number);
    auto_strbuf text = TH_STRBUF_INIT;
    th_strbuf_printf(&text,
                     "name = \"n\"; batch = 1; element_bytes = 2; input = { channels = %d; height "
                     "= %d; width = 2; }; layers = ( { name = \"a\"; type = \"conv\"; outputs = "
                     "%d; kernel = 1; }, { name = \"b\"; ",
                     (int)pick(r, 1, 4), (int)pick(r, 3, 5), (int)pick(r, 2, 4));
    th_strbuf_printf(&text, second[number % 3], (int)pick(r, 1, 2));
    th_strbuf_add(&text, " } );");
    auto_system *s = system_of(systems[N_SYSTEMS - 1]);
    auto_workload *w = workload_of(text.text);
    th_problem p = problem_on(s, w, number % 2 ? "fluid" : "packet");
    th_error e = {"", ""};
    auto_evaluator *v = th_evaluator_new(&p, &e);
    if (!v)
        bail_out(&e);
    auto_bounds b = find(&p, &(th_bounds_scope){.chunks = TH_SHARD_CHUNKS_MAX});
    const double best = best_of_all(&p, &b, v, number);
    return best / (double)b.makespan_ps[b.largest] - 1;
}

TEST(the_best_of_all_mappings_is_not_below_it)
{
    const int cases = is_long() ? 30 : 3;
    double sum = 0;
    n_runs = n_wrong = n_met = 0;
    for (int i = 0; i < cases; i++)
        sum += gap_of_case(i);
    printf("# %lld mappings; the optimum is %.1f %% above the bound in the mean\n",
           (long long)n_runs, 100 * sum / cases);
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(sum / cases < 0.65); /* it says something */
}

TAP_MAIN("bounds_chain")
