/* SPDX-License-Identifier: GPL-3.0-or-later */
/* segment_state.h - private to the segment memo: what it remembers, and the mapping at hand. */
#ifndef TH_MAPPER_EVALUATE_SEGMENT_STATE_H
#define TH_MAPPER_EVALUATE_SEGMENT_STATE_H
#include <stdatomic.h>

#include "base/arena.h"
#include "base/shared_map.h"
#include "mapper/lower/emit.h"
#include "mapper/lower/footprint.h"
#include "mapper/evaluate/segment.h"
#include "mapper/evaluate/segment_pieces.h"

enum { TH_SEGMENT_ENTRY_BYTES = 96 }; /* of a map for one entry, about */

/* What th_segments remember never changes once others can find it. Numbers are for keys. */

/* A piece as sets with designs and strategies have it. */
typedef struct th_placed_piece {
    int32_t number;
    th_footprint_part part[]; /* by accelerator */
} th_placed_piece;

/* What remains at a cut. The draws are those of the tasks in order. */
typedef struct th_segment_state {
    int32_t number; /* 0: the state before the first piece, in which nothing is left of any */
    int32_t n_tasks, n_waits, n_finals, n_draws;
    const th_pending_task *task;
    const th_pending_dependency *wait;
    const int32_t *final;
    const th_demand_change *draw;
} th_segment_state;

typedef enum { TH_STEP_TO_STATE, TH_STEP_TO_END, TH_STEP_NO_CUT, TH_STEP_FULL_REPLAY } th_step_end;

typedef struct th_segment_step {
    th_time elapsed_ps;
    th_step_end end;
    const th_segment_state *to; /* of TO_STATE */
} th_segment_step;

struct th_segments {
    th_lower *lower;
    th_program *program;
    th_machine *machine;
    th_segments *first; /* of those that share what they remember; maybe itself */
    th_segments *next;  /* those that share with the first */
    /* of the first; the others refer to it */
    th_piece *pieces; /* of the network; the same for all mappings */
    int32_t n_pieces;
    th_shared_map *kinds, *states, *steps;
    atomic_int_fast32_t n_kinds, n_states; /* numbers given away */
    atomic_size_t held_bytes;
    size_t limit;
    /* its own */
    th_arena *arena; /* where what it made lies */
    const th_mapping *mapping;
    int32_t *key;                 /* scratch: of a piece; a state and all pieces */
    const th_placed_piece **kind; /* by piece */
    th_footprint_part *sum;       /* by accelerator; at_begin is not used */
    th_under_way *under_way;      /* scratch, by task */
    int32_t *number;       /* scratch, by task of the program: its number among what remains */
    th_pending_task *task; /* scratch: of the state at hand */
    th_pending_dependency *wait;
    int32_t *final;
    th_demand_change *draw;
    char *state_key;
    size_t task_room, wait_room, final_room, draw_room, state_key_room, number_room;
    th_segment_counts counts;
};

/* After a replay of a segment up to this layer: the step to the state at its cut, if there is one.
 * 0, or -1: memory is out. */
int th_segment_cut(th_segments *s, int layer, th_segment_step *out);

#endif
