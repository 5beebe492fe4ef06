/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra_physics.h - how long collectives take in ASTRA-sim's analytical networks, in whole
 * nanoseconds. */
#ifndef TH_SIM_NETWORK_ASTRA_ASTRA_PHYSICS_H
#define TH_SIM_NETWORK_ASTRA_ASTRA_PHYSICS_H
#include "topology/files/astra.h"

/* A collective of all accelerators. bytes as ASTRA-sim counts them: an all-gather's are the shard
 * of one rank, those of the others the whole vector. *ns is at most TH_ASTRA_FOREVER_NS
 * (astra_message.h). 0 or -1. */
int th_astra_collective_ns(const th_astra *a, bool is_aware, th_astra_collective kind,
                           int64_t bytes, int64_t *ns, th_error *err);

/* The chunks of a collective: all of *chunk bytes. 0 or -1. */
int th_astra_cut_into_chunks(const th_astra *a, th_astra_collective kind, int64_t bytes,
                             int64_t *chunk, int64_t *n_chunks, th_error *err);

#endif
