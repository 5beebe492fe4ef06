/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_flows.c - see link_flows.h.
 * Nothing is recorded during a run: routes follow from the system, so they are walked
 * afterwards. */
#include <config.h>
#include "report/session/link_flows.h"
#include "base/alloc.h"
#include "base/map.h"
#include "report/interrupt.h"
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
