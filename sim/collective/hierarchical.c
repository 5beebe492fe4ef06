/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchical.c - a collective as a sequence of collectives along the dimensions of the group:
 * all data in one order of the dimensions (hierarchical), or as many parts of the data as there are
 * dimensions, each of which begins with another one (multi_axis).
 *
 * Ranks have coordinates in dims d0 x d1 x ..., dimension 0 fastest: those of the collective, else
 * the shape of the system where the group is the whole system, else its islands (nodes of one
 * `group`) where they are equal and contiguous.
 *   reduce_scatter   in d0, d1, ...: each divides the bytes of a rank by d
 *   all_gather       in reverse order
 *   all_reduce       reduce_scatter, then all_gather
 *   all_to_all       in d0, d1, ...: data for a coordinate move to the rank that has it
 * So slow outer dimensions carry 1/(d0 d1 ...) of the bytes (Cho et al., "BlueConnect", 2019;
 * Rashidi et al., "Themis", ISCA 2022). A dimension is a ring, in both directions with half of the
 * bytes each, where the route between some of its ranks passes another accelerator; else its ranks
 * send directly to each other. With latency l_q and bandwidth bw_q (of a rank, in one direction, in
 * dimension q):
 *   reduce_scatter, all_gather   sum over q of (d_q - 1) l_q + S (d_q - 1) / (d0 ... d_q bw_q)
 *   all_reduce                   twice that
 * where messages of a dimension leave in sequence (a ring in one direction, a switch). The second
 * term is halved on a ring of both directions; it is S / (d0 ... d_q bw_link), after one l_q, where
 * each message has a link of its own.
 *
 * multi_axis: the dimensions are the axes of axes.h: the group may be any part of a torus, a mesh
 * or a hypercube, in any order. Part i goes along axes i, i + 1, ..., 0, ..., i - 1, so that the
 * links of all axes are busy all the time. Parts are such that all are busy for as long (equal
 * axes: equal parts). With k links of bandwidth bw that leave each rank:
 *   all_reduce -> 2 S (n - 1) / (n k bw)      reduce_scatter, all_gather -> half of that
 *   scatter, gather: as these, but only what comes from the root, or goes to it, has bytes; the
 *     links of the root are busy all the time, and the farthest data leave first
 * A line is a ring that goes out and back, in one direction: k counts it as one.
 *
 * Chunks are pipelined through the dimensions (wavefront.h), so several dimensions are busy at
 * once; where there are rings, a stream of half of a chunk in each direction. Ports: in by stream
 * and phase; out by first medium. Not modelled: the time of additions; rings that avoid the long
 * wrap-around path of a line. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "sim/collective/algorithms.h"
#include "sim/collective/axes.h"
#include "sim/collective/ports.h"
#include "sim/collective/wavefront.h"
#include "topology/routing/route.h"

typedef struct dimension {
    int32_t extent, stride;
    bool is_ring;
} dimension;

enum { SHARES = 48 }; /* times n_parts: in how many shares the parts divide the data */

typedef struct hierarchical {
    dimension dim[TH_MAX_DIMS];
    int32_t n_dims, n_phases;
    int32_t n_parts;                      /* part i begins with dimension i */
    int32_t first_share[TH_MAX_DIMS + 1]; /* by part, and n_parts; of n_shares */
    int32_t n_shares;
    int32_t directions;          /* 2 where there are rings of two directions */
    int32_t n_streams;           /* of a part: chunks times directions */
    int32_t n_out;               /* ports of a rank, without the one to ranks of its own node */
    const int32_t *place, *rank; /* as th_axes; NULL: they are the same */
    th_wavefront order;          /* its phases: those of the group, of each part and direction */
} hierarchical;

/* A step sends, in a phase and along a dimension, the data of one coordinate. */
typedef struct move {
    int32_t phase, round, part, stream;
    int32_t place;       /* of the rank that sends */
    int32_t dim, before; /* and how many dimensions its part goes along before */
    int32_t coordinate;  /* of the data */
    int32_t hops;        /* to the receiver, 1 .. extent - 1 */
    bool reduces;
} move;

static int32_t coordinate(const dimension *d, int32_t place)
{
    return place / d->stride % d->extent;
}

static int32_t place_of(const hierarchical *h, int32_t rank)
{
    return h->place ? h->place[rank] : rank;
}
static int32_t rank_at(const hierarchical *h, int32_t place)
{
    return h->rank ? h->rank[place] : place;
}

/* The rank `hops` further on along a dimension. */
static int32_t along(const hierarchical *h, int32_t dim, int32_t place, int32_t hops)
{
    const dimension *d = &h->dim[dim];
    int32_t own = coordinate(d, place);
    return rank_at(h, place + (th_wrap(own + hops, d->extent) - own) * d->stride);
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

bool th_collective_is_whole_shape(const th_collective *c, const th_system *s)
{
    int64_t nodes = s->n_dims > 0;
    for (int i = 0; i < s->n_dims; i++)
        nodes *= s->dims[i].size;
    for (int32_t r = 0; r < c->n_ranks && nodes == c->n_ranks; r++)
        if (c->rank_node[r] != r)
            return false;
    return nodes == c->n_ranks;
}

/* Ranks per island if islands are equal and contiguous, else 0. */
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

static int find_dimensions(const th_collective_schedule *cs, hierarchical *h, th_error *err)
{
    const th_collective *c = cs->collective;
    const th_system *s = cs->system;
    int32_t island =
        c->n_dims == 0 && !th_collective_is_whole_shape(c, s) ? island_size(c, s) : c->n_ranks;
    if (island == 0)
        return th_error_set(
            err, "COLL-0020",
            "%s of %d ranks by hierarchical: they are neither the shape of the system "
            "nor islands of one size: dims must be given",
            th_collective_names[c->kind], c->n_ranks);
    for (int32_t i = 0; i < c->n_dims; i++)
        add_dimension(h, c->dims[i]);
    if (c->n_dims == 0 && th_collective_is_whole_shape(c, s)) {
        for (int i = 0; i < s->n_dims; i++)
            add_dimension(h, s->dims[i].size);
    } else if (c->n_dims == 0) {
        add_dimension(h, island);
        add_dimension(h, c->n_ranks / island);
    }
    return 0;
}

/* Does some route from rank 0 along the dimension pass an accelerator? */
static bool needs_ring(const th_collective_schedule *cs, const dimension *d)
{
    const th_system *s = cs->system;
    const int32_t *node = cs->collective->rank_node;
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

/* The most media that lead out of the node of a participant. */
static int32_t most_ports(const th_collective_schedule *cs)
{
    const th_adjacency *a = &cs->system->adjacency;
    int32_t most = 0;
    for (int32_t p = 0; p < cs->n_participants; p++)
        for (int32_t i = a->out_start[cs->node[p]]; i < a->out_start[cs->node[p] + 1]; i++)
            if (a->out_port[a->out_links[i]] >= most)
                most = a->out_port[a->out_links[i]] + 1;
    return most;
}

/* The port to another participant; 0 where there is no route, which the message will tell. */
static int32_t port_to(const th_collective_schedule *cs, int32_t participant, int32_t to)
{
    const hierarchical *h = cs->data;
    int from_node = cs->node[participant], to_node = cs->node[to];
    int link = from_node == to_node ? -1 : th_route_first(cs->system, from_node, to_node);
    return from_node == to_node ? h->n_out : link < 0 ? 0 : cs->system->adjacency.out_port[link];
}

static bool scatters(const th_collective_schedule *cs, int32_t phase)
{
    const hierarchical *h = cs->data;
    const int32_t kind = cs->collective->kind;
    return kind != TH_ALL_GATHER && kind != TH_GATHER && phase < h->n_dims;
}

/* Dimension number i of a part. */
static int32_t dim_of_part(const hierarchical *h, int32_t part, int32_t i)
{
    return part + i < h->n_dims ? part + i : part + i - h->n_dims;
}

static int32_t dim_of_phase(const th_collective_schedule *cs, int32_t part, int32_t phase)
{
    const hierarchical *h = cs->data;
    return dim_of_part(h, part, scatters(cs, phase) ? phase : h->n_phases - 1 - phase);
}

/* Joins dimensions and directions whose messages leave rank p at one port: same[] is equal, by
 * dimension times directions and direction. A ring has one peer of a rank, others have all. user:
 * by port, which of these used it last, and for which rank. */
static void join_users(const th_collective_schedule *cs, int32_t p, int32_t *same, int64_t *user)
{
    const hierarchical *h = cs->data;
    const int32_t n = h->n_dims * h->directions;
    for (int32_t i = 0; i < n; i++) {
        const dimension *d = &h->dim[i / h->directions];
        bool is_back = i % h->directions == 1;
        int32_t first = d->is_ring && is_back ? d->extent - 1 : 1;
        int32_t last = d->is_ring ? first : d->extent - 1;
        for (int32_t hops = first; hops <= last; hops++) {
            int32_t to = along(h, i / h->directions, place_of(h, p), hops);
            int64_t *of = &user[port_to(cs, p, to)];
            int32_t other = *of / n == p + 1 ? same[*of % n] : same[i], own = same[i];
            for (int32_t j = 0; j < n; j++)
                same[j] = same[j] == own ? other : same[j];
            *of = (int64_t)(p + 1) * n + i;
        }
    }
}

/* Phases that use a port together have one thread. 0 or -1. */
static int find_order(th_collective_schedule *cs, hierarchical *h, th_error *err)
{
    th_wavefront *w = &h->order;
    int32_t same[2 * TH_MAX_DIMS];
    int64_t *user = th_alloc_zero((size_t)h->n_out + 1, sizeof *user);
    if (!user)
        return th_error_no_memory(err);
    for (int32_t i = 0; i < h->n_dims * h->directions; i++)
        same[i] = i;
    for (int32_t p = 0; p < cs->collective->n_ranks; p++)
        join_users(cs, p, same, user);
    th_free(user);
    w->lanes = h->n_parts * h->directions;
    w->n_phases = h->n_phases * w->lanes;
    for (int32_t i = 0; i < w->n_phases; i++) {
        int32_t phase = i / w->lanes, part = i % w->lanes / h->directions;
        int32_t dim = dim_of_phase(cs, part, phase);
        w->phase[i] = (th_phase){.slot = phase,
                                 .rounds = h->dim[dim].extent - 1,
                                 .thread = same[dim * h->directions + i % h->directions]};
    }
    return th_wavefront_init(w, h->n_streams / h->directions, &cs->memory, err);
}

/* Adds the times in which a share of a part moves along each dimension to busy[]; the most then. */
static double add_share(const hierarchical *h, const th_axes *x, int32_t part, double *busy)
{
    double data = 1, most = 0;
    for (int32_t i = 0; i < h->n_dims; i++) {
        int32_t dim = dim_of_part(h, part, i);
        busy[dim] += data * x->axis[dim].cost;
        most = busy[dim] > most ? busy[dim] : most;
        data /= x->axis[dim].extent;
    }
    return most;
}

/* The part with which the busiest dimension is busy for the shortest time; the first, but for
 * rounding. */
static int32_t best_part(const hierarchical *h, const th_axes *x, const double *busy)
{
    double trial[TH_MAX_DIMS], least = 0;
    int32_t best = 0;
    for (int32_t part = 0; part < h->n_parts; part++) {
        memcpy(trial, busy, sizeof trial);
        double most = add_share(h, x, part, trial);
        if (part > 0 && most >= least * (1 - 1e-9))
            continue;
        best = part;
        least = most;
    }
    return best;
}

/* all_to_all: equal parts, as each moves all of its data along each dimension. */
static void divide_shares(const th_collective_schedule *cs, hierarchical *h, const th_axes *x)
{
    double busy[TH_MAX_DIMS] = {0};
    int32_t shares[TH_MAX_DIMS] = {0};
    bool is_equal = cs->collective->kind == TH_ALL_TO_ALL;
    h->n_parts = h->n_dims;
    h->n_shares = SHARES * h->n_parts;
    for (int32_t share = 0; share < h->n_shares; share++) {
        int32_t part = is_equal ? share % h->n_parts : best_part(h, x, busy);
        add_share(h, x, part, busy);
        shares[part]++;
    }
    for (int32_t part = 0; part < h->n_parts; part++)
        h->first_share[part + 1] = h->first_share[part] + shares[part];
}

/* The axes of the group become the dimensions. 0 or -1. */
static int find_axes(th_collective_schedule *cs, hierarchical *h, th_error *err)
{
    th_axes x;
    bool may_be_ring = cs->collective->kind != TH_ALL_TO_ALL;
    if (th_axes_init(&x, cs, err))
        return -1;
    for (int32_t q = 0; q < x.n; q++) {
        add_dimension(h, x.axis[q].extent);
        h->dim[q].is_ring = may_be_ring && x.axis[q].kind != TH_TOPOLOGY_DIM_FULL;
        if (may_be_ring && x.axis[q].kind == TH_TOPOLOGY_DIM_RING)
            h->directions = 2;
    }
    h->place = x.place;
    h->rank = x.rank;
    divide_shares(cs, h, &x);
    return 0;
}

/* The dimensions of hierarchical, all in one part. 0 or -1. */
static int find_levels(th_collective_schedule *cs, hierarchical *h, th_error *err)
{
    if (find_dimensions(cs, h, err))
        return -1;
    for (int32_t q = 0; q < h->n_dims; q++) {
        dimension *d = &h->dim[q];
        d->is_ring = cs->collective->kind != TH_ALL_TO_ALL && d->extent > 2 && needs_ring(cs, d);
        h->directions = d->is_ring ? 2 : h->directions;
    }
    h->n_parts = h->n_shares = h->first_share[1] = 1;
    return 0;
}

static int prepare(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    hierarchical *h = th_memory_take(&cs->memory, 1, sizeof *h);
    if (!h)
        return th_error_no_memory(err);
    cs->data = h;
    h->directions = 1;
    bool has_axes = cs->algorithm == &th_algorithm_multi_axis;
    if (has_axes ? find_axes(cs, h, err) : find_levels(cs, h, err))
        return -1;
    h->n_phases = c->kind == TH_ALL_REDUCE ? 2 * h->n_dims : h->n_dims;
    h->n_streams = th_chunks_used(c) * h->directions;
    int32_t in = h->n_parts * h->n_streams * h->n_phases;
    if (th_collective_schedule_set_ranks(cs, 1, in, err))
        return -1;
    h->n_out = most_ports(cs);
    if (find_order(cs, h, err))
        return -1;
    cs->n_ports = in > h->n_out ? in : h->n_out + 1;
    cs->n_threads = h->order.n_threads;
    return 0;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Round t of a ring: the piece that the next rank adds or copies; direct: to the t-th rank further
 * on; below 0: none yet. Streams of the other direction are mirrored. False: no such step. */
static bool find_move(const th_collective_schedule *cs, int32_t p, int32_t thread, int64_t step,
                      move *m)
{
    const hierarchical *h = cs->data;
    th_wave w;
    if (!th_wavefront_at(&h->order, thread, step, &w))
        return false;
    int32_t lane = w.phase % h->order.lanes;
    *m = (move){.phase = w.phase / h->order.lanes, .round = w.round, .place = place_of(h, p)};
    m->part = lane / h->directions;
    m->dim = dim_of_phase(cs, m->part, m->phase);
    m->stream = w.chunk * h->directions + lane % h->directions;
    const dimension *d = &h->dim[m->dim];
    bool is_scatter = scatters(cs, m->phase);
    int32_t direction = lane % h->directions == 1 ? -1 : 1;
    if (w.round < 0)
        return true;
    int32_t hops = direction * (d->is_ring ? 1 : m->round + 1);
    int32_t of = d->is_ring ? -direction * (m->round + is_scatter) : is_scatter ? hops : 0;
    m->hops = th_wrap(hops, d->extent);
    m->coordinate = th_wrap(coordinate(d, m->place) + of, d->extent);
    m->before = th_wrap(m->dim - m->part, h->n_dims);
    m->reduces = is_scatter && (cs->collective->kind == TH_ALL_REDUCE ||
                                cs->collective->kind == TH_REDUCE_SCATTER);
    return true;
}

/* Places along dimensions first .. end - 1 of the move's part. */
static int32_t places_along(const hierarchical *h, const move *m, int32_t first, int32_t end)
{
    int32_t n = 1;
    for (int32_t i = first; i < end; i++)
        n *= h->dim[dim_of_part(h, m->part, i)].extent;
    return n;
}

/* A place that differs from another one along these dimensions alone; number i of them. */
static int32_t place_along(const hierarchical *h, const move *m, int32_t first, int32_t end,
                           int32_t place, int32_t i)
{
    for (int32_t at = first; at < end; at++) {
        const dimension *d = &h->dim[dim_of_part(h, m->part, at)];
        place += (i % d->extent - coordinate(d, place)) * d->stride;
        i /= d->extent;
    }
    return place;
}

/* The place of the data of a move, as far as it is settled. */
static int32_t place_of_data(const hierarchical *h, const move *m)
{
    const dimension *d = &h->dim[m->dim];
    return m->place + (m->coordinate - coordinate(d, m->place)) * d->stride;
}

/* Is a move on the way from the root (scatter), or to it (gather)? Those of other kinds are. */
static bool is_on_way(const th_collective_schedule *cs, const move *m)
{
    const hierarchical *h = cs->data;
    const th_collective *c = cs->collective;
    const dimension *d = &h->dim[m->dim];
    const bool is_scatter = c->kind == TH_SCATTER;
    if (!is_scatter && c->kind != TH_GATHER)
        return true;
    const int32_t root = place_of(h, c->root);
    for (int32_t i = m->before + 1; i < h->n_dims; i++) {
        const dimension *later = &h->dim[dim_of_part(h, m->part, i)];
        if (coordinate(later, m->place) != coordinate(later, root))
            return false;
    }
    const int32_t at = coordinate(d, m->place), of_root = coordinate(d, root), n = d->extent;
    if (!d->is_ring)
        return (is_scatter ? at : th_wrap(at + m->hops, n)) == of_root;
    const int32_t from = is_scatter ? of_root : m->coordinate;
    const int32_t to = is_scatter ? m->coordinate : of_root, way = m->hops == 1 ? 1 : -1;
    return th_wrap(way * (at - from), n) < th_wrap(way * (to - from), n);
}

/* all_to_all: pair i of those whose bytes a move carries: from places that differ from this one in
 * earlier dimensions, to those that do in later ones. */
static bool move_pair(const th_collective_schedule *cs, const move *m, int32_t i, int32_t *from,
                      int32_t *to)
{
    const hierarchical *h = cs->data;
    int32_t n = places_along(h, m, 0, m->before), place = place_of_data(h, m);
    *from = rank_at(h, place_along(h, m, 0, m->before, m->place, i % n));
    *to = rank_at(h, place_along(h, m, m->before + 1, h->n_dims, place, i / n));
    return i < cs->collective->n_ranks / h->dim[m->dim].extent;
}

/* The bytes of a range that belong to the part and stream of a move. */
static th_range stream_of(const hierarchical *h, const move *m, th_range all)
{
    th_range part =
        th_range_parts(all, h->first_share[m->part], h->first_share[m->part + 1], h->n_shares);
    return th_range_part(part, m->stream, h->n_streams);
}

/* Range i of a move: the pieces with the coordinate along its dimension, the rank's own coordinates
 * in earlier dimensions and any in later ones. all_to_all: of pairs. */
static bool move_range(const th_collective_schedule *cs, const move *m, int32_t i, th_range *out)
{
    const hierarchical *h = cs->data;
    const th_collective *c = cs->collective;
    int32_t from, to, n_beyond = places_along(h, m, m->before + 1, h->n_dims);
    if (!is_on_way(cs, m))
        return false;
    if (c->kind == TH_ALL_TO_ALL) {
        if (!move_pair(cs, m, i, &from, &to))
            return false;
        *out = stream_of(h, m, th_pair_range(c, from, to));
        return true;
    }
    int32_t place = place_of_data(h, m);
    if (c->kind == TH_ALL_REDUCE) { /* numbered with the last dimension fastest: one range */
        int32_t at = 0;
        for (int32_t q = 0; q <= m->before; q++) {
            const dimension *d = &h->dim[dim_of_part(h, m->part, q)];
            at = at * d->extent + coordinate(d, place);
        }
        th_range all = stream_of(h, m, (th_range){0, c->bytes});
        *out = th_range_parts(all, at * n_beyond, (at + 1) * n_beyond, c->n_ranks);
        return i == 0;
    }
    int32_t rank = rank_at(h, place_along(h, m, m->before + 1, h->n_dims, place, i));
    if (i < n_beyond)
        *out = stream_of(h, m, th_range_pieces(c->bytes, rank, rank + 1, c->n_ranks));
    return i < n_beyond;
}

static th_range move_sum(const th_collective_schedule *cs, const move *m)
{
    const hierarchical *h = cs->data;
    const th_collective *c = cs->collective;
    th_range sum = {0, 0}, next;
    int64_t pieces = (int64_t)c->n_ranks * h->n_shares * h->n_streams;
    if (!c->pair_bytes && c->bytes % pieces == 0 && c->kind != TH_ALL_REDUCE) {
        move_range(cs, m, 0, &sum);
        sum.padded = 0;
        sum.bytes *= places_along(h, m, m->before + 1, h->n_dims);
        if (c->kind == TH_ALL_TO_ALL)
            sum.bytes *= places_along(h, m, 0, m->before);
        return sum;
    }
    int32_t from, to;
    if (c->kind == TH_ALL_TO_ALL) { /* the positions of pairs would take long to find */
        for (int32_t i = 0; move_pair(cs, m, i, &from, &to); i++)
            th_range_add(&sum, stream_of(h, m, th_pair_size(c, from, to)));
        sum.first = 0;
        return sum;
    }
    for (int32_t i = 0; move_range(cs, m, i, &next); i++)
        th_range_add(&sum, next);
    return sum;
}

static bool get_step(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                     int64_t step, th_collective_step *out)
{
    const hierarchical *h = cs->data;
    move m;
    *out = TH_COLLECTIVE_STEP_NONE;
    if (!find_move(cs, participant, thread, step, &m))
        return false;
    int32_t in = (m.part * h->n_streams + m.stream) * h->n_phases;
    if (m.round > 0 && h->dim[m.dim].is_ring) {
        out->wait_port = in + m.phase;
        out->wait_count = m.round;
    } else if (m.round <= 0 && m.phase > 0) { /* all of a phase before */
        int32_t before = m.phase - 1 + m.round;
        out->wait_port = in + before;
        out->wait_count = h->dim[dim_of_phase(cs, m.part, before)].extent - 1;
    }
    if (m.round < 0)
        return true;
    int32_t to = along(h, m.dim, m.place, m.hops);
    th_collective_step_send(out, port_to(cs, participant, to), to, in + m.phase, move_sum(cs, &m));
    out->reduces = m.reduces;
    return true;
}

static bool range(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                  int64_t step, int32_t i, th_range *out)
{
    move m;
    return find_move(cs, participant, thread, step, &m) && m.round >= 0 &&
           move_range(cs, &m, i, out);
}

#define KINDS                                                                                      \
    (1u << TH_ALL_REDUCE | 1u << TH_REDUCE_SCATTER | 1u << TH_ALL_GATHER | 1u << TH_ALL_TO_ALL)

const th_algorithm th_algorithm_hierarchical = {
    .name = "hierarchical",
    .synopsis = "along one dimension of the group after the other",
    .kinds = KINDS,
    .prepare = prepare,
    .get_step = get_step,
    .range = range,
};

const th_algorithm th_algorithm_multi_axis = {
    .name = "multi_axis",
    .synopsis = "along all axes of a torus, mesh or hypercube at once, in rotated orders",
    .kinds = KINDS | 1u << TH_GATHER | 1u << TH_SCATTER,
    .prepare = prepare,
    .get_step = get_step,
    .range = range,
};
