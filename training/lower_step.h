/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_step.h - a parallel plan as the program of one step of training.
 *
 * The ranks of a stage do the same at the same time, so one of them can stand for all:
 * step_tasks.h. */
#ifndef TH_TRAINING_LOWER_STEP_H
#define TH_TRAINING_LOWER_STEP_H
#include "training/layer_work.h"
#include "training/plan_memory.h"
#include "training/step_tasks.h"

typedef struct th_training_step {
    th_transformer model; /* a copy */
    th_parallel_plan plan;
    th_training_device device;
    int32_t n_ranks;
    th_plan_memory *memory;  /* by stage */
    uint8_t *task;           /* th_step_task of each task of the program */
    th_step_work *work;      /* what computations consist of */
    int32_t *work_of;        /* index in work of each task; -1: it is no computation */
    th_step_place *place_of; /* of each task */
    bool is_merged;          /* a rank stands for others */
} th_training_step;
void th_training_step_clear(th_training_step *x);

/* Adds the tasks of a step to an empty program; fills out. merges: one rank stands for all of its
 * stage that take as many micro-batches; schedules: of each share. 0, or -1 and nothing to clear.
 */
int th_lower_step(const th_system *s, const th_work_context *c,
                  const th_pipeline_schedule *schedules, bool merges, th_program *p,
                  th_training_step *out, th_error *err);

#endif
