/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra_message.c - how long one message takes in ASTRA-sim's analytical networks.
 *
 *   t = floor(h latency + m / bw): h = 1 to a neighbour on a ring or in a full mesh, 2 through a
 *   switch; congestion-aware, a switch (and each further hop of a ring) takes the whole message in
 *   before it sends it on: h floor(latency + m / bw)
 *
 * with bw = GB/s 2^30 / 1e9 bytes/ns. Floored and computed in the printed order, so that results
 * agree to the nanosecond. Source: ASTRA-sim's published behaviour and recorded results
 * (docs/models/astra.md). */
#include <config.h>

#include "sim/network/astra/astra_message.h"

static const double bytes_per_gib = 1073741824.0, ns_per_s = 1e9;

static double bytes_per_ns(const th_astra_dim *dim)
{
    return dim->gib_per_s * bytes_per_gib / ns_per_s;
}

int64_t th_astra_floor(double ns)
{
    return ns < (double)TH_ASTRA_FOREVER_NS ? (int64_t)ns : TH_ASTRA_FOREVER_NS;
}

int64_t th_astra_hop_ns(const th_astra_dim *dim, int64_t bytes)
{
    return th_astra_floor(dim->latency_ns + (double)bytes / bytes_per_ns(dim));
}

int64_t th_astra_serialization_ns(const th_astra_dim *dim, int64_t bytes)
{
    return th_astra_floor((double)bytes / bytes_per_ns(dim));
}

int64_t th_astra_add(int64_t a, int64_t b)
{
    return a < TH_ASTRA_FOREVER_NS - b ? a + b : TH_ASTRA_FOREVER_NS;
}

int64_t th_astra_multiply(int64_t a, int64_t b)
{
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product) || product > TH_ASTRA_FOREVER_NS)
        return TH_ASTRA_FOREVER_NS;
    return product;
}

int th_astra_dim_between(const th_astra *a, int from, int to, int32_t *stride)
{
    int d = 0;
    *stride = 1;
    for (; d + 1 < a->n_dims && from / *stride % a->dims[d].size == to / *stride % a->dims[d].size;
         d++)
        *stride *= a->dims[d].size;
    return d;
}

static int hops_between(const th_astra_dim *dim, int a, int b)
{
    int upwards = (b - a + dim->size) % dim->size;
    switch (dim->kind) {
    case TH_TOPOLOGY_DIM_RING:
        return upwards <= dim->size - upwards ? upwards : dim->size - upwards;
    case TH_TOPOLOGY_DIM_SWITCH:
        return 2;
    case TH_TOPOLOGY_DIM_FULL:
    case TH_TOPOLOGY_DIM_LINE: /* ASTRA-sim has none */
        break;
    }
    return 1;
}

int64_t th_astra_message_ns(const th_astra_dim *dim, bool is_aware, int a, int b, int64_t bytes)
{
    int hops = hops_between(dim, a, b);
    if (is_aware)
        return th_astra_multiply(hops, th_astra_hop_ns(dim, bytes));
    return th_astra_floor(hops * dim->latency_ns + (double)bytes / bytes_per_ns(dim));
}
