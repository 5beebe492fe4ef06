/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pods.h - systems that are sold: which generator, which accelerator, which links. A table: a pod
 * is a row. Rates are per direction, those of data sheets times the share of them that messages of
 * collectives reach, inside and outside an island; latencies are assumed (1 us inside a node, 2 us
 * from an accelerator to the fabric, 1 us between its switches). */
#ifndef TH_TOPOLOGY_GENERATE_PODS_H
#define TH_TOPOLOGY_GENERATE_PODS_H
#include "topology/generate/generate.h"

typedef struct th_pod {
    const char *name;
    const char *size; /* what the caller gives: "NODES", "X Y" */
    int n_sizes;
    const char *topology; /* a row of th_topology_types */
    int inside[2];        /* dims behind those of the caller; 0: no more */
    const char *accel;    /* system file of one accelerator */
    bool has_full_islands;
    int64_t bits_per_s[3]; /* of the data sheet: one for all cables, or each; 0: no more */
    double share;          /* of the first of these; of others that of every fabric */
    /* What each accelerator gets of the sums of its island's switch, bits/s; 0: it does not add. */
    int64_t reduction_bits_per_s;
    th_time collective_start_ps; /* th_system, like the next */
    int64_t stripes_from;
    const char *source;
} th_pod;

extern const th_pod th_pods[]; /* ends in name NULL */
/* The generator's options of a pod of this size: sizes[n_sizes], each at least 1. */
void th_pod_options(const th_pod *pod, const int *sizes, th_topology_options *out);

#endif
