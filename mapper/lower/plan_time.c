/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_time.c - what plans would take by themselves: estimates that choose seeds, never results. */
#include <config.h>

#include <string.h>

#include "mapper/lower/plan_state.h"
#include "topology/route.h"

typedef struct {
    th_plans *plans;
    th_time busiest, latency; /* most of any medium, longest of any route */
    bool failed;              /* memory ran out on the way */
} traffic;

static void begin(traffic *t, th_plans *p)
{
    *t = (traffic){p, 0, 0, false};
    memset(p->medium_ps, 0, (size_t)p->system->n_media * sizeof *p->medium_ps);
}

static void carry(traffic *t, int from, int to, int64_t bytes)
{
    const th_system *s = t->plans->system;
    int links[TH_ROUTE_MAX], n = th_route(s, from, to, links);
    th_time latency = 0;
    t->failed |= n == TH_NO_MEMORY;
    for (int i = 0; i < n; i++) {
        const th_link *link = &s->links[links[i]];
        th_time *busy = &t->plans->medium_ps[link->medium];
        *busy += th_duration_ps(bytes, s->media[link->medium].bits_per_s);
        t->busiest = *busy > t->busiest ? *busy : t->busiest;
        latency += link->latency_ps;
    }
    t->latency = latency > t->latency ? latency : t->latency;
}

th_time th_plans_edge_time(th_plans *p, const th_edge_plan *e, th_error *err)
{
    traffic t;
    if (p->system->transfers_serially)
        return th_plan_serial_edge_time(p, e, err);
    begin(&t, p);
    for (int d = 0; d < e->n; d++)
        carry(&t, e->deliveries[d].from_node, e->deliveries[d].to_node, e->deliveries[d].bytes);
    return t.failed ? th_error_no_memory(err) : t.busiest + t.latency;
}

static int node_of(const th_plans *p, const th_placed *at, int r)
{
    return p->system->accel_node[at->set->accels[r]];
}

/* -1: memory is out. */
static th_time phase_time(th_plans *p, const th_placed *at, const th_layer_plan *plan, int phase)
{
    traffic t;
    th_time longest = 0;
    begin(&t, p);
    for (int r = 0; r < plan->n; r++) {
        const int32_t *work = phase > 0 ? plan->work_adding : plan->work;
        th_time own = th_works_get(p->works, work[r * plan->phases + phase])->folded_ps;
        longest = own > longest ? own : longest;
        if (phase + 1 < plan->phases) /* the next piece travels meanwhile */
            carry(&t, node_of(p, at, plan->at[r].ring_from), node_of(p, at, r),
                  plan->piece_bytes[r * plan->phases + phase + 1]);
    }
    th_time travel = t.busiest + t.latency;
    if (t.failed)
        return -1;
    return travel > longest ? travel : longest;
}

/* -1: memory is out. */
static th_time reduction_time(th_plans *p, const th_placed *at, const th_layer_plan *plan)
{
    traffic t;
    th_time longest = 0;
    begin(&t, p);
    for (int r = 0; r < plan->n; r++) {
        for (int i = 0; i < plan->at[r].n_sends; i++) {
            const th_partial_send *x = &plan->sends[plan->at[r].first_send + i];
            carry(&t, node_of(p, at, r), node_of(p, at, x->to), x->bytes);
        }
        th_time own = plan->at[r].reduce_work < 0
                          ? 0
                          : th_works_get(p->works, plan->at[r].reduce_work)->folded_ps;
        longest = own > longest ? own : longest;
    }
    return t.failed ? -1 : t.busiest + t.latency + longest;
}

th_time th_plans_layer_time(th_plans *p, const th_placed *at, const th_layer_plan *plan,
                            th_error *err)
{
    if (p->system->transfers_serially)
        return th_plan_serial_layer_time(p, at, plan, err);
    th_time sum = reduction_time(p, at, plan);
    for (int phase = 0; phase < plan->phases && sum >= 0; phase++) {
        th_time time = phase_time(p, at, plan, phase);
        sum = time < 0 ? -1 : sum + time;
    }
    return sum < 0 ? th_error_no_memory(err) : sum;
}
