/* SPDX-License-Identifier: GPL-3.0-or-later */
/* units.c - the nodes of a rank on its three units: host, compute and communication.
 *   fire -> (done -> issue what is ready)* -> finished
 *
 * A unit holds one node at a time; receives, and what custom collectives are made of, need none.
 * After each completion the ready nodes are gone through by ascending id, and each whose unit is
 * free is issued. A node that takes no time at all (of no type, or a computation on nothing) is
 * done as it is issued, but what waits for it is looked at after the next completion only. A rank
 * finishes at the completion after which nothing is ready or under way. */
#include <config.h>
#include "sim/network/astra/trace_replay_state.h"

#include <inttypes.h>
#include <string.h>

#include "sim/network/astra/astra_message.h"

static const int64_t ns_per_us = 1000;
static const double giga = 1e9, tera = 1e12, ns_per_s = 1e9;
/* ASTRA-sim keeps tags of messages apart from those of collectives like so. */
enum { MESSAGE_TAGS = 500000000 };

static th_unit unit_of(const th_trace_node *n)
{
    if (n->is_part)
        return TH_UNIT_NONE;
    if (n->is_on_host)
        return TH_UNIT_HOST;
    if (n->kind == TH_TRACE_COMPUTE)
        return TH_UNIT_COMPUTE;
    return n->kind == TH_TRACE_RECEIVE ? TH_UNIT_NONE : TH_UNIT_COMMUNICATION;
}

static th_astra_node_times *times_of(const th_replay_state *s, int32_t rank, int32_t node)
{
    return &s->out.nodes[s->trace->ranks[rank].first + node];
}

/* ---- life ---- */

static int link_successors(const th_trace_rank *t, th_rank_state *r)
{
    size_t n = (size_t)t->n_nodes, n_deps = 0;
    for (size_t i = 0; i < n; i++)
        n_deps += (size_t)t->nodes[i].n_deps;
    r->waiting = th_alloc_array(n + 1, sizeof *r->waiting);
    r->successor_start = th_alloc_zero(n + 2, sizeof *r->successor_start);
    r->successors = th_alloc_array(n_deps + 1, sizeof *r->successors);
    if (!r->waiting || !r->successor_start || !r->successors)
        return -1;
    int32_t *start = r->successor_start;
    for (size_t i = 0; i < n; i++)
        for (int32_t k = 0; k < t->nodes[i].n_deps; k++)
            start[t->deps[t->nodes[i].first_dep + k] + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        start[i] += start[i - 1];
    for (size_t i = 0; i < n; i++) {
        r->waiting[i] = t->nodes[i].n_deps;
        for (int32_t k = 0; k < t->nodes[i].n_deps; k++)
            r->successors[start[t->deps[t->nodes[i].first_dep + k] + 1]++] = (int32_t)i;
    }
    return 0;
}

static int new_rank(th_replay_state *s, int32_t rank)
{
    th_rank_state *r = &s->ranks[rank];
    r->group_tags = th_alloc_zero((size_t)s->trace->n_groups + 1, sizeof *r->group_tags);
    if (!r->group_tags || link_successors(&s->trace->ranks[rank], r))
        return -1;
    for (int32_t i = 0; i < s->trace->ranks[rank].n_nodes; i++)
        if (r->waiting[i] == 0) {
            if (th_ready_queue_add(&r->ready[unit_of(th_node_of(s, rank, i))], i))
                return -1;
            r->n_ready++;
        }
    return 0;
}

int th_units_new(th_replay_state *s)
{
    size_t n = (size_t)s->n_ranks;
    s->ranks = th_alloc_zero(n, sizeof *s->ranks);
    s->areas = th_alloc_zero(n, sizeof *s->areas);
    if (!s->ranks || !s->areas)
        return -1;
    for (int32_t i = 0; i < s->n_ranks; i++)
        if (new_rank(s, i))
            return -1;
    return 0;
}

void th_units_free(th_replay_state *s)
{
    for (int32_t i = 0; s->ranks && i < s->n_ranks; i++) {
        th_rank_state *r = &s->ranks[i];
        for (int u = 0; u < TH_N_UNITS; u++)
            th_ready_queue_clear(&r->ready[u]);
        th_free(r->freed);
        th_free(r->waiting);
        th_free(r->successor_start);
        th_free(r->successors);
        th_free(r->group_tags);
    }
    th_free(s->ranks);
    th_free(s->areas);
}

/* ---- what can be replayed ---- */

static int refuse(const th_replay_state *s, int32_t rank, const th_trace_node *n, th_error *err,
                  const char *why)
{
    return th_error_set(err, "SIM-0301", "%s.%d.et: node %" PRIu64 ": %s", s->trace->prefix,
                        (int)rank, n->id, why);
}

static int check_node(const th_replay_state *s, int32_t rank, const th_trace_node *n, th_error *err)
{
    if (n->kind == TH_TRACE_COLLECTIVE && n->n_dims != TH_TRACE_ALL_DIMS && n->n_dims < s->n_dims)
        return refuse(s, rank, n, err,
                      "attribute involved_dim: must be a flag for each dimension of network.yml");
    if ((n->kind == TH_TRACE_LOAD || n->kind == TH_TRACE_STORE) &&
        s->trace->memory.kind == TH_TRACE_NO_MEMORY)
        return refuse(s, rank, n, err,
                      "it moves data to or from a memory that is not described: name memory.json "
                      "with -memory");
    if (n->kind == TH_TRACE_COMPUTE && !n->is_on_host && s->has_roofline &&
        (!n->has_operations || !n->has_bytes || (n->operations == 0 && n->bytes > 0)))
        return refuse(s, rank, n, err, "the roofline needs num_ops, more than 0, and tensor_size");
    return 0;
}

int th_units_check(const th_replay_state *s, th_error *err)
{
    for (int32_t rank = 0; rank < s->n_ranks && !s->astra->is_replay_only; rank++)
        for (int32_t i = 0; i < s->trace->ranks[rank].n_nodes; i++)
            if (check_node(s, rank, th_node_of(s, rank, i), err))
                return -1;
    return 0;
}

/* ---- issue ---- */

static void run_for(th_replay_state *s, int32_t rank, int32_t node, int64_t ns)
{
    if (!th_node_of(s, rank, node)->is_on_host)
        s->ranks[rank].duration_ns = th_astra_add(s->ranks[rank].duration_ns, ns);
    th_call_after(s, rank, ns, TH_CALL_NODE, node);
}

static int64_t measured_ns(const th_trace_node *n)
{
    return n->duration_us > 0 ? n->duration_us * ns_per_us : 1;
}

static int64_t roofline_ns(const th_replay_state *s, const th_trace_node *n)
{
    double operations = (double)n->operations;
    double intensity = operations / (double)n->bytes;
    double memory = s->astra->local_mem_gb_per_s * giga * intensity;
    double peak = s->astra->peak_tflops * tera;
    double rate = memory < peak ? memory : peak;
    return th_astra_floor(operations / rate * ns_per_s);
}

static th_wire_key key_of(const th_trace_node *n, int32_t rank)
{
    bool sends = n->kind == TH_TRACE_SEND;
    return (th_wire_key){.bytes = n->bytes,
                         .tag = n->tag % MESSAGE_TAGS,
                         .from = sends ? rank : n->peer,
                         .to = sends ? n->peer : rank,
                         .tag_class = TH_TAG_MESSAGE};
}

static th_memory_area *area_of(const th_replay_state *s, int32_t rank)
{
    switch ((th_trace_memory_kind)s->trace->memory.kind) {
    case TH_TRACE_MEMORY_POOL:
        return &s->areas[0];
    case TH_TRACE_MEMORY_PER_NODE:
        return &s->areas[rank / s->trace->memory.ranks_per_node];
    case TH_TRACE_NO_MEMORY:
    case TH_TRACE_MEMORY_PER_RANK:
        break;
    }
    return NULL;
}

static void start_access(th_replay_state *s, int32_t rank, int32_t node)
{
    const th_trace_memory *m = &s->trace->memory;
    int64_t move_ns =
        th_astra_floor((double)th_node_of(s, rank, node)->bytes / (double)m->bytes_per_ns);
    int64_t ns = th_astra_add(m->latency_ns, move_ns);
    th_memory_area *area = area_of(s, rank);
    th_call_after(s, rank, ns, TH_CALL_NODE, node);
    if (!area)
        return;
    area->is_busy = true;
    th_call_after(s, rank, ns, TH_CALL_MEMORY, node);
}

static void access_memory(th_replay_state *s, int32_t rank, int32_t node)
{
    th_memory_area *area = area_of(s, rank);
    if (!area || !area->is_busy)
        start_access(s, rank, node);
    else
        th_replay_push(s, &area->waiting, &s->accesses, &(th_memory_access){0, rank, node});
}

void th_units_memory_free(th_replay_state *s, int32_t rank)
{
    th_memory_area *area = area_of(s, rank);
    th_memory_access next;
    area->is_busy = false;
    if (th_fifo_take(&area->waiting, &s->accesses, &next))
        start_access(s, next.rank, next.node);
}

/* Its dependents will be looked at after the next completion. */
static void finish_node(th_replay_state *s, int32_t rank, int32_t node)
{
    th_rank_state *r = &s->ranks[rank];
    r->is_busy[unit_of(th_node_of(s, rank, node))] = false;
    r->n_running--;
    times_of(s, rank, node)->done_ns = s->now_ns;
    for (int32_t i = r->successor_start[node]; i < r->successor_start[node + 1]; i++) {
        int32_t next = r->successors[i];
        if (--r->waiting[next] > 0)
            continue;
        if (th_grow(&r->freed, &r->freed_capacity, r->n_freed + 1, sizeof *r->freed)) {
            s->failed = true;
            return;
        }
        r->freed[r->n_freed++] = next;
        r->n_ready++;
    }
}

static void issue_collective(th_replay_state *s, int32_t rank, int32_t node)
{
    const th_trace_node *n = th_node_of(s, rank, node);
    if (n->collective == TH_TRACE_BROADCAST)
        th_call_after(s, rank, measured_ns(n), TH_CALL_NODE, node);
    else if (th_chunks_begin(s, rank, node, &s->error))
        s->failed = true;
}

static void issue_kind(th_replay_state *s, int32_t rank, int32_t node)
{
    const th_trace_node *n = th_node_of(s, rank, node);
    th_wire_key key = key_of(n, rank);
    switch ((th_trace_kind)n->kind) {
    case TH_TRACE_COMPUTE:
        if (!s->has_roofline || n->is_on_host)
            run_for(s, rank, node, measured_ns(n));
        else if (n->bytes == 0)
            finish_node(s, rank, node);
        else
            run_for(s, rank, node, roofline_ns(s, n));
        break;
    case TH_TRACE_LOAD:
    case TH_TRACE_STORE:
        access_memory(s, rank, node);
        break;
    case TH_TRACE_SEND:
        th_wire_send(s, &key, node);
        break;
    case TH_TRACE_RECEIVE:
        th_wire_receive_message(s, &key,
                                &(th_wire_receive){.rank = rank, .node = node, .chunk = -1});
        break;
    case TH_TRACE_COLLECTIVE:
        issue_collective(s, rank, node);
        break;
    case TH_TRACE_INVALID:
    case TH_TRACE_METADATA:
    case TH_TRACE_N_KINDS:
        if (n->is_part) /* the end of a custom collective */
            run_for(s, rank, node, 0);
        else
            finish_node(s, rank, node);
        break;
    }
}

static void issue(th_replay_state *s, int32_t rank, int32_t node)
{
    const th_trace_node *n = th_node_of(s, rank, node);
    th_rank_state *r = &s->ranks[rank];
    r->n_ready--;
    r->n_running++;
    r->is_busy[unit_of(n)] = unit_of(n) != TH_UNIT_NONE;
    times_of(s, rank, node)->issue_ns = s->now_ns;
    if (s->astra->is_replay_only)
        run_for(s, rank, node, measured_ns(n));
    else
        issue_kind(s, rank, node);
}

/* The unit with the lowest ready node among those that are free; TH_N_UNITS: none. */
static int next_unit(const th_rank_state *r)
{
    int best = TH_N_UNITS;
    for (int u = 0; u < TH_N_UNITS; u++)
        if (!r->is_busy[u] && r->ready[u].n > 0 &&
            (best == TH_N_UNITS ||
             th_ready_queue_peek(&r->ready[u]) < th_ready_queue_peek(&r->ready[best])))
            best = u;
    return best;
}

static void issue_ready(th_replay_state *s, int32_t rank)
{
    th_rank_state *r = &s->ranks[rank];
    for (int u; !s->failed && (u = next_unit(r)) != TH_N_UNITS;)
        issue(s, rank, th_ready_queue_take(&r->ready[u]));
}

/* What became ready before this completion, and by it, can be issued now. */
static void take_freed(th_replay_state *s, int32_t rank)
{
    th_rank_state *r = &s->ranks[rank];
    for (size_t i = 0; i < r->n_freed; i++)
        if (th_ready_queue_add(&r->ready[unit_of(th_node_of(s, rank, r->freed[i]))], r->freed[i]))
            s->failed = true;
    r->n_freed = 0;
}

static void finish_if_done(th_replay_state *s, int32_t rank)
{
    th_rank_state *r = &s->ranks[rank];
    if (r->n_ready > 0 || r->n_running > 0)
        return;
    s->out.ranks[rank] =
        (th_astra_rank_times){s->now_ns, (uint64_t)s->now_ns - (uint64_t)r->duration_ns};
}

void th_units_fire(th_replay_state *s, int32_t rank)
{
    issue_ready(s, rank);
    finish_if_done(s, rank);
}

void th_units_done(th_replay_state *s, int32_t rank, int32_t node)
{
    finish_node(s, rank, node);
    take_freed(s, rank);
    issue_ready(s, rank);
    finish_if_done(s, rank);
}
