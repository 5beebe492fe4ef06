/* SPDX-License-Identifier: GPL-3.0-or-later */
/* machine.h - a system ready to simulate, and the replay of a program on it, event by event.
 *
 *   new -> load(program) -> (run_until | step)* -> result; load again -> ... -> free
 * Several machines can exist at once; one thread uses a machine. The system, the compute costs and
 * the program must outlive it. Its state is plain data (indices, no addresses). */
#ifndef TH_SIM_MACHINE_MACHINE_H
#define TH_SIM_MACHINE_MACHINE_H
#include <stdbool.h>
#include "sim/machine/property_event.h"
#include "sim/pipeline/completion_cache.h"
#include "sim/network/network.h"
#include "sim/program/program.h"
#include "sim/program/result.h"
#include "sim/program/observer.h"
#include "sim/replay/tuner.h"
#include "sim/design/compute_cost.h"

typedef struct th_machine th_machine;

typedef struct th_machine_options {
    const th_network_type *network; /* NULL: the default */
    th_network_options network_options;
    /* Treats DRAMs that flows can saturate as contended all the time (slower; same times, except
     * for rare differences of a picosecond in runs of hours: docs/models/network.md). */
    bool always_contended;
    bool per_layer; /* with results of each layer (takes a little longer) */
    /* Completion-time cache, shared with other machines with the same compute costs; not owned.
     * NULL: its own. */
    th_completion_cache *completions;
    /* What has been chosen for collectives on this system; not owned, and no other thread uses it
     * meanwhile. NULL: its own. */
    th_collective_choices *choices;
    bool (*is_interrupted)(void); /* polled; true: stop (INTERRUPTED). NULL: never */
} th_machine_options;

/* INTERRUPTED: between two events; any of the three run functions continues from there. A load that
 * is interrupted while algorithms are tuned fails with COLL-0024. */
typedef enum {
    TH_STOP_DONE,
    TH_STOP_UNTIL,
    TH_STOP_BOUND,
    TH_STOP_INTERRUPTED,
    TH_STOP_OBSERVER, /* an observer stopped the run, just after an event */
    TH_STOP_ERROR
} th_stop;

th_machine *th_machine_new(const th_system *s, const th_compute_cost_cache *w,
                           const th_machine_options *o, th_error *err);
void th_machine_free(th_machine *m);

/* The context for tuning collectives on this machine's system and options; *m must outlive it. */
th_tuner_context th_machine_tuner_context(th_machine *m);

/* Resets to time 0. The program is not copied. 0 or -1. */
int th_machine_load(th_machine *m, const th_program *p, th_error *err);

/* From `at` on (relative to the task's start), flows demand this much DRAM bandwidth. */
typedef struct th_demand_change {
    th_time at;
    double bytes_per_s;
} th_demand_change;

/* A compute task in flight while the network has no flow. */
typedef struct th_in_flight {
    th_time started_ps; /* <= 0 */
    const th_demand_change
        *demands; /* demand history so far; its last change is to 0; may be empty */
    size_t n_demands;
} th_in_flight;

/* True if a run on this machine can be cut at a time without flows and continued by resume with the
 * same times to the picosecond. False with contended DRAMs, or a network that
 * keeps state without flows. */
bool th_machine_can_resume(const th_machine *m);
/* Like load, but the first n tasks of the program, computes on different accelerators, are in
 * flight at time 0 as in f[0 .. n). The machine logs start and demand history of every compute
 * task. */
int th_machine_resume(th_machine *m, const th_program *p, const th_in_flight *f, int32_t n,
                      th_error *err);
/* After resume: the state at time t, at which the network had no flow, of a compute task that has
 * ended since. started_ps is relative to t, demands to the start of the task; they are valid until
 * the next load. */
th_in_flight th_machine_in_flight_at(const th_machine *m, int32_t task, th_time t);

/* Runs all events up to and including time `until`. DONE: the program has ended. ERROR: it cannot
 * end (tasks are left, but no event); err names the first such task. */
th_stop th_machine_run_until(th_machine *m, th_time until, th_error *err);
/* Stops (BOUND) when the next event is after bound: the search has a better candidate. */
th_stop th_machine_run_bounded(th_machine *m, th_time bound, th_error *err);
/* Runs a program whose only task is a collective of many messages that all start at once, without
 * its events. 1: *end tells when it ends, and unless that is after limit, it has ended; 0: it has
 * to run event by event, as it has begun, has observers, or its messages wait for others; -1. The
 * functions above do so themselves. */
int th_machine_run_together(th_machine *m, th_time limit, th_time *end, th_error *err);
/* Runs the next n program events (starts and ends of tasks and of messages of collectives, counted
 * one by one). DONE: none is left, else UNTIL. */
th_stop th_machine_step(th_machine *m, int64_t n, th_error *err);

/* The first link that is down and that transfers wait for, -1: none. */
int th_machine_awaited_link(const th_machine *m);

th_time th_machine_now(const th_machine *m);
bool th_machine_is_done(const th_machine *m);
int64_t th_machine_events(const th_machine *m); /* program events so far */
int64_t th_machine_tasks_done(const th_machine *m);

/* The end of the last task so far of an input of the stream; -1: none. */
th_time th_machine_input_end(const th_machine *m, int32_t input);

/* By task of the program; -1: not yet. Valid until the next load. */
const th_task_result *th_machine_times(const th_machine *m);

typedef enum { TH_TASK_WAITING, TH_TASK_READY, TH_TASK_RUNNING, TH_TASK_DONE } th_task_state;
th_task_state th_machine_task_state(const th_machine *m, int32_t task);
/* Task that runs on accelerator accel now, or -1. */
int32_t th_machine_running(const th_machine *m, int accel);
/* Has a fault stopped the accelerator? Its task, if it has one, then waits for a repair. */
bool th_machine_is_dead(const th_machine *m, int accel);
/* Transfers in flight over a link now. */
int32_t th_machine_link_flows(const th_machine *m, int link);

/* The same as th_machine_result for one accelerator and one link, without energy. */
th_accel_result th_machine_accel(const th_machine *m, int accel);
th_link_result th_machine_link(const th_machine *m, int link);
th_time th_machine_elapsed(const th_machine *m); /* now, or the makespan once all is done */
int32_t th_machine_waiting(const th_machine *m, int accel); /* its ready compute tasks */
th_tiles th_machine_tiles(const th_machine *m, int accel);  /* of its running task */

/* A collective of the program with the tuned algorithm and chunks. NULL: it has no schedule yet, or
 * the network runs collectives as a whole. Valid until the next load. */
const th_collective *th_machine_collective(const th_machine *m, int32_t number);

/* Replaces the list of observers of the machine; NULL: none. They must live until they are replaced
 * or the machine is freed. An observer that does not follow the present run is restarted, and gets
 * the state of the run. No simulated time changes; tasks whose tiles an observer wants stepped run
 * tile by tile from now on, which takes longer. 0 or -1. */
int th_machine_observe(th_machine *m, th_observer *first, th_error *err);

/* Fills *out (see result.h) for the time so far; out is th_result_clear'ed by the caller. 0 or
 * -1. */
int th_machine_result(const th_machine *m, th_result *out, th_error *err);

/* properties.c: do the system and a network of this type support the property event? 0 or -1. */
int th_property_event_check(const th_system *s, const th_network_type *network,
                            const th_property_event *c, th_error *err);
/* 0, or -1 with nothing changed. */
int th_machine_add_property_event(th_machine *m, const th_property_event *c, th_error *err);
/* The present factor of a property of an object. */
double th_machine_property_factor(const th_machine *m, th_property_kind kind, int object);
/* The one that it has once all faults of the object have ended. */
double th_machine_property_without_faults(const th_machine *m, th_property_kind kind, int object);

#endif
