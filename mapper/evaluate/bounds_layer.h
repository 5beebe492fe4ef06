/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_layer.h - private to the bounds: lower bounds on one layer, whatever its shards.
 *   init -> layer* -> clear
 * bounds_rate.c bounds layers whose shards may have any size. */
#ifndef TH_MAPPER_EVALUATE_BOUNDS_LAYER_H
#define TH_MAPPER_EVALUATE_BOUNDS_LAYER_H
#include <math.h>

#include "base/map.h"
#include "mapper/evaluate/bounds.h"

/* All times in ps, as doubles: they are summed and divided, and rounded down at the end. */
typedef struct th_layer_floor {
    double occupied;    /* accelerator time of all shards together, each where it is fastest */
    double computing;   /* the part of occupied, 0 .. 1, in which arrays compute; 0: unknown */
    double dram_bytes;  /* that all shards together move through DRAM */
    double shortest[2]; /* of any position that runs it; [1]: until its outputs are in the host */
    bool is_by_rate;    /* derived from peak rates: single positions have no bound */
    th_unknown_reason unknown; /* why occupied may be 0, or holds for some shards only */
    int32_t unknown_design;    /* the design that is the reason; -1: none is */
} th_layer_floor;

/* The fastest route between accelerators and hosts. */
typedef struct th_host_path {
    bool exists; /* a host */
    double latency, ps_per_byte;
} th_host_path;

struct th_task_floor {
    double occupied, dram_bytes; /* INFINITY: no accelerator can run it */
    double computing;            /* of occupied, what the array computes */
    th_unknown_reason unknown;   /* of a script that failed: then both are 0 */
    int32_t unknown_design;      /* its design */
};

typedef struct th_floors {
    const th_system *system;
    const th_workload *workload;
    th_bounds_scope scope;
    th_compute_cost_cache *costs;
    bool any_cuts;        /* sets may have shares */
    bool calls_scripts;   /* procedures of script designs can be called */
    int n_script_calls;   /* shards for which they were called */
    bool was_interrupted; /* in such a procedure */
    int32_t *class_of;    /* by accelerator: equal for equal times of all tasks */
    int32_t *first_of;    /* by class: an accelerator */
    int32_t *size_of;     /* by class: how many accelerators */
    int n_classes;
    double *speed; /* by class, 0 .. 1: how fast it can be for any shard, of the fastest */
    th_map *numbers;
    struct th_task_floor *tasks;
    /* by number and class: what the task takes there; INFINITY: it cannot run there */
    double *task_ps;
    size_t n_tasks, task_capacity, task_ps_capacity;
    th_host_path in, out;
} th_floors;

/* -1: memory is out, or a design is wrong; clear all the same. */
int th_floors_init(th_floors *f, const th_problem *p, const th_bounds_scope *scope, th_error *err);
void th_floors_clear(th_floors *f);
/* Bounds of a layer with batch images. whole: by class, the least time of the whole layer there,
 * in shards of any size, each for its part of the layer's operations; INFINITY: it cannot run
 * there. 0 or -1: memory is out, or a script's procedure was interrupted. */
int th_floors_layer(th_floors *f, int layer, int32_t batch, th_layer_floor *out, double *whole,
                    th_error *err);
/* Speeds of all accelerators together, for the layers bounded so far. */
double th_floors_speed(const th_floors *f);

/* --- bounds_shard.c --- */

/* The number of a shard's bounds, found now if it is new. -1: memory is out. */
int64_t th_floors_number(th_floors *f, const th_shard *shard);

/* --- for bounds_layer.c, bounds_shard.c and bounds_rate.c --- */

static inline const th_accel *th_floors_accel(const th_floors *f, int class)
{
    return &f->system->nodes[f->system->accel_node[f->first_of[class]]].a;
}

/* The clock of a class in the run, relative to the system's. */
static inline double th_floors_clock(const th_floors *f, int class)
{
    return f->scope.clock ? f->scope.clock[f->first_of[class]] : 1;
}

/* Raises the speeds of the classes according to their times ps for the same work; best: the least
 * of them. */
static inline void th_floors_update_speed(th_floors *f, const double *ps, double best)
{
    for (int c = 0; c < f->n_classes; c++)
        if (ps[c] < INFINITY && ps[c] > 0)
            f->speed[c] = fmax(f->speed[c], best / ps[c]);
}

bool th_bound_is_output(const th_workload *w, int layer); /* bounds_state.c */
/* bounds_rate.c: the index of a design of the class that has no peak rate, or -1. */
int th_bound_design_without_rate(const th_floors *f, int class, const th_shard *whole);
/* bounds_rate.c: sets whole of all classes, where it holds what even cuts take if are_even, and
 * the rest of out. */
void th_bound_layer_by_rate(th_floors *f, const th_shard *shard, bool are_even, th_layer_floor *out,
                            double *whole);

#endif
