/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_explain.c - the critical path, slacks and the parts of durations: by hand, and what must
 * hold on random programs. */
#include <config.h>
#include "base/alloc.h"
#include "sim/analysis/critical_path.h"
#include "sim/machine/machine.h"
#include "sim/analysis/time_breakdown.h"
#include "tests/unit/random_program.h"
#include "tests/unit/tap.h"

static th_result run_program(const th_system *s, const th_compute_cost_cache *costs,
                             const th_program *p, const char *network)
{
    th_error e = {"", ""};
    th_result r = {0};
    auto_machine *m =
        th_machine_new(s, costs, &(th_machine_options){.network = th_network_find(network)}, &e);
    CU_ASSERT_EQUAL_FATAL(th_machine_load(m, p, &e), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_DONE);
    CU_ASSERT_EQUAL_FATAL(th_machine_result(m, &r, &e), 0);
    TAP_ASSERT_TEXT(e.text, "");
    return r;
}

static th_result replay(const world *w, const char *network)
{
    return run_program(w->system, w->costs, w->program, network);
}

/* --- by hand ---------------------------------------------------------------------------------- */

/* Two accelerators and a host in a row, 1 GB/s and 200 ns, 0.5 GB/s and 300 ns. */
static const char row_text[] = "name = \"row\"; designs = ( { name = \"d\"; type = \"roofline\"; "
                               "clock = \"200MHz\"; macs_per_cycle = 64; } );\n"
                               "accelerators = ( { names = [\"0\", \"1\"]; dram = { capacity = "
                               "\"1GiB\"; bandwidth = \"16GB/s\"; latency = "
                               "\"100ns\"; burst = \"64B\"; }; vector = { clock = \"200MHz\"; "
                               "elements_per_cycle = 64; }; designs = [\"d\"]; } );\n"
                               "hosts = ( \"host\" );\n"
                               "links = ( { between = [\"0\", \"1\"]; bandwidth = \"1GB/s\"; "
                               "latency = \"200ns\"; duplex = \"full\"; },\n"
                               "          { between = [\"1\", \"host\"]; bandwidth = \"0.5GB/s\"; "
                               "latency = \"300ns\"; duplex = \"full\"; } );\n";
enum { HOST = 2 };

static int32_t on_host(th_program *p, int32_t node, th_time takes, th_time release)
{
    th_task t = {.kind = TH_TASK_HOST,
                 .node = node,
                 .peer = -1,
                 .release_ps = release,
                 .delay_ps = takes,
                 .layer = -1};
    return th_program_add(p, &t, NULL);
}

static void assert_cause(const th_result *r, int32_t task, int kind, int32_t after)
{
    th_cause c = th_cause_of(r, task);
    CU_ASSERT_EQUAL(c.kind, kind);
    CU_ASSERT_EQUAL(c.task, after);
}

/* The host runs 1 (0 .. 500), 2 (500 .. 800, though it was ready at 0), 3 behind 1 (800 .. 1200),
 * and 4 behind 3, which may not start before 2000 (.. 2100). Task 0 arrives at 1000, and nothing
 * needs it.
 *   slack of 3: 4 starts at 2000, so it may end at 2000: 800. 2: before 3, which may start at 1600:
 *   800.
 *   1: 2 may start at 1300, 3 at 1600: the sooner less 500 is 800. 0: 2100 - 1000 = 1100. */
TEST(causes_and_slacks_of_a_host)
{
    static const th_time slacks[] = {1100, 800, 800, 800, 0};
    auto_system *s = system_of(row_text);
    auto_costs *costs = th_compute_cost_cache_new(s, NULL);
    auto_program *p = th_program_new(NULL);
    th_path_entry *path;
    th_time slack[5];
    on_host(p, -1, 0, 1000);
    on_host(p, HOST, 500, 0);
    on_host(p, HOST, 300, 0);
    th_program_depend(p, on_host(p, HOST, 400, 0), 1, NULL);
    th_program_depend(p, on_host(p, HOST, 100, 2000), 3, NULL);
    th_program_finish(p, NULL);
    auto_result r = run_program(s, costs, p, "fluid");
    assert_cause(&r, 0, TH_CAUSE_ARRIVAL, -1);
    assert_cause(&r, 1, TH_CAUSE_BEGIN, -1);
    assert_cause(&r, 2, TH_CAUSE_ENGINE, 1);
    assert_cause(&r, 3, TH_CAUSE_ENGINE, 2);
    assert_cause(&r, 4, TH_CAUSE_ARRIVAL, -1);
    CU_ASSERT_EQUAL_FATAL(th_critical_path(&r, &path, NULL), 1);
    CU_ASSERT_TRUE(path[0].task == 4 && path[0].wait_ps == 2000 && path[0].end_ps == 2100);
    CU_ASSERT_EQUAL(th_slacks(p, &r, slack, NULL), 0);
    for (int t = 0; t < 5; t++)
        CU_ASSERT_EQUAL(slack[t], slacks[t]);
    th_free(path);
}

static void assert_parts(const th_run_view *run, int32_t task, th_time latency, th_time link,
                         th_time contention)
{
    th_time part[TH_N_PARTS];
    CU_ASSERT_EQUAL(th_time_breakdown(run, task, part, NULL), 0);
    CU_ASSERT_EQUAL(part[TH_PART_LATENCY], latency);
    CU_ASSERT_EQUAL(part[TH_PART_LINK], link);
    CU_ASSERT_EQUAL(part[TH_PART_CONTENTION], contention);
}

/* Both go from 0 to the host: 500 ns of latency, and with 0.5 GB/s 4000 B take 8 us, 1000 B 2 us.
 * Task 1 begins 100 ns later by its overhead. From 500 to 600 ns task 0 alone moves 50 B; then both
 * at a half, 250 B/us: 1000 B take 4 us, to 4.6 us, when task 0 has 2950 B left, 5.9 us alone:
 * to 10.5 us. So 1 is held up for 2 us (4.6 - 0.6 - 2) and 0 for 2 us (10.5 - 0.5 - 8). */
TEST(sharing_a_link_holds_up)
{
    auto_system *s = system_of(row_text);
    auto_costs *costs = th_compute_cost_cache_new(s, NULL);
    auto_program *p = th_program_new(NULL);
    th_time slack[2];
    th_program_add(
        p,
        &(th_task){.kind = TH_TASK_TRANSFER, .node = 0, .peer = HOST, .bytes = 4000, .layer = -1},
        NULL);
    th_program_add(p,
                   &(th_task){.kind = TH_TASK_TRANSFER,
                              .node = 0,
                              .peer = HOST,
                              .bytes = 1000,
                              .delay_ps = 100000,
                              .layer = -1},
                   NULL);
    th_program_finish(p, NULL);
    auto_result r = run_program(s, costs, p, "fluid");
    CU_ASSERT_EQUAL(r.tasks[0].end_ps, 10500000);
    CU_ASSERT_EQUAL(r.tasks[1].end_ps, 4600000);
    const th_run_view run = {s, costs, p, &r};
    assert_parts(&run, 0, 500000, 8000000, 2000000);
    assert_parts(&run, 1, 600000, 2000000, 2000000);
    CU_ASSERT_EQUAL(th_slacks(p, &r, slack, NULL), 0);
    CU_ASSERT_TRUE(slack[0] == 0 && slack[1] == 5900000);
}

/* --- random programs -------------------------------------------------------------------------- */

/* Waits and durations add up to the makespan; entries follow each other; only the first one waits.
 */
static int path_breaches(const th_result *r, const th_time *slack)
{
    th_path_entry *path;
    int n = th_critical_path(r, &path, NULL), wrong = n < 1;
    th_time at = 0;
    for (int i = 0; i < n; i++) {
        wrong += path[i].start_ps != at + path[i].wait_ps || (i > 0 && path[i].wait_ps != 0);
        wrong += i > 0 && path[i].cause.task != path[i - 1].task;
        wrong += slack[path[i].task] != 0;
        at += path[i].wait_ps + path[i].end_ps - path[i].start_ps;
    }
    th_free(path);
    return wrong + (at != r->elapsed_ps);
}

static int account_breaches(const th_result *r)
{
    int wrong = 0;
    for (int a = 0; a < r->n_accels; a++)
        wrong += th_stats_occupied(&r->accels[a].stats) + r->accels[a].idle_ps != r->elapsed_ps ||
                 r->accels[a].idle_ps < 0;
    return wrong;
}

static int part_breaches(const world *w, const th_result *r)
{
    int wrong = 0;
    for (int32_t t = 0; t < r->n_tasks; t++) {
        th_time part[TH_N_PARTS], sum = 0;
        wrong += th_time_breakdown(&(th_run_view){w->system, w->costs, w->program, r}, t, part,
                                   NULL) != 0;
        for (int p = 0; p < TH_N_PARTS; p++) {
            sum += part[p];
            wrong += part[p] < 0;
        }
        wrong += sum != r->tasks[t].end_ps - r->tasks[t].start_ps;
    }
    return wrong;
}

TEST(sums_hold_on_a_hundred_programs)
{
    static const char *const networks[] = {"fluid", "ideal", "packet"};
    static th_time slack[TASKS_MAX];
    int wrong = 0, programs = 0;
    for (int sort = 0; sort < 4; sort++) {
        auto_world w = new_world(70 + (uint64_t)sort, sort == 1 ? 40000000000 : 0);
        for (int i = 0; i < 25; i++, programs++) {
            random_program(&w, (int)pick(w.random, 5, 90));
            auto_result r = replay(&w, networks[sort == 3 ? i % 3 : 0]);
            wrong += th_slacks(w.program, &r, slack, NULL) != 0;
            wrong += path_breaches(&r, slack) + account_breaches(&r) + part_breaches(&w, &r);
        }
    }
    CU_ASSERT_EQUAL(programs, 100);
    CU_ASSERT_EQUAL(wrong, 0);
}

/* --- slack against brute force ---------------------------------------------------------------- */

static bool takes_turns(const th_task *t)
{
    return t->kind == TH_TASK_COMPUTE || (t->kind == TH_TASK_HOST && t->node >= 0);
}

/* The same tasks, each accelerator and host held to the order of r; task may start later, at
 * release. */
static th_program *held_to_order(const world *w, const th_result *r, int32_t task, th_time release)
{
    th_program *p = th_program_new(NULL);
    for (int32_t t = 0; t < w->program->n_tasks; t++) {
        th_task copy = w->program->tasks[t];
        if (t == task)
            copy.release_ps = release;
        th_program_add(p, &copy, NULL);
    }
    for (int i = 0; i < n_edges; i++)
        th_program_depend(p, edges[i][0], edges[i][1], NULL);
    for (int32_t a = 0; a < w->program->n_tasks; a++)
        for (int32_t b = 0; b < w->program->n_tasks; b++) {
            const th_task *x = &w->program->tasks[a], *y = &w->program->tasks[b];
            if (takes_turns(x) && takes_turns(y) && x->node == y->node &&
                r->tasks[a].start_ps < r->tasks[b].start_ps)
                th_program_depend(p, b, a, NULL);
        }
    th_program_finish(p, NULL);
    return p;
}

static th_time end_when(const world *w, const th_result *r, int32_t task, th_time later)
{
    auto_program *p = held_to_order(w, r, task, r->tasks[task].start_ps + later);
    auto_result moved = run_program(w->system, w->costs, p, "ideal");
    return moved.elapsed_ps;
}

/* No flow meets another on an ideal network, so durations stay: delayed by its slack a task leaves
 * the end where it was, and by a picosecond more moves it by that. */
TEST(a_task_can_be_late_by_its_slack_and_no_more)
{
    static th_time slack[TASKS_MAX];
    auto_world w = new_world(75, 0);
    int wrong = 0, loose = 0;
    for (int round = 0; round < 12; round++) {
        random_program(&w, (int)pick(w.random, 5, 25));
        auto_result r = replay(&w, "ideal");
        CU_ASSERT_EQUAL(th_slacks(w.program, &r, slack, NULL), 0);
        for (int32_t t = 0; t < r.n_tasks; t++) {
            wrong += end_when(&w, &r, t, slack[t]) != r.elapsed_ps;
            wrong += end_when(&w, &r, t, slack[t] + 1) != r.elapsed_ps + 1;
            loose += slack[t] > 0;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(loose > 50);
}

/* Tasks 1 .. 3 of the host take no time and run at one instant, 3 before 2 as 2 depends on it. */
TEST(tasks_without_duration_stand_after_their_predecessors)
{
    auto_system *s = system_of(row_text);
    auto_costs *costs = th_compute_cost_cache_new(s, NULL);
    auto_program *p = th_program_new(NULL);
    th_time slack[4];
    on_host(p, HOST, 100, 0);
    for (int i = 0; i < 3; i++)
        on_host(p, HOST, 0, 0);
    th_program_depend(p, 1, 0, NULL);
    th_program_depend(p, 3, 1, NULL);
    th_program_depend(p, 2, 3, NULL);
    th_program_finish(p, NULL);
    auto_result r = run_program(s, costs, p, "fluid");
    CU_ASSERT_EQUAL(r.elapsed_ps, 100);
    CU_ASSERT_EQUAL(th_slacks(p, &r, slack, NULL), 0);
    for (int t = 0; t < 4; t++)
        CU_ASSERT_EQUAL(slack[t], 0);
}

/* Of a run that goes on, what has ended so far; of tasks that have not ended, -1. */
TEST(a_run_under_way_has_slacks_up_to_now)
{
    static th_time slack[TASKS_MAX];
    auto_world w = new_world(76, 0);
    random_program(&w, 60);
    auto_result all = replay(&w, "fluid"), r;
    auto_machine *m = th_machine_new(w.system, w.costs, NULL, NULL);
    th_machine_load(m, w.program, NULL);
    CU_ASSERT_EQUAL(th_machine_run_until(m, all.elapsed_ps / 2, NULL), TH_STOP_UNTIL);
    CU_ASSERT_EQUAL_FATAL(th_machine_result(m, &r, NULL), 0);
    CU_ASSERT_EQUAL(th_slacks(w.program, &r, slack, NULL), 0);
    int wrong = 0, open = 0;
    for (int32_t t = 0; t < r.n_tasks; t++) {
        open += r.tasks[t].end_ps < 0;
        wrong += r.tasks[t].end_ps < 0
                     ? slack[t] != -1
                     : slack[t] < 0 || slack[t] + r.tasks[t].end_ps > all.elapsed_ps / 2;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(open > 5);
}

TAP_MAIN("explain")
