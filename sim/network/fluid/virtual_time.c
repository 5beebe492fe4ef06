/* SPDX-License-Identifier: GPL-3.0-or-later */
/* virtual_time.c - when flows end: a virtual time per bottleneck medium, and its first end.
 *
 *   init -> reset -> (update | add | join | remove | end_first)* -> post_ends -> ... -> clear
 *
 * All flows with the same bottleneck have the rate level / w, as in fair queueing (A. Parekh, R.
 * Gallager, IEEE/ACM Transactions on Networking 1, 1993). The virtual time of a medium grows by its
 * level, and so does that of each flow that it limits, which a change of bottleneck does not
 * interrupt. A transfer ends when the virtual time of its flow has grown by bytes * w since it
 * joined, whatever happens to the level:
 *   count(t) = count(since) + level (t - since)    flow(t) = count(t) - offset
 *   finish of a transfer = flow(t) + bytes * w
 *   finish of a flow = finish of its first transfer + offset
 * So a change of level costs one update of the medium, and a change of bottleneck one of the flow,
 * not one per transfer. How often a virtual time
 * is updated depends on other flows; the end of a flow must not. A double that holds the 10 TB of a
 * flow resolves no more than a picosecond at 1 GB/s, so counts are double-doubles
 * (sim/kernel/double_double.h).
 * That rounding of levels delays no end, an end is rounded down where it exceeds a picosecond by
 * next to nothing (sim/kernel/fluid_time.h); but no transfer ends before it would alone (earliest,
 * in integers).
 * Invariants: count <= finish of every flow of the medium, up to a picosecond; a medium that has
 * flows and is not stale has an event in the picosecond in which its first flow ends. */
#include <config.h>

#include <assert.h>
#include <math.h>

#include "base/alloc.h"
#include "sim/kernel/fluid_time.h"
#include "sim/network/fluid/fluid.h"

/* --- the flows of a bottleneck: a heap -------------------------------------------------------- */

static bool ends_before(const th_fluid *f, int32_t a, int32_t b)
{
    const th_fluid_flow *v = &f->flows[a], *w = &f->flows[b];
    return th_dd_is_less(v->finish, w->finish) ||
           (!th_dd_is_less(w->finish, v->finish) && v->number < w->number);
}

#define TH_HEAP_ITEM              int32_t
#define TH_HEAP_OWNER             th_fluid
#define TH_HEAP_BEFORE(f, a, b)   ends_before(f, *(a), *(b))
#define TH_HEAP_MOVED(f, slot, i) ((f)->flows[*(slot)].place = (int32_t)(i))
#include "base/heap.h"

static void take_flow(th_fluid *f, th_virtual_time *c, size_t i)
{
    f->flows[c->flow[i]].bottleneck = -1;
    th_heap_remove(f, c->flow, --c->n, i);
}

/* --- virtual times ---------------------------------------------------------------------------- */

static th_double_double count_at(const th_virtual_time *c, th_time now)
{
    return c->since == now || c->n == 0
               ? c->count
               : th_dd_add(c->count, th_dd_times(c->level, now - c->since));
}

static void mark_stale(th_fluid *f, int32_t medium)
{
    if (f->time.of_medium[medium].is_stale)
        return;
    f->time.of_medium[medium].is_stale = true;
    f->time.stale[f->time.n_stale++] = medium;
}

/* One that may not have been used yet: those that never are take no memory. */
static th_virtual_time *used(th_fluid *f, int32_t medium)
{
    th_virtual_time *c = &f->time.of_medium[medium];
    if (!c->is_used) {
        c->is_used = true;
        c->end = TH_NO_EVENT;
    }
    return c;
}

void th_virtual_time_update(th_fluid *f, int32_t medium, th_time now, double level)
{
    th_virtual_time *c = used(f, medium);
    c->count = count_at(c, now);
    c->since = now;
    c->level = level;
    mark_stale(f, medium);
}

/* From its first transfer; an engine never ends. */
static void set_finish(const th_fluid *f, th_fluid_flow *w)
{
    const th_fluid_transfer *t = w->first < 0 ? NULL : &f->transfers[w->first];
    w->number = t ? t->number : -1;
    w->finish = t ? th_dd_add(t->finish, w->offset) : (th_double_double){INFINITY, 0};
}

int th_virtual_time_add(th_fluid *f, int32_t slot, int32_t medium, th_time now)
{
    th_virtual_time *c = used(f, medium);
    th_fluid_flow *w = &f->flows[slot];
    if (th_grow(&c->flow, &c->room, c->n + 1, sizeof *c->flow))
        return -1;
    if (c->n == 0) {
        c->count = (th_double_double){0, 0};
        c->since = now;
    }
    w->bottleneck = medium;
    w->offset = th_dd_add(w->offset, count_at(c, now));
    if (f->loss)
        w->lost -= th_fault_loss_at(f, w, medium, now);
    set_finish(f, w);
    th_heap_up(f, c->flow, c->n++, slot);
    mark_stale(f, medium);
    return 0;
}

void th_virtual_time_join(th_fluid *f, int32_t slot, int32_t transfer, th_time now)
{
    th_fluid_flow *w = &f->flows[slot];
    th_fluid_transfer *t = &f->transfers[transfer];
    th_virtual_time *c = w->bottleneck < 0 ? NULL : &f->time.of_medium[w->bottleneck];
    th_double_double count = c ? count_at(c, now) : (th_double_double){0, 0};
    if (f->loss)
        t->lost += w->lost + (c ? th_fault_loss_at(f, w, w->bottleneck, now) : 0);
    t->finish = th_dd_add(th_dd_subtract(count, w->offset), t->finish);
    t->earliest = th_time_add(now, th_duration_ps(t->padded, w->route.bits_per_s));
    th_fluid_push(f, w, transfer);
    if (!c || w->first != transfer)
        return;
    set_finish(f, w);
    th_heap_up(f, c->flow, (size_t)w->place, slot);
    mark_stale(f, w->bottleneck);
}

int th_virtual_time_add_since(th_fluid *f, int32_t slot, int32_t medium, double level)
{
    th_virtual_time *c = used(f, medium);
    th_fluid_flow *w = &f->flows[slot];
    assert(c->n == 0 && c->end == TH_NO_EVENT);
    if (th_grow(&c->flow, &c->room, 1, sizeof *c->flow))
        return -1;
    c->count = (th_double_double){0, 0};
    c->level = level;
    c->since = w->since;
    c->end = w->end;
    c->end_time = w->end_time;
    c->end_slot = w->first;
    c->n = 0;
    w->bottleneck = medium;
    if (f->loss)
        w->lost -= th_fault_loss_at(f, w, medium, w->since);
    set_finish(f, w);
    th_heap_up(f, c->flow, c->n++, slot);
    return 0;
}

void th_virtual_time_remove(th_fluid *f, int32_t slot, th_time now)
{
    th_fluid_flow *w = &f->flows[slot];
    if (w->bottleneck < 0)
        return;
    th_virtual_time *c = &f->time.of_medium[w->bottleneck];
    if (w->first >= 0)
        w->offset = th_dd_subtract(w->offset, count_at(c, now));
    if (f->loss)
        w->lost += th_fault_loss_at(f, w, w->bottleneck, now);
    mark_stale(f, w->bottleneck);
    take_flow(f, c, (size_t)w->place);
}

/* When the first of its flows ends, if the level stays. */
static th_time end_of(const th_fluid *f, const th_virtual_time *c)
{
    const th_fluid_flow *w = &f->flows[c->flow[0]];
    if (w->first < 0) /* an engine, which never ends */
        return TH_TIME_MAX;
    th_time end = th_fluid_end_time(th_dd_subtract(w->finish, c->count), c->level, c->since);
    th_time earliest = f->transfers[w->first].earliest;
    return end > earliest ? end : earliest;
}

void th_virtual_times_reset(th_fluid *f)
{
    for (int32_t m = 0; m < f->n_media; m++) {
        th_virtual_time *c = &f->time.of_medium[m];
        if (c->is_used)
            *c = (th_virtual_time){.flow = c->flow, .room = c->room};
    }
    f->time.n_stale = 0;
}

int th_virtual_times_init(th_fluid *f)
{
    size_t media = (size_t)f->n_media + 1;
    f->time.of_medium = th_memory_take(&f->head.memory, media, sizeof *f->time.of_medium);
    f->time.stale = th_memory_take(&f->head.memory, media, sizeof *f->time.stale);
    return f->time.of_medium && f->time.stale ? 0 : -1;
}

void th_virtual_times_clear(th_fluid *f)
{
    for (int32_t m = 0; f->time.of_medium && m < f->n_media; m++)
        th_free(f->time.of_medium[m].flow);
}

/* --- events of first ends --------------------------------------------------------------------- */

th_event_handle th_fluid_post_end(const th_fluid *f, th_events *q, int32_t transfer, th_time at)
{
    th_event e = {at, TH_PRIORITY_TRANSFER_END, (uint32_t)f->transfers[transfer].number, 0,
                  th_flow_argument(transfer, TH_FLOW_ENDS)};
    return th_events_push(q, &e);
}

static void cancel_end(th_events *q, th_virtual_time *c)
{
    if (c->end != TH_NO_EVENT)
        th_events_cancel(q, c->end);
    c->end = TH_NO_EVENT;
}

/* Its first transfer ends then: one event, whose time changes while it remains the first. */
static int post_first_end(th_fluid *f, th_events *q, th_virtual_time *c, th_time end)
{
    int32_t first = f->flows[c->flow[0]].first;
    if (c->end != TH_NO_EVENT && c->end_slot == first) {
        if (end != c->end_time)
            th_events_reschedule(q, c->end, end);
    } else {
        cancel_end(q, c);
        c->end_slot = first;
        c->end = th_fluid_post_end(f, q, first, end);
    }
    c->end_time = end;
    return c->end == TH_NO_EVENT ? -1 : 0;
}

void th_virtual_time_withdraw(th_fluid *f, th_events *q, int32_t slot, th_time now)
{
    const th_fluid_flow *w = &f->flows[slot];
    if (w->bottleneck >= 0 && f->time.of_medium[w->bottleneck].end_slot == w->first)
        cancel_end(q, &f->time.of_medium[w->bottleneck]);
    th_virtual_time_remove(f, slot, now);
}

int th_virtual_times_post_ends(th_fluid *f, th_events *q, th_time now)
{
    for (int32_t i = 0; i < f->time.n_stale; i++) {
        th_virtual_time *c = &f->time.of_medium[f->time.stale[i]];
        c->is_stale = false;
        th_time end = c->n > 0 ? end_of(f, c) : TH_TIME_MAX;
        if (end == TH_TIME_MAX)
            cancel_end(q, c);
        else if (post_first_end(f, q, c, end > now ? end : now))
            return -1;
    }
    f->time.n_stale = 0;
    return 0;
}

int th_virtual_time_end_first(th_fluid *f, th_events *q, int32_t slot, th_time now)
{
    int32_t medium = f->flows[slot].bottleneck;
    th_virtual_time *c = &f->time.of_medium[medium];
    assert(c->flow[0] == slot);
    c->end = TH_NO_EVENT;
    th_fluid_pop_first(f, &f->flows[slot]);
    if (f->flows[slot].first < 0) {
        take_flow(f, c, 0);
    } else {
        set_finish(f, &f->flows[slot]);
        th_heap_down(f, c->flow, c->n, 0, slot);
    }
    if (c->n > 0 && end_of(f, c) <= now)
        return post_first_end(f, q, c, now);
    mark_stale(f, medium);
    return 0;
}
