/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective_times.c - see collective_times.h.
 *   th_collective_time -> known? -> gather the groups of the island -> a program of them -> run
 *   th_stage_message_time -> known? -> a program of the messages of all ranks -> run
 *
 * Algorithms: a ring inside an island (all ranks where there are none); along islands and then
 * between them (hierarchical, 4 chunks) where groups have several ranks on each of several islands,
 * and along the dimensions of a slice of a torus; direct where all ranks are linked in pairs;
 * halving and doubling, or a ring, where they have one on each. A group of more than MANY_ISLANDS
 * islands is timed with as many: its bytes over the fabric are the same to 1 / MANY_ISLANDS. */
#include <config.h>
#include <string.h>
#include "base/alloc.h"
#include "base/map.h"
#include "training/collective_times.h"
#include "sim/machine/machine.h"
#include "topology/routing/route.h"

enum { MANY_ISLANDS = 32, PIPELINED_CHUNKS = 4, RING_MAX = 8, RANKS_MAX = 256 };

typedef struct call_key {
    int64_t kind, group, bytes; /* group: of a message, the numbers of both stages */
} call_key;

struct th_collective_memo {
    th_compute_cost_cache *costs;
    th_machine *machine;
    th_map *known; /* time by the digests of what runs at the same time */
};

struct th_collective_times {
    const th_system *system;
    const th_parallel_plan *plan;
    th_collective_memo *memo, *own; /* own: NULL: memo is the caller's, or not there yet */
    th_map *known;                  /* time by call_key */
    int32_t *ranks, *nodes;
};

th_collective_memo *th_collective_memo_new(const th_system *s, th_error *err)
{
    th_collective_memo *m = th_alloc_zero(1, sizeof *m);
    if (!m || !(m->known = th_map_new())) {
        th_free(m);
        th_error_no_memory(err);
        return NULL;
    }
    m->costs = th_compute_cost_cache_new(s, err);
    m->machine =
        m->costs ? th_machine_new(s, m->costs, &(th_machine_options){.network = NULL}, err) : NULL;
    if (m->machine)
        return m;
    th_collective_memo_free(m);
    return NULL;
}

void th_collective_memo_free(th_collective_memo *m)
{
    if (!m)
        return;
    th_machine_free(m->machine);
    th_compute_cost_cache_free(m->costs);
    th_map_free(m->known);
    th_free(m);
}

th_collective_times *th_collective_times_new(const th_system *s, const th_parallel_plan *p,
                                             th_error *err)
{
    th_collective_times *x = th_alloc_zero(1, sizeof *x);
    size_t n = (size_t)th_plan_stage_ranks(p) + 1;
    if (!x) {
        th_error_no_memory(err);
        return NULL;
    }
    *x = (th_collective_times){.system = s, .plan = p, .known = th_map_new()};
    x->ranks = th_alloc_array(n, sizeof *x->ranks);
    x->nodes = th_alloc_array(n, sizeof *x->nodes);
    if (x->known && x->ranks && x->nodes)
        return x;
    th_error_no_memory(err);
    th_collective_times_free(x);
    return NULL;
}

void th_collective_times_use(th_collective_times *x, th_collective_memo *memo)
{
    x->memo = memo;
}

void th_collective_times_free(th_collective_times *x)
{
    if (!x)
        return;
    th_collective_memo_free(x->own);
    th_map_free(x->known);
    th_free(x->ranks);
    th_free(x->nodes);
    th_free(x);
}

/* ---- the algorithm ---- */

/* Ranks on the island of the first, if all islands have as many in a row, else 1. */
static int32_t ranks_per_island(const th_system *s, const int32_t *node, int32_t n)
{
    int32_t size = 1;
    while (size < n && s->nodes[node[size]].group == s->nodes[node[0]].group)
        size++;
    if (n % size)
        return 1;
    for (int32_t i = 1; i < n; i++)
        if ((s->nodes[node[i]].group == s->nodes[node[i - 1]].group) != (i % size != 0))
            return 1;
    return size;
}

int32_t th_plan_experts_on_node(const th_system *s, const th_parallel_plan *p)
{
    int32_t n = p->n.expert, *node = th_alloc_array((size_t)n, sizeof *node), size = 1;
    if (node) {
        th_plan_group_of(p, TH_GROUP_EXPERT, 0, node);
        for (int32_t i = 0; i < n; i++)
            node[i] = s->accel_node[th_plan_accel(p, 0, node[i])];
        size = ranks_per_island(s, node, n);
    }
    th_free(node);
    return size;
}

/* The dimensions of the system that ranks in a row fill, such as a slice of a torus; 0: none. */
static int shape_dims(const th_system *s, const int32_t *node, int32_t n)
{
    int64_t size = 1;
    int d = 0;
    while (d < s->n_dims && size < n)
        size *= s->dims[d++].size;
    for (int32_t i = 0; i < n && size == n; i++)
        if (node[i] != node[0] + i)
            return 0;
    return size == n && node[0] % n == 0 ? d : 0;
}

/* Does the first rank have a link of its own to every other? */
static bool is_fully_connected(const th_system *s, const int32_t *node, int32_t n)
{
    int links[TH_ROUTE_MAX];
    for (int32_t i = 1; i < n; i++)
        if (th_route(s, node[0], node[i], links) != 1)
            return false;
    return n > 2;
}

th_collective th_plan_collective(const th_system *s, th_collective_kind kind, int32_t *rank_node,
                                 int32_t n, int64_t bytes)
{
    int32_t per_island = ranks_per_island(s, rank_node, n);
    int n_dims = shape_dims(s, rank_node, n);
    bool is_torus = n_dims > 1;
    const char *name = n > RING_MAX && th_is_power_of_two(n) ? "halving_doubling" : "ring";
    th_collective c = {
        .kind = kind, .rank_node = rank_node, .n_ranks = n, .bytes = bytes, .chunks = 1};
    if (per_island == n)
        name = "ring";
    if (is_torus || (per_island > 1 && per_island < n)) {
        name = "hierarchical";
        c.chunks = !is_torus && bytes > (int64_t)n * 65536 ? PIPELINED_CHUNKS : 1;
    }
    if (kind == TH_ALL_TO_ALL || (per_island == n && is_fully_connected(s, rank_node, n)))
        name = "direct";
    for (; is_torus && c.n_dims < n_dims; c.n_dims++)
        c.dims[c.n_dims] = s->dims[c.n_dims].size;
    if (!is_torus && per_island > 1 && per_island < n) {
        c.n_dims = 2;
        c.dims[0] = per_island;
        c.dims[1] = n / per_island;
    }
    c.algorithm = th_algorithm_find(name);
    return c;
}

/* ---- simulation ---- */

static int add(th_program *p, const th_collective *c, th_error *err)
{
    th_task task = {.kind = TH_TASK_COLLECTIVE, .node = c->rank_node[0], .peer = -1, .layer = -1};
    task.bytes = c->bytes;
    task.collective = th_program_add_collective(p, c, err);
    return task.collective < 0 || th_program_add(p, &task, err) < 0 ? -1 : 0;
}

/* Fewer islands of a group that is on many: its first ones. */
static int32_t shorten(const th_collective_times *x, int32_t n)
{
    int32_t size = ranks_per_island(x->system, x->nodes, n);
    bool has_islands =
        x->system->nodes[x->nodes[0]].group != x->system->nodes[x->nodes[n - 1]].group;
    return has_islands && n / size > MANY_ISLANDS ? size * MANY_ISLANDS : n;
}

/* Is this the first rank of its group on the island? */
static bool leads(const th_collective_times *x, int32_t n, int32_t rank, int32_t island)
{
    for (int32_t i = 0; i < n; i++)
        if (x->system->nodes[x->nodes[i]].group == island)
            return x->ranks[i] == rank;
    return false;
}

/* The groups of all ranks on the island of rank 0, up to RANKS_MAX ranks. */
static int add_groups(th_collective_times *x, th_program *p, const call_key *key, th_error *err)
{
    const th_system *s = x->system;
    int32_t n = th_plan_group_size(x->plan, (th_plan_group)key->group);
    int32_t island = s->nodes[s->accel_node[th_plan_accel(x->plan, 0, 0)]].group;
    int32_t n_ranks = 0;
    for (int32_t rank = 0; rank < th_plan_stage_ranks(x->plan) && n_ranks < RANKS_MAX; rank++) {
        int32_t node = s->accel_node[th_plan_accel(x->plan, 0, rank)];
        if (s->nodes[node].group != island)
            continue;
        th_plan_group_of(x->plan, (th_plan_group)key->group, rank, x->ranks);
        for (int32_t i = 0; i < n; i++)
            x->nodes[i] = s->accel_node[th_plan_accel(x->plan, 0, x->ranks[i])];
        if (!leads(x, n, rank, island))
            continue;
        th_collective c = th_plan_collective(s, (th_collective_kind)key->kind, x->nodes,
                                             shorten(x, n), key->bytes);
        if (add(p, &c, err))
            return -1;
        n_ranks += c.n_ranks;
    }
    return 0;
}

/* The messages of all ranks of a stage to another. */
static int add_messages(th_collective_times *x, th_program *p, const call_key *key, th_error *err)
{
    const th_system *s = x->system;
    const int32_t stages = x->plan->n.pipeline;
    const int32_t from = (int32_t)key->group / stages, to = (int32_t)key->group % stages;
    th_task t = {.kind = TH_TASK_TRANSFER, .compute_cost = -1, .bytes = key->bytes, .layer = -1};
    for (int32_t rank = 0; rank < th_plan_stage_ranks(x->plan); rank++) {
        t.node = s->accel_node[th_plan_accel(x->plan, from, rank)];
        t.peer = s->accel_node[th_plan_accel(x->plan, to, rank)];
        if (th_program_add(p, &t, err) < 0)
            return -1;
    }
    return 0;
}

/* The end of the collective of rank 0, or of the last message. */
static th_time run(th_collective_times *x, th_program *p, th_error *err)
{
    th_machine *m = x->memo->machine;
    if (th_program_finish(p, err) || th_machine_load(m, p, err))
        return -1;
    if (th_machine_run_until(m, TH_TIME_MAX, err) != TH_STOP_DONE)
        return -1;
    return p->n_collectives > 0 ? th_machine_times(m)[0].end_ps : th_machine_elapsed(m);
}

/* What the tasks of a program are, in two digests. */
typedef struct memo_key {
    uint64_t of[2];
} memo_key;

static memo_key key_of(const th_program *p)
{
    memo_key key = {{0, 1}};
    for (int32_t i = 0; i < p->n_tasks; i++) {
        const th_task *t = &p->tasks[i];
        const int64_t parts[] = {t->kind, t->node, t->peer, t->bytes};
        for (int k = 0; k < 2; k++)
            key.of[k] = th_hash(parts, sizeof parts, key.of[k]);
    }
    for (int32_t i = 0; i < p->n_collectives; i++) {
        const th_collective *c = &p->collectives[i];
        const int64_t parts[] = {c->kind, c->n_ranks, c->bytes, c->chunks, c->n_dims};
        for (int k = 0; k < 2; k++) {
            uint64_t h = th_hash(parts, sizeof parts, key.of[k]);
            h = th_hash(c->dims, (size_t)c->n_dims * sizeof *c->dims, h);
            h = th_hash_text(c->algorithm->name, h);
            key.of[k] = th_hash(c->rank_node, (size_t)c->n_ranks * sizeof *c->rank_node, h);
        }
    }
    return key;
}

static th_time simulate(th_collective_times *x, th_program *p, const call_key *key, th_error *err)
{
    int64_t known;
    if (key->kind == TH_SEND_RECV ? add_messages(x, p, key, err) : add_groups(x, p, key, err))
        return -1;
    const memo_key tasks = key_of(p);
    if (th_map_get(x->memo->known, &tasks, sizeof tasks, &known))
        return known;
    th_time end = run(x, p, err);
    if (end >= 0 && th_map_put(x->memo->known, &tasks, sizeof tasks, end))
        return th_error_no_memory(err);
    return end;
}

static th_time time_of(th_collective_times *x, const call_key *key, th_error *err)
{
    int64_t known;
    if (th_map_get(x->known, key, sizeof *key, &known))
        return known;
    if (!x->memo && !(x->memo = x->own = th_collective_memo_new(x->system, err)))
        return -1;
    th_program *p = th_program_new(err);
    if (!p)
        return -1;
    th_program_clear(p);
    th_time end = simulate(x, p, key, err);
    th_program_free(p);
    if (end >= 0 && th_map_put(x->known, key, sizeof *key, end))
        return th_error_no_memory(err);
    return end;
}

th_time th_collective_time(th_collective_times *x, th_collective_kind kind, th_plan_group group,
                           int64_t bytes, th_error *err)
{
    if (bytes == 0 || th_plan_group_size(x->plan, group) == 1)
        return 0;
    return time_of(x, &(call_key){kind, group, bytes}, err);
}

th_time th_stage_message_time(th_collective_times *x, int32_t from, int32_t to, int64_t bytes,
                              th_error *err)
{
    const int64_t stages = (int64_t)from * x->plan->n.pipeline + to;
    return from == to ? 0 : time_of(x, &(call_key){TH_SEND_RECV, stages, bytes}, err);
}
