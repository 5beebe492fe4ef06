/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline.h - one accelerator at work on one schedule: load engines, array, store engine.
 *
 *   start -> (advance | set_foreign)* -> finish, in times relative to the start
 *
 * Input and weight engines fill slots in the order of the steps; a step computes when both operands are in
 * and an output slot is free; a store empties the output slot. The DRAM is shared fairly among the engines
 * at work and what others (network flows) draw from it; each engine is also limited by its own port. A
 * request pays the DRAM latency once, hidden behind the transfer before it when its slot was free early.
 * Stalls, fill and drain are consequences.
 *
 * Plain data: copying the struct copies the state. A pipeline in a steady state is periodic; advance jumps
 * whole periods at once when exact (a state that recurs bit by bit), and th_pipeline_set_skip(false) turns
 * that off: results are the same to the picosecond. */
#ifndef TH_SIM_PIPELINE_H
#define TH_SIM_PIPELINE_H
#include <stdbool.h>
#include "sim/schedule.h"

/* The local memory as its engines see it. */
typedef struct th_port {
    int64_t bits_per_s;
    th_time latency_ps;
    int64_t burst_bytes;       /* every request is rounded up to it */
} th_port;

/* Where the time went; busy + stall_in + stall_out = the time since the start. */
typedef struct th_pipeline_stats {
    th_time busy_ps, stall_in_ps, stall_out_ps;
    int64_t read_bytes, written_bytes;   /* through the DRAM, bursts included */
    int64_t n_steps, n_stores;
} th_pipeline_stats;

/* private: the machine keeps it by value. */
typedef struct th_engine {
    double left_bytes;         /* of the request that moves now */
    double bytes_per_s;        /* its rate now, when moving */
    th_time data_at;           /* when its first byte moves, when waiting */
    int64_t issued;            /* requests begun, since the start */
    int32_t index[TH_N_LOOPS]; /* the loops of the request that moves or comes next */
    int32_t phase;             /* 0 idle, 1 waiting for data_at, 2 moving, 3 all done */
} th_engine;

typedef struct th_pipeline {
    th_time now;               /* relative to the start */
    double foreign_bytes_per_s;/* what others draw from the DRAM */
    th_engine engine[TH_N_ENGINES];
    th_time compute_end;       /* of the running step; TH_TIME_MAX when none runs */
    int32_t index[TH_N_LOOPS]; /* the step that runs or comes next */
    int64_t steps_done, stores_done, tiles_done;   /* tiles: output tiles computed */
    th_time slot_free[TH_N_ENGINES][TH_SLOTS_MAX]; /* when each slot became free, by request number */
    th_pipeline_stats stats;
    bool done, skip;
} th_pipeline;

void th_pipeline_start(th_pipeline *p, const th_schedule *s, const th_port *port, double foreign_bytes_per_s,
                       bool skip);
/* Runs all events up to and including time t (relative). */
void th_pipeline_advance(th_pipeline *p, const th_schedule *s, const th_port *port, th_time t);
/* Others now draw this much, from p->now on. */
void th_pipeline_set_foreign(th_pipeline *p, const th_schedule *s, const th_port *port, double bytes_per_s);
/* Runs to the end; the time at which the last byte is stored. */
th_time th_pipeline_finish(th_pipeline *p, const th_schedule *s, const th_port *port);
/* The time of the next internal event, TH_TIME_MAX when done. */
th_time th_pipeline_next(const th_pipeline *p);

#endif
