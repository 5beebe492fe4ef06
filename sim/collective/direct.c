/* SPDX-License-Identifier: GPL-3.0-or-later */
/* direct.c - every rank sends directly to every rank that needs its data: `direct` all messages at
 * once, `pairwise` one after the other.
 *
 * Rank i sends to i + 1, i + 2, ... in this order (rotation), so in pairwise no two ranks send to
 * the same one at a time as long as all are equally fast. Sends do not wait for receives.
 * all_reduce is a reduce_scatter followed by an all_gather: a rank sends its piece once all n - 1
 * contributions have arrived.
 *
 * On a crossbar whose ports have bandwidth bw in each direction and latency L, with S divisible by
 * n:
 *   all_to_all, all_gather,   direct    (n - 1) S/(n bw) + L
 *   reduce_scatter            pairwise  (n - 1) (S/(n bw) + L)
 *   all_reduce                twice that
 *   broadcast                 direct    (n - 1) S/bw + L
 *                             pairwise  (n - 1) (S/bw + L)
 *
 * Chunks are ignored: no data are forwarded. Not modelled: buffers of a rank that many send to. */
#include <config.h>

#include "sim/collective/algorithms.h"

/* Sets data, for uneven sizes: the position of each pair's bytes in the matrix of all pairs. */
static int index_pairs(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    size_t pairs = (size_t)c->n_ranks * (size_t)c->n_ranks;
    int64_t *first = th_memory_take(&cs->memory, pairs, sizeof *first), sum = 0;
    if (!first)
        return th_error_no_memory(err);
    for (size_t i = 0; i < pairs; i++) {
        first[i] = sum;
        sum += c->pair_bytes[i];
    }
    cs->data = first;
    return 0;
}

static bool is_pairwise(const th_collective_schedule *cs)
{
    return cs->algorithm == &th_algorithm_pairwise;
}

/* Messages arrive at port 0, in the second phase of all_reduce at port 1. Pairwise sends at the
 * same ports; direct sends each message at a port of its own. */
static int prepare(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    int64_t phases = c->kind == TH_ALL_REDUCE ? 2 : 1;
    int64_t ports = is_pairwise(cs) ? phases : phases * (c->n_ranks - 1);
    if (ports > INT32_MAX)
        ports = INT32_MAX;
    if (c->pair_bytes && index_pairs(cs, err))
        return -1;
    return th_collective_schedule_set_ranks(cs, 1, (int32_t)(ports > phases ? ports : phases), err);
}

static th_range pair(const th_collective_schedule *cs, int32_t from, int32_t to)
{
    const th_collective *c = cs->collective;
    const int64_t *first = cs->data;
    int64_t i = (int64_t)from * c->n_ranks + to;
    return first ? (th_range){first[i], c->pair_bytes[i]} : th_pair_range(c, from, to);
}

/* The data from one rank to another. */
static th_range what(const th_collective_schedule *cs, int32_t kind, int32_t from, int32_t to)
{
    const th_collective *c = cs->collective;
    const int32_t n = c->n_ranks;
    switch ((th_collective_kind)kind) {
    case TH_ALL_REDUCE:
    case TH_REDUCE_SCATTER:
    case TH_SCATTER:
        return th_range_pieces(c->bytes, to, to + 1, n);
    case TH_ALL_GATHER:
    case TH_GATHER:
        return th_range_pieces(c->bytes, from, from + 1, n);
    case TH_ALL_TO_ALL:
        return pair(cs, from, to);
    case TH_BROADCAST:
    case TH_REDUCE:
    case TH_SEND_RECV:
        return (th_range){0, c->bytes};
    case TH_BARRIER:
    case TH_USER_SCHEDULE:
    case TH_N_COLLECTIVES:
        break;
    }
    return (th_range){0, 0};
}

/* The rank that this rank sends to in its step s of a phase; -1: it has no such step. */
static int32_t receiver(const th_collective *c, int32_t rank, int64_t s)
{
    bool to_root = c->kind == TH_GATHER || c->kind == TH_REDUCE;
    bool from_root = c->kind == TH_BROADCAST || c->kind == TH_SCATTER;
    if (c->kind == TH_SEND_RECV)
        return rank == 0 && s == 0 ? 1 : -1;
    if (to_root)
        return rank != c->root && s == 0 ? c->root : -1;
    if (s >= c->n_ranks - 1 || (from_root && rank != c->root))
        return -1;
    return th_wrap(rank + 1 + (int32_t)s, c->n_ranks);
}

static bool get_step(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                     int64_t step, th_collective_step *out)
{
    const th_collective *c = cs->collective;
    int32_t others = c->n_ranks - 1, phase = c->kind == TH_ALL_REDUCE && step >= others;
    int64_t s = phase ? step - others : step;
    int32_t to = receiver(c, participant, s);
    (void)thread;
    *out = TH_COLLECTIVE_STEP_NONE;
    if (to < 0)
        return false;
    if (phase == 1 && s == 0) {
        out->wait_port = 0;
        out->wait_count = others;
    }
    int32_t port = is_pairwise(cs) ? phase : phase * others + (int32_t)s;
    th_collective_step_send(out, port, to, phase,
                            what(cs, phase ? TH_ALL_GATHER : c->kind, participant, to));
    out->reduces = phase == 0 && (c->kind == TH_ALL_REDUCE || c->kind == TH_REDUCE_SCATTER ||
                                  c->kind == TH_REDUCE);
    return true;
}

const th_algorithm th_algorithm_direct = {
    .name = "direct",
    .synopsis = "each rank sends directly to all others, all messages at once",
    .kinds = 1u << TH_ALL_REDUCE | 1u << TH_ALL_GATHER | 1u << TH_REDUCE_SCATTER |
             1u << TH_ALL_TO_ALL | 1u << TH_BROADCAST | 1u << TH_REDUCE | 1u << TH_GATHER |
             1u << TH_SCATTER | 1u << TH_BARRIER | 1u << TH_SEND_RECV,
    .prepare = prepare,
    .get_step = get_step,
};

const th_algorithm th_algorithm_pairwise = {
    .name = "pairwise",
    .synopsis = "each rank sends directly to all others, one message after the other, rotated",
    .kinds = 1u << TH_ALL_REDUCE | 1u << TH_ALL_GATHER | 1u << TH_REDUCE_SCATTER |
             1u << TH_ALL_TO_ALL | 1u << TH_BROADCAST | 1u << TH_SCATTER,
    .prepare = prepare,
    .get_step = get_step,
};
