/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prefix_path.h - private to exhaustive: lower bounds on the ends of the positions of a layer.
 *   init -> (travel | run | departure)* -> clear */
#ifndef TH_MAPPER_SEARCH_ALGORITHMS_PREFIX_PATH_H
#define TH_MAPPER_SEARCH_ALGORITHMS_PREFIX_PATH_H
#include "mapper/evaluate/evaluate.h"

typedef struct th_path {
    const th_problem *problem;
    th_plans *plans;
    int32_t batch;       /* of the first pass */
    double *begin;       /* by position: when it has its inputs; -INFINITY: ignored */
    double *end, *piece; /* scratch: by position; by position and phase */
    size_t piece_capacity;
    double *task; /* by compute cost; negative: not computed yet */
    size_t n_tasks, task_capacity;
    bool has_links; /* transfers take their links' time */
} th_path;

/* The problem must outlive it. 0 or -1 (clear all the same). */
int th_path_init(th_path *p, const th_problem *problem, th_error *err);
void th_path_clear(th_path *p);

/* All of these: 0, or -1: out of memory. */

/* Of bytes from node to node. */
int th_path_travel(const th_path *p, int from, int to, int64_t bytes, double *ps);
/* When each position holds its part of the layer's output, given begin[]. */
int th_path_run(th_path *p, const th_placed *at, const th_layer_plan *plan, double *final);
/* The transfer time of position r's part to the host, where the layer is an output of the
 * workload. */
int th_path_departure(const th_path *p, const th_placed *at, const th_layer_plan *plan, int r,
                      double *ps);

#endif
