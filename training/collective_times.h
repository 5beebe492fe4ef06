/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective_times.h - how long the collectives and messages of a plan take on its system: each is
 * simulated once, with all the groups that run at the same time on the same island, or with those
 * of all ranks of its stage.
 *   (memo_new) -> new -> (use) -> time* -> free -> (memo_free) */
#ifndef TH_TRAINING_COLLECTIVE_TIMES_H
#define TH_TRAINING_COLLECTIVE_TIMES_H
#include "training/parallel_plan.h"
#include "sim/collective/collective.h"
#include "topology/system.h"

typedef struct th_collective_times th_collective_times;

/* What plans on a system find out for each other: groups of the same accelerators take as long. One
 * thread uses it. The system must outlive it. NULL on failure. */
typedef struct th_collective_memo th_collective_memo;
th_collective_memo *th_collective_memo_new(const th_system *s, th_error *err);
void th_collective_memo_free(th_collective_memo *m); /* accepts NULL */

/* All arguments must outlive it. NULL: memory is out. */
th_collective_times *th_collective_times_new(const th_system *s, const th_parallel_plan *p,
                                             th_error *err);
/* Before the first time is asked for: with this memo, which must outlive it; NULL: with its own. */
void th_collective_times_use(th_collective_times *x, th_collective_memo *memo);
void th_collective_times_free(th_collective_times *x);

/* The time of a collective of a rank of stage 0 with its group; 0 for a group of one. -1 on
 * failure. */
th_time th_collective_time(th_collective_times *x, th_collective_kind kind, th_plan_group group,
                           int64_t bytes, th_error *err);
/* Of the messages of all ranks of a stage to those of another, all at once: until the last is
 * there. -1 on failure. */
th_time th_stage_message_time(th_collective_times *x, int32_t from, int32_t to, int64_t bytes,
                              th_error *err);

/* How many ranks of the expert group of rank 0 share a node, if its ranks are on all its nodes as
 * many in a row; else, or on failure to allocate, 1. */
int32_t th_plan_experts_on_node(const th_system *s, const th_parallel_plan *p);

/* The collective of a group of nodes, with the algorithm for it; rank_node is the caller's. */
th_collective th_plan_collective(const th_system *s, th_collective_kind kind, int32_t *rank_node,
                                 int32_t n, int64_t bytes);

#endif
