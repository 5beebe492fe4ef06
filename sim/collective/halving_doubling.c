/* SPDX-License-Identifier: GPL-3.0-or-later */
/* halving_doubling.c - recursive halving and doubling: ranks whose numbers differ in one bit
 * exchange.
 *
 * Recursive halving (reduce_scatter): in round i a rank and its partner, p >> (i + 1) away, have
 * the same range of the vector and each sends the half that the other keeps. Recursive doubling
 * (all_gather) is the reverse: ranges double. all_reduce is halving followed by doubling
 * (Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, 4.2-4.4). n = 2^k ranks, S bytes, no
 * contention:
 *   reduce_scatter, all_gather   log2 n latency + (n - 1) / n S / bw
 *   all_reduce                   twice that
 * Other n: with p the largest power of two below, the first n - p even ranks send all their data to
 * their odd neighbour (fold), which represents both, and get the result from it (unfold): at most
 * 2 (latency + S / bw) more. The range of a representative holds the pieces of both.
 * barrier: dissemination (Hensgen, Finkel, Manber 1988): in round i to the rank 2^i further on,
 * ceil(log2 n) rounds for any n.
 *
 * Chunks (of the vector, or of every rank's piece) follow each other through the rounds
 * (wavefront.h). Ports: in by chunk and round, as partners may be a round ahead; out by first
 * medium (ports.c), so on a hypercube chunks use several dimensions at once. Not modelled: the time
 * of additions. */
#include <config.h>

#include "sim/collective/algorithms.h"
#include "sim/collective/ports.h"
#include "sim/collective/wavefront.h"

typedef struct halving_doubling {
    int32_t n_bits;   /* log2 of the ranks that take part in the rounds; barrier: ceil(log2 n) */
    int32_t n_folded; /* ranks that their neighbour represents */
    int32_t n_rounds;
    int32_t chunks;
    int32_t *port;      /* per rank: to the partner of each bit, then to its neighbour */
    th_wavefront order; /* its phases: the rounds, then unfolding */
} halving_doubling;

/* A message of a rank. */
typedef struct message {
    int32_t to;
    int32_t peer;       /* index in port */
    int32_t round;      /* n_rounds: fold or unfold */
    int32_t first, end; /* units that it carries; all_reduce: the 2^n_bits parts of the vector, else
                         * the pieces of ranks */
    bool reduces;
} message;

static bool is_barrier(const th_collective_schedule *cs)
{
    return cs->collective->kind == TH_BARRIER;
}

/* Number in the rounds of a rank that is not folded, and back. */
static int32_t number_of(const halving_doubling *h, int32_t rank)
{
    return rank < 2 * h->n_folded ? rank / 2 : rank - h->n_folded;
}
static int32_t rank_of(const halving_doubling *h, int32_t number)
{
    return number < h->n_folded ? 2 * number + 1 : number + h->n_folded;
}
static bool is_folded(const halving_doubling *h, int32_t rank)
{
    return rank < 2 * h->n_folded && rank % 2 == 0;
}

/* The first unit of a number: that of a representative has the pieces of two ranks. */
static int32_t first_unit(const th_collective_schedule *cs, int32_t number)
{
    const halving_doubling *h = cs->data;
    if (cs->collective->kind == TH_ALL_REDUCE)
        return number;
    return number < h->n_folded ? 2 * number : number + h->n_folded;
}

static int32_t peer(const th_collective_schedule *cs, int32_t p, int32_t k)
{
    const halving_doubling *h = cs->data;
    if (is_barrier(cs))
        return k < h->n_bits ? (int32_t)((p + ((int64_t)1 << k)) % cs->collective->n_ranks) : -1;
    if (k == h->n_bits)
        return p < 2 * h->n_folded ? p ^ 1 : -1;
    return is_folded(h, p) ? -1 : rank_of(h, number_of(h, p) ^ (1 << k));
}

/* The bit in which partners of a round differ; n_bits: the neighbour. */
static int32_t bit_of(const th_collective_schedule *cs, int32_t round)
{
    const halving_doubling *h = cs->data;
    bool halves = cs->collective->kind != TH_ALL_GATHER && round < h->n_bits;
    if (round == h->n_rounds)
        return h->n_bits;
    return halves ? h->n_bits - 1 - round : round - (h->n_rounds - h->n_bits);
}

/* Rounds whose messages leave a rank at one port are joined. 0 or -1. */
static int find_order(th_collective_schedule *cs, halving_doubling *h, th_error *err)
{
    th_wavefront *w = &h->order;
    w->lanes = 1;
    w->has_slot_before = h->n_folded > 0;
    w->n_phases = h->n_rounds + (h->n_folded > 0);
    for (int32_t i = 0; i < w->n_phases; i++)
        w->phase[i] = (th_phase){.slot = i, .rounds = 1};
    th_wavefront_begin(w);
    for (int32_t p = 0; p < cs->collective->n_ranks; p++) {
        const int32_t *port = &h->port[p * (h->n_bits + 1)];
        int32_t n = p < 2 * h->n_folded ? w->n_phases : h->n_rounds;
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < i; j++)
                if (w->phase[i].thread != w->phase[j].thread &&
                    port[bit_of(cs, i)] == port[bit_of(cs, j)])
                    th_wavefront_join(w, i, j);
    }
    return th_wavefront_init(w, h->chunks, &cs->memory, err);
}

static int prepare(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    halving_doubling *h = th_memory_take(&cs->memory, 1, sizeof *h);
    if (!h)
        return th_error_no_memory(err);
    h->n_bits = th_log2_ceil(c->n_ranks);
    if (!is_barrier(cs) && (int64_t)1 << h->n_bits > c->n_ranks)
        h->n_folded = c->n_ranks - (1 << --h->n_bits);
    h->n_rounds = c->kind == TH_ALL_REDUCE ? 2 * h->n_bits : h->n_bits;
    h->chunks = is_barrier(cs) ? 1 : th_chunks_used(c);
    cs->data = h;
    if (th_collective_schedule_set_ranks(cs, 1, h->chunks * (h->n_rounds + 1), err))
        return -1;
    h->port = th_ports_by_medium(cs, h->n_bits + 1, peer, err);
    if (!h->port || (!is_barrier(cs) && find_order(cs, h, err)))
        return -1;
    if (h->order.n_threads > 1)
        cs->n_threads = h->order.n_threads;
    return 0;
}

/* The message of a step: the exchange of a round; all data of a rank, to its representative (fold);
 * or the result, back from it (unfold). */
static void find_message(const th_collective_schedule *cs, int32_t p, int64_t step, message *m)
{
    const halving_doubling *h = cs->data;
    int32_t kind = cs->collective->kind;
    if (is_folded(h, p) || step == h->n_rounds) {
        int32_t folded = is_folded(h, p) ? p : p ^ 1;
        bool is_whole = kind == TH_ALL_REDUCE || is_folded(h, p) == (kind == TH_REDUCE_SCATTER);
        int32_t all = kind == TH_ALL_REDUCE ? 1 << h->n_bits : cs->collective->n_ranks;
        *m = (message){.to = p ^ 1, .peer = h->n_bits, .round = h->n_rounds};
        m->first = is_whole ? 0 : folded;
        m->end = is_whole ? all : folded + 1;
        m->reduces = is_folded(h, p) && kind != TH_ALL_GATHER;
        return;
    }
    int32_t round = (int32_t)step;
    bool halves = kind != TH_ALL_GATHER && round < h->n_bits;
    int32_t bit = bit_of(cs, round);
    int32_t own = number_of(h, p), other = own ^ (1 << bit);
    int32_t sent = (halves ? other : own) >> bit; /* a range of 2^bit numbers */
    *m = (message){.to = rank_of(h, other), .peer = bit, .round = round, .reduces = halves};
    m->first = first_unit(cs, sent << bit);
    m->end = first_unit(cs, (sent + 1) << bit);
}

/* Range i of a message of a chunk: units of all_reduce are pieces of the chunk, others the chunk's
 * parts of the pieces of ranks. */
static bool message_range(const th_collective_schedule *cs, int32_t chunk, const message *m,
                          int32_t i, th_range *out)
{
    const th_collective *c = cs->collective;
    const halving_doubling *h = cs->data;
    bool is_one = c->kind == TH_ALL_REDUCE || h->chunks == 1;
    if (i >= (is_one ? 1 : m->end - m->first))
        return false;
    if (c->kind == TH_ALL_REDUCE) {
        th_range all = th_range_pieces(c->bytes, chunk, chunk + 1, h->chunks);
        *out = th_range_parts(all, m->first, m->end, 1 << h->n_bits);
    } else if (is_one) {
        *out = th_range_pieces(c->bytes, m->first, m->end, c->n_ranks);
    } else {
        int32_t rank = m->first + i;
        *out =
            th_range_part(th_range_pieces(c->bytes, rank, rank + 1, c->n_ranks), chunk, h->chunks);
    }
    return true;
}

static void post(const th_collective_schedule *cs, int32_t p, int32_t chunk, const message *m,
                 th_collective_step *out)
{
    const halving_doubling *h = cs->data;
    th_range what = {0, 0}, next;
    for (int32_t i = 0; !is_barrier(cs) && message_range(cs, chunk, m, i, &next); i++)
        th_range_add(&what, next);
    th_collective_step_send(out, h->port[p * (h->n_bits + 1) + m->peer], m->to,
                            chunk * (h->n_rounds + 1) + m->round, what);
    out->reduces = m->reduces;
}

static bool disseminate(const th_collective_schedule *cs, int32_t p, int64_t step,
                        th_collective_step *out)
{
    const halving_doubling *h = cs->data;
    int32_t round = (int32_t)step;
    if (step >= h->n_rounds)
        return false;
    out->wait_port = round - 1;
    out->wait_count = round > 0;
    post(cs, p, 0, &(message){.to = peer(cs, p, round), .peer = round, .round = round}, out);
    return true;
}

/* The chunk and round of a step: a folded rank sends all of its chunks. False: no such step. */
static bool find_wave(const th_collective_schedule *cs, int32_t p, int32_t thread, int64_t step,
                      th_wave *out)
{
    const halving_doubling *h = cs->data;
    if (!is_folded(h, p))
        return th_wavefront_at(&h->order, thread, step, out);
    *out = (th_wave){.chunk = (int32_t)step};
    return thread == 0 && step < h->chunks;
}

/* A round waits for the message of the one before; the first, of a representative, for all data of
 * its neighbour, which gets the result in the last. */
static bool get_step(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                     int64_t step, th_collective_step *out)
{
    const halving_doubling *h = cs->data;
    message m;
    th_wave w;
    *out = TH_COLLECTIVE_STEP_NONE;
    if (is_barrier(cs))
        return disseminate(cs, participant, step, out);
    bool folded = is_folded(h, participant), has_neighbour = participant < 2 * h->n_folded;
    if (!find_wave(cs, participant, thread, step, &w))
        return false;
    if (w.phase == h->n_rounds && !has_neighbour)
        return true;
    int32_t from = w.phase - 1 + (w.round < 0 ? w.round : 0);
    if (!folded && (from >= 0 || has_neighbour)) {
        out->wait_port = w.chunk * (h->n_rounds + 1) + (from >= 0 ? from : h->n_rounds);
        out->wait_count = 1;
    }
    if (w.round < 0)
        return true;
    find_message(cs, participant, w.phase, &m);
    post(cs, participant, w.chunk, &m, out);
    return true;
}

static bool range(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                  int64_t step, int32_t i, th_range *out)
{
    message m;
    th_wave w;
    if (is_barrier(cs) || !find_wave(cs, participant, thread, step, &w) || w.round < 0)
        return false;
    find_message(cs, participant, w.phase, &m);
    return message_range(cs, w.chunk, &m, i, out);
}

const th_algorithm th_algorithm_halving_doubling = {
    .name = "halving_doubling",
    .synopsis = "partners at distances of powers of two",
    .kinds = 1u << TH_ALL_REDUCE | 1u << TH_REDUCE_SCATTER | 1u << TH_ALL_GATHER | 1u << TH_BARRIER,
    .prepare = prepare,
    .get_step = get_step,
    .range = range,
};
