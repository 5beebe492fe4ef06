/* SPDX-License-Identifier: GPL-3.0-or-later */
/* machine.h - a system made ready to run, and the replay of a program on it, event by event.
 *
 *   new -> load(program) -> (run_until | step)* -> result; load again -> ... -> free
 * Several machines live side by side; one machine belongs to one thread. The system, the compute
 * costs and the program must outlive it. All its state is plain data (indices, no addresses). */
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
    bool expand_all; /* run every tile pipeline event by event (slow, same times) */
    /* DRAMs that flows can saturate are, all along (slower; same times, but for a picosecond now
     * and then in runs of hours: docs/models/network.md). */
    bool always_contended;
    bool no_skip;         /* tile pipelines never jump whole periods (slower, same times) */
    uint64_t expand_seed; /* not 0: expand tasks at random instants (tests; same times) */
    bool per_layer;       /* results tell what each layer took (costs a little time) */
    /* Ends of computes, together with other machines on the same compute costs; not owned. NULL:
     * its own.
     */
    th_completion_cache *completions;
    bool (*is_interrupted)(void); /* asked now and then; true: stop (INTERRUPTED). NULL: never */
} th_machine_options;

/* INTERRUPTED: between two events, now unchanged; any of the three goes on from there. A load that
 * is interrupted while algorithms are chosen fails with COLL-0024. */
typedef enum {
    TH_STOP_DONE,
    TH_STOP_UNTIL,
    TH_STOP_BOUND,
    TH_STOP_INTERRUPTED,
    TH_STOP_OBSERVER, /* an observer asked for it: just after an event, in the midst of its instant
                       */
    TH_STOP_ERROR
} th_stop;

th_machine *th_machine_new(const th_system *s, const th_compute_cost_cache *w,
                           const th_machine_options *o, th_error *err);
void th_machine_free(th_machine *m);

/* What a collective of this machine that leaves its algorithm open is tuned on; *m outlives it. */
th_tuner_context th_machine_tuner_context(const th_machine *m);

/* Time 0, nothing has happened. The program is referred to, not copied. 0 or -1. */
int th_machine_load(th_machine *m, const th_program *p, th_error *err);

/* From at on (relative to the task's start), flows demand this much from the DRAM. */
typedef struct th_demand_change {
    th_time at;
    double bytes_per_s;
} th_demand_change;
/* The digest of a history, with one change more. */
void th_demand_digest(uint64_t digest[2], const th_demand_change *c);

/* A compute that is under way, alone on its accelerator, while nothing moves on the network. */
typedef struct th_in_flight {
    th_time started_ps; /* <= 0: so long ago; it has not ended before now */
    const th_demand_change
        *demands; /* what flows have drawn meanwhile, the last of them 0; may be none */
    size_t n_demands;
} th_in_flight;

/* Can runs on this machine be cut where only computes are under way, and what follows be replayed
 * by resume, to the picosecond? Not where a DRAM is shared, weights are loaded ahead, or the
 * network keeps something while nothing moves. */
bool th_machine_can_resume(const th_machine *m);
/* As load, but the first n tasks of the program, computes on different accelerators, are under way
 * at time 0 as u[0 .. n) say. The machine keeps how every compute ran. */
int th_machine_resume(th_machine *m, const th_program *p, const th_in_flight *u, int32_t n,
                      th_error *err);
/* After resume, how a compute that has ended was under way at t, when no flow was; all of it
 * relative to t. The demands are valid until the next load, and relative to the task's start as
 * ever.
 */
th_in_flight th_machine_in_flight_at(const th_machine *m, int32_t task, th_time t);

/* All events up to and including time until. DONE: the program has ended; a program that cannot end
 * (tasks left but nothing pending) is ERROR, with the first such task in err. */
th_stop th_machine_run_until(th_machine *m, th_time until, th_error *err);
/* Stops early (BOUND) as soon as simulated time passes bound: the search has something better. */
th_stop th_machine_run_bounded(th_machine *m, th_time bound, th_error *err);
/* On to just after the next n program events (a task or a message of a collective starts or ends;
 * all at one instant count singly, in order). DONE when there is none left, else UNTIL. */
th_stop th_machine_step(th_machine *m, int64_t n, th_error *err);

th_time th_machine_now(const th_machine *m);
bool th_machine_is_done(const th_machine *m);
int64_t th_machine_events(const th_machine *m); /* program events so far */
int64_t th_machine_tasks_done(const th_machine *m);
int64_t th_machine_expansions(const th_machine *m); /* tasks that had to expand so far */

/* When input (of the stream) was through as far as it has come: the end of its last task so far;
 * -1: none. */
th_time th_machine_input_end(const th_machine *m, int32_t input);

/* Of every task of the program; -1: not yet. Valid until the next load. */
const th_task_result *th_machine_times(const th_machine *m);

/* What a task is doing. */
typedef enum { TH_TASK_WAITING, TH_TASK_READY, TH_TASK_RUNNING, TH_TASK_DONE } th_task_state;
th_task_state th_machine_task_state(const th_machine *m, int32_t task);
/* Task that runs on accelerator accel now, or -1. */
int32_t th_machine_running(const th_machine *m, int accel);
/* Transfers in flight over a link now. */
int32_t th_machine_link_flows(const th_machine *m, int link);

/* Of one accelerator and one link, what th_machine_result says of all; the energy is left out. */
th_accel_result th_machine_accel(const th_machine *m, int accel);
th_link_result th_machine_link(const th_machine *m, int link);
th_time th_machine_elapsed(const th_machine *m); /* now, or the makespan once all is done */
int32_t th_machine_waiting(const th_machine *m, int accel); /* compute tasks that wait for it */
th_tiles th_machine_tiles(const th_machine *m, int accel);  /* a look inside its task */

/* Collective number of the program as this machine runs it: with the algorithm and the chunks that
 * it has chosen where they were left open. NULL: it has not been expanded (a network that takes
 * collectives as a whole does not). Valid until the next load. */
const th_collective *th_machine_collective(const th_machine *m, int32_t number);

/* Replaces the observers of the machine by this list; NULL: none. They must live until they are
 * replaced, or the machine is freed. One that does not follow the present run is restarted, and the
 * state of the run reported to it. No simulated time changes; tasks whose tiles an observer wants
 * stepped are run tile by tile from now on, which takes longer. 0 or -1. */
int th_machine_observe(th_machine *m, th_observer *first, th_error *err);

/* Fills *out (see result.h) for the time so far; out is th_result_clear'ed by the caller. 0 or
 * -1. */
int th_machine_result(const th_machine *m, th_result *out, th_error *err);

/* Does the system say what anything costs? */
bool th_machine_knows_energy(const th_machine *m);
/* Joules of a run that is done, to the bit what th_machine_result gives, without the rest of it. 0
 * or -1. */
int th_machine_energy(const th_machine *m, double *joules, th_error *err);
/* What a run of the program that is loaded takes at least: *dynamic_j however long it lasts, and
 * *static_w all along. 0 or -1. */
int th_machine_least_energy(const th_machine *m, double *dynamic_j, double *static_w,
                            th_error *err);

#endif
