/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_bounds_remaining.c - the least time from a layer's placement to the end of the pass is never
 * above what a run of a random mapping takes from there. THARSIS_CASE=N runs one problem alone. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/evaluate/bounds_remaining.h"
#include "mapper/strategies.h"
#include "tests/unit/random_net.h"
#include "tests/unit/tap.h"

enum { PROBLEMS = TAP_REPEATS(520), RUNS = 20 };

#define DESIGNS                                                                                    \
    "designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 4; }, "   \
    "{ name = \"e\"; type = \"systolic\"; clock = \"500MHz\"; rows = 4; cols = 2; dataflow = "     \
    "\"ws\"; } ); "
#define SYSTEM(TOPOLOGY, HOST)                                                                     \
    "name = \"t\"; " DESIGNS "accelerators = ( { dram = { capacity = \"1GiB\"; bandwidth = "       \
    "\"2GB/s\"; latency = \"20ns\"; burst = \"16B\"; }; vector = { clock = \"1GHz\"; "             \
    "elements_per_cycle = 2; }; designs = [\"d\", \"e\"]; } ); topology = { " TOPOLOGY             \
    " bandwidth = \"8Gbps\"; latency = \"50ns\"; " HOST " };"
static const char *const systems[] = {
    SYSTEM("type = \"ring\"; dims = [2];", "host = { bandwidth = \"4Gbps\"; };"),
    SYSTEM("type = \"ring\"; dims = [3];", ""),
    SYSTEM("type = \"fully_connected\"; dims = [2];", ""),
    SYSTEM("type = \"line\"; dims = [3];", "host = { bandwidth = \"1Gbps\"; };"),
};
enum { N_SYSTEMS = sizeof systems / sizeof *systems };

static int64_t n_runs, n_compared, n_positive;
static double tightest = INFINITY;

/* Disjoint sets in the order of the system, any design, any strategy; NULL: a layer does not fit.
 */
static th_mapping *draw_mapping(gsl_rng *r, const th_system *s, const th_workload *w)
{
    int32_t set_of[4], sizes[4] = {0}, used[4] = {0}, number[4], n = 0;
    for (int a = 0; a < s->n_accels; a++)
        sizes[set_of[a] = (int32_t)pick(r, 0, s->n_accels - 1)]++;
    for (int i = 0; i < s->n_accels; i++)
        if (sizes[i] > 0) {
            number[i] = n;
            sizes[n++] = sizes[i];
        }
    th_mapping *m = th_mapping_new(n, sizes, w->n_layers);
    for (int32_t a = 0; a < s->n_accels; a++) {
        int32_t set = number[set_of[a]];
        m->sets[set].accels[used[set]++] = a;
        m->sets[set].design = (int32_t)pick(r, 0, 1);
    }
    for (int l = 0; l < w->n_layers; l++) {
        th_strategy *list = NULL;
        m->set_of[l] = (int32_t)pick(r, 0, n - 1);
        int count = th_strategies_list(&w->layers[l], w->batch, sizes[m->set_of[l]], &list);
        if (count > 0)
            m->strategy[l] = list[pick(r, 0, count - 1)];
        th_free(list);
        if (count > 0)
            continue;
        th_mapping_free(m);
        return NULL;
    }
    return m;
}

/* The end of the layer's computations and reductions on an accelerator; -1: there are none. */
static th_time end_on(const th_program *p, const th_task_result *times, int layer, int32_t node)
{
    th_time end = -1;
    for (int32_t i = 0; i < p->n_tasks; i++) {
        const th_task *t = &p->tasks[i];
        if (t->kind == TH_TASK_COMPUTE && t->layer == layer && t->node == node &&
            times[i].end_ps > end)
            end = times[i].end_ps;
    }
    return end;
}

static void compare(th_remaining_time *x, const th_mapping *m, const th_system *s,
                    const th_program *p, const th_machine *machine)
{
    th_error e = {"", ""};
    const double *rest;
    for (int l = 0; l < m->n_layers; l++) {
        const th_set *set = &m->sets[m->set_of[l]];
        if (th_remaining_time_after(x, l, set, &m->strategy[l], &rest, &e))
            bail_out(&e);
        for (int r = 0; r < set->n_accels; r++) {
            th_time end = end_on(p, th_machine_times(machine), l, s->accel_node[set->accels[r]]);
            double left = (double)(th_machine_now(machine) - end);
            if (end < 0)
                continue;
            if (rest[r] > left + 1e-6 * left)
                printf("# layer %d position %d: %.3f ps left, bound %.3f\n", l, r, left, rest[r]);
            CU_ASSERT_TRUE(rest[r] <= left + 1e-6 * left);
            n_compared++;
            n_positive += rest[r] > 0;
            if (rest[r] > 0)
                tightest = fmin(tightest, left / rest[r]);
        }
    }
}

static void run_problem(int number)
{
    auto_rng *r = th_random_stream(3, "remaining", (uint64_t)number);
    th_error e = {"", ""};
    auto_system *s = system_of(systems[number % N_SYSTEMS]);
    auto_workload *w = random_workload(r);
    th_problem problem = {.system = s, .workload = w, .stream = th_stream_single};
    auto_lower *lower = th_lower_new(s, w, &e);
    auto_program *p = th_program_new(&e);
    if (!lower || !p)
        bail_out(&e);
    th_remaining_time *x = th_remaining_time_new(&problem, &e);
    for (int i = 0; i < RUNS; i++) {
        auto_mapping *m = draw_mapping(r, s, w);
        auto_machine *machine = NULL;
        if (m && th_lower_program(lower, m, &problem.stream, p, &e) == 0 &&
            (machine = th_machine_new(s, th_lower_costs(lower), NULL, &e)) &&
            th_machine_load(machine, p, &e) == 0 &&
            th_machine_run_until(machine, TH_TIME_MAX, &e) == TH_STOP_DONE) {
            n_runs++;
            compare(x, m, s, p, machine);
        }
    }
    th_remaining_time_free(x);
}

TEST(no_run_is_faster_than_the_rest_that_is_bound)
{
    const char *one = getenv("THARSIS_CASE");
    for (int i = one ? atoi(one) : 0; i < (one ? atoi(one) + 1 : PROBLEMS); i++)
        run_problem(i);
    printf("# %lld runs, %lld positions, %lld with a bound, the tightest %.6f of it\n",
           (long long)n_runs, (long long)n_compared, (long long)n_positive, tightest);
    CU_ASSERT_TRUE(one || n_runs > 9 * PROBLEMS * RUNS / 10);
    CU_ASSERT_TRUE(one || n_positive > n_compared / 3);
}

TAP_MAIN("bounds_remaining")
