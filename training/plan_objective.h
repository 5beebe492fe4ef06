/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_objective.h - what a search of plans makes least, of a step of so many seconds. */
#ifndef TH_TRAINING_PLAN_OBJECTIVE_H
#define TH_TRAINING_PLAN_OBJECTIVE_H
#include "training/layer_work.h"

typedef enum { TH_PLAN_STEP, TH_PLAN_ENERGY, TH_PLAN_COST } th_plan_objective;
extern const char *const th_plan_objective_names[]; /* step, tokens_per_joule, tokens_per_cost */

typedef struct th_plan_weights {
    double *per_second; /* of so many ranks */
    double per_plan[2]; /* of its operations, without and with recomputation */
} th_plan_weights;

/* base: batch and precision of the plans. 0; -1: memory is out, or the system lacks figures. Either
 * way th_plan_weights_clear frees it. */
int th_plan_weights_init(th_plan_weights *w, th_plan_objective objective, const th_work_context *c,
                         const th_parallel_plan *base, const th_system *s, th_error *err);
void th_plan_weights_clear(th_plan_weights *w);
/* Seconds, joules, cost x seconds. */
double th_plan_value(const th_plan_weights *w, const th_parallel_plan *p, double s);

#endif
