/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_memory.h - the memory that a step needs on the accelerators of each stage, by term. */
#ifndef TH_TRAINING_PLAN_MEMORY_H
#define TH_TRAINING_PLAN_MEMORY_H
#include "training/layer_work.h"

typedef enum {
    TH_MEMORY_WEIGHTS,
    TH_MEMORY_GRADIENTS,
    TH_MEMORY_STATES,
    TH_MEMORY_ACTIVATIONS,
    TH_MEMORY_BUFFERS, /* gathered weights, logits, a layer that is computed again */
    TH_N_MEMORY_TERMS
} th_memory_term;
extern const char *const th_memory_term_names[TH_N_MEMORY_TERMS + 1];

typedef struct th_plan_memory {
    int64_t of[TH_N_MEMORY_TERMS]; /* bytes */
} th_plan_memory;

/* Of an accelerator of a stage, at the most that its order of operations keeps. */
th_plan_memory th_plan_memory_of(const th_work_context *c, const th_pipeline_schedule *s,
                                 int32_t stage);
int64_t th_plan_memory_sum(const th_plan_memory *m);
/* On a rank of a stage, before ZeRO. */
int64_t th_stage_parameters(const th_work_context *c, const th_pipeline_schedule *s, int32_t stage);
/* Of the stage with the most; stage, fill: NULL, or the fullest (share of the micro-batches x
 * stages + its number), and how much of its accelerators' memory. s: of each share. */
int64_t th_plan_memory_most(const th_work_context *c, const th_pipeline_schedule *s, int32_t *stage,
                            double *fill);
/* Of an accelerator's memory, what a plan may take: within the error of these estimates. */
#define TH_PLAN_FILL_MAX 1.09
/* Does every stage fit? 0; 1: the fullest does within the error of these estimates, which are 9 %
 * off the memory that runs print in the median (docs/models/training.md); -1. Unless 0, err has the
 * figure, the largest term and what makes it smaller. */
int th_plan_memory_check(const th_work_context *c, const th_pipeline_schedule *s, th_error *err);

#endif
