/* SPDX-License-Identifier: GPL-3.0-or-later */
/* in_switch.h - private to in_switch.c: the trees of switches that reduce. */
#ifndef TH_SIM_COLLECTIVE_IN_SWITCH_H
#define TH_SIM_COLLECTIVE_IN_SWITCH_H
#include "sim/collective/collective.h"

/* A participant that is not a rank: a switch of a tree, or one of its outputs. */
typedef struct th_switch_part {
    int32_t tree;
    int32_t parent; /* of a switch: its parent, -1: it is the root; of an output: its switch */
    int32_t child;  /* of an output: the rank or switch that it leads to; of a switch -1 */
    int32_t n_outputs, first_output; /* of a switch: participants */
    int32_t first, end; /* positions of the ranks below it; of an output, below its child */
} th_switch_part;

typedef struct th_switch_trees {
    int32_t n_trees, chunks;
    int32_t *above;       /* per tree and rank: the switch that it sends to, a participant */
    int32_t *order;       /* per tree: ranks so that those below any switch are contiguous */
    int32_t *position;    /* per tree and rank: its index in order */
    th_switch_part *part; /* of participant n_ranks + i */
    int32_t *node;        /* of participant n_ranks + i */
    int32_t n_parts;
} th_switch_trees;

/* Trees for the group of cs, one for every best root, in its memory. 0 or -1. */
int th_switch_trees_init(th_switch_trees *t, th_collective_schedule *cs, th_error *err);

#endif
