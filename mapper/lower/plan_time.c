/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_time.c - estimated times of layers and edges, each alone in the system. Initial mappings
 * and baselines choose by them; results never contain them. */
#include <config.h>

#include "base/min_max.h"
#include "mapper/lower/plan_state.h"

th_time th_plans_edge_time(th_plans *p, const th_edge_plan *e, th_error *err)
{
    th_plan_traffic t;
    th_plan_traffic_begin(&t, p);
    for (int d = 0; d < e->n; d++)
        th_plan_carry(&t, e->deliveries[d].from_node, e->deliveries[d].to_node,
                      e->deliveries[d].bytes);
    return t.failed ? th_error_no_memory(err) : th_time_add(t.busiest, t.latency);
}

/* --- layers --- */

static int node_of(const th_plans *p, const th_placed *at, int r)
{
    return p->system->accel_node[at->set->accels[r % at->set->n_accels]];
}

/* Of the chunk at the positions from `from` on. -1: memory is out. */
static th_time phase_time(th_plans *p, const th_placed *at, const th_layer_plan *plan, int phase,
                          int from)
{
    th_plan_traffic t;
    th_time longest = 0;
    th_plan_traffic_begin(&t, p);
    for (int r = from; r < from + plan->n_accels; r++) {
        const int32_t *cost = phase > 0 ? plan->cost_adding : plan->cost;
        th_time own = th_compute_cost_get(p->costs, cost[r * plan->phases + phase])->collapsed_ps;
        longest = own > longest ? own : longest;
        if (phase + 1 < plan->phases) /* the next piece travels meanwhile */
            th_plan_carry(&t, node_of(p, at, plan->at[r].ring_from), node_of(p, at, r),
                          plan->piece_bytes[r * plan->phases + phase + 1]);
    }
    th_time travel = th_time_add(t.busiest, t.latency);
    if (t.failed)
        return -1;
    return travel > longest ? travel : longest;
}

/* Of the chunk at these positions, the exchange in *travel; the sum. -1: memory is out. */
static th_time reduction_time(th_plans *p, const th_placed *at, const th_layer_plan *plan, int from,
                              th_time *travel)
{
    th_plan_traffic t;
    th_time longest = 0;
    th_plan_traffic_begin(&t, p);
    for (int r = from; r < from + plan->n_accels; r++) {
        for (int i = 0; i < plan->at[r].n_sends; i++) {
            const th_partial_send *x = &plan->sends[plan->at[r].first_send + i];
            th_plan_carry(&t, node_of(p, at, r), node_of(p, at, x->to), x->bytes);
        }
        th_time own = plan->at[r].reduce_cost < 0
                          ? 0
                          : th_compute_cost_get(p->costs, plan->at[r].reduce_cost)->collapsed_ps;
        longest = own > longest ? own : longest;
    }
    *travel = th_time_add(t.busiest, t.latency);
    return t.failed ? -1 : longest;
}

th_time th_plans_layer_time(th_plans *p, const th_placed *at, const th_layer_plan *plan,
                            th_layer_pace *pace, th_error *err)
{
    const int32_t chunks = plan->n / plan->n_accels;
    th_layer_pace x = {0, 0, 0, 0};
    th_time computed = 0, arrived = 0, travel;
    for (int32_t from = 0; from < plan->n; from += plan->n_accels) {
        const th_time sum = reduction_time(p, at, plan, from, &travel);
        th_time work = 0;
        for (int phase = 0; phase < plan->phases && work >= 0; phase++) {
            const th_time time = phase_time(p, at, plan, phase, from);
            work = time < 0 ? -1 : th_time_add(work, time);
        }
        if (sum < 0 || work < 0)
            return th_error_no_memory(err);
        computed = th_time_add(computed, work);
        arrived = th_time_add(th_max(arrived, computed), travel);
        computed = th_time_add(computed, sum);
        x.time = th_time_add(arrived, sum);
        x.work += work / chunks;
        x.exchange += travel / chunks;
        x.sum += sum / chunks;
    }
    if (pace)
        *pace = x;
    return x.time;
}
