/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_limits.c - runs at the edge of what can be simulated, and what a run's past must not
 * change. */
#include <config.h>
#include "sim/machine/machine.h"
#include "sim/network/packet/virtual_channels.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include "topology/generate/generate.h"
#include "topology/routing/route.h"

static const char *const networks[] = {"fluid", "ideal", "packet"};
enum { N_NETWORKS = 3, N_ACCELS = 4 };

typedef struct {
    th_system *system;
    th_compute_cost_cache *costs;
    th_program *program;
} world;

/* A ring of four. */
static world new_world(int64_t bits_per_s, th_time latency_ps)
{
    auto_system *prototype = shipped_system("npu_v1");
    const th_topology_options o = {
        .dims = {N_ACCELS}, .n_dims = 1, .bits_per_s = {bits_per_s}, .latency_ps = {latency_ps}};
    world w = {.system = th_topology_create("ring", th_topology_find("ring"), &o, prototype, NULL)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(w.system);
    w.costs = th_compute_cost_cache_new(w.system, NULL);
    w.program = th_program_new(NULL);
    return w;
}

static void free_world(world *w)
{
    th_program_free(w->program);
    th_compute_cost_cache_free(w->costs);
    th_system_free(w->system);
}
#define auto_world __attribute__((cleanup(free_world))) world

static th_machine *new_machine(const world *w, const char *network)
{
    const th_machine_options o = {.network = th_network_find(network)};
    th_machine *m = th_machine_new(w->system, w->costs, &o, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    return m;
}

static void add_transfer(world *w, int64_t bytes, th_time delay_ps, th_time release_ps)
{
    const th_task t = {.kind = TH_TASK_TRANSFER,
                       .node = 0,
                       .peer = 1,
                       .bytes = bytes,
                       .delay_ps = delay_ps,
                       .release_ps = release_ps,
                       .layer = -1};
    th_program_add(w->program, &t, NULL);
}

static void add_collective(world *w, int32_t kind, const char *algorithm, int64_t bytes)
{
    int32_t ranks[N_ACCELS] = {0, 1, 2, 3};
    const th_collective c = {.kind = kind,
                             .algorithm = th_algorithm_find(algorithm),
                             .rank_node = ranks,
                             .n_ranks = N_ACCELS,
                             .bytes = bytes,
                             .chunks = 1};
    const th_task t = {.kind = TH_TASK_COLLECTIVE,
                       .node = -1,
                       .peer = -1,
                       .collective = th_program_add_collective(w->program, &c, NULL),
                       .layer = -1};
    th_program_add(w->program, &t, NULL);
}

/* --- the end of time -------------------------------------------------------------------------- */

static void expect_too_long(world *w, const char *network)
{
    th_error e = {"", ""};
    th_machine *m = new_machine(w, network);
    CU_ASSERT_EQUAL(th_program_finish(w->program, &e), 0);
    CU_ASSERT_EQUAL(th_machine_load(m, w->program, &e), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_ERROR);
    TAP_ASSERT_TEXT(e.text, "task/0 (layer -1, input 0) would not end within 2^63 ps (106 days), "
                            "where simulated time ends");
    TAP_ASSERT_TEXT(e.id, "SIM-0012");
    CU_ASSERT_EQUAL(th_machine_step(m, 100, &e), TH_STOP_ERROR);
    th_machine_free(m);
    th_program_clear(w->program);
}

/* Bytes at 1 byte/s each of which goes alone in 64 days, but that share a link: two transfers, or
 * the pieces of a collective; and a release at the end itself. */
TEST(what_would_not_end_in_time_says_so)
{
    const int64_t much = 5500000;
    world w = new_world(8, 500000);
    for (int i = 0; i < N_NETWORKS; i++) {
        add_transfer(&w, 1, 0, TH_TIME_MAX);
        expect_too_long(&w, networks[i]);
        if (strcmp(networks[i], "ideal") == 0) /* nothing is shared */
            continue;
        if (strcmp(networks[i], "fluid") == 0) { /* others look at it when it starts */
            add_transfer(&w, 1, TH_TIME_MAX, 0);
            expect_too_long(&w, networks[i]);
        }
        add_transfer(&w, much, 0, 0);
        add_transfer(&w, much, 0, 0);
        expect_too_long(&w, networks[i]);
        add_collective(&w, TH_ALL_GATHER, "direct", 4 * much);
        expect_too_long(&w, networks[i]);
    }
    free_world(&w);
}

/* Just before the end all is as ever: 8 bytes at 1 byte/s and 500 ns, from 10 s before it on. */
TEST(what_ends_in_time_does)
{
    const th_time late = TH_TIME_MAX - 10 * TH_PS_PER_S;
    auto_world w = new_world(8, 500000);
    for (int i = 0; i < N_NETWORKS; i++) {
        th_error e = {"", ""};
        th_machine *m = new_machine(&w, networks[i]);
        add_transfer(&w, 8, 0, late);
        th_program_finish(w.program, NULL);
        CU_ASSERT_EQUAL(th_machine_load(m, w.program, &e), 0);
        CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_DONE);
        CU_ASSERT_EQUAL(th_machine_now(m), late + 8 * TH_PS_PER_S + 500000);
        th_machine_free(m);
        th_program_clear(w.program);
    }
}

/* An all-reduce of S over n ranks moves 2 (n - 1) S bytes: of 2 x 10^18, more than 2^63. */
TEST(sums_of_bytes_stay_at_the_most)
{
    auto_world w = new_world(INT64_C(1000000000000000), 0);
    auto_machine *m = new_machine(&w, "ideal");
    auto_result r;
    add_collective(&w, TH_ALL_REDUCE, "ring", INT64_C(2000000000000000000));
    th_program_finish(w.program, NULL);
    th_machine_load(m, w.program, NULL);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, NULL), TH_STOP_DONE);
    CU_ASSERT_EQUAL(th_machine_result(m, &r, NULL), 0);
    CU_ASSERT_EQUAL(r.moved_bytes, INT64_MAX);
    CU_ASSERT_EQUAL(r.accels[0].sent_bytes, INT64_C(3000000000000000000));
}

/* --- steps ------------------------------------------------------------------------------------ */

/* The last byte leaves a link of no latency in the instant at which the program ends. */
TEST(the_last_step_leaves_nothing_to_count)
{
    auto_world w = new_world(8000000000, 0);
    add_transfer(&w, 10000, 0, 0);
    th_program_finish(w.program, NULL);
    for (int i = 0; i < N_NETWORKS; i++) {
        auto_machine *m = new_machine(&w, networks[i]);
        auto_result r;
        th_machine_load(m, w.program, NULL);
        CU_ASSERT_EQUAL(th_machine_step(m, 1, NULL), TH_STOP_UNTIL);
        CU_ASSERT_EQUAL(th_machine_step(m, 1, NULL), TH_STOP_DONE);
        CU_ASSERT_EQUAL(th_machine_result(m, &r, NULL), 0);
        int64_t bytes = 0;
        for (int l = 0; l < r.n_links; l++)
            bytes += r.links[l].bytes;
        CU_ASSERT_EQUAL(bytes, 10000);
        CU_ASSERT_EQUAL(r.elapsed_ps, 10000000);
    }
}

/* --- switches that send ----------------------------------------------------------------------- */

static int new_node(th_system *s, int i, th_node_kind kind)
{
    char name[16];
    snprintf(name, sizeof name, "%d", i);
    return th_system_add_node(s, name, kind, 0, NULL);
}

/* Five switches round a ring of one direction, accelerators at two neighbours. Those two send over
 * some links only; sums between switches go all round, and need a class more. */
TEST(switches_that_reduce_are_ends_too)
{
    enum { N_SWITCHES = 5 };
    th_error e = {"", ""};
    auto_system *prototype = shipped_system("npu_v1"), *s = th_system_new("ring", NULL);
    for (int i = 0; i < 2; i++) {
        new_node(s, i, TH_NODE_ACCEL);
        th_system_copy_accel(s, i, prototype, 0, NULL);
    }
    for (int i = 2; i < 2 + N_SWITCHES; i++) {
        int node = new_node(s, i, TH_NODE_SWITCH);
        s->nodes[node].reduces = true;
    }
    for (int i = 0; i < N_SWITCHES; i++)
        th_system_add_link(s, 2 + i, 2 + (i + 1) % N_SWITCHES, th_system_add_medium(s, 8000, NULL),
                           1000, NULL);
    for (int i = 0; i < 2; i++)
        th_system_add_cable(s, i, 2 + i, th_cable_symmetric(8000, 1000, true), NULL);
    CU_ASSERT_EQUAL_FATAL(th_system_finish(s, &e), 0);
    auto_channels *c = th_channels_new(s, false, &e);
    CU_ASSERT_EQUAL(th_channels_needed(c), 2);
    for (int from = 0; from < s->n_nodes; from++)
        for (int to = 0; to < s->n_nodes; to++) {
            int links[TH_ROUTE_MAX];
            uint8_t class_of[TH_ROUTE_MAX];
            int n = th_route(s, from, to, links);
            CU_ASSERT_TRUE(th_channels_classes(c, links, n, class_of) <= 2);
        }
}

TAP_MAIN("limits")
