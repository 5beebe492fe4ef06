/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_bounds_heterogeneous.c - lower bounds on systems of heterogeneous accelerators and of script
 * designs, by hand. */
#include <config.h>
#include "tests/unit/mapper/bounds_help.h"
#include "tests/unit/random_net.h"
#include "tests/unit/tap.h"

#define ACCEL(NAME, DESIGN)                                                                        \
    "{ name = \"" NAME "\"; dram = { capacity = \"1GiB\"; bandwidth = \"unlimited\"; latency = "   \
    "\"0ns\"; }; vector = { clock = \"1GHz\"; elements_per_cycle = 1; }; designs = [\"" DESIGN     \
    "\"]; }"
#define RATE(NAME, MACS)                                                                           \
    "{ name = \"" NAME "\"; type = \"roofline\"; clock = \"1GHz\"; macs_per_cycle = " MACS "; }"
#define PAIR                                                                                       \
    "links = ( { between = [\"x\", \"y\"]; bandwidth = \"1000Gbps\"; latency = \"0ns\"; } );"

/* 4 x 4 pixels, 8 -> 16 channels: 2048 multiply-accumulates. */
#define ONE_LAYER                                                                                  \
    "name = \"n\"; batch = 1; element_bytes = 2; input = { channels = 8; height = 4; width = 4; "  \
    "}; layers = ( { name = \"a\"; type = \"conv\"; outputs = 16; kernel = 1; } );"

/* 1 and 3 multiply-accumulates per ns: 2048 / 4 = 512 ns, which rows in the proportion 1 : 3
 * reach. */
TEST(a_layer_takes_its_operations_over_the_sum_of_rates)
{
    auto_system *s = system_of("name = \"t\"; designs = ( " RATE("d", "1") ", " RATE(
        "e", "3") " ); "
                  "accelerators = ( " ACCEL("x", "d") ", " ACCEL("y", "e") " ); " PAIR);
    auto_workload *w = workload_of(ONE_LAYER);
    th_problem p = problem_on(s, w, "fluid");
    auto_mapping *m = mapping_on("01", w);
    m->sets[0].design = TH_DESIGN_OWN;
    put_layer(m, 0, 0, "H2");
    th_set_share(&m->sets[0], (const int32_t[]){1, 3});
    auto_bounds b = find(&p, &(th_bounds_scope){.cuts = TH_CUTS_ANY});
    CU_ASSERT_EQUAL(b.makespan_ps[TH_LIMIT_COMPUTE], 512000);
    CU_ASSERT_EQUAL(makespan_of(&p, m), 512000);
    CU_ASSERT_EQUAL(b.n_unknown, 1);
    CU_ASSERT_EQUAL(b.unknown[0].limit, TH_LIMIT_PATH);
    CU_ASSERT_EQUAL(b.unknown[0].why, TH_UNKNOWN_SHARD_SIZE);
}

/* A relu of 64 elements, as fast on both, and 2048 multiply-accumulates that y does at a tenth
 * of x's rate of 10 per ns. Priced at 10 : 1 a nanosecond, 64 / 11 + 2048 / 11 = 192 ns: x does
 * convolutions alone. Equal prices would say (64 + 204.8) / 2 = 134.4 ns. */
TEST(prices_tell_who_is_to_do_what)
{
    auto_system *s = system_of("name = \"t\"; designs = ( " RATE("d", "10") ", " RATE(
        "e", "1") " ); "
                  "accelerators = ( " ACCEL("x", "d") ", " ACCEL("y", "e") " ); " PAIR);
    auto_workload *w =
        workload_of("name = \"n\"; batch = 1; element_bytes = 2; input = { channels = "
                    "4; height = 4; width = 4; }; "
                    "layers = ( { name = \"r\"; type = \"relu\"; }, { name = \"a\"; "
                    "type = \"conv\"; outputs = 32; "
                    "kernel = 1; } );");
    th_problem p = problem_on(s, w, "fluid");
    auto_bounds b = find(&p, &(th_bounds_scope){.cuts = TH_CUTS_ANY});
    CU_ASSERT_TRUE(b.makespan_ps[TH_LIMIT_COMPUTE] <= 192000);
    CU_ASSERT_TRUE(b.makespan_ps[TH_LIMIT_COMPUTE] > 191000);
}

/* A run that doubles the clock of x and halves that of y: 2 + 1.5 multiply-accumulates per ns. */
TEST(clocks_are_those_of_the_run)
{
    auto_system *s = system_of("name = \"t\"; designs = ( " RATE("d", "1") ", " RATE(
        "e", "3") " ); "
                  "accelerators = ( " ACCEL("x", "d") ", " ACCEL("y", "e") " ); " PAIR);
    auto_workload *w = workload_of(ONE_LAYER);
    th_problem p = problem_on(s, w, "fluid");
    const double clock[] = {2, 0.5};
    auto_bounds b = find(&p, &(th_bounds_scope){.cuts = TH_CUTS_ANY, .clock = clock});
    CU_ASSERT_EQUAL(b.makespan_ps[TH_LIMIT_COMPUTE], 585143); /* 2048 / 3.5, rounded up */
    th_bounds_clear(&b);
    const double dead[] = {0, 1};
    b = find(&p, &(th_bounds_scope){.cuts = TH_CUTS_ANY, .clock = dead});
    CU_ASSERT_EQUAL(b.makespan_ps[TH_LIMIT_COMPUTE], 682667); /* 2048 / 3 */
}

#define SCRIPTED "{ name = \"q\"; type = \"script\"; procedure = \"p\"; clock = \"1GHz\"; }"

static th_bounds scripted(fake *f, const th_bounds_scope *scope)
{
    const th_script_provider provider = {.context = f, .check = any_procedure, .answer = answer};
    auto_script_memo *memo = th_script_memo_new(&provider, NULL);
    auto_system *s = system_of("name = \"t\"; designs = ( " SCRIPTED ", " RATE(
        "e", "3") " ); "
                  "accelerators = ( " ACCEL("x", "q") ", " ACCEL("y", "e") " ); " PAIR);
    auto_workload *w = workload_of(ONE_LAYER);
    th_problem p = problem_on(s, w, "fluid");
    p.scripts = memo;
    return find(&p, scope);
}

/* Of even cuts a procedure is asked. Of any cuts nothing is known, unless a mapping tells which
 * there are. */
TEST(scripts_are_asked_about_even_cuts)
{
    fake f = {0};
    auto_bounds b = scripted(&f, &(th_bounds_scope){.cuts = TH_CUTS_EVEN});
    CU_ASSERT_TRUE(f.calls > 0);
    CU_ASSERT_EQUAL(b.n_unknown, 0);
    CU_ASSERT_TRUE(b.makespan_ps[TH_LIMIT_COMPUTE] >
                   200000); /* 2048 / (3 + at most 8 less 20 cycles) */
    th_bounds_clear(&b);
    f = (fake){0};
    b = scripted(&f, &(th_bounds_scope){.cuts = TH_CUTS_ANY});
    CU_ASSERT_EQUAL(f.calls, 0);
    CU_ASSERT_EQUAL(b.makespan_ps[TH_LIMIT_COMPUTE], 0);
    CU_ASSERT_EQUAL(b.unknown[0].why, TH_UNKNOWN_NO_PEAK_RATE);
    CU_ASSERT_EQUAL(b.unknown[0].layer, 0);
    CU_ASSERT_EQUAL(b.unknown[0].design, 0);
    th_bounds_clear(&b);
    f = (fake){.fails = true};
    b = scripted(&f, &(th_bounds_scope){.cuts = TH_CUTS_EVEN});
    CU_ASSERT_EQUAL(b.makespan_ps[TH_LIMIT_COMPUTE], 0);
    CU_ASSERT_EQUAL(b.unknown[0].why, TH_UNKNOWN_SCRIPT_FAILED);
}

TAP_MAIN("bounds_heterogeneous")
