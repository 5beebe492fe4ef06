/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_stages.h - stages of their own layers, accelerators and recomputation, and what the
 * accelerators of a stage are where a system has unlike ones: the slowest of a stage sets its pace.
 */
#ifndef TH_TRAINING_PLAN_STAGES_H
#define TH_TRAINING_PLAN_STAGES_H
#include "base/strbuf.h"
#include "training/layer_work.h"

/* Stages as words, LAYERS, LAYERS@BLOCK or LAYERS@BLOCK+AGAIN: the stage has so many layers, the
 * accelerators that stage BLOCK of equal stages would have, and computes its first AGAIN layers
 * again as with full recomputation. 0, or -1: no such words. */
int th_plan_set_stages(th_parallel_plan *p, const char *const *words, int n, th_error *err);
/* The i-th word. */
void th_plan_stage_word(const th_parallel_plan *p, int32_t i, char *out, size_t size);

/* The kinds of accelerators of a system, each as its first one is. 0, or -1: a design has no peak,
 * or there are more than TH_DEVICE_KINDS_MAX. */
int th_training_devices_of(const th_system *s, th_training_devices *out, th_error *err);
/* The fastest for each computation, and the most of all memories: for bounds. */
th_training_device th_training_fastest(const th_work_context *c);
/* The slowest of a stage, or of those of its ranks that take that share of the micro-batches; share
 * -1: of all. */
th_training_device th_stage_device(const th_work_context *c, int32_t stage, int32_t share);
/* Of unlike accelerators the first that no step was measured on, else the first. */
const th_training_device *th_plan_unmeasured_device(const th_work_context *c);
/* Of a rank, on average. */
double th_plan_operations_per_s(const th_work_context *c);

/* Is a layer of the stage computed again, though others of the plan are not? */
bool th_plan_recomputes(const th_parallel_plan *p, const th_transformer *t, int32_t stage,
                        int32_t layer);
/* The plan with that stage's accelerators in the place of the first, and so on. */
th_parallel_plan th_plan_seen_from(const th_parallel_plan *p, int32_t stage);
/* Do stages differ in what messages between their ranks take? */
bool th_plan_has_views(const th_parallel_plan *p, const th_system *s);

#endif
