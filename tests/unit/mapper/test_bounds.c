/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_bounds.c - lower bounds by hand on small systems, and no random mapping below any of them. A
 * failure prints the number of its case; THARSIS_CASE=N runs that one alone. */
#include <config.h>
#include "mapper/evaluate/bounds.h"
#include "mapper/evaluate/bounds_layer.h"
#include "mapper/evaluate/bounds_task.h"
#include "tests/unit/random_net.h"
#include "tests/unit/tap.h"

/* --- by hand ---------------------------------------------------------------------------------- */

/* 1 GHz, 2 steps of 100 cycles, each 1000 bytes of input behind a port of 10 bytes/ns, 400 bytes of
 * weights in the first alone, 300 bytes of output after the second (one tile, C loop); DRAM of 20
 * bytes/ns, 5 ns:
 *   array    max(5 + 100, 5 + 20) + 200 + (5 + 15) = 325 ns (less three roundings of 1e-3 ps)
 *   DRAM     2700 / 20 = 135 ns; input port 2000 / 10 = 200 ns
 * With a port of 2.5 bytes/ns the input alone takes 800 ns, of which 5 + 400 before the first step.
 */
TEST(a_task_by_hand)
{
    th_schedule s = {.hz = 1000000000,
                     .count = {1, 1, 1, 1, 2},
                     .output_bytes = {300, 300, 300, 300, 300, 300, 300, 300},
                     .weight_stays = 1u << TH_LOOP_C,
                     .port_bits_per_s = {80000000000, 0, 0, 0},
                     .slots_in = 2,
                     .slots_out = 2};
    const th_port port = {.bits_per_s = 160000000000, .latency_ps = 5000, .burst_bytes = 1};
    for (int mask = 0; mask < TH_N_STEP_KINDS; mask++)
        s.step[mask] = (th_step){1000, 400, 100};
    CU_ASSERT_DOUBLE_EQUAL(th_task_least_ps(&s, &port), 325000, 0.01);
    s.port_bits_per_s[TH_ENGINE_INPUT] = 20000000000;
    CU_ASSERT_DOUBLE_EQUAL(th_task_least_ps(&s, &port), 800000, 0.01);
    th_pipeline p;
    th_pipeline_start(&p, &s, &port, &(th_pipeline_options){.skip = true});
    CU_ASSERT_TRUE(th_pipeline_finish(&p, &s, &port) >= 800000);
}

/* The first row of tiles needs 400 bytes less than the others (the border of a kernel): 600 / 20 =
 * 30 ns, not 50. */
TEST(the_first_step_may_load_less)
{
    th_schedule s = {.hz = 1000000000,
                     .count = {1, 2, 1, 1, 1},
                     .first_row_extra_bytes = -400,
                     .slots_in = 2,
                     .slots_out = 2};
    const th_port port = {.bits_per_s = 160000000000, .latency_ps = 5000, .burst_bytes = 1};
    for (int mask = 0; mask < TH_N_STEP_KINDS; mask++)
        s.step[mask] = (th_step){1000, 0, 100};
    CU_ASSERT_DOUBLE_EQUAL(th_task_least_ps(&s, &port), 235000, 0.01);
    th_pipeline p;
    th_pipeline_start(&p, &s, &port, &(th_pipeline_options){.skip = true});
    CU_ASSERT_EQUAL(th_pipeline_finish(&p, &s, &port), 235000);
}

/* Accelerators of one multiply-accumulate per ns, whose DRAM takes no time. */
#define NODES(COUNT, REST)                                                                         \
    "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "            \
    "macs_per_cycle = 1; } ); accelerators = ( { count = " COUNT "; dram = { capacity = "          \
    "\"1GiB\"; bandwidth = \"unlimited\"; latency = \"0ns\"; }; vector = { clock = \"1GHz\"; "     \
    "elements_per_cycle = 1; }; "                                                                  \
    "designs = [\"d\"]; } ); " REST

#define LINK "links = ( { between = [\"0\", \"1\"]; bandwidth = \"8Gbps\"; latency = \"1us\"; } );"
#define HOST_LINKS                                                                                 \
    "hosts = ( \"h\" ); links = ( "                                                                \
    "{ between = [\"0\", \"1\"]; bandwidth = \"8Gbps\"; latency = \"1us\"; }, "                    \
    "{ between = [\"h\", \"0\"]; bandwidth = \"1Gbps\"; latency = \"1us\"; }, "                    \
    "{ between = [\"h\", \"1\"]; bandwidth = \"1Gbps\"; latency = \"1us\"; } );"

/* 8 x 4 x 4 in, 16 x 8 x 16 = 2048 and 4 x 16 x 16 = 1024 multiply-accumulates, 4 x 4 x 4 out; 2
 * bytes. */
#define CHAIN                                                                                      \
    "name = \"chain\"; batch = 1; element_bytes = 2; "                                             \
    "input = { channels = 8; height = 4; width = 4; }; layers = ( "                                \
    "{ name = \"a\"; type = \"conv\"; outputs = 16; kernel = 1; }, "                               \
    "{ name = \"b\"; type = \"conv\"; outputs = 4; kernel = 1; } );"

static th_system *sys;
static th_workload *net;

static th_problem problem_of(const char *network)
{
    return (th_problem){.system = sys,
                        .workload = net,
                        .stream = th_stream_single,
                        .network = th_network_find(network)};
}

static th_bounds bounds_of(const th_problem *p)
{
    th_bounds b;
    th_error e = {"", ""};
    if (th_bounds_find(p, &(th_bounds_scope){.cuts = TH_CUTS_EVEN}, &b, &e))
        bail_out(&e);
    return b;
}

static void set_up(const char *system, const char *workload)
{
    sys = system_of(system);
    net = workload_of(workload);
}

static void tear_down(void)
{
    th_workload_free(net);
    th_system_free(sys);
}

static void assert_bounds(const th_bounds *b, th_time compute, th_time memory, th_time cut,
                          th_time path)
{
    const th_time expected[TH_N_LIMITS] = {compute, memory, cut, path};
    for (int i = 0; i < TH_N_LIMITS; i++) {
        CU_ASSERT_EQUAL(b->makespan_ps[i], expected[i]);
        if (b->makespan_ps[i] != expected[i])
            printf("# %s: %lld, expected %lld\n", th_limit_name((th_limit)i),
                   (long long)b->makespan_ps[i], (long long)expected[i]);
    }
}

/* One accelerator, no host: 2048 + 1024 ns of work, and nothing else. */
TEST(one_accelerator_meets_its_bound)
{
    set_up(NODES("1", ""), CHAIN);
    th_problem p = problem_of("fluid");
    th_mapping *m = mapping_on("0", net);
    th_bounds b = bounds_of(&p);
    assert_bounds(&b, 3072000, 0, 0, 3072000);
    CU_ASSERT_EQUAL(makespan_of(&p, m), 3072000);
    TAP_ASSERT_TEXT(b.why[TH_LIMIT_PATH], "2 layers, a .. b");
    th_mapping_free(m);
    tear_down();
}

/* Two, without a host: half of it. The path takes half a layer at least, twice. */
TEST(two_accelerators_share_the_work)
{
    set_up(NODES("2", LINK), CHAIN);
    th_problem p = problem_of("fluid");
    th_bounds b = bounds_of(&p);
    assert_bounds(&b, 1536000, 0, 0, 1536000);
    tear_down();
}

/* With a host on links of 0.125 bytes/ns and 1 us each way. Half of the 256 bytes come to each:
 * 1000 + 1024 ns; half of a and of b: 1024 + 512; half of the 128 bytes go: 1000 + 512. All in
 * turn: 5072 ns, which two halves of rows reach. compute: a cannot begin before 2024, both need
 * 1024 for it, and b and its way to the host take 2024 after it. cut: 256 bytes over both links,
 * then half of a, and b. */
TEST(halves_of_rows_meet_the_bound)
{
    set_up(NODES("2", HOST_LINKS), CHAIN);
    th_problem p = problem_of("fluid");
    th_mapping *m = mapping_on("01", net);
    put_layer(m, 0, 0, "H2");
    put_layer(m, 1, 0, "H2");
    th_bounds b = bounds_of(&p);
    assert_bounds(&b, 5072000, 0, 5072000, 5072000);
    CU_ASSERT_EQUAL(makespan_of(&p, m), 5072000);
    TAP_ASSERT_TEXT(b.why[TH_LIMIT_CUT], "256B in over 2 links");
    CU_ASSERT_EQUAL(th_bounds_value(&b, &p), 5072000);
    th_mapping_free(m);
    tear_down();
}

/* Where nothing is shared, one of a's two transfers (two accelerators, one reading) has 128 bytes
 * at least, and the link for itself: 1000 + 1024 ns, as above. */
TEST(an_ideal_network_shares_nothing)
{
    set_up(NODES("2", HOST_LINKS), CHAIN);
    th_problem p = problem_of("ideal");
    th_bounds b = bounds_of(&p);
    assert_bounds(&b, 5072000, 0, 5072000, 5072000);
    tear_down();
}

/* Each task counts with the design that is fastest for it, whatever its set has. d does one
 * multiply-accumulate per ns: 2048 ns of a and 1024 of b. e does four, but moves 0.55 bytes/ns: the
 * 512 bytes of a's output or b's input take 931 ns. So the bound is at least 1862 ns, and less than
 * the 3072 ns of a set of one with d. */
#define TWO_DESIGNS(COUNT, REST)                                                                   \
    "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "            \
    "macs_per_cycle = 1; }, { name = \"e\"; type = \"roofline\"; clock = \"1GHz\"; "               \
    "macs_per_cycle = 4; bandwidth = \"550MB/s\"; } ); accelerators = ( { count = " COUNT          \
    "; dram = { capacity = \"1GiB\"; bandwidth = \"unlimited\"; latency = \"0ns\"; }; "            \
    "vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; designs = [\"d\", \"e\"]; } ); " REST
TEST(each_task_counts_with_its_fastest_design)
{
    set_up(TWO_DESIGNS("1", ""), CHAIN);
    th_problem p = problem_of("fluid");
    th_mapping *m = mapping_on("0", net);
    th_bounds b = bounds_of(&p);
    CU_ASSERT_TRUE(b.makespan_ps[TH_LIMIT_COMPUTE] >= 1862000);
    CU_ASSERT_TRUE(b.makespan_ps[TH_LIMIT_COMPUTE] < 3072000);
    CU_ASSERT_EQUAL(makespan_of(&p, m), 3072000);
    th_mapping_free(m);
    tear_down();
}

/* DRAMs of 1 byte/ns: a moves its 256 bytes of input, 256 of weights and 512 of output, b 512, 128,
 * 128: 1792 bytes through one, if nothing is read twice. One accelerator: 1792 ns. */
#define SLOW_DRAMS(COUNT, REST)                                                                    \
    "name = \"t\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "            \
    "macs_per_cycle = 1000; } ); accelerators = ( { count = " COUNT "; dram = { capacity = "       \
    "\"1GiB\"; bandwidth = \"1GB/s\"; latency = \"0ns\"; burst = \"1B\"; }; vector = { "           \
    "clock = \"1GHz\"; elements_per_cycle = 1; }; designs = [\"d\"]; } ); " REST
#define SLOW_DRAM SLOW_DRAMS("1", "")
TEST(memory_by_hand)
{
    set_up(SLOW_DRAM, CHAIN);
    th_problem p = problem_of("fluid");
    th_bounds b = bounds_of(&p);
    CU_ASSERT_EQUAL(b.makespan_ps[TH_LIMIT_MEMORY], 1792000);
    TAP_ASSERT_TEXT(b.why[TH_LIMIT_MEMORY], "1.75KiB through 1 DRAMs");
    tear_down();
}

/* Strides of 2 behind kernels of 1. A position gets the box of what it reads, of two rows of
 * outputs 3 x 7 pixels at least: 1000 + 336 * 8 ns, 64 for half of 128 multiply-accumulates, 1000 +
 * 128 for half of 32 bytes: 4880. All that is read are 256 bytes; by those alone it would be 3216,
 * by the whole input 6288. */
TEST(what_strides_leave_out_need_not_come)
{
    set_up(NODES("2", HOST_LINKS),
           "name = \"n\"; batch = 1; element_bytes = 2; input = { channels = 8; height = 8; width "
           "= 8; }; layers = ( { name = \"a\"; type = \"conv\"; outputs = 1; kernel = 1; stride = "
           "2; } );");
    th_problem p = problem_of("fluid");
    th_bounds b = bounds_of(&p);
    CU_ASSERT_EQUAL(b.makespan_ps[TH_LIMIT_CUT], 4880000);
    tear_down();
}

/* The kernel meets nothing but padding, so nothing has to come in, and no way in is gone. */
TEST(padding_need_not_come)
{
    set_up(NODES("2", HOST_LINKS),
           "name = \"n\"; batch = 1; element_bytes = 2; input = { channels = 1; height = 1; width "
           "= 1; }; layers = ( { name = \"a\"; type = \"conv\"; outputs = 1; kernel = 1; stride = "
           "3; padding = 1; } );");
    th_problem p = problem_of("fluid");
    th_mapping *m = mapping_on("0", net);
    th_bounds b = bounds_of(&p);
    CU_ASSERT_TRUE(makespan_of(&p, m) >= b.makespan_ps[TH_LIMIT_CUT]);
    th_mapping_free(m);
    tear_down();
}

/* --- at random -------------------------------------------------------------------------------- */

static int n_wrong, n_runs, n_met, case_number;

static void check_run(const th_problem *p, const th_bounds *b, th_evaluator *v, const th_mapping *m)
{
    th_fitness f;
    th_error e = {"", ""};
    if (th_evaluator_run(v, m, INFINITY, &f, &e)) {
        printf("# case %d %s\n", case_number, p->network->name);
        bail_out(&e);
    }
    if (f.fit != TH_FIT)
        return;
    n_runs++;
    n_met += f.metrics.latency_ps == b->makespan_ps[b->largest];
    for (int i = 0; i < TH_N_LIMITS; i++) {
        if (f.metrics.latency_ps >= b->makespan_ps[i] &&
            f.metrics.latency_ps / p->stream.n_inputs >= b->interval_ps[i])
            continue;
        if (n_wrong++ < 10)
            printf("# %s: %lld ps, but took %lld (%s)\n", th_limit_name((th_limit)i),
                   (long long)b->makespan_ps[i], (long long)f.metrics.latency_ps, b->why[i]);
    }
}

/* Or none. */
static void draw_shares(gsl_rng *r, th_mapping *m, bool any)
{
    int32_t shares[RANDOM_ACCELS_MAX];
    for (int i = 0; i < m->n_sets; i++) {
        th_set_share(&m->sets[i], NULL);
        if (!any)
            continue;
        for (int a = 0; a < m->sets[i].n_accels; a++)
            shares[a] = (int32_t)pick(r, 1, 5);
        th_set_share(&m->sets[i], shares);
    }
}

static void check_case(const th_system *s, int number)
{
    static const char *const networks[] = {"fluid", "fluid", "ideal", "packet"};
    auto_rng *r = th_random_stream(11, "bounds", (uint64_t)number);
    auto_workload *w = random_workload(r);
    th_error e = {"", ""};
    th_problem p = {.system = s,
                    .workload = w,
                    .stream = random_stream(r, w),
                    .network = th_network_find(networks[number % 4])};
    bool any_cuts = pick(r, 0, 2) == 0;
    auto_bounds b;
    auto_evaluator *v = th_evaluator_new(&p, &e);
    const th_bounds_scope scope = {.cuts = any_cuts ? TH_CUTS_ANY : TH_CUTS_EVEN,
                                   .chunks = TH_SHARD_CHUNKS_MAX};
    if (!v || th_bounds_find(&p, &scope, &b, &e))
        bail_out(&e);
    case_number = number;
    for (int i = 0; i < 12; i++) {
        auto_mapping *m = random_mapping(r, s, w, w->batch / p.stream.micro_batches);
        if (m)
            draw_shares(r, m, any_cuts);
        if (m && th_mapping_check(m, s, w, &e) == 0)
            check_run(&p, &b, v, m);
    }
}

/* Two kinds of accelerators, one with two designs; links at a switch, some half duplex. */
#define UNLIKE                                                                                     \
    "name = \"mixed\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "        \
    "macs_per_cycle = 4; bandwidth = \"3GB/s\"; }, { name = \"e\"; type = \"systolic\"; clock = "  \
    "\"700MHz\"; rows = 4; cols = 2; "                                                             \
    "dataflow = \"ws\"; } ); "                                                                     \
    "accelerators = ( { names = [\"x0\", \"x1\"]; dram = { capacity = \"1GiB\"; bandwidth = "      \
    "\"2GB/s\"; latency = \"30ns\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; "   \
    "designs = [\"d\", \"e\"]; }, { names = [\"y0\", \"y1\"]; dram = { capacity = "                \
    "\"1GiB\"; bandwidth = \"1GB/s\"; latency = \"10ns\"; channels = 2; interleave = \"32B\"; }; " \
    "vector = { clock = "                                                                          \
    "\"500MHz\"; elements_per_cycle = 2; }; designs = [\"d\"]; } ); hosts = ( \"h\" ); "           \
    "switches = ( \"s\" ); links = ( { between = [\"s\", \"h\"]; bandwidth = \"4Gbps\"; latency "  \
    "= \"20ns\"; duplex = \"half\"; }, "                                                           \
    "{ between = [\"s\", \"x0\"]; bandwidth = \"3Gbps\"; latency = \"10ns\"; }, "                  \
    "{ between = [\"s\", \"x1\"]; bandwidth = \"3Gbps\"; latency = \"10ns\"; }, "                  \
    "{ between = [\"s\", \"y0\"]; bandwidth = \"2Gbps\"; latency = \"15ns\"; }, "                  \
    "{ between = [\"s\", \"y1\"]; bandwidth = \"1Gbps\"; latency = \"25ns\"; } );"

/* Three designs that trade places, behind a narrow DRAM. */
#define ALIKE                                                                                      \
    "name = \"alike\"; designs = ( { name = \"t\"; type = \"tiled\"; clock = \"1GHz\"; "           \
    "tile_k = 4; tile_c = 2; tile_h = 2; tile_w = 3; input_port = 2; weight_port = 2; "            \
    "output_port = 2; clip = true; }, { name = \"s\"; type = \"systolic_vec\"; clock = "           \
    "\"1GHz\"; rows = 3; cols = 3; vec = 2; input_port = 2; weight_port = 2; output_port = 2; }, " \
    "{ name = \"w\"; type = \"winograd\"; clock = \"1GHz\"; m = 2; r = 3; pn = 1; pm = 1; "        \
    "weight_buffer = \"256B\"; input_port = 2; weight_port = 2; output_port = 2; } ); "            \
    "accelerators = ( { count = 4; dram = { capacity = \"1GiB\"; bandwidth = \"3GB/s\"; latency "  \
    "= \"20ns\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = 2; }; designs = [\"t\", "    \
    "\"s\", \"w\"]; } ); topology = { type = \"ring\"; dims = [4]; bandwidth = \"8Gbps\"; "        \
    "latency = \"100ns\"; };"

TEST(no_mapping_is_below_any_bound)
{
    enum { CASES = TAP_REPEATS(600) };
    th_system *systems[] = {
        system_of(RANDOM_TOPOLOGY("type = \"ring\"; dims = [4];")),
        system_of(
            RANDOM_TOPOLOGY("type = \"ring\"; dims = [3]; host = { bandwidth = \"2Gbps\"; };")),
        system_of(
            RANDOM_TOPOLOGY("type = \"mesh\"; dims = [2, 2]; host = { bandwidth = \"2Gbps\"; };")),
        system_of(UNLIKE),
        system_of(SLOW_DRAM),
        system_of(ALIKE),
        shipped_system("f1_16xlarge"),
    };
    enum { N = sizeof systems / sizeof *systems };
    const char *only = getenv("THARSIS_CASE");
    for (int i = only ? atoi(only) : 0; i < CASES && n_wrong == 0; i++) {
        check_case(systems[i % 50 == 0 ? N - 1 : i % (N - 1)], i);
        if (n_wrong > 0)
            printf("# case %d\n", i);
        if (only)
            break;
    }
    printf("# %d runs, %d as long as their bound\n", n_runs, n_met);
    CU_ASSERT_EQUAL(n_wrong, 0);
    CU_ASSERT_TRUE(only || n_runs > TAP_REPEATS(4000));
    for (int i = 0; i < N; i++)
        th_system_free(systems[i]);
}

TAP_MAIN("bounds")
