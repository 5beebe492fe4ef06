/* SPDX-License-Identifier: GPL-3.0-or-later */
/* polish_moves.h - the changes that local search tries, by kind.
 *   list (a kind), when `now` is there and when all of them have been tried -> make* -> free */
#ifndef TH_MAPPER_SEARCH_ALGORITHMS_POLISH_MOVES_H
#define TH_MAPPER_SEARCH_ALGORITHMS_POLISH_MOVES_H
#include "mapper/search/variation/wide.h"

/* Those up to TH_MOVE_SHARE change the partitioning; those from TH_MOVE_WIDE on, a th_wide each,
 * are drawn and not listed. */
typedef enum {
    TH_MOVE_DESIGN,
    TH_MOVE_BOUNDARY,
    TH_MOVE_ORDER,
    TH_MOVE_EXCHANGE,
    TH_MOVE_MEMBER,
    TH_MOVE_REGROUP,
    TH_MOVE_SHARE,
    TH_MOVE_SHAPE_CHUNKS,
    TH_MOVE_RUN_CHUNKS,
    TH_MOVE_SHAPE,
    TH_MOVE_RUN,
    TH_MOVE_WIDE,
    TH_N_MOVES = TH_MOVE_WIDE + TH_N_WIDE
} th_move_kind;

typedef struct th_move {
    th_move_kind kind;
    int at;    /* set; accelerator; or layer: the first after the boundary, of the run */
    int to;    /* design; layers; accelerator; set, -1: idle; percent; chunks; choice; digit */
    int other; /* of a share the position; of a run its length; of an order a digit */
    int dim;   /* of chunks */
    bool reoptimised; /* strategies of the sets that change by dynamic programming */
} th_move;

typedef struct th_moves {
    th_move *at;
    size_t n, capacity;
} th_moves;

/* All of a kind that is listed for a mapping. 0 or -1. */
int th_moves_list(th_variation *v, const th_mapping *now, th_move_kind kind, th_moves *out,
                  th_error *err);
/* *out NULL: the move changes nothing, or cannot be made. 0 or -1. */
int th_move_make(th_variation *v, const th_mapping *now, const th_move *move, th_mapping **out,
                 th_error *err);
#endif
