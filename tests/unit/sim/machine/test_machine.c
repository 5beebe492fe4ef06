/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/machine/machine.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/stepping.h"
#include "tests/unit/tap.h"

/* Two accelerators and a host in a row, 1 GB/s and 200 ns, 0.5 GB/s and 300 ns; DRAM of 16 GB/s,
 * 100 ns. */
static const char row_text[] = "name = \"row\"; designs = ( { name = \"d\"; type = \"roofline\"; "
                               "clock = \"200MHz\"; macs_per_cycle = 64; } );\n"
                               "accelerators = ( { names = [\"0\", \"1\"]; dram = { capacity = "
                               "\"1GiB\"; bandwidth = \"16GB/s\"; latency = \"100ns\";"
                               " burst = \"64B\"; }; vector = { clock = \"200MHz\"; "
                               "elements_per_cycle = 64; }; designs = [\"d\"]; } );\n"
                               "hosts = ( \"host\" );\n"
                               "links = ( { between = [\"0\", \"1\"]; bandwidth = \"1GB/s\"; "
                               "latency = \"200ns\"; duplex = \"full\"; },\n"
                               "          { between = [\"1\", \"host\"]; bandwidth = \"0.5GB/s\"; "
                               "latency = \"300ns\"; duplex = \"full\"; } );\n";

/* --- building programs ------------------------------------------------------------------------ */

static int32_t compute(th_program *p, int node, int32_t work)
{
    return th_program_add(
        p,
        &(th_task){
            .kind = TH_TASK_COMPUTE, .node = node, .peer = -1, .compute_cost = work, .layer = 7},
        NULL);
}

static int32_t transfer(th_program *p, int from, int to, int64_t bytes)
{
    return th_program_add(
        p,
        &(th_task){.kind = TH_TASK_TRANSFER, .node = from, .peer = to, .bytes = bytes, .layer = -1},
        NULL);
}

static int32_t host(th_program *p, th_time release)
{
    return th_program_add(
        p,
        &(th_task){
            .kind = TH_TASK_HOST, .node = -1, .peer = -1, .release_ps = release, .layer = -1},
        NULL);
}

static void depend(th_program *p, int32_t after, int32_t before)
{
    th_program_depend(p, after, before, NULL);
}

/* A relu of one row: 16000 bytes come in (1000 ns after 100 ns of latency), 8000/64 cycles of 5 ns,
 * 16000 bytes leave likewise: 1100 + 625 + 1100 = 2825 ns when nobody else uses the DRAM. */
static th_shard row_shard(void)
{
    th_shard s = conv_shard(1, 1000, 1000, 1, 8, 1);
    s.kind = TH_LAYER_ELEMENTWISE;
    return s;
}
enum { ROW_PS = 2825000 };

typedef struct {
    th_system *system;
    th_compute_cost_cache *costs;
    th_program *program;
    th_machine *machine;
    int32_t row;
} setup;

static setup set_up(void)
{
    th_shard shard = row_shard();
    setup u = {.system = system_of(row_text), .program = th_program_new(NULL)};
    u.costs = th_compute_cost_cache_new(u.system, NULL);
    u.row = th_compute_cost_lookup(u.costs, 0, 0, &shard, NULL);
    CU_ASSERT_EQUAL(th_compute_cost_get(u.costs, u.row)->collapsed_ps, ROW_PS);
    u.machine = th_machine_new(u.system, u.costs, NULL, NULL);
    return u;
}

static void load(setup *u)
{
    CU_ASSERT_EQUAL(th_program_finish(u->program, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_load(u->machine, u->program, NULL), 0);
}

static th_result run(setup *u)
{
    th_result r;
    load(u);
    CU_ASSERT_EQUAL(th_machine_run_until(u->machine, TH_TIME_MAX, NULL), TH_STOP_DONE);
    CU_ASSERT_EQUAL_FATAL(th_machine_result(u->machine, &r, NULL), 0);
    return r;
}

static void take_down(setup *u)
{
    th_machine_free(u->machine);
    th_program_free(u->program);
    th_compute_cost_cache_free(u->costs);
    th_system_free(u->system);
}
#define auto_setup __attribute__((cleanup(take_down))) setup

static void assert_task(const th_result *r, int32_t task, th_time start, th_time end, int32_t cause)
{
    CU_ASSERT_EQUAL(r->tasks[task].start_ps, start);
    CU_ASSERT_EQUAL(r->tasks[task].end_ps, end);
    CU_ASSERT_EQUAL(r->tasks[task].cause, cause);
}

/* --- by hand ---------------------------------------------------------------------------------- */

static int32_t on_host(th_program *p, th_time takes, th_time release)
{
    th_task t = {.kind = TH_TASK_HOST,
                 .node = 2,
                 .peer = -1,
                 .release_ps = release,
                 .delay_ps = takes,
                 .layer = -1};
    return th_program_add(p, &t, NULL);
}

/* Task 0 is there at 700, 1 and 2 at 0, 3 behind 1. The host takes 1 (0 .. 500), then 2 (500 ..
 * 800), as the lower number is not there yet; then 0, which is (800 .. 900), and 3 last (900 ..
 * 1300). Task 4 has no host. */
TEST(a_host_runs_one_task_at_a_time_the_lowest_first)
{
    auto_setup u = set_up();
    on_host(u.program, 100, 700);
    on_host(u.program, 500, 0);
    on_host(u.program, 300, 0);
    depend(u.program, on_host(u.program, 400, 0), 1);
    host(u.program, 600);
    auto_result r = run(&u);
    assert_task(&r, 1, 0, 500, -1);
    assert_task(&r, 2, 500, 800, 1);
    assert_task(&r, 0, 800, 900, 2);
    assert_task(&r, 3, 900, 1300, 0);
    CU_ASSERT_EQUAL(r.tasks[4].end_ps, 600);
}

/* Task 3 is ready before 2 is, but both wait for accelerator 0 when it gets free: the lower number
 * first. Task 1 occupies it from 0 on, 2 waits for the host's release at 1500 ns. */
TEST(an_accelerator_takes_the_lowest_number_first)
{
    auto_setup u = set_up();
    host(u.program, 1500000);
    for (int i = 0; i < 3; i++)
        compute(u.program, 0, u.row);
    compute(u.program, 1, u.row);
    depend(u.program, 2, 0);
    auto_result r = run(&u);
    assert_task(&r, 0, 1500000, 1500000, -1);
    assert_task(&r, 1, 0, ROW_PS, -1);
    assert_task(&r, 2, ROW_PS, 2 * ROW_PS, 1);
    assert_task(&r, 3, 2 * ROW_PS, 3 * ROW_PS, 2);
    assert_task(&r, 4, 0, ROW_PS, -1);
    CU_ASSERT_TRUE(r.tasks[2].ready_ps == 1500000 && r.tasks[3].ready_ps == 0);
    CU_ASSERT_TRUE(r.is_done && r.elapsed_ps == 3 * ROW_PS && r.n_events == 10 &&
                   r.n_expanded == 0);
    CU_ASSERT_TRUE(r.accels[0].n_tasks == 3 && r.accels[0].idle_ps == 0 &&
                   r.accels[0].stats.busy_ps == 3 * 625000);
    CU_ASSERT_TRUE(r.accels[1].n_tasks == 1 && r.accels[1].idle_ps == 2 * ROW_PS);
    CU_ASSERT_TRUE(th_stats_read(&r.accels[1].stats) == 16000 &&
                   r.accels[1].stats.moved_bytes[TH_ENGINE_OUTPUT] == 16000);
    CU_ASSERT_DOUBLE_EQUAL(th_result_accel_utilization(&r), (3 * 625.0 + 625) / 2 / (3 * 2825),
                           1e-12);
}

/* While the row is computed on 0, 1000 bytes go 1 -> host: 300 ns + 2000 ns. Then 0 sends 4000
 * bytes to the host: 500 ns + 8000 ns. 1 -> host is in use for 2300 + 8500 ns, 0 -> 1 for 8500. */
TEST(transfers_overlap_computes)
{
    auto_setup u = set_up();
    compute(u.program, 0, u.row);
    transfer(u.program, 1, 2, 1000);
    transfer(u.program, 0, 2, 4000);
    depend(u.program, 2, 0);
    auto_result r = run(&u);
    assert_task(&r, 1, 0, 2300000, -1);
    assert_task(&r, 2, ROW_PS, ROW_PS + 8500000, 0);
    int first = th_system_find_link(u.system, "0_1"),
        second = th_system_find_link(u.system, "1_host");
    CU_ASSERT_TRUE(r.links[first].bytes == 4000 && r.links[first].busy_ps == 8500000);
    CU_ASSERT_TRUE(r.links[second].bytes == 5000 && r.links[second].busy_ps == 10800000);
    CU_ASSERT_TRUE(r.accels[0].sent_bytes == 4000 && r.accels[1].sent_bytes == 1000 &&
                   r.accels[1].received_bytes == 0);
    CU_ASSERT_DOUBLE_EQUAL(th_result_link_utilization(&r), (8.5 + 10.8) / 2 / 11.325, 1e-12);
    CU_ASSERT_EQUAL(r.n_expanded, 0); /* the draw on 1's DRAM ends with nobody at it */
}

/* 3000 bytes from 0 enter at 200 ns and draw 1 GB/s from the DRAM at 1 until 3200 ns. The row's
 * load has had 1600 bytes by then; 14400 at 15 GB/s take 960 ns: 1160. Computed at 1785, stored
 * from 1885 on at 15 GB/s: 16000/15 = 1066.667 ns -> 2951.667 ns, 126.667 later than without. The
 * same at the sender's DRAM. */
TEST(a_flow_slows_the_task_at_its_ends)
{
    auto_setup u = set_up();
    compute(u.program, 1, u.row);
    transfer(u.program, 0, 1, 3000);
    compute(u.program, 0, u.row);
    auto_result r = run(&u);
    assert_task(&r, 1, 0, 3200000, -1);
    for (int t = 0; t < 3; t += 2)
        assert_task(&r, t, 0, 2951667, -1);
    for (int a = 0; a < 2; a++)
        CU_ASSERT_TRUE(r.accels[a].stats.busy_ps == 625000 &&
                       th_stats_stall_in(&r.accels[a].stats) == 1160000 &&
                       r.accels[a].stats.stall_ps[TH_ENGINE_OUTPUT] == 2951667 - 1785000 &&
                       r.accels[a].idle_ps == 3200000 - 2951667);
    CU_ASSERT_EQUAL(r.n_expanded, 2);
}

/* The same at half the clock of accelerator 1: 1250 ns to compute. 3000 bytes slow the load down to
 * 1160 ns as before; the store begins at 1160 + 1250 + 100 = 2510 ns, has 15 GB/s until 3200 ns
 * (10350 bytes), then 16 GB/s for 5650 bytes: 353.125 ns. Once the transfer has ended, nobody
 * draws: 1100 + 1250 + 1100 = 3450 ns. Accelerator 0 keeps its clock. */
TEST(a_flow_slows_a_task_on_a_changed_clock)
{
    const th_property_event half = {.kind = TH_PROPERTY_FREQUENCY, .object = 1, .factor = 0.5};
    auto_setup u = set_up();
    compute(u.program, 1, u.row);
    transfer(u.program, 0, 1, 3000);
    compute(u.program, 0, u.row);
    compute(u.program, 1, u.row);
    load(&u);
    CU_ASSERT_EQUAL(th_machine_add_property_event(u.machine, &half, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(u.machine, TH_TIME_MAX, NULL), TH_STOP_DONE);
    auto_result r;
    CU_ASSERT_EQUAL_FATAL(th_machine_result(u.machine, &r, NULL), 0);
    assert_task(&r, 0, 0, 3553125, -1);
    assert_task(&r, 2, 0, 2951667, -1);
    assert_task(&r, 3, 3553125, 3553125 + 3450000, 0);
    CU_ASSERT_EQUAL(r.accels[1].stats.busy_ps, 2 * 1250000);
}

/* Faults of one property that overlap: the strictest is in force. Jitter of 10 % lasts from 1 to 5
 * us, of 30 % from 2 to 3 us, of 20 % from 4 to 6 us. The clock is at x0.5 from 1 to 3 us and at
 * x0.25 from 2 to 6 us, but set to x0.75 at 4 us, which ends that fault. */
TEST(the_strictest_fault_is_in_force)
{
    const struct {
        int32_t kind;
        double factor;
        th_time from_us, to_us;
    } faults[] = {{TH_PROPERTY_JITTER, 0.1, 1, 5},
                  {TH_PROPERTY_JITTER, 0.3, 2, 3},
                  {TH_PROPERTY_JITTER, 0.2, 4, 6},
                  {TH_PROPERTY_FREQUENCY, 0.5, 1, 3},
                  {TH_PROPERTY_FREQUENCY, 0.25, 2, 6}};
    const double jitter[] = {0, 0.1, 0.3, 0.1, 0.2, 0.2, 0};
    const double clock[] = {1, 0.5, 0.25, 0.25, 0.75, 0.75, 0.75};
    const th_time us = 1000000;
    auto_setup u = set_up();
    for (int i = 0; i < 10; i++)
        compute(u.program, 1, u.row);
    load(&u);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        th_property_event e = {.kind = faults[i].kind,
                               .object = 1,
                               .role = TH_PROPERTY_FAULT,
                               .factor = faults[i].factor,
                               .at = faults[i].from_us * us};
        CU_ASSERT_EQUAL(th_machine_add_property_event(u.machine, &e, NULL), 0);
        e.role = TH_PROPERTY_REPAIR;
        e.at = faults[i].to_us * us;
        CU_ASSERT_EQUAL(th_machine_add_property_event(u.machine, &e, NULL), 0);
    }
    const th_property_event set = {
        .kind = TH_PROPERTY_FREQUENCY, .object = 1, .factor = 0.75, .at = 4 * us};
    CU_ASSERT_EQUAL(th_machine_add_property_event(u.machine, &set, NULL), 0);
    for (int t = 0; t <= 6; t++) {
        CU_ASSERT_EQUAL(th_machine_run_until(u.machine, t * us, NULL), TH_STOP_UNTIL);
        CU_ASSERT_EQUAL(th_machine_property_factor(u.machine, TH_PROPERTY_JITTER, 1), jitter[t]);
        CU_ASSERT_EQUAL(th_machine_property_factor(u.machine, TH_PROPERTY_FREQUENCY, 1), clock[t]);
    }
    CU_ASSERT_EQUAL(th_machine_property_without_faults(u.machine, TH_PROPERTY_FREQUENCY, 1), 0.75);
}

/* The row of 2825 ns with jitter of 40 % in the mean: it takes 2825 (1 + 0.4 x) ns, x of the seed
 * and the task. The law is exponential: of n tasks, the mean of x is 1, within 5 / sqrt(n), and the
 * share with x > 1 is 1/e. Stopped at any time, busy and stalls are the time that has passed. */
TEST(jitter_prolongs_tasks_by_an_exponential_law)
{
    enum { N = 4000 };
    const th_property_event jitter = {
        .kind = TH_PROPERTY_JITTER, .object = 1, .factor = 0.4, .seed = 7};
    auto_setup u = set_up();
    for (int i = 0; i < N; i++)
        compute(u.program, 1, u.row);
    load(&u);
    CU_ASSERT_EQUAL(th_machine_add_property_event(u.machine, &jitter, NULL), 0);
    for (int i = 1; i < 40; i++) {
        CU_ASSERT_EQUAL(th_machine_run_until(u.machine, i * (th_time)777777, NULL), TH_STOP_UNTIL);
        th_accel_result a = th_machine_accel(u.machine, 1);
        CU_ASSERT_EQUAL(th_stats_occupied(&a.stats), i * (th_time)777777);
    }
    CU_ASSERT_EQUAL(th_machine_run_until(u.machine, TH_TIME_MAX, NULL), TH_STOP_DONE);
    double sum = 0, above = 0;
    for (int i = 0; i < N; i++) {
        const th_task_result *t = &th_machine_times(u.machine)[i];
        double x = ((double)(t->end_ps - t->start_ps) / ROW_PS - 1) / 0.4;
        CU_ASSERT_TRUE(x >= 0);
        sum += x;
        above += x > 1;
    }
    CU_ASSERT_DOUBLE_EQUAL(sum / N, 1, 5 / sqrt(N));
    CU_ASSERT_DOUBLE_EQUAL(above / N, exp(-1), 5 * 0.4822 / sqrt(N)); /* sqrt(p (1 - p)) */
}

/* A convolution that is known by its time alone, 41.5 us, so that nothing on its DRAM slows it. At
 * half the clock it takes 83 us: by itself, with 1 kB that crosses its DRAM from the start on, with
 * 1 kB from 20 us on, and each of these tile by tile. */
TEST(a_measured_time_scales_with_the_clock)
{
    const th_property_event half = {.kind = TH_PROPERTY_FREQUENCY, .object = 0, .factor = 0.5};
    auto_system *s = shipped_system("measured_example");
    auto_costs *costs = th_compute_cost_cache_new(s, NULL);
    th_shard shard = conv_shard(1, 32, 16, 28, 28, 3);
    shard.in_h = shard.in_w = 28;
    int32_t conv = th_compute_cost_lookup(costs, 0, 0, &shard, NULL);
    for (int i = 0; i < 6; i++) {
        auto_machine *m = th_machine_new(s, costs, NULL, NULL);
        th_observer stepping = {.type = &stepping_type};
        CU_ASSERT_EQUAL(th_machine_observe(m, i >= 3 ? &stepping : NULL, NULL), 0);
        auto_program *p = th_program_new(NULL);
        compute(p, s->accel_node[0], conv);
        if (i % 3 > 0)
            transfer(p, s->accel_node[0], s->host_node[0], 1000);
        if (i % 3 == 2)
            th_program_depend(p, 1, host(p, 20000000), NULL);
        CU_ASSERT_EQUAL(th_program_finish(p, NULL), 0);
        CU_ASSERT_EQUAL(th_machine_load(m, p, NULL), 0);
        CU_ASSERT_EQUAL(th_machine_add_property_event(m, &half, NULL), 0);
        CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, NULL), TH_STOP_DONE);
        CU_ASSERT_EQUAL(th_machine_times(m)[0].end_ps, 83000000);
    }
}

/* DRAM of 1.5 GB/s, links of 1 GB/s: shared. The load (latency 100 ns) and the flow (200 ns) have
 * 0.75 each when both are there: until 200 ns the load has 150 bytes at 1.5; the flow's 3000 bytes
 * end at 200 + 4000 ns; by then the load has 3150, and the remaining 12850 at 1.5: 8566.667 ns ->
 * 12766.667. + 625 + 100 + 16000/1.5 = 10666.667: 24158.334 */
TEST(flows_share_a_weak_dram_with_the_engines)
{
    auto_setup u = set_up();
    th_shard shard = row_shard();
    u.system->nodes[1].a.dram_bits_per_s = 12000000000;
    th_machine_free(u.machine);
    th_compute_cost_cache_free(u.costs);
    u.costs = th_compute_cost_cache_new(u.system, NULL);
    u.row = th_compute_cost_lookup(u.costs, 1, 0, &shard, NULL);
    u.machine = th_machine_new(u.system, u.costs, NULL, NULL);
    compute(u.program, 1, u.row);
    transfer(u.program, 0, 1, 3000);
    auto_result r = run(&u);
    assert_task(&r, 1, 0, 4200000, -1);
    assert_task(&r, 0, 0, 24158334, -1);
    CU_ASSERT_EQUAL(th_stats_stall_in(&r.accels[1].stats), 12766667);
}

/* Looking in between: the transfer 0 -> 1 of 3000 bytes and a row after it, input 2 of a stream. */
TEST(can_be_looked_at_while_it_runs)
{
    auto_setup u = set_up();
    auto_result r;
    CU_ASSERT_FALSE(th_machine_is_done(u.machine));
    transfer(u.program, 0, 1, 3000);
    th_program_add(
        u.program,
        &(th_task){.kind = TH_TASK_COMPUTE, .node = 1, .compute_cost = u.row, .input = 2}, NULL);
    compute(u.program, 1, u.row);
    depend(u.program, 1, 0);
    depend(u.program, 2, 0);
    load(&u);
    int link = th_system_find_link(u.system, "0_1");
    CU_ASSERT_EQUAL(th_machine_task_state(u.machine, 0), TH_TASK_READY);
    CU_ASSERT_EQUAL(th_machine_run_until(u.machine, 1000000, NULL), TH_STOP_UNTIL);
    CU_ASSERT_EQUAL(th_machine_now(u.machine), 1000000);
    CU_ASSERT_TRUE(th_machine_task_state(u.machine, 0) == TH_TASK_RUNNING &&
                   th_machine_link_flows(u.machine, link) == 1);
    CU_ASSERT_TRUE(th_machine_task_state(u.machine, 1) == TH_TASK_WAITING &&
                   th_machine_running(u.machine, 1) == -1);
    CU_ASSERT_EQUAL(th_machine_run_until(u.machine, 3200000 + 1100000 + 25000, NULL),
                    TH_STOP_UNTIL);
    CU_ASSERT_TRUE(th_machine_task_state(u.machine, 1) == TH_TASK_RUNNING &&
                   th_machine_running(u.machine, 1) == 1);
    CU_ASSERT_TRUE(th_machine_task_state(u.machine, 2) == TH_TASK_READY &&
                   th_machine_tasks_done(u.machine) == 1);
    CU_ASSERT_TRUE(th_machine_input_end(u.machine, 0) == 3200000 &&
                   th_machine_input_end(u.machine, 2) == -1);
    CU_ASSERT_EQUAL(th_machine_result(u.machine, &r, NULL), 0);
    CU_ASSERT_TRUE(!r.is_done && r.elapsed_ps == 4325000 && r.tasks[1].end_ps == -1 &&
                   r.n_events == 3);
    CU_ASSERT_TRUE(r.accels[1].stats.busy_ps == 25000 &&
                   th_stats_stall_in(&r.accels[1].stats) == 1100000 &&
                   r.accels[1].idle_ps == 3200000);
    CU_ASSERT_TRUE(th_stats_read(&r.accels[1].stats) == 16000 &&
                   r.accels[1].stats.moved_bytes[TH_ENGINE_OUTPUT] == 0);
    CU_ASSERT_EQUAL(th_machine_run_until(u.machine, 1000, NULL),
                    TH_STOP_UNTIL); /* time does not go back */
    CU_ASSERT_EQUAL(th_machine_now(u.machine), 4325000);
    CU_ASSERT_EQUAL(th_machine_run_bounded(u.machine, 3200000 + ROW_PS, NULL), TH_STOP_BOUND);
    CU_ASSERT_TRUE(th_machine_task_state(u.machine, 1) == TH_TASK_DONE);
    CU_ASSERT_EQUAL(th_machine_run_bounded(u.machine, 3200000 + 2 * ROW_PS, NULL), TH_STOP_DONE);
    CU_ASSERT_EQUAL(th_machine_step(u.machine, 1, NULL), TH_STOP_DONE);
    CU_ASSERT_TRUE(th_machine_is_done(u.machine) && th_machine_events(u.machine) == 6);
}

/* 300 host tasks whose releases go up and down, some at once, some alike; every fourth follows the
 * one before it: each starts at its release, or when that has ended. */
TEST(releases_are_kept_in_any_order)
{
    enum { TASKS = 300 };
    auto_rng *r = th_random_stream(2, "releases", 0);
    auto_setup u = set_up();
    for (int i = 0; i < TASKS; i++) {
        host(u.program, pick(r, 0, 3) ? pick(r, 0, 40) * 100 : 0);
        if (i % 4 == 3)
            depend(u.program, i, i - 1);
    }
    auto_result t = run(&u);
    for (int i = 0; i < TASKS; i++) {
        th_time release = u.program->tasks[i].release_ps;
        th_time after = i % 4 == 3 ? t.tasks[i - 1].end_ps : 0;
        CU_ASSERT_EQUAL(t.tasks[i].start_ps, release > after ? release : after);
    }
}

/* Host task, row on accelerator 0: four program events, a step is one of them. */
TEST(a_step_is_one_event)
{
    auto_setup u = set_up();
    host(u.program, 0);
    compute(u.program, 0, u.row);
    depend(u.program, 1, 0);
    load(&u);
    for (int i = 1; i <= 4; i++) {
        CU_ASSERT_EQUAL(th_machine_step(u.machine, 1, NULL), i < 4 ? TH_STOP_UNTIL : TH_STOP_DONE);
        CU_ASSERT_EQUAL(th_machine_events(u.machine), i);
    }
    CU_ASSERT_EQUAL(th_machine_now(u.machine), ROW_PS);
}

/* Inputs end at 10, 20, 26, 32 ms: (4 - 2) / 12 ms. One input of 8 ms: 1 / 8 ms. */
TEST(throughput_is_that_of_the_second_half)
{
    th_time ends[] = {10000000000, 20000000000, 26000000000, 32000000000}, one = 8000000000;
    th_result r = {.input_end_ps = ends, .n_inputs = 4},
              single = {.input_end_ps = &one, .n_inputs = 1}, none = {0};
    CU_ASSERT_DOUBLE_EQUAL(th_result_throughput(&r), 2 / 12e-3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(th_result_throughput(&single), 125, 1e-9);
    CU_ASSERT_EQUAL(th_result_throughput(&none), 0);
    r.wave = 1;
    CU_ASSERT_DOUBLE_EQUAL(th_result_throughput(&r), 2 / 12e-3, 1e-9);
}

/* Two by two: 10 10 20 20 30 30 40 40 ms. Four of eight in 20 ms; two of six in 10 ms, where the
 * second half would be three in 10 ms; both of two in 10 ms, where the second half would be one in
 * no time. */
TEST(throughput_of_waves_is_that_of_whole_waves)
{
    th_time ends[8];
    for (int i = 0; i < 8; i++)
        ends[i] = (i / 2 + 1) * INT64_C(10000000000);
    th_result r = {.input_end_ps = ends, .n_inputs = 8, .wave = 2};
    CU_ASSERT_DOUBLE_EQUAL(th_result_throughput(&r), 200, 1e-9);
    r.n_inputs = 6;
    CU_ASSERT_DOUBLE_EQUAL(th_result_throughput(&r), 200, 1e-9);
    r.n_inputs = 2;
    CU_ASSERT_DOUBLE_EQUAL(th_result_throughput(&r), 200, 1e-9);
    CU_ASSERT_TRUE(th_throughput_counted(8, 2) == 4 && th_throughput_counted(9, 2) == 4 &&
                   th_throughput_counted(25, 3) == 12 && th_throughput_counted(7, 1) == 4);
}

TEST(a_program_that_cannot_end_says_so)
{
    auto_setup u = set_up();
    th_error e = {"", ""};
    host(u.program, 40);
    for (int i = 0; i < 2; i++)
        compute(u.program, i, u.row);
    depend(u.program, 1, 0);
    depend(u.program, 1, 2);
    depend(u.program, 2, 1);
    load(&u);
    CU_ASSERT_EQUAL(th_machine_run_until(u.machine, TH_TIME_MAX, &e), TH_STOP_ERROR);
    TAP_ASSERT_ERROR(
        e, "SIM-0006",
        "task/1 (layer 7, input 0) can never run: 1 of its predecessors have not ended");
    CU_ASSERT_EQUAL(th_machine_step(u.machine, 1, &e), TH_STOP_ERROR);
}

TEST(an_empty_program_is_done)
{
    auto_setup u = set_up();
    auto_result r = run(&u);
    CU_ASSERT_TRUE(r.is_done && r.elapsed_ps == 0 && r.n_tasks == 0);
}

TAP_MAIN("machine")
