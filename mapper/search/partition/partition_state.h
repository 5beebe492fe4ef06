/* SPDX-License-Identifier: GPL-3.0-or-later */
/* partition_state.h - private to partitioning: what its files share. */
#ifndef TH_MAPPER_SEARCH_PARTITION_PARTITION_STATE_H
#define TH_MAPPER_SEARCH_PARTITION_PARTITION_STATE_H
#include "mapper/search/partition/partition.h"

/* --- capability.c --- */

/* Kinds of accelerators, branches and the order of layers. 0 or -1. */
int th_partitioner_analyze(th_partitioner *pr, th_error *err);
/* What a node's accelerators can do with a design (TH_DESIGN_OWN: each its own), until clear. NULL
 * on failure. */
const th_capability *th_partitioner_node_capability(th_partitioner *pr, int32_t node,
                                                    int32_t design, th_error *err);
/* The same for any set; its own shares do not count. */
const th_capability *th_partitioner_capability(th_partitioner *pr, const th_set *set,
                                               th_error *err);
void th_partitioner_clear_analysis(th_partitioner *pr);
/* Can some design of the accelerator run the layer? 1, 0, or -1 on failure. */
int th_partitioner_runs_alone(th_partitioner *pr, int32_t accel, int layer, th_error *err);
/* Are the n accelerators of several kinds? */
bool th_partitioner_is_heterogeneous(const th_partitioner *pr, const int32_t *accels, int32_t n);
/* May the layer run on the node's accelerators? */
bool th_partitioner_may_run(const th_partitioner *pr, int layer, int32_t node);
/* Can n accelerators share the layer at all, whatever their designs? */
bool th_partitioner_can_split(const th_partitioner *pr, int layer, int32_t n);

/* --- candidates.c --- */

/* Can the accelerators of a node be a set: inside a group if that is asked for, and with
 * designs? */
bool th_partitioner_can_be_set(const th_partitioner *pr, int32_t node);
/* Puts the given sets before the partition, and keeps it if all its nodes can be sets, there are
 * layers enough for ranges, and it is new. 0, or -1: out of memory. */
int th_partitioner_add(th_partitioner *pr, const th_partition *p);
/* Adds all that have sets of several kinds once more, with equal shares: shares in proportion to
 * speed are not best where something else is the limit, such as memory for weights or links. 0, or
 * -1: out of memory. */
int th_partitioner_add_equal_shares(th_partitioner *pr);

/* --- heterogeneous_sets.c --- */

/* Candidates for heterogeneous accelerators. 0 or -1. */
int th_partitioner_add_heterogeneous(th_partitioner *pr, th_error *err);

/* --- layer_assignment.c --- */

/* Layers to the sets of a partition. 0; 1: some layer can run on none; -1. */
int th_partitioner_assign_layers(th_partitioner *pr, const th_partition *p, const int32_t *design,
                                 th_jitter jitter, int32_t *set_of, th_error *err);
#endif
