/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra.h - what ASTRA-sim's files say besides the graph, in the group "astra" of a system file:
 * the dimensions as written, and the parameters of its system layer. Plain data behind
 * th_system.astra. The networks astra_aware and astra_unaware use it, all others the graph. */
#ifndef TH_TOPOLOGY_FILES_ASTRA_H
#define TH_TOPOLOGY_FILES_ASTRA_H
#include <stdbool.h>
#include "topology/system.h"

typedef enum {
    TH_ASTRA_ALL_REDUCE,
    TH_ASTRA_REDUCE_SCATTER,
    TH_ASTRA_ALL_GATHER,
    TH_ASTRA_ALL_TO_ALL,
    TH_ASTRA_N_COLLECTIVES
} th_astra_collective;

typedef enum {
    TH_ASTRA_NONE, /* the file names no implementation */
    TH_ASTRA_RING,
    TH_ASTRA_DIRECT,
    TH_ASTRA_HALVING_DOUBLING,
    TH_ASTRA_DOUBLE_BINARY_TREE,
    TH_ASTRA_ONE_RING, /* those over all dimensions as if they were one */
    TH_ASTRA_ONE_DIRECT,
    TH_ASTRA_ONE_HALVING_DOUBLING,
    TH_ASTRA_N_IMPLEMENTATIONS
} th_astra_implementation;

typedef struct th_astra_dim {
    th_topology_dim_kind kind; /* RING, FULL or SWITCH */
    int size;                  /* accelerators along it, >= 2 */
    double gib_per_s;          /* of every link, each way; the files call it GB/s */
    double latency_ns;
    int32_t implementation[TH_ASTRA_N_COLLECTIVES]; /* th_astra_implementation */
    int32_t window[TH_ASTRA_N_COLLECTIVES];         /* direct4: 4, the messages at a time; 0: all */
} th_astra_dim;

enum { TH_ASTRA_PREFIX_BYTES = 512 };

typedef struct th_astra {
    th_astra_dim dims[TH_MAX_DIMS]; /* dimension 0 fastest */
    int n_dims;
    int64_t endpoint_delay_ns; /* before every message of a collective, and after the last */
    int64_t splits;            /* chunks that a collective is cut into, >= 1 */
    int64_t active_chunks;     /* of them, those that may be under way in a dimension, >= 1 */
    double local_mem_gb_per_s; /* 1e9 bytes/s */
    bool is_local_bw_aware;    /* all-reduce over dimensions: localBWAware, else baseline */
    /* Of traces alone. */
    double peak_tflops;
    bool has_roofline;   /* computations take what the roofline says, not what was measured */
    bool is_replay_only; /* every node takes what was measured */
    int32_t n_custom;    /* collectives whose algorithm is a trace: prefix of its files, else "" */
    char custom[TH_ASTRA_N_COLLECTIVES][TH_ASTRA_PREFIX_BYTES];
} th_astra;

/* system_fields.c: as files write them; the second ends in NULL. */
extern const char *const th_astra_collective_keys[TH_ASTRA_N_COLLECTIVES];
extern const char *const th_astra_implementation_names[];

#endif
