/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows.c - the transfers from one node to another are one flow, whose first end is known.
 *
 *   init -> reset -> (take -> (push -> pop_first)* -> give)*
 *
 * A hash table finds the flow of a pair of nodes. The transfers of a flow that share media are a
 * pairing heap by (finish, number): a push takes one comparison, a pop few on average, and links
 * inside the transfers are all its memory (M. Fredman et al., "The pairing heap", Algorithmica 1,
 * 1986). Invariant: a flow of the table has n_transfers > 0. */
#include <config.h>

#include "base/alloc.h"
#include "sim/network/fluid/fluid.h"
#include "sim/pipeline/schedule.h"

int th_fluid_flows_init(th_fluid *f)
{
    enum { LEAST = 64 };
    f->by_nodes = th_alloc_array(LEAST, sizeof *f->by_nodes);
    f->n_by_nodes = LEAST;
    return f->by_nodes
               ? th_grow(&f->flows, &f->slots.room, (size_t)f->n_engines + 1, sizeof *f->flows)
               : -1;
}

void th_fluid_flows_reset(th_fluid *f)
{
    th_slots_reset(&f->transfer_slots);
    th_slots_reset(&f->slots);
    f->slots.n = (size_t)f->n_engines;
    f->n_flows = 0;
    for (int32_t e = 0; e < f->n_engines; e++)
        f->flows[e] =
            (th_fluid_flow){.first = -1, .weight = 1, .accel = {-1, -1}, .bottleneck = -1};
    for (size_t i = 0; i < f->n_by_nodes; i++)
        f->by_nodes[i] = -1;
}

/* --- by nodes --------------------------------------------------------------------------------- */

/* Neighbouring destinations have neighbouring buckets: a node often sends to all in turn. */
static int32_t *bucket_of(const th_fluid *f, int32_t src, int32_t dst)
{
    const uint32_t golden = 2654435769u; /* 2^32 / golden ratio (Knuth, volume 3, 6.4) */
    return &f->by_nodes[((uint32_t)src * golden + (uint32_t)dst) & (f->n_by_nodes - 1)];
}

static void link_in(th_fluid *f, int32_t slot)
{
    int32_t *bucket = bucket_of(f, f->flows[slot].src, f->flows[slot].dst);
    f->flows[slot].next = *bucket;
    *bucket = slot;
}

/* Makes the table twice as large when it has a flow per bucket. */
static int grow_table(th_fluid *f)
{
    int32_t *old = f->by_nodes, *table;
    size_t n = f->n_by_nodes;
    if ((size_t)f->n_flows < n)
        return 0;
    table = th_alloc_array(2 * n, sizeof *table);
    if (!table)
        return -1;
    for (size_t i = 0; i < 2 * n; i++)
        table[i] = -1;
    f->by_nodes = table;
    f->n_by_nodes = 2 * n;
    for (size_t i = 0; i < n; i++) {
        for (int32_t slot = old[i], next; slot >= 0; slot = next) {
            next = f->flows[slot].next;
            link_in(f, slot);
        }
    }
    th_free(old);
    return 0;
}

static int create(th_fluid *f, int32_t slot, const th_message *m)
{
    const th_node *nodes = f->head.system->nodes;
    th_fluid_flow *w = &f->flows[slot];
    *w = (th_fluid_flow){.src = m->src,
                         .dst = m->dst,
                         .stripe = m->stripe,
                         .first = -1,
                         .weight = 1,
                         .accel = {nodes[m->src].accel, nodes[m->dst].accel},
                         .bottleneck = -1};
    if (th_routes_take(&f->routes, &f->head, m->src, m->dst, m->stripe, &w->route) || grow_table(f))
        return -1;
    if (f->head.detours.n_avoided > 0 && th_fault_loss_detour(f, w))
        return -1;
    if (f->weigh_by_latency && w->route.latency_ps > 0)
        w->weight = (double)w->route.latency_ps * 1e-12;
    if (m->stripe > 0) /* those of a message end at once */
        w->weight *= (double)m->whole_bytes / ((double)th_message_padded(m) * m->n_stripes);
    link_in(f, slot);
    f->n_flows++;
    return 0;
}

int32_t th_fluid_flow_take(th_fluid *f, const th_message *m)
{
    int32_t slot = *bucket_of(f, m->src, m->dst);
    while (slot >= 0 && (f->flows[slot].src != m->src || f->flows[slot].dst != m->dst ||
                         f->flows[slot].stripe != m->stripe))
        slot = f->flows[slot].next;
    if (slot < 0) {
        slot = th_slots_take(&f->slots, &f->flows, sizeof *f->flows);
        if (slot < 0 || create(f, slot, m))
            return -1;
    }
    f->flows[slot].n_transfers++;
    return slot;
}

void th_fluid_flow_give(th_fluid *f, int32_t slot)
{
    th_fluid_flow *w = &f->flows[slot];
    if (--w->n_transfers > 0)
        return;
    int32_t *at = bucket_of(f, w->src, w->dst);
    while (*at != slot)
        at = &f->flows[*at].next;
    *at = w->next;
    f->n_flows--;
    th_routes_give(&f->routes, &w->route);
    th_slots_give(&f->slots, w, slot);
}

/* --- transfers of a flow ---------------------------------------------------------------------- */

static bool ends_before(const th_fluid_transfer *a, const th_fluid_transfer *b)
{
    return th_dd_is_less(a->finish, b->finish) ||
           (!th_dd_is_less(b->finish, a->finish) && a->number < b->number);
}

/* One heap of two; their siblings are lost. */
static int32_t meld(th_fluid *f, int32_t a, int32_t b)
{
    th_fluid_transfer *t = f->transfers;
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    if (ends_before(&t[b], &t[a]))
        return meld(f, b, a);
    t[b].sibling = t[a].child;
    t[a].child = b;
    return a;
}

void th_fluid_push(th_fluid *f, th_fluid_flow *w, int32_t transfer)
{
    f->transfers[transfer].child = f->transfers[transfer].sibling = -1;
    w->first = meld(f, w->first, transfer);
}

/* The children of the first in pairs, then the pairs from the last to the first. */
void th_fluid_pop_first(th_fluid *f, th_fluid_flow *w)
{
    th_fluid_transfer *t = f->transfers;
    int32_t child = t[w->first].child, pairs = -1;
    while (child >= 0) {
        int32_t other = t[child].sibling, next = other < 0 ? -1 : t[other].sibling;
        int32_t pair = meld(f, child, other);
        t[pair].sibling = pairs;
        pairs = pair;
        child = next;
    }
    w->first = -1;
    while (pairs >= 0) {
        int32_t next = t[pairs].sibling;
        w->first = meld(f, w->first, pairs);
        pairs = next;
    }
}
