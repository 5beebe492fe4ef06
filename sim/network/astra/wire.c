/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wire.c - messages between ranks.
 *   send -> (arrival at the next node)* -> the sender is told, and the receive if one waits
 *
 * Congestion-unaware: a message arrives after one delay, by the first dimension in which its
 * ends differ. Congestion-aware: store and forward over links, each of which takes
 * floor(latency + m / bw) to deliver and is busy for floor(m / bw); messages wait in the
 * order in which they came. The k-th message of a key (tag, ends, size) meets the k-th receive
 * of it: both take the same way, so they arrive in order. A receive that is later than its
 * message is told in an event of its own at the same time.
 *
 * Where one rank stands for all, all links of a dimension that lead to the same distance are one:
 * what a rank sends up there, comes to it from below. */
#include <config.h>
#include "sim/network/astra/trace_replay_state.h"

#include "sim/collective/collective.h"
#include "sim/network/astra/astra_message.h"

static th_wire_message *message_at(const th_replay_state *s, int32_t i)
{
    return th_pool_at(&s->messages, i);
}

static th_wire_match *match_at(const th_replay_state *s, int32_t i)
{
    return th_pool_at(&s->matches, i);
}

/* ---- links ---- */

/* Of a node along a dimension: up and down a ring, to and from a switch, to each distance. */
static int32_t links_along(const th_astra_dim *dim)
{
    return dim->kind == TH_TOPOLOGY_DIM_FULL ? dim->size : 2;
}

static int32_t links_of_node(const th_replay_state *s)
{
    int32_t n = 0;
    for (int d = 0; d < s->n_dims; d++)
        n += links_along(&s->astra->dims[d]);
    return n;
}

int th_wire_new(th_replay_state *s)
{
    s->keys = th_map_new();
    if (s->is_aware)
        s->links = th_alloc_zero((size_t)links_of_node(s) * (size_t)s->n_ranks, sizeof *s->links);
    return s->keys && (s->links || !s->is_aware) ? 0 : -1;
}

void th_wire_free(th_replay_state *s)
{
    th_map_free(s->keys);
    th_free(s->links);
}

/* Moves a message to the end of its next link, which it returns. */
static int32_t take_link(const th_replay_state *s, th_wire_message *m)
{
    int32_t stride, link = 0, node = m->at;
    int d = th_astra_dim_between(s->astra, m->at, m->to, &stride);
    const th_astra_dim *dim = &s->astra->dims[d];
    for (int i = 0; i < d; i++)
        link += links_along(&s->astra->dims[i]);
    int32_t here = m->at / stride % dim->size, to = m->to / stride % dim->size;
    int32_t upwards = th_wrap(to - m->from / stride % dim->size, dim->size);
    bool is_upwards = upwards <= dim->size - upwards;
    if (dim->kind == TH_TOPOLOGY_DIM_RING) {
        link += !is_upwards;
        to = th_wrap(here + (is_upwards ? 1 : -1), dim->size);
    } else if (dim->kind == TH_TOPOLOGY_DIM_SWITCH) {
        m->is_in_switch = !m->is_in_switch;
        link += !m->is_in_switch;
        to = m->is_in_switch ? here : to;
    } else {
        link += upwards;
    }
    m->at += (to - here) * stride;
    if (dim->kind == TH_TOPOLOGY_DIM_SWITCH)
        node = m->at;
    m->dim = d;
    return (s->is_one_for_all ? 0 : node * links_of_node(s)) + link;
}

static void transmit(th_replay_state *s, int32_t message)
{
    const th_wire_message *m = message_at(s, message);
    const th_astra_dim *dim = &s->astra->dims[m->dim];
    int32_t link = m->link;
    int64_t busy_ns = th_astra_serialization_ns(dim, m->bytes);
    s->links[link].is_busy = true;
    th_at(s, th_astra_hop_ns(dim, m->bytes), TH_AT_ARRIVAL, message);
    th_at(s, busy_ns, TH_AT_LINK, link);
}

static void forward(th_replay_state *s, int32_t message)
{
    th_wire_message *m = message_at(s, message);
    m->link = take_link(s, m);
    if (s->links[m->link].is_busy)
        th_fifo_push(&s->links[m->link].waiting, &s->messages, message);
    else
        transmit(s, message);
}

void th_wire_link_free(th_replay_state *s, int32_t link)
{
    int32_t message = th_fifo_pop(&s->links[link].waiting, &s->messages);
    s->links[link].is_busy = false;
    if (message >= 0)
        transmit(s, message);
}

/* ---- matching ---- */

static int32_t match_of(th_replay_state *s, const th_wire_key *key)
{
    int64_t found;
    if (th_map_get(s->keys, key, sizeof *key, &found))
        return (int32_t)found;
    int32_t fresh = th_replay_add(s, &s->matches, &(th_wire_match){.n_arrived = 0});
    if (fresh >= 0 && th_map_put(s->keys, key, sizeof *key, fresh)) {
        s->failed = true;
        return -1;
    }
    return fresh;
}

/* Without congestion: the first dimension in which the ends differ is the only one. */
static int64_t unaware_ns(const th_replay_state *s, const th_wire_key *key)
{
    int32_t stride;
    const th_astra_dim *dim =
        &s->astra->dims[th_astra_dim_between(s->astra, key->from, key->to, &stride)];
    return th_astra_message_ns(dim, false, key->from / stride % dim->size,
                               key->to / stride % dim->size, key->bytes);
}

void th_wire_send(th_replay_state *s, const th_wire_key *key, int32_t sender)
{
    th_wire_message m = {.from = key->from,
                         .to = key->to,
                         .at = s->is_aware ? key->from : key->to,
                         .sender = sender,
                         .match = match_of(s, key),
                         .bytes = key->bytes};
    int32_t message = th_replay_add(s, &s->messages, &m);
    if (m.match < 0 || message < 0)
        return;
    if (s->is_aware)
        forward(s, message);
    else
        th_at(s, unaware_ns(s, key), TH_AT_ARRIVAL, message);
}

void th_wire_deliver(th_replay_state *s, int32_t receive)
{
    th_wire_receive r = *(th_wire_receive *)th_pool_at(&s->receives, receive);
    th_pool_give(&s->receives, receive);
    if (r.node >= 0)
        th_units_done(s, r.rank, r.node);
    else
        th_algorithm_received(s, r.chunk);
}

void th_wire_arrival(th_replay_state *s, int32_t message)
{
    th_wire_message m = *message_at(s, message);
    if (m.at != m.to || m.is_in_switch) {
        forward(s, message);
        return;
    }
    th_pool_give(&s->messages, message);
    int32_t receive = th_fifo_pop(&match_at(s, m.match)->waiting, &s->receives);
    if (m.sender >= 0)
        th_units_done(s, m.from, m.sender);
    if (receive >= 0)
        th_wire_deliver(s, receive);
    else
        match_at(s, m.match)->n_arrived++;
}

void th_wire_receive_message(th_replay_state *s, const th_wire_key *key,
                             const th_wire_receive *what)
{
    int32_t match = match_of(s, key), number = th_replay_add(s, &s->receives, what);
    if (match < 0 || number < 0)
        return;
    th_wire_match *m = match_at(s, match);
    if (m->n_arrived == 0) {
        th_fifo_push(&m->waiting, &s->receives, number);
        return;
    }
    m->n_arrived--;
    th_at(s, 0, TH_AT_RECEIVE, number);
}
