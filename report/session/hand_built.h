/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hand_built.h - a program made by hand, task by task: simulated in the place of a workload under a
 * mapping.
 *   new -> add* -> (the session simulates it) -> free
 * Tasks are numbered in the order in which they are added, and may wait for earlier ones only, so a
 * made program has no cycle. */
#ifndef TH_REPORT_SESSION_HAND_BUILT_H
#define TH_REPORT_SESSION_HAND_BUILT_H
#include "sim/collective/user_schedule.h"
#include "sim/program/program.h"

/* No single size may be larger: 1 PB, which a double holds to the byte. */
#define TH_MADE_BYTES_MAX INT64_C(1000000000000000)

typedef struct th_made {
    char *name;
    th_program *program;
    th_user_schedule **schedules; /* that its collectives follow */
    size_t n_schedules, schedule_capacity;
} th_made;

/* What add appends: a task, its collective (NULL: none; copied), and the tasks that it waits
 * for. */
typedef struct th_made_task {
    th_task task;
    const th_collective *collective;
    const int32_t *after;
    int32_t n_after;
} th_made_task;

th_made *th_made_new(const char *name, th_error *err);
void th_made_free(th_made *m); /* accepts NULL */

/* Takes the schedule into its keeping, for a collective that is going to be added. 0, or -1 and it
 * is still the caller's. */
int th_made_keep(th_made *m, th_user_schedule *schedule, th_error *err);

/* The new task's number, or -1 and the program is as it was. */
int32_t th_made_add(th_made *m, const th_made_task *t, th_error *err);

/* Over all that the program says, names of algorithms included. */
uint64_t th_made_digest(const th_made *m);

#endif
