/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ring.c - collectives on a ring of the ranks: in their order, in one direction or with half of
 * the bytes in each; or (topology_ring) in the order of ring_order.h, a stream on each rail.
 *
 * Streams run in parallel: one per direction or rail. A stream has a port of its own and carries
 * its part of each piece. Each is a thread, but for rounds on rails: these are one, so that rails
 * which share the links of islands keep step. Rounds ignore chunks: all pieces are under way at any
 * time.
 *
 * Rounds (P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters
 * of workstations", J. Parallel Distrib. Comput. 69, 2009): in round t, rank i sends the piece
 *   reduce_scatter  i - 1 - t, t = 0 .. n - 2, which the next rank adds to its own
 *   all_gather      i - t, t = 0 .. n - 2
 *   all_reduce      i - t, t = 0 .. 2 n - 3; the first n - 1 rounds add, the others replace
 *   barrier         as all_gather, without bytes
 * to rank i + 1, once that piece has arrived in round t - 1. On separate links of bandwidth bw and
 * latency L each round takes L + S/(n bw), so all_reduce takes 2 (n - 1) (S/(n bw) + L).
 *
 * Chains from or to the root, v hops from it, in pipelined chunks: broadcast and reduce take
 * (n - 2 + chunks) (L + S/(chunks bw)); gather sends a rank's own piece first, then those from
 * farther ranks; scatter sends the pieces of the farthest rank first.
 *
 * The other direction is mirrored. Not modelled: a second message of a stream in flight; the time
 * of additions. */
#include <config.h>

#include "sim/collective/algorithms.h"
#include "sim/collective/ring_order.h"

typedef struct {
    int32_t position, n, stream, n_streams;
    int32_t direction;          /* 1 or -1 */
    const th_ring_order *order; /* NULL: position = rank */
    int32_t rail;
} place;

/* Of topology_ring; NULL: the order of the ranks. */
static const th_ring_order *order_of(const th_collective_schedule *cs)
{
    return cs->data;
}

static int32_t directions(const th_collective_schedule *cs)
{
    return cs->algorithm == &th_algorithm_ring_bidirectional ? 2 : 1;
}

static bool has_rounds(const th_collective *c)
{
    return c->kind == TH_ALL_REDUCE || c->kind == TH_ALL_GATHER || c->kind == TH_REDUCE_SCATTER ||
           c->kind == TH_BARRIER;
}

static int prepare(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    int32_t streams = directions(cs);
    if (cs->algorithm == &th_algorithm_topology_ring) {
        th_ring_order *o = th_memory_take(&cs->memory, 1, sizeof *o);
        cs->data = o;
        if (!o)
            return th_error_no_memory(err);
        if (th_ring_order_init(o, cs, err))
            return -1;
        streams = o->rails;
    }
    if ((int64_t)c->n_ranks * c->chunks > INT32_MAX)
        return th_error_set(err, "COLL-0019",
                            "%s of %d ranks by %s in %d chunks: more than 2^31 messages come in at "
                            "one rank",
                            th_collective_names[c->kind], c->n_ranks, cs->algorithm->name,
                            c->chunks);
    if (th_collective_schedule_set_ranks(cs, streams, streams, err))
        return -1;
    if (cs->data && has_rounds(c))
        cs->n_threads = 1;
    return 0;
}

static int32_t position_of(const place *p, int32_t rank)
{
    return p->order ? th_ring_order_position(p->order, p->rail, rank) : rank;
}

static place place_of(const th_collective_schedule *cs, int32_t rank, int32_t thread)
{
    const th_ring_order *o = order_of(cs);
    place p = {.n = cs->collective->n_ranks,
               .stream = thread,
               .n_streams = cs->n_ports,
               .direction = directions(cs) == 2 && thread % 2 == 1 ? -1 : 1,
               .order = o,
               .rail = o ? thread % o->rails : 0};
    p.position = position_of(&p, rank);
    return p;
}

/* The rank `hops` further on, -n < hops < n. */
static int32_t hops_on(const place *p, int32_t hops)
{
    int32_t position = th_wrap(p->position + p->direction * hops, p->n);
    return p->order ? th_ring_order_rank(p->order, p->rail, position) : position;
}

static th_range piece(const th_collective *c, const place *p, int32_t rank)
{
    th_range whole = th_range_pieces(c->bytes, rank, rank + 1, c->n_ranks);
    return p->n_streams == 1 ? whole : th_range_part(whole, p->stream, p->n_streams);
}

static void send(th_collective_step *a, const place *p, int32_t hops, th_range what)
{
    th_collective_step_send(a, p->stream, hops_on(p, hops), p->stream, what);
}

static void wait_for(th_collective_step *a, const place *p, int64_t count)
{
    a->wait_port = p->stream;
    a->wait_count = (int32_t)count;
}

/* --- rounds ----------------------------------------------------------------------------------- */

static bool round_step(const th_collective *c, const place *p, int64_t round, th_collective_step *a)
{
    int32_t n = p->n, rounds = c->kind == TH_ALL_REDUCE ? 2 * (n - 1) : n - 1;
    if (round >= rounds)
        return false;
    int32_t t = (int32_t)round, back = t < n ? t : t - n;
    if (c->kind == TH_REDUCE_SCATTER)
        back++;
    if (t > 0)
        wait_for(a, p, t);
    send(a, p, 1, c->kind == TH_BARRIER ? (th_range){0, 0} : piece(c, p, hops_on(p, -back)));
    a->reduces = c->kind == TH_REDUCE_SCATTER || (c->kind == TH_ALL_REDUCE && t < n - 1);
    return true;
}

/* --- chains ----------------------------------------------------------------------------------- */

static th_range chunk_of(const th_collective *c, const place *p, th_range whole, int64_t chunk)
{
    return th_range_part(th_range_part(whole, p->stream, p->n_streams), chunk, c->chunks);
}

/* broadcast: away from the root; reduce: towards it. */
static bool vector_step(const th_collective *c, const place *p, int32_t v, int64_t step,
                        th_collective_step *a)
{
    bool reduces = c->kind == TH_REDUCE;
    if (step >= c->chunks || v == (reduces ? 0 : p->n - 1))
        return false;
    if (v != (reduces ? p->n - 1 : 0))
        wait_for(a, p, step + 1);
    send(a, p, reduces ? -1 : 1, chunk_of(c, p, (th_range){0, c->bytes}, step));
    a->reduces = reduces;
    return true;
}

static bool gather_step(const th_collective *c, const place *p, int32_t v, int64_t step,
                        th_collective_step *a)
{
    int64_t beyond = step / c->chunks;
    if (v == 0 || beyond >= p->n - v)
        return false;
    if (beyond > 0)
        wait_for(a, p, step - c->chunks + 1);
    int32_t of = hops_on(p, (int32_t)beyond);
    send(a, p, -1, chunk_of(c, p, th_range_pieces(c->bytes, of, of + 1, p->n), step % c->chunks));
    return true;
}

static bool scatter_step(const th_collective *c, const place *p, int32_t v, int64_t step,
                         th_collective_step *a)
{
    int64_t hops = p->n - 1 - v - step / c->chunks; /* from here to the rank of the piece */
    if (hops < 1)
        return false;
    if (v > 0)
        wait_for(a, p, step + 1);
    int32_t of = hops_on(p, (int32_t)hops);
    send(a, p, 1, chunk_of(c, p, th_range_pieces(c->bytes, of, of + 1, p->n), step % c->chunks));
    return true;
}

static bool get_step(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                     int64_t step, th_collective_step *out)
{
    const th_collective *c = cs->collective;
    if (cs->n_threads < cs->n_ports) {
        thread = (int32_t)(step % cs->n_ports);
        step /= cs->n_ports;
    }
    place p = place_of(cs, participant, thread);
    int32_t root = position_of(&p, c->root);
    int32_t v = th_wrap(p.direction * (p.position - root), p.n); /* hops from the root */
    *out = TH_COLLECTIVE_STEP_NONE;
    switch ((th_collective_kind)c->kind) {
    case TH_BROADCAST:
    case TH_REDUCE:
        return vector_step(c, &p, v, step, out);
    case TH_GATHER:
        return gather_step(c, &p, v, step, out);
    case TH_SCATTER:
        return scatter_step(c, &p, v, step, out);
    case TH_ALL_REDUCE:
    case TH_ALL_GATHER:
    case TH_REDUCE_SCATTER:
    case TH_BARRIER:
        return round_step(c, &p, step, out);
    case TH_ALL_TO_ALL:
    case TH_SEND_RECV:
    case TH_USER_SCHEDULE:
    case TH_N_COLLECTIVES:
        break;
    }
    return false;
}

enum {
    KINDS = 1u << TH_ALL_REDUCE | 1u << TH_ALL_GATHER | 1u << TH_REDUCE_SCATTER |
            1u << TH_BROADCAST | 1u << TH_REDUCE | 1u << TH_GATHER | 1u << TH_SCATTER |
            1u << TH_BARRIER
};

const th_algorithm th_algorithm_ring = {
    .name = "ring",
    .synopsis = "a ring of the ranks; a chain from or to the root",
    .kinds = KINDS,
    .prepare = prepare,
    .get_step = get_step,
};

const th_algorithm th_algorithm_ring_bidirectional = {
    .name = "ring_bidirectional",
    .synopsis = "as ring, half of the bytes in each direction",
    .kinds = KINDS,
    .prepare = prepare,
    .get_step = get_step,
};

const th_algorithm th_algorithm_topology_ring = {
    .name = "topology_ring",
    .synopsis = "rings through nearest neighbours, one on each rail of islands",
    .kinds = KINDS,
    .prepare = prepare,
    .get_step = get_step,
};
