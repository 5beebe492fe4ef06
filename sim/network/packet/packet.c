/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packet.c - transfers as packets that pass from buffer to buffer: virtual cut-through with
 * credits.
 *
 *   create -> reset -> (start -> settle ... -> event)* -> destroy
 *
 * A message is cut into packets of packet_bytes, the last one shorter (none at all: one packet
 * without bytes, which takes the latencies). Messages that begin on the same link take turns,
 * packet by packet. What happens to a packet on its way is told in packet_link.c; alone on its
 * route a message of S bytes takes
 *   sum of (latency + router delay) + S / bandwidth of the narrowest link
 * if that link is the first, and at most one packet's time per link more where it is not.
 *
 * With terminals a route begins with the link from its source into the source's router and ends
 * with the one out of the destination's; these are links as any other, of latency 0, but that they
 * are none of the system's and have no statistics.
 *
 * The machine's queue holds one event of this model, the next instant at which something happens
 * inside (its object is NO_FLOW), and one for each message whose end is known. All work is done in
 * settle, when all that begins at an instant is known: so nothing depends on the order of starts
 * within it. Statistics: a packet is on a link from when it asks for it (is in the buffer before
 * it) until its last byte has left; at its source a message counts as one packet.
 * Not modelled: DRAM (flows draw nothing from it), headers, lost packets, congestion control. */
#include <config.h>

#include "sim/network/packet/packet.h"

#include <string.h>

#include "base/alloc.h"
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

/* Evenly to the classes. */
static void deal_channels(th_packet_network *p)
{
    while (1 << p->channel_shift < p->n_channels)
        p->channel_shift++;
    for (int class = 0; class <= p->n_classes; class ++)
        p->first_channel[class] = (uint8_t)(class * p->n_channels / p->n_classes);
}

static int refuse(const th_packet_network *p, int needed, int n_channels, th_error *err)
{
    enum { CYCLE_TEXT = 400 };
    char cycle[CYCLE_TEXT];
    return th_error_set(err, "NET-0014",
                        "network packet: the routes of system \"%s\" can deadlock (%s): that takes "
                        "%d virtual channels, there are %d",
                        p->head.system->name, th_channels_cycle(p->channels, cycle, sizeof cycle),
                        needed, n_channels);
}

static int choose_channels(th_packet_network *p, const th_network_options *o, th_error *err)
{
    int needed = o->may_deadlock ? 1 : th_channels_needed(p->channels);
    int given = o->n_virtual_channels;
    if (given == 0)
        given = needed > TH_PACKET_CHANNELS ? needed : TH_PACKET_CHANNELS;
    given = given < TH_PACKET_CHANNELS_MAX ? given : TH_PACKET_CHANNELS_MAX;
    if (needed > given)
        return refuse(p, needed, given, err);
    p->n_classes = needed;
    p->n_channels = given;
    deal_channels(p);
    return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

static void destroy(th_network *n)
{
    th_packet_network *p = (th_packet_network *)n;
    if (!p)
        return;
    th_network_head_clear(n);
    th_channels_free(p->channels);
    th_free(p->links);
    th_free(p->media);
    th_free(p->links_of_media);
    th_free(p->buffers);
    th_free(p->wants);
    th_free(p->next_asker);
    th_free(p->readers);
    th_free(p->grants);
    th_blocks_clear(&p->hops);
    th_free(p->flows);
    th_free(p->packets);
    th_instants_clear(&p->instants);
    th_small_set_clear(&p->arrived);
    th_small_set_clear(&p->to_try);
    th_free(p->injecting);
    th_free(p);
}

/* What the link carries until the sender can know of room that its first packet left behind. */
static int64_t default_buffer(const th_packet_network *p, int64_t bits_per_s, th_time latency_ps)
{
    const int64_t bits_per_byte = 8, most = INT64_MAX / 4;
    __int128 bits = (__int128)bits_per_s * (latency_ps + p->credit_delay_ps) / TH_PS_PER_S;
    __int128 bytes = bits / bits_per_byte + TH_PACKET_BUFFERED * (int64_t)p->packet_bytes;
    return bytes < most ? (int64_t)bytes : most;
}

static void fill_link(th_packet_network *p, const th_network_options *o, int32_t link,
                      int32_t medium, th_time latency_ps)
{
    th_packet_link *l = &p->links[link];
    th_packet_medium *m = &p->media[medium];
    l->medium = medium;
    l->latency_ps = latency_ps;
    l->buffer_bytes =
        o->buffer_bytes ? o->buffer_bytes : default_buffer(p, m->bits_per_s, latency_ps);
    m->n++;
}

/* Into a router, and out of it: a medium each. */
static void fill_terminals(th_packet_network *p, const th_network_options *o)
{
    int32_t n_links = p->head.system->n_links, n_media = p->head.system->n_media;
    for (int32_t i = 0; n_links + i < p->n_links; i++) {
        bool is_out = i % 2 != 0;
        p->media[n_media + i].bits_per_s = o->terminal_bits_per_s;
        fill_link(p, o, n_links + i, n_media + i, is_out ? o->router_delay_ps : 0);
    }
}

static void fill_links(th_packet_network *p, const th_network_options *o)
{
    const th_system *s = p->head.system;
    for (int m = 0; m < s->n_media; m++)
        p->media[m].bits_per_s = s->media[m].bits_per_s;
    for (int l = 0; l < s->n_links; l++)
        fill_link(p, o, l, s->links[l].medium, s->links[l].latency_ps + o->router_delay_ps);
    fill_terminals(p, o);
    int32_t first = 0;
    for (int m = 0; m < p->n_media; m++) {
        p->media[m].first = first;
        first += p->media[m].n;
        p->media[m].n = 0;
    }
    for (int l = 0; l < p->n_links; l++) {
        th_packet_medium *m = &p->media[p->links[l].medium];
        p->links_of_media[m->first + m->n++] = l;
    }
}

static int create_crossbars(th_packet_network *p)
{
    size_t n = (size_t)p->n_links * (size_t)p->n_crossbar_inputs;
    p->readers = n > INT32_MAX ? NULL : th_alloc_zero(n + 1, sizeof *p->readers);
    if (p->allocation_cycle_ps > 0)
        p->grants = th_alloc_array((size_t)p->n_media + 1, sizeof *p->grants);
    return p->readers && (p->grants || p->allocation_cycle_ps == 0) ? 0 : -1;
}

static int create_parts(th_packet_network *p, const th_system *s)
{
    size_t terminals = p->has_terminals ? 2 * (size_t)s->n_nodes : 0;
    size_t links = (size_t)s->n_links + terminals + 1, buffers = links << p->channel_shift;
    size_t media = (size_t)s->n_media + terminals + 1;
    if (links > TH_HOP_LINKS_MAX || buffers + links > INT32_MAX)
        return -1; /* gigabytes beyond what any memory holds */
    p->n_links = (int32_t)links - 1;
    p->n_media = (int32_t)media - 1;
    p->n_buffers = th_packet_first_of_link(p, p->n_links);
    p->links = th_alloc_zero(links, sizeof *p->links);
    p->media = th_alloc_zero(media, sizeof *p->media);
    p->links_of_media = th_alloc_zero(links, sizeof *p->links_of_media);
    p->buffers = th_alloc_zero(buffers, sizeof *p->buffers);
    p->wants = th_alloc_zero(buffers + links, sizeof *p->wants);
    p->next_asker = th_alloc_zero(buffers + links, sizeof *p->next_asker);
    if (!p->links || !p->media || !p->links_of_media || !p->buffers || !p->wants || !p->next_asker)
        return -1;
    return create_crossbars(p) || th_small_set_init(&p->arrived, buffers) ||
           th_small_set_init(&p->to_try, media);
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
    th_instants_init(&p->instants);
    p->packet_bytes = o->packet_bytes ? (int32_t)o->packet_bytes : TH_PACKET_BYTES;
    p->credit_delay_ps = o->credit_delay_ps;
    p->has_terminals = o->terminal_bits_per_s > 0;
    p->n_crossbar_inputs = o->n_crossbar_inputs;
    p->allocation_cycle_ps = o->allocation_cycle_ps;
    p->may_deadlock = o->may_deadlock;
    p->wake = TH_NO_EVENT;
    p->free_packet = p->free_flow = -1;
    th_blocks_init(&p->hops);
    if (th_network_head_init(&p->head, &th_network_packet, s) ||
        !(p->channels = th_channels_new(s, p->has_terminals, err)))
        goto no_memory;
    if (choose_channels(p, o, err))
        goto fail;
    if (create_parts(p, s))
        goto no_memory;
    fill_links(p, o);
    return &p->head;
no_memory:
    th_error_no_memory(err);
fail:
    destroy(&p->head);
    return NULL;
}

static void reset(th_network *n)
{
    th_packet_network *p = (th_packet_network *)n;
    th_network_head_reset(n);
    for (int32_t l = 0; l < p->n_links; l++) {
        th_packet_link *link = &p->links[l];
        link->first_asker = link->last_asker = link->first_flow = link->last_flow = -1;
        link->next_channel = link->next_read = 0;
        for (int32_t b = th_packet_first_of_link(p, l); b < th_packet_first_of_link(p, l + 1); b++)
            p->buffers[b] = (th_packet_buffer){link->buffer_bytes, 0, -1, -1};
    }
    for (int m = 0; m < p->n_media; m++) {
        p->media[m].busy_until = 0;
        p->media[m].turn = 0;
        p->media[m].reads = -1;
        p->media[m].known_bytes = -1;
    }
    for (int32_t a = 0; a < p->n_buffers + p->n_links; a++)
        p->wants[a] = -1;
    for (int32_t r = 0; r < p->n_links * p->n_crossbar_inputs; r++)
        p->readers[r] = (th_packet_reader){0, -1, 0};
    th_instants_reset(&p->instants);
    th_small_set_reset(&p->arrived);
    th_small_set_reset(&p->to_try);
    th_blocks_reset(&p->hops);
    p->n_packets = p->n_flows = p->n_injecting = 0;
    p->free_packet = p->free_flow = -1;
    p->n_active = p->n_waiting = 0;
    p->wake = TH_NO_EVENT;
}

/* --- messages come and go --------------------------------------------------------------------- */

static int32_t take_slot(th_packet_network *p)
{
    int32_t slot = p->free_flow;
    if (slot >= 0) {
        p->free_flow = p->flows[slot].next;
        return slot;
    }
    if (p->n_flows >= TH_FLOWS_MAX ||
        th_grow(&p->flows, &p->flow_room, p->n_flows + 1, sizeof *p->flows))
        return -1;
    return (int32_t)p->n_flows++;
}

/* The time of that many bytes alone on their way, but for the routers'. */
static th_time alone(const th_system *s, const int *links, int n, int64_t bytes)
{
    th_time latency_ps = 0, slowest_ps = 0;
    for (int i = 0; i < n; i++) {
        const th_link *l = &s->links[links[i]];
        th_time duration_ps = th_duration_ps(bytes, s->media[l->medium].bits_per_s);
        latency_ps = th_time_add(latency_ps, l->latency_ps);
        slowest_ps = duration_ps > slowest_ps ? duration_ps : slowest_ps;
    }
    return th_time_add(latency_ps, slowest_ps);
}

/* 0 or -1. */
static int keep_hops(th_packet_network *p, const th_message *m, const int *links,
                     const uint8_t *class_of, int n, th_packet_flow *f)
{
    f->n_hops = p->has_terminals ? n + 2 : n;
    f->first_hop = th_blocks_take(&p->hops, f->n_hops);
    if (f->first_hop < 0)
        return -1;
    int32_t *hop = &p->hops.item[f->first_hop];
    if (p->has_terminals)
        *hop++ = th_hop(th_packet_terminal_in(p, m->src), 0, false);
    for (int i = 0; i < n; i++)
        *hop++ = th_hop(links[i], class_of[i], i + 1 == f->n_hops);
    if (p->has_terminals)
        *hop = th_hop(th_packet_terminal_out(p, m->dst), 0, true);
    return 0;
}

/* The route and its classes. 0 or -1. */
static int find_route(th_packet_network *p, const th_message *m, th_time now, th_packet_flow *f)
{
    const th_system *s = p->head.system;
    int src = m->src, dst = m->dst;
    int links[TH_ROUTE_MAX];
    uint8_t class_of[TH_ROUTE_MAX];
    int n = th_route(s, src, dst, links);
    if (n == TH_NO_MEMORY)
        return -1;
    if (n < 0)
        return th_error_set(&p->head.why, "NET-0015",
                            "network packet: system \"%s\" has no route from %s to %s", s->name,
                            s->nodes[src].name, s->nodes[dst].name);
    if (!p->may_deadlock) {
        int needed = th_channels_classes(p->channels, links, n, class_of);
        if (needed > p->n_classes)
            return refuse(p, needed, p->n_classes, &p->head.why);
        th_channels_spread(p->n_classes - needed, src, dst, class_of, n);
    }
    if (th_network_end(&p->head, m, now, alone(s, links, n, m->bytes)) < 0)
        return -1;
    if (p->may_deadlock)
        memset(class_of, 0, (size_t)n);
    return keep_hops(p, m, links, class_of, n, f);
}

static int start(th_network *n, th_events *q, th_time now, int32_t number, const th_message *m)
{
    th_packet_network *p = (th_packet_network *)n;
    th_time at = now + m->delay_ps;
    int64_t packets = m->bytes > 0 ? (m->bytes - 1) / p->packet_bytes + 1 : 1;
    th_packet_flow f = {.bytes_to_send = m->bytes,
                        .n_packets = packets,
                        .n_to_send = packets,
                        .number = number,
                        .next = -1};
    if (m->src == m->dst) {
        th_event end = {at, TH_PRIORITY_TRANSFER_END, (uint32_t)number, 0, TH_FLOW_ENDS};
        if (th_events_push(q, &end) == TH_NO_EVENT)
            return -1;
        p->n_active++;
        return 0;
    }
    int32_t slot = find_route(p, m, now, &f) ? -1 : take_slot(p);
    if (slot < 0 ||
        th_instants_post(&p->instants, at, &(th_happening){-1, TH_PACKET_INJECTS, slot, 0}))
        return -1;
    p->flows[slot] = f;
    p->n_active++;
    return 0;
}

static bool event(th_network *n, th_events *q, th_time now, const th_event *e)
{
    th_packet_network *p = (th_packet_network *)n;
    (void)q;
    (void)now;
    if ((e->argument & 1) == TH_FLOW_ENDS) {
        p->n_active--;
        return true;
    }
    p->wake = TH_NO_EVENT;
    return false;
}

/* Once all messages are through, what is still to happen (credits come back) waits for the next
 * one: nobody is woken for it. */
static int set_wake(th_packet_network *p, th_events *q)
{
    th_time next = p->n_active > 0 ? th_instants_next(&p->instants) : TH_TIME_MAX;
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
    if (p->n_waiting > 0 && p->instants.n_heap == 0)
        return th_packet_explain_stuck(p, now);
    return set_wake(p, q);
}

const th_network_type th_network_packet = {
    "packet", "packets that queue in finite buffers, with credits and virtual channels",
    create,   destroy,
    reset,    start,
    event,    settle,
    NULL,
};
