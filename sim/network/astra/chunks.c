/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chunks.c - a collective on one rank: its chunks, and the phases that each goes through.
 *   begin -> (next_phase of each chunk)* -> th_units_done
 *
 * Every rank cuts the collective by itself; there is no barrier. Each dimension of the system is a
 * queue of every rank, first come, first served, which serves active-chunks-per-dimension chunks at
 * a time. A rank has one collective at a time. Messages of the i-th collective's chunks have the
 * same tags on all ranks because all count them alike; each group counts from its number times
 * 1,000,000.
 *
 * Where one rank stands for all, a chunk that shares no link with others takes as long as the first
 * one in the same phase, in a ring what the formula says. */
#include <config.h>
#include "sim/network/astra/trace_replay_state.h"

#include "sim/network/astra/astra_message.h"

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

th_astra_collective th_chunks_kind(const th_trace_node *n)
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
    plan p = {.s = s, .rank = rank, .kind = th_chunks_kind(n), .dims = ~0u};
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
    int32_t stride = 1, n = p->s->n_accels;
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

/* Do chunks of a dimension meet on its links? */
static bool shares_links(const th_replay_state *s)
{
    return s->is_aware && s->astra->active_chunks > 1;
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
                      .bytes = p->bytes,
                      .known_ns = -1};
    if (p->s->is_one_for_all && !shares_links(p->s) &&
        (implementation == TH_ASTRA_RING || implementation == TH_ASTRA_ONE_RING))
        phase.known_ns = th_algorithm_ring_ns(p->s, &phase);
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

static void start(th_replay_state *s, int32_t chunk)
{
    th_chunk *c = th_chunk_of(s, chunk);
    int64_t known_ns = th_phase_of(s, c)->known_ns;
    c->began_ns = s->now_ns;
    if (known_ns < 0)
        th_algorithm_start(s, chunk);
    else
        th_call_after(s, c->rank, known_ns, TH_CALL_CHUNK, chunk);
}

/* Starts the chunks behind those that run, as far as there are places. */
static void start_waiting(th_replay_state *s, th_dim_queue *q)
{
    int32_t chunk = q->chunks.first - 1;
    for (int32_t i = 0; i < q->n_running && chunk >= 0; i++)
        chunk = th_chunk_of(s, chunk)->next - 1;
    while (chunk >= 0 && q->n_running < s->astra->active_chunks && !s->failed) {
        start(s, chunk);
        q->n_running++;
        chunk = th_chunk_of(s, chunk)->next - 1;
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
    if (before && s->is_one_for_all && !shares_links(s))
        r->phases[c->phase].known_ns = s->now_ns - c->began_ns;
    if (is_last && --r->n_chunks_left == 0)
        th_units_done(s, rank, node);
    if (before) {
        th_fifo_remove(&before->chunks, &s->chunks, chunk);
        before->n_running--;
    }
    if (is_last) {
        th_pool_give(&s->chunks, chunk);
        start_waiting(s, before);
        return;
    }
    c = th_chunk_of(s, chunk);
    c->phase++;
    th_dim_queue *after = queue_of(s, rank, th_phase_of(s, c)->dim);
    th_fifo_push(&after->chunks, &s->chunks, chunk);
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

/* All are as long as the last one: an all-gather's of at least one byte, the others' of as many as
 * there are accelerators. 0 or -1. */
static int cut(const th_replay_state *s, plan *p, int64_t bytes, int64_t *n_chunks, th_error *err)
{
    *n_chunks = s->astra->splits;
    p->bytes = bytes / *n_chunks;
    if (p->kind != TH_ASTRA_ALL_GATHER && p->bytes < s->n_accels)
        p->bytes = s->n_accels;
    else if (p->bytes > 0)
        *n_chunks = bytes / p->bytes + (bytes % p->bytes != 0);
    if (p->bytes == 0)
        return th_error_set(err, "NET-0034",
                            "an all_gather of %lld bytes from each rank cannot be cut into "
                            "preferred-dataset-splits %lld",
                            (long long)bytes, (long long)s->astra->splits);
    return 0;
}

/* 0, or -1: too many to be followed. */
static int check_messages(const th_replay_state *s, const th_rank_state *r, th_error *err)
{
    enum { MAX_MESSAGES = 1 << 24 }; /* some seconds */
    int64_t n = 0, n_active = shares_links(s) ? r->n_chunks_left : s->astra->active_chunks;
    for (int32_t i = 0; i < r->n_phases; i++)
        if (r->phases[i].known_ns < 0)
            n = th_astra_add(n, th_astra_multiply(n_active, th_algorithm_messages(&r->phases[i])));
    if (!s->is_one_for_all || n <= MAX_MESSAGES)
        return 0;
    return th_error_set(err, "NET-0036",
                        "active-chunks-per-dimension %lld: %lld messages of one collective would "
                        "be followed, at most %d are possible",
                        (long long)s->astra->active_chunks, (long long)n, MAX_MESSAGES);
}

int th_chunks_begin(th_replay_state *s, int32_t rank, int32_t node, th_error *err)
{
    const th_trace_node *n = th_node_of(s, rank, node);
    th_rank_state *r = &s->ranks[rank];
    plan p = plan_of(s, rank, n);
    int64_t base, *tags = tags_of(s, rank, n, &base);
    if (cut(s, &p, n->bytes, &r->n_chunks_left, err))
        return -1;
    plan_phases(&p);
    if (r->n_phases == 0)
        return 0; /* never ends */
    if (check_messages(s, r, err))
        return -1;
    for (int64_t i = r->n_chunks_left; i > 0 && !s->failed; i--) {
        int32_t chunk = th_replay_add(
            s, &s->chunks,
            &(th_chunk){.rank = rank, .node = node, .tag = base + (*tags)++, .phase = -1});
        if (chunk >= 0)
            th_chunks_next_phase(s, chunk);
    }
    return 0;
}
