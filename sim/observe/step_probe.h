/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_probe.h - an observer that counts steps of a run, stops the run after a number of them, and
 * keeps the last.
 *   init -> th_machine_observe -> the run -> th_machine_observe(m, NULL) -> clear
 * A step is an event of a task (a start or an end), a layer that begins (the first compute task of
 * a layer and input starts), or a tile that the array of an accelerator has computed. */
#ifndef TH_SIM_OBSERVE_STEP_PROBE_H
#define TH_SIM_OBSERVE_STEP_PROBE_H
#include "base/error.h"
#include "sim/machine/machine.h"
#include "sim/program/observer.h"

typedef enum { TH_STEP_EVENT, TH_STEP_LAYER, TH_STEP_TILE } th_step_unit;

typedef enum {
    TH_HAPPENED_NOTHING,
    TH_HAPPENED_TASK_START,
    TH_HAPPENED_TASK_END,
    TH_HAPPENED_MESSAGE_START, /* of a collective */
    TH_HAPPENED_MESSAGE_END,
    TH_HAPPENED_TILE /* the array has computed tile `tile` of the running task */
} th_happened_kind;

/* What happened in a run. */
typedef struct th_happened {
    th_time at;
    int32_t kind;   /* th_happened_kind */
    int32_t object; /* task; accelerator, of a tile */
    int64_t tile;   /* number, from 1 */
    th_message message;
} th_happened;

/* What counts as a step: of the tasks alone, and their tiles; those of accels are simulated one by
 * one. NULL: all tasks, all accelerators; not owned. */
typedef struct th_step_choice {
    th_step_unit unit;
    const bool *tasks, *accels; /* by task and accelerator */
} th_step_choice;

typedef struct th_step_probe {
    th_observer observer; /* first: notify functions cast it */
    th_step_choice choice;
    int64_t left;     /* steps to go; at 0 the run stops */
    th_happened last; /* the last step; where all events count, also of messages */
    /* private */
    const th_machine *machine;
    const th_program *program;
    int64_t *tiles_done; /* by accelerator, of its running task */
    bool *has_begun;     /* by layer and input */
} th_step_probe;

/* For n steps of the program that the machine of n_accels accelerators runs, from its present state
 * on. 0, or -1: memory is out, and nothing is to clear. */
int th_step_probe_init(th_step_probe *p, const th_step_choice *choice, int64_t n,
                       const th_machine *m, const th_program *program, int n_accels, th_error *err);
void th_step_probe_clear(th_step_probe *p);

#endif
