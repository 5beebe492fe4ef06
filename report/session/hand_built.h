/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hand_built.h - a hand-built program, task by task: simulated in the place of a workload under a
 * mapping.
 *   new -> add* -> (the session simulates it) -> free
 * Tasks are numbered in the order in which they are added, and may wait for earlier ones only, so a
 * hand-built program has no cycle. */
#ifndef TH_REPORT_SESSION_HAND_BUILT_H
#define TH_REPORT_SESSION_HAND_BUILT_H
#include "sim/collective/user_schedule.h"
#include "sim/program/program.h"

/* No single size may be larger: 1 PB, which a double holds to the byte. */
#define TH_HAND_BUILT_BYTES_MAX INT64_C(1000000000000000)

typedef struct th_hand_built {
    char *name;
    th_program *program;
    th_user_schedule **schedules; /* that its collectives follow */
    size_t n_schedules, schedule_capacity;
} th_hand_built;

/* What add appends: a task, its collective (NULL: none; copied), and the tasks that it waits
 * for. */
typedef struct th_hand_built_task {
    th_task task;
    const th_collective *collective;
    const int32_t *after;
    int32_t n_after;
} th_hand_built_task;

th_hand_built *th_hand_built_new(const char *name, th_error *err);
void th_hand_built_free(th_hand_built *m); /* accepts NULL */

/* Takes the schedule into its keeping, for a collective that is going to be added. 0, or -1 and it
 * is still the caller's. */
int th_hand_built_keep_schedule(th_hand_built *m, th_user_schedule *schedule, th_error *err);

/* The new task's number, or -1 and the program is as it was. */
int32_t th_hand_built_add(th_hand_built *m, const th_hand_built_task *t, th_error *err);

/* Over all that the program says, names of algorithms included. */
uint64_t th_hand_built_digest(const th_hand_built *m);

#endif
