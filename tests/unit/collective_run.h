/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective_run.h - collectives among the first accelerators of a generated system, run in the
 * machine. */
#ifndef TH_TESTS_UNIT_COLLECTIVE_RUN_H
#define TH_TESTS_UNIT_COLLECTIVE_RUN_H
#include "sim/collective/collective.h"
#include "sim/machine/machine.h"
#include "tests/unit/generated.h"

enum { MANY = 17 };

static int32_t identity[64];

/* All accelerators from 0 on, in order. */
static inline th_collective collective(int kind, const char *algorithm, int n, int64_t bytes)
{
    for (int i = 0; i < 64; i++)
        identity[i] = i;
    return (th_collective){.kind = kind,
                           .algorithm = th_algorithm_find(algorithm),
                           .rank_node = identity,
                           .n_ranks = n,
                           .bytes = bytes,
                           .chunks = 1};
}

/* Runs tasks that are all ready at 0; their ends in end[]. */
static inline th_result run_program(th_system *s, const char *network, th_program *p)
{
    th_error e = {"", ""};
    th_result r = {0};
    auto_costs *w = th_compute_cost_cache_new(s, &e);
    auto_machine *m =
        th_machine_new(s, w, &(th_machine_options){.network = th_network_find(network)}, &e);
    CU_ASSERT_EQUAL(th_program_finish(p, &e), 0);
    CU_ASSERT_EQUAL(th_machine_load(m, p, &e), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_DONE);
    TAP_ASSERT_TEXT(e.text, "");
    CU_ASSERT_EQUAL_FATAL(th_machine_result(m, &r, &e), 0);
    return r;
}

static inline int32_t add_collective(th_program *p, const th_collective *c)
{
    int32_t number = th_program_add_collective(p, c, NULL);
    return th_program_add(
        p,
        &(th_task){
            .kind = TH_TASK_COLLECTIVE, .node = -1, .peer = -1, .collective = number, .layer = -1},
        NULL);
}

static inline th_time time_of(th_system *s, const char *network, const th_collective *c)
{
    auto_program *p = th_program_new(NULL);
    add_collective(p, c);
    auto_result r = run_program(s, network, p);
    return r.elapsed_ps;
}

#endif
