/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bruck.c - Bruck's algorithm: ceil(log2 n) rounds for any n, for messages that latency dominates.
 *
 * all_gather: in round k rank i sends the pieces i, i + 1, ... that it has, min(2^k, n - 2^k) of
 * them, to rank i - 2^k. all_to_all: data for the rank o further on move 2^k ranks in round k if
 * bit k of o is set. (Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997, 1143-1156.) On
 * equal links without contention, n = 2^k, S divisible by n:
 *   all_gather   log2 n latency + (n - 1) / n S / bw
 *   all_to_all   log2 n (latency + S / (2 bw))
 * Chunks are ignored. Ports: in by round, as partners may be a round ahead; out by first medium
 * (ports.c). Not modelled: the time of rearranging pieces. */
#include <config.h>

#include "sim/collective/algorithms.h"
#include "sim/collective/ports.h"

typedef struct bruck {
    int32_t n_rounds;
    int32_t *port; /* per rank and round */
} bruck;

static int32_t peer(const th_collective_schedule *cs, int32_t p, int32_t k)
{
    int32_t hops = 1 << k, n = cs->collective->n_ranks;
    return th_wrap(cs->collective->kind == TH_ALL_GATHER ? p - hops : p + hops, n);
}

static int prepare(th_collective_schedule *cs, th_error *err)
{
    bruck *b = th_memory_take(&cs->memory, 1, sizeof *b);
    if (!b)
        return th_error_no_memory(err);
    cs->data = b;
    b->n_rounds = th_log2_ceil(cs->collective->n_ranks);
    if (th_collective_schedule_set_ranks(cs, 1, b->n_rounds + 1, err))
        return -1;
    b->port = th_ports_by_medium(cs, b->n_rounds, peer, err);
    return b->port ? 0 : -1;
}

/* The pieces of a round are contiguous, except where they wrap around. */
static bool gathered(const th_collective *c, int32_t p, int32_t k, int32_t i, th_range *out)
{
    int32_t n = c->n_ranks, rest = n - (1 << k), count = rest < 1 << k ? rest : 1 << k;
    int32_t before_end = n - p < count ? n - p : count;
    if (i == 0)
        *out = th_range_pieces(c->bytes, p, p + before_end, n);
    else
        *out = th_range_pieces(c->bytes, 0, count - before_end, n);
    return i == 0 || (i == 1 && count > before_end);
}

/* The i-th pair of ranks whose distance has bit k set, and whose data are at p after the rounds of
 * the lower bits. */
static bool find_pair(const th_collective *c, int32_t p, int32_t k, int32_t i, int32_t *from,
                      int32_t *to)
{
    int64_t low = i & ((1 << k) - 1), o = (int64_t)(i >> k) << (k + 1) | 1 << k | low;
    if (o >= c->n_ranks)
        return false;
    *from = th_wrap(p - (int32_t)low, c->n_ranks);
    *to = th_wrap(*from + (int32_t)o, c->n_ranks);
    return true;
}

static bool range(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                  int64_t step, int32_t i, th_range *out)
{
    const th_collective *c = cs->collective;
    int32_t from, to;
    (void)thread;
    if (c->kind == TH_ALL_GATHER)
        return gathered(c, participant, (int32_t)step, i, out);
    if (!find_pair(c, participant, (int32_t)step, i, &from, &to))
        return false;
    *out = th_pair_range(c, from, to);
    return true;
}

/* All that rank p sends in round k. What wraps around is as long as what does not. */
static th_range sum_of(const th_collective *c, int32_t p, int32_t k)
{
    int32_t from, to, rest = c->n_ranks - (1 << k);
    th_range sum = {0, 0}, r;
    if (c->kind == TH_ALL_GATHER) {
        for (int32_t i = 0; gathered(c, p, k, i, &r); i++)
            sum.bytes += r.bytes;
        sum.padded = th_piece_most(c->bytes, rest < 1 << k ? rest : 1 << k, c->n_ranks);
        return sum;
    }
    for (int32_t i = 0; find_pair(c, p, k, i, &from, &to); i++)
        th_range_add(&sum, th_pair_size(c, from, to));
    return sum;
}

static bool get_step(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                     int64_t step, th_collective_step *out)
{
    const bruck *b = cs->data;
    int32_t k = (int32_t)step;
    (void)thread;
    *out = TH_COLLECTIVE_STEP_NONE;
    if (step >= b->n_rounds)
        return false;
    if (k > 0) {
        out->wait_port = k - 1;
        out->wait_count = 1;
    }
    th_collective_step_send(out, b->port[participant * b->n_rounds + k], peer(cs, participant, k),
                            k, sum_of(cs->collective, participant, k));
    return true;
}

const th_algorithm th_algorithm_bruck = {
    .name = "bruck",
    .synopsis = "ceil(log2 n) rounds, for small messages",
    .kinds = 1u << TH_ALL_GATHER | 1u << TH_ALL_TO_ALL,
    .prepare = prepare,
    .get_step = get_step,
    .range = range,
};
