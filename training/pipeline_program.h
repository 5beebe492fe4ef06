/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_program.h - a pipeline schedule as tasks of a program: the operations of a stage run on
 * its accelerator, in the order of the schedule, and what a stage hands to the next one delays it,
 * but occupies no stage. */
#ifndef TH_TRAINING_PIPELINE_PROGRAM_H
#define TH_TRAINING_PIPELINE_PROGRAM_H
#include "training/pipeline_schedule.h"
#include "sim/program/program.h"

typedef struct th_pipeline_work {
    const int32_t *node; /* of each stage: its accelerator */
    /* Of an operation on one chunk, by kind * steps + step of the model; > 0. B is the whole
     * backward operation unless the schedule splits it. */
    const th_time *duration_ps;
    int64_t bytes;       /* of a message between stages, over the network; -1: transfer_ps counts */
    th_time transfer_ps; /* of a message between stages */
} th_pipeline_work;

/* Adds the tasks; task[i], where task is not NULL, becomes that of s->ops[i]. The first operation
 * of a stage waits for after[stage], where after is not NULL. 0 or -1. */
int th_pipeline_lower(const th_pipeline_schedule *s, const th_pipeline_work *w,
                      const int32_t *after, th_program *p, int32_t *task, th_error *err);

#endif
