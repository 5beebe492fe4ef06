/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deadline.h - when each model of a workload ends, against its deadline.
 *   th_deadline_model_ends -> th_deadline_model_timing* | th_deadline_lateness */
#ifndef TH_MAPPER_EVALUATE_DEADLINE_H
#define TH_MAPPER_EVALUATE_DEADLINE_H
#include "mapper/lower/lower.h"
#include "sim/program/result.h"

/* end[model * n_inputs + input]: the end of the last task of each input of each model; -1 while it
 * has unfinished tasks. times: by task of the program. */
void th_deadline_model_ends(const th_workload *w, const th_program *p, const th_task_result *times,
                            th_time *end);

/* Of one model, over all inputs of the stream: input i arrives at the model's arrival + i *
 * interval, and its deadline is so long after that. */
typedef struct th_model_timing {
    bool is_complete;       /* all of its inputs have ended; else the other fields are undefined */
    th_time end_ps;         /* of the last one */
    th_time latency_ps;     /* mean time from arrival to end */
    th_time max_latency_ps; /* the longest of these */
    th_time lateness_ps;    /* longest past the deadline; 0: in time, or no deadline */
} th_model_timing;
th_model_timing th_deadline_model_timing(const th_workload *w, const th_stream *s, int model,
                                         const th_time *end);

/* The sum over the models; all must have ended. */
th_time th_deadline_lateness(const th_workload *w, const th_stream *s, const th_time *end);
bool th_deadline_exists(const th_workload *w);

#endif
