/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packet_step.c - one time step of the packet network: arrivals, requests, allocation, sending.
 *
 *   advance: for each time step up to now:
 *     handle_all       every pending event of the time step
 *     post_requests    arrived packets, then new messages, request their next link
 *     send_*           media that may send something, lowest first, until none can
 *
 * A packet of b bytes that link L (latency l, serialisation delay d of the packet) begins to send
 * at s:
 *   its last byte leaves at          e = max(s + d, arrival of its last byte in the buffer)
 *   its head is at the end of L at   s + l, its last byte at e + l
 * and L is busy until e. L may begin to send it once its head has arrived, it is the first of its
 * buffer, arbitration has chosen it, L's medium is idle, and a buffer of its class at the end of L
 * has space for all of it (virtual cut-through: P. Kermani, L. Kleinrock, Computer Networks 3,
 * 1979). That space is reserved at s; the sender of the space that the packet leaves learns of it
 * at e + credit delay. The last link of a route needs no buffer.
 *
 * Arbitration is round robin. An input (a link that ends at the router, with all its channels, or
 * the injection) has one entry in the request queue of each link that it requests; served, it goes
 * to the end. Entries that cannot be served for want of space keep their place. The channels of an
 * input are served round robin, and so are the links of a medium.
 *
 * Crossbar: with n_crossbar_inputs a link has that many crossbar inputs. An input serves the
 * channels whose number modulo n_crossbar_inputs is its own, and reads one packet at a time, until
 * its last byte has left. Without an allocation cycle one link after the other chooses among the
 * idle inputs, so that no link stays idle that could send. With an allocation cycle:
 *   - Switch allocation is separable, one pass per cycle (N. McKeown, "The iSLIP scheduling
 *     algorithm for input-queued switches", IEEE/ACM Transactions on Networking 7, 1999). Each link
 *     grants one request, independently of the others; an input with several grants accepts one,
 *     round robin; a link whose grant was not accepted tries again a cycle later.
 *   - Channel allocation takes a cycle per packet, from when it is the first of its buffer. For a
 *     packet that arrives in an empty buffer, that is part of the router's delay; a packet that
 *     waited behind another may request its link a cycle after that one has left.
 * Invariants: requests.link[r] is the link in whose queue r is, or in whose queue another channel
 * of its input represents it; of the channels of an input that request one link, exactly one is in
 * the queue. Not modelled: flits of several packets interleaved on a link, refused channels. */
#include <config.h>

#include <stdlib.h>

#include "base/alloc.h"
#include "sim/network/packet/packet.h"

/* --- statistics, of the system's links alone ------------------------------------------------ */

static void enter(th_packet_network *p, int32_t link, th_time now)
{
    if (!th_packet_is_terminal(p, link))
        th_network_link_enter(&p->head, link, now);
}

static void leave(th_packet_network *p, int32_t link, th_time now, int32_t bytes)
{
    if (!th_packet_is_terminal(p, link))
        th_network_link_leave(&p->head, link, now, bytes);
}

/* --- request queues --------------------------------------------------------------------------- */

static void append(th_packet_network *p, int32_t link, int32_t requester)
{
    th_packet_link *l = &p->fabric.links[link];
    p->requests.next[requester] = -1;
    if (l->last_requester >= 0)
        p->requests.next[l->last_requester] = requester;
    else
        l->first_requester = requester;
    l->last_requester = requester;
}

/* before: the entry before it in the queue, -1: it is the first. */
static void take_out(th_packet_network *p, int32_t link, int32_t requester, int32_t before)
{
    th_packet_link *l = &p->fabric.links[link];
    int32_t after = p->requests.next[requester];
    if (before >= 0)
        p->requests.next[before] = after;
    else
        l->first_requester = after;
    if (l->last_requester == requester)
        l->last_requester = before;
}

static int32_t first_of_input(const th_packet_network *p, int32_t buffer)
{
    return th_packet_first_buffer(p, th_packet_link_of(p, buffer));
}

/* A buffer of the same input as buffer that requests link; -1: none. */
static int32_t find_requester(const th_packet_network *p, int32_t buffer, int32_t link)
{
    int32_t first = first_of_input(p, buffer);
    for (int32_t b = first; b < first + p->channels.n_channels; b++)
        if (p->requests.link[b] == link)
            return b;
    return -1;
}

/* The first packet of buffer, which has arrived, requests its link. */
static void request(th_packet_network *p, int32_t buffer)
{
    int32_t link =
        th_hop_link(p->traffic.hops.item[p->traffic.packets[p->fabric.buffers[buffer].first].hop]);
    if (find_requester(p, buffer, link) < 0)
        append(p, link, buffer);
    p->requests.link[buffer] = link;
    th_index_set_add(&p->requests.media, p->fabric.links[link].medium);
}

static int32_t first_link(const th_packet_network *p, int32_t flow)
{
    return th_hop_link(p->traffic.hops.item[p->traffic.flows[flow].first_hop]);
}

static void request_injection(th_packet_network *p, int32_t flow)
{
    int32_t link = first_link(p, flow);
    th_packet_link *l = &p->fabric.links[link];
    p->traffic.flows[flow].next = -1;
    if (l->last_flow >= 0)
        p->traffic.flows[l->last_flow].next = flow;
    else
        l->first_flow = flow;
    l->last_flow = flow;
    if (l->first_flow == flow) {
        append(p, link, p->fabric.n_buffers + link);
        p->requests.link[p->fabric.n_buffers + link] = link;
    }
    th_index_set_add(&p->requests.media, l->medium);
}

/* --- buffer space ----------------------------------------------------------------------------- */

/* A buffer of the class at the end of link with space for bytes, round robin; -1: none. */
static int32_t find_free_buffer(const th_packet_network *p, int32_t link, int class, int32_t bytes)
{
    int32_t first, end, channel = p->fabric.links[link].next_channel_to_fill;
    th_packet_usable_channels(p, link, class, &first, &end);
    if (channel < first || channel >= end)
        channel = first;
    for (int32_t i = first; i < end; i++) {
        int32_t buffer = th_packet_first_buffer(p, link) + channel;
        if (p->fabric.buffers[buffer].free_bytes >= bytes)
            return buffer;
        channel = channel + 1 < end ? channel + 1 : first;
    }
    return -1;
}

/* --- sending ---------------------------------------------------------------------------------- */

/* The crossbar input that reads buffer; NULL: the crossbar has no limit. */
static th_crossbar_input *input_of(const th_packet_network *p, int32_t buffer)
{
    int32_t n = p->options.n_crossbar_inputs;
    if (n == 0 || th_packet_is_injection(p, buffer))
        return NULL;
    return &p->fabric
                .inputs[th_packet_link_of(p, buffer) * n + th_packet_channel_of(p, buffer) % n];
}

static int32_t bytes_of_next(const th_packet_network *p, const th_packet_flow *f)
{
    return f->bytes_to_send < p->options.packet_bytes ? (int32_t)f->bytes_to_send
                                                      : p->options.packet_bytes;
}

/* Whether requester can send over link now, and *buffer, which takes the packet. */
static bool can_send(const th_packet_network *p, int32_t link, int32_t requester, th_time now,
                     int32_t *buffer)
{
    int32_t hop, bytes;
    const th_crossbar_input *input = input_of(p, requester);
    if (input && input->busy_until > now)
        return false;
    if (th_packet_is_injection(p, requester)) {
        const th_packet_flow *f = &p->traffic.flows[p->fabric.links[link].first_flow];
        hop = p->traffic.hops.item[f->first_hop];
        bytes = bytes_of_next(p, f);
    } else {
        const th_packet *k = &p->traffic.packets[p->fabric.buffers[requester].first];
        hop = p->traffic.hops.item[k->hop];
        bytes = k->bytes;
    }
    bool is_last = th_hop_is_last(hop);
    *buffer = is_last ? -1 : find_free_buffer(p, link, th_hop_class(hop), bytes);
    return is_last || *buffer >= 0;
}

/* A channel of the queued input that requests the link and can send, round robin. */
static bool choose_channel(const th_packet_network *p, th_packet_grant *c, th_time now)
{
    c->requester = c->queued;
    if (th_packet_is_injection(p, c->queued))
        return can_send(p, c->link, c->requester, now, &c->buffer);
    int32_t first = first_of_input(p, c->queued), n = p->channels.n_channels;
    int32_t channel = p->fabric.links[th_packet_link_of(p, first)].next_channel_to_read;
    for (int32_t i = 0; i < n; i++) {
        c->requester = first + channel;
        if (p->requests.link[c->requester] == c->link &&
            can_send(p, c->link, c->requester, now, &c->buffer))
            return true;
        channel = channel + 1 < n ? channel + 1 : 0;
    }
    return false;
}

static bool choose(const th_packet_network *p, int32_t link, th_packet_grant *c, th_time now)
{
    *c = (th_packet_grant){
        .link = link, .queued = p->fabric.links[link].first_requester, .before_queued = -1};
    for (; c->queued >= 0; c->before_queued = c->queued, c->queued = p->requests.next[c->queued])
        if (choose_channel(p, c, now))
            return true;
    return false;
}

/* A packet of the first message in the injection queue, which goes to the end of the queue. -1:
 * memory is out. */
static int32_t take_from_flow(th_packet_network *p, const th_packet_grant *c, th_time now)
{
    th_packet_link *l = &p->fabric.links[c->link];
    int32_t flow = l->first_flow, k = th_slots_take(&p->traffic.packet_slots, &p->traffic.packets,
                                                    sizeof *p->traffic.packets);
    th_packet_flow *f = &p->traffic.flows[flow];
    if (k < 0)
        return -1;
    p->traffic.packets[k] = (th_packet){
        .flow = flow, .hop = f->first_hop, .bytes = bytes_of_next(p, f), .tail = now, .next = -1};
    f->bytes_to_send -= p->traffic.packets[k].bytes;
    f->n_to_send--;
    l->first_flow = f->next;
    if (l->first_flow < 0)
        l->last_flow = -1;
    take_out(p, c->link, c->queued, c->before_queued);
    p->requests.link[c->requester] = -1;
    p->traffic.n_waiting--;
    if (l->first_flow >= 0) {
        append(p, c->link, c->requester);
        p->requests.link[c->requester] = c->link;
    }
    if (f->n_to_send > 0) {
        p->traffic.n_waiting++;
        enter(p, c->link, now);
        request_injection(p, flow);
    }
    return k;
}

static int32_t take_from_buffer(th_packet_network *p, const th_packet_grant *c)
{
    th_packet_buffer *b = &p->fabric.buffers[c->requester];
    int32_t k = b->first;
    b->first = p->traffic.packets[k].next;
    if (b->first < 0)
        b->last = -1;
    p->requests.link[c->requester] = -1;
    p->traffic.n_waiting--;
    take_out(p, c->link, c->queued, c->before_queued);
    int32_t other = find_requester(p, c->requester, c->link);
    if (other >= 0)
        append(p, c->link, other);
    int32_t channel = th_packet_channel_of(p, c->requester);
    p->fabric.links[th_packet_link_of(p, c->requester)].next_channel_to_read =
        (uint8_t)(channel + 1 < p->channels.n_channels ? channel + 1 : 0);
    if (b->first >= 0 && p->traffic.packets[b->first].has_arrived &&
        p->options.allocation_cycle_ps == 0)
        request(p, c->requester);
    return k;
}

static int post(th_packet_network *p, th_time at, th_packet_event_kind kind, int32_t object,
                int32_t bytes)
{
    return th_packet_events_post(&p->events, at,
                                 &(th_packet_event){-1, (int32_t)kind, object, bytes});
}

/* The last byte of packet k arrives at its destination at end. */
static int deliver(th_packet_network *p, th_events *q, int32_t k, th_time end)
{
    int32_t flow = p->traffic.packets[k].flow;
    th_packet_flow *f = &p->traffic.flows[flow];
    th_slots_give(&p->traffic.packet_slots, &p->traffic.packets[k], k);
    f->end = end > f->end ? end : f->end;
    if (--f->n_undelivered > 0)
        return 0;
    th_blocks_give(&p->traffic.hops, f->first_hop, f->n_hops);
    th_event e = {f->end, TH_PRIORITY_TRANSFER_END, (uint32_t)f->number, 0, TH_FLOW_ENDS};
    th_slots_give(&p->traffic.flow_slots, f, flow);
    return th_events_push(q, &e) == TH_NO_EVENT ? -1 : 0;
}

/* When packet k, of which tail is the last byte, may request its next link: as soon as its head is
 * there. But a DRAM or a link beside it waits for no bytes: it begins so late that it ends with the
 * last of them. */
static th_time arrival(const th_packet_network *p, int32_t k, int32_t link, th_time head,
                       th_time tail)
{
    const th_packet *packet = &p->traffic.packets[k];
    int32_t next = th_hop_link(p->traffic.hops.item[packet->hop]);
    if (!th_packet_is_dram(p, link) && !th_packet_is_dram(p, next))
        return head;
    int64_t bits_per_s = p->fabric.media[p->fabric.links[next].medium].bits_per_s;
    th_time begin = tail - th_duration_ps(packet->bytes, bits_per_s);
    return begin > head ? begin : head;
}

/* Packet k is on the way to buffer, whose space is reserved. */
static int pass_on(th_packet_network *p, int32_t k, int32_t buffer, th_time head, th_time tail)
{
    th_packet *packet = &p->traffic.packets[k];
    th_packet_buffer *b = &p->fabric.buffers[buffer];
    th_packet_link *l = &p->fabric.links[th_packet_link_of(p, buffer)];
    l->next_channel_to_fill = (uint8_t)(th_packet_channel_of(p, buffer) + 1);
    packet->hop++;
    packet->tail = tail;
    packet->buffer = buffer;
    packet->next = -1;
    packet->has_arrived = false;
    b->free_bytes -= packet->bytes;
    if (b->last >= 0)
        p->traffic.packets[b->last].next = k;
    else
        b->first = k;
    b->last = k;
    p->traffic.n_waiting++;
    return post(p, arrival(p, k, th_packet_link_of(p, buffer), head, tail), TH_PACKET_HEAD_ARRIVES,
                k, 0);
}

/* The first packet of buffer may request its link when channel allocation is done. */
static int make_ready(th_packet_network *p, int32_t buffer)
{
    return post(p, p->fabric.buffers[buffer].ready_at, TH_PACKET_READY, buffer, 0);
}

/* A packet of buffer is being sent until then; its space is free after that. */
static int occupy(th_packet_network *p, int32_t buffer, int32_t bytes, th_time until)
{
    th_packet_buffer *b = &p->fabric.buffers[buffer];
    th_crossbar_input *input = input_of(p, buffer);
    if (input)
        input->busy_until = until;
    b->ready_at = th_time_add(until, p->options.allocation_cycle_ps);
    bool has_next = b->first >= 0 && p->traffic.packets[b->first].has_arrived;
    if (p->options.allocation_cycle_ps > 0 && has_next && make_ready(p, buffer))
        return -1;
    if (p->options.credit_delay_ps == 0) /* finish_sending returns the credit */
        return 0;
    return post(p, th_time_add(until, p->options.credit_delay_ps), TH_PACKET_CREDIT, buffer, bytes);
}

/* bytes of buffer are free, as its sender knows now: a request for its link may have waited. */
static void return_credit(th_packet_network *p, int32_t buffer, int32_t bytes)
{
    const th_packet_link *l = &p->fabric.links[th_packet_link_of(p, buffer)];
    p->fabric.buffers[buffer].free_bytes += bytes;
    if (l->first_requester >= 0)
        th_index_set_add(&p->requests.media, l->medium);
}

static int send(th_packet_network *p, th_events *q, const th_packet_grant *c, th_time now)
{
    const th_packet_link *l = &p->fabric.links[c->link];
    th_packet_medium *m = &p->fabric.media[l->medium];
    bool injects = th_packet_is_injection(p, c->requester);
    int32_t k = injects ? take_from_flow(p, c, now) : take_from_buffer(p, c);
    if (k < 0)
        return -1;
    const th_packet *packet = &p->traffic.packets[k];
    th_time sent = th_time_add(now, th_duration_ps(packet->bytes, m->bits_per_s));
    th_time left = sent > packet->tail ? sent : packet->tail;
    m->busy_until = left;
    m->buffer_read = injects ? -1 : c->requester;
    m->next_link = c->next_link;
    if (post(p, left, TH_PACKET_TAIL_LEAVES, c->link, packet->bytes) ||
        (!injects && occupy(p, c->requester, packet->bytes, left)))
        return -1;
    if (c->buffer < 0)
        return deliver(p, q, k, th_time_add(left, l->latency_ps));
    return pass_on(p, k, c->buffer, th_time_add(now, l->latency_ps),
                   th_time_add(left, l->latency_ps));
}

/* The next link of the medium that can send something, and what. */
static bool grant(const th_packet_network *p, int32_t medium, th_time now, th_packet_grant *c)
{
    const th_packet_medium *m = &p->fabric.media[medium];
    if (m->busy_until > now)
        return false;
    int32_t link = m->next_link;
    for (int32_t i = 0; i < m->n_links; i++) {
        int32_t next = link + 1 < m->n_links ? link + 1 : 0;
        bool can = choose(p, p->fabric.links_of_media[m->first_link + link], c, now);
        c->next_link = next;
        if (can)
            return true;
        link = next;
    }
    return false;
}

/* One medium after the other sends what it can: no grant is refused. */
static int send_sequentially(th_packet_network *p, th_events *q, th_time now)
{
    while (!th_index_set_is_empty(&p->requests.media)) {
        th_packet_grant c;
        if (grant(p, th_index_set_take(&p->requests.media), now, &c) && send(p, q, &c, now))
            return -1;
    }
    return 0;
}

/* --- allocation in one pass ------------------------------------------------------------------- */

/* How far the medium of the grant is from the next one of input, round robin. */
static int32_t distance(const th_packet_network *p, const th_crossbar_input *input, int32_t grant)
{
    int32_t ahead = p->fabric.links[p->requests.grants[grant].link].medium - input->next_medium;
    return ahead >= 0 ? ahead : ahead + p->fabric.n_media;
}

static void offer(th_packet_network *p, int32_t grant)
{
    th_crossbar_input *input = input_of(p, p->requests.grants[grant].requester);
    if (input && (input->grant < 0 || distance(p, input, grant) < distance(p, input, input->grant)))
        input->grant = grant;
}

/* Sends what was granted if its input accepts it, else the medium tries again a cycle later. */
static int accept(th_packet_network *p, th_events *q, int32_t grant, th_time now)
{
    const th_packet_grant *c = &p->requests.grants[grant];
    th_crossbar_input *input = input_of(p, c->requester);
    int32_t medium = p->fabric.links[c->link].medium;
    if (input && input->grant != grant)
        return post(p, th_time_add(now, p->options.allocation_cycle_ps), TH_PACKET_RETRY, medium,
                    0);
    if (input)
        input->next_medium = medium + 1 < p->fabric.n_media ? medium + 1 : 0;
    return send(p, q, c, now);
}

static int send_matched(th_packet_network *p, th_events *q, th_time now)
{
    int32_t n = 0;
    while (!th_index_set_is_empty(&p->requests.media))
        n += grant(p, th_index_set_take(&p->requests.media), now, &p->requests.grants[n]);
    for (int32_t i = 0; i < n; i++)
        offer(p, i);
    for (int32_t i = 0; i < n; i++)
        if (accept(p, q, i, now))
            return -1;
    for (int32_t i = 0; i < n; i++) {
        th_crossbar_input *input = input_of(p, p->requests.grants[i].requester);
        if (input)
            input->grant = -1;
    }
    return 0;
}

/* --- a time step ------------------------------------------------------------------------------ */

/* The crossbar input of buffer is idle: media that its buffers request may send. */
static void retry_input(th_packet_network *p, int32_t buffer)
{
    int32_t first = first_of_input(p, buffer), n = p->options.n_crossbar_inputs;
    for (int32_t c = th_packet_channel_of(p, buffer) % n; c < p->channels.n_channels; c += n)
        if (p->requests.link[first + c] >= 0)
            th_index_set_add(&p->requests.media,
                             p->fabric.links[p->requests.link[first + c]].medium);
}

static int arrive(th_packet_network *p, int32_t k, th_time now)
{
    th_packet *packet = &p->traffic.packets[k];
    const th_packet_buffer *b = &p->fabric.buffers[packet->buffer];
    packet->has_arrived = true;
    enter(p, th_hop_link(p->traffic.hops.item[packet->hop]), now);
    if (b->first != k)
        return 0;
    if (p->options.allocation_cycle_ps > 0 && b->ready_at > now)
        return make_ready(p, packet->buffer);
    th_index_set_add(&p->requests.arrived, packet->buffer);
    return 0;
}

/* Link has sent a packet: it is idle, and so is the crossbar input that read the packet. */
static void finish_sending(th_packet_network *p, int32_t link, int32_t bytes, th_time now)
{
    int32_t medium = p->fabric.links[link].medium, read = p->fabric.media[medium].buffer_read;
    leave(p, link, now, bytes);
    if (p->fabric.media[medium].n_links > 1 || p->fabric.links[link].first_requester >= 0)
        th_index_set_add(&p->requests.media, medium);
    if (read < 0)
        return;
    if (p->options.n_crossbar_inputs > 0)
        retry_input(p, read);
    if (p->options.credit_delay_ps == 0)
        return_credit(p, read, bytes);
}

static int handle(th_packet_network *p, const th_packet_event *e, th_time now)
{
    switch ((th_packet_event_kind)e->kind) {
    case TH_PACKET_HEAD_ARRIVES:
        return arrive(p, e->object, now);
    case TH_PACKET_TAIL_LEAVES: /* done, see handle_all */
        return 0;
    case TH_PACKET_CREDIT:
        return_credit(p, e->object, e->bytes);
        return 0;
    case TH_PACKET_READY:
        th_index_set_add(&p->requests.arrived, e->object);
        return 0;
    case TH_PACKET_RETRY:
        th_index_set_add(&p->requests.media, e->object);
        return 0;
    case TH_PACKET_INJECT:
        if (th_grow(&p->traffic.injecting, &p->traffic.injecting_room, p->traffic.n_injecting + 1,
                    sizeof *p->traffic.injecting))
            return -1;
        p->traffic.injecting[p->traffic.n_injecting++] =
            (th_packet_injection){p->traffic.flows[e->object].number, e->object};
        return 0;
    }
    return 0;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = ((const th_packet_injection *)a)->number;
    int32_t y = ((const th_packet_injection *)b)->number;
    return (x > y) - (x < y);
}

static void inject_all(th_packet_network *p, th_time now)
{
    if (p->traffic.n_injecting > 1)
        qsort(p->traffic.injecting, p->traffic.n_injecting, sizeof *p->traffic.injecting,
              by_number);
    for (size_t i = 0; i < p->traffic.n_injecting; i++) {
        int32_t flow = p->traffic.injecting[i].slot;
        enter(p, first_link(p, flow), now);
        p->traffic.n_waiting++;
        request_injection(p, flow);
    }
    p->traffic.n_injecting = 0;
}

static void post_requests(th_packet_network *p, th_time now)
{
    while (!th_index_set_is_empty(&p->requests.arrived)) {
        int32_t buffer = th_index_set_take(&p->requests.arrived);
        if (p->requests.link[buffer] < 0)
            request(p, buffer);
    }
    inject_all(p, now);
}

/* Packets leave before others arrive, so that a link's peak does not depend on the order of events.
 */
static int handle_all(th_packet_network *p, th_time at)
{
    int32_t first = th_packet_events_take(&p->events);
    for (int32_t h = first; h >= 0; h = p->events.events[h].next) {
        const th_packet_event *e = &p->events.events[h];
        if (e->kind == TH_PACKET_TAIL_LEAVES)
            finish_sending(p, e->object, e->bytes, at);
    }
    for (int32_t h = first, next; h >= 0; h = next) {
        th_packet_event event = p->events.events[h];
        next = event.next;
        th_packet_events_give_back(&p->events, h);
        if (handle(p, &event, at))
            return -1;
    }
    return 0;
}

static int run_step(th_packet_network *p, th_events *q, th_time at)
{
    if (handle_all(p, at))
        return -1;
    post_requests(p, at);
    while (!th_index_set_is_empty(&p->requests.media))
        if (p->requests.grants ? send_matched(p, q, at) : send_sequentially(p, q, at))
            return -1;
    return 0;
}

int th_packet_advance(th_packet_network *p, th_events *q, th_time now)
{
    for (th_time at; (at = th_packet_events_next(&p->events)) <= now;)
        if (run_step(p, q, at))
            return -1;
    return 0;
}
