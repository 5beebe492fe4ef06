/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_trace.c - see lower_trace.h.
 *   add the tasks of all nodes -> stand for receives and collectives -> depend
 * What waits for a receive waits for its message, and what waits for a collective's node for the
 * collective: no task of no duration stands between two others, so that those which become ready
 * at one time start in the order of their numbers. */
#include <config.h>
#include "sim/execution_trace/lower_trace.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/execution_trace/trace_groups.h"
#include "topology/files/astra.h"

static const th_time ps_per_us = 1000000, ps_per_ns = 1000;

typedef struct lowering {
    const th_lower_trace_options *o;
    const th_trace *trace;
    const th_system *system;
    th_program *program;
    double *operations_per_s, *bytes_per_s; /* by rank; NULL: durations alone are used */
    int32_t *settled_by; /* by node: the task that what waits for the node waits for */
} lowering;

/* ---- begin ---- */

static void clear(lowering *l)
{
    th_free(l->operations_per_s);
    th_free(l->bytes_per_s);
    th_free(l->settled_by);
}

static int find_rooflines(lowering *l, th_error *err)
{
    size_t n = (size_t)l->trace->n_ranks;
    th_compute_cost_cache *costs = th_compute_cost_cache_new(l->system, err);
    l->operations_per_s = th_alloc_array(n, sizeof *l->operations_per_s);
    l->bytes_per_s = th_alloc_array(n, sizeof *l->bytes_per_s);
    int status = !costs                                    ? -1
                 : !l->operations_per_s || !l->bytes_per_s ? th_error_no_memory(err)
                                                           : 0;
    for (int32_t i = 0; status == 0 && i < l->trace->n_ranks; i++)
        status =
            th_compute_cost_roofline(costs, i, &l->operations_per_s[i], &l->bytes_per_s[i], err);
    th_compute_cost_cache_free(costs);
    return status;
}

static int begin(lowering *l, const th_lower_trace_options *o, th_program *p, th_error *err)
{
    *l = (lowering){.o = o, .trace = o->trace, .system = o->system, .program = p};
    l->settled_by = th_alloc_array((size_t)o->trace->n_nodes + 1, sizeof *l->settled_by);
    if (!l->settled_by)
        return th_error_no_memory(err);
    for (int32_t i = 0; i < o->trace->n_nodes; i++)
        l->settled_by[i] = i;
    return 0;
}

/* ---- tasks ---- */

static int bad_node(const lowering *l, int32_t rank, const th_trace_node *n, th_error *err,
                    const char *why)
{
    return th_error_set(err, "MAP-0301", "%s.%d.et: node %" PRIu64 ": %s", l->trace->prefix,
                        (int)rank, n->id, why);
}

static int accel_of(const lowering *l, int32_t rank)
{
    return l->system->accel_node[rank];
}

/* A delay on no resource. */
static th_task delay(const th_trace_node *n, th_time ps)
{
    return (th_task){.kind = TH_TASK_HOST,
                     .node = -1,
                     .peer = -1,
                     .compute_cost = -1,
                     .release_ps = n->release_ps,
                     .delay_ps = ps,
                     .layer = -1};
}

/* Of the accelerator of the rank. 0 or -1. */
static int compute(const lowering *l, int32_t rank, const th_trace_node *n, th_time ps,
                   th_task *out, th_error *err)
{
    th_fixed_work w = {.duration_ps = ps, .operations = n->operations, .bytes = n->bytes};
    *out = delay(n, 0);
    if (ps == 0)
        return 0;
    out->kind = TH_TASK_COMPUTE;
    out->node = accel_of(l, rank);
    out->compute_cost = th_program_add_work(l->program, &w, err);
    return out->compute_cost < 0 ? -1 : 0;
}

static th_time measured_ps(const th_trace_node *n)
{
    return n->duration_ps >= 0 ? n->duration_ps : n->duration_us * ps_per_us;
}

static int compute_ps(const lowering *l, int32_t rank, const th_trace_node *n, th_time *ps,
                      th_error *err)
{
    *ps = measured_ps(n);
    if (!l->operations_per_s || n->is_on_host)
        return 0;
    if (!n->has_operations || !n->has_bytes)
        return bad_node(l, rank, n, err, "the roofline needs num_ops and tensor_size");
    double s = fmax((double)n->operations / l->operations_per_s[rank],
                    (double)n->bytes / l->bytes_per_s[rank]);
    double rounded = ceil(s * (double)TH_PS_PER_S);
    if (!(rounded < 0x1p60))
        return bad_node(l, rank, n, err, "its operations and bytes take longer than 13 days");
    *ps = (th_time)rounded;
    return 0;
}

/* To or from memory outside the accelerators: one rank does not disturb another. */
static int access_ps(const lowering *l, int32_t rank, const th_trace_node *n, th_time *ps,
                     th_error *err)
{
    const th_trace_memory *m = &l->trace->memory;
    *ps = measured_ps(n);
    bool is_replay_only = l->system->astra && l->system->astra->is_replay_only;
    if (m->kind == TH_TRACE_NO_MEMORY && *ps == 0 && !is_replay_only)
        return bad_node(l, rank, n, err,
                        "it moves data to or from a memory that is not described: name "
                        "memory.json with -memory");
    if (m->kind != TH_TRACE_NO_MEMORY)
        *ps = (m->latency_ns + n->bytes / m->bytes_per_ns) * ps_per_ns;
    return 0;
}

static int64_t bytes_of(const th_trace_node *n)
{
    return n->exact_bytes >= 0 ? n->exact_bytes : n->bytes;
}

static th_task transfer(const th_trace_node *n, int from, int to)
{
    return (th_task){.kind = TH_TASK_TRANSFER,
                     .node = from,
                     .peer = to,
                     .compute_cost = -1,
                     .bytes = bytes_of(n),
                     .release_ps = n->release_ps,
                     .delay_ps = n->delay_ps,
                     .layer = -1};
}

/* From or to a node of the system that the trace names, else to a memory that it does not name. */
static int access_memory(const lowering *l, int32_t rank, const th_trace_node *n, th_task *out,
                         th_error *err)
{
    const char *name = th_trace_text(&l->trace->ranks[rank], n->place);
    int here = accel_of(l, rank), there = name ? th_system_find_node(l->system, name) : -1;
    if (!name)
        return access_ps(l, rank, n, &out->delay_ps, err);
    if (there < 0 || there == here)
        return bad_node(l, rank, n, err,
                        "attribute tharsis_node: must be another node of the system");
    *out = n->kind == TH_TRACE_LOAD ? transfer(n, there, here) : transfer(n, here, there);
    return 0;
}

static int task_of(const lowering *l, int32_t rank, const th_trace_node *n, th_task *out,
                   th_error *err)
{
    th_time ps = 0;
    *out = delay(n, 0);
    switch ((th_trace_kind)n->kind) {
    case TH_TRACE_COMPUTE:
        if (compute_ps(l, rank, n, &ps, err))
            return -1;
        if (!n->is_on_host)
            return compute(l, rank, n, ps, out, err);
        out->delay_ps = ps;
        break;
    case TH_TRACE_LOAD:
    case TH_TRACE_STORE:
        return access_memory(l, rank, n, out, err);
    case TH_TRACE_SEND:
        *out = transfer(n, accel_of(l, rank), accel_of(l, n->peer));
        break;
    case TH_TRACE_INVALID:
    case TH_TRACE_METADATA:
    case TH_TRACE_RECEIVE:
    case TH_TRACE_COLLECTIVE:
    case TH_TRACE_N_KINDS:
        break;
    }
    return 0;
}

static int interrupted(const lowering *l, int32_t i)
{
    enum { TASKS_BETWEEN = 1 << 16 };
    return i % TASKS_BETWEEN == 0 && l->o->is_interrupted && l->o->is_interrupted();
}

static int add_tasks(const lowering *l, th_error *err)
{
    th_task task;
    for (int32_t rank = 0; rank < l->trace->n_ranks; rank++)
        for (int32_t i = 0; i < l->trace->ranks[rank].n_nodes; i++) {
            if (interrupted(l, i))
                return th_error_interrupted(err, "the trace was not lowered");
            if (task_of(l, rank, &l->trace->ranks[rank].nodes[i], &task, err) ||
                th_program_add(l->program, &task, err) < 0)
                return -1;
        }
    return 0;
}

static int depend_one(const lowering *l, int32_t task, int32_t node, th_error *err)
{
    int32_t before = l->settled_by[node];
    /* A node that waits for itself never starts. */
    return before == task ? th_program_block(l->program, task, err)
                          : th_program_depend(l->program, task, before, err);
}

static int depend_node(const lowering *l, int32_t rank, const th_trace_node *n, int32_t task,
                       th_error *err)
{
    const th_trace_rank *r = &l->trace->ranks[rank];
    for (int32_t k = n->first_dep; k < n->first_dep + n->n_deps; k++)
        if (depend_one(l, task, r->first + r->deps[k], err))
            return -1;
    for (int32_t k = n->first_far; k < n->first_far + n->n_far; k++)
        if (depend_one(l, task, l->trace->ranks[r->far[k].rank].first + r->far[k].node, err))
            return -1;
    return 0;
}

/* ---- what ranks do together ---- */

/* The algorithm that system.json names for the kind, where one of ours sends the same messages: in
 * one dimension, or in all as if they were one. NULL: any. */
static const th_algorithm *algorithm_of_system(const th_astra *a, const th_collective *c)
{
    static const int keys[TH_N_COLLECTIVES] = {[TH_ALL_REDUCE] = TH_ASTRA_ALL_REDUCE + 1,
                                               [TH_REDUCE_SCATTER] = TH_ASTRA_REDUCE_SCATTER + 1,
                                               [TH_ALL_GATHER] = TH_ASTRA_ALL_GATHER + 1,
                                               [TH_ALL_TO_ALL] = TH_ASTRA_ALL_TO_ALL + 1};
    static const char *const names[TH_ASTRA_N_IMPLEMENTATIONS] = {
        [TH_ASTRA_RING] = "ring",
        [TH_ASTRA_DIRECT] = "direct",
        [TH_ASTRA_HALVING_DOUBLING] = "halving_doubling",
        [TH_ASTRA_DOUBLE_BINARY_TREE] = "double_binary_tree",
        [TH_ASTRA_ONE_RING] = "ring",
        [TH_ASTRA_ONE_DIRECT] = "direct",
        [TH_ASTRA_ONE_HALVING_DOUBLING] = "halving_doubling"};
    if (!a || keys[c->kind] == 0)
        return NULL;
    int way = a->dims[0].implementation[keys[c->kind] - 1];
    const th_algorithm *found = names[way] ? th_algorithm_find(names[way]) : NULL;
    bool is_one = a->n_dims == 1 || way >= TH_ASTRA_ONE_RING;
    return found && is_one && found->kinds >> c->kind & 1u ? found : NULL;
}

/* That of the trace, else that of system.json; NULL: any. */
static int find_algorithm(const lowering *l, int32_t rank, const th_trace_node *n,
                          const th_collective *c, const th_algorithm **out, th_error *err)
{
    const char *name = th_trace_text(&l->trace->ranks[rank], n->algorithm);
    *out = name ? th_algorithm_find(name) : algorithm_of_system(l->system->astra, c);
    return name && !*out ? bad_node(l, rank, n, err,
                                    "attribute tharsis_algorithm: must be the name of an algorithm "
                                    "of add_collective")
                         : 0;
}

static int add_collective(const lowering *l, const th_trace_meeting *m, th_error *err)
{
    static const th_collective_kind kinds[] = {
        [TH_TRACE_ALL_REDUCE] = TH_ALL_REDUCE,         [TH_TRACE_ALL_GATHER] = TH_ALL_GATHER,
        [TH_TRACE_BROADCAST] = TH_BROADCAST,           [TH_TRACE_ALL_TO_ALL] = TH_ALL_TO_ALL,
        [TH_TRACE_REDUCE_SCATTER] = TH_REDUCE_SCATTER,
    };
    const th_trace_node *n = &l->trace->ranks[m->members[0]].nodes[m->nodes[0]];
    th_collective c = {.kind = kinds[n->collective],
                       .n_ranks = m->n_members,
                       .bytes = bytes_of(n),
                       .root = n->root,
                       .chunks = n->chunks > 0 ? n->chunks : 1,
                       .delay_ps = n->delay_ps};
    if (find_algorithm(l, m->members[0], n, &c, &c.algorithm, err))
        return -1;
    c.rank_node = th_alloc_array((size_t)m->n_members, sizeof *c.rank_node);
    if (!c.rank_node)
        return th_error_no_memory(err);
    if (n->collective == TH_TRACE_ALL_GATHER && n->exact_bytes < 0)
        c.bytes = c.bytes < INT64_MAX / m->n_members ? c.bytes * m->n_members : INT64_MAX;
    for (int32_t i = 0; i < m->n_members; i++)
        c.rank_node[i] = accel_of(l, m->members[i]);
    int status = th_collective_check(&c, l->system, err);
    c.chunks = n->chunks; /* 0: any number, which the check does not know */
    int32_t number = status == 0 ? th_program_add_collective(l->program, &c, err) : -1;
    th_free(c.rank_node);
    if (number < 0)
        return -1;
    th_task task = {.kind = TH_TASK_COLLECTIVE,
                    .node = accel_of(l, m->members[0]),
                    .peer = -1,
                    .collective = number,
                    .bytes = n->bytes,
                    .release_ps = n->release_ps,
                    .layer = -1};
    return th_program_add(l->program, &task, err);
}

/* The nodes of a meeting end with its collective. */
static int join(const lowering *l, const th_trace_meeting *m, th_error *err)
{
    int32_t together = -1;
    bool is_alone = m->n_members == 1;
    if (m->is_complete && !is_alone && (together = add_collective(l, m, err)) < 0)
        return -1;
    for (int32_t i = 0; i < m->n_members; i++) {
        int32_t task = l->trace->ranks[m->members[i]].first + m->nodes[i];
        if (m->nodes[i] < 0)
            continue;
        if (together >= 0)
            l->settled_by[task] = together;
        if (together >= 0 ? th_program_depend(l->program, task, together, err)
                          : !m->is_complete && th_program_block(l->program, task, err))
            return -1;
    }
    return 0;
}

/* A receive that waits for nothing else ends when its message arrives. */
static int receive(const lowering *l, const th_trace_node *n, int32_t task, int32_t partner,
                   th_error *err)
{
    if (partner < 0)
        return th_program_block(l->program, task, err);
    int32_t send = l->trace->ranks[n->peer].first + partner;
    if (n->n_deps == 0 && n->n_far == 0 && n->release_ps == 0)
        l->settled_by[task] = send;
    return th_program_depend(l->program, task, send, err);
}

static int receive_all(const lowering *l, const th_trace_meetings *m, th_error *err)
{
    for (int32_t rank = 0; rank < l->trace->n_ranks; rank++)
        for (int32_t i = 0; i < l->trace->ranks[rank].n_nodes; i++) {
            const th_trace_node *n = &l->trace->ranks[rank].nodes[i];
            int32_t task = l->trace->ranks[rank].first + i;
            if (n->kind == TH_TRACE_RECEIVE && receive(l, n, task, m->partner[task], err))
                return -1;
        }
    return 0;
}

/* Of a collective's nodes the collective waits. */
static int depend_all(const lowering *l, th_error *err)
{
    for (int32_t rank = 0; rank < l->trace->n_ranks; rank++)
        for (int32_t i = 0; i < l->trace->ranks[rank].n_nodes; i++) {
            const th_trace_node *n = &l->trace->ranks[rank].nodes[i];
            int32_t task = l->trace->ranks[rank].first + i;
            bool joins = n->kind == TH_TRACE_COLLECTIVE;
            if (depend_node(l, rank, n, joins ? l->settled_by[task] : task, err))
                return -1;
        }
    return 0;
}

static int lower(const lowering *l, const th_trace_meetings *m, th_error *err)
{
    if (add_tasks(l, err) || receive_all(l, m, err))
        return -1;
    for (int32_t i = 0; i < m->n; i++)
        if (join(l, &m->all[i], err))
            return -1;
    return depend_all(l, err);
}

static int check_ranks(const th_lower_trace_options *o, th_error *err)
{
    if (o->trace->n_ranks <= o->system->n_accels)
        return 0;
    return th_error_set(err, "MAP-0302",
                        "%s: a trace of %d ranks on a system of %d accelerators: needs as many",
                        o->trace->prefix, (int)o->trace->n_ranks, o->system->n_accels);
}

int th_lower_trace(const th_lower_trace_options *o, th_program *out, th_error *err)
{
    lowering l;
    th_trace_meetings m = {.n = 0};
    bool has_roofline = o->roofline == TH_ROOFLINE_OF_SYSTEM
                            ? o->system->astra && o->system->astra->has_roofline
                            : o->roofline == TH_ROOFLINE_ON;
    if (check_ranks(o, err))
        return -1;
    int status = begin(&l, o, out, err);
    if (status == 0 && has_roofline)
        status = find_rooflines(&l, err);
    if (status == 0 && (status = th_trace_meet(o->trace, o->system, &m, err)) == 0)
        status = lower(&l, &m, err);
    th_trace_meetings_clear(&m);
    clear(&l);
    return status;
}

/* ---- as ASTRA-sim replays it ---- */

static int add_replayed(const lowering *l, const th_astra_node_times *times, th_error *err)
{
    th_task task;
    for (int32_t rank = 0; rank < l->trace->n_ranks; rank++)
        for (int32_t i = 0; i < l->trace->ranks[rank].n_nodes; i++, times++) {
            const th_trace_node *n = &l->trace->ranks[rank].nodes[i];
            bool is_done = times->done_ns >= 0;
            th_time ps = is_done ? (times->done_ns - times->issue_ns) * ps_per_ns : 0;
            task = delay(n, ps);
            if (n->kind == TH_TRACE_COMPUTE && !n->is_on_host &&
                compute(l, rank, n, ps, &task, err))
                return -1;
            task.release_ps = is_done ? times->issue_ns * ps_per_ns : 0;
            int32_t number = th_program_add(l->program, &task, err);
            if (number < 0 || (!is_done && th_program_block(l->program, number, err)))
                return -1;
        }
    return 0;
}

static int depend_replayed(const lowering *l, th_error *err)
{
    for (int32_t rank = 0; rank < l->trace->n_ranks; rank++)
        for (int32_t i = 0; i < l->trace->ranks[rank].n_nodes; i++) {
            th_trace_node n = l->trace->ranks[rank].nodes[i];
            n.n_far = 0; /* ASTRA-sim does not know them */
            if (depend_node(l, rank, &n, l->trace->ranks[rank].first + i, err))
                return -1;
        }
    return 0;
}

int th_lower_trace_replay(const th_lower_trace_options *o, const th_network_type *network,
                          th_program *out, th_astra_rank_times *ranks, th_error *err)
{
    lowering l;
    th_astra_replay replay;
    th_astra_replay_options options = {.trace = o->trace,
                                       .system = o->system,
                                       .roofline = o->roofline,
                                       .is_interrupted = o->is_interrupted};
    if (network->replay_trace(&options, &replay, err))
        return -1;
    int status = begin(&l, o, out, err);
    if (status == 0)
        status = add_replayed(&l, replay.nodes, err) || depend_replayed(&l, err) ? -1 : 0;
    memcpy(ranks, replay.ranks, (size_t)o->trace->n_ranks * sizeof *ranks);
    th_astra_replay_clear(&replay);
    clear(&l);
    return status;
}
