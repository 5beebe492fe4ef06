/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chunk_pipeline.h - the time of the chunks of one collective in all dimensions; for
 * astra_physics.c alone. Times are whole nanoseconds. */
#ifndef TH_SIM_NETWORK_ASTRA_CHUNK_PIPELINE_H
#define TH_SIM_NETWORK_ASTRA_CHUNK_PIPELINE_H
#include "topology/files/astra.h"

typedef struct th_astra_phase {
    int dim;
    int64_t ns; /* how long it takes a chunk that is alone in the dimension */
    /* A ring's messages, one after the other; the first n_reduced are reduced when they are
     * there. */
    int64_t steps, bytes, n_reduced, reduce_ns;
} th_astra_phase;

typedef struct th_astra_route {
    const th_astra *a;
    th_astra_phase phase[2 * TH_MAX_DIMS];
    int n_phases;
    bool shares_links; /* chunks of a dimension meet on its links; all phases are rings */
} th_astra_route;

/* *ns: when the last of n_chunks has left, all of them there at 0. 0, or -1 (memory). */
int th_astra_pipeline_ns(const th_astra_route *r, int32_t n_chunks, int64_t *ns, th_error *err);

#endif
