/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bound.c - lower bounds of collectives.
 *
 * Cuts. For any set X of nodes with some of the ranks but not all, the bytes that must leave X pass
 * the links that leave it, and the bytes that must enter pass those that enter:
 *     time >= delay + minimum latency of these links + bytes / sum of their bandwidths
 * and the same for both directions together (which matters for half-duplex media). With P the sum
 * of the pieces of the ranks in X, k their number, of n, and S as in collective.h:
 *     all_reduce       out S            in S
 *     reduce_scatter   out S - P        in P             all_gather   out P   in S - P
 *     broadcast        out S if X has the root, else in S;    reduce: in and out swapped
 *     scatter          out S - P if X has the root, else in P;    gather: in and out swapped
 *     all_to_all       sum of its pairs; even sizes: out k (S - P), in (n - k) P
 *     barrier          one message in each direction
 * X is each single rank (S / bw_out, S / bw_in), each island (nodes of one group), the first half
 * of the accelerators, which bisects trees, and that of each dimension. Sets are tried twice:
 * alone, and with all switches and hosts that have more bandwidth to X than to the rest, so that
 * the cut of an island is its uplinks, not its inner switch.
 *
 * Total traffic. If only ranks add and copy, every byte of the result needs n - 1 messages to
 * reduce it and n - 1 to distribute it. So the ranks send (n - 1) S in total in a reduce_scatter,
 * all_gather, broadcast or reduce, and 2 (n - 1) S in an all_reduce, over all their links: with
 * equal ranks 2 S (n - 1) / (n bw_out) (P. Patarasuk, X. Yuan, 2009). This does not hold for
 * switches that add or copy (in_switch).
 *
 * The bound is the maximum of all these, rounded down. */
#include <config.h>

#include "sim/collective/bound.h"

#include <string.h>

#include "base/memory.h"
#include "sim/collective/algorithms.h"

enum { ISLANDS_MAX = 64 }; /* islands tried as cuts */

typedef struct bounding {
    const th_collective *c;
    const th_system *s;
    bool *is_in;      /* by node: X */
    bool *is_rank;    /* by node */
    int64_t *counted; /* by medium: the last sum that includes it */
    int64_t n_sums;
    th_time bound;
} bounding;

typedef struct capacity {
    int64_t bits_per_s;
    th_time latency_ps; /* minimum */
} capacity;

static void count_link(bounding *b, int link, capacity *sum)
{
    const th_link *l = &b->s->links[link];
    if (b->counted[l->medium] != b->n_sums &&
        __builtin_add_overflow(sum->bits_per_s, b->s->media[l->medium].bits_per_s,
                               &sum->bits_per_s))
        sum->bits_per_s = INT64_MAX;
    b->counted[l->medium] = b->n_sums;
    if (l->latency_ps < sum->latency_ps)
        sum->latency_ps = l->latency_ps;
}

static const capacity nothing_yet = {0, TH_TIME_MAX};

/* The bound of moving bytes over a capacity. Without bytes, only a barrier needs a message. */
static void apply(bounding *b, __int128 bytes, const capacity *over)
{
    if (over->bits_per_s <= 0 || (bytes == 0 && b->c->kind != TH_BARRIER))
        return;
    __int128 time = bytes * 8 * TH_PS_PER_S / over->bits_per_s;
    time += over->latency_ps + (__int128)b->c->delay_ps;
    if (time > b->bound)
        b->bound = time < TH_TIME_MAX ? (th_time)time : TH_TIME_MAX;
}

/* --- cuts ------------------------------------------------------------------------------------- */

typedef struct crossing_bytes {
    __int128 out, in; /* bytes */
} crossing_bytes;

static crossing_bytes swapped(crossing_bytes n)
{
    return (crossing_bytes){n.in, n.out};
}

static crossing_bytes bytes_of_pairs(const bounding *b)
{
    const th_collective *c = b->c;
    crossing_bytes n = {0, 0};
    for (int32_t i = 0; i < c->n_ranks; i++)
        for (int32_t j = 0; j < c->n_ranks; j++) {
            bool from = b->is_in[c->rank_node[i]], to = b->is_in[c->rank_node[j]];
            if (from && !to)
                n.out += th_pair_bytes(c, i, j);
            if (to && !from)
                n.in += th_pair_bytes(c, i, j);
        }
    return n;
}

/* The bytes that must cross the cut around X, which holds k ranks whose pieces have this number of
 * bytes. */
static crossing_bytes bytes_of(const bounding *b, int32_t k, int64_t pieces, bool has_root)
{
    const th_collective *c = b->c;
    __int128 all = c->bytes, rest = all - pieces;
    crossing_bytes spread = has_root ? (crossing_bytes){all, 0} : (crossing_bytes){0, all};
    crossing_bytes scattered = has_root ? (crossing_bytes){rest, 0} : (crossing_bytes){0, pieces};
    switch ((th_collective_kind)c->kind) {
    case TH_ALL_REDUCE:
        return (crossing_bytes){all, all};
    case TH_REDUCE_SCATTER:
        return (crossing_bytes){rest, pieces};
    case TH_ALL_GATHER:
        return (crossing_bytes){pieces, rest};
    case TH_BROADCAST:
        return spread;
    case TH_REDUCE:
        return swapped(spread);
    case TH_SCATTER:
        return scattered;
    case TH_GATHER:
        return swapped(scattered);
    case TH_ALL_TO_ALL:
        return c->pair_bytes ? bytes_of_pairs(b)
                             : (crossing_bytes){k * rest, (c->n_ranks - k) * (__int128)pieces};
    case TH_SEND_RECV:
        return b->is_in[c->rank_node[0]] ? (crossing_bytes){all, 0} : (crossing_bytes){0, all};
    case TH_BARRIER:
    case TH_USER_SCHEDULE:
    case TH_N_COLLECTIVES:
        break;
    }
    return (crossing_bytes){0, 0};
}

static void add_crossing(bounding *b, const int32_t *links, int32_t n, bool out, capacity *sum)
{
    for (int32_t i = 0; i < n; i++) {
        const th_link *l = &b->s->links[links[i]];
        if (!b->is_in[out ? l->to : l->from])
            count_link(b, links[i], sum);
    }
}

/* The links that leave X, enter X, or both. Nodes of X are within first .. end - 1. */
static capacity crossing(bounding *b, bool out, bool in, int first, int end)
{
    const th_system *s = b->s;
    capacity sum = nothing_yet;
    b->n_sums++;
    for (int i = first; i < end; i++) {
        if (!b->is_in[i])
            continue;
        if (out)
            add_crossing(b, s->adjacency.out_links + s->adjacency.out_start[i],
                         s->adjacency.out_start[i + 1] - s->adjacency.out_start[i], true, &sum);
        if (in)
            add_crossing(b, s->adjacency.in_links + s->adjacency.in_start[i],
                         s->adjacency.in_start[i + 1] - s->adjacency.in_start[i], false, &sum);
    }
    return sum;
}

/* X is is_in; its nodes are within first .. end - 1. */
static void apply_cut(bounding *b, int first, int end, const crossing_bytes *n)
{
    capacity out = crossing(b, true, false, first, end);
    capacity in = crossing(b, false, true, first, end);
    capacity both = crossing(b, true, true, first, end);
    apply(b, n->out, &out);
    apply(b, n->in, &in);
    apply(b, n->out + n->in, &both);
}

static void apply_ranks(bounding *b)
{
    const th_collective *c = b->c;
    for (int32_t r = 0; r < c->n_ranks; r++) {
        int32_t node = c->rank_node[r];
        b->is_in[node] = true;
        crossing_bytes n = bytes_of(b, 1, th_piece_bytes(c->bytes, r, c->n_ranks), r == c->root);
        apply_cut(b, node, node + 1, &n);
        b->is_in[node] = false;
    }
}

/* Bandwidth of a node's links to X, minus that to the other nodes. */
static __int128 attraction(const bounding *b, int node)
{
    const th_system *s = b->s;
    __int128 sum = 0;
    for (int i = s->adjacency.out_start[node]; i < s->adjacency.out_start[node + 1]; i++) {
        const th_link *l = &s->links[s->adjacency.out_links[i]];
        int64_t bits_per_s = s->media[l->medium].bits_per_s;
        sum += b->is_in[l->to] ? bits_per_s : -bits_per_s;
    }
    return sum;
}

/* Adds to X the switches and hosts with more bandwidth to X than to the rest; nodes below a switch
 * have lower numbers. False: none. */
static bool add_switches(bounding *b)
{
    bool any = false;
    for (int i = 0; i < b->s->n_nodes; i++)
        if (!b->is_in[i] && !b->is_rank[i] && b->s->nodes[i].kind != TH_NODE_ACCEL &&
            attraction(b, i) > 0)
            any = b->is_in[i] = true;
    return any;
}

/* X is is_in, which this clears. */
static void apply_set(bounding *b)
{
    const th_collective *c = b->c;
    int32_t k = 0;
    int64_t pieces = 0;
    for (int32_t r = 0; r < c->n_ranks; r++) {
        bool is_in = b->is_in[c->rank_node[r]];
        k += is_in;
        pieces += is_in ? th_piece_bytes(c->bytes, r, c->n_ranks) : 0;
    }
    if (k > 0 && k < c->n_ranks) {
        crossing_bytes n = bytes_of(b, k, pieces, b->is_in[c->rank_node[c->root]]);
        apply_cut(b, 0, b->s->n_nodes, &n);
        if (add_switches(b))
            apply_cut(b, 0, b->s->n_nodes, &n);
    }
    memset(b->is_in, 0, (size_t)b->s->n_nodes * sizeof *b->is_in);
}

/* Every island once, at its first rank. */
static void apply_islands(bounding *b)
{
    const th_collective *c = b->c;
    int group[ISLANDS_MAX], n = 0;
    for (int32_t r = 0; r < c->n_ranks && n < ISLANDS_MAX; r++) {
        int own = b->s->nodes[c->rank_node[r]].group, i = 0;
        while (i < n && group[i] != own)
            i++;
        if (i < n)
            continue;
        group[n++] = own;
        for (int node = 0; node < b->s->n_nodes; node++)
            b->is_in[node] = b->s->nodes[node].group == own;
        apply_set(b);
    }
}

static void apply_half(bounding *b)
{
    for (int a = 0; a < b->s->n_accels / 2; a++)
        b->is_in[b->s->accel_node[a]] = true;
    apply_set(b);
}

/* The lower half of each dimension. */
static void apply_slabs(bounding *b)
{
    int64_t stride = 1, places = b->s->n_dims > 0;
    for (int d = 0; d < b->s->n_dims; d++)
        places *= b->s->dims[d].size;
    for (int d = 0; d < b->s->n_dims; stride *= b->s->dims[d++].size) {
        for (int64_t i = 0; i < places; i++)
            b->is_in[i] = i / stride % b->s->dims[d].size < b->s->dims[d].size / 2;
        apply_set(b);
    }
}

/* --- total traffic ---------------------------------------------------------------------------- */

static __int128 total_sent(const th_collective *c)
{
    __int128 others = (__int128)(c->n_ranks - 1) * c->bytes;
    switch ((th_collective_kind)c->kind) {
    case TH_ALL_REDUCE:
        return 2 * others;
    case TH_REDUCE_SCATTER:
    case TH_ALL_GATHER:
    case TH_BROADCAST:
    case TH_REDUCE:
        return others;
    case TH_GATHER:
    case TH_SCATTER:
    case TH_ALL_TO_ALL:
    case TH_SEND_RECV:
    case TH_BARRIER:
    case TH_USER_SCHEDULE:
    case TH_N_COLLECTIVES:
        break;
    }
    return 0;
}

static void apply_total(bounding *b)
{
    const th_collective *c = b->c;
    const th_system *s = b->s;
    capacity out = nothing_yet, in = nothing_yet;
    b->n_sums++;
    for (int32_t r = 0; r < c->n_ranks; r++)
        for (int32_t i = s->adjacency.out_start[c->rank_node[r]];
             i < s->adjacency.out_start[c->rank_node[r] + 1]; i++)
            count_link(b, s->adjacency.out_links[i], &out);
    b->n_sums++;
    for (int32_t r = 0; r < c->n_ranks; r++)
        for (int32_t i = s->adjacency.in_start[c->rank_node[r]];
             i < s->adjacency.in_start[c->rank_node[r] + 1]; i++)
            count_link(b, s->adjacency.in_links[i], &in);
    apply(b, total_sent(c), &out);
    apply(b, total_sent(c), &in);
}

int th_collective_bound(const th_collective *c, const th_system *s, th_time *out, th_error *err)
{
    bounding b = {.c = c, .s = s};
    th_memory m = {NULL, false};
    b.is_in = th_memory_take(&m, (size_t)s->n_nodes, sizeof *b.is_in);
    b.is_rank = th_memory_take(&m, (size_t)s->n_nodes, sizeof *b.is_rank);
    b.counted = th_memory_take(&m, (size_t)s->n_media + 1, sizeof *b.counted);
    int failed = m.is_out ? th_error_no_memory(err) : 0;
    if (!failed && c->n_ranks > 1) {
        for (int32_t r = 0; r < c->n_ranks; r++)
            b.is_rank[c->rank_node[r]] = true;
        apply_ranks(&b);
        apply_islands(&b);
        apply_half(&b);
        apply_slabs(&b);
        if (c->algorithm && c->algorithm != &th_algorithm_in_switch)
            apply_total(&b);
    }
    if (!failed)
        *out = b.bound;
    th_memory_free(&m);
    return failed;
}
