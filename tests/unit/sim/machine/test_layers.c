/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_layers.c - what each layer took, by hand. test_replay.c holds it for random programs. */
#include <config.h>
#include "sim/machine/machine.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

/* Accelerators 0 and 1 and a host in a row, 1 GB/s and 200 ns, 0.5 GB/s and 300 ns; 64 MACs and 64
 * element operations per cycle of 5 ns; DRAM of 16 GB/s, 100 ns, bursts of 64 bytes. */
static const char row_text[] =
    "name = \"row\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"200MHz\"; "
    "macs_per_cycle = 64; } );\n"
    "accelerators = ( { names = [\"0\", \"1\"]; dram = { capacity = \"1GiB\"; bandwidth = "
    "\"16GB/s\"; latency = \"100ns\"; burst = \"64B\"; }; vector = { clock = \"200MHz\"; "
    "elements_per_cycle = 64; }; designs = [\"d\"]; } );\n"
    "hosts = ( \"host\" );\n"
    "links = ( { between = [\"0\", \"1\"]; bandwidth = \"1GB/s\"; latency = \"200ns\"; duplex = "
    "\"full\"; },\n"
    "          { between = [\"1\", \"host\"]; bandwidth = \"0.5GB/s\"; latency = \"300ns\"; duplex "
    "= \"full\"; } );\n";

/* CONV: K 4, C 100, 1 x 1000 pixels, 1 x 1. 200000 bytes of inputs and 800 of weights (13 bursts:
 * 832) are in after 100 ns + 200832/16 ns = 12652 ns; 400000 MACs are 6250 cycles, 31250 ns; 8000
 * bytes leave in 100 + 500 ns: 44502 ns. RELU: 8000 elements: 16000 bytes in 1100 ns, 125 cycles,
 * out in 1100 ns: 2825 ns. */
enum { CONV_NS = 44502, RELU_NS = 2825, PS = 1000 };

typedef struct {
    th_system *system;
    th_compute_cost_cache *costs;
    th_program *program;
    th_machine *machine;
    int32_t conv, relu;
} setup;

static setup set_up(void)
{
    th_shard conv = conv_shard(1, 4, 100, 1, 1000, 1), relu = conv_shard(1, 1000, 1000, 1, 8, 1);
    relu.kind = TH_LAYER_ELEMENTWISE;
    setup u = {.system = system_of(row_text), .program = th_program_new(NULL)};
    u.costs = th_compute_cost_cache_new(u.system, NULL);
    u.conv = th_compute_cost_lookup(u.costs, 0, 0, &conv, NULL);
    u.relu = th_compute_cost_lookup(u.costs, 0, 0, &relu, NULL);
    u.machine = th_machine_new(u.system, u.costs, &(th_machine_options){.per_layer = true}, NULL);
    return u;
}

static void take_down(setup *u)
{
    th_machine_free(u->machine);
    th_program_free(u->program);
    th_compute_cost_cache_free(u->costs);
    th_system_free(u->system);
}
#define auto_setup __attribute__((cleanup(take_down))) setup

static int32_t compute(setup *u, int node, int32_t work, int32_t layer)
{
    return th_program_add(u->program,
                          &(th_task){.kind = TH_TASK_COMPUTE,
                                     .node = node,
                                     .peer = -1,
                                     .compute_cost = work,
                                     .layer = layer},
                          NULL);
}

static th_result run_until(setup *u, th_time until)
{
    th_result r;
    CU_ASSERT_EQUAL(th_program_finish(u->program, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_load(u->machine, u->program, NULL), 0);
    CU_ASSERT_NOT_EQUAL(th_machine_run_until(u->machine, until, NULL), TH_STOP_ERROR);
    CU_ASSERT_EQUAL_FATAL(th_machine_result(u->machine, &r, NULL), 0);
    return r;
}

/* 1000 bytes for layer 0 come from the host in 500 + 2000 ns, then accelerator 0 computes CONV for
 * it and RELU for layer 2. Nothing is done for layer 1. */
static void add_two_layers(setup *u)
{
    int32_t t = th_program_add(
        u->program,
        &(th_task){.kind = TH_TASK_TRANSFER, .node = 2, .peer = 0, .bytes = 1000, .layer = 0},
        NULL);
    th_program_depend(u->program, compute(u, 0, u->conv, 0), t, NULL);
    th_program_depend(u->program, compute(u, 0, u->relu, 2), t + 1, NULL);
}

TEST(two_tasks_on_paper)
{
    auto_setup u = set_up();
    add_two_layers(&u);
    auto_result r = run_until(&u, TH_TIME_MAX);
    CU_ASSERT_EQUAL_FATAL(r.n_layers, 3);
    const th_layer_result *conv = &r.layers[0], *relu = &r.layers[2];
    CU_ASSERT_TRUE(conv->n_accels == 1 && conv->n_tasks == 1 && conv->n_open == 0 &&
                   conv->start_ps == 0);
    CU_ASSERT_EQUAL(conv->end_ps, (2500 + CONV_NS) * PS);
    CU_ASSERT_TRUE(conv->active_ps == conv->end_ps && conv->idle_ps == 2500 * PS);
    CU_ASSERT_TRUE(conv->stats.busy_ps == 31250 * PS &&
                   conv->stats.stall_ps[TH_ENGINE_INPUT] == 12652 * PS &&
                   conv->stats.stall_ps[TH_ENGINE_WEIGHT] == 0 &&
                   conv->stats.stall_ps[TH_ENGINE_OUTPUT] == 600 * PS);
    CU_ASSERT_TRUE(conv->stats.moved_bytes[TH_ENGINE_INPUT] == 200000 &&
                   conv->stats.moved_bytes[TH_ENGINE_WEIGHT] == 832 &&
                   conv->stats.moved_bytes[TH_ENGINE_OUTPUT] == 8000);
    CU_ASSERT_TRUE(conv->macs == 400000 && conv->array_cycles == 6250 && conv->vector_cycles == 0);
    CU_ASSERT_TRUE(relu->start_ps == conv->end_ps && relu->idle_ps == 0 && relu->macs == 0);
    CU_ASSERT_EQUAL(relu->active_ps, RELU_NS * PS);
    CU_ASSERT_TRUE(relu->vector_operations == 8000 && relu->vector_cycles == 125 &&
                   relu->array_cycles == 0);
    CU_ASSERT_TRUE(r.layers[1].start_ps == -1 && r.layers[1].n_tasks == 0 &&
                   r.layers[1].active_ps == 0);
}

/* CONV: 31250 ns of MACs, 208832 bytes are 13052 ns: 47002 / 31250. RELU: 625 ns of cycles, 32000
 * bytes are 2000 ns: 2825 / 2000. */
TEST(rooflines_on_paper)
{
    auto_setup u = set_up();
    add_two_layers(&u);
    auto_result r = run_until(&u, TH_TIME_MAX);
    const th_layer_result *conv = &r.layers[0], *none = &r.layers[1], *relu = &r.layers[2];
    CU_ASSERT_DOUBLE_EQUAL(th_layer_roofline_s(conv), 31250e-9, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(conv->memory_s, 13052e-9, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(th_layer_roofline_distance(conv), 1.504064, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(th_layer_utilization(conv), 31250. / 47002, 1e-9);
    CU_ASSERT_EQUAL(th_layer_bound(conv), TH_BOUND_COMPUTE);
    CU_ASSERT_DOUBLE_EQUAL(th_layer_roofline_distance(relu), 1.4125, 1e-9);
    CU_ASSERT_EQUAL(th_layer_utilization(relu), -1);
    CU_ASSERT_EQUAL(th_layer_bound(relu), TH_BOUND_MEMORY);
    CU_ASSERT_EQUAL(th_layer_bound(none), TH_BOUND_NONE);
    CU_ASSERT_EQUAL(th_layer_roofline_distance(none), 0);
}

/* At 20000 ns CONV has waited 12652 ns for its input and computed for 20000 - 2500 - 12652. What is
 * counted when tasks end is still 0. */
TEST(a_running_task_counts_as_far_as_it_is)
{
    auto_setup u = set_up();
    add_two_layers(&u);
    auto_result r = run_until(&u, 20000 * PS);
    const th_layer_result *conv = &r.layers[0];
    CU_ASSERT_TRUE(conv->active_ps == 20000 * PS && conv->idle_ps == 2500 * PS);
    CU_ASSERT_TRUE(conv->stats.busy_ps == 4848 * PS &&
                   conv->stats.stall_ps[TH_ENGINE_INPUT] == 12652 * PS);
    CU_ASSERT_TRUE(conv->n_tasks == 0 && conv->n_open == 1 && conv->macs == 0 &&
                   conv->end_ps == 2500 * PS);
    CU_ASSERT_EQUAL(r.layers[2].start_ps, -1);
}

/* RELU twice for layer 0 on accelerator 0, with CONV for layer 1 between, once on 1: under way for
 * 2 x 2825 ns, of 2 accelerators, on which it runs 3 x 2825 ns. */
TEST(time_that_others_have_does_not_count)
{
    auto_setup u = set_up();
    compute(&u, 0, u.relu, 0);
    compute(&u, 1, u.relu, 0);
    compute(&u, 0, u.conv, 1);
    compute(&u, 0, u.relu, 0);
    auto_result r = run_until(&u, TH_TIME_MAX);
    const th_layer_result *relu = &r.layers[0];
    CU_ASSERT_TRUE(relu->n_accels == 2 && relu->n_tasks == 3 && relu->start_ps == 0);
    CU_ASSERT_EQUAL(relu->end_ps, (2 * RELU_NS + CONV_NS) * PS);
    CU_ASSERT_EQUAL(relu->active_ps, 2 * RELU_NS * PS);
    CU_ASSERT_EQUAL(relu->idle_ps, RELU_NS * PS);
    CU_ASSERT_EQUAL(th_stats_read(&relu->stats), 3 * 16000);
    CU_ASSERT_DOUBLE_EQUAL(th_layer_roofline_distance(relu), 2 * 2825. / (3 * 2000. / 2), 1e-9);
}

TEST(what_takes_longest_is_the_bound)
{
    static const char *const names[] = {"compute",      "memory",      "input port", "weight port",
                                        "partial port", "output port", "waiting"};
    for (int i = 0; i < 7; i++) {
        th_layer_result l = {.stats = {.busy_ps = i == 0 ? 4000000 : 3000000},
                             .memory_s = i == 1 ? 4e-6 : 3.5e-6,
                             .idle_ps = i == 6 ? 4000000 : 2000000};
        if (i > 1 && i < 6)
            l.port_s[i - 2] = 4e-6;
        TAP_ASSERT_TEXT(th_bound_name(th_layer_bound(&l)), names[i]);
    }
    TAP_ASSERT_TEXT(th_bound_name(TH_BOUND_NONE), "none");
}

/* A peak that a design does not know makes no utilisation; its cycles make the roofline. */
TEST(an_unknown_peak_leaves_the_utilization_open)
{
    auto_setup u = set_up();
    ((th_compute_cost *)th_compute_cost_get(u.costs, u.conv))->schedule.macs_per_cycle = 0;
    compute(&u, 0, u.conv, 0);
    auto_result r = run_until(&u, TH_TIME_MAX);
    CU_ASSERT_EQUAL(th_layer_utilization(&r.layers[0]), -1);
    CU_ASSERT_DOUBLE_EQUAL(th_layer_roofline_distance(&r.layers[0]), 44502. / 31250, 1e-9);
}

TAP_MAIN("layers")
