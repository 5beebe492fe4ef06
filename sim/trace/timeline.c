/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timeline.c - see timeline.h. */
#include <config.h>

#include "sim/trace/timeline.h"

#include "base/alloc.h"

th_track_kind th_timeline_track_kind(const th_trace *t, const th_variable *v)
{
    switch ((th_signal)v->signal) {
    case TH_SIGNAL_STATE:
    case TH_SIGNAL_TASK:
    case TH_SIGNAL_LAYER:
    case TH_SIGNAL_SENDING:
    case TH_SIGNAL_RECEIVING:
    case TH_N_SIGNALS:
        return TH_TRACK_NONE;
    case TH_SIGNAL_BUSY:
        return v->object >= t->n_nodes ? TH_TRACK_SLICES : TH_TRACK_NONE;
    case TH_SIGNAL_QUEUE_DEPTH: /* of a link: one less than its flows */
        return t->objects[v->object].signals >> TH_SIGNAL_FLOWS & 1u ? TH_TRACK_NONE
                                                                     : TH_TRACK_COUNTER;
    case TH_SIGNAL_FLOWS:
    case TH_SIGNAL_BUFFER_FILL:
        return TH_TRACK_COUNTER;
    case TH_SIGNAL_HEALTH:
    case TH_SIGNAL_ARRAY:
    case TH_SIGNAL_LOAD_INPUT:
    case TH_SIGNAL_LOAD_WEIGHT:
    case TH_SIGNAL_LOAD_PARTIAL:
    case TH_SIGNAL_STORE:
        return TH_TRACK_SLICES;
    }
    return TH_TRACK_NONE;
}

bool th_timeline_writes(const th_trace *t, const th_variable *v)
{
    return th_timeline_track_kind(t, v) != TH_TRACK_NONE;
}

int th_timeline_begin(th_trace *t)
{
    t->writer_data = th_alloc_zero(((size_t)t->n_objects + 1) * TH_N_SPAN_KINDS, sizeof(int32_t));
    return t->writer_data ? 0 : -1;
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
