/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_collective_machine.c - collectives as tasks of a machine: what they wait for, share, count
 * and keep. */
#include <config.h>
#include "sim/machine/machine.h"
#include "base/alloc.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/collective_run.h"

/* Bytes and events of messages are counted: ring all-reduce of 5 ranks and 1003 bytes, each rank
 * sends all but one piece, twice over. */
TEST(messages_are_counted)
{
    auto_system *s = of_size("ring", 5);
    th_collective c = collective(TH_ALL_REDUCE, "ring", 5, 1003);
    auto_program *p = th_program_new(NULL);
    add_collective(p, &c);
    auto_result r = run_program(s, "fluid", p);
    int64_t sent = 0, received = 0, carried = 0;
    for (int a = 0; a < 5; a++) {
        sent += r.accels[a].sent_bytes;
        received += r.accels[a].received_bytes;
    }
    for (int l = 0; l < r.n_links; l++)
        carried += r.links[l].bytes;
    CU_ASSERT_TRUE(sent == 8 * 1003 && received == sent && carried == sent);
    CU_ASSERT_EQUAL(r.n_events, 2 + 2 * 40);
}

/* Tasks wait for a collective and it for them; it is released at 9 us. */
TEST(collectives_depend_and_wait)
{
    auto_system *s = of_size("ring", 4);
    th_collective c = collective(TH_BROADCAST, "ring", 2, 20000);
    auto_program *p = th_program_new(NULL);
    int32_t before = th_program_add(
        p, &(th_task){.kind = TH_TASK_TRANSFER, .node = 0, .peer = 1, .bytes = 10000, .layer = -1},
        NULL);
    int32_t middle = add_collective(p, &c), after = add_collective(p, &c);
    p->tasks[middle].release_ps = 9000000;
    th_program_depend(p, middle, before, NULL);
    th_program_depend(p, after, middle, NULL);
    auto_result r = run_program(s, "fluid", p);
    CU_ASSERT_EQUAL(r.tasks[before].end_ps, 1500000);
    CU_ASSERT_TRUE(r.tasks[middle].start_ps == 9000000 && r.tasks[middle].end_ps == 11500000);
    CU_ASSERT_TRUE(r.tasks[after].start_ps == 11500000 && r.tasks[after].end_ps == 14000000);
    CU_ASSERT_TRUE(r.tasks[after].cause == middle && r.tasks[after].ready_ps == 11500000);
}

/* Two rings over the same links share them: each round carries twice the bytes. */
TEST(overlapping_groups_share_links)
{
    auto_system *s = of_size("ring", 4);
    th_collective c = collective(TH_ALL_REDUCE, "ring", 4, 120000);
    int32_t turned[] = {2, 3, 0, 1};
    auto_program *p = th_program_new(NULL);
    int32_t a = add_collective(p, &c);
    c.rank_node = turned;
    int32_t b = add_collective(p, &c);
    auto_result r = run_program(s, "fluid", p);
    CU_ASSERT_EQUAL(r.tasks[a].end_ps, 6 * 6500000);
    CU_ASSERT_EQUAL(r.tasks[b].end_ps, 6 * 6500000);
}

/* A system, a machine of it, and a program that is to be filled. */
typedef struct {
    th_system *system;
    th_compute_cost_cache *costs;
    th_machine *machine;
    th_program *program;
} stage;

static stage ring_stage(int n, const th_network_type *network)
{
    stage g = {.system = of_size("ring", n), .program = th_program_new(NULL)};
    g.costs = th_compute_cost_cache_new(g.system, NULL);
    g.machine = th_machine_new(g.system, g.costs, &(th_machine_options){.network = network}, NULL);
    return g;
}

static void clear_stage(stage *g)
{
    th_program_free(g->program);
    th_machine_free(g->machine);
    th_compute_cost_cache_free(g->costs);
    th_system_free(g->system);
}

/* A program that is loaded again, or made again with the same contents, needs no memory. */
TEST(expansions_are_used_again)
{
    stage g = ring_stage(6, NULL);
    th_machine *m = g.machine;
    th_program *p = g.program;
    th_collective c = collective(TH_ALL_GATHER, "ring", 6, 6000);
    int64_t calls = 0;
    for (int i = 0; i < 4; i++) {
        th_program_clear(p);
        add_collective(p, &c);
        add_collective(p, &c);
        CU_ASSERT_EQUAL(th_program_finish(p, NULL), 0);
        int64_t before = th_alloc_calls();
        CU_ASSERT_EQUAL(th_machine_load(m, p, NULL), 0);
        CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, NULL), TH_STOP_DONE);
        calls = th_alloc_calls() - before;
        CU_ASSERT_EQUAL(th_machine_now(m), 5 * (500000 + 200000));
        CU_ASSERT_TRUE(i > 0 || calls > 0);
    }
    CU_ASSERT_EQUAL(calls, 0);
    clear_stage(&g);
}

/* Events one by one: the start of the task, of three messages, the first end. */
TEST(messages_are_steps)
{
    stage g = ring_stage(3, NULL);
    th_machine *m = g.machine;
    th_program *p = g.program;
    th_collective c = collective(TH_ALL_GATHER, "ring", 3, 30000);
    add_collective(p, &c);
    CU_ASSERT_EQUAL(th_program_finish(p, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_load(m, p, NULL), 0);
    for (int i = 1; i <= 4; i++) {
        CU_ASSERT_EQUAL(th_machine_step(m, 1, NULL), TH_STOP_UNTIL);
        CU_ASSERT_EQUAL(th_machine_events(m), i);
        CU_ASSERT_EQUAL(th_machine_now(m), 0);
    }
    CU_ASSERT_EQUAL(th_machine_step(m, 1, NULL), TH_STOP_UNTIL);
    CU_ASSERT_EQUAL(th_machine_now(m), 1500000);
    CU_ASSERT_EQUAL(th_machine_task_state(m, 0), TH_TASK_RUNNING);
    CU_ASSERT_EQUAL(th_machine_step(m, 100, NULL), TH_STOP_DONE);
    CU_ASSERT_TRUE(th_machine_events(m) == 14 && th_machine_now(m) == 3000000);
    clear_stage(&g);
}

static int takes_broadcasts(th_network *n, const th_collective *c, th_time now, th_time *end,
                            th_error *err)
{
    (void)n;
    if (c->kind == TH_BARRIER)
        return th_error_set(err, "TEST-0001", "no barriers");
    *end = now + 77 * c->bytes;
    return c->kind == TH_BROADCAST;
}

/* A network that takes broadcasts as a whole has one event for each, and no algorithm is asked for;
 * other collectives are expanded. What it refuses ends the run. */
TEST(a_network_may_take_a_collective_as_a_whole)
{
    th_network_type type = *th_network_find("ideal");
    type.collective = takes_broadcasts;
    stage g = ring_stage(4, &type);
    th_machine *m = g.machine;
    th_program *p = g.program;
    th_collective c = collective(TH_BROADCAST, "ring", 4, 1000);
    th_error e = {"", ""};
    c.algorithm = NULL;
    int32_t whole = add_collective(p, &c);
    c = collective(TH_ALL_GATHER, "ring", 4, 40000);
    int32_t expanded = add_collective(p, &c);
    th_program_depend(p, expanded, whole, NULL);
    CU_ASSERT_EQUAL(th_program_finish(p, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_load(m, p, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, NULL), TH_STOP_DONE);
    CU_ASSERT_EQUAL(th_machine_now(m), 77000 + 3 * 1500000);
    CU_ASSERT_EQUAL(th_machine_events(m), 4 + 2 * 12);
    c = collective(TH_BARRIER, "ring", 4, 0);
    add_collective(p, &c);
    CU_ASSERT_EQUAL(th_program_finish(p, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_load(m, p, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_ERROR);
    TAP_ASSERT_TEXT(e.id, "TEST-0001");
    clear_stage(&g);
}

static th_program *pairs_program;

static int run_pairs(const void *s, th_error *e)
{
    th_compute_cost_cache *w = th_compute_cost_cache_new(s, e);
    th_machine *m = w ? th_machine_new(s, w, NULL, e) : NULL;
    int failed = !m || th_machine_load(m, pairs_program, e) ||
                 th_machine_run_until(m, TH_TIME_MAX, e) != TH_STOP_DONE;
    th_machine_free(m);
    th_compute_cost_cache_free(w);
    return failed ? -1 : 0;
}

/* A collective with bytes by pair, which its schedule keeps. */
TEST(memory_that_runs_out_is_told)
{
    auto_system *s = of_size("star", 4);
    int64_t pairs[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    th_collective c = collective(TH_ALL_TO_ALL, "pairwise", 4, 0);
    c.pair_bytes = pairs;
    pairs_program = th_program_new(NULL);
    add_collective(pairs_program, &c);
    CU_ASSERT_EQUAL(th_program_finish(pairs_program, NULL), 0);
    CU_ASSERT_TRUE(fail_each_allocation(run_pairs, s) > 20);
    th_program_free(pairs_program);
}

TAP_MAIN("collective_machine")
