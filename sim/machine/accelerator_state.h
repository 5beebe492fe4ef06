/* SPDX-License-Identifier: GPL-3.0-or-later */
/* accelerator_state.h - private to the accelerators of a machine: what accelerator.c,
 * accelerator_history.c and accelerator_inspect.c share. */
#ifndef TH_SIM_MACHINE_ACCELERATOR_STATE_H
#define TH_SIM_MACHINE_ACCELERATOR_STATE_H
#include "sim/machine/machine_state.h"

static inline const th_compute_cost *th_accel_cost(const th_machine *m, const th_accel_state *a)
{
    return a->scaled >= 0 ? m->properties.scaled[a->scaled]
                          : th_compute_cost_get(m->costs, m->program->tasks[a->task].compute_cost);
}

static inline int32_t th_accel_number(const th_machine *m, const th_accel_state *a)
{
    return (int32_t)(a - m->accels);
}

static inline bool th_accel_is_contended(const th_machine *m, const th_accel_state *a)
{
    return m->network->is_contended[th_accel_number(m, a)];
}

static inline bool th_accel_is_shown(const th_accel_state *a)
{
    return a->is_watched || a->is_traced;
}

/* accelerator.c. set_event: its one event, of this kind, in the place of the one before; 0 or -1.
 * start_pipeline: the pipeline of its task, at the clock of the task, from the task's start on;
 * without a task, of the weights that it loads ahead. b says how, but for what prefetch.c fills in.
 */
int th_accel_set_event(th_machine *m, th_accel_state *a, th_time at, uint32_t kind, th_error *err);
void th_accel_start_pipeline(const th_machine *m, const th_accel_state *a, th_pipeline *p,
                             th_pipeline_options *b);

/* accelerator_history.c. begin: of a task that flows have not drawn on; add: a change; apply: those
 * from number `from` on, to the pipeline, which starts with the first. add: 0 or -1. */
void th_history_begin(const th_machine *m, th_accel_state *a);
int th_history_add(th_accel_state *a, th_demand_change c);
void th_history_apply(const th_machine *m, const th_accel_state *a, th_pipeline *p, size_t from,
                      bool skip);
/* The collapsed task expands; the demand of flows changes; its end could be now; an event for when
 * it could be. 0 or -1. */
int th_history_expand(th_machine *m, th_accel_state *a, double demand, th_error *err);
int th_history_change(th_machine *m, th_accel_state *a, double demand, th_error *err);
int th_history_find_completion(th_machine *m, th_accel_state *a, th_error *err);
int th_history_schedule_completion(th_machine *m, th_accel_state *a, th_error *err);

/* accelerator_inspect.c: its tiles now, to who looks on; a trace follows the task, which is not
 * stepped, from *p on, where it stands now; or from its start. */
void th_accel_report_tiles(th_machine *m, const th_accel_state *a);
void th_accel_report_from(const th_machine *m, const th_accel_state *a, const th_pipeline *p);
void th_accel_report_from_start(const th_machine *m, th_accel_state *a);

#endif
