/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload_help.h - what tests ask of workloads and of boxes. */
#ifndef TH_TESTS_UNIT_WORKLOAD_HELP_H
#define TH_TESTS_UNIT_WORKLOAD_HELP_H
#include "workloads/workload.h"

static inline int64_t parameters_of(const th_workload *w)
{
    int64_t sum = 0;
    for (int l = 0; l < w->n_layers; l++)
        sum += th_layer_parameters(&w->layers[l]);
    return sum;
}

static inline bool contains(const th_box *outer, const th_box *inner)
{
    const th_box common = th_box_intersect(outer, inner);
    return th_box_is_empty(inner) || th_box_equal(&common, inner);
}

#endif
