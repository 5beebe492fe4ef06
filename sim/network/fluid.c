/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fluid.c - concurrent transfers share links max-min fairly.
 *
 *   create -> reset -> (start -> event ENTERS -> event ENDS | demand)*, settle before time goes on
 *   -> destroy
 *
 * A flow enters the sharing one route latency after its start and draws on every medium of its
 * route (progressive filling: D. Bertsekas, R. Gallager, "Data Networks", 1992, section 6.5.2; the
 * delayed entry as in SimGrid's CM02). Settle recomputes the rates of the touched components alone:
 * media that are joined through common flows. A flow's left bytes change only when its rate
 * changes, and its end is rounded up.
 *
 * DRAM: flows draw on the DRAM at both ends. Where that can limit them (is_shared), the DRAM is one
 * more medium and the engines of the accelerator are flows too, each behind a medium of its own
 * (its port). Where it cannot, flows are solved without it and their sum is told (accel_draw).
 *
 * Media are numbered: the system's, then one DRAM per accelerator, then one port per engine. Flows
 * live in slots: the engines first, then transfers, whose slots are used again. Not modelled: packets, buffers, protocol
 * overhead. */
#include <config.h>

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/fluid_time.h"
#include "sim/network/models.h"
#include "sim/network/routes.h"
#include "sim/schedule.h"

typedef struct {
    double left_bytes;  /* at since */
    double bytes_per_s; /* from since on */
    th_time since;
    int64_t bytes;
    int32_t number;                /* the machine's; while the slot is free: the next free one */
    int32_t src, dst;              /* nodes; -1 for engines */
    th_flow_route route;           /* in routes */
    int32_t first_medium, n_media; /* in media_of */
    th_event_handle end;
    bool is_fixed; /* while a component is being solved */
    uint32_t seen; /* stamp of the settle that has collected it */
} flow;

typedef struct {
    double capacity; /* bytes per second */
    int32_t *flows;  /* that draw on it now; one entry per hop */
    size_t n_flows, room;
    double left; /* while a component is being solved */
    int32_t n_open;
    uint32_t seen;
    bool is_dirty;
} medium;

typedef struct {
    int32_t *item;
    size_t n, room;
} list;

typedef struct {
    th_network head;
    th_routes routes;
    th_blocks media_of; /* what flows draw on; engines' blocks come first */
    medium *media;
    int32_t n_media, n_engines;
    flow *flows;
    size_t n_flows, flow_room;
    int32_t free_flow; /* -1: none */
    list dirty, members, component; /* media, flows, media */
    list *at_accel;                 /* per accelerator, its transfers now; one entry per end */
    int32_t *pending;               /* accelerators that the next settle will tell of */
    int32_t n_pending;
    bool *is_touched; /* those in pending */
    uint32_t stamp;
    bool out_of_memory;
} fluid;

static int add(list *l, int32_t item)
{
    if (th_grow(&l->item, &l->room, l->n + 1, sizeof *l->item))
        return -1;
    l->item[l->n++] = item;
    return 0;
}

static void drop(int32_t *items, size_t *n, int32_t item)
{
    size_t i = 0;
    while (items[i] != item)
        i++;
    items[i] = items[--*n];
}

/* --- life ------------------------------------------------------------------------------------- */

static void destroy(th_network *n)
{
    fluid *f = (fluid *)n;
    if (!f)
        return;
    for (int32_t m = 0; f->media && m < f->n_media; m++)
        th_free(f->media[m].flows);
    for (int a = 0; f->at_accel && a < n->system->n_accels; a++)
        th_free(f->at_accel[a].item);
    th_network_head_clear(n);
    th_routes_clear(&f->routes);
    th_blocks_clear(&f->media_of);
    th_free(f->media);
    th_free(f->flows);
    th_free(f->dirty.item);
    th_free(f->members.item);
    th_free(f->component.item);
    th_free(f->at_accel);
    th_free(f->is_touched);
    th_free(f->pending);
    th_free(f);
}

static int32_t dram_medium(const fluid *f, int accel)
{
    return f->head.system->n_media + accel;
}

static int32_t port_medium(const fluid *f, int accel, int engine)
{
    return f->head.system->n_media + f->head.system->n_accels + accel * TH_N_ENGINES + engine;
}

enum { ENGINE_MEDIA = 2 }; /* its port and its DRAM */

static int create_media(fluid *f, const th_system *s)
{
    f->n_engines = s->n_accels * TH_N_ENGINES;
    f->n_media = s->n_media + s->n_accels + f->n_engines;
    f->media = th_alloc_zero((size_t)f->n_media + 1, sizeof *f->media);
    if (!f->media || th_grow(&f->flows, &f->flow_room, (size_t)f->n_engines + 1, sizeof *f->flows))
        return -1;
    for (int m = 0; m < s->n_media; m++)
        f->media[m].capacity = (double)s->media[m].bits_per_s / 8.0;
    for (int a = 0; a < s->n_accels; a++) {
        f->media[dram_medium(f, a)].capacity =
            (double)s->nodes[s->accel_node[a]].a.dram_bits_per_s / 8.0;
        for (int e = 0; e < TH_N_ENGINES; e++) {
            int32_t first = th_blocks_take(&f->media_of, ENGINE_MEDIA);
            if (first < 0)
                return -1;
            f->media_of.item[first] = port_medium(f, a, e);
            f->media_of.item[first + 1] = dram_medium(f, a);
            f->flows[a * TH_N_ENGINES + e] = (flow){.src = -1,
                                                    .dst = -1,
                                                    .first_medium = first,
                                                    .n_media = ENGINE_MEDIA,
                                                    .end = TH_NO_EVENT};
        }
    }
    return 0;
}

static int create_parts(fluid *f, const th_system *s)
{
    th_blocks_init(&f->media_of);
    if (th_network_head_init(&f->head, &th_network_fluid, s) || th_routes_init(&f->routes))
        return -1;
    f->at_accel = th_alloc_zero((size_t)s->n_accels + 1, sizeof *f->at_accel);
    f->is_touched = th_alloc_zero((size_t)s->n_accels + 1, sizeof *f->is_touched);
    f->pending = th_alloc_zero((size_t)s->n_accels + 1, sizeof *f->pending);
    if (!f->at_accel || !f->is_touched || !f->pending)
        return -1;
    return create_media(f, s);
}

static th_network *create(const th_system *s, const th_network_options *o, th_error *err)
{
    (void)o;
    fluid *f = th_alloc_zero(1, sizeof *f);
    if (f && !create_parts(f, s))
        return &f->head;
    th_error_no_memory(err);
    destroy((th_network *)f);
    return NULL;
}

static void reset(th_network *n)
{
    fluid *f = (fluid *)n;
    th_network_head_reset(n);
    th_routes_reset(&f->routes);
    th_blocks_reset(&f->media_of);
    f->media_of.n = (size_t)f->n_engines * ENGINE_MEDIA;
    f->n_flows = (size_t)f->n_engines;
    f->free_flow = -1;
    f->dirty.n = 0;
    for (int32_t m = 0; m < f->n_media; m++) {
        f->media[m].n_flows = 0;
        f->media[m].is_dirty = false;
    }
    for (int a = 0; a < n->system->n_accels; a++) {
        f->at_accel[a].n = 0;
        f->is_touched[a] = false;
    }
    f->n_pending = 0;
    f->out_of_memory = false;
    f->stamp = 0;
    for (int32_t m = 0; m < f->n_media; m++)
        f->media[m].seen = 0;
    for (int32_t e = 0; e < f->n_engines; e++)
        f->flows[e].seen = 0;
}

/* --- flows come and go ------------------------------------------------------------------------ */

static int mark_dirty(fluid *f, int32_t m)
{
    if (f->media[m].is_dirty)
        return 0;
    f->media[m].is_dirty = true;
    return add(&f->dirty, m);
}

/* A slot for a flow that starts; -1: memory is out. */
static int32_t take_slot(fluid *f)
{
    int32_t own = f->free_flow;
    if (own >= 0) {
        f->free_flow = f->flows[own].number;
        return own;
    }
    if (f->n_flows >= TH_FLOWS_MAX ||
        th_grow(&f->flows, &f->flow_room, f->n_flows + 1, sizeof *f->flows))
        return -1;
    return (int32_t)f->n_flows++;
}

static void give_slot(fluid *f, int32_t own)
{
    flow *w = &f->flows[own];
    th_routes_give(&f->routes, &w->route);
    th_blocks_give(&f->media_of, w->first_medium, w->n_media);
    w->number = f->free_flow;
    f->free_flow = own;
}

/* Whether flows at node draw on a shared DRAM. */
static bool has_shared_dram(const fluid *f, int node)
{
    int accel = f->head.system->nodes[node].accel;
    return accel >= 0 && f->head.is_shared[accel];
}

/* Its media, those of shared DRAMs at its ends included. */
static int find_media(fluid *f, flow *w)
{
    const th_system *s = f->head.system;
    const int ends[] = {w->src, w->dst};
    int32_t n = w->route.n_links + has_shared_dram(f, w->src) + has_shared_dram(f, w->dst);
    int32_t first = th_blocks_take(&f->media_of, n);
    if (first < 0)
        return -1;
    w->first_medium = first;
    w->n_media = n;
    int32_t *medium_of = &f->media_of.item[first];
    for (int32_t i = 0; i < w->route.n_links; i++)
        *medium_of++ = s->links[f->routes.links.item[w->route.first + i]].medium;
    for (int i = 0; i < 2; i++)
        if (has_shared_dram(f, ends[i]))
            *medium_of++ = dram_medium(f, s->nodes[ends[i]].accel);
    return 0;
}

static int draw(fluid *f, int32_t number)
{
    const flow *w = &f->flows[number];
    for (int32_t i = 0; i < w->n_media; i++) {
        int32_t m = f->media_of.item[w->first_medium + i];
        medium *d = &f->media[m];
        if (th_grow(&d->flows, &d->room, d->n_flows + 1, sizeof *d->flows) || mark_dirty(f, m))
            return -1;
        d->flows[d->n_flows++] = number;
    }
    return 0;
}

static int undraw(fluid *f, int32_t number)
{
    const flow *w = &f->flows[number];
    for (int32_t i = 0; i < w->n_media; i++) {
        int32_t m = f->media_of.item[w->first_medium + i];
        drop(f->media[m].flows, &f->media[m].n_flows, number);
        if (mark_dirty(f, m))
            return -1;
    }
    return 0;
}

static void touch(fluid *f, int accel)
{
    if (accel < 0 || f->is_touched[accel])
        return;
    f->is_touched[accel] = true;
    f->pending[f->n_pending++] = accel;
}

static int start(th_network *n, th_events *q, th_time now, int32_t number, const th_message *t)
{
    fluid *f = (fluid *)n;
    int32_t own = take_slot(f);
    if (own < 0)
        return -1;
    flow *w = &f->flows[own];
    *w = (flow){.left_bytes = (double)t->bytes,
                .bytes = t->bytes,
                .number = number,
                .src = t->src,
                .dst = t->dst,
                .end = TH_NO_EVENT};
    if (th_routes_take(&f->routes, n->system, t->src, t->dst, &w->route) || find_media(f, w))
        return -1;
    for (int32_t i = 0; i < w->route.n_links; i++)
        th_network_link_enter(n, f->routes.links.item[w->route.first + i], now);
    th_event enters = {now + t->delay_ps + w->route.latency_ps, TH_PRIORITY_START, (uint32_t)number,
                       0, th_flow_argument(own, TH_FLOW_ENTERS)};
    return th_events_push(q, &enters) < 0 ? -1 : 0;
}

static int post_end(fluid *f, th_events *q, int32_t own, th_time at)
{
    th_event e = {at, TH_PRIORITY_TRANSFER_END, (uint32_t)f->flows[own].number, 0,
                  th_flow_argument(own, TH_FLOW_ENDS)};
    f->flows[own].end = th_events_push(q, &e);
    return f->flows[own].end == TH_NO_EVENT ? -1 : 0;
}

/* A flow from a node to itself may draw on nothing: it ends at once. */
static int enter(fluid *f, th_events *q, int32_t own, th_time now)
{
    flow *w = &f->flows[own];
    const int ends[] = {w->src, w->dst};
    w->since = now;
    for (int i = 0; i < 2; i++) {
        int accel = f->head.system->nodes[ends[i]].accel;
        if (accel >= 0 && add(&f->at_accel[accel], own))
            return -1;
    }
    return w->n_media > 0 ? draw(f, own) : post_end(f, q, own, now);
}

static int leave(fluid *f, int32_t own, th_time now)
{
    flow *w = &f->flows[own];
    const int ends[] = {w->src, w->dst};
    for (int i = 0; i < 2; i++) {
        int accel = f->head.system->nodes[ends[i]].accel;
        if (accel >= 0)
            drop(f->at_accel[accel].item, &f->at_accel[accel].n, own);
        touch(f, accel);
    }
    for (int32_t i = 0; i < w->route.n_links; i++)
        th_network_link_leave(&f->head, f->routes.links.item[w->route.first + i], now, w->bytes);
    w->end = TH_NO_EVENT;
    int status = undraw(f, own);
    give_slot(f, own);
    return status;
}

static int demand(th_network *n, int accel, unsigned mask, const double *port_bytes_per_s)
{
    fluid *f = (fluid *)n;
    for (int e = 0; e < TH_N_ENGINES; e++) {
        int32_t own = accel * TH_N_ENGINES + e;
        medium *port = &f->media[port_medium(f, accel, e)];
        bool wanted = mask >> e & 1u, has = port->n_flows > 0;
        port->capacity = port_bytes_per_s[e];
        f->flows[own].bytes_per_s = wanted && has ? f->flows[own].bytes_per_s : 0;
        if (wanted != has && (wanted ? draw(f, own) : undraw(f, own)))
            return -1;
    }
    return 0;
}

static bool event(th_network *n, th_events *q, th_time now, const th_event *e)
{
    fluid *f = (fluid *)n;
    int32_t own = th_flow_slot(e);
    bool ends = (e->argument & 1u) == TH_FLOW_ENDS;
    if (ends ? leave(f, own, now) : enter(f, q, own, now))
        f->out_of_memory = true;
    return ends;
}

/* --- rates ------------------------------------------------------------------------------------ */

static int set_transfer_rate(fluid *f, th_events *q, th_time now, int32_t own, double rate)
{
    flow *w = &f->flows[own];
    w->left_bytes = th_fluid_left(w->left_bytes, w->bytes_per_s, now - w->since);
    w->since = now;
    w->bytes_per_s = rate;
    touch(f, w->src >= 0 ? f->head.system->nodes[w->src].accel : -1);
    touch(f, w->dst >= 0 ? f->head.system->nodes[w->dst].accel : -1);
    th_time duration = th_fluid_duration(w->left_bytes, rate);
    th_time end = duration > TH_TIME_MAX - now ? TH_TIME_MAX : now + duration;
    if (w->end != TH_NO_EVENT) {
        th_events_reschedule(q, w->end, end);
        return 0;
    }
    return post_end(f, q, own, end);
}

static int set_rate(fluid *f, th_events *q, th_time now, int32_t own, double rate)
{
    f->flows[own].is_fixed = true;
    if (f->flows[own].bytes_per_s == rate)
        return 0;
    if (own >= f->n_engines)
        return set_transfer_rate(f, q, now, own, rate);
    f->flows[own].bytes_per_s = rate;
    f->head.engine_rate[own] = rate;
    touch(f, own / TH_N_ENGINES);
    return 0;
}

static int collect_flow(fluid *f, int32_t own)
{
    flow *w = &f->flows[own];
    if (w->seen == f->stamp)
        return 0;
    w->seen = f->stamp;
    w->is_fixed = false;
    for (int32_t i = 0; i < w->n_media; i++) {
        int32_t m = f->media_of.item[w->first_medium + i];
        if (f->media[m].seen == f->stamp)
            continue;
        f->media[m].seen = f->stamp;
        if (add(&f->component, m))
            return -1;
    }
    return add(&f->members, own);
}

/* All media and flows that are joined to medium m. */
static int collect(fluid *f, int32_t m)
{
    f->component.n = f->members.n = 0;
    f->media[m].seen = f->stamp;
    if (add(&f->component, m))
        return -1;
    for (size_t i = 0; i < f->component.n; i++) {
        medium *d = &f->media[f->component.item[i]];
        d->left = d->capacity;
        d->n_open = (int32_t)d->n_flows;
        for (size_t j = 0; j < d->n_flows; j++)
            if (collect_flow(f, d->flows[j]))
                return -1;
    }
    return 0;
}

/* The medium that gives its flows the least; the lowest number among equals. -1: all flows are
 * fixed. */
static int32_t find_bottleneck(fluid *f)
{
    int32_t best = -1;
    double best_share = 0;
    for (size_t i = 0; i < f->component.n;) {
        int32_t m = f->component.item[i];
        const medium *d = &f->media[m];
        if (d->n_open == 0) { /* its flows are fixed: it is not asked again */
            f->component.item[i] = f->component.item[--f->component.n];
            continue;
        }
        i++;
        double share = d->left / d->n_open;
        if (best < 0 || share < best_share || (share == best_share && m < best)) {
            best = m;
            best_share = share;
        }
    }
    return best;
}

static int fill(fluid *f, th_events *q, th_time now)
{
    for (int32_t m = find_bottleneck(f); m >= 0; m = find_bottleneck(f)) {
        medium *d = &f->media[m];
        double share = d->left / d->n_open;
        for (size_t j = 0; j < d->n_flows; j++) {
            flow *w = &f->flows[d->flows[j]];
            if (w->is_fixed)
                continue;
            for (int32_t i = 0; i < w->n_media; i++) {
                medium *other = &f->media[f->media_of.item[w->first_medium + i]];
                other->left -= share;
                other->n_open--;
            }
            if (set_rate(f, q, now, d->flows[j], share))
                return -1;
        }
    }
    return 0;
}

static void publish_draws(fluid *f)
{
    for (int32_t i = 0; i < f->n_pending; i++) {
        int32_t accel = f->pending[i];
        const list *flows = &f->at_accel[accel];
        double sum = 0;
        for (size_t j = 0; j < flows->n; j++)
            sum += f->flows[flows->item[j]].bytes_per_s;
        f->head.accel_draw[accel] = sum;
        f->head.touched[i] = accel;
        f->is_touched[accel] = false;
    }
    f->head.n_touched = f->n_pending;
    f->n_pending = 0;
}

static int settle(th_network *n, th_events *q, th_time now)
{
    fluid *f = (fluid *)n;
    if (f->out_of_memory)
        return -1;
    f->stamp++;
    for (size_t i = 0; i < f->dirty.n; i++) {
        int32_t m = f->dirty.item[i];
        f->media[m].is_dirty = false;
        if (f->media[m].seen != f->stamp && f->media[m].n_flows > 0 &&
            (collect(f, m) || fill(f, q, now)))
            return -1;
    }
    f->dirty.n = 0;
    publish_draws(f);
    return 0;
}

const th_network_type th_network_fluid = {
    .name = "fluid",
    .synopsis = "max-min fair sharing of links",
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .start = start,
    .event = event,
    .settle = settle,
    .demand = demand,
};
