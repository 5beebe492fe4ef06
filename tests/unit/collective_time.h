/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective_time.h - how long a collective takes that has the machine to itself. */
#ifndef TH_TESTS_UNIT_COLLECTIVE_TIME_H
#define TH_TESTS_UNIT_COLLECTIVE_TIME_H
#include "sim/collective/collective.h"
#include "sim/machine/machine.h"
#include "tests/unit/tap.h"

static th_collective chosen; /* as the last one ran; its arrays are gone */

/* In nanoseconds. */
static inline double time_of(const th_system *s, const char *network, const th_collective *c)
{
    th_error e = {"", ""};
    auto_costs *w = th_compute_cost_cache_new(s, &e);
    auto_machine *m =
        th_machine_new(s, w, &(th_machine_options){.network = th_network_find(network)}, &e);
    auto_program *p = th_program_new(&e);
    const th_task task = {.kind = TH_TASK_COLLECTIVE, .node = -1, .peer = -1, .layer = -1};
    CU_ASSERT_EQUAL(th_program_add_collective(p, c, &e), 0);
    CU_ASSERT_EQUAL(th_program_add(p, &task, &e), 0);
    CU_ASSERT_EQUAL(th_program_finish(p, &e), 0);
    CU_ASSERT_EQUAL(th_machine_load(m, p, &e), 0);
    CU_ASSERT_EQUAL(th_machine_run_until(m, TH_TIME_MAX, &e), TH_STOP_DONE);
    TAP_ASSERT_TEXT(e.text, "");
    double end = (double)th_machine_now(m) / 1000;
    chosen = *th_machine_collective(m, 0);
    return end;
}

#endif
