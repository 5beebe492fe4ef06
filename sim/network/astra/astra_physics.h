/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra_physics.h - how long ASTRA-sim's analytical networks take, in whole nanoseconds. */
#ifndef TH_SIM_NETWORK_ASTRA_ASTRA_PHYSICS_H
#define TH_SIM_NETWORK_ASTRA_ASTRA_PHYSICS_H
#include "topology/files/astra.h"

/* What counts as for ever: 2^63 ps in ns, with room to add. */
#define TH_ASTRA_FOREVER_NS 9000000000000000LL

/* Bytes on a link: with its latency, and alone (how long the link is busy). Both at most
 * TH_ASTRA_FOREVER_NS. */
int64_t th_astra_hop_ns(const th_astra_dim *dim, int64_t bytes);
int64_t th_astra_serialization_ns(const th_astra_dim *dim, int64_t bytes);
/* A message from coordinate a to coordinate b of a dimension, a != b, uncontended. */
int64_t th_astra_message_ns(const th_astra_dim *dim, bool is_aware, int a, int b, int64_t bytes);

/* A collective of all accelerators. bytes as ASTRA-sim counts them: an all-gather's are the shard
 * of one rank, those of the others the whole vector. *ns is at most TH_ASTRA_FOREVER_NS. 0 or
 * -1. */
int th_astra_collective_ns(const th_astra *a, bool is_aware, th_astra_collective kind,
                           int64_t bytes, int64_t *ns, th_error *err);

#endif
