/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fault_times.c - see fault_times.h. Faults of an object that would overlap are one: a fault that
 * begins before the last one has ended prolongs it. */
#include <config.h>
#include "tcl/reliability/fault_times.h"
#include <math.h>
#include "base/alloc.h"
#include "sim/reliability/failure_law.h"

/* The faults of one object so far. */
typedef struct builder {
    th_fault_events *out;
    const th_property_event *fault;
    double back;
    bool is_open; /* the last event is the end of a fault of this object */
} builder;

static int append(th_fault_events *out, const th_property_event *e, th_error *err)
{
    if (out->n >= TH_FAULT_EVENTS_MAX)
        return th_error_set(err, "TCL-1120",
                            "more than %d faults begin or end: must be fewer, as with a nearer "
                            "-until",
                            (int)TH_FAULT_EVENTS_MAX);
    if (th_grow(&out->all, &out->capacity, out->n + 1, sizeof *out->all))
        return th_error_no_memory(err);
    out->all[out->n++] = *e;
    return 0;
}

static int add_event(builder *b, th_time at, th_property_role role, double factor, th_error *err)
{
    th_property_event e = *b->fault;
    e.at = at;
    e.role = role;
    e.factor = factor;
    return append(b->out, &e, err);
}

/* Without an end where end is TH_TIME_MAX. */
static int add_fault(builder *b, th_time begin, th_time end, th_error *err)
{
    th_property_event *last = b->is_open ? &b->out->all[b->out->n - 1] : NULL;
    if (last && begin <= last->at && end < TH_TIME_MAX) {
        last->at = end > last->at ? end : last->at;
        return 0;
    }
    if (last && begin <= last->at)
        b->out->n--;
    else if (add_event(b, begin, TH_PROPERTY_FAULT, b->fault->factor, err))
        return -1;
    b->is_open = end < TH_TIME_MAX;
    return b->is_open ? add_event(b, end, TH_PROPERTY_REPAIR, b->back, err) : 0;
}

static int add_flapping(builder *b, const th_fault_pattern *p, th_error *err)
{
    th_time on = (th_time)llround((double)p->period * p->duty);
    on = on < 1 ? 1 : on >= p->period ? p->period - 1 : on;
    for (th_time t = p->from; t < p->until; t = th_time_add(t, p->period)) {
        th_time end = th_time_add(t, on);
        if (add_fault(b, t, end < p->until ? end : p->until, err))
            return -1;
    }
    return 0;
}

/* In ps, TH_TIME_MAX where it does not fit. */
static th_time time_of(double seconds)
{
    double ps = seconds * (double)TH_PS_PER_S;
    return ps < 9.2e18 ? (th_time)llround(ps) : TH_TIME_MAX;
}

static int add_random(builder *b, const th_fault_pattern *p, th_error *err)
{
    th_failure_kind kind = {
        .name = "", .n_units = 1, .mtbf_s = p->mtbf_s, .shape = p->shape, .times_s = NULL};
    th_failure_stream *f = th_failure_stream_new(&kind, p->seed, p->index);
    int failed = f ? 0 : th_error_no_memory(err);
    while (!failed) {
        th_time at = th_time_add(p->from, time_of(th_failure_stream_at(f)));
        if (at >= p->until)
            break;
        failed = add_fault(b, at, th_time_add(at, p->length), err);
        if (p->length == TH_TIME_MAX)
            break;
        th_failure_stream_renew(f, th_failure_stream_at(f) + th_seconds(p->length));
    }
    th_failure_stream_free(f);
    return failed;
}

static int add_listed(builder *b, const th_fault_pattern *p, th_error *err)
{
    for (int64_t i = 0; i < p->n_times; i++) {
        th_time at = time_of(p->times_s[i]);
        if (at >= p->until)
            break;
        if (at < p->from)
            continue;
        if (add_fault(b, at, th_time_add(at, p->length), err))
            return -1;
        if (p->length == TH_TIME_MAX)
            break;
    }
    return 0;
}

int th_fault_events_add(th_fault_events *out, const th_fault_pattern *p,
                        const th_property_event *fault, double back, th_error *err)
{
    builder b = {out, fault, back, false};
    if (p->period > 0)
        return add_flapping(&b, p, err);
    if (p->mtbf_s > 0)
        return add_random(&b, p, err);
    if (p->times_s)
        return add_listed(&b, p, err);
    return add_fault(&b, p->from, th_time_add(p->from, p->length), err);
}

int th_fault_events_reroute(th_fault_events *out, size_t first, th_time delay, th_error *err)
{
    size_t n = out->n;
    for (size_t i = first; i < n; i += 2) { /* the beginning of a fault, and its end */
        th_time begin = th_time_add(out->all[i].at, delay),
                end = i + 1 < n ? out->all[i + 1].at : TH_TIME_MAX;
        th_property_event e = out->all[i];
        e.kind = TH_PROPERTY_ROUTE;
        e.at = begin;
        if (begin >= end)
            continue;
        if (append(out, &e, err) != 0)
            return -1;
        e.at = end;
        e.role = TH_PROPERTY_REPAIR;
        e.factor = 1;
        if (end < TH_TIME_MAX && append(out, &e, err) != 0)
            return -1;
    }
    return 0;
}

void th_fault_events_clear(th_fault_events *e)
{
    th_free(e->all);
    *e = (th_fault_events){.n = 0};
}
