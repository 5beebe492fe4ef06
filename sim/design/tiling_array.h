/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tiling_array.h - the array behind buffers that tilings are chosen for (tiling.h). */
#ifndef TH_SIM_DESIGN_TILING_ARRAY_H
#define TH_SIM_DESIGN_TILING_ARRAY_H
#include <stdbool.h>
#include <stdint.h>
#include "sim/pipeline/schedule.h"

/* Extents of a step: output channels, input channels, output rows and columns. */
typedef struct th_tile {
    int64_t k, c, h, w;
} th_tile;

typedef struct th_tiling {
    int64_t hz;
    th_tile tile;                       /* extents of 0 are chosen by the search */
    th_tile largest;                    /* upper limits of the search; 0: the extent of the layer */
    const char *order;                  /* "BHWKC": outermost first; NULL: chosen by the search */
    int64_t buffer_bytes[TH_N_TENSORS]; /* 0: unknown */
    int64_t shared_bytes; /* size of one buffer for all three tensors; 0: there is none */
    int32_t slots_in, slots_out;
    int32_t accumulator_bits;  /* of partial sums, on chip and spilled */
    bool clips;                /* a remainder tile costs what it holds, not a full tile */
    bool has_halo;             /* the input of a tile is the window that its outputs read */
    bool has_runs;             /* rows of input, sums and output are not contiguous in DRAM */
    double port[TH_N_TENSORS]; /* elements per cycle */
    int64_t (*cycles)(const th_shard *s, const th_tile *t); /* of a step, at least 1 */
} th_tiling;

/* tiling_choice.c: true if the text has each letter of BHWKC once. */
bool th_tiling_is_order(const char *text);

#endif
