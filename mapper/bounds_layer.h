/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_layer.h - private to the bounds: what one layer takes at least, whatever its shards.
 *   init -> layer* -> clear */
#ifndef TH_MAPPER_BOUNDS_LAYER_H
#define TH_MAPPER_BOUNDS_LAYER_H
#include "base/map.h"
#include "mapper/evaluate.h"

/* All times in ps, as doubles: they are summed and divided, and rounded down at the end. */
typedef struct th_layer_floor {
    double occupied;       /* accelerator time of all shards together, each where it is quickest */
    double dram_bytes;     /* that all shards together move through DRAM */
    double shortest[2][2]; /* of any position that runs it; [1][]: from the pass's release on, the
                            * external input included; [][1]: until its outputs are in the host */
    double arrival;        /* of the external input at any position; 0: it may need nothing */
    bool reads_always;     /* every position reads something of each input */
    bool reads_any;        /* ... of some input */
    bool is_known;         /* all ways to split it were looked at */
} th_layer_floor;

/* How the accelerators and hosts exchange bytes at best. */
typedef struct th_way {
    bool exists; /* a host */
    double latency, ps_per_byte;
} th_way;

typedef struct th_floors {
    const th_system *system;
    const th_workload *workload;
    th_works *works;
    bool any_cuts;     /* sets may have shares */
    int32_t *class_of; /* by accelerator: equal for those that take equally long for all */
    int32_t *first_of; /* by class: an accelerator */
    int n_classes;
    double *speed; /* by class, 0 .. 1: how quick it can be for any shard, of the quickest */
    th_map *numbers;
    struct th_task_floor *tasks;
    size_t n_tasks, task_capacity;
    th_way in, out;
} th_floors;

/* -1: memory is out, or a design is wrong; clear all the same. */
int th_floors_init(th_floors *f, const th_system *s, const th_workload *w, th_error *err);
void th_floors_clear(th_floors *f);
/* Of layer with batch images. 0 or -1: memory is out. */
int th_floors_layer(th_floors *f, int layer, int32_t batch, th_layer_floor *out, th_error *err);
/* Speeds of all accelerators together, for the layers asked for so far. */
double th_floors_speed(const th_floors *f);

#endif
