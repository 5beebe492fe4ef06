/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stretches.h - what all streams together show between two things that the machine tells.
 *
 *   new -> (find -> say, or begin -> note* -> end)* -> forget | free
 * A run over many inputs comes into the same state again and again: equal tasks on the same
 * accelerators, each as far as it was then. Until the machine tells something, the same follows at
 * the same distances. So a stretch is a tape of the phrases that were said, and where streams stood
 * at its end; it is said again without going through the streams. Times in it are exact, so it is
 * said again too where ticks of a coarser resolution fall otherwise between them, as long as the
 * same changes meet at a tick. */
#ifndef TH_SIM_TRACE_STRETCHES_H
#define TH_SIM_TRACE_STRETCHES_H
#include "sim/trace/phrases.h"

typedef struct th_stretch th_stretch;

th_stretches *th_stretches_new(void);    /* NULL: memory is out */
void th_stretches_free(th_stretches *k); /* accepts NULL */
void th_stretches_forget(th_stretches *k);

/* The stretch that goes on from what was told last (t->now, with the rest of its tick) until
 * something is told at `until`; NULL: none is known. Then, if *may_begin, one may be begun. */
const th_stretch *th_stretches_find(th_trace *t, th_time until, bool *may_begin);
/* False: nothing was said, for times in it are longer than others, or meet otherwise at ticks. Else
 * streams and objects stand at its end. */
bool th_stretch_say(th_trace *t, const th_stretch *s);

/* What is said from the tick on becomes the stretch that was looked for: note that a key is said,
 * of what happened at `at`, and at `before` to the same object last; all until the end was said. */
void th_stretches_begin(th_trace *t);
void th_stretches_note(th_trace *t, uint64_t key, th_time at, th_time before);
/* It is not to be said again. */
void th_stretches_drop(th_trace *t);
void th_stretches_end(th_trace *t);

#endif
