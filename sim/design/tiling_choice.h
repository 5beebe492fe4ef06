/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tiling_choice.h - types shared by the search for tilings (tiling.c), the schedule of a tiling
 * (tiling_choice.c) and the estimate of its time (tiling_estimate.c). */
#ifndef TH_SIM_DESIGN_TILING_CHOICE_H
#define TH_SIM_DESIGN_TILING_CHOICE_H
#include "sim/design/tiling_array.h"
#include "sim/pipeline/port.h"

/* A tile, a loop order, and the data that stays on chip. */
typedef struct th_tiling_choice {
    th_tile tile;
    const char *order;
    uint8_t input_stays, weight_stays;
    bool sums_stay;
} th_tiling_choice;

/* The shard to be run, and the memory. */
typedef struct th_tiling_problem {
    const th_tiling *t;
    const th_shard *s;
    const th_port *memory;
} th_tiling_problem;

int th_order_loop(const char *order, int place);
void th_tile_counts(const th_shard *s, const th_tile *tile, int32_t *count);
/* Loops that change an operand (bit 1 << TH_LOOP_x). */
unsigned th_tensor_loops(const th_shard *s, th_tensor tensor);

/* The tile of the steps in which the loops of mask are in their last iteration, and the largest
 * tile. */
th_tile th_tile_at(const th_tiling *t, const th_shard *s, const th_tile *full, unsigned mask);
th_tile th_tile_largest(const th_tiling *t, const th_shard *s, const th_tile *full);

/* Bytes of a tile in DRAM, by engine, and on chip. On chip, partial sums are dense and as wide as
 * the accumulator or the output, whichever is wider. */
int64_t th_tile_bytes(const th_tiling *t, const th_shard *s, const th_tile *tile, th_engine_kind e);
int64_t th_tile_held(const th_tiling *t, const th_shard *s, const th_tile *tile, th_tensor tensor);
/* Sets the contiguous bytes per request of a tile (run_bytes). */
void th_tile_runs(const th_tiling *t, const th_shard *s, const th_tile *tile, th_schedule *out);

/* Loops through which an operand stays, and the buffer bytes that this needs. */
typedef struct th_residency {
    unsigned stays;
    int64_t bytes;
} th_residency;
enum { TH_RESIDENCIES_MAX = TH_N_LOOPS };

/* Fills out from "nothing stays" to "everything stays"; returns the number of levels. For outputs
 * the levels are: sums are spilled, and, where loops run inside C, all sums stay. */
int th_tile_residencies(const th_tiling_problem *f, const char *order, const int32_t *count,
                        th_tensor tensor, int64_t tile_bytes, th_residency *out);

void th_tiling_choice_schedule(const th_tiling_problem *f, const th_tiling_choice *choice,
                               th_schedule *out);

/* Properties of a tile that no order changes; per engine: bytes of all tiles once and of one tile,
 * the number of tiles, DRAM time per byte relative to a full burst, and the bandwidth of the port.
 */
typedef struct th_tile_properties {
    int32_t count[TH_N_LOOPS];
    th_tile largest;
    int64_t held_bytes[TH_N_TENSORS]; /* of a tile on chip */
    double compute_ps, steps;
    double bytes[TH_N_ENGINES], tile_bytes[TH_N_ENGINES], tiles[TH_N_ENGINES];
    double dram_part[TH_N_ENGINES], bits_per_s[TH_N_ENGINES];
} th_tile_properties;
th_tile_properties th_tile_properties_of(const th_tiling_problem *f, const th_tile *full);

/* A tiling with its estimated time and traffic. */
typedef struct th_tiling_candidate {
    th_tiling_choice choice;
    double ps, bytes, steps;
} th_tiling_candidate;
th_tiling_candidate th_tiling_choice_estimate(const th_tiling_problem *f,
                                              const th_tile_properties *m,
                                              const th_tiling_choice *choice, bool revisits);

#endif
