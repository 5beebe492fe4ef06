/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hand_built.h - a hand-built program, task by task: simulated in the place of a workload under a
 * mapping.
 *   new -> add* -> (the session simulates it) -> free
 * Tasks are numbered in the order in which they are added, and may wait for earlier ones only, so a
 * hand-built program has no cycle. */
#ifndef TH_SESSION_HAND_BUILT_H
#define TH_SESSION_HAND_BUILT_H
#include "sim/execution_trace/lower_trace.h"
#include "training/lower_step.h"
#include "training/plan_file.h"
#include "training/search/plan_search.h"
#include "sim/collective/user_schedule.h"
#include "sim/program/append.h"

/* No single size may be larger: 1 PB, which a double holds to the byte. */
#define TH_HAND_BUILT_BYTES_MAX INT64_C(1000000000000000)

typedef struct th_hand_built {
    char *name;
    th_trace *trace; /* what it was read from: then nothing can be added; NULL: none */
    th_roofline_choice roofline;
    th_training_step *step;   /* of training, that the program is; NULL: none */
    th_plan_file *plan;       /* of that step */
    th_plan_findings *search; /* that found the plan; NULL: none */
    th_program *program;
    th_user_schedule **schedules; /* that its collectives follow */
    size_t n_schedules, schedule_capacity;
    struct th_hand_built **sources; /* programs whose schedules its collectives follow, too */
    size_t n_sources, source_capacity;
    int n_owners;
} th_hand_built;

/* A task to add, its collective (NULL: none; copied), and the tasks that it waits for. */
typedef struct th_hand_built_task {
    th_task task;
    const th_collective *collective;
    const th_fixed_work *work; /* of a computation; copied */
    const int32_t *after;
    int32_t n_after;
} th_hand_built_task;

th_hand_built *th_hand_built_new(const char *name, th_error *err);
/* Takes over the trace, on failure too. Its program is that of the default network. */
th_hand_built *th_hand_built_of_trace(th_trace *t, const th_system *s, th_roofline_choice roofline,
                                      th_error *err);
/* A step of training under a plan and its schedule. Takes over what plan owns, unless it fails. */
th_hand_built *th_hand_built_of_step(const char *name, const th_system *s, const th_work_context *c,
                                     const th_pipeline_schedule *schedule, th_plan_file *plan,
                                     th_error *err);
/* Adds that no published step was measured on accelerators like those of a step of training;
 * nothing where one was, or of another program (NULL: none). */
void th_hand_built_describe_unmeasured(const th_hand_built *m, th_strbuf *out);
/* Frees it when its last owner does; accepts NULL. */
void th_hand_built_free(th_hand_built *m);

/* Takes over the schedule of a collective that will be added. 0, or -1: the caller still owns
 * it. */
int th_hand_built_keep_schedule(th_hand_built *m, th_user_schedule *schedule, th_error *err);

/* The number of the new task, or -1: the program is unchanged. */
int32_t th_hand_built_add(th_hand_built *m, const th_hand_built_task *t, th_error *err);

/* Adds a part of another program; `source` is kept as long as this program, for the schedules of
 * its collectives (NULL: it has none). job: its tasks as one unit with a name; NULL: no job. 0, or
 * -1: the program is unchanged. */
int th_hand_built_append(th_hand_built *m, th_hand_built *source, const th_program_part *part,
                         th_program_job *job, th_error *err);

/* A digest of the whole program, including names of algorithms. */
uint64_t th_hand_built_digest(const th_hand_built *m);

#endif
