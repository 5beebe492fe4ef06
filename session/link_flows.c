/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_flows.c - see link_flows.h.
 * Nothing is recorded during a run: routes follow from the system, so they are walked
 * afterwards. */
#include <config.h>
#include "session/link_flows.h"
#include "base/alloc.h"
#include "base/map.h"
#include "base/interrupt.h"
#include "topology/routing/route.h"

/* ---- the messages of a collective ---- */

/* Called for every message between two nodes: 0, or -1 when memory is out. */
typedef int (*visit_message)(void *context, int32_t from, int32_t to, int64_t bytes);

static int walk_thread(const th_collective_schedule *x, int32_t participant, int32_t thread,
                       visit_message visit, void *context)
{
    th_collective_step a;
    for (int64_t step = 0; x->algorithm->get_step(x, participant, thread, step, &a); step++)
        if (a.send_port >= 0 && x->node[participant] != x->node[a.to] &&
            visit(context, x->node[participant], x->node[a.to], a.bytes) != 0)
            return -1;
    return 0;
}

static int walk_messages(const th_collective *c, const th_system *s, visit_message visit,
                         void *context, th_error *err)
{
    th_collective_schedule x;
    int failed = 0;
    if (!c->algorithm || c->chunks == 0)
        return 0;
    if (th_collective_schedule_init(&x, c, s, err) != 0)
        return -1;
    for (int32_t p = 0; !failed && p < x.n_participants; p++)
        for (int32_t thread = 0; !failed && thread < x.n_threads; thread++)
            if (walk_thread(&x, p, thread, visit, context) != 0)
                failed = th_error_no_memory(err);
    th_collective_schedule_clear(&x);
    return failed;
}

/* ---- all links that one collective takes ---- */

typedef struct marking {
    const th_system *system;
    th_map *known; /* pairs of nodes that have been marked */
    bool *is_taken;
} marking;

static int mark_route(void *context, int32_t from, int32_t to, int64_t bytes)
{
    marking *m = context;
    int32_t pair[] = {from, to};
    int64_t known;
    int links[TH_ROUTE_MAX];
    (void)bytes;
    if (th_map_get(m->known, pair, sizeof pair, &known))
        return 0;
    int n = th_route(m->system, from, to, links);
    if (n == TH_NO_MEMORY)
        return -1;
    for (int i = 0; i < n; i++)
        m->is_taken[links[i]] = true;
    return th_map_put(m->known, pair, sizeof pair, 1);
}

int th_collective_links(const th_collective *c, const th_system *s, bool *is_taken, th_error *err)
{
    marking m = {s, th_map_new(), is_taken};
    int failed = m.known ? walk_messages(c, s, mark_route, &m, err) : th_error_no_memory(err);
    th_map_free(m.known);
    return failed;
}

/* ---- from node to node ---- */

typedef struct counting {
    int64_t *bytes;
    int32_t n_nodes;
} counting;

static int count_message(void *context, int32_t from, int32_t to, int64_t bytes)
{
    const counting *c = context;
    c->bytes[(size_t)from * (size_t)c->n_nodes + (size_t)to] += bytes;
    return 0;
}

int th_traffic_collect(int64_t *bytes, const th_system *s, const th_simulation *sim,
                       const th_result *r, th_error *err)
{
    const th_program *p = sim->program;
    counting c = {bytes, s->n_nodes};
    int failed = 0;
    for (int32_t t = 0; !failed && t < p->n_tasks; t++) {
        const th_task *task = &p->tasks[t];
        if (th_interrupt_is_pending())
            failed = th_error_interrupted(err, "not all bytes were counted");
        if (r->tasks[t].start_ps < 0)
            continue;
        if (task->kind == TH_TASK_TRANSFER)
            count_message(&c, task->node, task->peer, task->bytes);
        else if (task->kind == TH_TASK_COLLECTIVE)
            failed = walk_messages(th_simulation_collective(sim, task->collective), s,
                                   count_message, &c, err);
    }
    return failed;
}

/* ---- by job and link ---- */

/* Bytes of one job from node to node, added up until a route takes all of a pair at once. */
typedef struct pairs {
    th_map *places;
    int32_t (*ends)[2];
    int64_t *bytes;
    size_t n, ends_capacity, bytes_capacity;
} pairs;

static int add_to_pair(void *context, int32_t from, int32_t to, int64_t bytes)
{
    pairs *x = context;
    int32_t pair[] = {from, to};
    int64_t place;
    if (th_map_get(x->places, pair, sizeof pair, &place)) {
        x->bytes[place] += bytes;
        return 0;
    }
    if (th_grow(&x->ends, &x->ends_capacity, x->n + 1, sizeof *x->ends) ||
        th_grow(&x->bytes, &x->bytes_capacity, x->n + 1, sizeof *x->bytes) ||
        th_map_put(x->places, pair, sizeof pair, (int64_t)x->n))
        return -1;
    x->ends[x->n][0] = from;
    x->ends[x->n][1] = to;
    x->bytes[x->n++] = bytes;
    return 0;
}

static int spread(pairs *x, const th_system *s, int64_t *bytes)
{
    int links[TH_ROUTE_MAX];
    for (size_t i = 0; i < x->n; i++) {
        int n = th_route(s, x->ends[i][0], x->ends[i][1], links);
        if (n == TH_NO_MEMORY)
            return -1;
        for (int l = 0; l < n; l++)
            bytes[links[l]] += x->bytes[i];
    }
    x->n = 0;
    th_map_clear(x->places);
    return 0;
}

/* The tasks of one job follow one another; those of no job are added piece by piece. */
static int add_by_job(pairs *x, int64_t *bytes, const th_system *s, const th_simulation *sim,
                      const th_result *r, th_error *err)
{
    const th_program *p = sim->program;
    int32_t job = -1;
    for (int32_t t = 0; t < p->n_tasks; t++) {
        const th_task *task = &p->tasks[t];
        int32_t own = th_program_job_of(p, t);
        if (own < 0)
            own = p->n_jobs;
        if (own != job && job >= 0 && spread(x, s, bytes + (size_t)job * (size_t)s->n_links))
            return th_error_no_memory(err);
        job = own;
        if (th_interrupt_is_pending())
            return th_error_interrupted(err, "not all bytes were counted");
        if (r->tasks[t].start_ps < 0)
            continue;
        if (task->kind == TH_TASK_TRANSFER && add_to_pair(x, task->node, task->peer, task->bytes))
            return th_error_no_memory(err);
        if (task->kind == TH_TASK_COLLECTIVE &&
            walk_messages(th_simulation_collective(sim, task->collective), s, add_to_pair, x, err))
            return -1;
    }
    if (job >= 0 && spread(x, s, bytes + (size_t)job * (size_t)s->n_links))
        return th_error_no_memory(err);
    return 0;
}

int th_link_bytes_by_job(int64_t *bytes, const th_system *s, const th_simulation *sim,
                         const th_result *r, th_error *err)
{
    pairs x = {.places = th_map_new()};
    int failed = x.places ? add_by_job(&x, bytes, s, sim, r, err) : th_error_no_memory(err);
    th_map_free(x.places);
    th_free(x.ends);
    th_free(x.bytes);
    return failed;
}

/* ---- all flows over one link ---- */

static bool route_takes(const th_system *s, int from, int to, int link)
{
    int links[TH_ROUTE_MAX];
    int n = th_route(s, from, to, links);
    for (int i = 0; i < n; i++)
        if (links[i] == link)
            return true;
    return false;
}

static int add(th_link_flows *f, const th_link_flow *flow)
{
    if (th_grow(&f->flows, &f->capacity, f->n + 1, sizeof *f->flows) != 0)
        return -1;
    f->flows[f->n++] = *flow;
    return 0;
}

static int add_transfer(th_link_flows *f, const th_system *s, const th_task *t, int32_t number,
                        int link)
{
    if (!route_takes(s, t->node, t->peer, link))
        return 0;
    return add(f, &(th_link_flow){number, t->node, t->peer, 1, t->bytes});
}

/* The state of gather_message. */
typedef struct gathering {
    th_link_flows *flows;
    const th_system *system;
    th_map *places; /* flow of each pair of nodes; -1: not over the link */
    int32_t task;
    int link;
} gathering;

static int gather_message(void *context, int32_t from, int32_t to, int64_t bytes)
{
    gathering *g = context;
    int32_t pair[] = {from, to};
    int64_t place = -1;
    if (!th_map_get(g->places, pair, sizeof pair, &place)) {
        if (route_takes(g->system, from, to, g->link)) {
            place = (int64_t)g->flows->n;
            if (add(g->flows, &(th_link_flow){g->task, from, to, 0, 0}) != 0)
                return -1;
        }
        if (th_map_put(g->places, pair, sizeof pair, place) != 0)
            return -1;
    }
    if (place >= 0) {
        g->flows->flows[place].messages++;
        g->flows->flows[place].bytes += bytes;
    }
    return 0;
}

static int add_collective(th_link_flows *f, const th_system *s, const th_collective *c,
                          int32_t number, int link, th_error *err)
{
    gathering g = {f, s, th_map_new(), number, link};
    int failed = g.places ? walk_messages(c, s, gather_message, &g, err) : th_error_no_memory(err);
    th_map_free(g.places);
    return failed;
}

static int add_flows_of(th_link_flows *f, const th_system *s, const th_simulation *sim, int32_t t,
                        int link, th_error *err)
{
    const th_task *task = &sim->program->tasks[t];
    if (th_interrupt_is_pending())
        return th_error_interrupted(err, "not all flows were found");
    if (task->kind == TH_TASK_TRANSFER)
        return add_transfer(f, s, task, t, link) != 0 ? th_error_no_memory(err) : 0;
    if (task->kind == TH_TASK_COLLECTIVE)
        return add_collective(f, s, th_simulation_collective(sim, task->collective), t, link, err);
    return 0;
}

int th_link_flows_collect(th_link_flows *f, const th_system *s, const th_simulation *sim,
                          const th_result *r, int link, th_error *err)
{
    *f = (th_link_flows){NULL, 0, 0};
    for (int32_t t = 0; t < sim->program->n_tasks; t++)
        if (r->tasks[t].start_ps >= 0 && add_flows_of(f, s, sim, t, link, err) != 0) {
            th_link_flows_clear(f);
            return -1;
        }
    return 0;
}

void th_link_flows_clear(th_link_flows *f)
{
    th_free(f->flows);
    *f = (th_link_flows){NULL, 0, 0};
}
