/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wire.c - messages between ranks.
 *   send -> (arrival at the next node)* -> the sender is told, and the receive if one waits
 *
 * Congestion-unaware: a message arrives after one delay, by the first dimension in which its
 * ends differ. Congestion-aware (one dimension): store and forward over links, each of which
 * takes floor(latency + m / bw) to deliver and is busy for floor(m / bw); messages wait in the
 * order in which they came. The k-th message of a key (tag, ends, size) meets the k-th receive
 * of it: both take the same way, so they arrive in order. A receive that is later than its
 * message is told in an event of its own at the same time. */
#include <config.h>
#include "sim/astra/trace_replay_state.h"

#include "sim/collective/collective.h"
#include "sim/network/astra/astra_message.h"

static th_wire_message *message_at(const th_replay_state *s, int32_t i)
{
    return th_pool_at(&s->messages, i, sizeof(th_wire_message));
}

static th_wire_receive *receive_at(const th_replay_state *s, int32_t i)
{
    return th_pool_at(&s->receives, i, sizeof(th_wire_receive));
}

static th_wire_match *match_at(const th_replay_state *s, int32_t i)
{
    return th_pool_at(&s->matches, i, sizeof(th_wire_match));
}

/* ---- links ---- */

static int64_t n_links(const th_replay_state *s)
{
    int64_t n = s->n_ranks;
    return s->astra->dims[0].kind == TH_TOPOLOGY_DIM_FULL ? n * n : 2 * n;
}

int th_wire_new(th_replay_state *s)
{
    s->keys = th_map_new();
    if (!s->keys)
        return -1;
    if (!s->is_aware)
        return 0;
    s->links = th_alloc_array((size_t)n_links(s), sizeof *s->links);
    for (int64_t i = 0; s->links && i < n_links(s); i++)
        s->links[i] = (th_wire_link){false, -1, -1};
    return s->links ? 0 : -1;
}

void th_wire_free(th_replay_state *s)
{
    th_map_free(s->keys);
    th_free(s->links);
    th_free(s->matches.items);
    th_free(s->messages.items);
    th_free(s->receives.items);
}

/* The next link of a message, and the node at its end; a switch is node n. */
static int32_t next_link(const th_replay_state *s, const th_wire_message *m, int32_t *to)
{
    int32_t n = s->n_ranks, clockwise = (m->to - m->from + n) % n;
    bool is_clockwise = clockwise <= n - clockwise;
    *to = m->to;
    switch (s->astra->dims[0].kind) {
    case TH_TOPOLOGY_DIM_RING:
        *to = th_wrap(m->at + (is_clockwise ? 1 : -1), n);
        return 2 * m->at + !is_clockwise;
    case TH_TOPOLOGY_DIM_SWITCH:
        if (m->at == n)
            return n + m->to;
        *to = n;
        return m->at;
    case TH_TOPOLOGY_DIM_FULL:
    case TH_TOPOLOGY_DIM_LINE: /* ASTRA-sim has none */
        break;
    }
    return m->at * n + m->to;
}

static void transmit(th_replay_state *s, int32_t message)
{
    const th_wire_message *m = message_at(s, message);
    const th_astra_dim *dim = &s->astra->dims[0];
    int32_t link = m->link;
    int64_t busy_ns = th_astra_serialization_ns(dim, m->bytes);
    s->links[link].is_busy = true;
    th_at(s, th_astra_hop_ns(dim, m->bytes), TH_AT_ARRIVAL, message);
    th_at(s, busy_ns, TH_AT_LINK, link);
}

static void forward(th_replay_state *s, int32_t message)
{
    th_wire_message *m = message_at(s, message);
    int32_t to;
    m->link = next_link(s, m, &to);
    m->at = to;
    m->next = -1;
    th_wire_link *l = &s->links[m->link];
    if (!l->is_busy) {
        transmit(s, message);
        return;
    }
    if (l->last < 0)
        l->first = message;
    else
        message_at(s, l->last)->next = message;
    l->last = message;
}

void th_wire_link_free(th_replay_state *s, int32_t link)
{
    th_wire_link *l = &s->links[link];
    int32_t message = l->first;
    l->is_busy = false;
    if (message < 0)
        return;
    l->first = message_at(s, message)->next;
    if (l->first < 0)
        l->last = -1;
    transmit(s, message);
}

/* ---- matching ---- */

static int32_t match_of(th_replay_state *s, const th_wire_key *key)
{
    int64_t found;
    if (th_map_get(s->keys, key, sizeof *key, &found))
        return (int32_t)found;
    int32_t fresh = th_pool_take(&s->matches, sizeof(th_wire_match));
    if (fresh < 0 || th_map_put(s->keys, key, sizeof *key, fresh)) {
        s->failed = true;
        return -1;
    }
    *match_at(s, fresh) = (th_wire_match){0, -1, -1};
    return fresh;
}

/* Without congestion: the first dimension in which the ends differ is the only one. */
static int64_t unaware_ns(const th_replay_state *s, const th_wire_key *key)
{
    int32_t from = key->from, to = key->to;
    const th_astra_dim *dim = s->astra->dims;
    for (; dim < &s->astra->dims[s->n_dims - 1] && from % dim->size == to % dim->size; dim++) {
        from /= dim->size;
        to /= dim->size;
    }
    return th_astra_message_ns(dim, false, from % dim->size, to % dim->size, key->bytes);
}

void th_wire_send(th_replay_state *s, const th_wire_key *key, int32_t sender)
{
    int32_t match = match_of(s, key);
    int32_t message = th_pool_take(&s->messages, sizeof(th_wire_message));
    if (match < 0 || message < 0) {
        s->failed = true;
        return;
    }
    *message_at(s, message) = (th_wire_message){
        -1, key->from, key->to, s->is_aware ? key->from : key->to, sender, match, -1, key->bytes};
    if (s->is_aware)
        forward(s, message);
    else
        th_at(s, unaware_ns(s, key), TH_AT_ARRIVAL, message);
}

void th_wire_deliver(th_replay_state *s, int32_t receive)
{
    th_wire_receive r = *receive_at(s, receive);
    th_pool_give(&s->receives, receive, sizeof r);
    if (r.node >= 0)
        th_units_done(s, r.rank, r.node);
    else
        th_algorithm_received(s, r.chunk);
}

void th_wire_arrival(th_replay_state *s, int32_t message)
{
    th_wire_message m = *message_at(s, message);
    if (m.at != m.to) {
        forward(s, message);
        return;
    }
    th_pool_give(&s->messages, message, sizeof m);
    bool is_awaited = match_at(s, m.match)->first >= 0;
    if (m.sender >= 0)
        th_units_done(s, m.from, m.sender);
    th_wire_match *match = match_at(s, m.match);
    if (!is_awaited) {
        match->n_arrived++;
        return;
    }
    int32_t receive = match->first;
    match->first = receive_at(s, receive)->next;
    if (match->first < 0)
        match->last = -1;
    th_wire_deliver(s, receive);
}

static void receive(th_replay_state *s, const th_wire_key *key, const th_wire_receive *what)
{
    int32_t match = match_of(s, key);
    int32_t number = th_pool_take(&s->receives, sizeof(th_wire_receive));
    if (match < 0 || number < 0) {
        s->failed = true;
        return;
    }
    th_wire_match *m = match_at(s, match);
    *receive_at(s, number) = *what;
    if (m->n_arrived > 0) {
        m->n_arrived--;
        th_at(s, 0, TH_AT_RECEIVE, number);
        return;
    }
    if (m->last < 0)
        m->first = number;
    else
        receive_at(s, m->last)->next = number;
    m->last = number;
}

void th_wire_receive_node(th_replay_state *s, const th_wire_key *key, int32_t node)
{
    receive(s, key, &(th_wire_receive){-1, key->to, node, -1});
}

void th_wire_receive_chunk(th_replay_state *s, const th_wire_key *key, int32_t chunk)
{
    receive(s, key, &(th_wire_receive){-1, key->to, -1, chunk});
}
