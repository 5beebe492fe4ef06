/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_exhaustive.c - the search that proves: what it refuses, its budget, and the default search
 * against it. test_space.c holds it against brute force. */
#include <config.h>
#include "mapper/search/searches.h"
#include "tests/unit/random_net.h"
#include "tests/unit/tap.h"

static th_search *searched(const char *name, const th_problem *p, int64_t evaluations)
{
    th_search_options o = th_search_defaults;
    th_error e = {"", ""};
    o.evaluations = evaluations;
    o.chunks = 1;
    o.space = TH_SPACE_BASIC; /* as that of exhaustive: the full one also splits kernels */
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
        else if (!has_sum && kind == 4 && size > 2) {
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

/* Small instances of 2 to 4 accelerators, proven, and what the default search finds of them with
 * fewer evaluations than they have mappings: within 1 % in the mean, and 5 % at worst. */
TEST(the_default_search_is_near_the_optimum)
{
    enum { CASES = 2 * N_SYSTEMS, EVALUATIONS = 150 };
    static const int layers[N_SYSTEMS] = {4, 3, 3, 2, 2, 2, 2, 2};
    double sum = 0, worst = 0;
    printf("# case system layers  proven [ns]  default [ns]   gap  simulated\n");
    for (int i = 0; i < CASES; i++) {
        auto_rng *r = th_random_stream(6, "near", (uint64_t)i);
        auto_system *s = system_of(systems[i % N_SYSTEMS]);
        auto_workload *w = draw_workload(r, layers[i % N_SYSTEMS]);
        th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
        auto_search *x = searched("exhaustive", &p, 0),
                    *y = searched(th_search_types[0]->name, &p, EVALUATIONS);
        double gap = y->best_fitness.value / x->best_fitness.value - 1;
        CU_ASSERT_TRUE(x->is_proven);
        CU_ASSERT_TRUE(gap >= 0);
        printf("# %4d %6d %6d %12.3f %13.3f %5.2f%% %9lld\n", i, i % N_SYSTEMS, w->n_layers,
               x->best_fitness.value / 1e3, y->best_fitness.value / 1e3, 100 * gap,
               (long long)x->n_evaluations);
        fflush(stdout);
        sum += gap;
        worst = gap > worst ? gap : worst;
    }
    printf("# mean %.3f %%, worst %.3f %%\n", 100 * sum / CASES, 100 * worst);
    CU_ASSERT_TRUE(sum / CASES <= 0.01);
    CU_ASSERT_TRUE(worst <= 0.05);
}

TEST(too_many_accelerators_are_refused)
{
    auto_system *s = shipped_system("f1_16xlarge");
    auto_workload *w = shipped_workload("alexnet");
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_search_new(th_search_find("exhaustive"), &p, &th_search_defaults, &e));
    TAP_ASSERT_TEXT(e.id, "MAP-0070");
}

/* A budget ends it before anything is proven; the same budget, the same result. */
TEST(a_budget_is_kept)
{
    auto_system *s = system_of(systems[5]);
    auto_rng *r = th_random_stream(6, "budget", 0);
    auto_workload *w = draw_workload(r, 2);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    auto_search *x = searched("exhaustive", &p, 150), *y = searched("exhaustive", &p, 150);
    CU_ASSERT_FALSE(x->is_proven);
    CU_ASSERT_EQUAL(x->n_evaluations, 150);
    CU_ASSERT_TRUE(th_mapping_equal(x->best, y->best));
}

/* Shares of unlike accelerators are without number; chunks are not. */
TEST(full_is_enumerated_where_accelerators_are_alike)
{
    auto_system *s = system_of(systems[0]);
    auto_rng *r = th_random_stream(6, "full", 0);
    auto_workload *w = draw_workload(r, 1);
    th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    th_search_options o = th_search_defaults;
    th_error e = {"", ""};
    o.space = TH_SPACE_FULL;
    auto_search *full = th_search_new(&th_search_exhaustive, &p, &o, &e),
                *basic = searched("exhaustive", &p, 0);
    while (full && !full->done && th_search_iterate(full, &e) == 0)
        ;
    CU_ASSERT_PTR_NOT_NULL_FATAL(full);
    CU_ASSERT_TRUE(full->is_proven);
    CU_ASSERT_TRUE(full->n_evaluations > basic->n_evaluations);
    CU_ASSERT_TRUE(full->best_fitness.value <= basic->best_fitness.value);
}

TAP_MAIN("exhaustive")
