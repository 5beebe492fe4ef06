/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_ranks.h - points of a study evaluated in other processes.
 *   here:  new -> (submit | take)* -> free
 *   there: th_study_ranks_serve for every message
 * A message contains everything that a point needs: its values, the script, the metrics; other
 * processes keep no state between messages. th_mailbox (main_mpi.c) transports the bytes. */
#ifndef TH_TCL_STUDY_STUDY_RANKS_H
#define TH_TCL_STUDY_STUDY_RANKS_H
#include "mapper/serialize/serializer.h"
#include "tcl/study/study_point.h"

/* How bytes get to other processes, 1 .. n, and back. */
typedef struct th_mailbox {
    int (*n)(void);
    void (*send)(int to, const void *bytes, size_t n);
    /* The length of a message that has arrived, which *bytes grows to hold; -1: none, -2: memory is
     * out. */
    long (*receive)(int *from, char **bytes, size_t *capacity);
} th_mailbox;

typedef struct th_study_ranks th_study_ranks;

/* mailbox NULL: there are no ranks. NULL: memory is out. */
th_study_ranks *th_study_ranks_new(const th_mailbox *mailbox, const th_study *study,
                                   const th_point_setting *setting);
void th_study_ranks_free(th_study_ranks *r); /* accepts NULL; no rank may be busy */
int th_study_ranks_n(const th_study_ranks *r);
int th_study_ranks_busy(const th_study_ranks *r);
/* 1; 0: no rank is idle; -1: memory is out. */
int th_study_ranks_submit(th_study_ranks *r, int64_t number, int64_t cell);
/* As above; 1: *out is the caller's to clear. */
int th_study_ranks_take(th_study_ranks *r, th_outcome *out);

/* In another process: does a point and writes its outcome. 0, or -1: memory is out. */
int th_study_ranks_serve(void *unused, const void *bytes, size_t n, th_serializer *answer);

#endif
