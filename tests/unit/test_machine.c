/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/machine.h"
#include "base/alloc.h"
#include "sim/critical_path.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include "topology/route.h"
#include <string.h>

/* Two accelerators and a host in a row, 1 GB/s and 200 ns, 0.5 GB/s and 300 ns; DRAM of 16 GB/s, 100 ns. */
static const char row_text[] =
    "name = \"row\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"200MHz\"; macs_per_cycle = 64; } );\n"
    "accelerators = ( { names = [\"0\", \"1\"]; dram = { capacity = \"1GiB\"; bandwidth = \"16GB/s\"; latency = \"100ns\";"
    " burst = \"64B\"; }; vector = { clock = \"200MHz\"; elements_per_cycle = 64; }; designs = [\"d\"]; } );\n"
    "hosts = ( \"host\" );\n"
    "links = ( { between = [\"0\", \"1\"]; bandwidth = \"1GB/s\"; latency = \"200ns\"; duplex = \"full\"; },\n"
    "          { between = [\"1\", \"host\"]; bandwidth = \"0.5GB/s\"; latency = \"300ns\"; duplex = \"full\"; } );\n";

/* --- building programs -------------------------------------------------------------------------------- */

static int32_t compute(th_program *p, int node, int32_t work)
{
    return th_program_add(p, &(th_task){.kind = TH_TASK_COMPUTE, .node = node, .peer = -1, .work = work, .layer = 7}, NULL);
}

static int32_t transfer(th_program *p, int from, int to, int64_t bytes)
{
    return th_program_add(p, &(th_task){.kind = TH_TASK_TRANSFER, .node = from, .peer = to, .bytes = bytes, .layer = -1}, NULL);
}

static int32_t host(th_program *p, th_time release)
{
    return th_program_add(p, &(th_task){.kind = TH_TASK_HOST, .node = -1, .peer = -1, .release_ps = release, .layer = -1}, NULL);
}

static void depend(th_program *p, int32_t after, int32_t before)
{
    th_program_depend(p, after, before, NULL);
}

/* A relu of one row: 16000 bytes come in (1000 ns after 100 ns of latency), 8000/64 cycles of 5 ns, 16000 bytes
 * leave likewise: 1100 + 625 + 1100 = 2825 ns when nobody else uses the DRAM. */
static th_shard row_shard(void)
{
    th_shard s = conv_shard(1, 1000, 1000, 1, 8, 1);
    s.kind = TH_LAYER_RELU;
    return s;
}
enum { ROW_PS = 2825000 };

typedef struct {
    th_system *system;
    th_works *works;
    th_program *program;
    th_machine *machine;
    int32_t row;
} setup;

static setup set_up(void)
{
    th_shard shard = row_shard();
    setup u = {.system = system_of(row_text), .program = th_program_new(NULL)};
    u.works = th_works_new(u.system, NULL);
    u.row = th_works_intern(u.works, 0, 0, &shard, NULL);
    CU_ASSERT_EQUAL(th_works_get(u.works, u.row)->folded_ps, ROW_PS);
    u.machine = th_machine_new(u.system, u.works, NULL, NULL);
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
    th_works_free(u->works);
    th_system_free(u->system);
}

static void assert_task(const th_result *r, int32_t task, th_time start, th_time end, int32_t cause)
{
    CU_ASSERT_EQUAL(r->tasks[task].start_ps, start);
    CU_ASSERT_EQUAL(r->tasks[task].end_ps, end);
    CU_ASSERT_EQUAL(r->tasks[task].cause, cause);
}

/* --- by hand ------------------------------------------------------------------------------------------ */

/* Task 3 is ready before 2 is, but both wait for accelerator 0 when it gets free: the lower number first.
 * Task 1 occupies it from 0 on, 2 waits for the host's release at 1500 ns. */
static void an_accelerator_takes_the_lowest_number_first(void)
{
    setup u = set_up();
    host(u.program, 1500000);
    for (int i = 0; i < 3; i++)
        compute(u.program, 0, u.row);
    compute(u.program, 1, u.row);
    depend(u.program, 2, 0);
    th_result r = run(&u);
    assert_task(&r, 0, 1500000, 1500000, -1);
    assert_task(&r, 1, 0, ROW_PS, -1);
    assert_task(&r, 2, ROW_PS, 2 * ROW_PS, 1);
    assert_task(&r, 3, 2 * ROW_PS, 3 * ROW_PS, 2);
    assert_task(&r, 4, 0, ROW_PS, -1);
    CU_ASSERT_TRUE(r.tasks[2].ready_ps == 1500000 && r.tasks[3].ready_ps == 0);
    CU_ASSERT_TRUE(r.is_done && r.elapsed_ps == 3 * ROW_PS && r.n_events == 10 && r.n_unfolded == 0);
    CU_ASSERT_TRUE(r.accels[0].n_tasks == 3 && r.accels[0].idle_ps == 0 && r.accels[0].busy_ps == 3 * 625000);
    CU_ASSERT_TRUE(r.accels[1].n_tasks == 1 && r.accels[1].idle_ps == 2 * ROW_PS);
    CU_ASSERT_TRUE(r.accels[1].dram_read_bytes == 16000 && r.accels[1].dram_written_bytes == 16000);
    CU_ASSERT_DOUBLE_EQUAL(th_result_accel_utilization(&r), (3 * 625.0 + 625) / 2 / (3 * 2825), 1e-12);
    th_result_clear(&r);
    take_down(&u);
}

/* While the row is computed on 0, 1000 bytes go 1 -> host: 300 ns + 2000 ns. Then 0 sends 4000 bytes to the
 * host: 500 ns + 8000 ns. 1 -> host is in use for 2300 + 8500 ns, 0 -> 1 for 8500. */
static void transfers_overlap_computes(void)
{
    setup u = set_up();
    compute(u.program, 0, u.row);
    transfer(u.program, 1, 2, 1000);
    transfer(u.program, 0, 2, 4000);
    depend(u.program, 2, 0);
    th_result r = run(&u);
    assert_task(&r, 1, 0, 2300000, -1);
    assert_task(&r, 2, ROW_PS, ROW_PS + 8500000, 0);
    int first = th_system_find_link(u.system, "0_1"), second = th_system_find_link(u.system, "1_host");
    CU_ASSERT_TRUE(r.links[first].bytes == 4000 && r.links[first].busy_ps == 8500000);
    CU_ASSERT_TRUE(r.links[second].bytes == 5000 && r.links[second].busy_ps == 10800000);
    CU_ASSERT_TRUE(r.accels[0].sent_bytes == 4000 && r.accels[1].sent_bytes == 1000 && r.accels[1].received_bytes == 0);
    CU_ASSERT_DOUBLE_EQUAL(th_result_link_utilization(&r), (8.5 + 10.8) / 2 / 11.325, 1e-12);
    CU_ASSERT_EQUAL(th_machine_unfoldings(u.machine), 0);   /* the draw on 1's DRAM ends with nobody at it */
    th_result_clear(&r);
    take_down(&u);
}

/* 3000 bytes from 0 enter at 200 ns and draw 1 GB/s from the DRAM at 1 until 3200 ns. The row's load has had
 * 1600 bytes by then; 14400 at 15 GB/s take 960 ns: 1160. Computed at 1785, stored from 1885 on at 15 GB/s:
 * 16000/15 = 1066.667 ns -> 2951.667 ns, 126.667 later than without. The same at the sender's DRAM. */
static void a_flow_slows_the_task_at_its_ends(void)
{
    setup u = set_up();
    compute(u.program, 1, u.row);
    transfer(u.program, 0, 1, 3000);
    compute(u.program, 0, u.row);
    th_result r = run(&u);
    assert_task(&r, 1, 0, 3200000, -1);
    for (int t = 0; t < 3; t += 2)
        assert_task(&r, t, 0, 2951667, -1);
    for (int a = 0; a < 2; a++)
        CU_ASSERT_TRUE(r.accels[a].busy_ps == 625000 && r.accels[a].stall_in_ps == 1160000 &&
                       r.accels[a].stall_out_ps == 2951667 - 1785000 && r.accels[a].idle_ps == 3200000 - 2951667);
    CU_ASSERT_EQUAL(r.n_unfolded, 2);
    th_result_clear(&r);
    take_down(&u);
}

/* DRAM of 1.5 GB/s, links of 1 GB/s: shared. The load (latency 100 ns) and the flow (200 ns) have 0.75 each when
 * both are there: until 200 ns the load has 150 bytes at 1.5; the flow's 3000 bytes end at 200 + 4000 ns; by then
 * the load has 3150, and the remaining 12850 at 1.5: 8566.667 ns -> 12766.667. + 625 + 100 + 16000/1.5 =
 * 10666.667: 24158.334 */
static void flows_share_a_weak_dram_with_the_engines(void)
{
    setup u = set_up();
    th_shard shard = row_shard();
    u.system->nodes[1].a.dram_bits_per_s = 12000000000;
    th_machine_free(u.machine);
    th_works_free(u.works);
    u.works = th_works_new(u.system, NULL);
    u.row = th_works_intern(u.works, 1, 0, &shard, NULL);
    u.machine = th_machine_new(u.system, u.works, NULL, NULL);
    compute(u.program, 1, u.row);
    transfer(u.program, 0, 1, 3000);
    th_result r = run(&u);
    assert_task(&r, 1, 0, 4200000, -1);
    assert_task(&r, 0, 0, 24158334, -1);
    CU_ASSERT_EQUAL(r.accels[1].stall_in_ps, 12766667);
    th_result_clear(&r);
    take_down(&u);
}

/* Looking in between: the transfer 0 -> 1 of 3000 bytes and a row after it, input 2 of a stream. */
static void can_be_looked_at_while_it_runs(void)
{
    setup u = set_up();
    th_result r;
    CU_ASSERT_FALSE(th_machine_is_done(u.machine));
    transfer(u.program, 0, 1, 3000);
    th_program_add(u.program, &(th_task){.kind = TH_TASK_COMPUTE, .node = 1, .work = u.row, .input = 2}, NULL);
    compute(u.program, 1, u.row);
    depend(u.program, 1, 0);
    depend(u.program, 2, 0);
    load(&u);
    int link = th_system_find_link(u.system, "0_1");
    CU_ASSERT_EQUAL(th_machine_task_state(u.machine, 0), TH_TASK_READY);
    CU_ASSERT_EQUAL(th_machine_run_until(u.machine, 1000000, NULL), TH_STOP_UNTIL);
    CU_ASSERT_EQUAL(th_machine_now(u.machine), 1000000);
    CU_ASSERT_TRUE(th_machine_task_state(u.machine, 0) == TH_TASK_RUNNING && th_machine_link_flows(u.machine, link) == 1);
    CU_ASSERT_TRUE(th_machine_task_state(u.machine, 1) == TH_TASK_WAITING && th_machine_running(u.machine, 1) == -1);
    CU_ASSERT_EQUAL(th_machine_run_until(u.machine, 3200000 + 1100000 + 25000, NULL), TH_STOP_UNTIL);
    CU_ASSERT_TRUE(th_machine_task_state(u.machine, 1) == TH_TASK_RUNNING && th_machine_running(u.machine, 1) == 1);
    CU_ASSERT_TRUE(th_machine_task_state(u.machine, 2) == TH_TASK_READY && th_machine_tasks_done(u.machine) == 1);
    CU_ASSERT_TRUE(th_machine_input_end(u.machine, 0) == 3200000 && th_machine_input_end(u.machine, 2) == -1);
    CU_ASSERT_EQUAL(th_machine_result(u.machine, &r, NULL), 0);
    CU_ASSERT_TRUE(!r.is_done && r.elapsed_ps == 4325000 && r.tasks[1].end_ps == -1 && r.n_events == 3);
    CU_ASSERT_TRUE(r.accels[1].busy_ps == 25000 && r.accels[1].stall_in_ps == 1100000 && r.accels[1].idle_ps == 3200000);
    CU_ASSERT_TRUE(r.accels[1].dram_read_bytes == 16000 && r.accels[1].dram_written_bytes == 0);
    th_result_clear(&r);
    CU_ASSERT_EQUAL(th_machine_run_until(u.machine, 1000, NULL), TH_STOP_UNTIL);   /* time does not go back */
    CU_ASSERT_EQUAL(th_machine_now(u.machine), 4325000);
    CU_ASSERT_EQUAL(th_machine_run_bounded(u.machine, 3200000 + ROW_PS, NULL), TH_STOP_BOUND);
    CU_ASSERT_TRUE(th_machine_task_state(u.machine, 1) == TH_TASK_DONE);
    CU_ASSERT_EQUAL(th_machine_run_bounded(u.machine, 3200000 + 2 * ROW_PS, NULL), TH_STOP_DONE);
    CU_ASSERT_EQUAL(th_machine_step(u.machine, 1, NULL), TH_STOP_DONE);
    CU_ASSERT_TRUE(th_machine_is_done(u.machine) && th_machine_events(u.machine) == 6);
    take_down(&u);
}

/* Inputs end at 10, 20, 26, 32 ms: (4 - 2) / 12 ms. One input of 8 ms: 1 / 8 ms. */
static void throughput_is_that_of_the_second_half(void)
{
    th_time ends[] = {10000000000, 20000000000, 26000000000, 32000000000}, one = 8000000000;
    th_result r = {.input_end_ps = ends, .n_inputs = 4}, single = {.input_end_ps = &one, .n_inputs = 1}, none = {0};
    CU_ASSERT_DOUBLE_EQUAL(th_result_throughput(&r), 2 / 12e-3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(th_result_throughput(&single), 125, 1e-9);
    CU_ASSERT_EQUAL(th_result_throughput(&none), 0);
}

static void a_program_that_cannot_end_says_so(void)
{
    setup u = set_up();
    th_error e = {"", ""};
    host(u.program, 40);
    for (int i = 0; i < 2; i++)
        compute(u.program, i, u.row);
    depend(u.program, 1, 0);
    depend(u.program, 1, 2);
    depend(u.program, 2, 1);
    load(&u);
    CU_ASSERT_EQUAL(th_machine_run_until(u.machine, TH_TIME_MAX, &e), TH_STOP_ERROR);
    TAP_ASSERT_TEXT(e.id, "SIM-0006");
    TAP_ASSERT_TEXT(e.text, "task/1 (layer 7, input 0) can never run: 1 of its predecessors have not ended");
    CU_ASSERT_EQUAL(th_machine_step(u.machine, 1, &e), TH_STOP_ERROR);
    take_down(&u);
}

static void an_empty_program_is_done(void)
{
    setup u = set_up();
    th_result r = run(&u);
    CU_ASSERT_TRUE(r.is_done && r.elapsed_ps == 0 && r.n_tasks == 0);
    th_result_clear(&r);
    take_down(&u);
}

/* --- random programs ---------------------------------------------------------------------------------- */

typedef struct {
    th_system *system;
    th_works *works;
    int n_works;
    gsl_rng *random;
    th_program *program;
} world;

static world new_world(uint64_t seed, int64_t dram_bits_per_s)
{
    world w = {.system = shipped_system("f1_16xlarge"), .random = th_random_stream(seed, "machine", 0)};
    for (int a = 0; dram_bits_per_s && a < w.system->n_accels; a++)
        w.system->nodes[w.system->accel_node[a]].a.dram_bits_per_s = dram_bits_per_s;
    w.works = th_works_new(w.system, NULL);
    for (int i = 0; i < 24; i++) {
        th_shard s = conv_shard(1, (int)pick(w.random, 1, 150), (int)pick(w.random, 1, 100), (int)pick(w.random, 1, 30),
                                (int)pick(w.random, 1, 30), (int)pick(w.random, 1, 3));
        s.adds_to_output = pick(w.random, 0, 3) == 0;
        if (pick(w.random, 0, 3) == 0)
            s.kind = TH_LAYER_POOL;
        if (s.kind == TH_LAYER_POOL)
            s.dim[TH_DIM_C] = s.dim[TH_DIM_K];
        int32_t number = th_works_intern(w.works, (int)pick(w.random, 0, 7), (int)pick(w.random, 0, 2), &s, NULL);
        CU_ASSERT_TRUE(number >= 0);
    }
    w.n_works = th_works_count(w.works);
    return w;
}

static void free_world(world *w)
{
    th_program_free(w->program);
    th_works_free(w->works);
    th_system_free(w->system);
    gsl_rng_free(w->random);
}

enum { TASKS_MAX = 400, EDGES_MAX = 1200 };
static int32_t edges[EDGES_MAX][2];
static int n_edges;

static void add_random_task(world *w, int inputs)
{
    gsl_rng *r = w->random;
    th_task t = {.kind = (int32_t)pick(r, 0, 20) == 0 ? TH_TASK_HOST : pick(r, 0, 1) ? TH_TASK_COMPUTE : TH_TASK_TRANSFER,
                 .layer = -1, .input = (int32_t)pick(r, 0, inputs - 1), .work = (int32_t)pick(r, 0, w->n_works - 1),
                 .node = w->system->accel_node[pick(r, 0, w->system->n_accels - 1)], .peer = -1};
    if (t.kind == TH_TASK_TRANSFER) {
        t.node = (int32_t)pick(r, 0, w->system->n_nodes - 1);
        t.peer = (t.node + 1 + (int32_t)pick(r, 0, w->system->n_nodes - 2)) % w->system->n_nodes;
        t.bytes = pick(r, 1, pick(r, 0, 1) ? 3000000 : 100000);
    }
    if (t.kind == TH_TASK_HOST)
        t.release_ps = pick(r, 0, 3000000000);
    int32_t number = th_program_add(w->program, &t, NULL);
    for (int n = (int)pick(r, 0, 3); number > 0 && n > 0; n--) {
        edges[n_edges][0] = number;
        edges[n_edges++][1] = (int32_t)pick(r, number > 25 ? number - 25 : 0, number - 1);
    }
}

/* The edges are kept, and added in an order of their own. */
static void random_program(world *w, int n)
{
    int inputs = (int)pick(w->random, 1, 5);
    th_program_free(w->program);
    w->program = th_program_new(NULL);
    n_edges = 0;
    for (int i = 0; i < n; i++)
        add_random_task(w, inputs);
    for (int i = 0; i < n_edges; i++)
        depend(w->program, edges[i][0], edges[i][1]);
    th_program_finish(w->program, NULL);
}

static th_result result_of(th_machine *m)
{
    th_result r;
    CU_ASSERT_EQUAL_FATAL(th_machine_result(m, &r, NULL), 0);
    return r;
}

static th_result replay(const world *w, const th_machine_options *o)
{
    th_error e = {"", ""};
    th_machine *m = th_machine_new(w->system, w->works, o, &e);
    CU_ASSERT_EQUAL(th_machine_load(m, w->program, &e), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_DONE);
    TAP_ASSERT_TEXT(e.text, "");
    th_result r = result_of(m);
    th_machine_free(m);
    return r;
}

static bool same_accel(const th_accel_result *a, const th_accel_result *b)
{
    return a->busy_ps == b->busy_ps && a->stall_in_ps == b->stall_in_ps && a->stall_out_ps == b->stall_out_ps &&
           a->idle_ps == b->idle_ps && a->dram_read_bytes == b->dram_read_bytes &&
           a->dram_written_bytes == b->dram_written_bytes && a->sent_bytes == b->sent_bytes &&
           a->received_bytes == b->received_bytes && a->n_tasks == b->n_tasks;
}

static bool same_task(const th_task_result *a, const th_task_result *b)
{
    return a->start_ps == b->start_ps && a->end_ps == b->end_ps && a->ready_ps == b->ready_ps && a->cause == b->cause;
}

/* Everything but the number of unfoldings. */
static int differences(const th_result *a, const th_result *b)
{
    int n = a->elapsed_ps != b->elapsed_ps || a->is_done != b->is_done || a->n_events != b->n_events ||
            a->n_tasks != b->n_tasks || a->n_inputs != b->n_inputs;
    for (int i = 0; i < a->n_accels; i++)
        n += !same_accel(&a->accels[i], &b->accels[i]);
    for (int i = 0; i < a->n_links; i++)
        n += a->links[i].bytes != b->links[i].bytes || a->links[i].busy_ps != b->links[i].busy_ps;
    for (int i = 0; !n && i < a->n_tasks; i++)
        n += !same_task(&a->tasks[i], &b->tasks[i]);
    for (int i = 0; !n && i < a->n_inputs; i++)
        n += a->input_end_ps[i] != b->input_end_ps[i];
    return n;
}

static int differs(th_result r, const th_result *from)
{
    int n = differences(&r, from);
    th_result_clear(&r);
    return n;
}

/* What holds for every result. Bytes over links are those of the transfers on their routes. */
static int breaches(const world *w, const th_result *r)
{
    int n = 0;
    int64_t sent = 0, received = 0;
    static int64_t on_link[1000];
    memset(on_link, 0, sizeof on_link);
    for (int a = 0; a < r->n_accels; a++) {
        const th_accel_result *x = &r->accels[a];
        n += x->busy_ps + x->stall_in_ps + x->stall_out_ps + x->idle_ps != r->elapsed_ps || x->idle_ps < 0 ||
             x->busy_ps < 0 || x->stall_in_ps < 0 || x->stall_out_ps < 0;
        sent += x->sent_bytes;
        received += x->received_bytes;
    }
    for (int32_t t = 0; t < r->n_tasks; t++) {
        const th_task *k = &w->program->tasks[t];
        int links[TH_ROUTE_MAX];
        if (k->kind != TH_TASK_TRANSFER || r->tasks[t].end_ps < 0)
            continue;
        sent -= w->system->nodes[k->node].accel >= 0 ? k->bytes : 0;
        received -= w->system->nodes[k->peer].accel >= 0 ? k->bytes : 0;
        for (int i = th_route(w->system, k->node, k->peer, links) - 1; i >= 0; i--)
            on_link[links[i]] += k->bytes;
    }
    for (int l = 0; l < r->n_links; l++)
        n += r->links[l].bytes != on_link[l] || r->links[l].busy_ps > r->elapsed_ps;
    return n + (sent != 0) + (received != 0);
}

/* Waits and durations, each entry after the one before it, add up to the makespan. */
static int path_breaches(const th_result *r)
{
    th_path_entry *path;
    int n = th_critical_path(r, &path, NULL), wrong = n < 0;
    th_time at = 0;
    for (int i = 0; i < n; i++) {
        wrong += path[i].wait_ps < 0 || path[i].start_ps != at + path[i].wait_ps || path[i].end_ps < path[i].start_ps;
        at += path[i].wait_ps + path[i].end_ps - path[i].start_ps;
    }
    th_free(path);
    return wrong + (at != r->elapsed_ps);
}

/* Tasks start when ready or later, an accelerator runs one at a time, an idle one does not wait. */
static int order_breaches(const world *w, const th_result *r)
{
    int wrong = 0;
    for (int i = 0; i < n_edges; i++)
        wrong += r->tasks[edges[i][0]].start_ps < r->tasks[edges[i][1]].end_ps;
    for (int32_t t = 0; t < r->n_tasks; t++) {
        const th_task_result *x = &r->tasks[t];
        const th_task *k = &w->program->tasks[t];
        wrong += x->start_ps < x->ready_ps || x->end_ps < x->start_ps;
        wrong += k->kind != TH_TASK_COMPUTE && x->start_ps != x->ready_ps;
        wrong += k->kind == TH_TASK_HOST && x->start_ps < k->release_ps;
        if (k->kind != TH_TASK_COMPUTE)
            continue;
        wrong += x->end_ps - x->start_ps < th_works_get(w->works, k->work)->folded_ps;
        bool has_follower = x->start_ps == x->ready_ps;   /* else something ended when it started */
        for (int32_t o = 0; o < r->n_tasks; o++) {
            const th_task *other = &w->program->tasks[o];
            if (o == t || other->kind != TH_TASK_COMPUTE || other->node != k->node)
                continue;
            wrong += r->tasks[o].start_ps < x->end_ps && x->start_ps < r->tasks[o].end_ps;
            has_follower |= r->tasks[o].end_ps == x->start_ps;
            /* of two that wait, the lower number goes first */
            wrong += o < t && r->tasks[o].ready_ps <= x->start_ps && r->tasks[o].start_ps > x->start_ps;
        }
        wrong += !has_follower;
    }
    return wrong;
}

static void every_way_of_running_on(uint64_t seed, int64_t dram_bits_per_s, int rounds)
{
    world w = new_world(seed, dram_bits_per_s);
    int wrong = 0;
    int64_t unfolded = 0;
    for (int round = 0; round < rounds; round++) {
        random_program(&w, (int)pick(w.random, 5, TASKS_MAX));
        th_result r = replay(&w, NULL);
        unfolded += r.n_unfolded;
        wrong += breaches(&w, &r) + path_breaches(&r) + order_breaches(&w, &r);
        wrong += r.n_events != 2 * r.n_tasks;
        wrong += differs(replay(&w, &(th_machine_options){.unfold_all = true}), &r);
        wrong += differs(replay(&w, &(th_machine_options){.no_skip = true}), &r);
        for (uint64_t s = 1; s < 4; s++)
            wrong += differs(replay(&w, &(th_machine_options){.unfold_seed = s + 10 * seed, .no_skip = s == 2}), &r);
        th_result_clear(&r);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_TRUE(unfolded > 10);
    free_world(&w);
}

static void folding_changes_nothing(void)
{
    every_way_of_running_on(51, 0, 12);
}

/* Links bring 6.5 GB/s in all and 1 at most each: at 5 GB/s flows could saturate a DRAM, at 24 by no means. */
static void folding_changes_nothing_with_other_drams(void)
{
    every_way_of_running_on(52, 40000000000, 5);
    every_way_of_running_on(53, 192000000000, 4);
}

/* Half of the accelerators weak, half not. */
static void folding_changes_nothing_with_mixed_drams(void)
{
    world w = new_world(54, 0);
    int wrong = 0;
    for (int round = 0; round < 6; round++) {
        th_works *before = w.works;
        for (int a = 0; a < 8; a += 2)
            w.system->nodes[w.system->accel_node[a]].a.dram_bits_per_s = pick(w.random, 8, 40) * 1000000000;
        random_program(&w, 150);
        th_works *own = th_works_new(w.system, NULL);
        for (int32_t t = 0; t < w.program->n_tasks; t++) {
            th_task *k = &w.program->tasks[t];
            if (k->kind == TH_TASK_COMPUTE) {
                const th_work *same = th_works_get(before, k->work);
                k->work = th_works_intern(own, w.system->nodes[k->node].accel, same->design, &same->shard, NULL);
            }
        }
        w.works = own;
        th_result r = replay(&w, NULL);
        wrong += breaches(&w, &r) + path_breaches(&r) + order_breaches(&w, &r);
        wrong += differs(replay(&w, &(th_machine_options){.unfold_all = true}), &r);
        wrong += differs(replay(&w, &(th_machine_options){.unfold_seed = 77}), &r);
        th_result_clear(&r);
        th_works_free(own);
        w.works = before;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    free_world(&w);
}

static void ideal_networks_never_unfold(void)
{
    world w = new_world(55, 0);
    random_program(&w, 300);
    const th_machine_options o = {.network = th_network_find("ideal")};
    th_result r = replay(&w, &o);
    CU_ASSERT_EQUAL(breaches(&w, &r) + path_breaches(&r) + order_breaches(&w, &r), 0);
    CU_ASSERT_EQUAL(r.n_unfolded, 0);
    th_result all = replay(&w, &(th_machine_options){.network = o.network, .unfold_all = true});
    CU_ASSERT_EQUAL(differences(&r, &all), 0);
    th_result_clear(&r);
    th_result_clear(&all);
    free_world(&w);
}

/* Results so far hold their sums and never go back. */
static int look(const world *w, th_machine *m, th_time *seen)
{
    th_result r = result_of(m);
    int wrong = breaches(w, &r) + (r.elapsed_ps < *seen);
    *seen = r.elapsed_ps;
    th_result_clear(&r);
    return wrong;
}

static void slices_and_steps_change_nothing(void)
{
    for (int weak = 0; weak < 2; weak++) {
        world w = new_world(56, weak ? 40000000000 : 0);
        int wrong = 0;
        random_program(&w, 250);
        th_result r = replay(&w, NULL);
        th_machine *m = th_machine_new(w.system, w.works, NULL, NULL);
        th_time seen = 0, to = 0;
        th_machine_load(m, w.program, NULL);
        while (th_machine_run_until(m, to, NULL) == TH_STOP_UNTIL) {
            wrong += th_machine_now(m) != to || look(&w, m, &seen);
            to += pick(w.random, 0, r.elapsed_ps / 50);
        }
        wrong += differs(result_of(m), &r);
        th_machine_load(m, w.program, NULL);
        seen = 0;
        int64_t events = 0;
        while (th_machine_step(m, 1, NULL) == TH_STOP_UNTIL) {
            wrong += th_machine_events(m) <= events || th_machine_events(m) > events + 2;
            events = th_machine_events(m);
            wrong += look(&w, m, &seen);
        }
        wrong += differs(result_of(m), &r);
        CU_ASSERT_EQUAL(wrong, 0);
        th_machine_free(m);
        th_result_clear(&r);
        free_world(&w);
    }
}

/* Loaded again after the end, and from the midst of it, with another program in between. */
static void loading_again_gives_the_same(void)
{
    for (int weak = 0; weak < 2; weak++) {
        world w = new_world(57, weak ? 40000000000 : 0);
        int wrong = 0;
        random_program(&w, 150);
        th_program *other = w.program;
        w.program = NULL;
        random_program(&w, 200);
        th_result r = replay(&w, NULL);
        th_machine *m = th_machine_new(w.system, w.works, NULL, NULL);
        for (int i = 0; i < 8; i++) {
            th_machine_load(m, other, NULL);
            th_machine_run_until(m, r.elapsed_ps * i / 8, NULL);
            th_machine_load(m, w.program, NULL);
            if (i % 2)
                CU_ASSERT_EQUAL(th_machine_run_until(m, r.elapsed_ps * i / 9, NULL), TH_STOP_UNTIL);
            if (i % 2)
                th_machine_load(m, w.program, NULL);
            th_machine_run_until(m, TH_TIME_MAX, NULL);
            wrong += differs(result_of(m), &r);
        }
        CU_ASSERT_EQUAL(wrong, 0);
        th_machine_free(m);
        th_result_clear(&r);
        th_program_free(other);
        free_world(&w);
    }
}

static void machines_side_by_side_do_not_meet(void)
{
    world a = new_world(58, 0), b = new_world(59, 40000000000);
    random_program(&a, 200);
    random_program(&b, 200);
    th_result ra = replay(&a, NULL), rb = replay(&b, NULL);
    th_machine *ma = th_machine_new(a.system, a.works, NULL, NULL), *mb = th_machine_new(b.system, b.works, NULL, NULL);
    th_machine_load(ma, a.program, NULL);
    th_machine_load(mb, b.program, NULL);
    bool more = true;
    while (more) {
        more = th_machine_step(ma, pick(a.random, 1, 9), NULL) == TH_STOP_UNTIL;
        more |= th_machine_step(mb, pick(a.random, 1, 9), NULL) == TH_STOP_UNTIL;
    }
    CU_ASSERT_EQUAL(differs(result_of(ma), &ra) + differs(result_of(mb), &rb), 0);
    th_machine_free(ma);
    th_machine_free(mb);
    th_result_clear(&ra);
    th_result_clear(&rb);
    free_world(&a);
    free_world(&b);
}

/* The same dependencies, told in another order. */
static void the_order_of_telling_does_not_matter(void)
{
    world w = new_world(60, 0);
    int wrong = 0;
    for (int round = 0; round < 5; round++) {
        random_program(&w, 200);
        th_result r = replay(&w, NULL);
        th_program *told = w.program;
        w.program = th_program_new(NULL);
        for (int32_t t = 0; t < told->n_tasks; t++)
            th_program_add(w.program, &told->tasks[t], NULL);
        for (int i = n_edges - 1; i >= 0; i--)
            depend(w.program, edges[i][0], edges[i][1]);
        th_program_finish(w.program, NULL);
        wrong += differs(replay(&w, NULL), &r);
        th_program_free(told);
        th_result_clear(&r);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    free_world(&w);
}

/* --- memory ------------------------------------------------------------------------------------------- */

/* 0, or -1 when memory ran out anywhere on the way. */
static int run_all(const world *w, const th_machine_options *o)
{
    th_error e = {"", ""};
    th_result r = {0};
    th_machine *m = th_machine_new(w->system, w->works, o, &e);
    int failed = !m || th_machine_load(m, w->program, &e) ||
                 th_machine_run_until(m, TH_TIME_MAX, &e) != TH_STOP_DONE || th_machine_result(m, &r, &e);
    th_path_entry *path = NULL;
    failed = failed || th_critical_path(&r, &path, &e) < 0;
    if (failed)
        TAP_ASSERT_TEXT(e.id, "BASE-0001");
    th_free(path);
    th_result_clear(&r);
    th_machine_free(m);
    return failed ? -1 : 0;
}

static void any_allocation_may_fail(void)
{
    const th_machine_options ways[] = {{0}, {.unfold_seed = 5}, {.unfold_all = true}, {.network = th_network_find("ideal")}};
    for (int i = 0; i < 5; i++) {
        world w = new_world(61, i == 4 ? 40000000000 : 0);
        const th_machine_options *o = &ways[i % 4];
        random_program(&w, 60);
        int64_t live = th_alloc_live(), calls = th_alloc_calls();
        CU_ASSERT_EQUAL(run_all(&w, o), 0);
        calls = th_alloc_calls() - calls;
        CU_ASSERT_TRUE(calls > 20);
        for (int64_t k = 1; k <= calls; k++) {
            th_alloc_fail_at(k);
            CU_ASSERT_EQUAL(run_all(&w, o), -1);
            th_alloc_fail_at(0);
            CU_ASSERT_EQUAL(th_alloc_live(), live);
        }
        free_world(&w);
    }
    th_machine_free(NULL);
}

int main(int argc, char **argv)
{
    static const tap_test tests[] = {
        TAP(an_accelerator_takes_the_lowest_number_first),
        TAP(transfers_overlap_computes),
        TAP(a_flow_slows_the_task_at_its_ends),
        TAP(flows_share_a_weak_dram_with_the_engines),
        TAP(can_be_looked_at_while_it_runs),
        TAP(throughput_is_that_of_the_second_half),
        TAP(a_program_that_cannot_end_says_so),
        TAP(an_empty_program_is_done),
        TAP(folding_changes_nothing),
        TAP(folding_changes_nothing_with_other_drams),
        TAP(folding_changes_nothing_with_mixed_drams),
        TAP(ideal_networks_never_unfold),
        TAP(slices_and_steps_change_nothing),
        TAP(loading_again_gives_the_same),
        TAP(machines_side_by_side_do_not_meet),
        TAP(the_order_of_telling_does_not_matter),
        TAP(any_allocation_may_fail),
        TAP_END,
    };
    return tap_main("machine", tests, argc, argv);
}
