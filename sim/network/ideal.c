/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ideal.c - no contention: a transfer takes the latencies of its route plus bytes / smallest
 * bandwidth.
 *   create -> reset -> (start | event)* -> destroy
 * Exact where links are never shared; a lower bound elsewhere. Flows draw nothing from any DRAM. */
#include <config.h>

#include "base/alloc.h"
#include "sim/network/models.h"

typedef struct {
    int32_t src, dst;
    int64_t bytes;
} transfer;

typedef struct {
    th_network head;
    th_paths paths;
    transfer *flows; /* by flow number */
    size_t capacity;
} ideal;

static void destroy(th_network *n)
{
    ideal *net = (ideal *)n;
    if (!net)
        return;
    th_network_head_clear(n);
    th_paths_clear(&net->paths);
    th_free(net->flows);
    th_free(net);
}

static th_network *create(const th_system *s, const th_network_options *o, th_error *err)
{
    (void)o;
    ideal *net = th_alloc_zero(1, sizeof *net);
    if (net && !th_network_head_init(&net->head, &th_network_ideal, s) &&
        !th_paths_init(&net->paths, s))
        return &net->head;
    th_error_no_memory(err);
    destroy((th_network *)net);
    return NULL;
}

static int start(th_network *n, th_events *q, th_time now, int32_t flow, const th_message *m)
{
    ideal *net = (ideal *)n;
    const th_path *path = th_paths_get(&net->paths, n->system, m->src, m->dst);
    if (!path || th_grow(&net->flows, &net->capacity, (size_t)flow + 1, sizeof *net->flows))
        return -1;
    net->flows[flow] = (transfer){m->src, m->dst, m->bytes};
    for (int i = 0; i < path->n_links; i++)
        th_network_link_enter(n, net->paths.links[path->first + i], now);
    th_time end = now + m->delay_ps + path->latency_ps + th_duration_ps(m->bytes, path->bits_per_s);
    return th_events_push(
               q, &(th_event){end, TH_PRIORITY_TRANSFER_END, (uint32_t)flow, 0, TH_FLOW_ENDS}) < 0;
}

static bool event(th_network *n, th_events *q, th_time now, const th_event *e)
{
    ideal *net = (ideal *)n;
    const transfer *t = &net->flows[e->object];
    const th_path *path = th_paths_get(&net->paths, n->system, t->src, t->dst);
    (void)q;
    for (int i = 0; i < path->n_links; i++)
        th_network_link_leave(n, net->paths.links[path->first + i], now, t->bytes);
    return true;
}

static int settle(th_network *n, th_events *q, th_time now)
{
    (void)q;
    (void)now;
    n->n_touched = 0;
    return 0;
}

const th_network_type th_network_ideal = {
    "ideal",
    "latencies plus bytes over the smallest bandwidth, no contention",
    create,
    destroy,
    th_network_head_reset,
    start,
    event,
    settle,
    NULL,
};
