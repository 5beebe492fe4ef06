/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models.h - several networks that share a system, as one workload.
 *   join (base NULL) -> join* */
#ifndef TH_WORKLOADS_MODELS_H
#define TH_WORKLOADS_MODELS_H
#include "workloads/workload.h"

typedef struct th_model_options {
    const char *name; /* in front of its layers' names; NULL: the workload's */
    th_time arrival_ps, deadline_ps;
} th_model_options;

/* A new, finished workload: the models of base (which is one model itself where it has none; NULL:
 * there are none yet), then added as one more, its layers called NAME/LAYER. Both stay the
 * caller's, and added must not have models. NULL on failure. */
th_workload *th_models_join(const th_workload *base, const th_workload *added,
                            const th_model_options *o, th_error *err);

/* A new, finished workload: model i of w alone, from time 0 on, without a deadline. NULL on
 * failure. */
th_workload *th_models_alone(const th_workload *w, int i, th_error *err);

#endif
