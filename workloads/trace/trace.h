/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.h - an execution trace: for each rank, the nodes that ran on it (computations, collectives,
 * messages, loads and stores) and what each waited for. It knows no system.
 *
 *   th_trace_read -> read only -> free
 * Nodes of a rank are sorted by id, and refer to each other by their index in it. */
#ifndef TH_WORKLOADS_TRACE_TRACE_H
#define TH_WORKLOADS_TRACE_TRACE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

/* The numbers are those of the format. */
typedef enum {
    TH_TRACE_INVALID, /* takes no time */
    TH_TRACE_METADATA,
    TH_TRACE_LOAD, /* from memory outside the accelerator */
    TH_TRACE_STORE,
    TH_TRACE_COMPUTE,
    TH_TRACE_SEND,
    TH_TRACE_RECEIVE,
    TH_TRACE_COLLECTIVE,
    TH_TRACE_N_KINDS
} th_trace_kind;

typedef enum {
    TH_TRACE_ALL_REDUCE = 0,
    TH_TRACE_ALL_GATHER = 2,
    TH_TRACE_BROADCAST = 5,
    TH_TRACE_ALL_TO_ALL = 6,
    TH_TRACE_REDUCE_SCATTER = 7
} th_trace_collective;

enum {
    TH_TRACE_MAX_DIMS = 16,
    TH_TRACE_ALL_DIMS = -1,
    TH_TRACE_ALL_RANKS = -1,
    TH_TRACE_NO_TEXT = -1
};

typedef struct th_trace_node {
    uint64_t id;
    uint8_t kind;       /* th_trace_kind */
    uint8_t collective; /* th_trace_collective */
    bool is_on_host;
    bool is_part;                   /* of a custom collective (trace_custom.h) */
    bool has_operations, has_bytes; /* the attribute is there */
    int8_t n_dims;                  /* of the collective's list; TH_TRACE_ALL_DIMS: no list */
    uint16_t dims;                  /* bit d: dimension d takes part */
    int32_t group;                  /* of the trace; TH_TRACE_ALL_RANKS */
    int32_t peer;                   /* the other rank of a message */
    uint32_t tag;
    int64_t duration_us;
    int64_t operations;
    int64_t bytes;       /* of the tensor, the message, or the collective: each rank's input */
    int64_t duration_ps; /* exact, where Tharsis wrote the file; -1: duration_us is all there is */
    int64_t release_ps;  /* earliest start, where Tharsis wrote the file, else 0 */
    int64_t delay_ps;    /* overhead of each message, likewise */
    int64_t exact_bytes; /* likewise, of a message or as sim/collective/ counts them; else -1 */
    int32_t chunks;      /* likewise, of a collective, else 1 */
    int32_t root;        /* likewise, of a broadcast: the member; else 0 */
    int32_t name;        /* offset in the rank's names */
    int32_t algorithm;   /* likewise: of a collective; TH_TRACE_NO_TEXT: any */
    int32_t place;       /* likewise: the node of the system that a load or store is from or to */
    int32_t first_dep, n_deps; /* in the rank's deps, ascending, without duplicates */
    int32_t first_far, n_far;  /* in the rank's far: nodes of other ranks that it waits for */
} th_trace_node;

/* A node that is nothing yet. */
#define TH_TRACE_NODE(number)                                                                      \
    ((th_trace_node){.id = (number),                                                               \
                     .n_dims = TH_TRACE_ALL_DIMS,                                                  \
                     .group = TH_TRACE_ALL_RANKS,                                                  \
                     .peer = -1,                                                                   \
                     .duration_ps = -1,                                                            \
                     .exact_bytes = -1,                                                            \
                     .chunks = 1,                                                                  \
                     .algorithm = TH_TRACE_NO_TEXT,                                                \
                     .place = TH_TRACE_NO_TEXT})

typedef struct th_trace_far {
    int32_t rank, node; /* node: index */
} th_trace_far;

typedef struct th_trace_rank {
    th_trace_node *nodes;
    int32_t n_nodes, first; /* first: the number of its first node among those of all ranks */
    int32_t *deps;          /* indices of nodes */
    th_trace_far *far;
    char *names;
} th_trace_rank;

typedef struct th_trace_group {
    int64_t number;     /* its key in the file of groups */
    int64_t tag_number; /* ASTRA-sim numbers the groups in traces from one up */
    int32_t *members;   /* ranks, in the order of the file */
    int32_t n_members;
} th_trace_group;

/* Memory outside the accelerators, of memory.json. */
typedef enum {
    TH_TRACE_NO_MEMORY,
    TH_TRACE_MEMORY_PER_RANK,
    TH_TRACE_MEMORY_POOL, /* one request at a time */
    TH_TRACE_MEMORY_PER_NODE
} th_trace_memory_kind;

typedef struct th_trace_memory {
    int32_t kind; /* th_trace_memory_kind */
    int64_t latency_ns, bytes_per_ns;
    int32_t ranks_per_node;
} th_trace_memory;

typedef struct th_trace {
    char *prefix; /* of its files */
    th_trace_rank *ranks;
    int32_t n_ranks;
    th_trace_group *groups;
    int32_t n_groups;
    th_trace_memory memory;
    int64_t n_nodes;
    int64_t n_host;            /* messages and collectives of hosts: computations of theirs */
    int64_t n_measured;        /* collectives of no known kind, as long as measured */
    int64_t n_custom;          /* nodes of collectives that trace_custom.h replaced */
    int64_t n_control, n_data; /* dependencies on nodes that are not in the file */
    /* private */
    bool is_lenient; /* while it is read */
    size_t group_capacity;
} th_trace;

void th_trace_free(th_trace *t); /* accepts NULL */

/* The index of a group, or -1. */
int32_t th_trace_find_group(const th_trace *t, int64_t number);
/* Adds a group; members are copied. A group of the same number is replaced. 0 or -1. */
int th_trace_add_group(th_trace *t, const th_trace_group *g, th_error *err);

enum { TH_TRACE_PATH_BYTES = 4096 };
/* PREFIX.RANK.et */
void th_trace_path(const char *prefix, int32_t rank, char out[static TH_TRACE_PATH_BYTES]);
/* 0, or -1: it is too long. */
int th_trace_check_prefix(const char *prefix, th_error *err);

/* "all_reduce"; NULL: no collective of the format. */
const char *th_trace_collective_name(uint64_t number);
static inline const char *th_trace_node_name(const th_trace_rank *r, const th_trace_node *n)
{
    return r->names + n->name;
}
/* NULL: there is none. */
static inline const char *th_trace_text(const th_trace_rank *r, int32_t offset)
{
    return offset == TH_TRACE_NO_TEXT ? NULL : r->names + offset;
}

#endif
