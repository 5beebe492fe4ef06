/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_ranks.h - points of a study done in other processes: what travels, and who has what. How
 * bytes travel is the affair of others (main_mpi.c).
 *   here:  new -> (give | take)* -> free
 *   there: th_ranks_answer for every message
 * A message has all that a point needs: its values, the script, the metrics. So nobody there
 * remembers anything. */
#ifndef TH_TCL_STUDY_STUDY_RANKS_H
#define TH_TCL_STUDY_STUDY_RANKS_H
#include "mapper/pool/serializer.h"
#include "tcl/study/study_point.h"

/* How bytes get to other processes, 1 .. n, and back. */
typedef struct th_post {
    int (*n)(void);
    void (*send)(int to, const void *bytes, size_t n);
    /* A message that has come: its length, in *bytes, which grows; -1: none, -2: memory is out. */
    long (*receive)(int *from, char **bytes, size_t *capacity);
} th_post;

typedef struct th_ranks th_ranks;

/* post NULL: there is nobody. path: of the file of the study; lives as long as the ranks. NULL:
 * memory is out. */
th_ranks *th_ranks_new(const th_post *post, const th_study *study, const char *path,
                       int64_t seconds, const char *auto_path);
void th_ranks_free(th_ranks *r); /* accepts NULL; nobody is busy */
int th_ranks_n(const th_ranks *r);
int th_ranks_busy(const th_ranks *r);
/* 1; 0: nobody is idle; -1: memory is out. */
int th_ranks_give(th_ranks *r, int64_t number, int64_t cell);
/* As above; 1: *out is the caller's to clear. */
int th_ranks_take(th_ranks *r, th_outcome *out);

/* There: does a point, and writes what has become of it. 0, or -1: memory is out. */
int th_ranks_answer(void *unused, const void *bytes, size_t n, th_serializer *answer);

#endif
