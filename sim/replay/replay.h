/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.h - executes the collectives of a program: the progress of each participant, and the
 * messages that it sends next.
 *
 *   new -> load(program) -> (start | next* | arrive)* -> load again -> ... -> free
 * The replay is independent of time and network: the machine starts the messages that `next`
 * returns as flows, and calls `arrive` when one has ended. */
#ifndef TH_SIM_REPLAY_REPLAY_H
#define TH_SIM_REPLAY_REPLAY_H
#include "sim/replay/tuner.h"
#include "sim/network/network.h"
#include "sim/program/program.h"

typedef struct th_replay th_replay;

/* *t is copied. NULL: memory is out. */
th_replay *th_replay_new(const th_tuner_context *t);
void th_replay_free(th_replay *r); /* accepts NULL */

/* Drops all executions. With prepare, makes the schedules of all collectives now, else each when it
 * starts; they are kept for later programs with equal collectives. 0 or -1. */
int th_replay_load(th_replay *r, const th_program *p, bool prepare, th_error *err);

/* A collective of the program with the algorithm and chunks that it runs with; NULL: it has no
 * schedule yet. */
const th_collective *th_replay_collective(const th_replay *r, int32_t number);

/* The messages of a collective of the program that starts at 0, if all of them are sent at once, as
 * no step waits for a message or a port: their number, and *out, to be freed; 0: some wait, or
 * memory is out. */
int32_t th_replay_at_once(const th_replay *r, int32_t number, th_message **out);

/* Starts a collective task of the program. 0 or -1. */
int th_replay_start(th_replay *r, int32_t task, th_error *err);

typedef enum {
    TH_REPLAY_NOTHING, /* until the next arrive or start */
    TH_REPLAY_SENDS,   /* message is sent, as flow number `flow` */
    TH_REPLAY_LOCAL,   /* message is from a node to itself, and has arrived */
    TH_REPLAY_WORKS,   /* message is from a node to itself, and arrives after work_ps */
    TH_REPLAY_ENDS     /* task has ended */
} th_replay_outcome;

typedef struct th_replay_step {
    int32_t flow, task;
    th_message message;
    th_time work_ps;
} th_replay_step;

/* The next message or end of a collective at this time. Collectives and their participants take
 * turns in the order in which they became pending: the order depends on the model only. */
th_replay_outcome th_replay_next(th_replay *r, th_replay_step *out);
bool th_replay_is_idle(const th_replay *r); /* next would return NOTHING */

/* The message of this flow has arrived; *m describes it (delay 0). */
void th_replay_arrive(th_replay *r, int32_t flow, th_message *m);

/* To be called when no event is left: reports what the first collective without a message in flight
 * waits for. -1, or 0 when there is none. */
int th_replay_report_deadlock(const th_replay *r, th_error *err);

#endif
