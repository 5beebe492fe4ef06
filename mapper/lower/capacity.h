/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capacity.h - can the weights of a workload be held at all, whatever the mapping? Bytes; sums
 * saturate at INT64_MAX. Necessary, not sufficient: activations and buffers are ignored. */
#ifndef TH_MAPPER_CAPACITY_H
#define TH_MAPPER_CAPACITY_H
#include "topology/system.h"
#include "workloads/workload.h"

int64_t th_capacity_of_weights(const th_workload *w); /* of all layers, each held once */
int64_t th_capacity_of_memories(const th_system *s);  /* of all accelerators together */
int64_t th_capacity_of_largest(const th_system *s);   /* of one accelerator */
/* The least that the fullest member of a set of at most n_accels accelerators holds of a layer's
 * weights, over all strategies; any number up to enough where there is one that holds no more. -1:
 * memory is out. */
int64_t th_capacity_least_piece(const th_layer *l, int32_t batch, int n_accels, int64_t enough);

#endif
