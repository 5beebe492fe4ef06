/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packet_link.c - one instant of the packet network: what arrives, and what each link sends.
 *
 *   advance: { happen: all that was posted for the instant; ask: arrived packets, then new
 *   messages, ask for their next link; send: media, least first, while one can } until now is done
 *
 * A packet of b bytes that link L (latency l, time for the packet d) begins to send at s:
 *   its last byte leaves at          e = max(s + d, when its last byte came in)
 *   its head is at the end of L at   s + l, its last byte at e + l
 * and L is busy until e. It may begin once its head has come in, it is the first of its buffer, its
 * turn has come, L's medium is free, and a buffer of its class at the end of L has room for all of
 * it (virtual cut-through: P. Kermani, L. Kleinrock, Computer Networks 3, 1979). That room is taken
 * at s; the room that it leaves behind is known to the sender there at e + credit delay. The last
 * link of a route needs no room.
 *
 * Turns: those who ask for a link stand in a ring. An input (a link that ends here, with all its
 * channels, or the injection) stands there once; served, it goes to the end. Those who cannot go
 * for want of room are passed over and keep their place. Within an input the channels take turns,
 * and so do the links of a medium.
 *
 * Crossbar: with n_crossbar_inputs an input has that many readers. A reader serves the channels of
 * its number modulo that, and reads one packet at a time, until that has left. Without an
 * allocation cycle one link after the other picks among the readers that are free, so that no link
 * stays idle that could send. With one, a router works as most do:
 *   - Switch allocation is separable, one pass per cycle (N. McKeown, "The iSLIP scheduling
 *     algorithm for input-queued switches", IEEE/ACM Transactions on Networking 7, 1999). Each link
 *     grants to a packet without knowing of the others; a reader with several grants accepts one,
 *     its links taking turns; a link whose grant was not accepted tries again a cycle later.
 *   - Channel allocation takes a cycle for each packet, beginning when it is the first of its
 *     buffer. Where it arrives as the first, that is part of the router's delay; where it waited
 *     behind another, it may go a cycle after that has left.
 * Invariants: wants[a] is the link in whose ring a stands or that another channel of its input
 * stands for; of the channels of an input that want one link, exactly one stands in its ring.
 * Not modelled: flits of several packets that take turns on a link, channels that are refused. */
#include <config.h>

#include <stdlib.h>

#include "base/alloc.h"
#include "sim/network/packet/packet.h"

/* --- statistics: of the system's links, not of terminals ----------------------------------------
 */

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

/* --- rings of those who ask ------------------------------------------------------------------- */

static void append(th_packet_network *p, int32_t link, int32_t asker)
{
    th_packet_link *l = &p->links[link];
    p->next_asker[asker] = -1;
    if (l->last_asker >= 0)
        p->next_asker[l->last_asker] = asker;
    else
        l->first_asker = asker;
    l->last_asker = asker;
}

/* before: the one ahead of it in the ring, -1: it is the first. */
static void take_out(th_packet_network *p, int32_t link, int32_t asker, int32_t before)
{
    th_packet_link *l = &p->links[link];
    int32_t after = p->next_asker[asker];
    if (before >= 0)
        p->next_asker[before] = after;
    else
        l->first_asker = after;
    if (l->last_asker == asker)
        l->last_asker = before;
}

static int32_t first_of_input(const th_packet_network *p, int32_t buffer)
{
    return th_packet_first_of_link(p, th_packet_link_of(p, buffer));
}

/* A channel of the input of buffer that wants link; -1: none. */
static int32_t find_fellow(const th_packet_network *p, int32_t buffer, int32_t link)
{
    int32_t first = first_of_input(p, buffer);
    for (int32_t b = first; b < first + p->n_channels; b++)
        if (p->wants[b] == link)
            return b;
    return -1;
}

/* The first packet of buffer, which has arrived, asks for its link. */
static void ask(th_packet_network *p, int32_t buffer)
{
    int32_t link = th_hop_link(p->hops.item[p->packets[p->buffers[buffer].first].hop]);
    if (find_fellow(p, buffer, link) < 0)
        append(p, link, buffer);
    p->wants[buffer] = link;
    th_small_set_add(&p->to_try, p->links[link].medium);
}

static int32_t first_link(const th_packet_network *p, int32_t flow)
{
    return th_hop_link(p->hops.item[p->flows[flow].first_hop]);
}

static void ask_to_inject(th_packet_network *p, int32_t flow)
{
    int32_t link = first_link(p, flow);
    th_packet_link *l = &p->links[link];
    p->flows[flow].next = -1;
    if (l->last_flow >= 0)
        p->flows[l->last_flow].next = flow;
    else
        l->first_flow = flow;
    l->last_flow = flow;
    if (l->first_flow == flow) {
        append(p, link, p->n_buffers + link);
        p->wants[p->n_buffers + link] = link;
    }
    th_small_set_add(&p->to_try, l->medium);
}

/* --- room ------------------------------------------------------------------------------------- */

/* A buffer of the class at the end of link with room for bytes, its channels taking turns; -1:
 * none. */
static int32_t find_room(const th_packet_network *p, int32_t link, int class, int32_t bytes)
{
    int32_t first, end, turn = p->links[link].next_channel;
    th_packet_channels(p, link, class, &first, &end);
    if (turn < first || turn >= end)
        turn = first;
    for (int32_t i = first; i < end; i++) {
        int32_t buffer = th_packet_first_of_link(p, link) + turn;
        if (p->buffers[buffer].free_bytes >= bytes)
            return buffer;
        turn = turn + 1 < end ? turn + 1 : first;
    }
    return -1;
}

/* --- sending ---------------------------------------------------------------------------------- */

/* Who reads buffer; NULL: it is never in another's way. */
static th_packet_reader *reader_of(const th_packet_network *p, int32_t buffer)
{
    int32_t n = p->n_crossbar_inputs;
    if (n == 0 || th_packet_is_flow(p, buffer))
        return NULL;
    return &p->readers[th_packet_link_of(p, buffer) * n + th_packet_channel_of(p, buffer) % n];
}

static int32_t bytes_of_next(const th_packet_network *p, const th_packet_flow *f)
{
    return f->bytes_to_send < p->packet_bytes ? (int32_t)f->bytes_to_send : p->packet_bytes;
}

/* Can asker send now? Fills room. */
static bool can_send(const th_packet_network *p, int32_t link, int32_t asker, th_time now,
                     int32_t *room)
{
    int32_t hop, bytes;
    const th_packet_reader *reader = reader_of(p, asker);
    if (reader && reader->busy_until > now)
        return false;
    if (th_packet_is_flow(p, asker)) {
        const th_packet_flow *f = &p->flows[p->links[link].first_flow];
        hop = p->hops.item[f->first_hop];
        bytes = bytes_of_next(p, f);
    } else {
        const th_packet *k = &p->packets[p->buffers[asker].first];
        hop = p->hops.item[k->hop];
        bytes = k->bytes;
    }
    bool is_last = th_hop_is_last(hop);
    *room = is_last ? -1 : find_room(p, link, th_hop_class(hop), bytes);
    return is_last || *room >= 0;
}

/* A channel of the input that stands for link, whose turn it is and that can send. */
static bool choose_channel(const th_packet_network *p, th_packet_grant *c, th_time now)
{
    c->asker = c->standing;
    if (th_packet_is_flow(p, c->standing))
        return can_send(p, c->link, c->asker, now, &c->room);
    int32_t first = first_of_input(p, c->standing), n = p->n_channels;
    int32_t turn = p->links[th_packet_link_of(p, first)].next_read;
    for (int32_t i = 0; i < n; i++) {
        c->asker = first + turn;
        if (p->wants[c->asker] == c->link && can_send(p, c->link, c->asker, now, &c->room))
            return true;
        turn = turn + 1 < n ? turn + 1 : 0;
    }
    return false;
}

static bool choose(const th_packet_network *p, int32_t link, th_packet_grant *c, th_time now)
{
    *c = (th_packet_grant){.link = link, .standing = p->links[link].first_asker, .before = -1};
    for (; c->standing >= 0; c->before = c->standing, c->standing = p->next_asker[c->standing])
        if (choose_channel(p, c, now))
            return true;
    return false;
}

static int32_t new_packet(th_packet_network *p)
{
    int32_t k = p->free_packet;
    if (k >= 0) {
        p->free_packet = p->packets[k].next;
        return k;
    }
    if (th_grow(&p->packets, &p->packet_room, p->n_packets + 1, sizeof *p->packets))
        return -1;
    return (int32_t)p->n_packets++;
}

/* The message whose turn it is gives a packet, and lets the next one go first. -1: memory is
 * out. */
static int32_t take_from_flow(th_packet_network *p, const th_packet_grant *c, th_time now)
{
    th_packet_link *l = &p->links[c->link];
    int32_t flow = l->first_flow, k = new_packet(p);
    th_packet_flow *f = &p->flows[flow];
    if (k < 0)
        return -1;
    p->packets[k] = (th_packet){
        .flow = flow, .hop = f->first_hop, .bytes = bytes_of_next(p, f), .tail = now, .next = -1};
    f->bytes_to_send -= p->packets[k].bytes;
    f->n_to_send--;
    l->first_flow = f->next;
    if (l->first_flow < 0)
        l->last_flow = -1;
    take_out(p, c->link, c->standing, c->before);
    p->wants[c->asker] = -1;
    p->n_waiting--;
    if (l->first_flow >= 0) {
        append(p, c->link, c->asker);
        p->wants[c->asker] = c->link;
    }
    if (f->n_to_send > 0) {
        p->n_waiting++;
        enter(p, c->link, now);
        ask_to_inject(p, flow);
    }
    return k;
}

static int32_t take_from_buffer(th_packet_network *p, const th_packet_grant *c)
{
    th_packet_buffer *b = &p->buffers[c->asker];
    int32_t k = b->first;
    b->first = p->packets[k].next;
    if (b->first < 0)
        b->last = -1;
    p->wants[c->asker] = -1;
    p->n_waiting--;
    take_out(p, c->link, c->standing, c->before);
    int32_t fellow = find_fellow(p, c->asker, c->link);
    if (fellow >= 0)
        append(p, c->link, fellow);
    int32_t channel = th_packet_channel_of(p, c->asker);
    p->links[th_packet_link_of(p, c->asker)].next_read =
        (uint8_t)(channel + 1 < p->n_channels ? channel + 1 : 0);
    if (b->first >= 0 && p->packets[b->first].has_arrived && p->allocation_cycle_ps == 0)
        ask(p, c->asker);
    return k;
}

static th_time time_on(th_packet_medium *m, int32_t bytes)
{
    if (m->known_bytes != bytes) {
        m->known_bytes = bytes;
        m->known_ps = th_duration_ps(bytes, m->bits_per_s);
    }
    return m->known_ps;
}

static int post(th_packet_network *p, th_time at, th_packet_happening kind, int32_t object,
                int32_t bytes)
{
    return th_instants_post(&p->instants, at, &(th_happening){-1, (int32_t)kind, object, bytes});
}

/* Packet k has left the network's last link for good: at end its last byte is there. */
static int deliver(th_packet_network *p, th_events *q, int32_t k, th_time end)
{
    int32_t flow = p->packets[k].flow;
    th_packet_flow *f = &p->flows[flow];
    p->packets[k].next = p->free_packet;
    p->free_packet = k;
    f->end = end > f->end ? end : f->end;
    if (--f->n_packets > 0)
        return 0;
    th_blocks_give(&p->hops, f->first_hop, f->n_hops);
    f->next = p->free_flow;
    p->free_flow = flow;
    th_event e = {f->end, TH_PRIORITY_TRANSFER_END, (uint32_t)f->number, 0, TH_FLOW_ENDS};
    return th_events_push(q, &e) == TH_NO_EVENT ? -1 : 0;
}

/* Puts packet k, on the way, into the buffer that has room for it. */
static int pass_on(th_packet_network *p, int32_t k, int32_t buffer, th_time head, th_time tail)
{
    th_packet *packet = &p->packets[k];
    th_packet_buffer *b = &p->buffers[buffer];
    th_packet_link *l = &p->links[th_packet_link_of(p, buffer)];
    l->next_channel = (uint8_t)(th_packet_channel_of(p, buffer) + 1);
    packet->hop++;
    packet->tail = tail;
    packet->buffer = buffer;
    packet->next = -1;
    packet->has_arrived = false;
    b->free_bytes -= packet->bytes;
    if (b->last >= 0)
        p->packets[b->last].next = k;
    else
        b->first = k;
    b->last = k;
    p->n_waiting++;
    return post(p, head, TH_PACKET_ARRIVES, k, 0);
}

/* The first packet of buffer may ask for its link after another cycle. */
static int make_ready(th_packet_network *p, int32_t buffer)
{
    return post(p, p->buffers[buffer].ready_at, TH_PACKET_READY, buffer, 0);
}

/* A packet of buffer is being sent, until then, and its room is free after that. */
static int occupy(th_packet_network *p, int32_t buffer, int32_t bytes, th_time until)
{
    th_packet_buffer *b = &p->buffers[buffer];
    th_packet_reader *reader = reader_of(p, buffer);
    if (reader)
        reader->busy_until = until;
    b->ready_at = th_time_add(until, p->allocation_cycle_ps);
    bool has_next = b->first >= 0 && p->packets[b->first].has_arrived;
    if (p->allocation_cycle_ps > 0 && has_next && make_ready(p, buffer))
        return -1;
    return post(p, th_time_add(until, p->credit_delay_ps), TH_PACKET_CREDIT, buffer, bytes);
}

static int send(th_packet_network *p, th_events *q, const th_packet_grant *c, th_time now)
{
    const th_packet_link *l = &p->links[c->link];
    th_packet_medium *m = &p->media[l->medium];
    bool injects = th_packet_is_flow(p, c->asker);
    int32_t k = injects ? take_from_flow(p, c, now) : take_from_buffer(p, c);
    if (k < 0)
        return -1;
    const th_packet *packet = &p->packets[k];
    th_time sent = th_time_add(now, time_on(m, packet->bytes));
    th_time gone = sent > packet->tail ? sent : packet->tail;
    m->busy_until = gone;
    m->reads = reader_of(p, c->asker) ? c->asker : -1;
    m->turn = c->turn;
    if (post(p, gone, TH_PACKET_HAS_GONE, c->link, packet->bytes) ||
        (!injects && occupy(p, c->asker, packet->bytes, gone)))
        return -1;
    if (c->room < 0)
        return deliver(p, q, k, th_time_add(gone, l->latency_ps));
    return pass_on(p, k, c->room, th_time_add(now, l->latency_ps),
                   th_time_add(gone, l->latency_ps));
}

/* The next link of the medium that can send something, and what. */
static bool grant(const th_packet_network *p, int32_t medium, th_time now, th_packet_grant *c)
{
    const th_packet_medium *m = &p->media[medium];
    if (m->busy_until > now)
        return false;
    for (int32_t i = 0; i < m->n; i++) {
        int32_t turn = m->turn + i < m->n ? m->turn + i : m->turn + i - m->n;
        if (!choose(p, p->links_of_media[m->first + turn], c, now))
            continue;
        c->turn = turn + 1 < m->n ? turn + 1 : 0;
        return true;
    }
    return false;
}

/* One medium after the other sends what it can. */
static int send_in_turn(th_packet_network *p, th_events *q, th_time now)
{
    while (!th_small_set_is_empty(&p->to_try)) {
        th_packet_grant c;
        if (grant(p, th_small_set_take(&p->to_try), now, &c) && send(p, q, &c, now))
            return -1;
    }
    return 0;
}

/* --- allocation in one pass ------------------------------------------------------------------- */

/* How many media the turn of reader is before this one's. */
static int32_t distance(const th_packet_network *p, const th_packet_reader *reader, int32_t grant)
{
    int32_t ahead = p->links[p->grants[grant].link].medium - reader->turn;
    return ahead >= 0 ? ahead : ahead + p->n_media;
}

static void offer(th_packet_network *p, int32_t grant)
{
    th_packet_reader *reader = reader_of(p, p->grants[grant].asker);
    if (reader &&
        (reader->grant < 0 || distance(p, reader, grant) < distance(p, reader, reader->grant)))
        reader->grant = grant;
}

/* Sends what was granted if its reader accepts it, else the medium tries again a cycle later. */
static int accept(th_packet_network *p, th_events *q, int32_t grant, th_time now)
{
    const th_packet_grant *c = &p->grants[grant];
    th_packet_reader *reader = reader_of(p, c->asker);
    int32_t medium = p->links[c->link].medium;
    if (reader && reader->grant != grant)
        return post(p, th_time_add(now, p->allocation_cycle_ps), TH_PACKET_RETRY, medium, 0);
    if (reader)
        reader->turn = medium + 1 < p->n_media ? medium + 1 : 0;
    return send(p, q, c, now);
}

static int send_matched(th_packet_network *p, th_events *q, th_time now)
{
    int32_t n = 0;
    while (!th_small_set_is_empty(&p->to_try))
        n += grant(p, th_small_set_take(&p->to_try), now, &p->grants[n]);
    for (int32_t i = 0; i < n; i++)
        offer(p, i);
    for (int32_t i = 0; i < n; i++)
        if (accept(p, q, i, now))
            return -1;
    for (int32_t i = 0; i < n; i++) {
        th_packet_reader *reader = reader_of(p, p->grants[i].asker);
        if (reader)
            reader->grant = -1;
    }
    return 0;
}

/* --- an instant ------------------------------------------------------------------------------- */

/* The reader of buffer is free: what it can read may go. */
static void try_fellows(th_packet_network *p, int32_t buffer)
{
    int32_t first = first_of_input(p, buffer), n = p->n_crossbar_inputs;
    for (int32_t c = th_packet_channel_of(p, buffer) % n; c < p->n_channels; c += n)
        if (p->wants[first + c] >= 0)
            th_small_set_add(&p->to_try, p->links[p->wants[first + c]].medium);
}

static int arrive(th_packet_network *p, int32_t k, th_time now)
{
    th_packet *packet = &p->packets[k];
    const th_packet_buffer *b = &p->buffers[packet->buffer];
    packet->has_arrived = true;
    enter(p, th_hop_link(p->hops.item[packet->hop]), now);
    if (b->first != k)
        return 0;
    if (p->allocation_cycle_ps > 0 && b->ready_at > now)
        return make_ready(p, packet->buffer);
    th_small_set_add(&p->arrived, packet->buffer);
    return 0;
}

/* Link has sent a packet: it is free, and so is the reader of that. */
static void free_link(th_packet_network *p, int32_t link, int32_t bytes, th_time now)
{
    int32_t medium = p->links[link].medium, reads = p->media[medium].reads;
    leave(p, link, now, bytes);
    th_small_set_add(&p->to_try, medium);
    if (reads >= 0)
        try_fellows(p, reads);
}

static int happen(th_packet_network *p, const th_happening *h, th_time now)
{
    switch ((th_packet_happening)h->kind) {
    case TH_PACKET_ARRIVES:
        return arrive(p, h->object, now);
    case TH_PACKET_HAS_GONE:
        free_link(p, h->object, h->bytes, now);
        return 0;
    case TH_PACKET_CREDIT:
        p->buffers[h->object].free_bytes += h->bytes;
        th_small_set_add(&p->to_try, p->links[th_packet_link_of(p, h->object)].medium);
        return 0;
    case TH_PACKET_READY:
        th_small_set_add(&p->arrived, h->object);
        return 0;
    case TH_PACKET_RETRY:
        th_small_set_add(&p->to_try, h->object);
        return 0;
    case TH_PACKET_INJECTS:
        if (th_grow(&p->injecting, &p->injecting_room, p->n_injecting + 1, sizeof *p->injecting))
            return -1;
        p->injecting[p->n_injecting++] =
            (th_packet_injection){p->flows[h->object].number, h->object};
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
    if (p->n_injecting > 1)
        qsort(p->injecting, p->n_injecting, sizeof *p->injecting, by_number);
    for (size_t i = 0; i < p->n_injecting; i++) {
        int32_t flow = p->injecting[i].slot;
        enter(p, first_link(p, flow), now);
        p->n_waiting++;
        ask_to_inject(p, flow);
    }
    p->n_injecting = 0;
}

static void ask_for_all(th_packet_network *p, th_time now)
{
    while (!th_small_set_is_empty(&p->arrived)) {
        int32_t buffer = th_small_set_take(&p->arrived);
        if (p->wants[buffer] < 0)
            ask(p, buffer);
    }
    inject_all(p, now);
}

static int do_instant(th_packet_network *p, th_events *q, th_time at)
{
    for (int32_t h = th_instants_take(&p->instants), next; h >= 0; h = next) {
        th_happening what = p->instants.pool[h];
        next = what.next;
        th_instants_give_back(&p->instants, h);
        if (happen(p, &what, at))
            return -1;
    }
    if (th_instants_next(&p->instants) == at) /* it has a second instant: all of it first */
        return 0;
    ask_for_all(p, at);
    while (!th_small_set_is_empty(&p->to_try))
        if (p->grants ? send_matched(p, q, at) : send_in_turn(p, q, at))
            return -1;
    return 0;
}

int th_packet_advance(th_packet_network *p, th_events *q, th_time now)
{
    for (th_time at; (at = th_instants_next(&p->instants)) <= now;)
        if (do_instant(p, q, at))
            return -1;
    return 0;
}
