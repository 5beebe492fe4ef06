/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ideal.c - no contention: a transfer takes the latencies of its route plus bytes / smallest
 * bandwidth, of the links and of the DRAMs at both ends.
 *   create -> reset -> (start | event)* -> destroy
 * Exact where links and DRAMs are never shared; a lower bound elsewhere. Engines get all of their
 * DRAM, whatever flows take from it. */
#include <config.h>

#include "base/alloc.h"
#include "sim/network/models.h"
#include "sim/network/routes.h"
#include "topology/routing/route.h"

typedef struct {
    int32_t next_free; /* th_slots has it while the slot is free */
    th_flow_route route;
    int64_t bytes;
} transfer;

typedef struct {
    th_network head;
    th_routes routes;
    transfer *flows; /* by slot */
    th_slots slots;
    bool ignores_drams;
} ideal;

static void destroy(th_network *n)
{
    ideal *net = (ideal *)n;
    if (!net)
        return;
    th_network_head_clear(n);
    th_routes_clear(&net->routes);
    th_free(net->flows);
    th_free(net);
}

static th_network *create(const th_system *s, const th_network_options *o, th_error *err)
{
    ideal *net = th_alloc_zero(1, sizeof *net);
    if (net && !th_network_head_init(&net->head, &th_network_ideal, s) &&
        !th_routes_init(&net->routes)) {
        net->ignores_drams = o->ignores_drams;
        return &net->head;
    }
    th_error_no_memory(err);
    destroy((th_network *)net);
    return NULL;
}

static void reset(th_network *n)
{
    ideal *net = (ideal *)n;
    th_network_head_reset(n);
    th_routes_reset(&net->routes);
    th_slots_reset(&net->slots);
}

static int start(th_network *n, th_events *q, th_time now, int32_t number, const th_message *m)
{
    ideal *net = (ideal *)n;
    int32_t slot = th_slots_take(&net->slots, &net->flows, sizeof *net->flows);
    if (slot < 0)
        return -1;
    transfer *t = &net->flows[slot];
    t->bytes = m->bytes;
    if (th_routes_take(&net->routes, n, m->src, m->dst, m->stripe, &t->route))
        return -1;
    th_route_summary whole = {.bits_per_s = t->route.bits_per_s};
    if (m->stripe > 0 && th_route_of_message(n->system, m->src, m->dst, m->whole_bytes, &whole) < 0)
        return -1;
    int64_t link = whole.bits_per_s, bytes = m->stripe > 0 ? m->whole_bytes : th_message_padded(m),
            dram = net->ignores_drams ? link : th_network_dram_bits(n->system, m->src, m->dst);
    th_time last = m->src == m->dst ? 0 : th_duration_ps(bytes, dram < link ? dram : link);
    th_time end = th_network_end(n, m, now, th_time_add(t->route.latency_ps, last));
    if (end < 0)
        return -1;
    for (int32_t i = 0; i < t->route.n_links; i++)
        th_network_link_enter(n, net->routes.links.item[t->route.first + i], now);
    th_event e = {end, TH_PRIORITY_TRANSFER_END, (uint32_t)number, 0,
                  th_flow_argument(slot, TH_FLOW_ENDS)};
    return th_events_push(q, &e) == TH_NO_EVENT ? -1 : 0;
}

static bool event(th_network *n, th_events *q, th_time now, const th_event *e)
{
    ideal *net = (ideal *)n;
    int32_t slot = th_flow_slot(e);
    transfer *t = &net->flows[slot];
    (void)q;
    for (int32_t i = 0; i < t->route.n_links; i++)
        th_network_link_leave(n, net->routes.links.item[t->route.first + i], now, t->bytes);
    th_routes_give(&net->routes, &t->route);
    th_slots_give(&net->slots, t, slot);
    return true;
}

const th_network_type th_network_ideal = {
    .name = "ideal",
    .synopsis = "latencies plus bytes over the smallest bandwidth, no contention",
    .is_memoryless = true,
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .start = start,
    .event = event,
    .settle = th_network_settle_nothing,
};
