/* SPDX-License-Identifier: GPL-3.0-or-later */
/* objective.c - objectives as numbers, and the makespan at which a run is surely worse.
 *
 * Of a run that lasts T, with E(T) >= dynamic + static T:
 *   latency   T                          energy  E(T)
 *   EDP       E(T) T                     weighted  w_l T + w_t interval + w_e E(T) + w_p E(T) T
 * The least of these grows with T, so it is solved for the T at which it passes the bound; unknown
 * terms of a run (its interval, weights that it loads in vain) count as 0. */
#include <config.h>

#include "mapper/evaluate/objective.h"

#include <math.h>
#include <stddef.h>

/* Sums of a run and of its floor differ in their last bits: a run is stopped when it is clear. */
static const double CLEARLY = 1 + 1e-9;

const char *th_objective_name(int i)
{
    static const char *const names[TH_N_TERMS + 1] = {"latency", "throughput", "energy", "edp"};
    return names[i];
}

bool th_goal_needs_energy(const th_goal *g)
{
    bool needs = g->objective == TH_OBJECTIVE_ENERGY || g->objective == TH_OBJECTIVE_EDP;
    if (g->objective == TH_OBJECTIVE_WEIGHTED)
        needs = g->weight[TH_OBJECTIVE_ENERGY] > 0 || g->weight[TH_OBJECTIVE_EDP] > 0;
    for (int i = 0; i < g->n_front; i++)
        needs |= g->front[i] == TH_OBJECTIVE_ENERGY || g->front[i] == TH_OBJECTIVE_EDP;
    return needs;
}

double th_objective_value(th_objective o, const th_metrics *m)
{
    switch (o) {
    case TH_OBJECTIVE_LATENCY:
        return (double)m->latency_ps;
    case TH_OBJECTIVE_THROUGHPUT:
        return (double)m->interval_ps;
    case TH_OBJECTIVE_ENERGY:
        return m->energy_j;
    case TH_OBJECTIVE_EDP:
        return m->energy_j * th_seconds(m->latency_ps);
    case TH_OBJECTIVE_WEIGHTED: /* no term */
        break;
    }
    return INFINITY;
}

double th_goal_value(const th_goal *g, const th_metrics *m)
{
    const double *w = g->weight;
    if (g->objective != TH_OBJECTIVE_WEIGHTED)
        return th_objective_value(g->objective, m);
    return w[TH_OBJECTIVE_LATENCY] * th_seconds(m->latency_ps) +
           w[TH_OBJECTIVE_THROUGHPUT] * th_seconds(m->interval_ps) +
           w[TH_OBJECTIVE_ENERGY] * m->energy_j +
           w[TH_OBJECTIVE_EDP] * m->energy_j * th_seconds(m->latency_ps);
}

double th_goal_fitness(const th_goal *g, const th_metrics *m)
{
    return m->lateness_ps > 0 ? TH_LATE_VALUE * (double)m->lateness_ps : th_goal_value(g, m);
}

/* --- when to stop --- */

/* The T >= 0 in seconds from which on a T^2 + b T passes c, with a, b >= 0; INFINITY: never. */
static double positive_root(double a, double b, double c)
{
    if (c < 0)
        return 0;
    if (b == 0 && a == 0)
        return INFINITY;
    if (c == 0)
        return 0;
    return 2 * c / (b + sqrt(b * b + 4 * a * c)); /* without cancellation where a is small */
}

/* a T^2 + b T + c is a floor of a weighted sum. */
static double weighted_stop_s(const double *w, double bound, bool is_sole_input,
                              const th_energy_floor *f)
{
    double a = w[TH_OBJECTIVE_EDP] * f->static_w,
           b = w[TH_OBJECTIVE_LATENCY] + (is_sole_input ? w[TH_OBJECTIVE_THROUGHPUT] : 0) +
               w[TH_OBJECTIVE_ENERGY] * f->static_w + w[TH_OBJECTIVE_EDP] * f->dynamic_j,
           c = w[TH_OBJECTIVE_ENERGY] * f->dynamic_j;
    return positive_root(a, b, bound - c);
}

static double stop_s(const th_goal *g, double bound, bool is_sole_input, const th_energy_floor *f)
{
    switch (g->objective) {
    case TH_OBJECTIVE_ENERGY:
        return positive_root(0, f->static_w, bound - f->dynamic_j);
    case TH_OBJECTIVE_EDP:
        return positive_root(f->static_w, f->dynamic_j, bound);
    case TH_OBJECTIVE_WEIGHTED:
        return weighted_stop_s(g->weight, bound, is_sole_input, f);
    case TH_OBJECTIVE_LATENCY:
    case TH_OBJECTIVE_THROUGHPUT:
        break;
    }
    return INFINITY;
}

static th_time whole_ps(double ps)
{
    return ps < (double)TH_TIME_MAX ? (th_time)ps : TH_TIME_MAX;
}

/* The objective alone. */
static th_time stop_in_time(const th_goal *g, double bound, bool is_sole_input,
                            const th_energy_floor *f)
{
    if (g->objective == TH_OBJECTIVE_LATENCY)
        return whole_ps(bound);
    if (!isfinite(bound))
        return TH_TIME_MAX;
    return whole_ps(
        ceil(stop_s(g, bound * CLEARLY, is_sole_input, f) * CLEARLY * (double)TH_PS_PER_S));
}

th_time th_goal_stop(const th_goal *g, double bound, bool is_sole_input,
                     const th_energy_floor *floor)
{
    if (g->n_front > 0)
        return TH_TIME_MAX; /* a bound on one objective does not bound the others */
    if (bound >= TH_LATE_VALUE) {
        double late_ps = bound / TH_LATE_VALUE;
        return g->deadline_ps > 0 ? whole_ps((double)g->deadline_ps + ceil(late_ps)) : TH_TIME_MAX;
    }
    th_time stop = stop_in_time(g, bound, is_sole_input, floor);
    return g->deadline_ps > 0 && g->deadline_ps < stop ? g->deadline_ps : stop;
}
