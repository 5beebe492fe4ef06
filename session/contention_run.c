/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contention_run.c - see contention_run.h. */
#include <config.h>
#include "session/contention_run.h"
#include "base/interrupt.h"
#include "session/property_events.h"

int th_probe_run_again(th_session *s, th_contention_probe *p, th_error *err)
{
    const th_result *x = th_simulation_result(s->simulation, err);
    th_simulation *again = x ? th_session_new_simulation(s, &s->simulation->options, err) : NULL;
    size_t next = 0;
    if (!again)
        return -1;
    th_time end = x->elapsed_ps;
    p->program = again->program;
    int failed = th_machine_observe(again->machine, &p->observer, err);
    for (int32_t i = 1; !failed && i <= p->n_windows; i++) {
        failed = th_property_events_replay(s, again, &next,
                                           i < p->n_windows ? i * p->window_ps : end, err);
        if (!failed && th_interrupt_is_pending())
            failed = th_error_interrupted(err, "links were not watched to the end");
    }
    if (!failed && th_contention_probe_finish(p, end))
        failed = th_error_no_memory(err);
    th_machine_observe(again->machine, NULL, err);
    th_simulation_free(again);
    return failed;
}
