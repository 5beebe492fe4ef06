/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contention.c - which other task delayed a task, and at which resource.
 *
 * Nothing is recorded during a run. Routes follow from the system and overlaps from the times of
 * tasks, so contention is computed afterwards: for every medium on the route of a task, and the
 * DRAM at both ends (of a compute: its own DRAM), the time is added up in which other tasks
 * occupied it. A task occupies a resource for its bytes at the bandwidth of the resource, and the
 * part of that which falls into the common time counts, as if its bytes went evenly. The resource
 * with the longest occupation is reported, with the task that occupied it longest. DRAMs count only
 * where no link was shared, since engines yield to flows. Packet overheads and slowed clocks are
 * attributed to no task, and the actual rates over time are not modelled. */
#include <config.h>
#include "session/sections/contention.h"
#include "base/alloc.h"
#include "base/interrupt.h"
#include "session/link_flows.h"
#include "session/objects/objects.h"
#include "topology/routing/route.h"

/* A resource where a task can be delayed. */
typedef struct resource {
    bool is_dram;
    int32_t number; /* accelerator, or medium */
    int32_t link;   /* of that medium, on the task's route */
    double bits_per_s;
    double occupied_s; /* occupied by other tasks */
} resource;

struct th_contention {
    th_session *session;
    const th_program *program;
    const th_result *result;
    int32_t *order; /* tasks that have ended, by start */
    int32_t n;
    th_time longest; /* duration */
    bool **taken;    /* by collective: its links; NULL: not asked yet */
    resource *resources;
    int n_resources;
    int *links, *other_links; /* routes, TH_ROUTE_MAX each */
};

/* ---- preparation ---- */

static int sort_tasks(th_contention *f)
{
    int32_t n_begun;
    if (th_tasks_by_start(f->result, &f->order, &n_begun) != 0)
        return -1;
    for (int32_t i = 0; i < n_begun; i++) {
        const th_task_result *x = &f->result->tasks[f->order[i]];
        if (x->end_ps < 0)
            continue;
        th_time duration_ps = x->end_ps - x->start_ps;
        f->longest = duration_ps > f->longest ? duration_ps : f->longest;
        f->order[f->n++] = f->order[i];
    }
    return 0;
}

void th_contention_free(th_contention *f)
{
    if (!f)
        return;
    for (int32_t c = 0; f->taken && c < f->program->n_collectives; c++)
        th_free(f->taken[c]);
    th_free(f->taken);
    th_free(f->order);
    th_free(f->resources);
    th_free(f->links);
    th_free(f->other_links);
    th_free(f);
}

static int allocate(th_contention *f)
{
    enum { DRAMS = 2 };
    f->taken = th_alloc_zero((size_t)f->program->n_collectives + 1, sizeof *f->taken);
    f->resources = th_alloc_array(TH_ROUTE_MAX + DRAMS, sizeof *f->resources);
    f->links = th_alloc_array(TH_ROUTE_MAX, sizeof *f->links);
    f->other_links = th_alloc_array(TH_ROUTE_MAX, sizeof *f->other_links);
    bool is_there = f->taken && f->resources && f->links && f->other_links;
    return is_there ? sort_tasks(f) : -1;
}

th_contention *th_contention_new(th_session *s, const th_result *r, th_error *err)
{
    th_contention *f = th_alloc_zero(1, sizeof *f);
    if (th_interrupt_is_pending()) {
        th_contention_free(f);
        th_error_interrupted(err, "tasks were not put in order");
        return NULL;
    }
    if (f) {
        *f = (th_contention){.session = s, .program = s->simulation->program, .result = r};
        if (allocate(f) == 0)
            return f;
    }
    th_contention_free(f);
    th_error_no_memory(err);
    return NULL;
}

/* ---- resources of a task, and their use by others ---- */

static void add_dram(th_contention *f, int32_t node)
{
    const th_node *n = &f->session->system->nodes[node];
    if (n->accel >= 0 && n->a.dram_bits_per_s < TH_UNLIMITED)
        f->resources[f->n_resources++] =
            (resource){true, n->accel, -1, (double)n->a.dram_bits_per_s, 0};
}

static void find_places(th_contention *f, const th_task *t)
{
    const th_system *s = f->session->system;
    f->n_resources = 0;
    add_dram(f, t->node);
    if (t->kind != TH_TASK_TRANSFER)
        return;
    add_dram(f, t->peer);
    int n = th_route(s, t->node, t->peer, f->links);
    for (int i = 0; i < n; i++) {
        int32_t medium = s->links[f->links[i]].medium;
        f->resources[f->n_resources++] =
            (resource){false, medium, f->links[i], (double)s->media[medium].bits_per_s, 0};
    }
}

/* The links that a collective takes; NULL: memory is out. */
static const bool *links_of(th_contention *f, int32_t collective, th_error *err)
{
    bool **taken = &f->taken[collective];
    if (*taken)
        return *taken;
    *taken = th_alloc_zero((size_t)f->session->system->n_links + 1, sizeof **taken);
    if (!*taken)
        th_error_no_memory(err);
    else if (th_collective_links(th_simulation_collective(f->session->simulation, collective),
                                 f->session->system, *taken, err) == 0)
        return *taken;
    th_free(*taken);
    *taken = NULL;
    return NULL;
}

static bool has_medium(const th_system *s, const int *links, int n, int32_t medium)
{
    for (int i = 0; i < n; i++)
        if (s->links[links[i]].medium == medium)
            return true;
    return false;
}

static bool takes_medium(const th_system *s, const bool *taken, int32_t medium)
{
    for (int l = 0; l < s->n_links; l++)
        if (taken[l] && s->links[l].medium == medium)
            return true;
    return false;
}

/* Bytes that a task moves through DRAM. */
static int64_t dram_bytes(const th_contention *f, const th_task *t)
{
    if (t->kind == TH_TASK_TRANSFER)
        return t->bytes;
    const th_pipeline_stats *stats =
        &th_compute_cost_get(th_simulation_costs(f->session->simulation), t->compute_cost)
             ->collapsed;
    return th_stats_read(stats) + stats->moved_bytes[TH_ENGINE_OUTPUT];
}

static bool moves_dram(const th_contention *f, const th_task *t, int32_t accel)
{
    int32_t node = f->session->system->accel_node[accel];
    return (t->kind == TH_TASK_COMPUTE || t->kind == TH_TASK_TRANSFER) &&
           (t->node == node || (t->kind == TH_TASK_TRANSFER && t->peer == node));
}

/* For how many seconds another task, with all of its bytes, occupies each resource:
 * occupied[n_resources]. 0 or -1. */
static int occupancy(th_contention *f, const th_task *other, double *occupied, th_error *err)
{
    const th_system *s = f->session->system;
    const bool *taken = NULL;
    int n =
        other->kind == TH_TASK_TRANSFER ? th_route(s, other->node, other->peer, f->other_links) : 0;
    if (other->kind == TH_TASK_COLLECTIVE && !(taken = links_of(f, other->collective, err)))
        return -1;
    for (int i = 0; i < f->n_resources; i++) {
        const resource *p = &f->resources[i];
        int64_t bytes = 0;
        if (p->is_dram)
            bytes = moves_dram(f, other, p->number) ? dram_bytes(f, other) : 0;
        else if (taken)
            bytes = takes_medium(s, taken, p->number)
                        ? f->program->collectives[other->collective].bytes
                        : 0;
        else if (has_medium(s, f->other_links, n, p->number))
            bytes = other->bytes;
        occupied[i] = (double)bytes * 8 / p->bits_per_s;
    }
    return 0;
}

/* ---- the task that contended most ---- */

/* The resource, and the task that occupied it longest. */
typedef struct culprit {
    const resource *at; /* NULL: none */
    th_contender found;
    double occupied_s;
} culprit;

/* The first task, by start, that can be running at or after t. */
static int32_t first_after(const th_contention *f, th_time t)
{
    int32_t low = 0, high = f->n;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (f->result->tasks[f->order[middle]].start_ps < t - f->longest)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The time that two tasks overlap. */
static th_time overlap(const th_result *r, int32_t a, int32_t b)
{
    const th_task_result *x = &r->tasks[a], *y = &r->tasks[b];
    th_time from = x->start_ps > y->start_ps ? x->start_ps : y->start_ps;
    th_time to = x->end_ps < y->end_ps ? x->end_ps : y->end_ps;
    return to - from;
}

/* Adds the occupation by each overlapping task; once h->at is chosen, finds the task that occupied
 * it longest. */
static int weigh_contenders(th_contention *f, int32_t task, culprit *h, double *occupied,
                            th_error *err)
{
    const th_result *r = f->result;
    for (int32_t i = first_after(f, r->tasks[task].start_ps); i < f->n; i++) {
        int32_t other = f->order[i];
        const th_task *o = &f->program->tasks[other];
        th_time both = overlap(r, task, other);
        if (r->tasks[other].start_ps >= r->tasks[task].end_ps)
            break;
        if (other == task || both <= 0 || o->kind == TH_TASK_HOST)
            continue;
        if (occupancy(f, o, occupied, err) != 0)
            return -1;
        double share = (double)both / (double)(r->tasks[other].end_ps - r->tasks[other].start_ps);
        for (int p = 0; !h->at && p < f->n_resources; p++)
            f->resources[p].occupied_s += share * occupied[p];
        double here = h->at ? share * occupied[h->at - f->resources] : 0;
        h->found.n_contenders += here > 0;
        if (here > h->occupied_s) {
            h->occupied_s = here;
            h->found.task = other;
            h->found.overlap_ps = both;
        }
    }
    return 0;
}

/* The link, or the DRAM, that others occupied longest; NULL: none. */
static const resource *most_occupied(const th_contention *f, bool is_dram)
{
    const resource *most = NULL;
    for (int p = 0; p < f->n_resources; p++)
        if (f->resources[p].is_dram == is_dram &&
            f->resources[p].occupied_s > (most ? most->occupied_s : 0))
            most = &f->resources[p];
    return most;
}

int th_contention_find(th_contention *f, int32_t task, th_contender *out, th_error *err)
{
    culprit h = {.found = {.task = -1}};
    find_places(f, &f->program->tasks[task]);
    double *occupied = th_alloc_zero((size_t)f->n_resources + 1, sizeof *occupied);
    int failed = occupied ? weigh_contenders(f, task, &h, occupied, err) : th_error_no_memory(err);
    if (!failed && th_interrupt_is_pending())
        failed = th_error_interrupted(err, "what delayed it was not found");
    h.at = most_occupied(f, false);
    if (!h.at)
        h.at = most_occupied(f, true);
    if (!failed && h.at)
        failed = weigh_contenders(f, task, &h, occupied, err);
    th_free(occupied);
    *out = h.found;
    out->dram = h.at && h.at->is_dram ? h.at->number : -1;
    out->link = h.at && !h.at->is_dram ? h.at->link : -1;
    return failed;
}

static void describe_place(const th_session *s, const th_contender *h, th_strbuf *out)
{
    if (h->dram >= 0)
        th_strbuf_printf(out, "DRAM of %s", s->system->nodes[s->system->accel_node[h->dram]].name);
    else
        th_strbuf_printf(out, "link/%s", s->system->links[h->link].name);
}

void th_contender_cells(const th_session *s, const th_contender *h, th_strbuf *at, th_strbuf *by,
                        th_quantity *cells)
{
    static const th_kind kinds[TH_CONTENDER_CELLS] = {TH_KIND_TEXT, TH_KIND_COUNT, TH_KIND_TEXT,
                                                      TH_KIND_TIME, TH_KIND_COUNT};
    for (int i = 0; i < TH_CONTENDER_CELLS; i++)
        cells[i] = th_absent(kinds[i]);
    if (h->task < 0)
        return;
    describe_place(s, h, at);
    th_task_describe(s, &s->simulation->program->tasks[h->task], by);
    const th_quantity found[] = {th_text(at->text), th_count(h->task), th_text(by->text),
                                 th_ps(h->overlap_ps), th_count(h->n_contenders - 1)};
    for (int i = 0; i < TH_CONTENDER_CELLS; i++)
        cells[i] = found[i];
}
