/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_energy.c - joules by hand, and the keys that say what things cost. */
#include <config.h>
#include "sim/machine/machine.h"
#include "sim/analysis/energy.h"
#include "tests/unit/design_help.h"

/* Accelerators 0 and 1 and a host in a row; 64 MACs and 64 operations per cycle of 5 ns, DRAM of 16
 * GB/s, 100 ns, bursts of 64 bytes: as in test_layers.c. */
#define ROW(energy, links)                                                                         \
    "name = \"row\"; " links                                                                       \
    "designs = ( { name = \"d\"; type = \"roofline\"; clock = \"200MHz\"; "                        \
    "macs_per_cycle = 64; " energy " } );\n"                                                       \
    "accelerators = ( { names = [\"0\", \"1\"]; dram = { capacity = \"1GiB\"; bandwidth = "        \
    "\"16GB/s\"; latency = \"100ns\"; burst = \"64B\"; }; vector = { clock = \"200MHz\"; "         \
    "elements_per_cycle = 64; }; designs = [\"d\"]; } );\n"                                        \
    "hosts = ( \"host\" );\n"                                                                      \
    "links = ( { between = [\"0\", \"1\"]; bandwidth = \"1GB/s\"; latency = \"200ns\"; duplex = "  \
    "\"full\"; },\n"                                                                               \
    "          { between = [\"1\", \"host\"]; bandwidth = \"0.5GB/s\"; latency = \"300ns\"; "      \
    "duplex = \"full\"; } );\n"

#define COSTS                                                                                      \
    "mac_energy = \"4pJ\"; mac_energy_fp16 = \"2pJ\"; vector_energy = \"3pJ\"; buffer_energy = "   \
    "\"0.5pJ\"; dram_energy = \"20pJ\"; static_power = \"2W\"; energy_source = \"made up\";"
#define LINK_COSTS "link_energy = \"10pJ\"; link_energy_source = \"made up\"; "

typedef struct {
    th_system *system;
    th_compute_cost_cache *costs;
    th_program *program;
    th_machine *machine;
} setup;

static int32_t add(setup *u, const th_task *t)
{
    return th_program_add(u->program, t, NULL);
}

/* 1000 bytes for layer 0 come from the host in 2500 ns, then accelerator 0 computes for layer 0: K
 * 4, C 100, 1 x 1000 pixels (44502 ns), and 8000 elements of a relu for layer 2 (2825 ns). */
static setup set_up(const char *text, const th_machine_options *o)
{
    th_shard conv = conv_shard(1, 4, 100, 1, 1000, 1), relu = conv_shard(1, 1000, 1000, 1, 8, 1);
    relu.kind = TH_LAYER_ELEMENTWISE;
    relu.function = TH_FUNCTION_RELU;
    setup u = {.system = system_of(text), .program = th_program_new(NULL)};
    u.costs = th_compute_cost_cache_new(u.system, NULL);
    int32_t conv_work = th_compute_cost_lookup(u.costs, 0, 0, &conv, NULL);
    int32_t relu_work = th_compute_cost_lookup(u.costs, 0, 0, &relu, NULL);
    u.machine = th_machine_new(u.system, u.costs, o, NULL);
    int32_t t = add(
        &u, &(th_task){.kind = TH_TASK_TRANSFER, .node = 2, .peer = 0, .bytes = 1000, .layer = 0});
    int32_t c = add(
        &u,
        &(th_task){
            .kind = TH_TASK_COMPUTE, .node = 0, .peer = -1, .compute_cost = conv_work, .layer = 0});
    int32_t r = add(
        &u,
        &(th_task){
            .kind = TH_TASK_COMPUTE, .node = 0, .peer = -1, .compute_cost = relu_work, .layer = 2});
    th_program_depend(u.program, c, t, NULL);
    th_program_depend(u.program, r, c, NULL);
    CU_ASSERT_EQUAL(th_program_finish(u.program, NULL), 0);
    CU_ASSERT_EQUAL(th_machine_load(u.machine, u.program, NULL), 0);
    return u;
}

static th_result result_at(setup *u, th_time until)
{
    th_result r;
    CU_ASSERT_NOT_EQUAL(th_machine_run_until(u->machine, until, NULL), TH_STOP_ERROR);
    CU_ASSERT_EQUAL_FATAL(th_machine_result(u->machine, &r, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(
        th_energy_of_run(&(th_energy_source){u->system, u->costs, u->program}, &r, NULL), 0);
    return r;
}

static void take_down(setup *u, th_result *r)
{
    th_result_clear(r);
    th_machine_free(u->machine);
    th_program_free(u->program);
    th_compute_cost_cache_free(u->costs);
    th_system_free(u->system);
}

/* In nanojoules: mac, vector, buffer, dram, static, links. */
static void assert_energy(const th_energy *e, const double nj[6])
{
    const double have[6] = {e->mac_j, e->vector_j, e->buffer_j, e->dram_j, e->static_j, e->link_j};
    double sum = 0;
    for (int i = 0; i < 6; i++) {
        CU_ASSERT_DOUBLE_EQUAL(have[i] * 1e9, nj[i], 1e-7);
        sum += nj[i];
    }
    CU_ASSERT_DOUBLE_EQUAL(th_energy_sum(e) * 1e9, sum, 1e-6);
}

static const th_machine_options per_layer = {.per_layer = true};

/* CONV: 400000 MACs at 2 pJ. Its buffers are filled and drained, and each element read or written
 * once: 2 (200000 + 800 + 8000) bytes. DRAM: these once, in bursts (832), and the 1000 bytes that
 * came. RELU: 8000 operations; 8000 elements of 2 bytes read, written, filled and drained: 64000
 * bytes; 32000 bytes of DRAM. 49827 ns of 2 W are 99654 nJ, for the accelerator that does nothing
 * too. The bytes crossed two links. */
TEST(three_tasks_on_paper)
{
    setup u = set_up(ROW(COSTS, LINK_COSTS), &per_layer);
    th_result r = result_at(&u, TH_TIME_MAX);
    CU_ASSERT_TRUE(r.has_energy);
    assert_energy(&r.accels[0].energy,
                  (double[]){800, 24, 240.8, (208832 + 32000 + 1000) * 0.02, 99654, 0});
    assert_energy(&r.accels[1].energy, (double[]){0, 0, 0, 0, 99654, 0});
    assert_energy(&r.energy, (double[]){800, 24, 240.8, 4836.64, 2 * 99654, 20});
    CU_ASSERT_DOUBLE_EQUAL(th_result_energy_j(&r), 205229.44e-9, 1e-15);
    assert_energy(&r.layers[0].energy, (double[]){800, 0, 208.8, 4196.64, 2 * 44502, 20});
    assert_energy(&r.layers[1].energy, (double[]){0, 0, 0, 0, 0, 0});
    assert_energy(&r.layers[2].energy, (double[]){0, 24, 32, 640, 2 * 2825, 0});
    take_down(&u, &r);
}

/* The same without layers; the total is the same to the bit. */
TEST(the_run_needs_no_layers)
{
    setup u = set_up(ROW(COSTS, LINK_COSTS), &per_layer), v = set_up(ROW(COSTS, LINK_COSTS), NULL);
    th_result with = result_at(&u, TH_TIME_MAX), without = result_at(&v, TH_TIME_MAX);
    CU_ASSERT_EQUAL(without.n_layers, 0);
    CU_ASSERT_TRUE(th_result_energy_j(&with) == th_result_energy_j(&without));
    take_down(&u, &with);
    take_down(&v, &without);
}

/* At 20000 ns CONV runs: 40000 nJ of static power at each, of which 17500 ns for the layer; its
 * bytes of DRAM have moved, but for the 8000 it stores. The MACs count at its end. */
TEST(a_run_that_has_stopped)
{
    setup u = set_up(ROW(COSTS, LINK_COSTS), &per_layer);
    th_result r = result_at(&u, 20000000);
    assert_energy(&r.energy, (double[]){0, 0, 0, (200832 + 1000) * 0.02, 80000, 20});
    assert_energy(&r.layers[0].energy, (double[]){0, 0, 0, 20, 35000, 20});
    take_down(&u, &r);
}

TEST(nothing_is_known_without_keys)
{
    setup u = set_up(ROW("", ""), &per_layer);
    th_result r = result_at(&u, TH_TIME_MAX);
    CU_ASSERT_FALSE(r.has_energy);
    CU_ASSERT_EQUAL(th_result_energy_j(&r), 0);
    take_down(&u, &r);
    u = set_up(ROW("", LINK_COSTS), &per_layer); /* links alone */
    r = result_at(&u, TH_TIME_MAX);
    CU_ASSERT_TRUE(r.has_energy);
    assert_energy(&r.energy, (double[]){0, 0, 0, 0, 0, 20});
    take_down(&u, &r);
}

/* --- keys ------------------------------------------------------------------------------------- */

TEST(precisions_have_energies_of_their_own)
{
    auto_system *s = system_with("type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = 1; "
                                 "mac_energy = \"4.6pJ\"; mac_energy_int8 = \"0.23pJ\"; "
                                 "energy_source = \"a book\";");
    const th_design_type *type;
    th_design_config c;
    CU_ASSERT_EQUAL_FATAL(th_design_configure(&s->designs[0], &type, &c, NULL), 0);
    CU_ASSERT_TRUE(c.energy.is_known);
    CU_ASSERT_DOUBLE_EQUAL(c.energy.mac_j[TH_FP32], 4.6e-12, 1e-24);
    CU_ASSERT_DOUBLE_EQUAL(c.energy.mac_j[TH_INT8], 0.23e-12, 1e-24);
    CU_ASSERT_TRUE(c.energy.dram_j_per_byte == 0 && c.energy.static_w == 0);
    TAP_ASSERT_TEXT(c.energy.source, "a book");
    th_design_release(type, &c);
}

TEST(links_need_a_source_too)
{
    th_error e = {"", ""};
    CU_ASSERT_PTR_NULL(th_system_read_text(ROW("", "link_energy = \"1pJ\"; "), "test", &e));
    TAP_ASSERT_ERROR(e, "TOPO-0150",
                     "test:1: link_energy without link_energy_source: must say where the "
                     "number comes from");
    CU_ASSERT_PTR_NULL(th_system_read_text(ROW("", "link_energy = 1; "), "test", &e));
    TAP_ASSERT_TEXT(e.id, "BASE-0003");
}

TAP_MAIN("energy")
