/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchical.c - a collective as a sequence of collectives along the dimensions of the group.
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
 * Chunks are pipelined through the dimensions (wavefront.h), so several dimensions are busy at
 * once; where there are rings, a stream of half of a chunk in each direction. Ports: in by stream
 * and phase; out by first medium. Not modelled: the time of additions; rings that avoid the long
 * wrap-around path of a line. */
#include <config.h>

#include "base/alloc.h"
#include "sim/collective/algorithms.h"
#include "sim/collective/ports.h"
#include "sim/collective/wavefront.h"
#include "topology/routing/route.h"

typedef struct dimension {
    int32_t extent, stride;
    bool is_ring;
} dimension;

typedef struct hierarchical {
    dimension dim[TH_MAX_DIMS];
    int32_t n_dims, n_phases;
    int32_t directions; /* 2 where there are rings */
    int32_t n_streams;  /* chunks times directions */
    int32_t n_out;      /* ports of a rank, without the one to ranks of its own node */
    th_wavefront order; /* its phases: those of the group, of each direction */
} hierarchical;

/* A step sends, in a phase and along a dimension, the data of one coordinate. */
typedef struct move {
    int32_t phase, round, stream;
    int32_t dim;
    int32_t coordinate; /* of the data */
    int32_t hops;       /* to the receiver, 1 .. extent - 1 */
    bool reduces;
} move;

static int32_t coordinate(const dimension *d, int32_t rank)
{
    return rank / d->stride % d->extent;
}

/* The rank `hops` further on along a dimension. */
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
    return cs->collective->kind != TH_ALL_GATHER && phase < h->n_dims;
}

static int32_t dim_of_phase(const th_collective_schedule *cs, int32_t phase)
{
    const hierarchical *h = cs->data;
    return scatters(cs, phase) ? phase : h->n_phases - 1 - phase;
}

/* Do messages of both phases of the wavefront leave a rank at one port? A phase of a ring has one
 * peer of a rank, others have all. seen: by port, the last of a phase that used it; *mark: the
 * greatest there. */
static bool share_a_port(const th_collective_schedule *cs, int32_t p, int32_t a, int32_t b,
                         int64_t *seen, int64_t *mark)
{
    const hierarchical *h = cs->data;
    const int64_t of_a = ++*mark;
    for (int i = 0; i < 2; i++) {
        int32_t which = i == 0 ? a : b;
        const dimension *d = &h->dim[dim_of_phase(cs, which / h->directions)];
        bool is_back = which % h->directions == 1;
        int32_t first = d->is_ring && is_back ? d->extent - 1 : 1;
        int32_t last = d->is_ring ? first : d->extent - 1;
        for (int32_t hops = first; hops <= last; hops++) {
            int32_t port = port_to(cs, p, along(d, p, hops));
            if (i == 1 && seen[port] == of_a)
                return true;
            seen[port] = i == 0 ? of_a : seen[port];
        }
    }
    return false;
}

static int find_order(th_collective_schedule *cs, hierarchical *h, th_error *err)
{
    th_wavefront *w = &h->order;
    w->lanes = h->directions;
    w->n_phases = h->n_phases * h->directions;
    for (int32_t i = 0; i < w->n_phases; i++)
        w->phase[i] = (th_phase){.slot = i / h->directions,
                                 .rounds = h->dim[dim_of_phase(cs, i / h->directions)].extent - 1};
    th_wavefront_begin(w);
    int64_t mark = 0, *seen = th_alloc_zero((size_t)h->n_out + 1, sizeof *seen);
    if (!seen)
        return th_error_no_memory(err);
    for (int32_t p = 0; p < cs->collective->n_ranks; p++)
        for (int32_t i = 0; i < w->n_phases; i++)
            for (int32_t j = 0; j < i; j++)
                if (w->phase[i].thread != w->phase[j].thread &&
                    share_a_port(cs, p, i, j, seen, &mark))
                    th_wavefront_join(w, i, j);
    th_free(seen);
    return th_wavefront_init(w, h->n_streams / h->directions, &cs->memory, err);
}

static int prepare(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    hierarchical *h = th_memory_take(&cs->memory, 1, sizeof *h);
    if (!h)
        return th_error_no_memory(err);
    cs->data = h;
    h->directions = 1;
    if (find_dimensions(cs, h, err))
        return -1;
    for (int32_t q = 0; q < h->n_dims; q++) {
        dimension *d = &h->dim[q];
        d->is_ring = c->kind != TH_ALL_TO_ALL && d->extent > 2 && needs_ring(cs, d);
        h->directions = d->is_ring ? 2 : h->directions;
    }
    h->n_phases = c->kind == TH_ALL_REDUCE ? 2 * h->n_dims : h->n_dims;
    h->n_streams = th_chunks_used(c) * h->directions;
    int32_t in = h->n_streams * h->n_phases;
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
    *m = (move){.phase = w.phase / h->directions, .round = w.round};
    m->dim = dim_of_phase(cs, m->phase);
    m->stream = w.chunk * h->directions + w.phase % h->directions;
    const dimension *d = &h->dim[m->dim];
    bool is_scatter = scatters(cs, m->phase);
    int32_t direction = w.phase % h->directions == 1 ? -1 : 1;
    if (w.round < 0)
        return true;
    int32_t hops = direction * (d->is_ring ? 1 : m->round + 1);
    int32_t of = d->is_ring ? -direction * (m->round + is_scatter) : is_scatter ? hops : 0;
    m->hops = th_wrap(hops, d->extent);
    m->coordinate = th_wrap(coordinate(d, p) + of, d->extent);
    m->reduces = is_scatter && cs->collective->kind != TH_ALL_TO_ALL;
    return true;
}

/* all_to_all: pair i of those whose bytes a move carries. */
static bool move_pair(const th_collective_schedule *cs, int32_t p, const move *m, int32_t i,
                      int32_t *from, int32_t *to)
{
    const hierarchical *h = cs->data;
    const dimension *d = &h->dim[m->dim];
    int32_t stride = d->stride, beyond = stride * d->extent;
    *from = p - p % stride + i % stride;
    *to = p % stride + m->coordinate * stride + i / stride * beyond;
    return i < cs->collective->n_ranks / d->extent;
}

/* Range i of a move: the pieces with the coordinate along its dimension, the rank's own coordinates
 * in earlier dimensions and any in later ones. all_to_all: the data for such ranks from ranks that
 * differ from this one in earlier dimensions only. */
static bool move_range(const th_collective_schedule *cs, int32_t p, const move *m, int32_t i,
                       th_range *out)
{
    const hierarchical *h = cs->data;
    const th_collective *c = cs->collective;
    const dimension *d = &h->dim[m->dim];
    int32_t stride = d->stride, beyond = d->stride * d->extent, n_beyond = c->n_ranks / beyond;
    int32_t first = p % stride + m->coordinate * stride; /* rank */
    if (c->kind == TH_ALL_REDUCE) { /* numbered with the last dimension fastest: one range */
        int32_t at = 0;
        for (int32_t q = 0; q < m->dim; q++)
            at = at * h->dim[q].extent + coordinate(&h->dim[q], p);
        at = (at * d->extent + m->coordinate) * n_beyond;
        th_range all = th_range_pieces(c->bytes, m->stream, m->stream + 1, h->n_streams);
        *out = th_range_pieces(all.bytes, at, at + n_beyond, c->n_ranks);
        out->first += all.first;
        return i == 0;
    }
    if (c->kind != TH_ALL_TO_ALL) {
        int32_t rank = first + i * beyond;
        if (i < n_beyond)
            *out = th_range_part(th_range_pieces(c->bytes, rank, rank + 1, c->n_ranks), m->stream,
                                 h->n_streams);
        return i < n_beyond;
    }
    int32_t from, to;
    if (!move_pair(cs, p, m, i, &from, &to))
        return false;
    th_range pair = {th_pair_first(c, from, to), th_pair_bytes(c, from, to)};
    *out = th_range_part(pair, m->stream, h->n_streams);
    return true;
}

static th_range move_sum(const th_collective_schedule *cs, int32_t p, const move *m)
{
    const hierarchical *h = cs->data;
    const th_collective *c = cs->collective;
    th_range sum = {0, 0}, next;
    bool even = !c->pair_bytes && c->bytes % ((int64_t)c->n_ranks * h->n_streams) == 0;
    if (even && c->kind != TH_ALL_REDUCE) {
        const dimension *d = &h->dim[m->dim];
        int32_t n_ranges = c->n_ranks / d->extent;
        if (c->kind != TH_ALL_TO_ALL)
            n_ranges /= d->stride;
        move_range(cs, p, m, 0, &sum);
        sum.bytes *= n_ranges;
        return sum;
    }
    int32_t from, to;
    if (c->kind == TH_ALL_TO_ALL) { /* the positions of pairs would take long to find */
        for (int32_t i = 0; move_pair(cs, p, m, i, &from, &to); i++)
            sum.bytes +=
                th_range_part((th_range){0, th_pair_bytes(c, from, to)}, m->stream, h->n_streams)
                    .bytes;
        return sum;
    }
    for (int32_t i = 0; move_range(cs, p, m, i, &next); i++) {
        sum.first = i == 0 ? next.first : sum.first;
        sum.bytes += next.bytes;
    }
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
    const dimension *d = &h->dim[m.dim];
    int32_t in = m.stream * h->n_phases;
    if (m.round > 0 && d->is_ring) {
        out->wait_port = in + m.phase;
        out->wait_count = m.round;
    } else if (m.round <= 0 && m.phase > 0) { /* all of a phase before */
        int32_t before = m.phase - 1 + m.round;
        out->wait_port = in + before;
        out->wait_count = h->dim[dim_of_phase(cs, before)].extent - 1;
    }
    if (m.round < 0)
        return true;
    int32_t to = along(d, participant, m.hops);
    th_collective_step_send(out, port_to(cs, participant, to), to, in + m.phase,
                            move_sum(cs, participant, &m));
    out->reduces = m.reduces;
    return true;
}

static bool range(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                  int64_t step, int32_t i, th_range *out)
{
    move m;
    return find_move(cs, participant, thread, step, &m) && m.round >= 0 &&
           move_range(cs, participant, &m, i, out);
}

const th_algorithm th_algorithm_hierarchical = {
    .name = "hierarchical",
    .synopsis = "along one dimension of the group after the other",
    .kinds =
        1u << TH_ALL_REDUCE | 1u << TH_REDUCE_SCATTER | 1u << TH_ALL_GATHER | 1u << TH_ALL_TO_ALL,
    .prepare = prepare,
    .get_step = get_step,
    .range = range,
};
