/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload_help.h - what tests ask of workloads and of boxes. */
#ifndef TH_TESTS_UNIT_WORKLOAD_HELP_H
#define TH_TESTS_UNIT_WORKLOAD_HELP_H
#include "workloads/transformer/transformer.h"
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

static inline int64_t transformer_parameters(const th_transformer *t)
{
    int64_t n = th_transformer_embedding_parameters(t) + th_transformer_head_parameters(t);
    for (int32_t i = 0; i < t->layers; i++)
        n += th_transformer_layer_parameters(t, i);
    return n;
}

static inline int64_t first_input_elements(const th_layer *l)
{
    const th_box box = th_layer_input_box(l, 0);
    return th_box_elements(&box);
}

#endif
