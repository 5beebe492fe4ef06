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
    th_shared_map *held;           /* th_plan_held; plan_transition.c */
} th_plan_memo;

/* What follows from the system and the workload alone. */
typedef struct th_plan_facts {
    int32_t *shape_class; /* by layer: equal for equal shapes */
    /* by layer: its inputs need different boxes; then shape_class + i stands for input i in keys */
    bool *inputs_differ;
    int32_t *host_of; /* by accelerator */
} th_plan_facts;

/* Routes as media, for estimates of times. */
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
    th_arena *scratch; /* in the place of arena while a plan is made that is not kept */
    th_plan_routes routes;
};

/* The boxes that the positions of a layer hold. */
typedef struct th_plan_held th_plan_held;

/* plan_lookup.c: the key of a layer as one set runs it; number: set_id or members_id. */
enum { TH_PLACED_WORDS = 2 + TH_STRATEGY_WORDS };
typedef struct th_plan_key {
    int32_t word[TH_PLACED_WORDS + 1];
} th_plan_key;
th_plan_key th_plan_key_of(const th_plans *p, const th_placed *at, int32_t number, int32_t batch);

/* Cleared memory that lives as long as the plans; NULL when memory is out. */
void *th_plans_alloc(th_plans *p, size_t n, size_t size);

/* --- plan_route.c --- */

/* Transfers that happen together, each alone on its route. */
typedef struct th_plan_traffic {
    th_plans *plans;
    th_time busiest, latency; /* most of any medium, longest of any route */
    th_time ready;            /* no transfer from now on begins earlier */
    bool failed;              /* memory ran out */
    struct {
        int64_t bytes, bits_per_s;
        th_time time;
    } last; /* private: a transfer on a medium */
} th_plan_traffic;

/* Of one traffic per th_plans at a time. */
void th_plan_traffic_begin(th_plan_traffic *t, th_plans *p);
void th_plan_carry(th_plan_traffic *t, int from, int to, int64_t bytes);
/* The time of one transfer alone. -1: memory is out. */
th_time th_plan_route_bound(th_plans *p, int from, int to, int64_t bytes);
/* Lower bounds of the busiest medium's time when bytes enter, or leave, a node: they share all its
 * links. */
th_time th_plan_time_in(const th_plans *p, int node, int64_t bytes);
th_time th_plan_time_out(const th_plans *p, int node, int64_t bytes);

/* --- plan_layer.c --- */

/* A part of a layer's loop nest as designs see it. */
th_shard th_plan_shard(const th_layer *l, const th_loop_box *loops);
/* The sum of n partial results of a box, on the vector unit where the design has one. */
th_shard th_plan_sum(const th_layer *l, const th_box *box, int n);
/* Bytes of the part of the rotating operand that these loops use. */
int64_t th_plan_piece_bytes(const th_layer *l, bool rotates_input, const th_loop_box *loops);
int64_t th_plan_output_bytes(const th_layer *l, const th_box *box);
/* The box of input i that position r needs from the start (th_position_plan); chunks are positions
 * of their own. */
th_box th_plan_need(const th_layer *l, int32_t batch, const th_placed *at, int r, int i);
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
/* The time of a layer on a set of one when weights, inputs and outputs all cross the network. -1:
 * memory is out. */
th_time th_plan_serial_whole_time(th_plans *p, const th_placed *at, const th_layer_plan *plan);
#endif
