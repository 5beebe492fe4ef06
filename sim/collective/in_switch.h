/* SPDX-License-Identifier: GPL-3.0-or-later */
/* in_switch.h - private to in_switch.c: the trees of switches that reduce. */
#ifndef TH_SIM_COLLECTIVE_IN_SWITCH_H
#define TH_SIM_COLLECTIVE_IN_SWITCH_H
#include "sim/collective/collective.h"

/* A participant behind the ranks: a switch of a tree, or one of its outputs. */
typedef struct th_switch_part {
    int32_t tree;
    int32_t
        parent;    /* of a switch: the one above it, -1: it is the root; of an output: its switch */
    int32_t child; /* of an output: to whom it leads, a rank or a switch; of a switch -1 */
    int32_t n_outputs, first_output; /* of a switch: participants */
    int32_t first,
        end; /* positions (below) of the ranks at and under it; of an output, its child */
} th_switch_part;

typedef struct th_switch_trees {
    int32_t n_trees, chunks;
    int32_t *above;       /* per tree and rank: the switch that it sends to, a participant */
    int32_t *order;       /* per tree: ranks so that those below any switch stand together */
    int32_t *position;    /* per tree and rank: where it stands in order */
    th_switch_part *part; /* of participant n_ranks + i */
    int32_t *node;        /* of participant n_ranks + i */
    int32_t n_parts;
    size_t part_capacity, node_capacity;
} th_switch_trees;

/* Trees for the group of x, one to every best root. 0 or -1; clear in any case. */
int th_switch_trees_init(th_switch_trees *t, const th_expansion *x, th_error *err);
void th_switch_trees_clear(th_switch_trees *t);

#endif
