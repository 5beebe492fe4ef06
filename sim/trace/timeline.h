/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timeline.h - the tracks of the two timeline formats.
 *
 * An object has a group of tracks: one per kind of span (compute, send, receive ...) and lane, one
 * with slices per signal that is a state (link busy, array, engines), a counter per signal that is
 * a number. The track of a lane is declared when it is first used. */
#ifndef TH_SIM_TRACE_TIMELINE_H
#define TH_SIM_TRACE_TIMELINE_H
#include "sim/trace/trace_state.h"

/* NONE: spans of tasks show the same. */
typedef enum { TH_TRACK_NONE, TH_TRACK_SLICES, TH_TRACK_COUNTER } th_track_kind;
th_track_kind th_timeline_track_kind(const th_trace *t, const th_variable *v);
bool th_timeline_writes(const th_trace *t, const th_variable *v);

/* Prepares t->writer_data: lanes declared, by object (the last: none) and kind. 0, or -1: memory is
 * out. */
int th_timeline_begin(th_trace *t);
/* The first lane of the span's object and kind, up to its own, that is not yet declared; marks it
 * as declared. -1: none. */
int32_t th_timeline_undeclared(th_trace *t, const th_span *s);

const char *th_span_kind_name(int32_t kind); /* compute host send receive collective */

#endif
