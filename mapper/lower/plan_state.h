/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_state.h - private to the files of plans. */
#ifndef TH_MAPPER_PLAN_STATE_H
#define TH_MAPPER_PLAN_STATE_H
#include <stdatomic.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/shared_map.h"
#include "mapper/lower/plan.h"

/* A route as its media, and its latency. */
typedef struct th_plan_route {
    int32_t first, n; /* in media of the plans */
    th_time latency_ps;
    bool is_known;
} th_plan_route;

/* Kept plans, by key. */
typedef struct th_plan_memo {
    th_shared_map *sets;           /* ids */
    th_shared_map *layers, *edges; /* plans */
} th_plan_memo;

/* What follows from the system and the workload alone. */
typedef struct th_plan_facts {
    int32_t *shape_class; /* by layer: equal for equal shapes */
    /* by layer: its inputs need different boxes; then shape_class + i stands for input i in keys */
    bool *inputs_differ;
    int32_t *host_of;    /* by accelerator */
    th_moves *host_path; /* by accelerator: its route to that host; bandwidths 0: there is none */
} th_plan_facts;

/* Routes as media, for the estimates of plan_time.c. */
typedef struct th_plan_routes {
    th_time *medium_ps;     /* scratch, by medium: how long it is busy */
    th_plan_route *by_pair; /* of nodes; NULL: none is kept yet, or there are too many nodes */
    th_plan_route last;     /* then: the last one that was computed */
    int32_t *media;
    size_t n_media, media_capacity;
} th_plan_routes;

/* The memo, the facts and the compute costs belong to the first of the th_plans that share them;
 * the others refer to them. Each has an arena of its own for the plans that it made. */
struct th_plans {
    const th_system *system;
    const th_workload *workload;
    th_plans *first; /* maybe itself */
    th_plans *next;  /* of those that share with the first */
    th_compute_cost_cache *costs;
    th_plan_memo memo;
    th_plan_facts facts;
    atomic_size_t held_bytes; /* of the first: by all */
    th_arena *arena;
    th_plan_routes routes;
};

/* Cleared memory that lives as long as the plans; NULL when memory is out. */
void *th_plans_alloc(th_plans *p, size_t n, size_t size);

/* A part of a layer's loop nest as designs see it. */
th_shard th_plan_shard(const th_layer *l, const th_loop_box *loops);
th_layer_plan *th_plan_make_layer(th_plans *p, const th_placed *at, int32_t batch, th_error *err);

/* An edge to be planned: how the last of n consumers gets the tensor that producer made (NULL: the
 * external input). */
typedef struct th_edge_ends {
    const th_placed *producer, *consumers;
    int n;
    int32_t batch;
    const th_layer_plan *made, *reads; /* of the producer, of the last consumer */
    /* of the consumers before it whose deliveries serve it too */
    const th_edge_plan *const *earlier;
    int n_earlier;
} th_edge_ends;
th_edge_plan *th_plan_make_edge(th_plans *p, const th_edge_ends *ends, th_error *err);
/* The same where transfers are serial; plan_serial.c. earlier is not used. */
th_edge_plan *th_plan_make_serial_edge(th_plans *p, const th_edge_ends *ends, th_error *err);
th_time th_plan_serial_edge_time(th_plans *p, const th_edge_plan *e, th_error *err);
th_time th_plan_serial_layer_time(th_plans *p, const th_placed *at, const th_layer_plan *plan,
                                  th_error *err);
/* The time of a layer on a set of one when weights, inputs and outputs all cross the network. */
th_time th_plan_serial_whole_time(th_plans *p, const th_placed *at, const th_layer_plan *plan);
#endif
