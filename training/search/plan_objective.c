/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_objective.c - see plan_search.h. */
#include <config.h>
#include "base/alloc.h"
#include "sim/design/compute_cost.h"
#include "training/search/plan_search.h"
#include "training/plan_step.h"

const char *const th_plan_objective_names[] = {"step", "tokens_per_joule", "tokens_per_cost", NULL};

double th_plan_value(const th_plan_weights *w, const th_parallel_plan *p, double s)
{
    const int32_t ranks = th_plan_stage_ranks(p) * p->n.pipeline;
    return s * w->per_second[ranks] + w->per_plan[p->recompute >= TH_RECOMPUTE_NEEDED];
}

static int use_energy(th_plan_weights *w, const th_work_context *c, const th_parallel_plan *base,
                      const th_system *s, th_error *err)
{
    th_compute_cost_cache *costs = th_compute_cost_cache_new(s, err);
    if (!costs)
        return -1;
    const th_design_energy e =
        *th_compute_cost_energy(costs, s->nodes[s->accel_node[0]].a.designs[0]);
    th_compute_cost_cache_free(costs);
    if (c->devices.n > 1)
        return th_error_set(err, "MAP-0794",
                            "-objective: must be step or tokens_per_cost on unlike accelerators");
    if (!e.is_known || e.static_w <= 0)
        return th_error_set(err, "MAP-0767",
                            "-objective tokens_per_joule: the design of the accelerators has no "
                            "static_power: needs that key, with energy_source");
    for (int32_t i = 0; i <= s->n_accels; i++)
        w->per_second[i] = e.static_w * i;
    for (int i = 0; i < 2; i++) {
        th_parallel_plan one = *base;
        one.recompute = i ? TH_RECOMPUTE_FULL : TH_RECOMPUTE_NONE;
        w->per_plan[i] = th_step_joules(&e, c->t, &one, 0);
    }
    return 0;
}

static int use_cost(th_plan_weights *w, const th_system *s, th_error *err)
{
    for (int32_t i = 0; i < s->n_accels; i++) {
        const double cost = s->nodes[s->accel_node[i]].a.cost;
        w->per_second[i + 1] = w->per_second[i] + cost;
        if (cost <= 0)
            return th_error_set(err, "MAP-0768",
                                "-objective tokens_per_cost: the accelerators have no cost: needs "
                                "the key cost in the system file");
    }
    return 0;
}

int th_plan_weights_init(th_plan_weights *w, th_plan_objective objective, const th_work_context *c,
                         const th_parallel_plan *base, const th_system *s, th_error *err)
{
    *w = (th_plan_weights){.per_second =
                               th_alloc_zero((size_t)s->n_accels + 1, sizeof *w->per_second)};
    if (!w->per_second)
        return th_error_no_memory(err);
    if (objective == TH_PLAN_ENERGY)
        return use_energy(w, c, base, s, err);
    if (objective == TH_PLAN_COST)
        return use_cost(w, s, err);
    for (int32_t i = 0; i <= s->n_accels; i++)
        w->per_second[i] = 1;
    return 0;
}
