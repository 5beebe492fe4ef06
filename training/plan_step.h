/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_step.h - the simulated time of a step, of which nothing else is kept, and its energy. */
#ifndef TH_TRAINING_PLAN_STEP_H
#define TH_TRAINING_PLAN_STEP_H
#include "sim/design/design.h"
#include "training/lower_step.h"

/* As run simulates the program of parallel_plan, one rank for all of its stage; ps. -1 on failure
 * (interrupted: BASE-0008). */
th_time th_plan_step_time(const th_system *s, const th_work_context *c,
                          const th_pipeline_schedule *schedule, th_error *err);
/* J of a step that takes s seconds: static power of the plan's ranks, multiply-accumulates of the
 * model, those of the forward pass once more where it is computed again. */
double th_step_joules(const th_design_energy *e, const th_transformer *t, const th_parallel_plan *p,
                      double s);

#endif
