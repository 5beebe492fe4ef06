/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>
#include "sim/pipeline/pipeline.h"
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"

#define SYSTEM(dram)                                                                               \
    "name = \"one\"; designs = ( { name = \"d\"; type = \"roofline\"; clock = \"1GHz\"; "          \
    "macs_per_cycle = 10; } );\n"                                                                  \
    "accelerators = ( { names = [\"0\"];\n dram = { " dram " };\n"                                 \
    "vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; designs = [\"d\"]; } );\n"

static th_port port_of(const char *text)
{
    auto_system *s = system_of(text);
    return th_port_of(&s->nodes[s->accel_node[0]].a);
}

/* Points (100 bytes, 0.2) and (1600 bytes, 0.8): 400 bytes lie halfway in the logarithm, 0.5; 200
 * bytes a quarter of the way, 0.35. */
TEST(efficiency_follows_the_curve)
{
    th_port p = port_of(SYSTEM("capacity = \"1GiB\"; bandwidth = \"8GB/s\"; "
                               "efficiency = ( (\"100B\", 0.2), (\"1600B\", 0.8) );"));
    CU_ASSERT_DOUBLE_EQUAL(th_port_efficiency(&p, 400), 0.5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(th_port_efficiency(&p, 200), 0.35, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(th_port_efficiency(&p, 7), 0.2, 0);
    CU_ASSERT_DOUBLE_EQUAL(th_port_efficiency(&p, 100), 0.2, 0);
    CU_ASSERT_DOUBLE_EQUAL(th_port_efficiency(&p, 1600), 0.8, 0);
    CU_ASSERT_DOUBLE_EQUAL(th_port_efficiency(&p, 1000000), 0.8, 0);
    p.efficiency.n = 0;
    CU_ASSERT_DOUBLE_EQUAL(th_port_efficiency(&p, 7), 1, 0);
}

/* 8 GB/s over four channels, 512 bytes apiece: 600 bytes lie on two of them. */
TEST(small_requests_reach_some_channels)
{
    th_port p = port_of(SYSTEM("capacity = \"1GiB\"; bandwidth = \"8GB/s\"; channels = 4; "
                               "interleave = \"512B\";"));
    CU_ASSERT_DOUBLE_EQUAL(th_port_channel_rate(&p, 512), 2e9, 0);
    CU_ASSERT_DOUBLE_EQUAL(th_port_channel_rate(&p, 600), 4e9, 0);
    CU_ASSERT_DOUBLE_EQUAL(th_port_channel_rate(&p, 2048), 8e9, 0);
    CU_ASSERT_DOUBLE_EQUAL(th_port_channel_rate(&p, 1 << 20), 8e9, 0);
    p.bits_per_s = TH_UNLIMITED;
    CU_ASSERT_TRUE(isinf(th_port_channel_rate(&p, 1)));
}

/* One step of 3000 bytes of input in runs of 300, bursts of 64: a run is 320 bytes, 3200 in all, at
 * half the bandwidth of 8 GB/s (the curve is flat): 3200 / 4 = 800 ns. Computes 10 ns. Stores 600
 * bytes in one run, 640 with bursts, on two of four channels of 512 bytes. In DRAM time it is 1280
 * bytes, at 4 GB/s: 320 ns. */
TEST(a_request_by_hand)
{
    th_port p =
        port_of(SYSTEM("capacity = \"1GiB\"; bandwidth = \"8GB/s\"; burst = \"64B\"; channels = 4; "
                       "interleave = \"512B\"; efficiency = ( (\"64B\", 0.5) );"));
    th_schedule s = {.hz = 1000000000, .count = {1, 1, 1, 1, 1}, .slots_in = 1, .slots_out = 1};
    s.run_bytes[TH_ENGINE_INPUT] = 300;
    for (int m = 0; m < TH_N_STEP_KINDS; m++)
        s.step[m] = (th_step){3000, 0, 10};
    for (int m = 0; m < TH_N_STORE_KINDS; m++)
        s.output_bytes[m] = 600;
    th_pipeline q;
    th_pipeline_start(&q, &s, &p, &(th_pipeline_options){.skip = true});
    CU_ASSERT_EQUAL(th_pipeline_finish(&q, &s, &p), 800000 + 10000 + 320000);
    CU_ASSERT_EQUAL(q.stats.moved_bytes[TH_ENGINE_INPUT], 3200);
    CU_ASSERT_EQUAL(q.stats.moved_bytes[TH_ENGINE_OUTPUT], 640);
}

/* Nothing but the latency and the array is left: 5 ns before the load, 3 steps of 10 ns, 5 ns
 * before the store. */
TEST(an_unlimited_memory_takes_no_time)
{
    th_port p =
        port_of(SYSTEM("capacity = \"1GiB\"; bandwidth = \"unlimited\"; latency = \"5ns\";"));
    th_schedule s = {.hz = 1000000000, .count = {1, 1, 1, 1, 3}, .slots_in = 2, .slots_out = 2};
    for (int m = 0; m < TH_N_STEP_KINDS; m++)
        s.step[m] = (th_step){3000, 500, 10};
    for (int m = 0; m < TH_N_STORE_KINDS; m++)
        s.output_bytes[m] = 600;
    th_pipeline q;
    CU_ASSERT_EQUAL(p.bits_per_s, TH_UNLIMITED);
    th_pipeline_start(&q, &s, &p, &(th_pipeline_options){.skip = true});
    CU_ASSERT_EQUAL(th_pipeline_finish(&q, &s, &p), 5000 + 30000 + 5000);
    CU_ASSERT_EQUAL(th_stats_read(&q.stats), 3 * 3500);
}

TEST(refuses_what_is_no_curve)
{
    static const struct {
        const char *dram, *id, *text;
    } cases[] = {
        {"efficiency = ( (\"64B\", 0.5), (\"64B\", 0.6) );", "TOPO-0161",
         "run 64 of point 2 must be more than 64 bytes: runs ascend"},
        {"efficiency = ( (\"4KiB\", 0.9), (\"64B\", 0.4) );", "TOPO-0161",
         "run 64 of point 2 must be more than 4096 bytes: runs ascend"},
        {"efficiency = ( (\"0B\", 0.9) );", "TOPO-0161",
         "run 0 of point 1 must be more than 0 bytes: runs ascend"},
        {"efficiency = ( (\"64B\", 0.0) );", "TOPO-0162",
         "share 0 of point 1 must be above 0 and at most 1"},
        {"efficiency = ( (\"1B\", 1), (\"64B\", 1.5) );", "TOPO-0162",
         "share 1.5 of point 2 must be above 0 and at most 1"},
        {"efficiency = ( (\"64B\") );", "TOPO-0160",
         "point 1 must be (\"RUN\", SHARE), such as (\"64B\", 0.4)"},
        {"efficiency = ( 7 );", "TOPO-0160",
         "point 1 must be (\"RUN\", SHARE), such as (\"64B\", 0.4)"},
        {"efficiency = ( );", "TOPO-0163", "must have 1 to 8 points, not 0"},
        {"efficiency = ( (\"1B\", 1), (\"2B\", 1), (\"3B\", 1), (\"4B\", 1), (\"5B\", 1), (\"6B\", "
         "1), "
         "(\"7B\", 1), (\"8B\", 1), (\"9B\", 1) );",
         "TOPO-0163", "must have 1 to 8 points, not 9"},
        {"interleave = \"0B\";", "BASE-0461", "must be above 0, not 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2000];
        th_error e = {"", ""};
        snprintf(text, sizeof text, SYSTEM("capacity = \"1GiB\"; bandwidth = \"8GB/s\"; %s"),
                 cases[i].dram);
        CU_ASSERT_PTR_NULL(th_system_read_text(text, "test", &e));
        TAP_ASSERT_TEXT(e.id, cases[i].id);
        CU_ASSERT_EQUAL(strncmp(e.text, "test:3: key ", 12), 0);
        const char *tail = e.text + strlen(e.text) - strlen(cases[i].text);
        CU_ASSERT_FATAL(tail >= e.text);
        TAP_ASSERT_TEXT(tail, cases[i].text);
    }
}

TAP_MAIN("port")
