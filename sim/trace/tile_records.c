/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tile_records.c - see tile_records.h.
 *
 * Events come in batches that grow with the record, so little of what is recorded is never asked
 * for. What is kept is bounded: past KEPT_BYTES all of it is forgotten, and a record longer than
 * EVENTS_MAX goes on in one that nobody shares, which drops what has been shown. Invariants: a
 * record is freed when it is neither kept nor used; start, middle and last are in the order of
 * their times, and last has come through all events. */
#include <config.h>

#include "sim/trace/tile_records.h"

#include "base/alloc.h"
#include "base/map.h"

enum { KEPT_BYTES = 64 << 20, EVENTS_MAX = 1 << 18, DROPPED_AFTER = 1 << 10 };
enum { DIGEST_BYTES = 2 * sizeof(uint64_t) };

struct th_tile_records {
    th_map *number_of; /* by digest: in kept */
    th_tile_record **kept;
    size_t n_kept, room, bytes;
    int64_t n_made;
    int64_t age; /* how many times all were forgotten, and 1 */
};

th_tile_records *th_tile_records_new(void)
{
    th_tile_records *k = th_alloc_zero(1, sizeof *k);
    if (!k || !(k->number_of = th_map_new())) {
        th_free(k);
        return NULL;
    }
    k->age = 1;
    return k;
}

void th_tile_records_free(th_tile_records *k)
{
    if (!k)
        return;
    th_tile_records_forget(k);
    th_map_free(k->number_of);
    th_free(k->kept);
    th_free(k);
}

static void free_if_idle(th_tile_record *r)
{
    if (r->is_kept || r->n_users > 0)
        return;
    th_free(r->event);
    th_free(r);
}

void th_tile_records_forget(th_tile_records *k)
{
    for (size_t i = 0; i < k->n_kept; i++) {
        k->kept[i]->is_kept = false;
        free_if_idle(k->kept[i]);
    }
    th_map_clear(k->number_of);
    k->n_kept = k->bytes = 0;
    k->age++;
}

th_tile_record *th_tile_records_find(th_tile_records *k, const uint64_t *digest)
{
    int64_t number;
    if (!th_map_get(k->number_of, digest, DIGEST_BYTES, &number))
        return NULL;
    k->kept[number]->n_users++;
    return k->kept[number];
}

th_tile_record *th_tile_records_find_after(th_tile_records *k, th_tile_record *r, th_time at,
                                           double bytes_per_s, const uint64_t *digest)
{
    if (r->after.age == k->age && r->after.at == at && r->after.bytes_per_s == bytes_per_s) {
        r = r->after.record;
        __builtin_prefetch(r->after.record); /* which is far away, and soon asked for */
        r->n_users++;
        return r;
    }
    th_tile_record *found = th_tile_records_find(k, digest);
    if (!found)
        return NULL;
    r->after.at = at;
    r->after.bytes_per_s = bytes_per_s;
    r->after.record = found;
    r->after.age = k->age;
    return found;
}

static int keep(th_tile_records *k, const uint64_t *digest, th_tile_record *r)
{
    if (k->bytes > KEPT_BYTES)
        th_tile_records_forget(k);
    if (th_grow(&k->kept, &k->room, k->n_kept + 1, sizeof(th_tile_record *)) ||
        th_map_put(k->number_of, digest, DIGEST_BYTES, (int64_t)k->n_kept))
        return -1;
    k->kept[k->n_kept++] = r;
    k->bytes += sizeof *r;
    r->is_kept = true;
    return 0;
}

static th_tile_state state_of(const th_pipeline *p, const th_schedule *s)
{
    th_tiles tiles = th_pipeline_tiles(p, s);
    return th_tile_state_of(&tiles);
}

th_tile_record *th_tile_records_add(th_tile_records *k, const uint64_t *digest,
                                    const th_pipeline *p, const th_schedule *s, const th_port *port)
{
    th_tile_record *r = th_alloc_zero(1, sizeof *r);
    if (!r)
        return NULL;
    r->number = ++k->n_made;
    r->schedule = s;
    r->port = port;
    r->start = *p;
    r->start.skip = false;
    r->middle = r->last = r->start;
    r->first = state_of(p, s);
    r->n_users = 1;
    if (!digest || keep(k, digest, r) == 0)
        return r;
    th_free(r);
    return NULL;
}

void th_tile_records_release(th_tile_record *r)
{
    if (!r)
        return;
    r->n_users--;
    free_if_idle(r);
}

/* ---- more events ----------------------------------------------------------------------------- */

/* All events so far have been shown. */
static void drop_events(th_tile_records *k, th_tile_record *r)
{
    r->number = ++k->n_made;
    r->first = r->n > 0 ? r->event[r->n - 1].tiles : r->first;
    r->n = 0;
    r->start = r->last;
}

/* The rest of *r becomes a record of its own. */
static int part_from(th_tile_records *k, th_tile_record **r)
{
    th_tile_record *rest = th_tile_records_add(k, NULL, &(*r)->last, (*r)->schedule, (*r)->port);
    if (!rest)
        return -1;
    th_tile_records_release(*r);
    *r = rest;
    return 0;
}

static int add_event(th_tile_records *k, th_tile_record *r, th_time at)
{
    size_t room = r->room;
    if (th_grow(&r->event, &r->room, r->n + 1, sizeof *r->event))
        return -1;
    if (r->is_kept)
        k->bytes += (r->room - room) * sizeof *r->event;
    th_pipeline_advance(&r->last, r->schedule, r->port, at);
    r->event[r->n++] = (th_tile_event){at, state_of(&r->last, r->schedule)};
    return 0;
}

int th_tile_records_more(th_tile_records *k, th_tile_record **record, size_t *next)
{
    enum { LEAST = 4, MOST = 256, SHARE = 4 };
    if ((*record)->n >= EVENTS_MAX && part_from(k, record))
        return -1;
    th_tile_record *r = *record;
    if (!r->is_kept && r->n_users == 1 && r->n >= DROPPED_AFTER)
        drop_events(k, r);
    *next = r->n;
    size_t batch = LEAST + r->n / SHARE;
    r->middle = r->last;
    for (size_t i = 0; i < batch && i < MOST; i++) {
        th_time at = th_pipeline_next(&r->last);
        if (at == TH_TIME_MAX)
            break;
        if (add_event(k, r, at))
            return -1;
    }
    return r->n > *next;
}

void th_tile_record_state(const th_tile_record *r, th_time at, th_pipeline *p)
{
    bool is_far = at < r->middle.now;
    *p = at >= r->last.now ? r->last : is_far ? r->start : r->middle;
    p->skip = is_far;
    th_pipeline_advance(p, r->schedule, r->port, at);
    p->skip = false;
}
