/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tapes.h - phrases one after the other, each with its time, to be said again at other times.
 *
 *   new -> (begin -> add*)* -> put* -> cut | free
 * A tape stands in a store of tapes. It is good as long as the phrases in it are known. */
#ifndef TH_SIM_TRACE_TAPES_H
#define TH_SIM_TRACE_TAPES_H
#include "sim/trace/phrases.h"

typedef struct th_tapes th_tapes;
typedef struct th_tape {
    size_t first_block, n_blocks;
} th_tape;

th_tapes *th_tapes_new(void);    /* NULL: memory is out */
void th_tapes_free(th_tapes *k); /* accepts NULL */
size_t th_tapes_bytes(const th_tapes *k);
/* The next tape begins behind all others. From the tape on, all go. */
th_tape th_tapes_begin(const th_tapes *k);
void th_tapes_cut(th_tapes *k, const th_tape *from);
/* A phrase is said so long after the beginning of the tape, which is the last one, and n_stamp > 0:
 * the time in so many bytes before it. 0, or -1: memory is out. */
int th_tapes_add(th_tapes *k, th_tape *tape, th_time after, const th_phrase *phrase,
                 int32_t n_stamp);

/* Writes a tape that begins at this time. The trace's stamp is as long as all in it. */
void th_tape_put(const th_tapes *k, const th_tape *tape, th_trace *t, th_time from);

#endif
