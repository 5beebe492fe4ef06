/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chunks.c - a collective on one rank: its chunks, and the phases that each goes through.
 *   begin -> (next_phase of each chunk)* -> th_units_done
 *
 * Every rank cuts the collective by itself; there is no barrier. Each dimension of the system is a
 * queue of every rank, first come, first served, which serves active-chunks-per-dimension chunks at
 * a time. A rank has one collective at a time. Messages of the i-th collective's chunks have the
 * same tags on all ranks because all count them alike; each group counts from its number times
 * 1,000,000. */
#include <config.h>
#include "sim/astra/trace_replay_state.h"

#include "sim/network/astra/astra_physics.h"

static const int64_t tags_of_group = 1000000;

/* ---- phases ---- */

/* What a collective runs on: the dimensions of the system, or the ring of a group. */
typedef struct {
    th_replay_state *s;
    int32_t rank;
    const th_trace_group *group; /* NULL: all ranks */
    th_astra_collective kind;
    int n_dims;
    unsigned dims; /* that take part */
    int64_t bytes; /* of a chunk, before the next phase */
} plan;

static th_astra_collective kind_of(const th_trace_node *n)
{
    switch ((th_trace_collective)n->collective) {
    case TH_TRACE_ALL_REDUCE:
        return TH_ASTRA_ALL_REDUCE;
    case TH_TRACE_ALL_GATHER:
        return TH_ASTRA_ALL_GATHER;
    case TH_TRACE_ALL_TO_ALL:
        return TH_ASTRA_ALL_TO_ALL;
    case TH_TRACE_REDUCE_SCATTER:
    case TH_TRACE_BROADCAST:
        break;
    }
    return TH_ASTRA_REDUCE_SCATTER;
}

static bool is_over_all(int implementation)
{
    return implementation == TH_ASTRA_ONE_RING || implementation == TH_ASTRA_ONE_DIRECT ||
           implementation == TH_ASTRA_ONE_HALVING_DOUBLING;
}

static int dims_of_system(const th_astra *a, th_astra_collective kind)
{
    int d = 0;
    while (d + 1 < a->n_dims && !is_over_all(a->dims[d].implementation[kind]))
        d++;
    return d + 1;
}

static plan plan_of(th_replay_state *s, int32_t rank, const th_trace_node *n)
{
    const th_trace_group *g = n->group >= 0 ? &s->trace->groups[n->group] : NULL;
    plan p = {.s = s, .rank = rank, .kind = kind_of(n), .dims = ~0u};
    p.group = g && g->n_members < s->n_ranks ? g : NULL;
    p.n_dims = p.group ? 1 : dims_of_system(s->astra, p.kind);
    if (!g && n->n_dims != TH_TRACE_ALL_DIMS)
        p.dims = n->dims;
    return p;
}

static int32_t place_in(const th_trace_group *g, int32_t rank)
{
    int32_t i = 0;
    while (g->members[i] != rank)
        i++;
    return i;
}

static th_logical_ring ring_of(const plan *p, int d, int implementation)
{
    const th_astra *a = p->s->astra;
    int32_t stride = 1, n = p->s->n_ranks;
    if (p->group)
        return (th_logical_ring){.members = p->group->members,
                                 .n = p->group->n_members,
                                 .self = place_in(p->group, p->rank)};
    for (int i = 0; i < d; i++)
        stride *= a->dims[i].size;
    if (is_over_all(implementation))
        stride = 1;
    else
        n = a->dims[d].size;
    int32_t self = p->rank / stride % n;
    return (th_logical_ring){
        .base = p->rank - self * stride, .stride = stride, .n = n, .self = self};
}

static bool takes_part(const plan *p, int d)
{
    int implementation = p->s->astra->dims[d].implementation[p->kind];
    return (p->dims >> d & 1) && ring_of(p, d, implementation).n > 1;
}

static void add_phase(plan *p, th_astra_collective kind, int d)
{
    const th_astra *a = p->s->astra;
    th_rank_state *r = &p->s->ranks[p->rank];
    /* ASTRA-sim runs a group in a system of several dimensions as a ring. */
    int implementation =
        p->group && a->n_dims > 1 ? TH_ASTRA_RING : a->dims[d].implementation[p->kind];
    th_phase phase = {.dim = d,
                      .kind = kind,
                      .implementation = (th_astra_implementation)implementation,
                      .window = a->dims[d].window[p->kind],
                      .is_upwards = true,
                      .is_in_group = p->group,
                      .ring = ring_of(p, d, implementation),
                      .bytes = p->bytes};
    p->bytes = th_algorithm_final_bytes(&phase);
    r->phases[r->n_phases++] = phase;
}

static void plan_all_reduce(plan *p)
{
    int last = -1;
    for (int d = 0; d < p->n_dims; d++)
        if (takes_part(p, d))
            last = d;
    for (int d = 0; d < last; d++)
        if (takes_part(p, d))
            add_phase(p, TH_ASTRA_REDUCE_SCATTER, d);
    if (last >= 0)
        add_phase(p, TH_ASTRA_ALL_REDUCE, last);
    for (int d = last - 1; d >= 0; d--)
        if (takes_part(p, d))
            add_phase(p, TH_ASTRA_ALL_GATHER, d);
}

static void plan_phases(plan *p)
{
    p->s->ranks[p->rank].n_phases = 0;
    if (p->kind == TH_ASTRA_ALL_REDUCE && p->s->astra->is_local_bw_aware) {
        plan_all_reduce(p);
        return;
    }
    for (int i = 0; i < p->n_dims; i++) {
        int d = p->kind == TH_ASTRA_ALL_GATHER ? p->n_dims - 1 - i : i;
        if (takes_part(p, d))
            add_phase(p, p->kind, d);
    }
}

/* ---- queues ---- */

static th_dim_queue *queue_of(th_replay_state *s, int32_t rank, int32_t dim)
{
    return &s->queues[(int64_t)rank * s->n_dims + dim];
}

static void add_to_queue(th_replay_state *s, th_dim_queue *q, int32_t chunk)
{
    th_chunk_of(s, chunk)->next = -1;
    if (q->last < 0)
        q->first = chunk;
    else
        th_chunk_of(s, q->last)->next = chunk;
    q->last = chunk;
}

static void remove_from_queue(th_replay_state *s, th_dim_queue *q, int32_t chunk)
{
    int32_t before = -1, i = q->first;
    for (; i != chunk; i = th_chunk_of(s, i)->next)
        before = i;
    int32_t next = th_chunk_of(s, chunk)->next;
    if (before < 0)
        q->first = next;
    else
        th_chunk_of(s, before)->next = next;
    if (q->last == chunk)
        q->last = before;
}

/* Starts the chunks behind those that run, as far as there are places. */
static void start_waiting(th_replay_state *s, th_dim_queue *q)
{
    int32_t chunk = q->first;
    for (int32_t i = 0; i < q->n_running && chunk >= 0; i++)
        chunk = th_chunk_of(s, chunk)->next;
    while (chunk >= 0 && q->n_running < s->astra->active_chunks && !s->failed) {
        th_algorithm_start(s, chunk);
        q->n_running++;
        chunk = th_chunk_of(s, chunk)->next;
    }
}

/* The order of these steps is ASTRA-sim's: a collective that begins because this one is done queues
 * its chunks before the place of the last chunk is free. */
void th_chunks_next_phase(th_replay_state *s, int32_t chunk)
{
    th_chunk *c = th_chunk_of(s, chunk);
    th_rank_state *r = &s->ranks[c->rank];
    int32_t rank = c->rank, node = c->node;
    th_dim_queue *before = c->phase >= 0 ? queue_of(s, rank, th_phase_of(s, c)->dim) : NULL;
    bool is_last = c->phase + 1 == r->n_phases;
    if (is_last && --r->n_chunks_left == 0)
        th_units_done(s, rank, node);
    if (before) {
        remove_from_queue(s, before, chunk);
        before->n_running--;
    }
    if (is_last) {
        th_pool_give(&s->chunks, chunk, sizeof(th_chunk));
        start_waiting(s, before);
        return;
    }
    c = th_chunk_of(s, chunk);
    c->phase++;
    th_dim_queue *after = queue_of(s, rank, th_phase_of(s, c)->dim);
    add_to_queue(s, after, chunk);
    if (before)
        start_waiting(s, before);
    start_waiting(s, after);
}

/* ---- begin ---- */

static int64_t *tags_of(th_replay_state *s, int32_t rank, const th_trace_node *n, int64_t *base)
{
    th_rank_state *r = &s->ranks[rank];
    *base = n->group >= 0 ? s->trace->groups[n->group].tag_number * tags_of_group : 0;
    return n->group >= 0 ? &r->group_tags[n->group] : &r->n_tags;
}

int th_chunks_begin(th_replay_state *s, int32_t rank, int32_t node, th_error *err)
{
    const th_trace_node *n = th_node_of(s, rank, node);
    th_rank_state *r = &s->ranks[rank];
    plan p = plan_of(s, rank, n);
    int64_t n_chunks, base, *tags = tags_of(s, rank, n, &base);
    if (th_astra_cut_into_chunks(s->astra, p.kind, n->bytes, &p.bytes, &n_chunks, err))
        return -1;
    plan_phases(&p);
    if (r->n_phases == 0)
        return 0; /* never ends */
    r->n_chunks_left = n_chunks;
    for (int64_t i = 0; i < n_chunks && !s->failed; i++) {
        int32_t chunk = th_pool_take(&s->chunks, sizeof(th_chunk));
        if (chunk < 0)
            return th_error_no_memory(err);
        *th_chunk_of(s, chunk) =
            (th_chunk){.rank = rank, .node = node, .tag = base + (*tags)++, .phase = -1};
        th_chunks_next_phase(s, chunk);
    }
    return 0;
}
