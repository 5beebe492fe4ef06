/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_continuity.c - a few bytes more or less change the time of a collective by as little. */
#include <config.h>
#include "sim/collective/algorithms.h"
#include "tests/unit/collective_shapes.h"
#include "tests/unit/draw.h"

typedef struct shape {
    const char *type;
    int dims[3], n_dims;
} shape;

static const shape shapes[] = {
    {"star", {3}, 1},
    {"star", {8}, 1},
    {"star", {13}, 1},
    {"star", {16}, 1},
    {"ring", {5}, 1},
    {"ring", {8}, 1},
    {"ring", {12}, 1},
    {"mesh", {2, 5}, 2},
    {"line", {9}, 1},
    {"fully_connected", {4}, 1},
    {"fully_connected", {7}, 1},
    {"mesh", {3, 4}, 2},
    {"mesh", {4, 4}, 2},
    {"torus", {3, 3}, 2},
    {"torus", {4, 4}, 2},
    {"torus", {2, 8}, 2},
    {"torus", {2, 2, 3}, 3},
    {"hypercube", {3}, 1},
    {"hypercube", {4}, 1},
    {"fattree", {4, 2}, 2},
    {"fattree", {3, 2}, 2},
    {"dragonfly", {1, 2, 2}, 3},
    {"islands", {2, 4}, 2},
    {"islands", {4, 2}, 2},
    {"islands", {3, 4}, 2},
    {"islands", {8, 2}, 2},
    {"islands", {2, 8}, 2},
    {"islands", {4, 4}, 2},
    {"rails", {4, 2, 2}, 3},
    {"rails", {3, 4, 4}, 3},
};

/* By how much a few bytes more change the time of a collective by an algorithm; -1: it has none. */
static double change_of(const th_system *s, th_collective *c, gsl_rng *r)
{
    th_collective_schedule cs;
    if (!(c->algorithm->kinds >> c->kind & 1u) || th_collective_schedule_init(&cs, c, s, NULL))
        return -1;
    th_collective_schedule_clear(&cs);
    const double even = time_of(s, "fluid", c);
    c->bytes += draw(r, 1, 4095);
    return fabs(time_of(s, "fluid", c) / even - 1);
}

static void print_change(const shape *of, const th_collective *c, double change)
{
    printf("# %s {%d %d}, %s of %lld by %s in %d chunks: %.1f %%\n", of->type, of->dims[0],
           of->dims[1], th_collective_names[c->kind], (long long)c->bytes, c->algorithm->name,
           c->chunks, 100 * change);
}

/* A chain on several rails of islands: its streams share the links of islands, and none waits for
 * another, so they drift apart where rates of thirds are rounded to picoseconds. An all_reduce
 * along spanning trees, which share cables. */
static bool may_drift(const th_collective *c)
{
    bool is_chain = c->kind == TH_BROADCAST || c->kind == TH_REDUCE || c->kind == TH_GATHER ||
                    c->kind == TH_SCATTER;
    return (c->algorithm == &th_algorithm_topology_ring && is_chain) ||
           (c->algorithm == &th_algorithm_spanning_trees && c->kind == TH_ALL_REDUCE);
}

TEST(times_are_continuous_in_the_size)
{
    auto_rng *r = th_random_stream(1, "continuity", 0);
    const double bar = 0.01, most_known = 0.06; /* of those that may drift, a tenth above */
    double worst = 0;
    int n = 0, n_above = 0;
    for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
        const shape *of = &shapes[i / 2];
        const bool is_round = i % 2 == 0;
        auto_system *s = generated(of->type, of->dims, of->n_dims);
        for (int a = 0; th_algorithms[a]; a++)
            for (int kind = 0; kind < TH_BARRIER; kind++) {
                th_collective c = collective(s, kind, th_algorithms[a]->name, 0);
                c.chunks = is_round ? (int32_t)(1u << draw(r, 0, 3)) : draw(r, 1, 8);
                c.bytes = is_round ? ((int64_t)1 << 20 << draw(r, 0, 6)) * draw(r, 1, 3)
                                   : draw(r, 1 << 20, 1 << 24);
                const double change = change_of(s, &c, r);
                if (change > bar)
                    print_change(of, &c, change);
                n += change >= 0;
                n_above += change > bar;
                worst = fmax(worst, change);
                CU_ASSERT_TRUE(change <= bar || (may_drift(&c) && change < most_known));
            }
    }
    if (worst > bar)
        tap_known_miss("got %d of %d collectives above, at most by %.1f %%, bar %.0f %%", n_above,
                       n, 100 * worst, 100 * bar);
}

static void task_of_collective(th_program *p, const th_task *task, int32_t number)
{
    th_task t = *task;
    t.collective = number;
    CU_ASSERT_TRUE(th_program_add(p, &t, NULL) >= 0);
}

/* ms */
static double end_of(const th_system *s, th_program *p)
{
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    auto_machine *m = th_machine_new(s, w, &(th_machine_options){.network = NULL}, NULL);
    CU_ASSERT_TRUE(!th_program_finish(p, NULL) && !th_machine_load(m, p, NULL));
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, NULL), TH_STOP_DONE);
    return (double)th_machine_now(m) / 1e9;
}

/* Four groups over sixteen nodes, each of two ranks of a node: messages of several chunks in both
 * dimensions, 615 bytes short of a size that divides. */
TEST(groups_at_once_do_not_collide)
{
    auto_system *prototype = shipped_system("npu_v1");
    th_topology_options o = {.n_dims = 3,
                             .n_bandwidths = 2,
                             .n_latencies = 2,
                             .dims = {16, 8, 16},
                             .bits_per_s = {2400 * gbps, 200 * gbps},
                             .latency_ps = {1000000, 2000000}};
    auto_system *s = th_topology_create("test", th_topology_find("rails"), &o, prototype, NULL);
    double ms[2];
    for (int odd = 0; odd < 2; odd++) {
        auto_program *p = th_program_new(NULL);
        const th_task task = {.kind = TH_TASK_COLLECTIVE, .node = -1, .peer = -1, .layer = -1};
        for (int g = 0; g < 4; g++) {
            int32_t nodes[32];
            for (int i = 0; i < 32; i++)
                nodes[i] = s->accel_node[i / 2 * 8 + 2 * g + i % 2];
            th_collective c = {.kind = TH_ALL_REDUCE,
                               .algorithm = &th_algorithm_hierarchical,
                               .rank_node = nodes,
                               .n_ranks = 32,
                               .bytes = INT64_C(10153512960) - 615 * odd,
                               .chunks = 4,
                               .dims = {2, 16},
                               .n_dims = 2};
            CU_ASSERT_TRUE(th_program_add_collective(p, &c, NULL) >= 0);
            task_of_collective(p, &task, g);
        }
        ms[odd] = end_of(s, p);
    }
    CU_ASSERT_TRUE(fabs(ms[1] - ms[0]) <= 0.01 * ms[0]);
    printf("# %.1f ms, with 615 bytes less %.1f\n", ms[0], ms[1]);
}

TAP_MAIN("continuity")
