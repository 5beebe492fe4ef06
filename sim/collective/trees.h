/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trees.h - broadcast, reduce and all_reduce along trees of ranks, of which each has an equal part
 * of the data, in chunks: for algorithms.
 *   new -> (fill parent) -> prepare -> get_step*
 * all_reduce goes up each tree and down again. Every message of a rank to a neighbour in a tree is
 * sent by a thread of its own, which waits for nothing but the chunk; ports: in, one from each
 * neighbour in each tree. */
#ifndef TH_SIM_COLLECTIVE_TREES_H
#define TH_SIM_COLLECTIVE_TREES_H
#include "sim/collective/collective.h"

/* The messages that a rank sends to one neighbour in one tree. */
typedef struct th_tree_edge {
    int32_t tree, to, to_port;
    bool is_up; /* to the parent */
} th_tree_edge;

typedef struct th_trees {
    int32_t n_trees, chunks;
    int32_t *parent; /* by tree and rank; -1: the root of the tree. In the schedule's memory */
    /* Private. */
    int32_t *first; /* by rank, and n_ranks: its first edge */
    th_tree_edge *edges;
    /* By tree and rank: its children; the port of the first of their messages up, the others
     * follow; the port of messages down to it. */
    int32_t *n_children, *from_children, *from_parent;
} th_trees;

/* Becomes cs->data. NULL: memory is out. */
th_trees *th_trees_new(th_collective_schedule *cs, int32_t n_trees, th_error *err);
/* Makes the schedule; parents are set. 0 or -1. */
int th_trees_prepare(th_collective_schedule *cs, th_error *err);
/* As th_algorithm.get_step. */
bool th_trees_get_step(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                       int64_t step, th_collective_step *out);

#endif
