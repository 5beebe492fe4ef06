/* SPDX-License-Identifier: GPL-3.0-or-later */
/* segment_pieces.h - private to the segment memo: the pieces of a network. */
#ifndef TH_MAPPER_EVALUATE_SEGMENT_PIECES_H
#define TH_MAPPER_EVALUATE_SEGMENT_PIECES_H
#include "mapper/lower/lower_state.h"

/* Layers first .. last, which read nothing but the output of layer first - 1 (or the external
 * input) and each other, and of which others read the last one alone. */
typedef struct th_piece {
    int32_t first, last;
    /* equal for pieces of layers of equal shape that read each other in the same way */
    int32_t shape;
} th_piece;

/* Cuts the network of l: *out is the caller's to free, also on failure. 0, or -1: memory is out. */
int th_pieces_find(const th_lower *l, th_piece **out, int32_t *n);

#endif
