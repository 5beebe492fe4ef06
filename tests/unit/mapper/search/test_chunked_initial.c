/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_chunked_initial.c - dynamic programming: how close its estimate with chunks comes to the run
 * of the mapping where links are idle otherwise, what it misses of all chunks by brute force, and
 * the memory of sets that share accelerators. */
#include <config.h>

#include <math.h>

#include "mapper/search/initial/initial_mapping_state.h"
#include "tests/unit/map_help.h"
#include "tests/unit/tap.h"

/* Every pair has a link of its own; without a host, inputs are everywhere and outputs stay. */
#define SYSTEM(LINK)                                                                               \
    "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "            \
    "macs_per_cycle = 64; } ); accelerators = ( { count = 4; dram = { capacity = \"1GiB\"; "       \
    "bandwidth = \"400GB/s\"; latency = \"1ns\"; burst = \"1B\"; }; vector = { clock = "           \
    "\"1GHz\"; elements_per_cycle = 64; }; designs = [\"d\"]; } ); topology = { type = "           \
    "\"fully_connected\"; dims = [4]; " LINK " latency = \"100ns\"; };"

static const char *const systems[] = {SYSTEM("bandwidth = \"400Gbps\";"),
                                      SYSTEM("bandwidth = \"80Gbps\";"),
                                      SYSTEM("bandwidth = \"16Gbps\";")};
enum { N_SYSTEMS = sizeof systems / sizeof *systems, CHUNKS = 4 };

/* A chain of convolutions; or one whose first layers are read twice and added later. */
static th_workload *draw(gsl_rng *r, int n_layers, bool has_branches)
{
    char text[2000];
    const int channels = 8 * (int)pick(r, 1, 4);
    int n = snprintf(text, sizeof text,
                     "name = \"n\"; batch = 1; element_bytes = 2; input = { channels = %d; height "
                     "= %d; width = %d; }; layers = (",
                     channels, 4 * (int)pick(r, 2, 6), 4 * (int)pick(r, 2, 6));
    for (int l = 0; l < n_layers; l++) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%s{ name = \"l%d\"; ", l ? ", " : "", l);
        if (has_branches && l > 1 && pick(r, 0, 2) == 0)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "type = \"add\"; inputs = [\"l%d\", \"l%d\"]; }", l - 1, l - 2);
        else
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "type = \"conv\"; outputs = %d; kernel = %d; padding = %d; }",
                          has_branches ? channels : 8 * (int)pick(r, 1, 6), l % 2 ? 1 : 3,
                          l % 2 ? 0 : 1);
    }
    snprintf(text + n, sizeof text - (size_t)n, " );");
    return workload_of(text);
}

typedef struct {
    th_time estimate, run;
    int n_chunked; /* layers */
} solved;

static solved solve(const th_problem *p, th_initial_generator *g, th_evaluator *e, int chunks)
{
    auto_mapping *m = mapping_on("0123", p->workload);
    solved x = {0, 0, 0};
    th_fitness f;
    th_error err = {"", ""};
    if (th_initial_solve(g, m, 0, (th_jitter){.chunks = chunks}, &x.estimate, &err) ||
        th_evaluator_run(e, m, INFINITY, &f, &err))
        bail_out(&err);
    x.run = f.metrics.latency_ps;
    for (int l = 0; l < m->n_layers; l++)
        x.n_chunked += m->strategy[l].chunks > 0;
    return x;
}

typedef struct {
    int n, n_chunked, n_better;
    double sum, most; /* of |estimate / run - 1| */
} closeness;

static closeness close_to_runs(int cases, bool has_branches, int chunks)
{
    closeness c = {0, 0, 0, 0, 0};
    for (int i = 0; i < cases; i++) {
        auto_rng *r = th_random_stream(7, "chunked", (uint64_t)i);
        auto_system *s = system_of(systems[i % N_SYSTEMS]);
        auto_workload *w = draw(r, 5, has_branches);
        const th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
        auto_evaluator *e = evaluator_of(p);
        auto_initial_generator *g = th_initial_new(e, NULL);
        const solved x = solve(&p, g, e, chunks), plain = solve(&p, g, e, 1);
        const double off = fabs((double)x.estimate / (double)x.run - 1);
        c.n++;
        c.n_chunked += x.n_chunked;
        c.n_better += x.run < plain.run;
        c.sum += off;
        c.most = off > c.most ? off : c.most;
        CU_ASSERT_TRUE(x.estimate <= plain.estimate && plain.n_chunked == 0);
    }
    printf("# %s, %d chunks: estimates are off by %.2f %% in the mean, %.2f %% at most; %d layers "
           "have chunks; %d of %d runs are shorter than without\n",
           has_branches ? "branches" : "chains", chunks, 100 * c.sum / c.n, 100 * c.most,
           c.n_chunked, c.n_better, c.n);
    return c;
}

TEST(estimates_are_close_to_runs_of_chains)
{
    enum { CASES = TAP_REPEATS(60) };
    const closeness plain = close_to_runs(CASES, false, 1), x = close_to_runs(CASES, false, CHUNKS);
    CU_ASSERT_TRUE(plain.sum < 1e-5 * plain.n && plain.most < 1e-4);
    CU_ASSERT_TRUE(x.sum < 0.005 * x.n && x.most < 0.05);
    CU_ASSERT_TRUE(x.n_chunked > CASES && x.n_better > CASES / 2);
}

TEST(and_not_far_from_those_with_branches)
{
    enum { CASES = TAP_REPEATS(40) };
    const closeness x = close_to_runs(CASES, true, CHUNKS);
    CU_ASSERT_TRUE(x.sum < 0.02 * x.n && x.most < 0.1);
    CU_ASSERT_TRUE(x.n_better > CASES / 3);
}

/* --- brute force --- */

enum { LAYERS = 3 };

typedef struct {
    const th_choices *of[LAYERS];
    th_transition to[LAYERS];
    th_initial_path path[LAYERS];
} chain;

static th_time after(th_initial_generator *g, const chain *c, int l, int from, int k)
{
    th_error e = {"", ""};
    return th_transition_time(g, &c->to[l], from, k, TH_TIME_MAX, &e) + c->of[l]->time[k];
}

/* The least sum over all choices of all layers, with chunks and without. */
static th_time least_of_all(th_initial_generator *g, const th_mapping *m)
{
    chain c;
    th_time least = TH_TIME_MAX;
    th_error e = {"", ""};
    g->chunks = CHUNKS;
    for (int l = 0; l < LAYERS; l++) {
        c.path[l] = th_initial_path_to(g, m, l);
        c.of[l] = th_initial_choices(g, &m->sets[0], l, &e);
        c.to[l] = (th_transition){&m->sets[0], &c.path[l], l,
                                  th_transition_matrix_of(g, &m->sets[0], &c.path[l], l, &e)};
    }
    for (int i = 0; i < c.of[0]->n_states; i++)
        for (int j = 0; j < c.of[1]->n_states; j++) {
            const th_time two = after(g, &c, 0, 0, i) + after(g, &c, 1, i, j);
            for (int k = 0; k < c.of[2]->n_states; k++) {
                const th_time sum = two + after(g, &c, 2, j, k);
                least = sum < least ? sum : least;
            }
        }
    g->chunks = 0;
    return least;
}

TEST(no_chunks_are_better_by_brute_force)
{
    enum { CASES = TAP_REPEATS(24) };
    int n_equal = 0, n = 0;
    double most = 0;
    for (int i = 0; i < CASES; i++) {
        auto_rng *r = th_random_stream(8, "brute", (uint64_t)i);
        auto_system *s = system_of(systems[i % N_SYSTEMS]);
        auto_workload *w = draw(r, LAYERS, false);
        const th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
        auto_evaluator *e = evaluator_of(p);
        auto_initial_generator *g = th_initial_new(e, NULL);
        auto_mapping *m = mapping_on("01", w);
        th_time estimate;
        th_error err = {"", ""};
        if (th_initial_solve(g, m, 0, (th_jitter){.chunks = CHUNKS}, &estimate, &err))
            bail_out(&err);
        const th_time least = least_of_all(g, m);
        CU_ASSERT_TRUE(estimate >= least);
        n_equal += estimate == least;
        most = fmax(most, (double)estimate / (double)least - 1);
        n++;
    }
    printf("# %d of %d are the best of all, the others within %.2f %%\n", n_equal, n, 100 * most);
    CU_ASSERT_TRUE(n_equal > n / 2 && most < 0.01);
}

/* --- memory of several sets --- */

/* Rows are the quicker cut of both layers, and keep all weights on both accelerators, which have
 * room for those of one layer and a half. */
TEST(weights_of_all_sets_of_an_accelerator_count)
{
    auto_system *s = system_of("name = \"t\"; " MAP_HELP_ACCEL(
        "120KiB") " topology = { type = \"line\"; dims = "
                  "[2]; bandwidth = \"8Gbps\"; latency = \"10ns\"; };");
    auto_workload *w =
        workload_of("name = \"n\"; element_bytes = 2; input = { channels = 63; height = 8; width = "
                    "1; }; layers = ( { name = \"a\"; type = \"conv\"; kernel = 3; padding = 1; "
                    "outputs = 63; }, { name = \"b\"; type = \"conv\"; kernel = 3; padding = 1; "
                    "outputs = 63; } );");
    const th_problem p = {.system = s, .workload = w, .stream = th_stream_single};
    auto_evaluator *e = evaluator_of(p);
    auto_initial_generator *g = th_initial_new(e, NULL);
    auto_mapping *m = mapping_on("01 10", w);
    th_error err = {"", ""};
    th_time estimate;
    th_fitness f;
    m->set_of[1] = 1;
    for (int set = 0; set < 2; set++)
        if (th_initial_solve(g, m, set, (th_jitter){0}, &estimate, &err))
            bail_out(&err);
    CU_ASSERT_EQUAL_FATAL(th_evaluator_run(e, m, INFINITY, &f, &err), 0);
    CU_ASSERT_NOT_EQUAL(f.fit, TH_FIT_INFEASIBLE);
}

TAP_MAIN("chunked_initial")
