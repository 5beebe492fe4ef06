/* SPDX-License-Identifier: GPL-3.0-or-later */
/* segment_state.h - private to the segment memo: its entries, and the mapping at hand. */
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

/* Entries of the memo never change once published. Their numbers stand in keys. */

/* A piece with the sets, designs and strategies of its layers. */
typedef struct th_placed_piece {
    int32_t number;
    th_footprint_part part[]; /* by accelerator */
} th_placed_piece;

/* The state at a cut: pending tasks, and the DRAM demand histories of those that run, in order. */
typedef struct th_segment_state {
    int32_t number; /* 0: the state before the first piece, in which nothing is left of any */
    int32_t n_tasks, n_waits, n_finals, n_demands;
    const th_pending_task *task;
    const th_pending_dependency *wait;
    const int32_t *final;
    const th_demand_change *demand;
} th_segment_state;

typedef enum { TH_STEP_TO_STATE, TH_STEP_TO_END, TH_STEP_NO_CUT, TH_STEP_FULL_REPLAY } th_step_end;

typedef struct th_segment_step {
    th_time elapsed_ps;
    th_step_end end;
    const th_segment_state *to; /* of TO_STATE */
    int64_t work;               /* tasks lowered and events simulated */
} th_segment_step;

/* Shared by all evaluators. Read without a lock; entries never change. */
typedef struct th_segment_memo {
    th_piece *pieces; /* of the network; the same for all mappings */
    int32_t n_pieces;
    th_shared_map *placed_pieces, *states, *steps;
    atomic_int_fast32_t n_placed_pieces, n_states; /* numbers given away */
    atomic_size_t held_bytes;
    size_t limit;
} th_segment_memo;

/* The state at a cut, while it is read off a replay. */
typedef struct th_state_scratch {
    int32_t *number; /* by task of the program: its number among the pending tasks */
    th_pending_task *task;
    th_pending_dependency *wait;
    int32_t *final;
    th_demand_change *demand;
    char *state_key;
    size_t number_capacity, task_capacity, wait_capacity, final_capacity, demand_capacity,
        state_key_capacity;
} th_state_scratch;

struct th_segments {
    th_lower *lower;
    th_program *program;
    th_machine *machine;
    th_segments *first;    /* of those that share the memo; maybe itself */
    th_segments *next;     /* those that share with the first */
    th_segment_memo *memo; /* of the first */
    th_arena *arena;       /* memory of the entries that this one made */
    const th_mapping *mapping;
    const th_placed_piece **placed; /* by piece: as the mapping has it */
    int32_t *key;                   /* scratch: of a piece; a state and all pieces */
    th_footprint_part *memory_sum;  /* scratch, by accelerator; at_begin is not used */
    th_in_flight *under_way;        /* scratch, by task */
    th_state_scratch scratch;
    th_segment_counts counts;
};

/* After a replay of a segment up to this layer: the step to the state at its cut, if there is one.
 * 0, or -1: memory is out. */
int th_segment_cut(th_segments *s, int layer, th_segment_step *out);

#endif
