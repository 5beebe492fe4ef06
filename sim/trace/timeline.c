/* SPDX-License-Identifier: GPL-3.0-or-later */
/* timeline.c - see timeline.h. */
#include <config.h>

#include "sim/trace/timeline.h"

#include "base/alloc.h"

th_shown th_timeline_shown_as(const th_trace *t, const th_variable *v)
{
    switch ((th_signal)v->signal) {
    case TH_SIGNAL_STATE:
    case TH_SIGNAL_TASK:
    case TH_SIGNAL_LAYER:
    case TH_SIGNAL_SENDING:
    case TH_SIGNAL_RECEIVING:
    case TH_N_SIGNALS:
        return TH_SHOWN_NOT;
    case TH_SIGNAL_BUSY:
        return v->object >= t->n_nodes ? TH_SHOWN_AS_SPANS : TH_SHOWN_NOT;
    case TH_SIGNAL_QUEUE_DEPTH: /* of a link: one less than its flows */
        return t->objects[v->object].signals >> TH_SIGNAL_FLOWS & 1u ? TH_SHOWN_NOT
                                                                     : TH_SHOWN_AS_COUNTER;
    case TH_SIGNAL_FLOWS:
    case TH_SIGNAL_BUFFER_FILL:
        return TH_SHOWN_AS_COUNTER;
    case TH_SIGNAL_ARRAY:
    case TH_SIGNAL_LOAD_INPUT:
    case TH_SIGNAL_LOAD_WEIGHT:
    case TH_SIGNAL_LOAD_PARTIAL:
    case TH_SIGNAL_STORE:
        return TH_SHOWN_AS_SPANS;
    }
    return TH_SHOWN_NOT;
}

bool th_timeline_shows(const th_trace *t, const th_variable *v)
{
    return th_timeline_shown_as(t, v) != TH_SHOWN_NOT;
}

int th_timeline_begin(th_trace *t)
{
    t->own = th_alloc_zero(((size_t)t->n_objects + 1) * TH_N_SPAN_KINDS, sizeof(int32_t));
    return t->own ? 0 : -1;
}

int32_t th_timeline_undeclared(th_trace *t, const th_span *s)
{
    int32_t object = s->object >= 0 ? s->object : t->n_objects, *declared = t->own;
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

uint64_t th_timeline_key(int what, const th_span *s, int32_t of)
{
    enum { OBJECT = 18, LANE = 15, OF = 22 }; /* bits, and 3 of the kind */
    uint64_t object = (uint64_t)(s->object + 1), lane = (uint64_t)s->lane,
             more = (uint64_t)(of + 1);
    if (object >> OBJECT || lane >> LANE || more >> OF)
        return 0;
    return th_phrases_key(what,
                          (((uint64_t)s->kind << OBJECT | object) << LANE | lane) << OF | more);
}
