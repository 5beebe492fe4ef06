/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tiling.h - chooses tiles, loop order and the data that stays on chip, for an array behind
 * buffers. What a design fixes is not searched.
 *
 * The buffer of an operand holds at least `slots` tiles. If its size is known and it holds more,
 * the operand stays on chip through the loops that do not change it; the buffer then holds all its
 * tiles inside such a loop, or its slots, whichever is more. Partial sums stay likewise where other
 * loops run inside C; otherwise they are spilled and read back. If no sizes are known, every step
 * loads its operands again. */
#ifndef TH_SIM_DESIGN_TILING_H
#define TH_SIM_DESIGN_TILING_H
#include "base/error.h"
#include "sim/design/tiling_array.h"
#include "sim/pipeline/port.h"
#include "sim/pipeline/schedule.h"

/* The fastest schedule that the search finds for a shard on a memory; deterministic. -1 if no tile
 * fits; err tells what is missing. accesses and macs_per_cycle stay 0. The variant is the loop
 * order. */
int th_tiling_schedule(const th_tiling *t, const th_shard *s, const th_port *memory,
                       th_schedule *out, th_error *err);

#endif
