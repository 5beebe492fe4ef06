/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chunk_pipeline.c - the chunks of one collective in the dimensions of the system.
 *   th_astra_pipeline_ns: arrive -> (begin -> (send -> [send from the switch] -> receive)* -> leave
 *   -> arrive)*
 *
 * All ranks do the same at the same time, so one stands for all: what it sends to one neighbour, it
 * receives from the other. A dimension is a server with active_chunks places and a queue, first
 * come, first served; of chunks that arrive at one time the lower number is first. Chunks either
 * take their time side by side, or (shares_links) send message by message over the one link to the
 * neighbour, or to the switch and then from it: a link is busy for floor(m / bw) with each message,
 * first come, first served, and the message arrives after floor(latency + m / bw). The next message
 * is sent after endpoint_delay and, where it is reduced, the reduction.
 *
 * Invariant: a chunk is in one queue, or has one event pending, or has left the last dimension. */
#include <config.h>

#include "sim/network/astra/chunk_pipeline.h"

#include "base/alloc.h"
#include "sim/kernel/event.h"
#include "sim/network/astra/astra_message.h"

enum { SENDS, AT_SWITCH, RECEIVED, LEAVES }; /* what an event means */

typedef struct {
    int32_t behind; /* the next in its queue, -1: none */
    int32_t phase;
    int64_t step; /* messages that have been received in this phase */
} chunk;

typedef struct {
    int32_t first, last; /* of the queue; -1: empty */
    int64_t free_places;
    int64_t up_free, down_free; /* when the link to the neighbour or switch, and from it, is free */
} server;

typedef struct {
    const th_astra_route *r;
    th_events *events; /* time in ns, object is the chunk */
    chunk *chunks;
    server servers[TH_MAX_DIMS];
} pipeline;

static const th_astra_phase *phase_of(const pipeline *c, int32_t i)
{
    return &c->r->phase[c->chunks[i].phase];
}

static int post(pipeline *c, int64_t time, int32_t i, uint32_t kind)
{
    th_event e = {time, TH_PRIORITY_TRANSFER_END, (uint32_t)i, 0, kind};
    return th_events_push(c->events, &e) == TH_NO_EVENT ? -1 : 0;
}

/* ---- messages of a phase ---- */

static int begin(pipeline *c, int32_t i, int64_t now)
{
    const th_astra_phase *p = phase_of(c, i);
    c->servers[p->dim].free_places--;
    c->chunks[i].step = 0;
    if (!c->r->shares_links)
        return post(c, th_astra_add(now, p->ns), i, LEAVES);
    return post(c, th_astra_add(now, c->r->a->endpoint_delay_ns), i, SENDS);
}

/* Over a link that is idle from *free on. */
static int send(pipeline *c, int32_t i, int64_t now, int64_t *free, uint32_t then)
{
    const th_astra_phase *p = phase_of(c, i);
    const th_astra_dim *dim = &c->r->a->dims[p->dim];
    int64_t start = *free > now ? *free : now;
    *free = th_astra_add(start, th_astra_serialization_ns(dim, p->bytes));
    return post(c, th_astra_add(start, th_astra_hop_ns(dim, p->bytes)), i, then);
}

static int receive(pipeline *c, int32_t i, int64_t now)
{
    const th_astra_phase *p = phase_of(c, i);
    int64_t ready = th_astra_add(now, c->r->a->endpoint_delay_ns);
    if (c->chunks[i].step++ < p->n_reduced)
        ready = th_astra_add(ready, p->reduce_ns);
    return post(c, ready, i, c->chunks[i].step < p->steps ? SENDS : LEAVES);
}

/* ---- from dimension to dimension ---- */

static int arrive(pipeline *c, int32_t i, int64_t now)
{
    server *s = &c->servers[phase_of(c, i)->dim];
    if (s->free_places > 0)
        return begin(c, i, now);
    c->chunks[i].behind = -1;
    if (s->first < 0)
        s->first = i;
    else
        c->chunks[s->last].behind = i;
    s->last = i;
    return 0;
}

/* The next in the queue takes its place, and the chunk goes to its next dimension. */
static int leave(pipeline *c, int32_t i, int64_t now)
{
    server *s = &c->servers[phase_of(c, i)->dim];
    int32_t next = s->first;
    s->free_places++;
    if (next >= 0) {
        s->first = c->chunks[next].behind;
        if (begin(c, next, now) < 0)
            return -1;
    }
    return ++c->chunks[i].phase < c->r->n_phases ? arrive(c, i, now) : 0;
}

static int handle(pipeline *c, const th_event *e)
{
    int32_t i = (int32_t)e->object;
    int d = phase_of(c, i)->dim;
    bool has_switch = c->r->a->dims[d].kind == TH_TOPOLOGY_DIM_SWITCH;
    switch (e->argument) {
    case SENDS:
        return send(c, i, e->time, &c->servers[d].up_free, has_switch ? AT_SWITCH : RECEIVED);
    case AT_SWITCH:
        return send(c, i, e->time, &c->servers[d].down_free, RECEIVED);
    case RECEIVED:
        return receive(c, i, e->time);
    default:
        return leave(c, i, e->time);
    }
}

static int run(pipeline *c, int32_t n_chunks, int64_t *ns)
{
    th_event e;
    for (int d = 0; d < c->r->a->n_dims; d++)
        c->servers[d] = (server){.first = -1, .last = -1, .free_places = c->r->a->active_chunks};
    for (int32_t i = 0; i < n_chunks; i++)
        if (arrive(c, i, 0) < 0)
            return -1;
    while (th_events_pop(c->events, &e)) {
        *ns = e.time;
        if (handle(c, &e) < 0)
            return -1;
    }
    return 0;
}

int th_astra_pipeline_ns(const th_astra_route *r, int32_t n_chunks, int64_t *ns, th_error *err)
{
    pipeline c = {.r = r, .events = th_events_new()};
    c.chunks = th_alloc_zero((size_t)n_chunks, sizeof *c.chunks);
    int status = c.events && c.chunks ? run(&c, n_chunks, ns) : -1;
    th_events_free(c.events);
    th_free(c.chunks);
    return status < 0 ? th_error_no_memory(err) : 0;
}
