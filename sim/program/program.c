/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.c - tasks and dependencies, collected as a list of edges and sorted into successor lists
 * once.
 *   new -> (add | depend)* -> finish -> read only -> clear -> ... -> free */
#include <config.h>

#include "sim/program/program.h"

#include <string.h>

#include "base/alloc.h"

const char *th_task_kind_name(int32_t kind)
{
    static const char *const names[] = {"compute", "transfer", "host", "collective", NULL};
    return names[kind];
}

th_program *th_program_new(th_error *err)
{
    th_program *p = th_alloc_zero(1, sizeof *p);
    if (!p)
        th_error_no_memory(err);
    return p;
}

/* Drops the collectives from number on. */
static void drop_collectives(th_program *p, int32_t number)
{
    for (int32_t i = number; i < p->n_collectives; i++) {
        th_free(p->collectives[i].rank_node);
        th_free(p->collectives[i].pair_bytes);
    }
    p->n_collectives = number;
}

/* The map forgets all, and knows those that stay again when the next is added. */
static void drop_works(th_program *p, int32_t n, int32_t n_placed)
{
    if (p->n_works == n)
        return;
    p->n_works = n;
    p->n_placed = n_placed;
    th_map_clear(p->work_numbers);
}

static void drop_jobs(th_program *p, int32_t n)
{
    for (int32_t i = n; i < p->n_jobs; i++) {
        th_free(p->jobs[i].name);
        th_free(p->jobs[i].program);
    }
    p->n_jobs = n;
}

void th_program_clear(th_program *p)
{
    drop_collectives(p, 0);
    drop_works(p, 0, 0);
    drop_jobs(p, 0);
    p->n_blocked = 0;
    p->n_tasks = 0;
    p->n_dependencies = 0;
    p->n_inputs = 0;
    p->wave = 1;
}

void th_program_free(th_program *p)
{
    if (!p)
        return;
    drop_collectives(p, 0);
    th_free(p->collectives);
    drop_jobs(p, 0);
    th_free(p->jobs);
    th_free(p->works);
    th_free(p->placed);
    th_free(p->blocked);
    th_map_free(p->work_numbers);
    th_free(p->tasks);
    th_free(p->successor_start);
    th_free(p->successors);
    th_free(p->n_predecessors);
    th_free(p->edge_from);
    th_free(p->edge_to);
    th_free(p);
}

int th_program_grow_tasks(th_program *p, th_error *err)
{
    if (p->n_tasks == INT32_MAX)
        return th_error_set(err, "SIM-0230", "the program has %d tasks, the most there can be",
                            INT32_MAX);
    if (th_grow(&p->tasks, &p->task_capacity, (size_t)p->n_tasks + 1, sizeof *p->tasks))
        return th_error_no_memory(err);
    return 0;
}

int32_t th_program_add_collective(th_program *p, const th_collective *c, th_error *err)
{
    size_t n = (size_t)c->n_ranks;
    th_collective copy = *c;
    copy.rank_node = th_alloc_array(n, sizeof *copy.rank_node);
    copy.pair_bytes = c->pair_bytes ? th_alloc_array(n * n, sizeof *copy.pair_bytes) : NULL;
    if (!copy.rank_node || (c->pair_bytes && !copy.pair_bytes) ||
        th_grow(&p->collectives, &p->collective_capacity, (size_t)p->n_collectives + 1,
                sizeof *p->collectives)) {
        th_free(copy.rank_node);
        th_free(copy.pair_bytes);
        return th_error_no_memory(err);
    }
    memcpy(copy.rank_node, c->rank_node, n * sizeof *copy.rank_node);
    if (copy.pair_bytes)
        memcpy(copy.pair_bytes, c->pair_bytes, n * n * sizeof *copy.pair_bytes);
    p->collectives[p->n_collectives] = copy;
    return p->n_collectives++;
}

static int remember_works(th_program *p)
{
    if (!p->work_numbers && !(p->work_numbers = th_map_new()))
        return -1;
    for (int32_t i = (int32_t)th_map_count(p->work_numbers); i < p->n_works; i++)
        if (th_program_placed(p, i)
                ? th_map_put(p->work_numbers, th_program_placed(p, i), sizeof *p->placed, i)
                : th_map_put(p->work_numbers, &p->works[i], sizeof p->works[i], i))
            return -1;
    return 0;
}

/* Adds a work that its key does not find. */
static int32_t add_work(th_program *p, const th_fixed_work *w, const void *key, size_t size,
                        th_error *err)
{
    if (th_grow(&p->works, &p->work_capacity, (size_t)p->n_works + 1, sizeof *p->works) ||
        th_map_put(p->work_numbers, key, size, p->n_works))
        return th_error_no_memory(err);
    p->works[p->n_works] = *w;
    return p->n_works++;
}

int32_t th_program_add_work(th_program *p, const th_fixed_work *w, th_error *err)
{
    int64_t number;
    if (remember_works(p))
        return th_error_no_memory(err);
    if (th_map_get(p->work_numbers, w, sizeof *w, &number))
        return (int32_t)number;
    return add_work(p, w, w, sizeof *w, err);
}

int32_t th_program_add_placed_work(th_program *p, const th_placed_work *w, th_error *err)
{
    int64_t number;
    if (remember_works(p))
        return th_error_no_memory(err);
    if (th_map_get(p->work_numbers, w, sizeof *w, &number))
        return (int32_t)number;
    if (th_grow(&p->placed, &p->placed_capacity, (size_t)p->n_placed + 1, sizeof *p->placed))
        return th_error_no_memory(err);
    int32_t added = add_work(p, &(th_fixed_work){.operations = p->n_placed}, w, sizeof *w, err);
    if (added >= 0)
        p->placed[p->n_placed++] = *w;
    return added;
}

/* Every accelerator has a number of its own, so that no two works share one. */
static int32_t look_up(const th_program *p, int32_t i, th_compute_cost_cache *costs, th_error *err)
{
    const th_placed_work *w = th_program_placed(p, i);
    if (!w)
        return th_compute_cost_lookup_fixed(costs, &p->works[i], err);
    return th_compute_cost_append(costs, w->accel, w->design, &w->shard, err);
}

int th_program_look_up_works(const th_program *p, th_compute_cost_cache *costs, th_error *err)
{
    for (int32_t i = 0; i < p->n_works; i++) {
        int32_t number = look_up(p, i, costs, err);
        if (number < 0)
            return -1;
        assert(number == i);
    }
    return 0;
}

int th_program_add_job(th_program *p, const th_program_job *j, th_error *err)
{
    th_program_job copy = *j;
    copy.name = th_alloc_string(j->name);
    copy.program = th_alloc_string(j->program);
    if (!copy.name || !copy.program ||
        th_grow(&p->jobs, &p->job_capacity, (size_t)p->n_jobs + 1, sizeof *p->jobs)) {
        th_free(copy.name);
        th_free(copy.program);
        return th_error_no_memory(err);
    }
    p->jobs[p->n_jobs++] = copy;
    return 0;
}

int32_t th_program_job_of(const th_program *p, int32_t task)
{
    int32_t low = 0, high = p->n_jobs;
    while (low < high) { /* the first job that begins after the task */
        int32_t middle = low + (high - low) / 2;
        if (p->jobs[middle].first_task <= task)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return -1;
    const th_program_job *j = &p->jobs[low - 1];
    return task < j->first_task + j->n_tasks ? low - 1 : -1;
}

int th_program_block(th_program *p, int32_t task, th_error *err)
{
    if (th_grow(&p->blocked, &p->blocked_capacity, p->n_blocked + 1, sizeof *p->blocked))
        return th_error_no_memory(err);
    p->blocked[p->n_blocked++] = task;
    return 0;
}

int th_program_grow(th_program *p, th_error *err)
{
    size_t capacity = p->edge_capacity, same = p->edge_capacity;
    if (th_grow(&p->edge_from, &capacity, (size_t)p->n_dependencies + 1, sizeof *p->edge_from) ||
        th_grow(&p->edge_to, &same, (size_t)p->n_dependencies + 1, sizeof *p->edge_to))
        return th_error_no_memory(err);
    p->edge_capacity = same;
    return 0;
}

th_program_mark th_program_mark_of(const th_program *p)
{
    return (th_program_mark){.n_tasks = p->n_tasks,
                             .n_collectives = p->n_collectives,
                             .n_inputs = p->n_inputs,
                             .n_works = p->n_works,
                             .n_placed = p->n_placed,
                             .n_jobs = p->n_jobs,
                             .n_dependencies = p->n_dependencies,
                             .n_blocked = p->n_blocked};
}

void th_program_cut(th_program *p, th_program_mark mark)
{
    drop_collectives(p, mark.n_collectives);
    drop_works(p, mark.n_works, mark.n_placed);
    drop_jobs(p, mark.n_jobs);
    p->n_blocked = mark.n_blocked;
    p->n_tasks = mark.n_tasks;
    p->n_inputs = mark.n_inputs;
    p->n_dependencies = mark.n_dependencies;
}

/* Counting sort of the edges by their first task. The successors of a task are in the order of
 * adding. */
void th_program_ask(th_program *p, bool (*is_interrupted)(void))
{
    p->is_interrupted = is_interrupted;
}

/* Polls is_interrupted once per many edges. */
static bool gives_up(const th_program *p, size_t i)
{
    enum { EDGES_BETWEEN = 1 << 20 };
    return i % EDGES_BETWEEN == 0 && p->is_interrupted && p->is_interrupted();
}

int th_program_finish(th_program *p, th_error *err)
{
    size_t n = (size_t)p->n_tasks, edges = (size_t)p->n_dependencies;
    if (p->n_dependencies > INT32_MAX)
        return th_error_set(err, "SIM-0231",
                            "the program has %lld dependencies: must be %d at most",
                            (long long)p->n_dependencies, INT32_MAX);
    if (th_grow(&p->successor_start, &p->start_capacity, n + 2, sizeof *p->successor_start) ||
        th_grow(&p->n_predecessors, &p->predecessor_capacity, n + 1, sizeof *p->n_predecessors) ||
        th_grow(&p->successors, &p->successor_capacity, edges + 1, sizeof *p->successors))
        return th_error_no_memory(err);
    memset(p->successor_start, 0, (n + 2) * sizeof *p->successor_start);
    memset(p->n_predecessors, 0, (n + 1) * sizeof *p->n_predecessors);
    int32_t *fill =
        p->successor_start + 1; /* shifted by one: after the fill it has become the start */
    for (size_t i = 0; i < edges; i++) {
        if (gives_up(p, i))
            return th_error_interrupted(err, "the program is not finished");
        fill[p->edge_from[i] + 1]++;
        p->n_predecessors[p->edge_to[i]]++;
    }
    for (size_t i = 0; i < p->n_blocked; i++)
        p->n_predecessors[p->blocked[i]]++;
    for (size_t t = 0; t < n; t++)
        fill[t + 1] += fill[t];
    for (size_t i = 0; i < edges; i++) {
        if (gives_up(p, i))
            return th_error_interrupted(err, "the program is not finished");
        p->successors[fill[p->edge_from[i]]++] = p->edge_to[i];
    }
    return 0;
}
