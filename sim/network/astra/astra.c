/* SPDX-License-Identifier: GPL-3.0-or-later */
/* astra.c - ASTRA-sim's analytical networks, for comparison with it: astra_aware, astra_unaware.
 *   create -> reset -> (start | event | collective)* -> destroy
 *
 * A message, in whole nanoseconds of astra_message.c:
 *   unaware   the t of the formula for each dimension in which its ends differ, one after the
 *             other; messages do not contend
 *   aware     store and forward over its route. A link serves messages in the order in which they
 *             arrive and is busy for floor(m / bw); a message arrives after
 *             floor(latency + m / bw)
 * A collective of all accelerators that ASTRA-sim knows is one step, as long as trace_replay.c
 * says: there all its messages, and those of execution traces, are followed in ASTRA-sim's own
 * order. A rank is in one collective at a time: another starts when the last of its ranks is free.
 * Other collectives (broadcast, subgroups, uneven sizes ...) are sent message by message.
 *
 * Only for systems with an astra block, because the graph lacks its parameters. Not modelled: links
 * while a collective runs (it leaves no bytes on them and does not contend with messages);
 * priorities among waiting collectives. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "sim/collective/collective.h"
#include "sim/network/astra/astra_message.h"
#include "sim/network/astra/trace_replay.h"
#include "sim/network/models.h"
#include "topology/routing/route.h"

static const th_time ps_per_ns = 1000;

typedef struct {
    int32_t number; /* the machine's; th_slots has it while the slot is free */
    int32_t at;     /* node where the whole message is */
    int32_t link;   /* aware: on which it is */
    th_message is;
} message;

typedef struct {
    th_network head;
    th_time *link_free; /* aware, per link: when its last message is sent */
    th_time *rank_free; /* per node: when its collective ends */
    uint8_t *link_dim;
    message *flows; /* by slot */
    th_slots slots;
} astra;

static bool is_aware(const th_network *n)
{
    return n->type == &th_network_astra_aware;
}

/* ---- where links and nodes are ---- */

/* A link to or from a switch runs along the dimension in which two of its accelerators differ. */
static int dim_of_link(const th_system *s, const th_link *l)
{
    int from = l->from, to = l->to;
    if (s->nodes[from].kind == TH_NODE_SWITCH || s->nodes[to].kind == TH_NODE_SWITCH) {
        int hub = s->nodes[from].kind == TH_NODE_SWITCH ? from : to;
        from = s->links[s->adjacency.out_links[s->adjacency.out_start[hub]]].to;
        to = s->links[s->adjacency.out_links[s->adjacency.out_start[hub] + 1]].to;
    }
    int32_t stride;
    return th_astra_dim_between(s->astra, from, to, &stride);
}

/* ---- life ---- */

static void destroy(th_network *n)
{
    astra *net = (astra *)n;
    if (!net)
        return;
    th_network_head_clear(n);
    th_free(net->flows);
    th_free(net);
}

static void reset(th_network *n)
{
    astra *net = (astra *)n;
    th_network_head_reset(n);
    th_slots_reset(&net->slots);
    memset(net->link_free, 0, (size_t)n->system->n_links * sizeof *net->link_free);
    memset(net->rank_free, 0, (size_t)n->system->n_nodes * sizeof *net->rank_free);
}

static th_network *create(const th_network_type *type, const th_system *s, th_error *err)
{
    if (!s->astra) {
        th_error_set(err, "NET-0030",
                     "system \"%s\": network %s computes with ASTRA-sim's network.yml and "
                     "system.json: read the system with -format astra",
                     s->name, type->name);
        return NULL;
    }
    size_t links = (size_t)s->n_links + 1;
    astra *net = th_alloc_zero(1, sizeof *net);
    if (!net || th_network_head_init(&net->head, type, s))
        goto fail;
    net->link_free = th_memory_take(&net->head.memory, links, sizeof *net->link_free);
    net->rank_free = th_memory_take(&net->head.memory, (size_t)s->n_nodes, sizeof *net->rank_free);
    net->link_dim = th_memory_take(&net->head.memory, links, sizeof *net->link_dim);
    if (net->head.memory.is_out)
        goto fail;
    for (int l = 0; l < s->n_links; l++)
        net->link_dim[l] = (uint8_t)dim_of_link(s, &s->links[l]);
    return &net->head;
fail:
    th_error_no_memory(err);
    destroy((th_network *)net);
    return NULL;
}

static th_network *create_aware(const th_system *s, const th_network_options *o, th_error *err)
{
    (void)o;
    return create(&th_network_astra_aware, s, err);
}

static th_network *create_unaware(const th_system *s, const th_network_options *o, th_error *err)
{
    (void)o;
    return create(&th_network_astra_unaware, s, err);
}

/* ---- messages ---- */

static th_time duration(int64_t ns)
{
    return ns < TH_ASTRA_FOREVER_NS ? ns * ps_per_ns : TH_TIME_MAX;
}

/* The whole message is at its next node that long after from. */
static int post(astra *net, th_events *q, th_time from, th_time duration_ps, int32_t slot)
{
    const message *m = &net->flows[slot];
    th_time end = th_network_end(&net->head, &m->is, from, duration_ps);
    th_event e = {end, TH_PRIORITY_TRANSFER_END, (uint32_t)m->number, 0,
                  th_flow_argument(slot, TH_FLOW_ENDS)};
    return end < 0 || th_events_push(q, &e) == TH_NO_EVENT ? -1 : 0;
}

/* Unaware: the sum over the dimensions. */
static th_time unaware_ps(const th_astra *a, const th_message *m)
{
    int64_t ns = 0;
    int from = m->src, to = m->dst;
    for (const th_astra_dim *dim = a->dims; dim < a->dims + a->n_dims; dim++) {
        if (from % dim->size != to % dim->size)
            ns = th_astra_add(
                ns, th_astra_message_ns(dim, false, from % dim->size, to % dim->size, m->bytes));
        from /= dim->size;
        to /= dim->size;
    }
    return duration(ns);
}

/* Aware: onto the next link of its route, as soon as that is free. */
static int send_on(astra *net, th_events *q, th_time now, int32_t slot)
{
    const th_system *s = net->head.system;
    message *m = &net->flows[slot];
    m->link = s->routing->next(s, m->at, m->is.src, m->is.dst);
    const th_astra_dim *dim = &s->astra->dims[net->link_dim[m->link]];
    th_time begin = net->link_free[m->link] > now ? net->link_free[m->link] : now;
    th_time busy = duration(th_astra_serialization_ns(dim, m->is.bytes));
    net->link_free[m->link] = th_time_add(begin, busy);
    th_network_link_enter(&net->head, m->link, now);
    return post(net, q, begin, duration(th_astra_hop_ns(dim, m->is.bytes)), slot);
}

/* Unaware: statistics alone; every link of the route has the flow as long as it lasts. */
static void mark_route(astra *net, const th_message *m, th_time now, bool enters)
{
    const th_system *s = net->head.system;
    for (int at = m->src; at != m->dst;) {
        int link = s->routing->next(s, at, m->src, m->dst);
        if (enters)
            th_network_link_enter(&net->head, link, now);
        else
            th_network_link_leave(&net->head, link, now, m->bytes);
        at = s->links[link].to;
    }
}

static int begin(astra *net, th_events *q, th_time now, int32_t slot)
{
    const th_message *m = &net->flows[slot].is;
    if (m->src == m->dst)
        return post(net, q, now, 0, slot);
    if (is_aware(&net->head))
        return send_on(net, q, now, slot);
    mark_route(net, m, now, true);
    return post(net, q, now, unaware_ps(net->head.system->astra, m), slot);
}

/* The formula of unaware is about coordinates, which accelerators have. */
static int check_ends(th_network *n, const th_message *m)
{
    const th_node *nodes = n->system->nodes;
    int other = nodes[m->src].accel < 0 ? m->src : nodes[m->dst].accel < 0 ? m->dst : -1;
    if (is_aware(n) || other < 0)
        return 0;
    return th_error_set(
        &n->why, "NET-0038",
        "network %s: a transfer from \"%s\" to \"%s\": \"%s\" must be an accelerator",
        n->type->name, nodes[m->src].name, nodes[m->dst].name, nodes[other].name);
}

static int start(th_network *n, th_events *q, th_time now, int32_t number, const th_message *m)
{
    astra *net = (astra *)n;
    int32_t slot = th_slots_take(&net->slots, &net->flows, sizeof *net->flows);
    if (slot < 0 || check_ends(n, m) < 0)
        return -1;
    net->flows[slot] = (message){.number = number, .at = m->src, .link = -1, .is = *m};
    net->flows[slot].is.delay_ps = 0; /* which is over when it begins */
    if (m->delay_ps == 0)
        return begin(net, q, now, slot);
    th_event e = {th_time_add(now, m->delay_ps), TH_PRIORITY_START, (uint32_t)number, 0,
                  th_flow_argument(slot, TH_FLOW_ENTERS)};
    return th_events_push(q, &e) == TH_NO_EVENT ? -1 : 0;
}

/* The whole message has arrived at a node: is it its destination? */
static bool has_arrived(astra *net, th_time now, message *m)
{
    if (m->is.src == m->is.dst)
        return true;
    if (!is_aware(&net->head)) {
        mark_route(net, &m->is, now, false);
        return true;
    }
    th_network_link_leave(&net->head, m->link, now, m->is.bytes);
    m->at = net->head.system->links[m->link].to;
    return m->at == m->is.dst;
}

static bool event(th_network *n, th_events *q, th_time now, const th_event *e)
{
    astra *net = (astra *)n;
    int32_t slot = th_flow_slot(e);
    if ((e->argument & 1) == TH_FLOW_ENTERS) {
        n->has_failed |= begin(net, q, now, slot) < 0;
        return false;
    }
    if (has_arrived(net, now, &net->flows[slot])) {
        th_slots_give(&net->slots, &net->flows[slot], slot);
        return true;
    }
    n->has_failed |= send_on(net, q, now, slot) < 0;
    return false;
}

/* ---- collectives ---- */

/* Is it one of ASTRA-sim's, of all accelerators? */
static bool is_known(const th_network *n, const th_collective *c)
{
    bool is_known = c->n_ranks == n->system->n_accels && !c->pair_bytes &&
                    (c->kind == TH_ALL_REDUCE || c->kind == TH_REDUCE_SCATTER ||
                     c->kind == TH_ALL_GATHER || c->kind == TH_ALL_TO_ALL);
    for (int32_t i = 0; is_known && i < c->n_ranks; i++)
        is_known = n->system->nodes[c->rank_node[i]].accel >= 0;
    return is_known;
}

static int collective(th_network *n, const th_collective *c, th_time now, th_time *end,
                      th_error *err)
{
    static const th_trace_collective kinds[TH_N_COLLECTIVES] = {
        [TH_ALL_REDUCE] = TH_TRACE_ALL_REDUCE,
        [TH_REDUCE_SCATTER] = TH_TRACE_REDUCE_SCATTER,
        [TH_ALL_GATHER] = TH_TRACE_ALL_GATHER,
        [TH_ALL_TO_ALL] = TH_TRACE_ALL_TO_ALL};
    astra *net = (astra *)n;
    int64_t ns;
    if (!is_known(n, c))
        return 0;
    /* The one place where our sizes become ASTRA-sim's: our all_gather counts the gathered result,
     * its the shard of one rank. */
    int64_t bytes = c->kind == TH_ALL_GATHER ? c->bytes / c->n_ranks : c->bytes;
    if (th_astra_collective_ns(n->system, is_aware(n), kinds[c->kind], bytes, &ns, err) < 0)
        return -1;
    th_time begin = now;
    for (int32_t i = 0; i < c->n_ranks; i++)
        if (net->rank_free[c->rank_node[i]] > begin)
            begin = net->rank_free[c->rank_node[i]];
    th_time last = th_time_add(begin, duration(ns));
    if (last == TH_TIME_MAX)
        return th_error_set(err, "NET-0035", "%s of %lld bytes takes longer than any run: 106 days",
                            th_collective_names[c->kind], (long long)c->bytes);
    *end = last;
    for (int32_t i = 0; i < c->n_ranks; i++)
        net->rank_free[c->rank_node[i]] = *end;
    return 1;
}

/* ---- execution traces ---- */

static int replay_aware(const th_astra_replay_options *o, th_astra_replay *out, th_error *err)
{
    return th_astra_replay_run(o, true, out, err);
}

static int replay_unaware(const th_astra_replay_options *o, th_astra_replay *out, th_error *err)
{
    return th_astra_replay_run(o, false, out, err);
}

#define ASTRA(KIND, SYNOPSIS)                                                                      \
    {                                                                                              \
        .name = "astra_" #KIND, .synopsis = SYNOPSIS, .create = create_##KIND, .destroy = destroy, \
        .reset = reset, .start = start, .event = event, .settle = th_network_settle_nothing,       \
        .collective = collective, .replay_trace = replay_##KIND                                    \
    }

const th_network_type th_network_astra_aware =
    ASTRA(aware, "ASTRA-sim's congestion-aware analytical network, for comparison with it");
const th_network_type th_network_astra_unaware =
    ASTRA(unaware, "ASTRA-sim's congestion-unaware analytical network, for comparison with it");
