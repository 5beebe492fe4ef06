/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tiling.h - tiles, loop order and what stays on chip, for an array behind buffers: what a design
 * leaves open is chosen for each layer.
 *
 * An operand's buffer holds slots tiles at least. Where its size is known and it holds more, the
 * operand stays on chip through the loops that do not change it: all its tiles inside such a loop,
 * or its slots, whichever is more. Likewise partial sums where other loops run inside C; else they
 * are spilled and read back. Without sizes every step loads its operands anew. */
#ifndef TH_SIM_DESIGN_TILING_H
#define TH_SIM_DESIGN_TILING_H
#include "base/error.h"
#include "sim/pipeline/port.h"
#include "sim/pipeline/schedule.h"

/* Extents of a step: output channels, input channels, output rows and columns. */
typedef struct th_tile {
    int64_t k, c, h, w;
} th_tile;

typedef struct th_tiling {
    int64_t hz;
    th_tile tile;                       /* 0: to be chosen */
    th_tile largest;                    /* that may be chosen; 0: as large as the layer */
    const char *order;                  /* "BHWKC": outermost first; NULL: to be chosen */
    int64_t buffer_bytes[TH_N_TENSORS]; /* 0: not known */
    int64_t shared_bytes;               /* one buffer for all three; 0: none */
    int32_t slots_in, slots_out;
    int32_t accumulator_bits;  /* of partial sums, on chip and spilled */
    bool clips;                /* remainder tiles are what they hold */
    bool has_halo;             /* a tile's input is its real window */
    bool has_runs;             /* rows of input, sums and output lie apart in DRAM */
    double port[TH_N_TENSORS]; /* elements per cycle */
    int64_t (*cycles)(const th_shard *s, const th_tile *t); /* of a step, 1 at least */
} th_tiling;

/* Is it each of BHWKC once? */
bool th_tiling_is_order(const char *text);

/* The fastest schedule that the search finds for a shard on a memory, the same for the same
 * arguments; -1 where no tile fits, with what is missing. Leaves accesses and macs_per_cycle 0. A
 * chosen order, and a given one, is its variant. */
int th_tiling_schedule(const th_tiling *t, const th_shard *s, const th_port *memory,
                       th_schedule *out, th_error *err);

#endif
