/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.c - see watch.h. */
#include <config.h>

#include "sim/observe/watch.h"

#include <string.h>

#include "base/alloc.h"

void th_watch_clear(th_watch *w)
{
    th_free(w->seen);
    th_free(w->tiles);
    w->seen = NULL;
    w->tiles = NULL;
    w->n_seen = w->room = 0;
    w->is_out_of_memory = false;
}

bool th_watch_stops_at_tiles(const th_watch *w)
{
    const unsigned inside = 1u << TH_SEEN_TILES | 1u << TH_SEEN_STALL | 1u << TH_SEEN_BUFFER_FULL;
    return (w->kinds & inside) != 0;
}

bool th_watch_traces_tiles(const th_watch *w, int accel)
{
    return w->trace && th_trace_wants_tiles(w->trace, accel);
}

int th_watch_forget(th_watch *w, th_error *err)
{
    w->n_seen = 0;
    return w->is_out_of_memory ? th_error_no_memory(err) : 0;
}

void th_watch_restart(th_watch *w, const th_program *p, int32_t n_accels)
{
    if (w->trace)
        th_trace_restart(w->trace, p);
    if (w->tiles)
        memset(w->tiles, 0, (size_t)n_accels * sizeof *w->tiles);
    w->n_seen = 0;
}

static void note(th_watch *w, th_seen_kind kind, int32_t object)
{
    if (!(w->kinds >> kind & 1u))
        return;
    if (th_grow(&w->seen, &w->room, w->n_seen + 1, sizeof *w->seen))
        w->is_out_of_memory = true;
    else
        w->seen[w->n_seen++] = (th_seen){(int32_t)kind, object};
}

void th_watch_task_starts(th_watch *w, th_time now, int32_t task)
{
    if (w->trace)
        th_trace_task_starts(w->trace, now, task);
    note(w, TH_SEEN_TASK_STARTS, task);
}

void th_watch_task_ends(th_watch *w, th_time now, int32_t task)
{
    if (w->trace)
        th_trace_task_ends(w->trace, now, task);
    note(w, TH_SEEN_TASK_ENDS, task);
}

void th_watch_waits(th_watch *w, th_time now, int accel)
{
    if (w->trace)
        th_trace_waits(w->trace, now, accel);
    note(w, TH_SEEN_WAITS, accel);
}

void th_watch_link(th_watch *w, th_time now, int link, int32_t flows, int32_t change)
{
    if (w->trace)
        th_trace_link(w->trace, now, link, flows);
    if (w->link && w->link->link == link)
        th_link_watch_advance(w->link, now, change);
    if (!w->links || w->links[link])
        note(w, TH_SEEN_LINK, link);
}

void th_watch_message(th_watch *w, th_time now, int32_t flow, const th_message *m, bool starts)
{
    if (!w->trace)
        return;
    if (starts)
        th_trace_message_starts(w->trace, now, flow, m);
    else
        th_trace_message_ends(w->trace, now, flow, m);
}

static bool is_stalled(const th_tiles *t)
{
    return t->array > TH_ARRAY_COMPUTES;
}

void th_watch_tiles(th_watch *w, th_time now, int accel, int32_t n_accels, const th_tiles *tiles)
{
    if (w->trace)
        th_trace_tiles(w->trace, now, accel, tiles);
    if (!w->tiles && !(w->tiles = th_alloc_zero((size_t)n_accels + 1, sizeof *w->tiles))) {
        w->is_out_of_memory = true;
        return;
    }
    th_tiles before = w->tiles[accel];
    w->tiles[accel] = *tiles;
    note(w, TH_SEEN_TILES, accel);
    if (is_stalled(tiles) && tiles->array != before.array)
        note(w, TH_SEEN_STALL, accel);
    if (tiles->is_full && !before.is_full)
        note(w, TH_SEEN_BUFFER_FULL, accel);
}
