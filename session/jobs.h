/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.h - programs kept under names, and several of them as the jobs of one program.
 *   save -> find -> add_job -> (the session simulates it) -> alone
 * A job is a copy of a saved program: on accelerators of its own choice, and from its own start.
 * Jobs share links, and accelerators where they are given the same ones: an accelerator runs one
 * computation at a time, of those that are ready that of the job that was added first. */
#ifndef TH_SESSION_JOBS_H
#define TH_SESSION_JOBS_H
#include "session/session.h"

/* Keeps a copy of what the session simulates now (program, plan, trace or mapping), replacing one
 * of the same name. 0 or -1. */
int th_saved_program_add(th_session *s, const char *name, th_error *err);
th_hand_built *th_saved_program_find(th_session *s, const char *name, th_error *err);
void th_saved_programs_clear(th_session *s);

/* nodes[n]: the accelerators that take the place of those that the program uses, in the order of
 * their numbers; n 0: these themselves. */
typedef struct th_job_request {
    const char *name;
    th_hand_built *program; /* a saved one */
    th_time start_ps;
    const int32_t *nodes;
    int32_t n;
} th_job_request;
/* Adds it to the hand-built program of the session, which is open. 0, or -1 and nothing changed. */
int th_job_add(th_session *s, const th_job_request *q, th_error *err);

/* The end of the last task of a job in the present run; -1: not all have ended. */
th_time th_job_end(const th_program *p, const th_result *x, int32_t job);
/* The same of the job alone on the network, with the options and property events of the run: *end.
 * 0, or -1: it failed, was interrupted, or cannot end. */
int th_job_end_alone(th_session *s, int32_t job, th_time *end, th_error *err);

#endif
