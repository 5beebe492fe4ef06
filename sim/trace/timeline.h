/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timeline.h - the tracks of the two timeline formats.
 *
 * An object has a group of tracks: one per kind of span (compute, send, receive ...) and lane, one
 * with slices per signal that is a state (link busy, array, engines), a counter per signal that is
 * a number. The track of a lane is declared when it is first used. */
#ifndef TH_SIM_TRACE_TIMELINE_H
#define TH_SIM_TRACE_TIMELINE_H
#include "sim/trace/trace_state.h"

/* What a format writes of signals. */
struct th_timeline_type {
    void (*object)(th_trace *t, int32_t object);
    void (*track)(th_trace *t, const th_variable *v, bool is_counter);
    /* A slice begins; name NULL: it ends. */
    void (*slice)(th_trace *t, const th_variable *v, th_time now, const char *name);
    void (*count)(th_trace *t, const th_variable *v, th_time now);
};

bool th_timeline_writes(const th_trace *t, const th_variable *v);
/* Declares objects and signals, with their values; t->writer_data: lanes declared, by object (the
 * last: none) and kind. */
void th_timeline_begin(th_trace *t, th_time now);
void th_timeline_value(th_trace *t, th_variable *v, th_time now);
void th_timeline_end(th_trace *t, th_time now); /* of the slices that are open */
/* The first lane of the span's object and kind, up to its own, that is not yet declared; marks it
 * as declared. -1: none. */
int32_t th_timeline_undeclared(th_trace *t, const th_span *s);

const char *th_span_kind_name(int32_t kind); /* compute host send receive collective */

#endif
