/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra_message.h - how long one message takes in ASTRA-sim's analytical networks, in whole
 * nanoseconds. */
#ifndef TH_SIM_NETWORK_ASTRA_ASTRA_MESSAGE_H
#define TH_SIM_NETWORK_ASTRA_ASTRA_MESSAGE_H
#include "topology/files/astra.h"

/* What counts as for ever: 2^63 ps in ns, with room to add. */
#define TH_ASTRA_FOREVER_NS 9000000000000000LL

/* Bytes on a link: with its latency, and alone (how long the link is busy). Both at most
 * TH_ASTRA_FOREVER_NS. */
int64_t th_astra_hop_ns(const th_astra_dim *dim, int64_t bytes);
int64_t th_astra_serialization_ns(const th_astra_dim *dim, int64_t bytes);
/* A message from coordinate a to coordinate b of a dimension, a != b, uncontended. */
int64_t th_astra_message_ns(const th_astra_dim *dim, bool is_aware, int a, int b, int64_t bytes);

/* The first dimension in which two accelerators differ, else the last one, and the product of the
 * sizes of those before it. */
int th_astra_dim_between(const th_astra *a, int from, int to, int32_t *stride);

/* Sums, products and whole nanoseconds that stay at TH_ASTRA_FOREVER_NS; nothing is negative. */
int64_t th_astra_add(int64_t a, int64_t b);
int64_t th_astra_multiply(int64_t a, int64_t b);
int64_t th_astra_floor(double ns);

#endif
