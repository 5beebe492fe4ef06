/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_bound.h - lower bounds of the simulated step of a plan, for searches: quick ones, of plans
 * that are not chosen to the end, and one that follows the schedule, which is the step itself where
 * nothing overlaps. docs/models/plan_search.md has them. */
#ifndef TH_TRAINING_SEARCH_PLAN_BOUND_H
#define TH_TRAINING_SEARCH_PLAN_BOUND_H
#include "training/layer_work.h"

/* Layers that do the same work, and how fast anything comes into an accelerator. */
typedef struct th_plan_units {
    int32_t *class_of;       /* of each layer */
    int32_t *first;          /* layer of each class */
    int32_t *count;          /* layers of each class */
    int32_t n;               /* classes */
    double bytes_per_s_into; /* over all its links at once; the fastest one */
    const th_system *system;
} th_plan_units;

/* c: of any plan of the model; the system must outlive u. 0, or -1 and nothing to clear. */
int th_plan_units_init(th_plan_units *u, const th_system *s, const th_work_context *c,
                       th_error *err);
void th_plan_units_clear(th_plan_units *u);

/* plan_quick.c: the mean stage computes for every micro-batch and receives what it waits for as
 * fast as its links are; the last one waits for a chunk of each other stage. n.chunks 0: whatever
 * chunks and schedule are. Seconds. */
double th_plan_bound_quick(const th_plan_units *u, const th_work_context *c);
/* Bytes that some accelerator holds at least, whatever the schedule is. */
double th_plan_bytes_quick(const th_plan_units *u, const th_work_context *c);

/* Operation after operation, each when it can, in the order of the schedule; schedules: of each
 * share; ps, -1 on failure. */
th_time th_plan_bound_schedule(const th_plan_units *u, const th_work_context *c,
                               const th_pipeline_schedule *schedules, th_error *err);

#endif
