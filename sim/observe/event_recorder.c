/* SPDX-License-Identifier: GPL-3.0-or-later */
/* event_recorder.c - see event_recorder.h. */
#include <config.h>

#include "sim/observe/event_recorder.h"

#include <string.h>

#include "base/alloc.h"

void th_event_recorder_clear(th_event_recorder *r)
{
    th_free(r->record);
    th_free(r->tiles);
    r->record = NULL;
    r->tiles = NULL;
    r->n_records = r->record_capacity = r->tile_capacity = 0;
    r->is_out_of_memory = r->observer.stops_run = false;
}

static void drop_records(th_event_recorder *r)
{
    r->n_records = 0;
    r->observer.stops_run = false;
}

int th_event_recorder_forget(th_event_recorder *r, th_error *err)
{
    drop_records(r);
    return r->is_out_of_memory ? th_error_no_memory(err) : 0;
}

static void record(th_observer *o, th_record_kind kind, int32_t object)
{
    th_event_recorder *r = (th_event_recorder *)o;
    if (!(r->kinds >> kind & 1u))
        return;
    if (th_grow(&r->record, &r->record_capacity, r->n_records + 1, sizeof *r->record)) {
        r->is_out_of_memory = true;
        return;
    }
    r->record[r->n_records++] = (th_event_record){(int32_t)kind, object};
    o->stops_run = true;
}

/* ---- notify functions ------------------------------------------------------------------------ */

static void restart(th_observer *o, const th_program *p)
{
    th_event_recorder *r = (th_event_recorder *)o;
    (void)p;
    if (r->tiles)
        memset(r->tiles, 0, r->tile_capacity * sizeof *r->tiles);
    drop_records(r);
}

/* The run can stop at a tile only where the machine runs tasks tile by tile. */
static th_tile_window tile_window(const th_observer *o, int accel)
{
    const unsigned of_tiles =
        1u << TH_RECORD_TILES | 1u << TH_RECORD_STALL | 1u << TH_RECORD_BUFFER_FULL;
    (void)accel;
    bool is_wanted = ((const th_event_recorder *)o)->kinds & of_tiles;
    return (th_tile_window){.until = is_wanted ? TH_TIME_MAX : -1};
}

static void task_start(th_observer *o, th_time now, int32_t task)
{
    (void)now;
    record(o, TH_RECORD_TASK_START, task);
}

static void task_end(th_observer *o, th_time now, int32_t task)
{
    (void)now;
    record(o, TH_RECORD_TASK_END, task);
}

static void queued(th_observer *o, th_time now, int accel)
{
    (void)now;
    record(o, TH_RECORD_QUEUED, accel);
}

static void link_changes(th_observer *o, th_time now, int link, int32_t flows, int32_t change)
{
    const bool *links = ((th_event_recorder *)o)->links;
    (void)now, (void)flows, (void)change;
    if (!links || links[link])
        record(o, TH_RECORD_LINK, link);
}

static void health_changes(th_observer *o, th_time now, bool is_link, int index, th_health health)
{
    (void)now, (void)health;
    if (!is_link)
        record(o, TH_RECORD_HEALTH, index);
}

static bool is_stalled(const th_tiles *t)
{
    return t->array > TH_ARRAY_COMPUTES;
}

/* The tiles of an accelerator as last reported; NULL: memory is out. */
static th_tiles *last_tiles(th_event_recorder *r, int accel)
{
    size_t before = r->tile_capacity;
    if (th_grow(&r->tiles, &r->tile_capacity, (size_t)accel + 1, sizeof *r->tiles)) {
        r->is_out_of_memory = true;
        return NULL;
    }
    if (r->tile_capacity > before)
        memset(&r->tiles[before], 0, (r->tile_capacity - before) * sizeof *r->tiles);
    return &r->tiles[accel];
}

static void tiles_change(th_observer *o, th_time now, int accel, const th_tiles *tiles)
{
    th_tiles *last = last_tiles((th_event_recorder *)o, accel);
    (void)now;
    if (!last)
        return;
    th_tiles before = *last;
    *last = *tiles;
    record(o, TH_RECORD_TILES, accel);
    if (is_stalled(tiles) && tiles->array != before.array)
        record(o, TH_RECORD_STALL, accel);
    if (tiles->is_full && !before.is_full)
        record(o, TH_RECORD_BUFFER_FULL, accel);
}

void th_event_recorder_init(th_event_recorder *r)
{
    static const th_observer_type type = {.restart = restart,
                                          .tile_window = tile_window,
                                          .task_start = task_start,
                                          .task_end = task_end,
                                          .queued = queued,
                                          .link = link_changes,
                                          .health = health_changes,
                                          .tiles = tiles_change};
    *r = (th_event_recorder){.observer.type = &type};
}
