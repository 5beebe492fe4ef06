/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_step.h - the simulated time of a step, of which nothing else is kept. */
#ifndef TH_TRAINING_PLAN_STEP_H
#define TH_TRAINING_PLAN_STEP_H
#include "training/lower_step.h"

/* As run simulates the program of parallel_plan, one rank for all of its stage; ps. -1 on failure
 * (interrupted: BASE-0008). */
th_time th_plan_step_time(const th_system *s, const th_work_context *c,
                          const th_pipeline_schedule *schedule, th_error *err);

#endif
