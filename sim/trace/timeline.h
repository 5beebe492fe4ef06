/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timeline.h - what the two timeline formats have in common: which tracks there are.
 *
 * Every object has a group of tracks: spans by kind and lane (computes, sends, receives), a span
 * track for each signal that is a state (link busy, array, engines), a counter for each that is a
 * number. A lane's track is declared when it is first used. */
#ifndef TH_SIM_TRACE_TIMELINE_H
#define TH_SIM_TRACE_TIMELINE_H
#include "sim/trace/phrases.h"
#include "sim/trace/writer.h"

typedef enum { TH_SHOWN_NOT, TH_SHOWN_AS_SPANS, TH_SHOWN_AS_COUNTER } th_shown;
/* How a variable is shown; not, where spans of tasks tell the same. */
th_shown th_timeline_shown_as(const th_trace *t, const th_variable *v);
bool th_timeline_shows(const th_trace *t, const th_variable *v);

/* Lanes that are declared, by object (the last: none) and kind: in t->own. 0, or -1: memory is out.
 */
int th_timeline_begin(th_trace *t);
/* The first lane of the span's object and kind that is not declared yet and not above its own,
 * which counts as declared then; -1: none. */
int32_t th_timeline_undeclared(th_trace *t, const th_span *s);

/* A key for phrases (phrases.h): of what is said, below 16, of a span of this track, and of what
 * else, from -1 on. 0: numbers are too high for one. */
uint64_t th_timeline_key(int what, const th_span *s, int32_t of);

const char *th_span_kind_name(int32_t kind); /* compute host send receive collective */

#endif
