/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fault_intervals.c - see fault_intervals.h. */
#include <config.h>
#include "session/fault_intervals.h"
#include <stdlib.h>
#include "base/alloc.h"

const char *th_fault_name(const th_property_event *e)
{
    switch ((th_property_kind)e->kind) {
    case TH_PROPERTY_BANDWIDTH:
        return e->factor == 0 ? "down" : "degraded";
    case TH_PROPERTY_FREQUENCY:
        return e->factor == 0 ? "dead" : e->factor < 1 ? "slow" : "fast";
    case TH_PROPERTY_ROUTE:
        return "avoided";
    case TH_PROPERTY_JITTER:
        return "jitter";
    case TH_PROPERTY_KINDS:
        break;
    }
    return "";
}

/* A medium, or behind all media an accelerator. */
static int32_t object_of(const th_system *s, const th_property_event *e)
{
    return th_property_is_of_link(e->kind) ? s->links[e->object].medium : s->n_media + e->object;
}

static th_time effect_of(const th_applied_event *a)
{
    return a->event.at > a->applied_at.now ? a->event.at : a->applied_at.now;
}

static bool is_same_property(const th_system *s, const th_property_event *a,
                             const th_property_event *b)
{
    return a->kind == b->kind && object_of(s, a) == object_of(s, b);
}

/* The first time after the event in place `from` at which its property is set. */
static th_time set_again(const th_session *s, const size_t *sets, size_t n_sets, size_t from)
{
    const th_applied_event *all = s->events.all;
    th_time begin = effect_of(&all[from]), first = TH_TIME_MAX;
    for (size_t i = 0; i < n_sets; i++) {
        th_time at = effect_of(&all[sets[i]]);
        bool is_later = at > begin || (at == begin && sets[i] > from);
        if (is_later && at < first &&
            is_same_property(s->system, &all[from].event, &all[sets[i]].event))
            first = at;
    }
    return first;
}

/* When the fault of this place ends if nothing is set: its repair is the next event. */
static th_time repaired(const th_session *s, size_t place)
{
    const th_applied_event *all = s->events.all;
    bool is_repaired = all[place].event.role == TH_PROPERTY_FAULT && place + 1 < s->events.n &&
                       all[place + 1].event.role == TH_PROPERTY_REPAIR;
    return is_repaired ? all[place + 1].event.at : TH_TIME_MAX;
}

static bool begins_interval(const th_property_event *e)
{
    return e->role == TH_PROPERTY_FAULT ||
           (e->role == TH_PROPERTY_SET && e->factor != th_property_unchanged(e->kind));
}

static int by_time(const void *a, const void *b)
{
    const th_fault_interval *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->event.kind != y->event.kind)
        return x->event.kind - y->event.kind;
    if (x->event.object != y->event.object)
        return x->event.object < y->event.object ? -1 : 1;
    return x->place - y->place;
}

/* Fills out->all, in the order of the events. */
static void pair_events(const th_session *s, th_time end, const size_t *sets, size_t n_sets,
                        th_fault_intervals *out)
{
    for (size_t i = 0; i < s->events.n; i++) {
        const th_applied_event *a = &s->events.all[i];
        th_time from = effect_of(a);
        if (!begins_interval(&a->event) || from >= end)
            continue;
        th_time set = set_again(s, sets, n_sets, i), to = repaired(s, i);
        to = set < to ? set : to;
        if (to > from)
            out->all[out->n++] =
                (th_fault_interval){a->event, from, to < end ? to : end, to <= end, (int32_t)i};
    }
}

/* By counting, so that those of an object keep their order. */
static void index_objects(const th_system *s, th_fault_intervals *f)
{
    int32_t objects = s->n_media + s->n_accels;
    for (int i = 0; i < f->n; i++)
        f->first[object_of(s, &f->all[i].event) + 1]++;
    for (int32_t o = 0; o < objects; o++)
        f->first[o + 1] += f->first[o];
    for (int i = 0; i < f->n; i++)
        f->by_object[f->first[object_of(s, &f->all[i].event)]++] = i;
    for (int32_t o = objects; o > 0; o--)
        f->first[o] = f->first[o - 1];
    f->first[0] = 0;
}

int th_fault_intervals_find(const th_session *s, th_time end, th_fault_intervals *out)
{
    size_t n = s->events.n + 1, n_sets = 0;
    size_t *sets = th_alloc_array(n, sizeof *sets);
    *out = (th_fault_intervals){
        .all = th_alloc_array(n, sizeof *out->all),
        .by_object = th_alloc_array(n, sizeof *out->by_object),
        .first = th_alloc_zero((size_t)s->system->n_media + (size_t)s->system->n_accels + 2,
                               sizeof *out->first)};
    bool failed = !sets || !out->all || !out->by_object || !out->first;
    for (size_t i = 0; !failed && i < s->events.n; i++)
        if (s->events.all[i].event.role == TH_PROPERTY_SET)
            sets[n_sets++] = i;
    if (!failed) {
        pair_events(s, end, sets, n_sets, out);
        qsort(out->all, (size_t)out->n, sizeof *out->all, by_time);
        index_objects(s->system, out);
    }
    th_free(sets);
    if (failed)
        th_fault_intervals_clear(out);
    return failed ? -1 : 0;
}

void th_fault_intervals_clear(th_fault_intervals *f)
{
    th_free(f->all);
    th_free(f->first);
    th_free(f->by_object);
}
