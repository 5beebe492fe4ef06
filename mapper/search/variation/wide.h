/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wide.h - small changes at random, of kinds that dynamic programming and the lists of polish leave
 * out: any strategy, chunks and strategies of their own for layers of the vector unit, the same for
 * a layer of all blocks that are alike, places and shares of members. For the full space. */
#ifndef TH_MAPPER_SEARCH_VARIATION_WIDE_H
#define TH_MAPPER_SEARCH_VARIATION_WIDE_H
#include "mapper/search/variation/variation.h"

typedef enum {
    TH_WIDE_STRATEGY, /* of a layer */
    TH_WIDE_CHUNKS,
    TH_WIDE_BLOCKS_STRATEGY, /* of a layer and those alike in other blocks */
    TH_WIDE_BLOCKS_CHUNKS,
    TH_WIDE_PLACES, /* two members of a set change them */
    TH_WIDE_SHARE,  /* of a member, where a set has shares */
    TH_N_WIDE
} th_wide;

/* *out is the caller's, NULL when what was drawn cannot be made. 0 or -1. */
int th_variation_wide(th_variation *v, const th_mapping *mother, th_wide kind, th_mapping **out,
                      th_error *err);

/* The layers first, first + period .. below end are alike: each stands at the same place of a block
 * of layers that comes several times in a row. */
typedef struct th_alike {
    int first, end, period; /* period 0: there is no other */
} th_alike;
/* Those of the layer; shape: of each of the n layers, equal where shapes are. */
th_alike th_alike_layers(const int32_t *shape, int n, int layer);

/* Digits of places in the mixed radix of the prime factors of the number of members. */
int th_set_digits(const th_set *set);
/* Two of them, i and j, change places in the order of members, so that what lay in rows comes in
 * blocks. 0, or -1: memory is out. */
int th_set_swap_digits(th_set *set, int i, int j);
#endif
