/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_exhaustive.c - the search that proves: against brute force over its whole space where that
 * is small, and the other searches against it. */
#include <config.h>
#include <math.h>
#include "base/alloc.h"
#include "mapper/search/search.h"
#include "mapper/strategies.h"
#include "tests/unit/random_net.h"
#include "tests/unit/tap.h"

/* --- brute force --------------------------------------------------------------------------------
 */

typedef struct {
    const th_problem *p;
    th_evaluator *evaluator;
    th_mapping *m; /* a set per block of accelerators */
    double best;
    int64_t n;
} brute;

static void try_mapping(brute *b)
{
    th_mapping *m = th_mapping_copy(b->m);
    th_fitness f;
    th_error e = {"", ""};
    if (th_mapping_follow(m, b->p->workload, b->p->workload->batch) &&
        th_mapping_check(m, b->p->system, b->p->workload, &e) == 0) {
        if (th_evaluator_run(b->evaluator, m, INFINITY, &f, &e))
            bail_out(&e);
        b->n++;
        if (f.fit == TH_FIT && f.value < b->best)
            b->best = f.value;
    }
    th_mapping_free(m);
}

static void try_layers(brute *b, int layer)
{
    const th_workload *w = b->p->workload;
    if (layer == w->n_layers) {
        try_mapping(b);
        return;
    }
    for (int set = 0; set < b->m->n_sets; set++) {
        th_strategy *list = NULL;
        int n = 1;
        if (th_layer_has_macs(&w->layers[layer]))
            n = th_strategies_list(&w->layers[layer], w->batch, b->m->sets[set].n_accels, &list);
        for (int i = 0; i < n; i++) {
            b->m->set_of[layer] = set;
            b->m->strategy[layer] = list ? list[i] : th_strategy_single;
            try_layers(b, layer + 1);
        }
        th_free(list);
    }
}

static void try_designs(brute *b, int set)
{
    if (set == b->m->n_sets) {
        try_layers(b, 0);
        return;
    }
    for (int d = 0; d < b->p->system->n_designs; d++) {
        b->m->sets[set].design = d;
        try_designs(b, set + 1);
    }
}

/* Every way to give the accelerators to blocks 1 .. of which each begins with the first accelerator
 * that is not in an earlier one; block 0 stays idle. */
static void try_blocks(brute *b, int *block, int accel, int n_blocks)
{
    int n = b->p->system->n_accels;
    if (accel < n) {
        for (int i = 0; i <= n_blocks + 1; i++) {
            block[accel] = i;
            try_blocks(b, block, accel + 1, i > n_blocks ? i : n_blocks);
        }
        return;
    }
    int32_t sizes[RANDOM_ACCELS_MAX] = {0};
    for (int a = 0; a < n; a++)
        if (block[a] > 0)
            sizes[block[a] - 1]++;
    if (n_blocks == 0)
        return;
    b->m = th_mapping_new(n_blocks, sizes, b->p->workload->n_layers);
    for (int s = 0; s < n_blocks; s++)
        for (int a = 0, at = 0; a < n; a++)
            if (block[a] == s + 1)
                b->m->sets[s].accels[at++] = a;
    try_designs(b, 0);
    th_mapping_free(b->m);
}

static double best_by_force(const th_problem *p, int64_t *n)
{
    int block[RANDOM_ACCELS_MAX];
    th_error e = {"", ""};
    brute b = {.p = p, .evaluator = th_evaluator_new(p, &e), .best = INFINITY};
    if (!b.evaluator)
        bail_out(&e);
    try_blocks(&b, block, 0, 0);
    th_evaluator_free(b.evaluator);
    *n = b.n;
    return b.best;
}

/* --- searches -----------------------------------------------------------------------------------
 */

static th_search *searched(const char *name, const th_problem *p, int64_t evaluations)
{
    th_search_options o = th_search_defaults;
    th_error e = {"", ""};
    o.evaluations = evaluations;
    o.chunks = 1; /* as exhaustive knows none */
    th_search *s = th_search_new(th_search_find(name), p, &o, &e);
    while (s && !s->done && th_search_iterate(s, &e) == 0)
        ;
    if (!s || !s->done)
        bail_out(&e);
    return s;
}

/* Two designs; a system of a few accelerators. */
#define DESIGNS                                                                                    \
    "designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 8; }, "   \
    "{ name = \"e\"; type = \"systolic_vec\"; clock = \"500MHz\"; rows = 4; cols = 2; vec = 3; "   \
    "input_port = 8; weight_port = 8; output_port = 8; } ); "
#define ACCELS(DESIGN)                                                                             \
    "accelerators = ( { dram = { capacity = \"1GiB\"; bandwidth = \"4GB/s\"; latency = \"20ns\"; " \
    "burst = \"16B\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = 4; }; designs = "       \
    "[" DESIGN "]; } ); "
#define SYSTEM(DESIGN, TOPOLOGY)                                                                   \
    "name = \"t\"; " DESIGNS ACCELS(DESIGN) "topology = { " TOPOLOGY                               \
                                            " bandwidth = \"8Gbps\"; latency = \"50ns\"; };"
#define BOTH "\"d\", \"e\""
#define HOST "host = { bandwidth = \"4Gbps\"; };"

static const char *const systems[] = {
    SYSTEM("\"d\"", "type = \"ring\"; dims = [2]; " HOST),
    SYSTEM(BOTH, "type = \"ring\"; dims = [2];"),
    SYSTEM("\"d\"", "type = \"ring\"; dims = [3]; " HOST),
    SYSTEM(BOTH, "type = \"ring\"; dims = [3]; " HOST),
    SYSTEM("\"e\"", "type = \"ring\"; dims = [4]; " HOST),
    SYSTEM("\"d\"", "type = \"mesh\"; dims = [2, 2]; " HOST),
    SYSTEM("\"d\"", "type = \"fully_connected\"; dims = [4]; " HOST),
    SYSTEM(BOTH, "type = \"fully_connected\"; dims = [3];"),
};
enum { N_SYSTEMS = sizeof systems / sizeof *systems, N_TINY = 4 };

/* A chain, or a block with a sum, of 3 to 5 layers with extents that matter. */
static th_workload *draw_workload(gsl_rng *r, int n_layers)
{
    char text[4000];
    th_error e = {"", ""};
    int size = 4 << pick(r, 0, 1), n = 0, c = (int)pick(r, 2, 4) * 4;
    n += snprintf(text, sizeof text,
                  "name = \"n\"; batch = %d; element_bytes = 2; input = { channels = %d; height = "
                  "%d; width = %d; }; layers = ( ",
                  (int)pick(r, 1, 2), c, size, size);
    bool has_sum = pick(r, 0, 2) == 0 && n_layers > 3;
    for (int l = 0; l < n_layers; l++) {
        const char *separator = l ? ", " : "";
        int kind = (int)pick(r, 0, 4);
        int k = (int)pick(r, 1, 6) * 4, kernel = pick(r, 0, 1) ? 3 : 1;
        if (has_sum && l == n_layers - 1)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "%s{ name = \"sum\"; type = \"add\"; inputs = [\"l0\", \"l%d\"]; }",
                          separator, l - 1);
        else if (l == n_layers - 1 && kind < 2)
            n +=
                snprintf(text + n, sizeof text - (size_t)n,
                         "%s{ name = \"l%d\"; type = \"fc\"; outputs = %d; }", separator, l, k * 4);
        else if (!has_sum && kind == 4 && l > 0 && size > 2) {
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "%s{ name = \"l%d\"; type = \"max_pool\"; kernel = 2; stride = 2; }",
                          separator, l);
            size /= 2;
        } else
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "%s{ name = \"l%d\"; type = \"conv\"; outputs = %d; kernel = %d; padding "
                          "= %d; }",
                          separator, l, has_sum ? 12 : k, kernel, kernel / 2);
    }
    snprintf(text + n, sizeof text - (size_t)n, " );");
    th_workload *w = th_workload_read_text(text, "net", 0, &e);
    if (!w) {
        printf("# %s\n", text);
        bail_out(&e);
    }
    return w;
}

enum { FIRST = 500 }; /* evaluations of the search that comes first in exhaustive */

TEST(brute_force_finds_nothing_better)
{
    int64_t all = 0, simulated = 0;
    for (int i = 0; i < 12; i++) {
        gsl_rng *r = th_random_stream(5, "brute", (uint64_t)i);
        th_system *s = system_of(systems[i % N_TINY]);
        th_workload *w = draw_workload(r, i % N_TINY ? 2 : 3);
        th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
        int64_t n;
        double force = best_by_force(&p, &n);
        th_search *x = searched("exhaustive", &p, 0);
        CU_ASSERT_TRUE(x->is_proven);
        CU_ASSERT_EQUAL(x->best_fitness.value, force);
        if (x->best_fitness.value != force)
            printf("# case %d: %.0f, by force %.0f\n", i, x->best_fitness.value, force);
        all += n;
        simulated += x->n_evaluations < FIRST ? 0 : x->n_evaluations - FIRST;
        th_search_free(x);
        th_workload_free(w);
        th_system_free(s);
        gsl_rng_free(r);
    }
    printf("# %lld mappings by force, %lld simulated\n", (long long)all, (long long)simulated);
    CU_ASSERT_TRUE(simulated < all);
}

/* Small instances of 2 to 4 accelerators and 3 to 5 layers, proven, and what the default search
 * finds of them with a modest budget: as short as that in the mean within 1 %, and 5 % at worst. */
TEST(the_default_search_is_near_the_optimum)
{
#ifdef TH_PARANOID
    enum { CASES = N_SYSTEMS, EVALUATIONS = 1000 }; /* a slow build looks for errors, not at gaps */
#else
    enum { CASES = 3 * N_SYSTEMS, EVALUATIONS = 1000 };
#endif
    static const int most_layers[N_SYSTEMS] = {5, 5, 5, 5, 4, 3, 5, 5};
    double sum = 0, worst = 0;
    printf("# case system layers  proven [ns]  default [ns]   gap     nodes    pruned simulated\n");
    for (int i = 0; i < CASES; i++) {
        gsl_rng *r = th_random_stream(6, "near", (uint64_t)i);
        th_system *s = system_of(systems[i % N_SYSTEMS]);
        int layers = 3 + i / N_SYSTEMS, most = most_layers[i % N_SYSTEMS];
        th_workload *w = draw_workload(r, layers < most ? layers : most);
        th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
        th_search *x = searched("exhaustive", &p, 0),
                  *y = searched(th_search_types[0]->name, &p, EVALUATIONS);
        double gap = y->best_fitness.value / x->best_fitness.value - 1;
        CU_ASSERT_TRUE(x->is_proven);
        CU_ASSERT_TRUE(gap >= 0);
        printf("# %4d %6d %6d %12.3f %13.3f %5.2f%% %9lld %9lld %9lld\n", i, i % N_SYSTEMS,
               w->n_layers, x->best_fitness.value / 1e3, y->best_fitness.value / 1e3, 100 * gap,
               (long long)x->counts.nodes, (long long)x->counts.pruned,
               (long long)x->n_evaluations);
        fflush(stdout);
        sum += gap;
        worst = gap > worst ? gap : worst;
        th_search_free(x);
        th_search_free(y);
        th_workload_free(w);
        th_system_free(s);
        gsl_rng_free(r);
    }
    printf("# mean %.3f %%, worst %.3f %%\n", 100 * sum / CASES, 100 * worst);
    CU_ASSERT_TRUE(sum / CASES <= 0.01);
    CU_ASSERT_TRUE(worst <= 0.05);
}

TEST(too_many_accelerators_are_refused)
{
    th_system *s = shipped_system("f1_16xlarge");
    th_workload *w = shipped_workload("alexnet");
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_search_new(th_search_find("exhaustive"), &p, &th_search_defaults, &e));
    TAP_ASSERT_TEXT(e.id, "MAP-0070");
    th_workload_free(w);
    th_system_free(s);
}

/* A budget ends it before anything is proven; the same budget, the same result. */
TEST(a_budget_is_kept)
{
    th_system *s = system_of(systems[5]);
    gsl_rng *r = th_random_stream(6, "budget", 0);
    th_workload *w = draw_workload(r, 5);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_search *x = searched("exhaustive", &p, 150), *y = searched("exhaustive", &p, 150);
    CU_ASSERT_FALSE(x->is_proven);
    CU_ASSERT_EQUAL(x->n_evaluations, 150);
    CU_ASSERT_TRUE(th_mapping_equal(x->best, y->best));
    th_search_free(x);
    th_search_free(y);
    th_workload_free(w);
    th_system_free(s);
    gsl_rng_free(r);
}

/* The throughput of three inputs has no proven bound, so all mappings are simulated. */
TEST(without_a_bound_nothing_is_pruned)
{
    th_system *s = system_of(systems[0]);
    gsl_rng *r = th_random_stream(6, "throughput", 0);
    th_workload *w = draw_workload(r, 2);
    th_problem p = {.system = s,
                    .workload = w,
                    .stream = {.n_inputs = 3, .micro_batches = 1},
                    .objective = TH_OBJECTIVE_THROUGHPUT};
    int64_t n;
    double force = best_by_force(&p, &n);
    th_search *x = searched("exhaustive", &p, 0);
    CU_ASSERT_TRUE(x->is_proven);
    CU_ASSERT_EQUAL(x->best_fitness.value, force);
    CU_ASSERT_EQUAL(x->counts.pruned, 0);
    th_search_free(x);
    th_workload_free(w);
    th_system_free(s);
    gsl_rng_free(r);
}

TAP_MAIN("exhaustive")
