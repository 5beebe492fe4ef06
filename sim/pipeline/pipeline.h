/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline.h - one accelerator at work on one schedule: load engines, array, store engine.
 *
 *   start -> (advance | set_foreign)* -> finish, in times relative to the start
 *
 * Input and weight engines fill slots in the order of the steps; a step computes when both operands
 * are in and an output slot is free; a store empties the output slot. The DRAM is shared fairly
 * among the engines at work and what others (network flows) draw from it; each engine is also
 * limited by its own port. A request pays the DRAM latency once, hidden behind the transfer before
 * it when its slot was free early. Stalls, fill and drain are consequences.
 *
 * Plain data: copying the struct copies the state. A pipeline in a steady state is periodic;
 * advance jumps whole periods at once when exact (a state that recurs bit by bit), where it is
 * started with skip; without, results are the same to the picosecond. */
#ifndef TH_SIM_PIPELINE_PIPELINE_H
#define TH_SIM_PIPELINE_PIPELINE_H
#include <stdbool.h>
#include "sim/pipeline/port.h"
#include "sim/pipeline/schedule.h"

/* Where the time went; busy and the stalls are the time since the start. A stall is the engine's
 * that the array waits for: the first of input, weight, partial that is not in, else output (no
 * slot is free, or all is computed and not stored yet). */
typedef struct th_pipeline_stats {
    th_time busy_ps, stall_ps[TH_N_ENGINES];
    int64_t moved_bytes[TH_N_ENGINES]; /* through the DRAM, bursts included */
} th_pipeline_stats;

th_time th_stats_stall_in(const th_pipeline_stats *s); /* for any operand */
th_time th_stats_occupied(const th_pipeline_stats *s); /* busy and all stalls */
int64_t th_stats_read(const th_pipeline_stats *s);
void th_stats_add(th_pipeline_stats *sum, const th_pipeline_stats *s);

/* private: the machine keeps it by value. */
typedef enum { TH_ENGINE_IDLE, TH_ENGINE_WAITS, TH_ENGINE_MOVES } th_engine_phase;

typedef struct th_engine {
    int64_t bytes;      /* of the request that waits or moves, bursts included */
    double cap;         /* bytes of DRAM time per second that it can take; INFINITY: no time */
    double left_bytes;  /* of DRAM time (bytes / efficiency), at time since */
    double bytes_per_s; /* its rate from since on */
    th_time since;
    th_time at; /* waits: when its first byte moves; moves: when it will be through at this rate;
                   idle: TH_TIME_MAX */
    int64_t n_done;            /* requests through; the next or moving one has this number */
    int32_t index[TH_N_LOOPS]; /* the loops of that request */
    int32_t phase;             /* th_engine_phase */
    bool was_blocked;          /* its next request waits for stores, not for a slot (serial) */
} th_engine;

/* The first weights of the task that comes next. The weight engine loads them when those of its own
 * task are in, each into the slot that the array has left: double buffering goes on from task to
 * task. */
typedef struct th_prefetch_plan {
    int32_t n;                   /* requests, one a step, at most one a slot; 0: no weights */
    int64_t bytes[TH_SLOTS_MAX]; /* bursts included; 0: what the request before it brought stays */
    double dram_bytes[TH_SLOTS_MAX]; /* of DRAM time */
    double cap[TH_SLOTS_MAX];        /* see th_engine */
} th_prefetch_plan;

/* How far they have come. */
typedef struct th_prefetch_state {
    int64_t n_done, moved_bytes; /* requests through, and what they moved */
    int64_t phase;               /* th_engine_phase of the next one, and, unless it is idle: */
    th_time latency_left;
    double left_bytes;
} th_prefetch_state;

typedef struct th_pipeline {
    th_time now;               /* relative to the start */
    double demand_bytes_per_s; /* what others draw from the DRAM */
    th_engine engine[TH_N_ENGINES];
    th_time compute_end;            /* of the running step; TH_TIME_MAX when none runs */
    int64_t steps_done, tiles_done; /* computed; a visit counts as a tile */
    int32_t index[TH_N_LOOPS];      /* the step that runs or comes next */
    int32_t last_carry;             /* outermost loop that the last step's end advanced */
    uint8_t order[TH_N_LOOPS];      /* of the schedule */
    bool revisits, spills, reads_partials, uses_weights;
    int64_t steps_in_c;              /* steps of one C iteration, where it revisits */
    th_time in_free[TH_SLOTS_MAX];   /* when the slot of step j (mod slots_in) became free */
    th_time sums_free[TH_SLOTS_MAX]; /* the same, or when the sums that j reads back were stored */
    th_time out_full[TH_SLOTS_MAX];  /* when output tile i (mod slots_out) was computed */
    th_pipeline_stats stats;
    bool done, skip;
    bool rates_from_outside; /* the network shares the DRAM, see th_pipeline_demand */
    bool rates_are_old;      /* who moves, or what others draw, has changed since rates were set */
    unsigned moving;         /* bit e: engine e moves data */
    bool weights_in;         /* all requests of the weight engine's own task are through */
    /* A memo, and no part of the state: the engines' rates while exactly those in a mask move. */
    unsigned shares_known; /* bit m: share[m] is up to date */
    double share[1 << TH_N_ENGINES][TH_N_ENGINES];
    /* What is loaded ahead; nothing of it moves before weights_in. */
    th_prefetch_plan next;
    th_engine prefetch;
    int64_t prefetch_moved;
    bool is_idle; /* no task, only loads ahead */
} th_pipeline;

void th_pipeline_start(th_pipeline *p, const th_schedule *s, const th_port *port,
                       double demand_bytes_per_s, bool skip);
/* Runs all events up to and including time t (relative); p->now is t then, or the end if that is
 * earlier. */
void th_pipeline_advance(th_pipeline *p, const th_schedule *s, const th_port *port, th_time t);
/* Others now draw this much, from p->now on. */
void th_pipeline_set_demand(th_pipeline *p, const th_port *port, double bytes_per_s);
/* Runs to the end; the time at which the last byte is stored, TH_TIME_MAX if time ends before. */
th_time th_pipeline_finish(th_pipeline *p, const th_schedule *s, const th_port *port);
/* The time of the next internal event, TH_TIME_MAX when done or when all wait for a rate. */
th_time th_pipeline_next(const th_pipeline *p);

/* What an array is doing; of stalls, the engine that it waits for. */
typedef enum {
    TH_ARRAY_IDLE, /* no task */
    TH_ARRAY_COMPUTES,
    TH_ARRAY_STALLS_INPUT,
    TH_ARRAY_STALLS_WEIGHT,
    TH_ARRAY_STALLS_PARTIAL,
    TH_ARRAY_STALLS_OUTPUT
} th_array_state;

/* A look inside a task; all 0 stands for none. */
typedef struct th_tiles {
    int32_t fill;    /* tiles in its buffers: inputs loaded and not used up, outputs not stored */
    int32_t is_full; /* 1: all slots of inputs, or all of outputs, hold one */
    int32_t array;   /* th_array_state */
    uint32_t moving; /* bit e: engine e moves data */
} th_tiles;
const char *th_array_state_name(int32_t state);
th_tiles th_pipeline_tiles(const th_pipeline *p, const th_schedule *s);

/* Weights loaded ahead. plan_of: what of a schedule may be loaded before it starts. handover: how
 * far what comes next is at p->now. */
th_prefetch_plan th_prefetch_plan_of(const th_schedule *s, const th_port *port);
th_prefetch_state th_pipeline_prefetch_state(const th_pipeline *p);
/* Stands for no task: such a pipeline only loads ahead, and is done when that is. */
extern const th_schedule th_no_schedule;

typedef struct th_pipeline_options {
    double demand_bytes_per_s;
    bool skip, rates_from_outside;
    const th_prefetch_state
        *inherited; /* own weights that are in, or on their way, already; NULL: none */
    const th_prefetch_plan *next; /* what to load ahead, NULL: nothing; and what of it is done */
    const th_prefetch_state *next_done;
} th_pipeline_options;
void th_pipeline_start_with(th_pipeline *p, const th_schedule *s, const th_port *port,
                            const th_pipeline_options *b);

/* For a DRAM that network flows can saturate (the network then shares it among flows and engines):
 * from p->now on rates come from outside; or no longer: then others draw nothing, and whole periods
 * may be jumped. While they do, every advance may change the demand, and the caller sets the rates.
 * demand: bit e is set while engine e moves data. */
void th_pipeline_enter_contention(th_pipeline *p);
void th_pipeline_leave_contention(th_pipeline *p, const th_port *port, bool skip);
unsigned th_pipeline_demand(const th_pipeline *p);
double th_pipeline_cap(const th_pipeline *p, th_engine_kind e); /* bytes of DRAM time per second */
void th_pipeline_set_rate(th_pipeline *p, th_engine_kind e, double bytes_per_s);

#endif
