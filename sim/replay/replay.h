/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.h - the collectives of a machine: which run, how far each participant is, what it sends
 * next.
 *
 *   new -> load(program) -> (start | next* | arrive)* -> load again -> ... -> free
 * It knows neither time nor network: the machine starts the messages that `next` hands out as flows
 * and tells with `arrive` that one has ended. */
#ifndef TH_SIM_REPLAY_REPLAY_H
#define TH_SIM_REPLAY_REPLAY_H
#include "sim/replay/tuner.h"
#include "sim/network/network.h"
#include "sim/program/program.h"

typedef struct th_replay th_replay;

/* *w is copied. NULL: memory is out. */
th_replay *th_replay_new(const th_tuner_context *w);
void th_replay_free(th_replay *r); /* accepts NULL */

/* Nothing runs. With prepare, all collectives of the program are expanded now, else each when it
 * starts; expansions are kept for programs to come with the same collectives. 0 or -1. */
int th_replay_load(th_replay *r, const th_program *p, bool prepare, th_error *err);

/* A collective of the program as it runs, nothing left open; NULL: it has not been expanded. */
const th_collective *th_replay_collective(const th_replay *r, int32_t number);

/* A task of the program, a collective, begins. 0 or -1. */
int th_replay_start(th_replay *r, int32_t task, th_error *err);

typedef enum {
    TH_REPLAY_NOTHING, /* until the next arrival or start */
    TH_REPLAY_SENDS,   /* message goes, as flow number flow */
    TH_REPLAY_STAYS,   /* message goes from a node to itself, and has arrived */
    TH_REPLAY_ENDS     /* task has ended */
} th_replay_outcome;

typedef struct th_replay_step {
    int32_t flow, task;
    th_message message;
} th_replay_step;

/* The next thing that some collective does now. Collectives in the order in which something has
 * happened to them, participants likewise, lanes in theirs: the model's order alone. */
th_replay_outcome th_replay_next(th_replay *r, th_replay_step *out);
bool th_replay_is_quiet(const th_replay *r); /* next would give NOTHING */

/* The message of this flow has arrived; it is told in *m (delay 0). */
void th_replay_arrive(th_replay *r, int32_t flow, th_message *m);

/* Nothing happens any more: names what the first collective waits for that has no message under
 * way. Returns -1, or 0 when there is none. */
int th_replay_stuck(const th_replay *r, th_error *err);

#endif
