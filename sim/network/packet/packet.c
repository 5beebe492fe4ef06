/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packet.c - transfers as packets that pass from buffer to buffer: virtual cut-through with
 * credits.
 *
 *   create -> reset -> (start -> settle ... -> event)* -> destroy
 *
 * A message is cut into packets of packet_bytes, the last one shorter (a message without bytes: one
 * packet without bytes, which takes the latencies). Messages that begin on the same link inject
 * packets round robin. packet_step.c moves the packets; uncontended, a message of S bytes takes
 *   sum of (latency + router delay) + S / bandwidth of the narrowest link
 * if that link is the first, and at most one packet's serialisation delay per link more where it is
 * not.
 *
 * With terminals a route begins with the link from its source into the source's router and ends
 * with the link out of the destination's router. These links have latency 0 and no statistics.
 *
 * A DRAM that all its node's links together could exceed is a medium. A route begins with the link
 * from the source's DRAM to its first link, and ends with the one from its last link to the
 * destination's DRAM: so neither does a packet for one link wait behind that for another, nor a
 * read behind a write. These links, too, have latency 0 and no statistics.
 *
 * The machine's queue holds one event for the next time step of this model (its object is NO_FLOW),
 * and one for each message whose end is known. All work is done in settle, when every message that
 * starts in the time step is known, so no result depends on the order of starts. Statistics: a
 * packet is on a link from its request for the link (it is in the buffer before the link) until its
 * last byte has left; at its source a message counts as one packet.
 * Not modelled: what flows take of a DRAM from its engines, headers, lost packets, congestion
 * control. */
#include <config.h>

#include "sim/network/packet/packet.h"

#include <string.h>

#include "base/alloc.h"
#include "sim/network/stripes.h"
#include "topology/routing/route.h"

#define NO_FLOW UINT32_MAX

/* --- options ---------------------------------------------------------------------------------- */

static int check_router(const th_network_options *o, th_error *err)
{
    if (o->terminal_bits_per_s < 0)
        return th_error_set(err, "NET-0017",
                            "network packet: terminals of %lld bits/s: must be more than 0 (0: no "
                            "terminals)",
                            (long long)o->terminal_bits_per_s);
    if (o->n_crossbar_inputs < 0 || o->n_crossbar_inputs > TH_PACKET_CROSSBAR_MAX)
        return th_error_set(err, "NET-0018",
                            "network packet: %d crossbar inputs of each link: must be 1 to %d (0: "
                            "no limit)",
                            o->n_crossbar_inputs, TH_PACKET_CROSSBAR_MAX);
    if (o->allocation_cycle_ps < 0)
        return th_error_set(err, "NET-0019",
                            "network packet: an allocation cycle of %lld ps: must not be negative",
                            (long long)o->allocation_cycle_ps);
    return 0;
}

static int check_options(const th_network_options *o, th_error *err)
{
    if (o->packet_bytes < 0 || o->packet_bytes > TH_PACKET_BYTES_MAX)
        return th_error_set(err, "NET-0010",
                            "network packet: packets of %lld bytes: must be 1 to %d (0: %d)",
                            (long long)o->packet_bytes, TH_PACKET_BYTES_MAX, TH_PACKET_BYTES);
    int64_t packet = o->packet_bytes ? o->packet_bytes : TH_PACKET_BYTES;
    if (o->buffer_bytes != 0 && o->buffer_bytes < packet)
        return th_error_set(err, "NET-0011",
                            "network packet: buffers of %lld bytes: must hold a packet of %lld "
                            "(0: what each link needs)",
                            (long long)o->buffer_bytes, (long long)packet);
    if (o->n_virtual_channels < 0 || o->n_virtual_channels > TH_PACKET_CHANNELS_MAX)
        return th_error_set(err, "NET-0012",
                            "network packet: %d virtual channels: must be 1 to %d (0: %d, or as "
                            "many as the routes need)",
                            o->n_virtual_channels, TH_PACKET_CHANNELS_MAX, TH_PACKET_CHANNELS);
    if (o->credit_delay_ps < 0 || o->router_delay_ps < 0)
        return th_error_set(
            err, "NET-0013",
            "network packet: credit delay %lld ps, router delay %lld ps: must not be "
            "negative",
            (long long)o->credit_delay_ps, (long long)o->router_delay_ps);
    return check_router(o, err);
}

/* Divides the channels evenly among the classes. */
static void assign_channels(th_packet_network *p)
{
    while (1 << p->channels.shift < p->channels.n_channels)
        p->channels.shift++;
    for (int class = 0; class <= p->channels.n_classes; class ++)
        p->channels.first_of_class[class] =
            (uint8_t)(class * p->channels.n_channels / p->channels.n_classes);
}

static int refuse(const th_packet_network *p, int needed, int n_channels, th_error *err)
{
    enum { CYCLE_TEXT = 400 };
    char cycle[CYCLE_TEXT];
    return th_error_set(err, "NET-0014",
                        "network packet: the routes of system \"%s\" can deadlock (%s): that takes "
                        "%d virtual channels, there are %d",
                        p->head.system->name,
                        th_channels_cycle(p->channels.classes, cycle, sizeof cycle), needed,
                        n_channels);
}

static int choose_channels(th_packet_network *p, const th_network_options *o, th_error *err)
{
    int needed = o->may_deadlock ? 1 : th_channels_needed(p->channels.classes);
    int given = o->n_virtual_channels;
    if (given == 0)
        given = needed > TH_PACKET_CHANNELS ? needed : TH_PACKET_CHANNELS;
    given = given < TH_PACKET_CHANNELS_MAX ? given : TH_PACKET_CHANNELS_MAX;
    if (needed > given)
        return refuse(p, needed, given, err);
    p->channels.n_classes = needed;
    p->channels.n_channels = given;
    assign_channels(p);
    return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

static void clear_requests(th_packet_requests *r)
{
    th_index_set_clear(&r->arrived);
    th_index_set_clear(&r->media);
}

static void clear_traffic(th_packet_traffic *t)
{
    th_blocks_clear(&t->hops);
    th_free(t->flows);
    th_free(t->packets);
    th_free(t->injecting);
}

static void destroy(th_network *n)
{
    th_packet_network *p = (th_packet_network *)n;
    if (!p)
        return;
    th_network_head_clear(n);
    th_channels_free(p->channels.classes);
    clear_requests(&p->requests);
    clear_traffic(&p->traffic);
    th_packet_events_clear(&p->events);
    th_free(p);
}

/* What the link carries until the credit of its first packet is back, and a few packets more. */
static int64_t default_buffer(const th_packet_network *p, int64_t bits_per_s, th_time latency_ps)
{
    const int64_t bits_per_byte = 8, most = INT64_MAX / 4;
    __int128 bits = (__int128)bits_per_s * (latency_ps + p->options.credit_delay_ps) / TH_PS_PER_S;
    __int128 bytes = bits / bits_per_byte + TH_PACKET_BUFFERED * (int64_t)p->options.packet_bytes;
    return bytes < most ? (int64_t)bytes : most;
}

static void fill_link(th_packet_network *p, const th_network_options *o, int32_t link,
                      int32_t medium, th_time latency_ps)
{
    th_packet_link *l = &p->fabric.links[link];
    th_packet_medium *m = &p->fabric.media[medium];
    l->medium = medium;
    l->latency_ps = latency_ps;
    l->buffer_bytes =
        o->buffer_bytes ? o->buffer_bytes : default_buffer(p, m->bits_per_s, latency_ps);
    m->n_links++;
}

/* Into a router, and out of it: a medium each. */
static void fill_terminals(th_packet_network *p, const th_network_options *o)
{
    int32_t n_links = p->head.system->n_links, n_media = p->head.system->n_media;
    for (int32_t i = 0; n_links + i < p->fabric.first_dram_link; i++) {
        bool is_out = i % 2 != 0;
        p->fabric.media[n_media + i].bits_per_s = o->terminal_bits_per_s;
        fill_link(p, o, n_links + i, n_media + i, is_out ? o->router_delay_ps : 0);
    }
}

/* Between DRAMs and the network: a medium for each DRAM. */
static void fill_drams(th_packet_network *p, const th_network_options *o)
{
    int32_t link = p->fabric.first_dram_link, medium = p->fabric.n_media - p->drams.n_media;
    for (int node = 0; node < p->head.system->n_nodes; node++) {
        int32_t end = link + th_dram_links_of(p, node);
        if (p->drams.first[node] < 0)
            continue;
        p->fabric.media[medium].bits_per_s = p->head.system->nodes[node].a.dram_bits_per_s;
        for (; link < end; link++)
            fill_link(p, o, link, medium, 0);
        medium++;
    }
}

static void fill_links(th_packet_network *p, const th_network_options *o)
{
    const th_system *s = p->head.system;
    for (int m = 0; m < s->n_media; m++)
        p->fabric.media[m].bits_per_s = s->media[m].bits_per_s;
    for (int l = 0; l < s->n_links; l++)
        fill_link(p, o, l, s->links[l].medium, s->links[l].latency_ps + o->router_delay_ps);
    fill_terminals(p, o);
    fill_drams(p, o);
    int32_t first = 0;
    for (int m = 0; m < p->fabric.n_media; m++) {
        p->fabric.media[m].first_link = first;
        first += p->fabric.media[m].n_links;
        p->fabric.media[m].n_links = 0;
    }
    for (int l = 0; l < p->fabric.n_links; l++) {
        th_packet_medium *m = &p->fabric.media[p->fabric.links[l].medium];
        p->fabric.links_of_media[m->first_link + m->n_links++] = l;
    }
}

static int create_fabric(th_packet_network *p, const th_system *s)
{
    th_packet_fabric *f = &p->fabric;
    size_t terminals = p->options.has_terminals ? 2 * (size_t)s->n_nodes : 0;
    size_t ends = terminals + (size_t)p->drams.n_links;
    size_t links = (size_t)s->n_links + ends + 1, buffers = links << p->channels.shift;
    size_t media = (size_t)s->n_media + terminals + (size_t)p->drams.n_media + 1;
    size_t inputs = links * (size_t)p->options.n_crossbar_inputs + 1;
    if (links > TH_HOP_LINKS_MAX || buffers + links > INT32_MAX || inputs > INT32_MAX)
        return -1; /* gigabytes beyond what any memory holds */
    f->n_links = (int32_t)links - 1;
    f->n_media = (int32_t)media - 1;
    f->first_dram_link = f->n_links - p->drams.n_links;
    f->n_buffers = th_packet_first_buffer(p, f->n_links);
    f->links = th_memory_take(&p->head.memory, links, sizeof *f->links);
    f->media = th_memory_take(&p->head.memory, media, sizeof *f->media);
    f->links_of_media = th_memory_take(&p->head.memory, links, sizeof *f->links_of_media);
    f->buffers = th_memory_take(&p->head.memory, buffers, sizeof *f->buffers);
    f->inputs = th_memory_take(&p->head.memory, inputs, sizeof *f->inputs);
    return p->head.memory.is_out ? -1 : 0;
}

static int create_requests(th_packet_network *p)
{
    th_packet_requests *r = &p->requests;
    size_t buffers = (size_t)p->fabric.n_buffers, media = (size_t)p->fabric.n_media + 1;
    size_t requesters = buffers + (size_t)p->fabric.n_links + 1;
    r->link = th_memory_take(&p->head.memory, requesters, sizeof *r->link);
    r->next = th_memory_take(&p->head.memory, requesters, sizeof *r->next);
    if (p->options.allocation_cycle_ps > 0)
        r->grants = th_memory_take(&p->head.memory, media, sizeof *r->grants);
    if (p->head.memory.is_out)
        return -1;
    return th_index_set_init(&r->arrived, buffers) || th_index_set_init(&r->media, media) ? -1 : 0;
}

static int create_parts(th_packet_network *p, const th_system *s, const th_network_options *o,
                        th_error *err)
{
    if (th_network_head_init(&p->head, &th_network_packet, s) ||
        th_dram_links_count(p, o->terminal_bits_per_s))
        return th_error_no_memory(err);
    bool waits_at_end = p->options.has_terminals || p->drams.n_links > 0;
    p->channels.classes = th_channels_new(s, waits_at_end, err);
    if (!p->channels.classes || choose_channels(p, o, err))
        return -1;
    if (create_fabric(p, s) || create_requests(p))
        return th_error_no_memory(err);
    fill_links(p, o);
    return 0;
}

static th_network *create(const th_system *s, const th_network_options *o, th_error *err)
{
    if (check_options(o, err))
        return NULL;
    th_packet_network *p = th_alloc_zero(1, sizeof *p);
    if (!p) {
        th_error_no_memory(err);
        return NULL;
    }
    p->options = (th_packet_options){.packet_bytes = o->packet_bytes ? (int32_t)o->packet_bytes
                                                                     : TH_PACKET_BYTES,
                                     .has_terminals = o->terminal_bits_per_s > 0,
                                     .may_deadlock = o->may_deadlock,
                                     .n_crossbar_inputs = o->n_crossbar_inputs,
                                     .credit_delay_ps = o->credit_delay_ps,
                                     .allocation_cycle_ps = o->allocation_cycle_ps};
    th_packet_events_init(&p->events);
    th_blocks_init(&p->traffic.hops);
    if (!create_parts(p, s, o, err))
        return &p->head;
    destroy(&p->head);
    return NULL;
}

static void reset_fabric(th_packet_network *p)
{
    th_packet_fabric *f = &p->fabric;
    for (int32_t l = 0; l < f->n_links; l++) {
        th_packet_link *link = &f->links[l];
        link->first_requester = link->last_requester = link->first_flow = link->last_flow = -1;
        link->next_channel_to_fill = link->next_channel_to_read = 0;
        for (int32_t b = th_packet_first_buffer(p, l); b < th_packet_first_buffer(p, l + 1); b++)
            f->buffers[b] = (th_packet_buffer){link->buffer_bytes, 0, -1, -1};
    }
    for (int32_t m = 0; m < f->n_media; m++) {
        f->media[m].busy_until = 0;
        f->media[m].next_link = 0;
        f->media[m].buffer_read = -1;
    }
    for (int32_t i = 0; i < f->n_links * p->options.n_crossbar_inputs; i++)
        f->inputs[i] = (th_crossbar_input){0, -1, 0};
}

static void reset_requests(th_packet_network *p)
{
    for (int32_t r = 0; r < p->fabric.n_buffers + p->fabric.n_links; r++)
        p->requests.link[r] = -1;
    th_index_set_reset(&p->requests.arrived);
    th_index_set_reset(&p->requests.media);
}

static void reset_traffic(th_packet_traffic *t)
{
    th_blocks_reset(&t->hops);
    th_slots_reset(&t->packet_slots);
    th_slots_reset(&t->flow_slots);
    t->n_injecting = 0;
    t->n_active = t->n_waiting = 0;
}

static void reset(th_network *n)
{
    th_packet_network *p = (th_packet_network *)n;
    th_network_head_reset(n);
    reset_fabric(p);
    reset_requests(p);
    reset_traffic(&p->traffic);
    th_packet_events_reset(&p->events);
    p->wake = TH_NO_EVENT;
}

/* --- messages start and end ------------------------------------------------------------------- */

/* The time of an uncontended message, without the routers' delays. */
static th_time uncontended_ps(const th_system *s, const int *links, int n, const th_message *m)
{
    th_time latency_ps = 0,
            slowest_ps = th_duration_ps(m->bytes, th_network_dram_bits(s, m->src, m->dst));
    for (int i = 0; i < n; i++) {
        const th_link *l = &s->links[links[i]];
        th_time duration_ps = th_duration_ps(m->bytes, s->media[l->medium].bits_per_s);
        latency_ps = th_time_add(latency_ps, l->latency_ps);
        slowest_ps = duration_ps > slowest_ps ? duration_ps : slowest_ps;
    }
    return th_time_add(latency_ps, slowest_ps);
}

/* 0 or -1. */
static int keep_hops(th_packet_network *p, const th_message *m, const int *links,
                     const uint8_t *class_of, int n, th_packet_flow *f)
{
    int32_t from = th_dram_link_from(p, m->src, links[0]);
    int32_t to = th_dram_link_to(p, m->dst, links[n - 1]);
    f->n_hops = n + (p->options.has_terminals ? 2 : 0) + (from >= 0) + (to >= 0);
    f->first_hop = th_blocks_take(&p->traffic.hops, f->n_hops);
    if (f->first_hop < 0)
        return -1;
    int32_t *hop = &p->traffic.hops.item[f->first_hop];
    if (from >= 0)
        *hop++ = th_hop(from, 0);
    if (p->options.has_terminals)
        *hop++ = th_hop(th_packet_terminal_in(p, m->src), 0);
    for (int i = 0; i < n; i++)
        *hop++ = th_hop(links[i], class_of[i]);
    if (p->options.has_terminals)
        *hop++ = th_hop(th_packet_terminal_out(p, m->dst), 0);
    if (to >= 0)
        *hop++ = th_hop(to, 0);
    hop[-1] |= TH_HOP_LAST;
    return 0;
}

/* The route and its classes. 0 or -1. */
static int find_route(th_packet_network *p, const th_message *m, th_time now, th_packet_flow *f)
{
    const th_system *s = p->head.system;
    int src = m->src, dst = m->dst;
    int links[TH_ROUTE_MAX];
    uint8_t class_of[TH_ROUTE_MAX];
    int n = th_network_route(&p->head, src, dst, m->stripe, links);
    if (n == TH_NO_MEMORY)
        return -1;
    if (n < 0)
        return th_error_set(&p->head.why, "NET-0015",
                            "network packet: system \"%s\" has no route from %s to %s", s->name,
                            s->nodes[src].name, s->nodes[dst].name);
    if (!p->options.may_deadlock) {
        int needed = th_channels_classes(p->channels.classes, links, n, class_of);
        if (needed > p->channels.n_classes)
            return refuse(p, needed, p->channels.n_classes, &p->head.why);
        th_channels_spread(p->channels.n_classes - needed, src, dst, class_of, n);
    }
    if (th_network_end(&p->head, m, now, uncontended_ps(s, links, n, m)) < 0)
        return -1;
    if (p->options.may_deadlock)
        memset(class_of, 0, (size_t)n);
    return keep_hops(p, m, links, class_of, n, f);
}

static int start(th_network *n, th_events *q, th_time now, int32_t number, const th_message *m)
{
    th_packet_network *p = (th_packet_network *)n;
    th_time at = th_time_add(now, m->delay_ps); /* find_route refuses what ends beyond all time */
    int64_t n_packets = m->bytes > 0 ? (m->bytes - 1) / p->options.packet_bytes + 1 : 1;
    th_packet_flow f = {.bytes_to_send = m->bytes,
                        .n_undelivered = n_packets,
                        .n_to_send = n_packets,
                        .number = number,
                        .next = -1};
    if (m->src == m->dst) {
        th_event end = {at, TH_PRIORITY_TRANSFER_END, (uint32_t)number, 0, TH_FLOW_ENDS};
        if (th_events_push(q, &end) == TH_NO_EVENT)
            return -1;
        p->traffic.n_active++;
        return 0;
    }
    th_packet_traffic *t = &p->traffic;
    int32_t slot =
        find_route(p, m, now, &f) ? -1 : th_slots_take(&t->flow_slots, &t->flows, sizeof f);
    if (slot < 0 ||
        th_packet_events_post(&p->events, at, &(th_packet_event){-1, TH_PACKET_INJECT, slot, 0}))
        return -1;
    t->flows[slot] = f;
    t->n_active++;
    return 0;
}

static bool event(th_network *n, th_events *q, th_time now, const th_event *e)
{
    th_packet_network *p = (th_packet_network *)n;
    (void)q;
    (void)now;
    if ((e->argument & 1) == TH_FLOW_ENDS) {
        p->traffic.n_active--;
        return true;
    }
    p->wake = TH_NO_EVENT;
    return false;
}

/* Posts the event of the next time step. Once all messages are delivered, the events that remain
 * (credits) wait for the next message. */
static int set_wake(th_packet_network *p, th_events *q)
{
    th_time next = p->traffic.n_active > 0 ? th_packet_events_next(&p->events) : TH_TIME_MAX;
    if (p->wake != TH_NO_EVENT) {
        if (next == TH_TIME_MAX) {
            th_events_cancel(q, p->wake);
            p->wake = TH_NO_EVENT;
        } else if (next != p->wake_at) {
            th_events_reschedule(q, p->wake, next);
        }
    } else if (next != TH_TIME_MAX) {
        p->wake =
            th_events_push(q, &(th_event){next, TH_PRIORITY_START, NO_FLOW, 0, TH_FLOW_ENTERS});
        if (p->wake == TH_NO_EVENT)
            return -1;
    }
    p->wake_at = next;
    return 0;
}

static int settle(th_network *n, th_events *q, th_time now)
{
    th_packet_network *p = (th_packet_network *)n;
    n->n_touched = 0;
    if (th_packet_advance(p, q, now))
        return -1;
    if (p->traffic.n_waiting > 0 && p->events.n_heap == 0)
        return th_packet_report_deadlock(p, now);
    return set_wake(p, q);
}

const th_network_type th_network_packet = {
    .name = "packet",
    .synopsis = "packets that queue in finite buffers, with credits and virtual channels",
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .start = start,
    .event = event,
    .settle = settle,
};
