/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_traces.c - see pipeline_traces.h.
 *
 * Changes are simulated in batches that grow with the trace. The cache is bounded: above
 * CACHE_BYTES it is emptied, and a trace of more than CHANGES_MAX changes is continued by one that
 * is not shared, which drops changes that its user has passed. Invariants: a trace is freed when it
 * is neither cached nor used; start, middle and last are in the order of their times, and last is
 * the state after all changes. */
#include <config.h>

#include "sim/trace/pipeline_traces.h"

#include "base/alloc.h"
#include "base/map.h"

enum { CACHE_BYTES = 64 << 20, CHANGES_MAX = 1 << 18, DROPPED_AFTER = 1 << 10 };
enum { DIGEST_BYTES = 2 * sizeof(uint64_t) };

struct th_pipeline_traces {
    th_map *number_of; /* by digest: in cached */
    th_pipeline_trace **cached;
    size_t n_cached, capacity, bytes;
};

th_pipeline_traces *th_pipeline_traces_new(void)
{
    th_pipeline_traces *k = th_alloc_zero(1, sizeof *k);
    if (!k || !(k->number_of = th_map_new())) {
        th_free(k);
        return NULL;
    }
    return k;
}

void th_pipeline_traces_free(th_pipeline_traces *k)
{
    if (!k)
        return;
    th_pipeline_traces_forget(k);
    th_map_free(k->number_of);
    th_free(k->cached);
    th_free(k);
}

static void free_if_unused(th_pipeline_trace *r)
{
    if (r->is_cached || r->n_users > 0)
        return;
    th_free(r->change);
    th_free(r);
}

void th_pipeline_traces_forget(th_pipeline_traces *k)
{
    for (size_t i = 0; i < k->n_cached; i++) {
        k->cached[i]->is_cached = false;
        free_if_unused(k->cached[i]);
    }
    th_map_clear(k->number_of);
    k->n_cached = k->bytes = 0;
}

th_pipeline_trace *th_pipeline_traces_find(th_pipeline_traces *k, const uint64_t *digest)
{
    int64_t number;
    if (!th_map_get(k->number_of, digest, DIGEST_BYTES, &number))
        return NULL;
    k->cached[number]->n_users++;
    return k->cached[number];
}

static int put_in_cache(th_pipeline_traces *k, const uint64_t *digest, th_pipeline_trace *r)
{
    if (k->bytes > CACHE_BYTES)
        th_pipeline_traces_forget(k);
    if (th_grow(&k->cached, &k->capacity, k->n_cached + 1, sizeof(th_pipeline_trace *)) ||
        th_map_put(k->number_of, digest, DIGEST_BYTES, (int64_t)k->n_cached))
        return -1;
    k->cached[k->n_cached++] = r;
    k->bytes += sizeof *r;
    r->is_cached = true;
    return 0;
}

static th_tile_state state_of(const th_pipeline *p, const th_schedule *s)
{
    th_tiles tiles = th_pipeline_tiles(p, s);
    return th_tile_state_of(&tiles);
}

th_pipeline_trace *th_pipeline_traces_add(th_pipeline_traces *k, const uint64_t *digest,
                                          const th_pipeline *p, const th_schedule *s,
                                          const th_port *port)
{
    th_pipeline_trace *r = th_alloc_zero(1, sizeof *r);
    if (!r)
        return NULL;
    r->schedule = s;
    r->port = port;
    r->start = *p;
    r->start.skip = false;
    r->middle = r->last = r->start;
    r->first = state_of(p, s);
    r->n_users = 1;
    if (!digest || put_in_cache(k, digest, r) == 0)
        return r;
    th_free(r);
    return NULL;
}

void th_pipeline_trace_release(th_pipeline_trace *r)
{
    if (!r)
        return;
    r->n_users--;
    free_if_unused(r);
}

/* ---- more changes ---------------------------------------------------------------------------- */

/* The only user has passed all changes so far. */
static void drop_changes(th_pipeline_trace *r)
{
    r->first = r->n > 0 ? r->change[r->n - 1].tiles : r->first;
    r->n = 0;
    r->start = r->last;
}

/* Replaces *r by a trace of its own that continues it. */
static int continue_alone(th_pipeline_traces *k, th_pipeline_trace **r)
{
    th_pipeline_trace *rest =
        th_pipeline_traces_add(k, NULL, &(*r)->last, (*r)->schedule, (*r)->port);
    if (!rest)
        return -1;
    th_pipeline_trace_release(*r);
    *r = rest;
    return 0;
}

static int add_change(th_pipeline_traces *k, th_pipeline_trace *r, th_time at)
{
    size_t before = r->capacity;
    if (th_grow(&r->change, &r->capacity, r->n + 1, sizeof *r->change))
        return -1;
    if (r->is_cached)
        k->bytes += (r->capacity - before) * sizeof *r->change;
    th_pipeline_advance(&r->last, r->schedule, r->port, at);
    r->change[r->n++] = (th_pipeline_change){at, state_of(&r->last, r->schedule)};
    return 0;
}

int th_pipeline_traces_more(th_pipeline_traces *k, th_pipeline_trace **trace, size_t *next)
{
    enum { BATCH_MIN = 4, BATCH_MAX = 256, SHARE = 4 };
    if ((*trace)->n >= CHANGES_MAX && continue_alone(k, trace))
        return -1;
    th_pipeline_trace *r = *trace;
    if (!r->is_cached && r->n_users == 1 && r->n >= DROPPED_AFTER)
        drop_changes(r);
    *next = r->n;
    size_t batch = BATCH_MIN + r->n / SHARE;
    r->middle = r->last;
    for (size_t i = 0; i < batch && i < BATCH_MAX; i++) {
        th_time at = th_pipeline_next(&r->last);
        if (at == TH_TIME_MAX)
            break;
        if (add_change(k, r, at))
            return -1;
    }
    return r->n > *next;
}

void th_pipeline_trace_state(const th_pipeline_trace *r, th_time at, th_pipeline *p)
{
    bool is_early = at < r->middle.now;
    *p = at >= r->last.now ? r->last : is_early ? r->start : r->middle;
    p->skip = is_early;
    th_pipeline_advance(p, r->schedule, r->port, at);
    p->skip = false;
}
