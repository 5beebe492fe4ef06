/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wavefront.h - the order in which a rank passes the chunks of a collective through its phases:
 * chunk c is in phase p in slot c + p, so that several phases are busy at once.
 *   (set phase[], n_phases) -> join* -> init -> at*
 * Phases that send on a common port are joined: one thread sends all their messages, in the order
 * of slots. A chunk is in a phase once all messages of the phases before have arrived, which takes
 * steps that only wait where other threads send in these phases. So no order of messages depends on
 * which of two data arrives first, and bytes that do not divide by ranks and chunks take as long as
 * those that do. */
#ifndef TH_SIM_COLLECTIVE_WAVEFRONT_H
#define TH_SIM_COLLECTIVE_WAVEFRONT_H
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/memory.h"

enum { TH_PHASES_MAX = 1024 }; /* 16 dimensions, there and back, of 16 parts in 2 directions */

typedef struct th_phase {
    int32_t slot;   /* of chunk 0, >= 0 */
    int32_t rounds; /* messages of each chunk */
    int32_t thread; /* equal where phases share one: set by begin and join, or by the caller */
    int32_t waits;  /* of each chunk before its messages; set by init */
} th_phase;

typedef struct th_wavefront {
    th_phase phase[TH_PHASES_MAX];
    int32_t lanes;        /* >= 1: phases p and p + lanes move the same data */
    bool has_slot_before; /* what arrives before the first phase counts as one, of slot -1 */
    int32_t n_phases, n_threads, n_slots, chunks;
    int64_t *first; /* per thread and slot, n_slots + 1 of each: number of its first step */
} th_wavefront;

void th_wavefront_begin(th_wavefront *w); /* every phase of phase[] has a thread of its own */
void th_wavefront_join(th_wavefront *w, int32_t a, int32_t b);
/* Numbers the threads; first is in that memory. 0 or -1. */
int th_wavefront_init(th_wavefront *w, int32_t chunks, th_memory *memory, th_error *err);

typedef struct th_wave {
    int32_t phase, chunk;
    int32_t round; /* of the phase; -i: wait for the data of slot (that of the phase) - i - 1 */
} th_wave;
/* What a thread does in a step. False: there is no such step. */
bool th_wavefront_at(const th_wavefront *w, int32_t thread, int64_t step, th_wave *out);

#endif
