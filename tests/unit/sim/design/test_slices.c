/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_slices.c - however a run is cut into pieces, and whatever its machine has run before, it
 * ends as at one go on a new one: random programs of collectives and transfers on random graphs. */
#include <config.h>
#include "base/alloc.h"
#include "sim/machine/machine.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include "topology/routing/route.h"

enum { NODES_MAX = 16, TASKS_MAX = 5 };

/* --- random graphs and programs --------------------------------------------------------------- */

static void connect(th_system *s, gsl_rng *random, int a, int b)
{
    int64_t bits_per_s = pick(random, 1, 40) * INT64_C(1000000000);
    th_time latency_ps = pick(random, 0, 3) * 250000;
    th_system_add_cable(s, a, b, th_cable_symmetric(bits_per_s, latency_ps, pick(random, 0, 3) > 0),
                        NULL);
}

/* Accelerators, hosts and switches, most of which reduce: a tree and some cables more. */
static th_system *random_system(gsl_rng *random, const th_system *prototype)
{
    int n_accels = (int)pick(random, 2, 8), n_ends = n_accels + (int)pick(random, 0, 2);
    int n = n_ends + (int)pick(random, 0, 5);
    th_system *s = th_system_new("random", NULL);
    for (int i = 0; i < n; i++) {
        char name[16];
        th_node_kind kind = i < n_accels ? TH_NODE_ACCEL
                            : i < n_ends ? TH_NODE_HOST
                                         : TH_NODE_SWITCH;
        snprintf(name, sizeof name, "%d", i);
        th_system_add_node(s, name, kind, 0, NULL);
        s->nodes[i].reduces = i >= n_ends && pick(random, 0, 2) > 0;
        if (i < n_accels)
            th_system_copy_accel(s, i, prototype, 0, NULL);
        if (i > 0)
            connect(s, random, i, (int)pick(random, 0, i - 1));
    }
    for (int64_t more = pick(random, 0, 2 * n); more > 0; more--) {
        int a = (int)pick(random, 0, n - 1), b = (int)pick(random, 0, n - 1);
        if (a != b)
            connect(s, random, a, b);
    }
    s->routing = th_routing_find(pick(random, 0, 1) ? "ecmp" : "shortest");
    CU_ASSERT_EQUAL_FATAL(th_system_finish(s, NULL), 0);
    return s;
}

/* Accelerators and hosts come first among the nodes. */
static int32_t n_ends(const th_system *s)
{
    return s->n_accels + s->n_hosts;
}

static th_task random_transfer(gsl_rng *random, const th_system *s)
{
    return (th_task){.kind = TH_TASK_TRANSFER,
                     .node = (int32_t)pick(random, 0, n_ends(s) - 1),
                     .peer = (int32_t)pick(random, 0, n_ends(s) - 1),
                     .compute_cost = -1,
                     .bytes = pick(random, 0, 3) ? pick(random, 0, 300000) : 0,
                     .delay_ps = pick(random, 0, 1) * 1000,
                     .layer = -1};
}

static th_collective random_collective(gsl_rng *random, const th_system *s, int32_t *nodes)
{
    int n_algorithms = 0;
    while (th_algorithms[n_algorithms])
        n_algorithms++;
    th_collective c = {.algorithm = th_algorithms[pick(random, 0, n_algorithms - 1)],
                       .rank_node = nodes,
                       .n_ranks = (int32_t)pick(random, 1, n_ends(s)),
                       .bytes = pick(random, 0, 2) ? pick(random, 0, 200000) : pick(random, 0, 5),
                       .chunks = (int32_t)pick(random, 1, 9),
                       .delay_ps = pick(random, 0, 1) * 31415};
    do
        c.kind = (int32_t)pick(random, 0, TH_USER_SCHEDULE - 1);
    while (!(c.algorithm->kinds >> c.kind & 1u));
    if (c.kind == TH_SEND_RECV)
        c.n_ranks = 2;
    c.root = (int32_t)pick(random, 0, c.n_ranks - 1);
    for (int32_t i = 0; i < n_ends(s); i++)
        nodes[i] = i;
    for (int32_t i = 0; i < c.n_ranks; i++) {
        int32_t other = (int32_t)pick(random, i, n_ends(s) - 1), kept = nodes[i];
        nodes[i] = nodes[other];
        nodes[other] = kept;
    }
    return c;
}

static th_task random_task(gsl_rng *random, const th_system *s, th_program *p)
{
    int32_t nodes[NODES_MAX];
    th_collective_schedule x;
    th_collective c = random_collective(random, s, nodes);
    if (pick(random, 0, 2) == 0 || th_collective_schedule_init(&x, &c, s, NULL))
        return random_transfer(random, s);
    th_collective_schedule_clear(&x);
    int32_t number = th_program_add_collective(p, &c, NULL);
    return (th_task){
        .kind = TH_TASK_COLLECTIVE, .node = -1, .peer = -1, .collective = number, .layer = -1};
}

static void fill_program(gsl_rng *random, const th_system *s, th_program *p)
{
    th_program_clear(p);
    for (int64_t n = pick(random, 1, TASKS_MAX); n > 0; n--) {
        th_task t = random_task(random, s, p);
        t.release_ps = pick(random, 0, 1) * pick(random, 0, 100000000);
        th_program_add(p, &t, NULL);
    }
    for (int32_t i = 1; i < p->n_tasks; i++)
        if (pick(random, 0, 2) == 0)
            th_program_depend(p, i, (int32_t)pick(random, 0, i - 1), NULL);
    CU_ASSERT_EQUAL(th_program_finish(p, NULL), 0);
}

/* --- runs ------------------------------------------------------------------------------------- */

static th_result result_of(const th_machine *m)
{
    th_result r;
    CU_ASSERT_EQUAL_FATAL(th_machine_result(m, &r, NULL), 0);
    return r;
}

static bool are_same(const th_result *a, const th_result *b)
{
    bool same = a->is_done && b->is_done && a->elapsed_ps == b->elapsed_ps &&
                a->n_events == b->n_events && a->moved_bytes == b->moved_bytes;
    for (int32_t i = 0; i < a->n_tasks; i++)
        same &= a->tasks[i].start_ps == b->tasks[i].start_ps &&
                a->tasks[i].end_ps == b->tasks[i].end_ps && a->tasks[i].cause == b->tasks[i].cause;
    for (int l = 0; l < a->n_links; l++)
        same &=
            a->links[l].bytes == b->links[l].bytes && a->links[l].busy_ps == b->links[l].busy_ps;
    return same;
}

static th_result at_one_go(const th_system *s, const th_compute_cost_cache *w,
                           const th_machine_options *o, const th_program *p)
{
    th_error e = {"", ""};
    auto_machine *m = th_machine_new(s, w, o, &e);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    CU_ASSERT_EQUAL(th_machine_load(m, p, &e), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_DONE);
    TAP_ASSERT_TEXT(e.text, "");
    return result_of(m);
}

/* By steps, by times, or by both; looked at in between. */
static th_result in_slices(gsl_rng *random, th_machine *m, const th_program *p, th_time elapsed_ps)
{
    int64_t by = pick(random, 0, 2);
    th_stop stop = TH_STOP_UNTIL;
    CU_ASSERT_EQUAL(th_machine_load(m, p, NULL), 0);
    while (stop == TH_STOP_UNTIL) {
        if (by == 0 || (by == 2 && pick(random, 0, 1)))
            stop = th_machine_step(m, pick(random, 1, 7), NULL);
        else
            stop = th_machine_run_until(m, th_machine_now(m) + pick(random, 0, elapsed_ps / 7 + 1),
                                        NULL);
        auto_result so_far = result_of(m);
    }
    CU_ASSERT_EQUAL(stop, TH_STOP_DONE);
    return result_of(m);
}

static void compare(gsl_rng *random, th_machine *used, const th_program *p, const th_result *whole)
{
    th_result slices = in_slices(random, used, p, whole->elapsed_ps);
    CU_ASSERT_TRUE(are_same(whole, &slices));
    th_result_clear(&slices);
    th_machine_load(used, p, NULL); /* given up half way */
    th_machine_run_until(used, whole->elapsed_ps / 2, NULL);
    th_machine_load(used, p, NULL);
    th_machine_run_until(used, TH_TIME_MAX, NULL);
    auto_result again = result_of(used);
    CU_ASSERT_TRUE(are_same(whole, &again));
}

static void compare_on(gsl_rng *random, const th_system *s, const th_machine_options *o)
{
    enum { PROGRAMS = 3 };
    auto_costs *w = th_compute_cost_cache_new(s, NULL);
    auto_machine *used = th_machine_new(s, w, o, NULL);
    auto_program *p = th_program_new(NULL);
    for (int i = 0; i < PROGRAMS; i++) {
        fill_program(random, s, p);
        auto_result whole = at_one_go(s, w, o, p);
        compare(random, used, p, &whole);
    }
}

static void compare_all(const char *network, int first, int n)
{
    th_system *prototype = shipped_system("npu_v1");
    int64_t live = th_alloc_live();
    for (int i = first; i < first + n; i++) {
        auto_rng *random = th_random_stream((uint64_t)i, "slices", 0);
        auto_system *s = random_system(random, prototype);
        int64_t packet = INT64_C(64) << 3 * pick(random, 0, 2);
        const th_machine_options o = {
            .network = th_network_find(network),
            .network_options = {.packet_bytes = packet,
                                .buffer_bytes = packet * pick(random, 0, 2),
                                .credit_delay_ps = pick(random, 0, 1) * 10000}};
        compare_on(random, s, &o);
    }
    CU_ASSERT_EQUAL(th_alloc_live(), live);
    th_system_free(prototype);
}

TEST(under_fluid)
{
    compare_all("fluid", 0, 60);
}

TEST(under_ideal)
{
    compare_all("ideal", 100, 60);
}

TEST(under_packet)
{
    compare_all("packet", 200, 40);
}

TAP_MAIN("slices")
