/* SPDX-License-Identifier: GPL-3.0-or-later */
/* algorithm.c - one rank's part in one phase of a chunk, packet by packet.
 *   start -> (bundle | received)* -> th_chunks_next_phase
 *
 * A packet is one message to send and one to receive. Before it is sent, its data move to the
 * network in a bundle, which takes the endpoint delay; those of a message that was received and is
 * to be reduced take 3 floor(m / local_mem_bw) more. Every message that is received makes the next
 * packet; the last packets are not sent any more, their bundles end the phase.
 *
 *   ring     one packet at a time: 2 (n - 1) messages of size / n for an all-reduce, n - 1 for
 *            reduce-scatter and all-gather, n (n - 1) / 2 for an all-to-all
 *   direct   n - 1 packets at a time (or as many as its window), each to the next rank round the
 *            ring; the second half of an all-reduce waits until the first has been received
 *   halving and doubling   partners at distance 1, 2, 4 ... and messages of size / 2, / 4 ..., then
 *            back; an all-gather begins at n / 2 */
#include <config.h>
#include "sim/network/astra/trace_replay_state.h"

#include "sim/collective/collective.h"
#include "sim/network/astra/astra_message.h"

/* To read the data, to read those it is added to, and to write the sum. */
enum { MEMORY_PASSES = 3 };
enum { GROUP_DELAY_NS = 10 }; /* of groups smaller than the system, whatever system.json says */

static bool is_direct(const th_phase *p)
{
    return p->implementation == TH_ASTRA_DIRECT || p->implementation == TH_ASTRA_ONE_DIRECT;
}

static bool is_halving(const th_phase *p)
{
    return p->implementation == TH_ASTRA_HALVING_DOUBLING ||
           p->implementation == TH_ASTRA_ONE_HALVING_DOUBLING;
}

int64_t th_algorithm_final_bytes(const th_phase *p)
{
    switch (p->kind) {
    case TH_ASTRA_ALL_GATHER:
        return th_astra_multiply(p->bytes, p->ring.n);
    case TH_ASTRA_REDUCE_SCATTER:
        return p->bytes / p->ring.n;
    case TH_ASTRA_ALL_REDUCE:
    case TH_ASTRA_ALL_TO_ALL:
    case TH_ASTRA_N_COLLECTIVES:
        break;
    }
    return p->bytes;
}

static int32_t rank_at(const th_logical_ring *r, int32_t place)
{
    return r->members ? r->members[place] : r->base + place * r->stride;
}

static int32_t step(const th_logical_ring *r, int32_t place, bool is_upwards)
{
    return th_wrap(place + (is_upwards ? 1 : -1), r->n);
}

/* ---- begin ---- */

static int32_t log2_of(int32_t n)
{
    int32_t log = 0;
    while (n > 1) {
        n >>= 1;
        log++;
    }
    return log;
}

/* The partner of halving and doubling: offset places up, or down from the second of a pair. */
static void find_partner(const th_logical_ring *r, th_algorithm_state *a)
{
    bool is_upwards = a->offset == 0 || r->self / a->offset % 2 == 0;
    a->to = r->self;
    for (int32_t i = 0; i < a->offset; i++)
        a->to = a->from = step(r, a->to, is_upwards);
}

static th_algorithm_state begin_halving(const th_phase *p)
{
    int32_t log = log2_of(p->ring.n);
    bool gathers = p->kind == TH_ASTRA_ALL_GATHER;
    th_algorithm_state a = {.message_bytes = gathers ? p->bytes : p->bytes / 2,
                            .n_left = p->kind == TH_ASTRA_ALL_REDUCE ? 2 * log : log,
                            .n_parallel = 1,
                            .to = p->ring.self,
                            .from = p->ring.self,
                            .offset = gathers ? p->ring.n / 2 : 1,
                            .factor = gathers ? 0.5 : 2};
    find_partner(&p->ring, &a);
    return a;
}

static th_algorithm_state begin_ring(const th_phase *p)
{
    int64_t n = p->ring.n;
    th_algorithm_state a = {.message_bytes =
                                p->kind == TH_ASTRA_ALL_GATHER ? p->bytes : p->bytes / n,
                            .n_left = p->kind == TH_ASTRA_ALL_REDUCE ? 2 * (n - 1) : n - 1,
                            .n_parallel = 1,
                            .to = step(&p->ring, p->ring.self, p->is_upwards),
                            .from = step(&p->ring, p->ring.self, !p->is_upwards)};
    if (p->kind == TH_ASTRA_ALL_TO_ALL && !is_direct(p))
        a.n_left = n * (n - 1) / 2;
    if (is_direct(p))
        a.n_parallel = p->window > 0 && p->window < n - 1 ? p->window : (int32_t)n - 1;
    return a;
}

static th_algorithm_state begin(const th_phase *p)
{
    return is_halving(p) ? begin_halving(p) : begin_ring(p);
}

int64_t th_algorithm_messages(const th_phase *p)
{
    return begin(p).n_left;
}

static int64_t reduction_ns(const th_replay_state *s, int64_t bytes)
{
    return th_astra_multiply(MEMORY_PASSES,
                             th_astra_floor((double)bytes / s->astra->local_mem_gb_per_s));
}

/* (steps + 1) delays, steps messages, n - 1 reductions where it reduces. */
int64_t th_algorithm_ring_ns(const th_replay_state *s, const th_phase *p)
{
    th_algorithm_state a = begin_ring(p);
    bool reduces = p->kind == TH_ASTRA_ALL_REDUCE || p->kind == TH_ASTRA_REDUCE_SCATTER;
    int64_t message_ns =
        th_astra_message_ns(&s->astra->dims[p->dim], s->is_aware, 0, 1, a.message_bytes);
    int64_t ns = th_astra_add(th_astra_multiply(a.n_left + 1, s->astra->endpoint_delay_ns),
                              th_astra_multiply(a.n_left, message_ns));
    return reduces ? th_astra_add(
                         ns, th_astra_multiply(p->ring.n - 1, reduction_ns(s, a.message_bytes)))
                   : ns;
}

/* ---- packets ---- */

static void move_bundle(th_replay_state *s, int32_t chunk, bool is_reduced, int64_t bytes)
{
    const th_chunk *c = th_chunk_of(s, chunk);
    int32_t bundle = th_replay_add(s, &s->bundles, &(th_bundle){0, chunk, is_reduced, bytes});
    if (bundle >= 0)
        th_call_after(s, c->rank,
                      th_phase_of(s, c)->is_in_group ? GROUP_DELAY_NS : s->astra->endpoint_delay_ns,
                      TH_CALL_BUNDLE, bundle);
}

/* Packets of a round that are made of received messages. */
static int64_t rest_of_round(const th_phase *p, const th_algorithm_state *a)
{
    if (is_halving(p))
        return log2_of(p->ring.n) - 1;
    if (is_direct(p) && !p->is_in_group)
        return a->n_parallel;
    return (int64_t)(p->ring.n - 1) * a->n_parallel;
}

static int32_t step_over_self(const th_logical_ring *r, int32_t place, bool is_upwards)
{
    place = step(r, place, is_upwards);
    return place == r->self ? step(r, place, is_upwards) : place;
}

/* Who is next, after a packet. */
static void advance(const th_phase *p, th_algorithm_state *a)
{
    if (is_direct(p)) {
        a->to = step_over_self(&p->ring, a->to, p->is_upwards);
        a->from = step_over_self(&p->ring, a->from, !p->is_upwards);
    }
    if (!is_halving(p))
        return;
    a->offset = (int32_t)(a->offset * a->factor);
    a->message_bytes = (int64_t)((double)a->message_bytes / a->factor);
    if (a->offset == p->ring.n && p->kind == TH_ASTRA_ALL_REDUCE) {
        a->factor = 0.5;
        a->offset = (int32_t)(a->offset * a->factor);
        a->message_bytes = (int64_t)((double)a->message_bytes / a->factor);
    }
    find_partner(&p->ring, a);
}

static void add_packet(th_replay_state *s, int32_t chunk)
{
    th_chunk *c = th_chunk_of(s, chunk);
    const th_phase *p = th_phase_of(s, c);
    th_algorithm_state *a = &c->algorithm;
    if (a->in_first == 0 && a->in_rest == 0) {
        a->in_first = a->n_parallel;
        a->in_rest = rest_of_round(p, a);
        a->is_odd_round = !a->is_odd_round;
    }
    bool is_first = a->in_first > 0;
    bool is_reduced = !is_first && (p->kind == TH_ASTRA_REDUCE_SCATTER ||
                                    (p->kind == TH_ASTRA_ALL_REDUCE && a->is_odd_round));
    th_replay_push(
        s, &a->packets, &s->packets,
        &(th_packet){0, rank_at(&p->ring, a->to), rank_at(&p->ring, a->from), a->message_bytes});
    move_bundle(s, chunk, is_reduced, a->message_bytes);
    advance(p, a);
    *(is_first ? &a->in_first : &a->in_rest) -= 1;
}

/* Sends the first packet that waits, if its data are there. */
static void send_packet(th_replay_state *s, int32_t chunk)
{
    th_chunk *c = th_chunk_of(s, chunk);
    th_algorithm_state *a = &c->algorithm;
    th_packet packet;
    if (a->n_left == 0 || a->n_free == 0 || !th_fifo_take(&a->packets, &s->packets, &packet))
        return;
    th_wire_key key = {.bytes = packet.bytes,
                       .tag = c->tag,
                       .from = c->rank,
                       .to = packet.to,
                       .tag_class = TH_TAG_COLLECTIVE};
    th_wire_receive mine = {.rank = c->rank, .node = -1, .chunk = chunk};
    a->n_left--;
    a->n_free--;
    th_wire_send(s, &key, -1);
    if (!s->is_one_for_all) {
        key.from = packet.from;
        key.to = mine.rank;
    }
    th_wire_receive_message(s, &key, &mine);
}

static void end_if_done(th_replay_state *s, int32_t chunk)
{
    th_algorithm_state *a = &th_chunk_of(s, chunk)->algorithm;
    if (a->n_left > 0 || a->n_free != a->n_parallel)
        return;
    th_packet packet;
    while (th_fifo_take(&a->packets, &s->packets, &packet))
        continue;
    th_chunks_next_phase(s, chunk);
}

/* ---- events ---- */

void th_algorithm_start(th_replay_state *s, int32_t chunk)
{
    th_chunk *c = th_chunk_of(s, chunk);
    const th_phase *p = th_phase_of(s, c);
    c->algorithm = begin(p);
    int32_t n = c->algorithm.n_parallel;
    for (int32_t i = 0; i < n && !s->failed; i++)
        add_packet(s, chunk);
}

void th_algorithm_received(th_replay_state *s, int32_t chunk)
{
    th_chunk_of(s, chunk)->algorithm.n_received++;
    add_packet(s, chunk);
}

static void data_are_there(th_replay_state *s, int32_t chunk)
{
    const th_phase *p = th_phase_of(s, th_chunk_of(s, chunk));
    th_algorithm_state *a = &th_chunk_of(s, chunk)->algorithm;
    int64_t half = p->ring.n - 1;
    int32_t n = 1;
    a->n_free++;
    if (is_direct(p) && p->kind == TH_ASTRA_ALL_REDUCE && a->n_left <= half) {
        if (a->n_received < half)
            return;
        n = a->n_parallel;
    }
    for (int32_t i = 0; i < n && !s->failed; i++)
        send_packet(s, chunk);
    end_if_done(s, chunk);
}

void th_algorithm_bundle(th_replay_state *s, int32_t bundle)
{
    th_bundle *b = th_pool_at(&s->bundles, bundle);
    int32_t chunk = b->chunk;
    if (b->is_reduced) {
        b->is_reduced = false;
        th_call_after(s, th_chunk_of(s, chunk)->rank, reduction_ns(s, b->bytes), TH_CALL_BUNDLE,
                      bundle);
        return;
    }
    th_pool_give(&s->bundles, bundle);
    data_are_there(s, chunk);
}
