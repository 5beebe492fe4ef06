/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchical.c - one dimension of the group after the other.
 *
 * Ranks have coordinates in dims d0 x d1 x ..., dimension 0 fastest: those of the collective, else
 * the shape of the system where the group is all of it, else its islands (nodes of one `group`)
 * where they are alike and stand one after the other.
 *   reduce_scatter   in d0, d1, ...: behind each the bytes that a rank has are divided by d
 *   all_gather       backwards
 *   all_reduce       one after the other
 *   all_to_all       in d0, d1, ...: what is for a coordinate goes to the rank that has it
 * So slow outer dimensions carry 1/(d0 d1 ...) of the bytes (Cho et al., "BlueConnect", 2019;
 * Rashidi et al., "Themis", ISCA 2022). Along a dimension ranks go round a ring, in both directions
 * with half of the bytes each, where the way to some of them leads over another accelerator; else
 * straight to each other. With latency l_q and bandwidth bw_q (of a rank, one way, in dimension q):
 *   reduce_scatter, all_gather   sum over q of (d_q - 1) l_q + S (d_q - 1) / (d0 ... d_q bw_q)
 *   all_reduce                   twice that
 * where messages of a dimension leave one after the other (a ring one way, a switch); halved in the
 * second term on a ring of both directions; one l_q and S / (d0 ... d_q bw_link) where each goes
 * over a link of its own.
 *
 * A lane is a chunk, and a direction where there are rings. Chunks follow each other through the
 * dimensions, so several dimensions are busy at once. Ports: in by lane and phase; out by first
 * medium (ports.c).
 * Not modelled: the time of adding; rings that avoid the long way back of a line. */
#include <config.h>

#include "base/alloc.h"
#include "sim/collective/algorithms.h"
#include "sim/collective/ports.h"
#include "topology/routing/route.h"

typedef struct dimension {
    int32_t extent, stride;
    int32_t first_peer; /* in the table of ports: the ranks 1 .. extent - 1 further on */
    bool is_ring;
} dimension;

typedef struct hierarchical {
    dimension dim[TH_MAX_DIMS];
    int32_t n_dims, n_phases, n_peers;
    bool has_rings;
    int32_t *port;
} hierarchical;

/* What a step does: send in a phase, along a dimension, what belongs to a coordinate of it. */
typedef struct move {
    int32_t phase, round;
    int32_t dim;
    int32_t coordinate; /* of what is sent */
    int32_t hops;       /* to the receiver, 1 .. extent - 1 */
    bool reduces;
} move;

static int32_t coordinate(const dimension *d, int32_t rank)
{
    return rank / d->stride % d->extent;
}

/* The rank so many hops further along a dimension. */
static int32_t along(const dimension *d, int32_t rank, int32_t hops)
{
    int32_t own = coordinate(d, rank);
    return rank + (th_wrap(own + hops, d->extent) - own) * d->stride;
}

/* --- the dimensions --------------------------------------------------------------------------- */

static void add_dimension(hierarchical *h, int32_t extent)
{
    const dimension *last = h->n_dims > 0 ? &h->dim[h->n_dims - 1] : NULL;
    if (extent == 1)
        return;
    h->dim[h->n_dims++] =
        (dimension){.extent = extent, .stride = last ? last->stride * last->extent : 1};
}

static bool is_whole_shape(const th_collective *c, const th_system *s)
{
    int64_t nodes = s->n_dims > 0;
    for (int i = 0; i < s->n_dims; i++)
        nodes *= s->dims[i].size;
    for (int32_t r = 0; r < c->n_ranks && nodes == c->n_ranks; r++)
        if (c->rank_node[r] != r)
            return false;
    return nodes == c->n_ranks;
}

/* Ranks per island where all have as many and stand one after the other; 0: they do not. */
static int32_t island_size(const th_collective *c, const th_system *s)
{
    int32_t size = 1;
    while (size < c->n_ranks &&
           s->nodes[c->rank_node[size]].group == s->nodes[c->rank_node[0]].group)
        size++;
    if (c->n_ranks % size != 0)
        return 0;
    for (int32_t r = 1; r < c->n_ranks; r++) {
        bool same = s->nodes[c->rank_node[r]].group == s->nodes[c->rank_node[r - 1]].group;
        if (same != (r % size != 0))
            return 0;
    }
    return size;
}

static int find_dimensions(const th_expansion *x, hierarchical *h, th_error *err)
{
    const th_collective *c = x->collective;
    const th_system *s = x->system;
    int32_t island = c->n_dims == 0 && !is_whole_shape(c, s) ? island_size(c, s) : c->n_ranks;
    if (island == 0)
        return th_error_set(
            err, "COLL-0020",
            "%s of %d ranks by hierarchical: they are neither the shape of the system "
            "nor islands of one size: dims must be given",
            th_collective_names[c->kind], c->n_ranks);
    for (int32_t i = 0; i < c->n_dims; i++)
        add_dimension(h, c->dims[i]);
    if (c->n_dims == 0 && is_whole_shape(c, s)) {
        for (int i = 0; i < s->n_dims; i++)
            add_dimension(h, s->dims[i].size);
    } else if (c->n_dims == 0) {
        add_dimension(h, island);
        add_dimension(h, c->n_ranks / island);
    }
    return 0;
}

/* Does some way from rank 0 along the dimension lead over an accelerator? */
static bool needs_ring(const th_expansion *x, const dimension *d)
{
    const th_system *s = x->system;
    const int32_t *node = x->collective->rank_node;
    int links[TH_ROUTE_MAX];
    for (int32_t hops = 1; hops < d->extent; hops++) {
        int n = th_route(s, node[0], node[hops * d->stride], links);
        for (int i = 0; i < n - 1; i++) {
            int at = s->links[links[i]].to; /* -1: a segment ends nowhere */
            if (at >= 0 && s->nodes[at].kind == TH_NODE_ACCEL)
                return true;
        }
    }
    return false;
}

/* --- preparation ------------------------------------------------------------------------------ */

static int32_t peer(const th_expansion *x, int32_t p, int32_t k)
{
    const hierarchical *h = x->data;
    int32_t q = h->n_dims - 1;
    while (k < h->dim[q].first_peer)
        q--;
    return along(&h->dim[q], p, k - h->dim[q].first_peer + 1);
}

static void release(th_expansion *x)
{
    hierarchical *h = x->data;
    if (h)
        th_free(h->port);
    th_free(h);
}

static int prepare(th_expansion *x, th_error *err)
{
    const th_collective *c = x->collective;
    hierarchical *h = th_alloc_zero(1, sizeof *h);
    if (!h)
        return th_error_no_memory(err);
    x->data = h;
    if (find_dimensions(x, h, err))
        return -1;
    for (int32_t q = 0; q < h->n_dims; q++) {
        dimension *d = &h->dim[q];
        d->is_ring = c->kind != TH_ALL_TO_ALL && d->extent > 2 && needs_ring(x, d);
        h->has_rings |= d->is_ring;
        d->first_peer = h->n_peers;
        h->n_peers += d->extent - 1;
    }
    h->n_phases = c->kind == TH_ALL_REDUCE ? 2 * h->n_dims : h->n_dims;
    int32_t lanes = th_chunks_used(c) * (h->has_rings ? 2 : 1), in = lanes * h->n_phases;
    if (th_expansion_of_ranks(x, lanes, in > h->n_peers ? in : h->n_peers + 1, err))
        return -1;
    h->port = th_ports_by_medium(x, h->n_peers, peer, err);
    return h->port ? 0 : -1;
}

/* --- steps ------------------------------------------------------------------------------------ */

static bool scatters(const th_expansion *x, int32_t phase)
{
    const hierarchical *h = x->data;
    return x->collective->kind != TH_ALL_GATHER && phase < h->n_dims;
}

static int32_t dim_of_phase(const th_expansion *x, int32_t phase)
{
    const hierarchical *h = x->data;
    return scatters(x, phase) ? phase : h->n_phases - 1 - phase;
}

/* Round t of a ring: the piece that the next rank adds to its own, or takes; straight: to the t-th
 * on, in rotation. Lanes of the other direction are mirrored. False: there is no such step. */
static bool find_move(const th_expansion *x, int32_t p, int32_t lane, int64_t step, move *m)
{
    const hierarchical *h = x->data;
    *m = (move){.phase = 0};
    for (; m->phase < h->n_phases; m->phase++) {
        m->dim = dim_of_phase(x, m->phase);
        if (step < h->dim[m->dim].extent - 1)
            break;
        step -= h->dim[m->dim].extent - 1;
    }
    if (m->phase == h->n_phases)
        return false;
    const dimension *d = &h->dim[m->dim];
    bool is_scatter = scatters(x, m->phase);
    int32_t direction = h->has_rings && lane % 2 == 1 ? -1 : 1;
    m->round = (int32_t)step;
    int32_t hops = direction * (d->is_ring ? 1 : m->round + 1);
    int32_t of = d->is_ring ? -direction * (m->round + is_scatter) : is_scatter ? hops : 0;
    m->hops = th_wrap(hops, d->extent);
    m->coordinate = th_wrap(coordinate(d, p) + of, d->extent);
    m->reduces = is_scatter && x->collective->kind != TH_ALL_TO_ALL;
    return true;
}

/* all_to_all: pair i of those whose bytes a move carries. */
static bool move_pair(const th_expansion *x, int32_t p, const move *m, int32_t i, int32_t *from,
                      int32_t *to)
{
    const hierarchical *h = x->data;
    const dimension *d = &h->dim[m->dim];
    int32_t stride = d->stride, beyond = stride * d->extent;
    *from = p - p % stride + i % stride;
    *to = p % stride + m->coordinate * stride + i / stride * beyond;
    return i < x->collective->n_ranks / d->extent;
}

/* Range i of what a move carries: all that has the coordinate along its dimension, in those before
 * it the rank's own and in those behind it any. all_to_all: what is for such ranks, and comes from
 * ranks that differ from this one in the dimensions before it. */
static bool move_range(const th_expansion *x, int32_t p, int32_t lane, const move *m, int32_t i,
                       th_range *out)
{
    const hierarchical *h = x->data;
    const th_collective *c = x->collective;
    const dimension *d = &h->dim[m->dim];
    int32_t stride = d->stride, beyond = d->stride * d->extent, n_beyond = c->n_ranks / beyond;
    int32_t first = p % stride + m->coordinate * stride; /* rank */
    if (c->kind == TH_ALL_REDUCE) { /* numbered with the last dimension fastest: one range */
        int32_t at = 0;
        for (int32_t q = 0; q < m->dim; q++)
            at = at * h->dim[q].extent + coordinate(&h->dim[q], p);
        at = (at * d->extent + m->coordinate) * n_beyond;
        th_range all = th_pieces(c->bytes, lane, lane + 1, x->n_lanes);
        *out = th_pieces(all.bytes, at, at + n_beyond, c->n_ranks);
        out->first += all.first;
        return i == 0;
    }
    if (c->kind != TH_ALL_TO_ALL) {
        int32_t rank = first + i * beyond;
        if (i < n_beyond)
            *out = th_part(th_pieces(c->bytes, rank, rank + 1, c->n_ranks), lane, x->n_lanes);
        return i < n_beyond;
    }
    int32_t from, to;
    if (!move_pair(x, p, m, i, &from, &to))
        return false;
    th_range pair = {th_pair_first(c, from, to), th_pair_bytes(c, from, to)};
    *out = th_part(pair, lane, x->n_lanes);
    return true;
}

static th_range move_sum(const th_expansion *x, int32_t p, int32_t lane, const move *m)
{
    const hierarchical *h = x->data;
    const th_collective *c = x->collective;
    th_range sum = {0, 0}, next;
    bool even = !c->pair_bytes && c->bytes % ((int64_t)c->n_ranks * x->n_lanes) == 0;
    if (even && c->kind != TH_ALL_REDUCE) {
        const dimension *d = &h->dim[m->dim];
        int32_t n_ranges = c->n_ranks / d->extent;
        if (c->kind != TH_ALL_TO_ALL)
            n_ranges /= d->stride;
        move_range(x, p, lane, m, 0, &sum);
        sum.bytes *= n_ranges;
        return sum;
    }
    int32_t from, to;
    if (c->kind == TH_ALL_TO_ALL) { /* where a pair stands takes long to find, and is not asked */
        for (int32_t i = 0; move_pair(x, p, m, i, &from, &to); i++)
            sum.bytes += th_part((th_range){0, th_pair_bytes(c, from, to)}, lane, x->n_lanes).bytes;
        return sum;
    }
    for (int32_t i = 0; move_range(x, p, lane, m, i, &next); i++) {
        sum.first = i == 0 ? next.first : sum.first;
        sum.bytes += next.bytes;
    }
    return sum;
}

static bool action(const th_expansion *x, int32_t participant, int32_t lane, int64_t step,
                   th_action *out)
{
    const hierarchical *h = x->data;
    move m;
    *out = TH_ACTION_NONE;
    if (!find_move(x, participant, lane, step, &m))
        return false;
    const dimension *d = &h->dim[m.dim];
    int32_t in = lane * h->n_phases;
    if (m.round > 0 && d->is_ring) {
        out->wait_port = in + m.phase;
        out->wait_count = m.round;
    } else if (m.round == 0 && m.phase > 0) { /* all of the phase before */
        out->wait_port = in + m.phase - 1;
        out->wait_count = h->dim[dim_of_phase(x, m.phase - 1)].extent - 1;
    }
    int32_t peer_number = d->first_peer + m.hops - 1;
    th_action_send(out, h->port[(int64_t)participant * h->n_peers + peer_number],
                   along(d, participant, m.hops), in + m.phase, move_sum(x, participant, lane, &m));
    out->reduces = m.reduces;
    return true;
}

static bool range(const th_expansion *x, int32_t participant, int32_t lane, int64_t step, int32_t i,
                  th_range *out)
{
    move m;
    return find_move(x, participant, lane, step, &m) &&
           move_range(x, participant, lane, &m, i, out);
}

const th_algorithm th_algorithm_hierarchical = {
    .name = "hierarchical",
    .synopsis = "one dimension of the group after the other",
    .kinds =
        1u << TH_ALL_REDUCE | 1u << TH_REDUCE_SCATTER | 1u << TH_ALL_GATHER | 1u << TH_ALL_TO_ALL,
    .prepare = prepare,
    .action = action,
    .release = release,
    .range = range,
};
