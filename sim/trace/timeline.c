/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timeline.c - see timeline.h. */
#include <config.h>

#include "sim/trace/timeline.h"

#include "base/alloc.h"

/* NONE: spans of tasks show the same. */
typedef enum { TRACK_NONE, TRACK_SLICES, TRACK_COUNTER } track_kind;

static track_kind kind_of(const th_trace *t, const th_variable *v)
{
    switch ((th_signal)v->signal) {
    case TH_SIGNAL_STATE:
    case TH_SIGNAL_TASK:
    case TH_SIGNAL_LAYER:
    case TH_SIGNAL_SENDING:
    case TH_SIGNAL_RECEIVING:
    case TH_N_SIGNALS:
        return TRACK_NONE;
    case TH_SIGNAL_BUSY:
        return v->object >= t->n_nodes ? TRACK_SLICES : TRACK_NONE;
    case TH_SIGNAL_QUEUE_DEPTH: /* of a link: one less than its flows */
        return t->objects[v->object].signals >> TH_SIGNAL_FLOWS & 1u ? TRACK_NONE : TRACK_COUNTER;
    case TH_SIGNAL_FLOWS:
    case TH_SIGNAL_BUFFER_FILL:
        return TRACK_COUNTER;
    case TH_SIGNAL_HEALTH:
    case TH_SIGNAL_ARRAY:
    case TH_SIGNAL_LOAD_INPUT:
    case TH_SIGNAL_LOAD_WEIGHT:
    case TH_SIGNAL_LOAD_PARTIAL:
    case TH_SIGNAL_STORE:
        return TRACK_SLICES;
    }
    return TRACK_NONE;
}

bool th_timeline_writes(const th_trace *t, const th_variable *v)
{
    return kind_of(t, v) != TRACK_NONE;
}

/* A slice is open where the value is not 0. */
void th_timeline_value(th_trace *t, th_variable *v, th_time now)
{
    const struct th_timeline_type *to = t->type->timeline;
    track_kind kind = kind_of(t, v);
    if (kind == TRACK_COUNTER)
        to->count(t, v, now);
    if (kind != TRACK_SLICES)
        return;
    if (v->before != 0)
        to->slice(t, v, now, NULL);
    const char *text = th_value_text(t, v);
    if (v->value != 0)
        to->slice(t, v, now, text ? text : th_signal_name(v->signal));
}

void th_timeline_begin(th_trace *t, th_time now)
{
    int32_t last = -1;
    t->writer_data = th_alloc_zero(((size_t)t->n_objects + 1) * TH_N_SPAN_KINDS, sizeof(int32_t));
    t->is.is_out_of_memory |= !t->writer_data;
    for (int32_t i = 0; i < t->n_variables; i++) {
        th_variable *v = &t->variables[i];
        if (v->object != last)
            t->type->timeline->object(t, v->object);
        last = v->object;
        if (kind_of(t, v) != TRACK_NONE)
            t->type->timeline->track(t, v, kind_of(t, v) == TRACK_COUNTER);
        th_timeline_value(t, v, now);
    }
}

void th_timeline_end(th_trace *t, th_time now)
{
    for (int32_t i = 0; i < t->n_variables; i++)
        if (t->variables[i].value != 0 && kind_of(t, &t->variables[i]) == TRACK_SLICES)
            t->type->timeline->slice(t, &t->variables[i], now, NULL);
}

int32_t th_timeline_undeclared(th_trace *t, const th_span *s)
{
    int32_t object = s->object >= 0 ? s->object : t->n_objects, *declared = t->writer_data;
    if (!declared)
        return -1;
    declared += (size_t)object * TH_N_SPAN_KINDS + (size_t)s->kind;
    return *declared <= s->lane ? (*declared)++ : -1;
}

const char *th_span_kind_name(int32_t kind)
{
    static const char *const names[TH_N_SPAN_KINDS] = {"compute", "host", "send", "receive",
                                                       "collective"};
    return names[kind];
}
