/* SPDX-License-Identifier: GPL-3.0-or-later */
/* simulation.h - a lowered mapping or a hand-built program, loaded into a machine, and its results.
 *   new -> (run_until | step on .machine -> changed)* -> result -> ... -> free
 * System, workload and mapping, or the hand-built program, must outlive it. */
#ifndef TH_SESSION_SIMULATION_H
#define TH_SESSION_SIMULATION_H
#include "mapper/lower/lower.h"
#include "sim/execution_trace/lower_trace.h"
#include "sim/machine/machine.h"

typedef struct th_run_options {
    th_stream stream;
    const th_network_type *network; /* never NULL */
    th_network_options network_options;
    /* Of the session's own simulations: what has been chosen for collectives on its system. A
     * simulation's copy of the options has none, so that no other simulation takes it. */
    th_collective_choices *choices;
} th_run_options;

/* The messages of a run: session/messages.h. */
typedef struct th_sent_message {
    int32_t task, from, to; /* nodes */
    int64_t bytes;
    th_time start_ps, end_ps; /* -1: under way */
} th_sent_message;

typedef struct th_sent_messages {
    th_sent_message *all;
    size_t n, capacity;
} th_sent_messages;

typedef struct th_simulation {
    th_run_options options;
    th_lower *lower; /* NULL: the program is hand-built */
    const th_program *program;
    th_machine *machine;
    bool has_begun;        /* run or step was called */
    bool is_time_complete; /* the run has simulated all events of the present time */
    /* Whose program this is, for the energy of what its tasks multiply; NULL: of no step. */
    const struct th_training_step *step;
    /* private */
    const th_system *system;
    th_collective_choices *choices; /* see th_run_options */
    th_program *lowered;
    th_compute_cost_cache *costs; /* of a hand-built program: the costs of its system */
    th_result result;
    bool result_is_fresh;
    th_astra_rank_times *ranks;         /* of a trace as ASTRA-sim replays it, else NULL */
    th_sent_messages *messages;         /* session/messages.h; likewise */
    struct th_stage_times *stage_times; /* session/step_times.h; likewise */
    th_time *path_times;                /* likewise */
    th_time *slacks;                    /* NULL: not computed since the machine moved */
    double *loads;                      /* likewise */
} th_simulation;

/* scripts: the results of script designs. */
th_simulation *th_simulation_new(const th_system *s, const th_workload *w, const th_mapping *m,
                                 th_script_memo *scripts, const th_run_options *o, th_error *err);
/* Finishes p, which must not grow while this exists. */
th_simulation *th_simulation_of_program(const th_system *s, th_program *p, const th_run_options *o,
                                        th_error *err);
/* p is finished and only read, so that several threads may each make one of it. */
th_simulation *th_simulation_of_finished(const th_system *s, const th_program *p,
                                         const th_run_options *o, th_error *err);
/* A trace, lowered for the network of the options: as ASTRA-sim replays it under its networks, else
 * as traffic of its own. */
th_simulation *th_simulation_of_trace(const th_lower_trace_options *t, const th_run_options *o,
                                      th_error *err);
void th_simulation_free(th_simulation *s); /* accepts NULL */
/* Did procedures of script designs say how long its tasks take? They may say so no more. */
bool th_simulation_calls_scripts(const th_simulation *s);
/* Back to time 0; nobody watches then (th_probes_update). 0, or -1: it failed, or was
 * interrupted, and stands where it stood. Of a long program the machine is made anew beside the one
 * that is there, which takes its tens of bytes per task twice until then; the program, which takes
 * more than that, is there once. */
int th_simulation_restart(th_simulation *s, th_error *err);

/* The collective of this number, with the algorithm and chunks that the machine has chosen, if
 * any. */
const th_collective *th_simulation_collective(const th_simulation *s, int32_t number);

/* The compute costs of the program. */
const th_compute_cost_cache *th_simulation_costs(const th_simulation *s);

/* Call after the machine has moved: figures read before are stale. */
void th_simulation_changed(th_simulation *s);
/* The figures now; valid until the machine moves. NULL on failure. */
const th_result *th_simulation_result(th_simulation *s, th_error *err);
double th_simulation_step_j(const th_simulation *s, double seconds); /* of a step: its ranks' */

/* How much later each task could have ended, -1 where it is not known
 * (sim/analysis/critical_path.h); valid until the machine moves. NULL on failure. */
const th_time *th_simulation_slacks(th_simulation *s, th_error *err);
/* Of each task of the critical path its wait and duration, of all others -1; likewise. */
const th_time *th_simulation_path_times(th_simulation *s, th_error *err);
/* The load of every link: the bytes over its medium as a share of what the medium could have
 * carried in the elapsed time, valid until the machine moves. (Busy time says less: a single flow
 * that another link slows down keeps a link busy.) NULL: memory is out. */
const double *th_simulation_loads(th_simulation *s, th_error *err);
double th_medium_load(const th_medium *m, int64_t bytes, th_time elapsed_ps);

bool th_run_options_equal(const th_run_options *a, const th_run_options *b);
/* With the network that mappings have on this system when the options ask for one. */
th_run_options th_run_options_of_mappings(const th_system *s, const th_run_options *o);
/* The options that the simulation follows. */
th_run_options th_simulation_ran(const th_simulation *sim);

/* The mean time from the arrival of an input to its end, over finished inputs; 0: none. */
th_time th_simulation_latency(const th_simulation *s, const th_result *r);

enum { TH_NETWORK_TEXT_MAX = 240 }; /* the network with all its options in words */
/* ", weights latency": the options of the model that are not the default; "" if all are. */
char *th_network_describe_options(const th_run_options *o, char *out, size_t size);
/* "fluid", or "fluid, weights latency". */
char *th_network_describe(const th_run_options *o, char *out, size_t size);

#endif
