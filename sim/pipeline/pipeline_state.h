/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_state.h - the state of a tile pipeline (pipeline.h); the machine keeps it by value. */
#ifndef TH_SIM_PIPELINE_PIPELINE_STATE_H
#define TH_SIM_PIPELINE_PIPELINE_STATE_H
#include <stdbool.h>
#include <stdint.h>
#include "sim/pipeline/schedule.h"

/* busy plus the stalls is the time since the start. A stall is attributed to the engine that the
 * array waits for: the first of input, weight, partial that is not loaded, else output (no slot is
 * free, or all is computed and not stored yet). */
typedef struct th_pipeline_stats {
    th_time busy_ps, stall_ps[TH_N_ENGINES];
    int64_t moved_bytes[TH_N_ENGINES]; /* through the DRAM, bursts included */
} th_pipeline_stats;

typedef enum { TH_ENGINE_IDLE, TH_ENGINE_WAITS, TH_ENGINE_MOVES } th_engine_phase;

typedef struct th_engine {
    int64_t bytes;      /* of the request that waits or moves, bursts included */
    double cap;         /* maximum effective bytes per second; INFINITY: takes no time */
    double left_bytes;  /* effective bytes (bytes / efficiency), at time since */
    double bytes_per_s; /* its rate from since on */
    th_time since;
    th_time at; /* waits: start of the transfer; moves: its end at this rate; idle: TH_TIME_MAX */
    int64_t n_done;            /* requests; the next or moving one has this number */
    int32_t index[TH_N_LOOPS]; /* loop indices of that request */
    int32_t phase;             /* th_engine_phase */
    bool was_blocked;          /* its next request waits for stores, not for a slot (serial) */
} th_engine;

/* The loops of the schedule: constant. */
typedef struct th_pipeline_loops {
    uint8_t order[TH_N_LOOPS]; /* outermost first; C last unless other loops run inside it */
    bool revisits;             /* th_schedule_revisits */
    bool spills;               /* it revisits, and partial sums go to DRAM in between */
    bool reads_partials;
    int64_t steps_in_c; /* steps of one C iteration, where it revisits */
} th_pipeline_loops;

/* The time at which each slot changed last. */
typedef struct th_pipeline_slots {
    th_time in_free[TH_SLOTS_MAX];   /* the slot of step j (mod slots_in) became free */
    th_time sums_free[TH_SLOTS_MAX]; /* likewise, or the sums that j reads back were stored */
    th_time out_full[TH_SLOTS_MAX];  /* output tile i (mod slots_out) was computed */
} th_pipeline_slots;

typedef struct th_pipeline {
    th_time now;               /* relative to the start */
    double demand_bytes_per_s; /* of network flows, on the DRAM */
    th_engine engine[TH_N_ENGINES];
    th_time compute_end;            /* of the running step; TH_TIME_MAX: none */
    int64_t steps_done, tiles_done; /* computed; a visit counts as a tile */
    int32_t index[TH_N_LOOPS];      /* of the running or next step */
    int32_t last_carry;             /* outermost loop that the end of the last step advanced */
    th_pipeline_loops loops;
    th_pipeline_slots slots;
    th_pipeline_stats stats;
    bool done, skip;
    bool rates_from_outside; /* the network shares the DRAM, see th_pipeline_demand */
    bool rates_are_stale;    /* the moving engines or the demand have changed */
    unsigned moving;         /* bit e: engine e moves data */
} th_pipeline;

#endif
