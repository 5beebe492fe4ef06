/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_replay_state.h - private to this folder: the state of a replay, and the functions that its
 * files share. Everything refers to everything by index.
 *
 *   clock.c       events in the order in which they were scheduled
 *   wire.c        messages: links, arrival, matching of sends and receives
 *   algorithm.c   one rank's part in one phase of a chunk: ring, direct, halving and doubling
 *   chunks.c      a collective's chunks, their phases, and the queue of each dimension
 *   units.c       the nodes of a rank on its three units
 *
 * A function that runs out of memory sets failed; the loop in trace_replay.c ends then. */
#ifndef TH_SIM_NETWORK_ASTRA_TRACE_REPLAY_STATE_H
#define TH_SIM_NETWORK_ASTRA_TRACE_REPLAY_STATE_H
#include "base/map.h"
#include "sim/network/astra/pool.h"
#include "sim/network/astra/trace_replay.h"
#include "sim/kernel/event.h"
#include "sim/kernel/ready_queue.h"
#include "topology/files/astra.h"

typedef struct th_replay_state th_replay_state;

/* ---- clock.c ---- */

typedef enum {
    TH_AT_CALLS,   /* the calls of a rank at this time; index: the bucket */
    TH_AT_ARRIVAL, /* a message is at the next node; index: the message */
    TH_AT_LINK,    /* a link is free */
    TH_AT_RECEIVE, /* a receive whose message was there before it */
    TH_AT_N_KINDS
} th_at_kind;

typedef enum {
    TH_CALL_NODE,   /* a node is done */
    TH_CALL_BUNDLE, /* data of a collective are where the algorithm wants them */
    TH_CALL_CHUNK,  /* a chunk has ended a phase of known duration */
    TH_CALL_MEMORY  /* the memory is free */
} th_call_kind;

/* An event's argument is its kind and its index. */
enum { TH_AT_KIND_SHIFT = 29, TH_AT_INDEX_MASK = (1 << TH_AT_KIND_SHIFT) - 1 };

void th_at(th_replay_state *s, int64_t delay_ns, th_at_kind kind, int32_t index);
/* Calls of one rank at one time happen together, at the place of the first. */
void th_call_after(th_replay_state *s, int32_t rank, int64_t delay_ns, th_call_kind kind,
                   int32_t index);
void th_clock_calls(th_replay_state *s, int32_t bucket);

typedef struct th_pending_call {
    int32_t next;
    int32_t kind, index;
} th_pending_call;

typedef struct th_bucket {
    int32_t next; /* of its rank */
    int32_t rank;
    th_fifo calls;
    int64_t at_ns;
} th_bucket;

/* ---- wire.c ---- */

enum { TH_TAG_MESSAGE, TH_TAG_COLLECTIVE };

/* Messages of equal keys are matched with receives one by one. */
typedef struct th_wire_key {
    int64_t bytes, tag;
    int32_t from, to;
    int32_t tag_class, padding;
} th_wire_key;

typedef struct th_wire_match {
    int32_t n_arrived; /* not received yet */
    th_fifo waiting;   /* receives */
} th_wire_match;

typedef struct th_wire_message {
    int32_t next; /* on its link */
    int32_t from, to, at;
    int32_t sender; /* node of from, -1: a collective */
    int32_t match, link;
    int dim; /* of the link */
    bool is_in_switch;
    int64_t bytes;
} th_wire_message;

typedef struct th_wire_receive {
    int32_t next;
    int32_t rank;
    int32_t node;  /* -1: of a chunk */
    int32_t chunk; /* -1: of a node */
} th_wire_receive;

typedef struct th_wire_link {
    bool is_busy;
    th_fifo waiting; /* messages */
} th_wire_link;

int th_wire_new(th_replay_state *s);
void th_wire_free(th_replay_state *s);
void th_wire_send(th_replay_state *s, const th_wire_key *key, int32_t sender);
void th_wire_receive_message(th_replay_state *s, const th_wire_key *key,
                             const th_wire_receive *what);
void th_wire_arrival(th_replay_state *s, int32_t message);
void th_wire_link_free(th_replay_state *s, int32_t link);
void th_wire_deliver(th_replay_state *s, int32_t receive);

/* ---- algorithm.c ---- */

/* The ranks of a phase in the order of its logical ring. */
typedef struct th_logical_ring {
    const int32_t *members; /* NULL: base + i stride */
    int32_t base, stride, n, self;
} th_logical_ring;

typedef struct th_phase {
    int32_t dim; /* whose queue it waits in */
    th_astra_collective kind;
    th_astra_implementation implementation;
    int32_t window;   /* of direct; 0: none */
    bool is_upwards;  /* direction round the ring */
    bool is_in_group; /* of a group smaller than the system */
    th_logical_ring ring;
    int64_t bytes;
    int64_t known_ns; /* how long a chunk takes that is alone; -1: it is found out */
} th_phase;

enum { TH_CHUNK_PHASES = 2 * TH_MAX_DIMS };

/* Progress of one rank in one phase. */
typedef struct th_algorithm_state {
    int64_t message_bytes;
    int64_t n_left; /* messages to send */
    int64_t n_free; /* packets whose data are there */
    int64_t n_received;
    int64_t in_first, in_rest; /* packets of the present round that are still to come */
    int32_t n_parallel;
    int32_t to, from; /* of the next packet: places in the ring */
    int32_t offset;   /* halving and doubling: the distance to the partner */
    double factor;    /* and by what it changes */
    bool is_odd_round;
    th_fifo packets; /* that wait */
} th_algorithm_state;

typedef struct th_packet {
    int32_t next;
    int32_t to, from; /* ranks */
    int64_t bytes;
} th_packet;

typedef struct th_bundle {
    int32_t next;
    int32_t chunk;
    bool is_reduced;
    int64_t bytes;
} th_bundle;

/* The messages that a rank sends in a phase. */
int64_t th_algorithm_messages(const th_phase *p);
/* How long a chunk takes that is alone on its ring. */
int64_t th_algorithm_ring_ns(const th_replay_state *s, const th_phase *p);
/* Bytes that a rank has after a phase. */
int64_t th_algorithm_final_bytes(const th_phase *p);
void th_algorithm_start(th_replay_state *s, int32_t chunk);
void th_algorithm_bundle(th_replay_state *s, int32_t bundle);
void th_algorithm_received(th_replay_state *s, int32_t chunk);

/* ---- chunks.c ---- */

typedef struct th_chunk {
    int32_t next; /* in the queue of its dimension */
    int32_t rank, node;
    int64_t tag;
    int32_t phase; /* of its rank's collective; -1: none yet */
    int64_t began_ns;
    th_algorithm_state algorithm;
} th_chunk;

/* The chunks of a rank in a dimension, in the order in which they came; the first n_running of them
 * are under way. */
typedef struct th_dim_queue {
    th_fifo chunks;
    int32_t n_running;
} th_dim_queue;

/* What ASTRA-sim calls the collective of a node. */
th_astra_collective th_chunks_kind(const th_trace_node *n);
/* The collective of this node begins. 0 or -1. */
int th_chunks_begin(th_replay_state *s, int32_t rank, int32_t node, th_error *err);
/* A chunk has ended its phase. */
void th_chunks_next_phase(th_replay_state *s, int32_t chunk);

/* ---- units.c ---- */

typedef enum {
    TH_UNIT_HOST,
    TH_UNIT_COMPUTE,
    TH_UNIT_COMMUNICATION,
    TH_UNIT_NONE,
    TH_N_UNITS
} th_unit;

typedef struct th_rank_state {
    th_ready_queue ready[TH_N_UNITS];
    int32_t *freed; /* nodes that became ready while others are issued */
    size_t n_freed, freed_capacity;
    int32_t *waiting; /* by node: dependencies that are not done */
    int32_t *successor_start, *successors;
    bool is_busy[TH_N_UNITS];
    int32_t n_ready, n_running;
    th_phase phases[TH_CHUNK_PHASES]; /* of each chunk of its collective */
    int32_t n_phases;
    int64_t n_chunks_left;
    int64_t n_tags;      /* of collectives of all ranks so far */
    int64_t *group_tags; /* by group */
    th_fifo buckets;
    int64_t duration_ns; /* of what its accelerator ran */
} th_rank_state;

/* The state of all ranks before the first event. 0 or -1. */
int th_units_new(th_replay_state *s);
void th_units_free(th_replay_state *s);
void th_units_fire(th_replay_state *s, int32_t rank);
void th_units_done(th_replay_state *s, int32_t rank, int32_t node);
void th_units_memory_free(th_replay_state *s, int32_t rank);
/* Can every node be replayed? 0 or -1. */
int th_units_check(const th_replay_state *s, th_error *err);

/* ---- the whole ---- */

typedef struct th_memory_access {
    int32_t next;
    int32_t rank, node;
} th_memory_access;

/* Memory that serves one request at a time. */
typedef struct th_memory_area {
    bool is_busy;
    th_fifo waiting; /* accesses */
} th_memory_area;

struct th_replay_state {
    const th_trace *trace;
    const th_astra *astra;
    bool is_aware, has_roofline;
    bool is_one_for_all; /* one rank stands for all, which do the same at the same time */
    bool failed;         /* memory is out, or error says why */
    th_error error;
    int64_t now_ns;
    uint64_t n_scheduled;
    th_events *events;
    th_pool calls, buckets, matches, messages, receives, packets, bundles, chunks, accesses;
    th_map *keys; /* th_wire_key to match */
    th_wire_link *links;
    th_rank_state *ranks;
    th_dim_queue *queues; /* rank by rank, n_dims each */
    int32_t n_ranks, n_accels, n_dims;
    th_memory_area *areas; /* by rank at most */
    th_astra_replay out;
};

/* A copy of an item in its pool; -1: memory is out, and the replay has failed. */
static inline int32_t th_replay_add(th_replay_state *s, th_pool *p, const void *item)
{
    int32_t i = th_pool_add(p, item);
    s->failed |= i < 0;
    return i;
}
/* The same, behind those in a queue. */
static inline void th_replay_push(th_replay_state *s, th_fifo *q, th_pool *p, const void *item)
{
    int32_t i = th_replay_add(s, p, item);
    if (i >= 0)
        th_fifo_push(q, p, i);
}
static inline th_chunk *th_chunk_of(const th_replay_state *s, int32_t i)
{
    return th_pool_at(&s->chunks, i);
}
static inline const th_phase *th_phase_of(const th_replay_state *s, const th_chunk *c)
{
    return &s->ranks[c->rank].phases[c->phase];
}
static inline const th_trace_node *th_node_of(const th_replay_state *s, int32_t rank, int32_t node)
{
    return &s->trace->ranks[rank].nodes[node];
}

#endif
