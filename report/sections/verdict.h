/* SPDX-License-Identifier: GPL-3.0-or-later */
/* verdict.h - what a run comes to: its main figures, and one sentence made from them.
 *   find (or the fields set by hand) -> part, sentence
 * Plain data without pointers, so it can be copied, and outlives the run. */
#ifndef TH_REPORT_SECTIONS_VERDICT_H
#define TH_REPORT_SECTIONS_VERDICT_H
#include "report/session/session.h"
#include "sim/analysis/time_breakdown.h"

/* The parts of the critical path: th_time_part, then waiting for the arrival of an input. They add
 * up to its end. */
enum { TH_PATH_WAIT = TH_N_PARTS, TH_N_PATH_PARTS };

/* Accelerators with the same designs and memory. Shares of the elapsed time at work: computing, or
 * stalled within a task. */
typedef struct th_accel_class {
    char name[48]; /* of their first design */
    int n;
    double least, mean, most;
} th_accel_class;

enum { TH_VERDICT_CLASSES_MAX = 8 }; /* further classes count as the last one */

enum { TH_BOUND_NOT_COMPUTED = -1 };

/* The model that is latest past its deadline, of those whose inputs have all ended. */
typedef struct th_missed_deadline {
    int n;         /* models that miss theirs; 0: the other fields are undefined */
    char name[80]; /* of the model */
    th_time deadline_ps, lateness_ps;
} th_missed_deadline;

typedef struct th_verdict {
    bool is_done, is_hand_built;
    int32_t merged_ranks; /* that one accelerator stands for, of a step of training; 0: none */
    th_time elapsed_ps, latency_ps; /* latency: mean over inputs; 0: unknown */
    int32_t batch, n_inputs;        /* of a workload */
    double samples_per_s;           /* 0: unknown */
    int64_t moved_bytes;            /* over the network */
    double tokens_per_s;            /* of a step of training; 0: none */
    th_missed_deadline missed;
    th_time part_ps[TH_N_PATH_PARTS]; /* of the critical path */
    th_accel_class classes[TH_VERDICT_CLASSES_MAX];
    int n_classes;
    char link[80]; /* of the greatest load; "": nothing was carried */
    double link_load;
    /* the largest lower bound of the makespan; 0: none is known. find leaves it not computed */
    th_time bound_ps;
    char bound[24]; /* what it is of: "memory" */
} th_verdict;

/* path.c: the parts of the critical path of the session's run. 0 or -1. */
int th_path_breakdown(th_session *s, th_time part[TH_N_PATH_PARTS], th_error *err);

/* Of the session's run, which must have begun. 0 or -1. */
int th_verdict_find(th_session *s, th_verdict *v, th_error *err);
/* The name of a part in this run: where one accelerator stands for others, messages are what hosts
 * wait for. */
const char *th_verdict_part_name(const th_verdict *v, int part);
/* The share of a part in the critical path, and the largest part; -1: the path is empty. */
double th_verdict_share(const th_verdict *v, int part);
int th_verdict_limit(const th_verdict *v);
/* One sentence: a missed deadline, the largest parts of the critical path, whether accelerators are
 * balanced, and the busiest link. */
void th_verdict_sentence(const th_verdict *v, th_strbuf *out);
/* One sentence: which of two runs is faster, and by which part of the critical path. */
void th_verdict_compare(const th_verdict *a, const char *a_name, const th_verdict *b,
                        const char *b_name, th_strbuf *out);

#endif
