/* SPDX-License-Identifier: GPL-3.0-or-later */
/* accelerator_state.h - private to accelerator.c, accelerator_history.c and
 * accelerator_inspect.c. */
#ifndef TH_SIM_MACHINE_ACCELERATOR_STATE_H
#define TH_SIM_MACHINE_ACCELERATOR_STATE_H
#include "sim/machine/machine_state.h"

static inline const th_compute_cost *th_accel_cost(const th_machine *m, const th_accel_state *a)
{
    return a->scaled >= 0 ? &m->properties.scaled[a->scaled]->cost
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

/* accelerator.c. set_event: replaces its single event; 0 or -1. start_pipeline: of its task.
 * catch_up: brings p, its pipeline or a copy of that, to the present time. */
int th_accel_set_event(th_machine *m, th_accel_state *a, th_time at, uint32_t kind, th_error *err);
void th_accel_start_pipeline(const th_machine *m, const th_accel_state *a, th_pipeline *p,
                             const th_pipeline_options *o);

void th_accel_catch_up(const th_machine *m, const th_accel_state *a, th_pipeline *p);
/* accelerator_history.c. begin: an empty history. add: a change; 0 or -1. apply: the changes from
 * number `from` on to a pipeline; from 0: which it starts. */
void th_history_begin(const th_machine *m, th_accel_state *a);
int th_history_add(th_accel_state *a, th_demand_change c);
void th_history_apply(const th_machine *m, const th_accel_state *a, th_pipeline *p, size_t from);
/* expand: the collapsed task, with this demand. change: the demand of an expanded task.
 * find_completion: posts its end, if the demand does not change again. schedule_completion: posts
 * the event that calls find_completion. 0 or -1. */
int th_history_expand(th_machine *m, th_accel_state *a, double demand, th_error *err);
int th_history_change(th_machine *m, th_accel_state *a, double demand, th_error *err);
int th_history_find_completion(th_machine *m, th_accel_state *a, th_error *err);
int th_history_schedule_completion(th_machine *m, th_accel_state *a, th_error *err);

/* accelerator_inspect.c: reports the tiles of the stepped task, if it is watched, to observers. */
void th_accel_report_tiles(th_machine *m, const th_accel_state *a);

#endif
