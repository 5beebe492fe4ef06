/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store.h - a study and its results in an SQLite file; docs/formats.md has the tables.
 *
 *   create (a new file)  |  open (a file that holds a study)
 *   -> study -> (lock -> retry_failed? -> (next_waiting | begin -> record* -> commit)* |
 *     counts | read)* -> close
 * All writes are transactions, so a process that is killed at any time leaves exactly what it has
 * committed. There is one writer at a time (lock); others may read at the same time. record fails
 * for a point that is done or failed: its result is never written again. */
#ifndef TH_STUDY_STORE_H
#define TH_STUDY_STORE_H
#include "study/study.h"

typedef struct th_store th_store;

typedef enum { TH_POINT_WAITING, TH_POINT_DONE, TH_POINT_FAILED, TH_N_POINT_STATES } th_point_state;
const char *th_point_state_name(th_point_state state);

typedef struct th_figure {
    bool is_absent;
    int64_t whole;    /* of TH_FIGURE_INTEGER */
    double real;      /* of TH_FIGURE_REAL */
    const char *text; /* of TH_FIGURE_TEXT */
} th_figure;

/* The result of a point; the texts are not owned. */
typedef struct th_study_point {
    int64_t number, cell;
    th_point_state state;
    const char *error;   /* of a point that failed; else NULL */
    const char *mapping; /* digest of what ran; NULL: nothing */
    th_figure figures[TH_STUDY_METRICS_MAX];
} th_study_point;

/* Is there a non-empty file? Rolls back what a process killed within create left. */
bool th_store_exists(const char *path);
/* A new file with the study and its points, all waiting: the n cells, in their order. A file that
 * is there must be empty. NULL: err says why, and nothing was made but perhaps an empty file. */
th_store *th_store_create(const char *path, const th_study *s, const int64_t *cells, int64_t n,
                          th_error *err);
/* is_interrupted is polled in long reading, which then fails with BASE-0008; NULL: never. Returns
 * NULL where no study is in it, or anything that create_study does not make. */
th_store *th_store_open(const char *path, bool (*is_interrupted)(void), th_error *err);
void th_store_close(th_store *t); /* accepts NULL */

const th_study *th_store_study(const th_store *t); /* lives as long as t */
/* How many points are in each state. 0 or -1. */
int th_store_counts(th_store *t, int64_t counts[TH_N_POINT_STATES], th_error *err);
/* Calls f for all points, in order, until it returns another number than 0. Returns what f
 * returned, or -1. */
int th_store_read(th_store *t, int (*f)(void *state, const th_study_point *p), void *state,
                  th_error *err);

/* Makes this process the only writer until close. -1: another one is. */
int th_store_lock(th_store *t, th_error *err);
int th_store_retry_failed(th_store *t, th_error *err); /* those that failed wait again */
/* The first that waits behind point number after: 1, 0: there is none, or -1. */
int th_store_next_waiting(th_store *t, int64_t after, int64_t *number, int64_t *cell,
                          th_error *err);
int th_store_begin(th_store *t, th_error *err);
int th_store_record(th_store *t, const th_study_point *p, th_error *err);
int th_store_commit(th_store *t, th_error *err); /* -1: everything since begin is undone */

#endif
