/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tapes.h - texts with times in them, to be written again at other times.
 *
 *   new -> (begin_step -> (add_text | add_stamp)*)* -> put* -> cut | free
 * A tape is one or more blocks of a store of tapes. It is written by copying its text and putting stamps
 * where they stand in it: all of them are to have the length that they had when it was made. */
#ifndef TH_SIM_TRACE_TAPES_H
#define TH_SIM_TRACE_TAPES_H
#include "sim/trace/writer.h"

typedef struct th_tapes th_tapes;
typedef struct th_tape {
    size_t first_block, n_blocks;
} th_tape;

th_tapes *th_tapes_new(void);     /* NULL: memory is out */
void th_tapes_free(th_tapes *k); /* accepts NULL */
size_t th_tapes_bytes(const th_tapes *k);
/* The next tape begins behind all others. From the tape on, all go. */
th_tape th_tapes_begin(const th_tapes *k);
void th_tapes_cut(th_tapes *k, const th_tape *from);

/* What is added from now on, at most TH_STEP_BYTES and TH_STAMPS_MAX + 1 stamps, is said so long after the
 * beginning of the tape, which is the last one. 0, or -1: memory is out. */
enum { TH_STEP_BYTES = 2048 };
int th_tapes_begin_step(th_tapes *k, th_tape *tape, th_time after);
void th_tapes_add_text(th_tapes *k, const char *text, size_t n);
void th_tapes_add_stamp(th_tapes *k, const th_stamp *s);

/* Writes a tape that begins at this time. The trace's stamp is of a time that is not after its first. */
void th_tape_put(const th_tapes *k, const th_tape *tape, th_trace *t, th_time from);

#endif
