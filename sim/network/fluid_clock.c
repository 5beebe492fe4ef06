/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fluid_clock.c - when flows end: a clock per medium, and the first end of all of them.
 *
 *   reset -> (turn | join | quit)* -> find_ends -> collect_due -> ... -> clear
 *
 * All flows with the same bottleneck have the rate level / w, so a clock that grows by the level has
 * to go on by left_bytes * w for each of them, whatever becomes of the level in between:
 *   count(t) = count(since) + level (t - since)    finish = count(t) + left_bytes w
 * A flow is touched when it joins, ends, or gets another bottleneck; a change of level costs one
 * turn of the clock. Invariants: count <= finish of every flow on it, but for rounding; a clock is in
 * ends if it has flows and is not stale, with the picosecond in which its first one ends; after
 * COUNT_ANEW turns count starts from 0 again, so that it stays exact. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "sim/fluid_time.h"
#include "sim/network/fluid.h"

enum { COUNT_ANEW = 1024 };

int th_fluid_add(th_fluid_list *l, int32_t item)
{
    if (th_grow(&l->item, &l->room, l->n + 1, sizeof *l->item))
        return -1;
    l->item[l->n++] = item;
    return 0;
}

/* --- the flows of a clock: a binary heap ------------------------------------------------------ */

static bool ends_before(const th_fluid *f, int32_t a, int32_t b)
{
    const th_fluid_flow *v = &f->flows[a], *w = &f->flows[b];
    return v->finish < w->finish || (v->finish == w->finish && v->number < w->number);
}

static void put_flow(th_fluid *f, th_fluid_clock *c, size_t i, int32_t slot)
{
    c->flow[i] = slot;
    f->flows[slot].place = (int32_t)i;
}

static void flow_up(th_fluid *f, th_fluid_clock *c, size_t i, int32_t slot)
{
    for (; i > 0 && ends_before(f, slot, c->flow[(i - 1) / 2]); i = (i - 1) / 2)
        put_flow(f, c, i, c->flow[(i - 1) / 2]);
    put_flow(f, c, i, slot);
}

static void flow_down(th_fluid *f, th_fluid_clock *c, size_t i, int32_t slot)
{
    for (size_t k = 2 * i + 1; k < c->n; k = 2 * i + 1) {
        if (k + 1 < c->n && ends_before(f, c->flow[k + 1], c->flow[k]))
            k++;
        if (!ends_before(f, c->flow[k], slot))
            break;
        put_flow(f, c, i, c->flow[k]);
        i = k;
    }
    put_flow(f, c, i, slot);
}

static void take_flow(th_fluid *f, th_fluid_clock *c, size_t i)
{
    f->flows[c->flow[i]].clock = -1;
    int32_t last = c->flow[--c->n];
    if (i == c->n)
        return;
    if (i > 0 && ends_before(f, last, c->flow[(i - 1) / 2]))
        flow_up(f, c, i, last);
    else
        flow_down(f, c, i, last);
}

/* --- clocks ----------------------------------------------------------------------------------- */

static double count_at(const th_fluid_clock *c, th_time now)
{
    return c->since == now || c->n == 0 ? c->count
                                        : c->count + c->level * ((double)(now - c->since) * 1e-12);
}

static void mark_stale(th_fluid *f, int32_t clock)
{
    if (f->clocks[clock].is_stale)
        return;
    f->clocks[clock].is_stale = true;
    f->stale[f->n_stale++] = clock;
}

static void count_anew(th_fluid *f, th_fluid_clock *c)
{
    for (size_t i = 0; i < c->n; i++)
        f->flows[c->flow[i]].finish -= c->count;
    c->count = 0;
    c->n_turns = 0;
}

void th_fluid_turn(th_fluid *f, int32_t clock, th_time now, double level)
{
    th_fluid_clock *c = &f->clocks[clock];
    c->count = count_at(c, now);
    c->since = now;
    c->level = level;
    if (++c->n_turns >= COUNT_ANEW)
        count_anew(f, c);
    mark_stale(f, clock);
}

int th_fluid_join(th_fluid *f, int32_t slot, int32_t clock, th_time now)
{
    th_fluid_clock *c = &f->clocks[clock];
    th_fluid_flow *w = &f->flows[slot];
    if (th_grow(&c->flow, &c->room, c->n + 1, sizeof *c->flow))
        return -1;
    if (c->n == 0) {
        c->count = 0;
        c->since = now;
        c->n_turns = 0;
    }
    w->clock = clock;
    w->finish = count_at(c, now) + w->left_bytes * w->weight;
    c->n++;
    flow_up(f, c, c->n - 1, slot);
    mark_stale(f, clock);
    return 0;
}

void th_fluid_quit(th_fluid *f, int32_t slot, th_time now)
{
    th_fluid_flow *w = &f->flows[slot];
    if (w->clock < 0)
        return;
    th_fluid_clock *c = &f->clocks[w->clock];
    if (!isinf(w->finish)) {
        double left = (w->finish - count_at(c, now)) / w->weight;
        w->left_bytes = left > 0 ? left : 0;
    }
    mark_stale(f, w->clock);
    take_flow(f, c, (size_t)w->place);
}

/* When the flow at a place of its heap ends, if the level stays. */
static th_time end_at(const th_fluid *f, const th_fluid_clock *c, size_t place)
{
    double ahead = f->flows[c->flow[place]].finish - c->count;
    th_time duration = isinf(ahead) ? TH_TIME_MAX : th_fluid_duration(ahead, c->level);
    return duration > TH_TIME_MAX - c->since ? TH_TIME_MAX : c->since + duration;
}

static th_time end_of(const th_fluid *f, const th_fluid_clock *c)
{
    return end_at(f, c, 0);
}

void th_fluid_clocks_reset(th_fluid *f)
{
    for (int32_t m = 0; m < f->n_media; m++) {
        th_fluid_clock *c = &f->clocks[m];
        *c = (th_fluid_clock){.flow = c->flow, .room = c->room, .end = TH_NO_EVENT};
    }
    th_events_reset(f->ends);
    f->n_stale = 0;
    f->due.n = f->next_due = 0;
}

void th_fluid_clocks_clear(th_fluid *f)
{
    for (int32_t m = 0; f->clocks && m < f->n_media; m++)
        th_free(f->clocks[m].flow);
    th_free(f->clocks);
}

/* --- the ends of clocks ----------------------------------------------------------------------- */

static int post_end(th_fluid *f, int32_t clock, th_time end)
{
    th_fluid_clock *c = &f->clocks[clock];
    if (c->end == TH_NO_EVENT)
        c->end = th_events_push(f->ends, &(th_event){.time = end, .object = (uint32_t)clock});
    else if (end != c->end_time)
        th_events_reschedule(f->ends, c->end, end);
    c->end_time = end;
    return c->end == TH_NO_EVENT ? -1 : 0;
}

int th_fluid_find_ends(th_fluid *f, th_time now)
{
    for (int32_t i = 0; i < f->n_stale; i++) {
        int32_t clock = f->stale[i];
        th_fluid_clock *c = &f->clocks[clock];
        c->is_stale = false;
        th_time end = c->n > 0 ? end_of(f, c) : TH_TIME_MAX;
        end = end > now ? end : now;
        if (end < TH_TIME_MAX) {
            if (post_end(f, clock, end))
                return -1;
        } else if (c->end != TH_NO_EVENT) {
            th_events_cancel(f->ends, c->end);
            c->end = TH_NO_EVENT;
        }
    }
    f->n_stale = 0;
    return 0;
}

/* --- flows that end now ----------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    int32_t m = ((const th_fluid_numbered *)a)->number, n = ((const th_fluid_numbered *)b)->number;
    return (m > n) - (m < n);
}

static int sort_due(th_fluid *f)
{
    size_t n = f->due.n;
    bool is_sorted = true;
    for (size_t i = 1; i < n && is_sorted; i++)
        is_sorted = f->flows[f->due.item[i - 1]].number < f->flows[f->due.item[i]].number;
    if (is_sorted)
        return 0;
    if (th_grow(&f->sorting, &f->sorting_room, n, sizeof *f->sorting))
        return -1;
    for (size_t i = 0; i < n; i++)
        f->sorting[i] = (th_fluid_numbered){f->flows[f->due.item[i]].number, f->due.item[i]};
    qsort(f->sorting, n, sizeof *f->sorting, by_number);
    for (size_t i = 0; i < n; i++)
        f->due.item[i] = f->sorting[i].slot;
    return 0;
}

int32_t th_fluid_first_alone(const th_fluid *f)
{
    th_event first;
    th_events_peek(f->ends, &first);
    const th_fluid_clock *c = &f->clocks[first.object];
    if (!th_events_next_is_alone(f->ends))
        return -1;
    for (size_t i = 1; i <= 2 && i < c->n; i++)
        if (end_at(f, c, i) <= first.time)
            return -1;
    return c->flow[0];
}

int th_fluid_collect_due(th_fluid *f, th_time now)
{
    th_event first;
    f->due.n = f->next_due = 0;
    while (th_events_peek(f->ends, &first) && first.time <= now) {
        int32_t clock = (int32_t)first.object;
        th_fluid_clock *c = &f->clocks[clock];
        do {
            int32_t slot = c->flow[0];
            if (th_fluid_add(&f->due, slot))
                return -1;
            take_flow(f, c, 0);
        } while (c->n > 0 && end_of(f, c) <= now);
        th_events_pop(f->ends, &first);
        c->end = TH_NO_EVENT;
        mark_stale(f, clock);
    }
    return sort_due(f);
}
