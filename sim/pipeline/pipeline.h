/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline.h - the tile pipeline of one accelerator: load engines, array, store engine.
 *
 *   start -> (advance | set_demand)* -> finish, in times relative to the start
 *
 * The input and weight engines fill slots in the order of the steps. A step computes when its
 * operands are loaded and an output slot is free; a store empties the output slot. The engines that
 * move data share the DRAM fairly with each other and with the demand of network flows; each engine
 * is also limited by its own port. A request pays the DRAM latency once, hidden behind the transfer
 * before it if its slot was free early. Stalls, fill and drain follow from these rules.
 *
 * A pipeline is plain data: copying the structure copies the state. In a steady state it is
 * periodic; with the option `skip`, advance skips whole periods where that is exact (a state that
 * recurs bit by bit). Results without skip are equal to the picosecond. */
#ifndef TH_SIM_PIPELINE_PIPELINE_H
#define TH_SIM_PIPELINE_PIPELINE_H
#include <stdbool.h>
#include "sim/pipeline/pipeline_state.h"
#include "sim/pipeline/port.h"
#include "sim/pipeline/schedule.h"

th_time th_stats_stall_in(const th_pipeline_stats *s); /* for any operand */
th_time th_stats_occupied(const th_pipeline_stats *s); /* busy and all stalls */
int64_t th_stats_read(const th_pipeline_stats *s);
void th_stats_add(th_pipeline_stats *sum, const th_pipeline_stats *s);

typedef struct th_pipeline_options {
    double demand_bytes_per_s;
    bool skip, rates_from_outside;
} th_pipeline_options;

void th_pipeline_start(th_pipeline *p, const th_schedule *s, const th_port *port,
                       const th_pipeline_options *o);
/* Runs all events up to and including time t (relative); p->now is t then, or the end if that is
 * earlier. */
void th_pipeline_advance(th_pipeline *p, const th_schedule *s, const th_port *port, th_time t);
/* The DRAM demand of network flows from p->now on. */
void th_pipeline_set_demand(th_pipeline *p, const th_port *port, double bytes_per_s);
/* Runs to the end; the time at which the last byte is stored, TH_TIME_MAX if time ends before. */
th_time th_pipeline_finish(th_pipeline *p, const th_schedule *s, const th_port *port);
/* Time of the next internal event; TH_TIME_MAX: done, or all wait for a rate. */
th_time th_pipeline_next(const th_pipeline *p);

/* Of stalls, the engine that the array waits for. */
typedef enum {
    TH_ARRAY_IDLE, /* no task */
    TH_ARRAY_COMPUTES,
    TH_ARRAY_STALLS_INPUT,
    TH_ARRAY_STALLS_WEIGHT,
    TH_ARRAY_STALLS_PARTIAL,
    TH_ARRAY_STALLS_OUTPUT
} th_array_state;

/* The state of the tiles of a task; all 0: no task. */
typedef struct th_tiles {
    int64_t done;    /* steps that the array has computed */
    int32_t fill;    /* tiles in its buffers: inputs loaded and not computed, outputs not stored */
    int32_t is_full; /* 1: all slots of inputs, or all of outputs, hold one */
    int32_t array;   /* th_array_state */
    uint32_t moving; /* bit e: engine e moves data */
} th_tiles;
const char *th_array_state_name(int32_t state);
th_tiles th_pipeline_tiles(const th_pipeline *p, const th_schedule *s);

/* For a DRAM that network flows can saturate: the network then shares it among flows and engines.
 * enter: from p->now on, the caller sets the rates; every advance may change the demand. leave: the
 * demand of flows is 0 again, and `skip` is allowed again. demand: bit e: engine e moves data. */
void th_pipeline_enter_contention(th_pipeline *p);
void th_pipeline_leave_contention(th_pipeline *p, const th_port *port, bool skip);
unsigned th_pipeline_demand(const th_pipeline *p);
double th_pipeline_cap(const th_pipeline *p, th_engine_kind e); /* effective bytes per second */
void th_pipeline_set_rate(th_pipeline *p, th_engine_kind e, double bytes_per_s);

#endif
