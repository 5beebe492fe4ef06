/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program_trace.c - see program_trace.h.
 *   list the homes of each task (the ranks that have a node of it) -> sort dependencies
 *       -> (for each task: its nodes -> what they wait for) */
#include <config.h>
#include "sim/execution_trace/program_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

enum { NONE = -1 };

/* What a rank has so far, beyond its th_trace_rank. */
typedef struct rank_state {
    size_t n_deps, n_far, n_names, dep_capacity, far_capacity, name_capacity;
    int32_t current; /* the node that the present task adds what it waits for to; NONE */
} rank_state;

/* A rank, and the node of a task there. */
typedef th_trace_far home;

typedef struct writer {
    const th_program_trace_options *o;
    const th_program *program;
    th_trace *trace;
    rank_state *ranks;
    home *homes;                    /* of all tasks */
    int32_t *first_home;            /* by task; one more: the end */
    int32_t *before_start, *before; /* by task: the tasks that it waits for */
    th_map *groups;                 /* by members */
    int64_t n_unordered;
    bool slows; /* messages slow computations: these take what they took in the run */
} writer;

static const int64_t ps_per_us = 1000000;

static int refuse(int32_t task, th_error *err, const char *what, const char *expected)
{
    return th_error_set(err, "MAP-0306", "task/%d: a trace cannot express %s: must be %s",
                        (int)task, what, expected);
}

/* The rank of a node of the system; NONE: it is no accelerator. */
static int32_t rank_of(const writer *w, int32_t node)
{
    return node >= 0 ? w->o->system->nodes[node].accel : NONE;
}

/* ---- homes ---- */

static void add_home(writer *w, int32_t task, int32_t rank)
{
    w->homes[w->first_home[task + 1]++] = (home){rank, NONE};
}

static const th_collective *collective_of(const writer *w, int32_t task)
{
    return &w->program->collectives[w->program->tasks[task].collective];
}

static int add_members(writer *w, int32_t task, th_error *err)
{
    const th_collective *c = collective_of(w, task);
    for (int32_t i = 0; i < c->n_ranks; i++) {
        int32_t rank = rank_of(w, c->rank_node[i]);
        if (rank < 0)
            return refuse(task, err, "a collective with a member that is no accelerator",
                          "a collective of accelerators");
        add_home(w, task, rank);
    }
    return 0;
}

static int add_ends(writer *w, int32_t task, th_error *err)
{
    const th_task *t = &w->program->tasks[task];
    int32_t from = rank_of(w, t->node), to = rank_of(w, t->peer);
    if (from >= 0)
        add_home(w, task, from);
    if (to >= 0)
        add_home(w, task, to);
    return from >= 0 || to >= 0 ? 0
                                : refuse(task, err,
                                         "a transfer between nodes that are no "
                                         "accelerators",
                                         "from or to an accelerator");
}

/* Where the computations, transfers and collectives that wait for a delay are; else rank 0. The
 * work of a host is on the first of them alone. seen: by rank, the last delay that it was added
 * to. */
static void add_waiting(writer *w, int32_t task, int32_t *seen)
{
    const th_program *p = w->program;
    bool is_work = p->tasks[task].node >= 0;
    int32_t first = w->first_home[task + 1];
    for (int32_t i = p->successor_start[task]; i < p->successor_start[task + 1]; i++) {
        int32_t after = p->successors[i];
        const th_task *t = &p->tasks[after];
        int32_t rank = t->kind == TH_TASK_HOST         ? NONE
                       : t->kind == TH_TASK_COLLECTIVE ? rank_of(w, t->node)
                       : rank_of(w, t->node) >= 0      ? rank_of(w, t->node)
                                                       : rank_of(w, t->peer);
        if (rank < 0 || seen[rank] == task || (is_work && w->first_home[task + 1] > first))
            continue;
        seen[rank] = task;
        add_home(w, task, rank);
    }
    if (w->first_home[task + 1] == first)
        add_home(w, task, 0);
}

/* At most. */
static size_t count_homes(const writer *w)
{
    const th_program *p = w->program;
    size_t n = 0;
    for (int32_t t = 0; t < p->n_tasks; t++) {
        size_t successors = (size_t)(p->successor_start[t + 1] - p->successor_start[t]);
        n += p->tasks[t].kind == TH_TASK_COLLECTIVE ? (size_t)collective_of(w, t)->n_ranks
             : p->tasks[t].kind == TH_TASK_HOST     ? successors + 1
                                                    : 2;
    }
    return n;
}

static int list_homes(writer *w, th_error *err)
{
    const th_program *p = w->program;
    int32_t n_ranks = w->trace->n_ranks, *seen = th_alloc_array((size_t)n_ranks + 1, sizeof *seen);
    int status = seen ? 0 : th_error_no_memory(err);
    for (int32_t i = 0; seen && i < n_ranks; i++)
        seen[i] = NONE;
    w->first_home[0] = 0;
    for (int32_t t = 0; status == 0 && t < p->n_tasks; t++) {
        w->first_home[t + 1] = w->first_home[t];
        switch ((th_task_kind)p->tasks[t].kind) {
        case TH_TASK_COMPUTE:
            add_home(w, t, rank_of(w, p->tasks[t].node));
            break;
        case TH_TASK_TRANSFER:
            status = add_ends(w, t, err);
            break;
        case TH_TASK_HOST:
            add_waiting(w, t, seen);
            break;
        case TH_TASK_COLLECTIVE:
            status = add_members(w, t, err);
            break;
        }
    }
    th_free(seen);
    return status;
}

/* The number of each node in its rank, which gets room for them. */
static int number_nodes(writer *w, th_error *err)
{
    for (int32_t k = 0; k < w->first_home[w->program->n_tasks]; k++)
        w->homes[k].node = w->trace->ranks[w->homes[k].rank].n_nodes++;
    for (int32_t i = 0; i < w->trace->n_ranks; i++) {
        th_trace_rank *r = &w->trace->ranks[i];
        if (!(r->nodes = th_alloc_array((size_t)r->n_nodes + 1, sizeof *r->nodes)))
            return th_error_no_memory(err);
        r->first = (int32_t)w->trace->n_nodes;
        w->trace->n_nodes += r->n_nodes;
    }
    return 0;
}

/* ---- dependencies ---- */

/* Counting sort of the edges by the task that waits. */
static void sort_dependencies(writer *w)
{
    const th_program *p = w->program;
    int32_t *fill = w->before_start + 1; /* which has become the start after the fill */
    for (int64_t i = 0; i < p->n_dependencies; i++)
        fill[p->edge_to[i] + 1]++;
    for (int32_t t = 0; t < p->n_tasks; t++)
        fill[t + 1] += fill[t];
    for (int64_t i = 0; i < p->n_dependencies; i++)
        w->before[fill[p->edge_to[i]]++] = p->edge_from[i];
}

static int add_dep(writer *w, int32_t rank, int32_t node, th_error *err)
{
    th_trace_rank *r = &w->trace->ranks[rank];
    rank_state *s = &w->ranks[rank];
    if (th_grow(&r->deps, &s->dep_capacity, s->n_deps + 1, sizeof *r->deps))
        return th_error_no_memory(err);
    r->deps[s->n_deps++] = node;
    r->nodes[s->current].n_deps++;
    return 0;
}

static int add_far(writer *w, int32_t rank, home other, th_error *err)
{
    th_trace_rank *r = &w->trace->ranks[rank];
    rank_state *s = &w->ranks[rank];
    if (th_grow(&r->far, &s->far_capacity, s->n_far + 1, sizeof *r->far))
        return th_error_no_memory(err);
    r->far[s->n_far++] = other;
    r->nodes[s->current].n_far++;
    w->n_unordered++;
    return 0;
}

/* The homes whose nodes wait: of a transfer the first. */
static int32_t n_waiting(const writer *w, int32_t task)
{
    return w->program->tasks[task].kind == TH_TASK_TRANSFER
               ? 1
               : w->first_home[task + 1] - w->first_home[task];
}

/* A node of a task waits for the node of another in its own rank. A collective waits if one of its
 * nodes does; of a delay, each must. */
static int wait_for(writer *w, int32_t task, int32_t before, th_error *err)
{
    const home *own = &w->homes[w->first_home[task]], *first = &w->homes[w->first_home[before]],
               *end = &w->homes[w->first_home[before + 1]];
    int32_t n = n_waiting(w, task), n_local = 0;
    bool is_collective = w->program->tasks[task].kind == TH_TASK_COLLECTIVE;
    for (const home *h = first; h < end; h++)
        if (w->ranks[h->rank].current != NONE) {
            if (add_dep(w, h->rank, h->node, err))
                return -1;
            n_local++;
        }
    if (n_local == n || (is_collective && n_local > 0))
        return 0;
    if (is_collective)
        return add_far(w, own->rank, *first, err);
    for (int32_t i = 0; i < n; i++) {
        bool is_local = false;
        for (const home *h = first; h < end; h++)
            is_local |= h->rank == own[i].rank;
        if (!is_local && add_far(w, own[i].rank, *first, err))
            return -1;
    }
    return 0;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* In ascending order, each once. */
static void sort_deps(writer *w, int32_t rank)
{
    rank_state *s = &w->ranks[rank];
    th_trace_rank *r = &w->trace->ranks[rank];
    th_trace_node *n = &r->nodes[s->current];
    int32_t *deps = r->deps + n->first_dep, kept = 0;
    if (n->n_deps == 0)
        return;
    qsort(deps, (size_t)n->n_deps, sizeof *deps, by_number);
    for (int32_t i = 0; i < n->n_deps; i++)
        if (i == 0 || deps[i] != deps[kept - 1])
            deps[kept++] = deps[i];
    s->n_deps -= (size_t)(n->n_deps - kept);
    n->n_deps = kept;
}

static int depend(writer *w, int32_t task, th_error *err)
{
    const home *own = &w->homes[w->first_home[task]];
    int32_t n = n_waiting(w, task);
    int status = 0;
    for (int32_t i = 0; i < n; i++)
        w->ranks[own[i].rank].current = own[i].node;
    for (int32_t i = w->before_start[task]; status == 0 && i < w->before_start[task + 1]; i++)
        status = wait_for(w, task, w->before[i], err);
    for (int32_t i = 0; i < n; i++) {
        sort_deps(w, own[i].rank);
        w->ranks[own[i].rank].current = NONE;
    }
    return status;
}

/* ---- nodes ---- */

static int add_text(writer *w, int32_t rank, const char *text, int32_t *offset, th_error *err)
{
    th_trace_rank *r = &w->trace->ranks[rank];
    rank_state *s = &w->ranks[rank];
    size_t n = strlen(text) + 1;
    if (s->n_names + n > INT32_MAX || th_grow(&r->names, &s->name_capacity, s->n_names + n, 1))
        return th_error_no_memory(err);
    memcpy(r->names + s->n_names, text, n);
    *offset = (int32_t)s->n_names;
    s->n_names += n;
    return 0;
}

/* "conv1", or what it does. */
static const char *name_of(const writer *w, int32_t task)
{
    const th_task *t = &w->program->tasks[task];
    if (w->o->workload && t->layer >= 0)
        return w->o->workload->layers[t->layer].name;
    switch ((th_task_kind)t->kind) {
    case TH_TASK_COMPUTE:
        return "compute";
    case TH_TASK_TRANSFER:
        return "transfer";
    case TH_TASK_HOST:
        return t->node >= 0 ? "host" : "delay";
    case TH_TASK_COLLECTIVE:
        break;
    }
    return th_collective_names[collective_of(w, task)->kind];
}

static th_time took(const writer *w, int32_t task)
{
    return w->o->times ? w->o->times[task].end_ps - w->o->times[task].start_ps : 0;
}

/* Do accelerators compute slower beside messages? The format has no word for it. */
static bool slows(const th_program *p)
{
    bool any = false;
    for (int32_t i = 0; i < p->n_tasks && !any; i++) {
        const th_task *t = &p->tasks[i];
        any = t->kind == TH_TASK_COLLECTIVE ? p->collectives[t->collective].slowdown > 0
                                            : t->kind == TH_TASK_HOST && t->slowdown > 0;
    }
    return any;
}

static void set_duration(th_trace_node *n, th_time ps)
{
    n->duration_ps = ps;
    n->duration_us = (ps + ps_per_us / 2) / ps_per_us;
}

static th_fixed_work work_of(const th_compute_cost *cost, th_time ps)
{
    const th_schedule_totals *t = &cost->total;
    int64_t macs = th_shard_macs(&cost->shard);
    return (th_fixed_work){.duration_ps = ps,
                           .operations = macs > 0 ? 2 * macs : cost->vector_operations,
                           .bytes = t->input_bytes + t->weight_bytes + t->partial_bytes +
                                    t->output_bytes};
}

static void fill_compute(const writer *w, int32_t task, th_trace_node *n)
{
    const th_task *t = &w->program->tasks[task];
    bool is_fixed = w->program->n_works > 0 && !th_program_placed(w->program, t->compute_cost);
    const th_compute_cost *cost =
        is_fixed ? NULL : th_compute_cost_get(w->o->costs, t->compute_cost);
    th_fixed_work work = cost ? work_of(cost, took(w, task)) : w->program->works[t->compute_cost];
    if (w->slows && w->o->times)
        work.duration_ps = took(w, task);
    n->kind = TH_TRACE_COMPUTE;
    n->operations = work.operations;
    n->bytes = work.bytes;
    n->has_operations = n->has_bytes = work.operations > 0 && work.bytes > 0;
    set_duration(n, work.duration_ps);
}

/* What a host does begins when it did in the run: in a trace, hosts do not wait for each other. */
static void fill_delay(const writer *w, int32_t task, th_trace_node *n)
{
    const th_task *t = &w->program->tasks[task];
    n->kind = TH_TRACE_COMPUTE;
    n->is_on_host = true;
    if (t->node >= 0 && w->o->times)
        n->release_ps = w->o->times[task].start_ps;
    set_duration(n, t->delay_ps);
}

/* A message has one byte at least. */
static void set_bytes(th_trace_node *n, int64_t bytes, int64_t exact, int64_t read_back)
{
    n->bytes = bytes > 0 ? bytes : 1;
    n->exact_bytes = bytes > 0 && read_back == exact ? NONE : exact;
}

static int fill_transfer(writer *w, int32_t task, int32_t rank, th_trace_node *n, th_error *err)
{
    const th_task *t = &w->program->tasks[task];
    int32_t from = rank_of(w, t->node), to = rank_of(w, t->peer);
    n->delay_ps = t->delay_ps;
    set_bytes(n, t->bytes, t->bytes, t->bytes);
    if (from >= 0 && to >= 0) {
        n->kind = rank == from ? TH_TRACE_SEND : TH_TRACE_RECEIVE;
        n->peer = rank == from ? to : from;
        n->tag = (uint32_t)task;
        n->release_ps = rank == from ? n->release_ps : 0;
        return 0;
    }
    n->kind = from >= 0 ? TH_TRACE_STORE : TH_TRACE_LOAD;
    set_duration(n, took(w, task));
    return add_text(w, rank, w->o->system->nodes[from >= 0 ? t->peer : t->node].name, &n->place,
                    err);
}

/* ---- collectives ---- */

static int kind_of(int32_t kind)
{
    switch ((th_collective_kind)kind) {
    case TH_ALL_REDUCE:
        return TH_TRACE_ALL_REDUCE;
    case TH_ALL_GATHER:
        return TH_TRACE_ALL_GATHER;
    case TH_REDUCE_SCATTER:
        return TH_TRACE_REDUCE_SCATTER;
    case TH_ALL_TO_ALL:
        return TH_TRACE_ALL_TO_ALL;
    case TH_BROADCAST:
        return TH_TRACE_BROADCAST;
    case TH_REDUCE:
    case TH_GATHER:
    case TH_SCATTER:
    case TH_BARRIER:
    case TH_SEND_RECV:
    case TH_USER_SCHEDULE:
    case TH_N_COLLECTIVES:
        break;
    }
    return NONE;
}

static int check_collective(const writer *w, int32_t task, th_error *err)
{
    const th_collective *c = collective_of(w, task);
    if (kind_of(c->kind) < 0)
        return refuse(task, err, th_collective_names[c->kind],
                      "all_reduce, all_gather, reduce_scatter, all_to_all or broadcast");
    if (c->pair_bytes)
        return refuse(task, err, "an uneven all_to_all", "of one size for all pairs");
    return c->n_dims > 0
               ? refuse(task, err, "the extents of a collective (-dims)", "those of the system")
               : 0;
}

/* The group of the members of the present task's collective, numbered from 1; or all ranks. */
static int find_group(writer *w, int32_t task, int32_t *out, th_error *err)
{
    const home *h = &w->homes[w->first_home[task]];
    int32_t n = collective_of(w, task)->n_ranks;
    int32_t *members = th_alloc_array((size_t)n, sizeof *members);
    bool is_all = n == w->trace->n_ranks;
    int64_t found = TH_TRACE_ALL_RANKS;
    int status = members ? 0 : th_error_no_memory(err);
    for (int32_t i = 0; members && i < n; i++) {
        members[i] = h[i].rank;
        is_all &= h[i].rank == i;
    }
    if (status == 0 && !is_all &&
        !th_map_get(w->groups, members, (size_t)n * sizeof *members, &found)) {
        found = w->trace->n_groups;
        th_trace_group g = {
            .number = found + 1, .tag_number = found + 1, .members = members, .n_members = n};
        status = th_trace_add_group(w->trace, &g, err);
        if (status == 0 && th_map_put(w->groups, members, (size_t)n * sizeof *members, found))
            status = th_error_no_memory(err);
    }
    th_free(members);
    *out = (int32_t)found;
    return status;
}

static int fill_collective(writer *w, int32_t task, int32_t rank, int32_t group, th_trace_node *n,
                           th_error *err)
{
    const th_collective *c = collective_of(w, task);
    bool gathers = c->kind == TH_ALL_GATHER;
    int64_t own = gathers ? c->bytes / c->n_ranks + (c->bytes % c->n_ranks > 0) : c->bytes;
    n->kind = TH_TRACE_COLLECTIVE;
    n->collective = (uint8_t)kind_of(c->kind);
    n->group = group;
    n->chunks = c->chunks;
    n->root = c->root;
    n->delay_ps = c->delay_ps;
    set_bytes(n, own, c->bytes, gathers ? own * c->n_ranks : own);
    if (w->o->times)
        set_duration(n, took(w, task));
    return c->algorithm ? add_text(w, rank, c->algorithm->name, &n->algorithm, err) : 0;
}

/* ---- the whole ---- */

static int fill(writer *w, int32_t task, int32_t rank, int32_t group, th_trace_node *n,
                th_error *err)
{
    rank_state *s = &w->ranks[rank];
    *n = TH_TRACE_NODE((uint64_t)task);
    n->first_dep = (int32_t)s->n_deps;
    n->first_far = (int32_t)s->n_far;
    n->release_ps = w->program->tasks[task].release_ps;
    if (add_text(w, rank, name_of(w, task), &n->name, err))
        return -1;
    switch ((th_task_kind)w->program->tasks[task].kind) {
    case TH_TASK_COMPUTE:
        fill_compute(w, task, n);
        break;
    case TH_TASK_TRANSFER:
        return fill_transfer(w, task, rank, n, err);
    case TH_TASK_HOST:
        fill_delay(w, task, n);
        break;
    case TH_TASK_COLLECTIVE:
        return fill_collective(w, task, rank, group, n, err);
    }
    return 0;
}

static int add_task(writer *w, int32_t task, th_error *err)
{
    int32_t group = TH_TRACE_ALL_RANKS;
    if (w->program->tasks[task].kind == TH_TASK_COLLECTIVE &&
        (check_collective(w, task, err) || find_group(w, task, &group, err)))
        return -1;
    for (int32_t k = w->first_home[task]; k < w->first_home[task + 1]; k++) {
        home h = w->homes[k];
        if (fill(w, task, h.rank, group, &w->trace->ranks[h.rank].nodes[h.node], err))
            return -1;
    }
    return depend(w, task, err);
}

static int begin(writer *w, th_error *err)
{
    size_t n = (size_t)w->program->n_tasks, n_ranks = (size_t)w->o->system->n_accels;
    w->trace = th_alloc_zero(1, sizeof *w->trace);
    if (!w->trace)
        return th_error_no_memory(err);
    w->trace->prefix = th_alloc_string(w->o->prefix);
    w->trace->ranks = th_alloc_zero(n_ranks + 1, sizeof *w->trace->ranks);
    w->trace->n_ranks = (int32_t)n_ranks;
    w->ranks = th_alloc_zero(n_ranks + 1, sizeof *w->ranks);
    w->homes = th_alloc_array(count_homes(w) + 1, sizeof *w->homes);
    w->first_home = th_alloc_zero(n + 2, sizeof *w->first_home);
    w->before_start = th_alloc_zero(n + 2, sizeof *w->before_start);
    w->before = th_alloc_array((size_t)w->program->n_dependencies + 1, sizeof *w->before);
    w->groups = th_map_new();
    if (!w->trace->prefix || !w->trace->ranks || !w->ranks || !w->homes || !w->first_home ||
        !w->before_start || !w->before || !w->groups)
        return th_error_no_memory(err);
    for (size_t i = 0; i < n_ranks; i++)
        w->ranks[i].current = NONE;
    return 0;
}

static void clear(writer *w)
{
    th_free(w->ranks);
    th_free(w->homes);
    th_free(w->first_home);
    th_free(w->before_start);
    th_free(w->before);
    th_map_free(w->groups);
}

th_trace *th_trace_of_program(const th_program_trace_options *o, int64_t *n_unordered,
                              th_error *err)
{
    writer w = {.o = o, .program = o->program, .slows = slows(o->program)};
    int status = begin(&w, err) || list_homes(&w, err) || number_nodes(&w, err) ? -1 : 0;
    if (status == 0)
        sort_dependencies(&w);
    for (int32_t t = 0; status == 0 && t < o->program->n_tasks; t++)
        status = add_task(&w, t, err);
    clear(&w);
    *n_unordered = w.n_unordered;
    if (status == 0)
        return w.trace;
    th_trace_free(w.trace);
    return NULL;
}
