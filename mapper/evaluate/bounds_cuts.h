/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_cuts.h - private to the bounds: how the pieces of a tensor that a strategy makes meet
 * those that a strategy of its reader needs, along one axis.
 *   (add -> meet)* -> clear */
#ifndef TH_MAPPER_EVALUATE_BOUNDS_CUTS_H
#define TH_MAPPER_EVALUATE_BOUNDS_CUTS_H
#include <stddef.h>

#include "workloads/layer.h"

enum { TH_CUT_PIECES_MAX = 64 }; /* positions times chunks */

/* The different ranges of positions along one axis, each in as many as there are chunks. */
typedef struct th_cut {
    int32_t n, chunks;
    int32_t lo[TH_CUT_PIECES_MAX], hi[TH_CUT_PIECES_MAX]; /* chunk by chunk of each */
} th_cut;

typedef struct th_cut_list {
    th_cut *item;
    size_t n, capacity;
} th_cut_list;

/* Of boxes, chunk by chunk of each of n positions. The number of the cut; -1: memory is out. */
int32_t th_cut_add(th_cut_list *l, const th_box *boxes, int n, int chunks, int axis);
void th_cut_clear(th_cut_list *l);

/* The least over all pieces that are held, in elements along the axis. A reader of a piece is a
 * position that needs some of it. */
typedef struct th_meeting {
    /* of the reader that needs most of the piece: how much, in any of its chunks, in how many */
    double most, most_chunk;
    int32_t most_chunks;
    /* of all readers: their number, and the least of the above */
    int32_t readers;
    double each, each_chunk;
    int32_t each_chunks;
} th_meeting;

th_meeting th_cut_meet(const th_cut *held, const th_cut *needed);

#endif
