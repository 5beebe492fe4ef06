/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_program_trace.c - programs written as traces, read and simulated again: every task takes the
 * same time, to the picosecond. */
#include <config.h>
#include <sys/stat.h>
#include "base/files/text_file.h"
#include "base/alloc.h"
#include "sim/execution_trace/lower_trace.h"
#include "sim/execution_trace/program_trace.h"
#include "mapper/search/search.h"
#include "tests/unit/map_help.h"
#include "tests/unit/random_program.h"
#include "tests/unit/tap.h"
#include "tests/unit/trace_help.h"
#include "workloads/trace/trace_write.h"

static const char prefix[] = "test_program_trace.tmp";

/* ---- round trips ---- */

static th_machine *ran(const th_system *s, const th_program *p, const th_compute_cost_cache *costs)
{
    th_error e = {"", ""};
    th_machine *m = th_machine_new(s, costs, &(th_machine_options){.network = NULL}, &e);
    if (!m || th_machine_load(m, p, &e) || th_machine_run_until(m, INT64_MAX, &e) != TH_STOP_DONE)
        bail_out(&e);
    return m;
}

static th_trace *written_and_read(th_trace *t)
{
    th_error e = {"", ""};
    char groups[64];
    snprintf(groups, sizeof groups, "%s.groups.json", prefix);
    if (!t || th_trace_write(t, prefix, &e))
        bail_out(&e);
    th_trace_files files = {.prefix = prefix, .groups = t->n_groups > 0 ? groups : NULL};
    th_trace *again = th_trace_read(&files, &e);
    if (!again)
        bail_out(&e);
    remove_trace(prefix, t->n_ranks);
    th_trace_free(t);
    return again;
}

/* The node of a task starts and ends when the task did. What arrives, and what ranks do together,
 * is compared by its end. */
static void compare_node(const th_trace_node *n, th_task_result was, th_task_result is)
{
    bool arrives = n->kind == TH_TRACE_RECEIVE || n->kind == TH_TRACE_COLLECTIVE;
    if (was.end_ps != is.end_ps || (!arrives && was.start_ps != is.start_ps))
        printf("# task %d, kind %d: %lld .. %lld, not %lld .. %lld\n", (int)n->id, (int)n->kind,
               (long long)is.start_ps, (long long)is.end_ps, (long long)was.start_ps,
               (long long)was.end_ps);
    CU_ASSERT_EQUAL(is.end_ps, was.end_ps);
    if (!arrives)
        CU_ASSERT_EQUAL(is.start_ps, was.start_ps);
}

static void compare(const th_trace *t, const th_program *p, const th_task_result *was,
                    const th_task_result *is)
{
    bool *seen = th_alloc_zero((size_t)p->n_tasks + 1, sizeof *seen);
    int32_t n_seen = 0;
    for (int32_t rank = 0; rank < t->n_ranks; rank++)
        for (int32_t i = 0; i < t->ranks[rank].n_nodes; i++, is++) {
            const th_trace_node *n = &t->ranks[rank].nodes[i];
            n_seen += !seen[n->id];
            seen[n->id] = true;
            compare_node(n, was[n->id], *is);
        }
    CU_ASSERT_EQUAL(n_seen, p->n_tasks);
    th_free(seen);
}

/* *n_unordered, where it is asked for: dependencies that ASTRA-sim does not know. */
static void round_trip(const th_system *s, const th_program *p, const th_compute_cost_cache *costs,
                       int64_t *n_unordered)
{
    th_error e = {"", ""};
    int64_t ignored;
    auto_machine *m = ran(s, p, costs);
    th_program_trace_options o = {
        .prefix = prefix, .program = p, .system = s, .times = th_machine_times(m), .costs = costs};
    auto_trace *t =
        written_and_read(th_trace_of_program(&o, n_unordered ? n_unordered : &ignored, &e));
    auto_program *again = th_program_new(NULL);
    auto_costs *fixed = th_compute_cost_cache_new(s, NULL);
    if (th_lower_trace(&(th_lower_trace_options){.trace = t, .system = s}, again, &e) ||
        th_program_finish(again, &e) || th_program_look_up_works(again, fixed, &e))
        bail_out(&e);
    auto_machine *other = ran(s, again, fixed);
    compare(t, p, th_machine_times(m), th_machine_times(other));
}

/* Frees system and workload. */
static void trip_mapped(th_system *system, th_workload *workload, const char *baseline,
                        int32_t n_inputs)
{
    auto_system *s = system;
    auto_workload *w = workload;
    th_error e = {"", ""};
    th_problem problem = {.system = s, .workload = w, .stream = th_stream_single};
    auto_search *found = th_search_new(th_search_find(baseline), &problem, &th_search_defaults, &e);
    while (found && !found->done && th_search_iterate(found, &e) == 0)
        ;
    auto_lower *lower = th_lower_new(s, w, &e);
    auto_program *p = th_program_new(&e);
    th_stream stream = th_stream_single;
    stream.n_inputs = n_inputs;
    if (!found || !found->best || !lower || th_lower_program(lower, found->best, &stream, p, &e))
        bail_out(&e);
    CU_ASSERT_TRUE(p->n_tasks > 100);
    round_trip(s, p, th_lower_costs(lower), NULL);
}

TEST(resnet_on_f1)
{
    trip_mapped(shipped_system("f1_16xlarge"), shipped_workload("resnet34"), "greedy", 1);
}

TEST(a_stream_in_a_pipeline)
{
    trip_mapped(shipped_system("f1_16xlarge"), shipped_workload("alexnet"), "pipeline_parallel", 5);
}

TEST(bert_on_a_torus)
{
    trip_mapped(
        system_of("name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = "
                  "\"1GHz\"; macs_per_cycle = 4096; } ); accelerators = ( { dram = { capacity = "
                  "\"8GiB\"; bandwidth = \"300GB/s\"; latency = \"100ns\"; burst = \"64B\"; }; "
                  "vector = { clock = \"1GHz\"; elements_per_cycle = 64; }; designs = [\"d\"]; } "
                  "); topology = { type = \"torus\"; dims = [4, 4]; bandwidth = \"100Gbps\"; "
                  "latency = \"500ns\"; host = { bandwidth = \"50Gbps\"; }; };"),
        shipped_workload("bert_base"), "greedy_rotating", 1);
}

/* Transfers of random programs that have no accelerator get one. */
TEST(random_programs)
{
    for (uint64_t seed = 1; seed <= TAP_REPEATS(60); seed++) {
        auto_world w = new_world(seed, 0);
        random_program(&w, 150);
        for (int32_t t = 0; t < w.program->n_tasks; t++) {
            th_task *x = &w.program->tasks[t];
            const th_node *nodes = w.system->nodes;
            if (x->kind == TH_TASK_TRANSFER && nodes[x->node].kind != TH_NODE_ACCEL &&
                nodes[x->peer].kind != TH_NODE_ACCEL)
                x->node = w.system->accel_node[t % w.system->n_accels];
        }
        round_trip(w.system, w.program, w.costs, NULL);
    }
}

/* ---- by hand ---- */

#define RING4                                                                                      \
    "name = \"t\"; " MAP_HELP_ACCEL("1GiB") "topology = { type = \"ring\"; dims = [4]; "           \
                                            "bandwidth = \"8Gbps\"; latency = \"100ns\"; "         \
                                            "host = { bandwidth = \"2Gbps\"; }; };"

static th_system *ring;
static th_program *made;

static void begin(void)
{
    ring = system_of(RING4);
    made = th_program_new(NULL);
}

static void end(void)
{
    th_program_free(made);
    th_system_free(ring);
}

static int node_of(int accel)
{
    return ring->accel_node[accel];
}

static int32_t add(th_task t, const int32_t *after, int n)
{
    t.layer = -1;
    int32_t number = th_program_add(made, &t, NULL);
    for (int i = 0; i < n; i++)
        th_program_depend(made, number, after[i], NULL);
    return number;
}
#define AFTER(...) ((const int32_t[]){__VA_ARGS__}), sizeof((int32_t[]){__VA_ARGS__}) / 4

static th_task compute(int accel, th_time ps)
{
    th_fixed_work w = {.duration_ps = ps, .operations = 10, .bytes = 20};
    return (th_task){.kind = TH_TASK_COMPUTE,
                     .node = node_of(accel),
                     .peer = -1,
                     .compute_cost = th_program_add_work(made, &w, NULL)};
}

static th_task transfer(int from, int to, int64_t bytes)
{
    return (th_task){.kind = TH_TASK_TRANSFER,
                     .node = node_of(from),
                     .peer = node_of(to),
                     .compute_cost = -1,
                     .bytes = bytes};
}

static th_task collective(int kind, const char *members, int64_t bytes)
{
    int32_t nodes[8];
    th_collective c = {.kind = kind, .rank_node = nodes, .bytes = bytes, .chunks = 2};
    for (; *members; members++)
        nodes[c.n_ranks++] = node_of(*members - '0');
    return (th_task){.kind = TH_TASK_COLLECTIVE,
                     .node = nodes[0],
                     .peer = -1,
                     .collective = th_program_add_collective(made, &c, NULL)};
}

static int64_t trip_made(void)
{
    int64_t n_unordered = -1;
    auto_costs *costs = th_compute_cost_cache_new(ring, NULL);
    CU_ASSERT_EQUAL(th_program_finish(made, NULL), 0);
    CU_ASSERT_EQUAL(th_program_look_up_works(made, costs, NULL), 0);
    round_trip(ring, made, costs, &n_unordered);
    return n_unordered;
}

TEST(hand_made_programs)
{
    begin();
    th_task late = transfer(0, 1, 5000);
    late.release_ps = 1234567;
    late.delay_ps = 777;
    add(compute(0, 1000001), NULL, 0);
    add(late, AFTER(0));
    add(compute(1, 3333333), AFTER(1));
    add(compute(1, 500), NULL, 0);
    add(transfer(1, 3, 0), AFTER(2, 3));
    add(collective(TH_ALL_REDUCE, "0123", 10001), AFTER(0, 2, 4));
    add(collective(TH_ALL_GATHER, "20", 4001), AFTER(5));
    add(collective(TH_ALL_GATHER, "02", 4000), AFTER(5));
    add(collective(TH_BROADCAST, "31", 999), AFTER(5, 2));
    add(collective(TH_REDUCE_SCATTER, "3210", 64), AFTER(6, 8));
    add(collective(TH_ALL_TO_ALL, "0123", 64000), AFTER(7));
    add(compute(3, 7), AFTER(9, 10));
    CU_ASSERT_EQUAL(trip_made(), 0);
    end();
}

/* What waits on another rank, without a message, is counted: task 1 for 0, 2 for 1, the collective
 * of 0 and 1 for the computation of 3. */
TEST(waits_without_a_message)
{
    begin();
    add(compute(0, 1000), NULL, 0);
    add(compute(1, 1000), AFTER(0));
    add(transfer(2, 3, 100), AFTER(1));
    add(compute(3, 10), AFTER(2));
    add(collective(TH_ALL_REDUCE, "01", 64), AFTER(3, 0));
    CU_ASSERT_EQUAL(trip_made(), 3);
    end();
}

/* A delay is on each rank that waits for it. A chain of them is on the first alone. */
TEST(delays)
{
    begin();
    th_task start = {.kind = TH_TASK_HOST, .node = -1, .peer = -1, .release_ps = 5000};
    th_task pause = start;
    pause.release_ps = 0;
    pause.delay_ps = 700;
    add(start, NULL, 0);
    for (int a = 0; a < 4; a++)
        add(compute(a, 100 + a), AFTER(0));
    add(pause, AFTER(0));
    add(compute(2, 5), AFTER(5));
    add(compute(0, 5), AFTER(5));
    CU_ASSERT_EQUAL(trip_made(), 0);
    end();
}

TEST(of_and_to_a_host)
{
    begin();
    th_task in = transfer(0, 1, 4000), out = transfer(2, 1, 1500);
    in.node = out.peer = ring->host_node[0];
    add(in, NULL, 0);
    add(compute(1, 900), AFTER(0));
    add(transfer(1, 2, 2000), AFTER(1));
    add(out, AFTER(2));
    CU_ASSERT_EQUAL(trip_made(), 0);
    end();
}

/* ---- what a trace cannot express ---- */

static void assert_refused(th_task t, const char *expected)
{
    th_error e = {"", ""};
    int64_t n;
    add(t, NULL, 0);
    CU_ASSERT_EQUAL(th_program_finish(made, NULL), 0);
    th_program_trace_options o = {.prefix = prefix, .program = made, .system = ring};
    CU_ASSERT_PTR_NULL(th_trace_of_program(&o, &n, &e));
    TAP_ASSERT_TEXT(e.text, expected);
    th_program_clear(made);
}

TEST(refused)
{
    int64_t uneven[4] = {1, 2, 3, 4};
    begin();
    th_task t = transfer(0, 1, 10);
    t.node = ring->host_node[0];
    for (int i = 0; i < ring->n_nodes; i++)
        if (ring->nodes[i].kind != TH_NODE_ACCEL && i != t.node)
            t.peer = i;
    if (ring->nodes[t.peer].kind == TH_NODE_ACCEL)
        t.peer = t.node;
    assert_refused(t, "task/0: a trace cannot express a transfer between nodes that are no "
                      "accelerators: must be from or to an accelerator");
    assert_refused(collective(TH_BARRIER, "01", 0),
                   "task/0: a trace cannot express barrier: must be all_reduce, "
                   "all_gather, reduce_scatter, all_to_all or broadcast");
    t = collective(TH_ALL_TO_ALL, "01", 4);
    made->collectives[0].pair_bytes = th_alloc_array(4, sizeof *uneven);
    memcpy(made->collectives[0].pair_bytes, uneven, sizeof uneven);
    assert_refused(t, "task/0: a trace cannot express an uneven all_to_all: must be of one "
                      "size for all pairs");
    t = collective(TH_ALL_REDUCE, "01", 4);
    made->collectives[0].n_dims = 1;
    assert_refused(t, "task/0: a trace cannot express the extents of a collective (-dims): must "
                      "be those of the system");
    t = collective(TH_ALL_REDUCE, "01", 4);
    made->collectives[0].rank_node[1] = ring->host_node[0];
    assert_refused(t, "task/0: a trace cannot express a collective with a member that is no "
                      "accelerator: must be a collective of accelerators");
    end();
}

/* ---- files ---- */

static th_trace *four_computes(void)
{
    th_error e = {"", ""};
    int64_t n;
    begin();
    for (int a = 0; a < 4; a++)
        add(compute(a, 1000), NULL, 0);
    th_program_finish(made, NULL);
    th_program_trace_options o = {.prefix = prefix, .program = made, .system = ring};
    th_trace *t = th_trace_of_program(&o, &n, &e);
    end();
    return t;
}

/* Rank 2 cannot be written: ranks 0 and 1 stay what they were. */
TEST(all_files_or_none)
{
    th_error e = {"", ""};
    auto_trace *t = four_computes();
    auto_strbuf found = TH_STRBUF_INIT;
    remove_trace(prefix, 5);
    write_bytes("test_program_trace.tmp.0.et", "old", 3);
    CU_ASSERT_EQUAL(mkdir("test_program_trace.tmp.2.et", 0777), 0);
    CU_ASSERT_EQUAL(th_trace_write(t, prefix, &e), -1);
    TAP_ASSERT_TEXT(e.id, "BASE-0040");
    CU_ASSERT_EQUAL(rmdir("test_program_trace.tmp.2.et"), 0);
    CU_ASSERT_EQUAL(th_file_bytes_read("test_program_trace.tmp.0.et", 100, &found, &e), 0);
    TAP_ASSERT_TEXT(found.text, "old");
    CU_ASSERT_NOT_EQUAL(access("test_program_trace.tmp.1.et", F_OK), 0);
    CU_ASSERT_EQUAL(th_trace_write(t, prefix, &e), 0);
    remove_trace(prefix, 4);
}

TEST(a_file_beyond_the_last_rank)
{
    th_error e = {"", ""};
    auto_trace *t = four_computes();
    write_bytes("test_program_trace.tmp.4.et", "old", 3);
    CU_ASSERT_EQUAL(th_trace_write(t, prefix, &e), -1);
    TAP_ASSERT_TEXT(e.text, "test_program_trace.tmp.4.et: would be read with the trace of 4 ranks: "
                            "remove it, or choose another prefix");
    remove_trace(prefix, 5);
}

TAP_MAIN("program_trace")
