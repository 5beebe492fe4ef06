/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.h - plans: how a layer runs on a set, and how a tensor gets from one set to the next. Plans
 * depend on shapes, sets and strategies alone, so they are kept by key: equal blocks of a network
 * and repeated candidates of a search share them.
 *
 *   new -> (set, layer, edge)* -> free. Plans live until th_plans_free or th_plans_trim.
 * Several threads may share kept plans, each through th_plans of its own: new -> share* -> ... */
#ifndef TH_MAPPER_PLAN_H
#define TH_MAPPER_PLAN_H
#include "mapper/mapping.h"
#include "sim/design/compute_cost.h"

/* One position of a set that runs a layer; of a layer in chunks, one chunk of a position. */
typedef struct th_position_plan {
    th_box *need;         /* by input: of that input, before the first phase; may be empty */
    th_box held;          /* of the output, when the layer has ended */
    int64_t weight_bytes; /* resident; of all chunks, in the first */
    int64_t output_bytes; /* of its output box, partial sums included */
    int64_t buffer_bytes; /* while the layer runs: an arriving piece, partners' partial sums */
    int32_t ring_from,
        ring_to; /* the positions that send it pieces and that it sends to; -1 without rotation */
    int32_t reduce_cost; /* compute cost of the sum of the partners' partial sums; -1: none */
    int32_t first_send, n_sends;
    th_loop_box loops; /* its part of the loop nest, all phases together */
} th_position_plan;

typedef struct th_partial_send {
    int32_t to; /* position */
    int64_t bytes;
} th_partial_send;

/* Chunk i of the position on accelerator a of the set is position i * n_accels + a of the plan. */
typedef struct th_layer_plan {
    int32_t n, n_accels; /* positions, those of all chunks; accelerators */
    int32_t copies;      /* that hold the same boxes: position r of a chunk is of copy r % copies */
    int32_t phases;
    bool rotates_input;
    th_position_plan *at; /* n */
    /* By position and piece, n x phases; piece i of position r is the one that it computes with in
     * phase i when it starts with its own. The compute cost differs when the phase adds to partial
     * sums: cost_adding. */
    int32_t *cost, *cost_adding;
    int64_t *piece_bytes; /* 0 without rotation */
    th_partial_send *sends;
} th_layer_plan;

/* Bytes from one position of the producer (or a host) to one of the consumer, in one transfer. */
typedef struct th_delivery {
    int32_t from; /* position; -1: the host */
    int32_t from_node, to_node;
    int32_t to;
    int64_t bytes;
    int32_t first_box, n_boxes;
    /* an earlier delivery of the edge that must have ended, so that chunks of the reader get the
     * same sender's data one after the other; -1: none */
    int32_t after;
    int64_t sent_bytes; /* serial transfers: bytes of the part as the sender stores it */
} th_delivery;

/* A delivery to an earlier consumer of the tensor, or to an earlier chunk, that serves this one
 * too. */
typedef struct th_reuse {
    int32_t to;             /* position that uses it */
    int32_t edge, delivery; /* ordinal among the tensor's consumers, and there */
} th_reuse;

typedef struct th_edge_plan {
    int32_t n;
    th_delivery *deliveries; /* ascending by to */
    th_box *boxes;
    int32_t *first_of; /* n_positions + 1: deliveries to position r start at first_of[r] */
    int32_t *locals;   /* the producer's positions on its own accelerator that a position uses */
    int32_t *first_local_of; /* n_positions + 1 */
    int32_t n_reuses;
    th_reuse *reuses;        /* ascending by to */
    int32_t *first_reuse_of; /* n_positions + 1 */
} th_edge_plan;

/* One end of an edge: a layer as some set runs it. */
typedef struct th_placed {
    int32_t layer;
    const th_set *set;
    int32_t set_id;     /* equal for equal accelerators, shares and design, from th_plans_place */
    int32_t members_id; /* equal for equal accelerators and shares */
    int32_t input;      /* as a consumer: which of its inputs the tensor is; else unused */
    th_strategy strategy;
} th_placed;

typedef struct th_plans th_plans;

th_plans *th_plans_new(const th_system *s, const th_workload *w, th_error *err);
/* For another thread: shares the plans and compute costs of p and of all that share with it. Freed
 * before them. */
th_plans *th_plans_share(th_plans *p, th_error *err);
bool th_plans_are_shared(const th_plans *p);
void th_plans_free(th_plans *p);
th_compute_cost_cache *th_plans_costs(const th_plans *p);
/* Drops everything but the compute costs, for all who share, when more than limit bytes are held:
 * between two lowerings only, and while no other thread uses them. */
void th_plans_trim(th_plans *p, size_t limit);
size_t th_plans_held_bytes(const th_plans *p); /* by all who share */
enum { TH_PLANS_LIMIT = 384 * 1024 * 1024 };   /* bytes of plans that a search keeps */

/* Equal for layers of equal shape. */
int32_t th_plans_shape_class(const th_plans *p, int layer);

/* Fills *out for a layer on a set, which must outlive it; as a consumer it reads its first input.
 * 0 or -1. */
int th_plans_place(th_plans *p, int layer, const th_set *set, const th_strategy *s, th_placed *out,
                   th_error *err);

/* set_id and members_id of a set (th_placed). 0 or -1. */
int th_plans_set_ids(th_plans *p, const th_set *set, int32_t *set_id, int32_t *members_id,
                     th_error *err);

/* Does an error of planning end the search (memory is out, a script of the user fails)? Otherwise
 * a design cannot run a layer. */
bool th_plans_is_fatal(const th_error *err);

/* NULL: memory is out, a script fails, or the set's design cannot run the layer (th_plans_is_fatal
 * distinguishes them). */
const th_layer_plan *th_plans_layer(th_plans *p, const th_placed *at, int32_t batch, th_error *err);

/* How consumers[n - 1] gets the tensor that producer made (NULL: the external input, from the
 * host), after consumers[0 .. n - 2] have received it. A layer that reads the tensor as several
 * inputs is several consumers. NULL: as above. */
const th_edge_plan *th_plans_edge(th_plans *p, const th_placed *producer,
                                  const th_placed *consumers, int n, int32_t batch, th_error *err);

/* How a layer alone goes on: its time, and the mean of its chunks, in ps. */
typedef struct th_layer_pace {
    th_time time;
    th_time work, exchange, sum; /* all phases; of its partial sums; adding them up */
} th_layer_pace;

/* Least time that the deliveries of an edge need: the busiest medium's bytes, plus the longest
 * latency. -1: memory is out. */
th_time th_plans_edge_time(th_plans *p, const th_edge_plan *e, th_error *err);
/* The time of the edge to the tensor's first reader, from producer (NULL: the external input),
 * without a plan of the edge. Above `enough` it may be any lower bound that is above `enough`. -1:
 * as th_plans_edge_time or th_plans_layer. */
th_time th_plans_transition_time(th_plans *p, const th_placed *producer, const th_placed *reader,
                                 int32_t batch, th_time enough, th_error *err);
/* By how much a reader alone on its set, of pace own, ends later than the producer alone (NULL: the
 * external input), of pace made, and then the reader alone would take: a chunk of the producer
 * leaves when it ends, and one of the reader begins when what it needs is there. -1: as
 * th_plans_edge_time. */
th_time th_plans_overlapped_time(th_plans *p, const th_placed *producer, const th_layer_pace *made,
                                 const th_placed *reader, const th_layer_pace *own, int32_t batch,
                                 th_error *err);
/* A lower bound of the transition time, of what the last position must receive alone. -1: memory
 * is out. */
th_time th_plans_transition_bound(th_plans *p, const th_placed *producer, const th_placed *reader,
                                  int32_t batch, th_error *err);
/* The time of a layer alone on its set: per phase the slowest position's collapsed time, or the
 * transfer of pieces where that is longer; then the exchange and sum of partial results. Those of a
 * chunk are exchanged while the next one computes. *pace (may be NULL): the same in its parts. -1:
 * memory is out. */
th_time th_plans_layer_time(th_plans *p, const th_placed *at, const th_layer_plan *plan,
                            th_layer_pace *pace, th_error *err);

/* th_plans_layer_time of a plan that is not kept: most strategies are timed once. TH_TIME_MAX: the
 * design cannot run the layer, for the reason given. -1: error. */
th_time th_plans_time_alone(th_plans *p, const th_placed *at, int32_t batch, th_layer_pace *pace,
                            th_error *reason, th_error *err);
/* A lower bound of th_plans_layer_time, of the last position's work alone; 0 with chunks.
 * TH_TIME_MAX: its design cannot run it. -1: error. */
th_time th_plans_layer_bound(th_plans *p, const th_placed *at, int32_t batch, th_error *err);

/* The host that an accelerator exchanges inputs and outputs with: by greatest bandwidth of the
 * route, then fewest hops, then lowest number. Node, or -1 when the system has no host. */
int th_plans_host_of(const th_plans *p, int accel);

#endif
