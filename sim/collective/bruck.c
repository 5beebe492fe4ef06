/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bruck.c - ceil(log2 n) rounds for any n, for messages so small that latency is all.
 *
 * all_gather: in round k rank i sends the min(2^k, n - 2^k) pieces i, i + 1, ... that it has to
 * rank i - 2^k. all_to_all: what has to go o ranks further goes by 2^k in round k if o has bit k
 * set, with all that does so. (Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997,
 * 1143-1156.) On equal links without contention, n = 2^k, S divisible by n:
 *   all_gather   log2 n latency + (n - 1) / n S / bw
 *   all_to_all   log2 n (latency + S / (2 bw))
 * Chunks have no meaning here. Ports: in by round, as partners may be a round ahead; out by first
 * medium (ports.c). Not modelled: the time of rearranging pieces. */
#include <config.h>

#include "base/alloc.h"
#include "sim/collective/algorithms.h"
#include "sim/collective/ports.h"

typedef struct bruck {
    int32_t n_rounds;
    int32_t *port; /* per rank and round */
} bruck;

static int32_t peer(const th_expansion *x, int32_t p, int32_t k)
{
    int32_t hops = 1 << k, n = x->collective->n_ranks;
    return th_wrap(x->collective->kind == TH_ALL_GATHER ? p - hops : p + hops, n);
}

static void release(th_expansion *x)
{
    bruck *b = x->data;
    if (b)
        th_free(b->port);
    th_free(b);
}

static int prepare(th_expansion *x, th_error *err)
{
    bruck *b = th_alloc_zero(1, sizeof *b);
    if (!b)
        return th_error_no_memory(err);
    x->data = b;
    b->n_rounds = th_log2_ceil(x->collective->n_ranks);
    if (th_expansion_of_ranks(x, 1, b->n_rounds + 1, err))
        return -1;
    b->port = th_ports_by_medium(x, b->n_rounds, peer, err);
    return b->port ? 0 : -1;
}

/* The pieces of a round are contiguous but where they run over the end. */
static bool gathered(const th_collective *c, int32_t p, int32_t k, int32_t i, th_range *out)
{
    int32_t n = c->n_ranks, rest = n - (1 << k), count = rest < 1 << k ? rest : 1 << k;
    int32_t before_end = n - p < count ? n - p : count;
    if (i == 0)
        *out = th_pieces(c->bytes, p, p + before_end, n);
    else
        *out = th_pieces(c->bytes, 0, count - before_end, n);
    return i == 0 || (i == 1 && count > before_end);
}

/* The i-th distance with bit k set; what has that far to go, and has gone as far as its lower bits
 * say. */
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

static bool range(const th_expansion *x, int32_t participant, int32_t lane, int64_t step, int32_t i,
                  th_range *out)
{
    const th_collective *c = x->collective;
    int32_t from, to;
    (void)lane;
    if (c->kind == TH_ALL_GATHER)
        return gathered(c, participant, (int32_t)step, i, out);
    if (!find_pair(c, participant, (int32_t)step, i, &from, &to))
        return false;
    *out = (th_range){th_pair_first(c, from, to), th_pair_bytes(c, from, to)};
    return true;
}

static int64_t bytes_of(const th_collective *c, int32_t p, int32_t k)
{
    int32_t from, to;
    int64_t sum = 0;
    th_range r;
    if (c->kind == TH_ALL_GATHER)
        for (int32_t i = 0; gathered(c, p, k, i, &r); i++)
            sum += r.bytes;
    else
        for (int32_t i = 0; find_pair(c, p, k, i, &from, &to); i++)
            sum += th_pair_bytes(c, from, to);
    return sum;
}

static bool action(const th_expansion *x, int32_t participant, int32_t lane, int64_t step,
                   th_action *out)
{
    const bruck *b = x->data;
    int32_t k = (int32_t)step;
    (void)lane;
    *out = TH_ACTION_NONE;
    if (step >= b->n_rounds)
        return false;
    if (k > 0) {
        out->wait_port = k - 1;
        out->wait_count = 1;
    }
    th_action_send(out, b->port[participant * b->n_rounds + k], peer(x, participant, k), k,
                   (th_range){0, bytes_of(x->collective, participant, k)});
    return true;
}

const th_algorithm th_algorithm_bruck = {
    .name = "bruck",
    .synopsis = "ceil(log2 n) rounds, for small messages",
    .kinds = 1u << TH_ALL_GATHER | 1u << TH_ALL_TO_ALL,
    .prepare = prepare,
    .action = action,
    .release = release,
    .range = range,
};
