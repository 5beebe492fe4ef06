/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advice.c - see advice.h: maps and runs the changes, and ranks them. Each search runs on one
 * thread of its own. */
#include <config.h>
#include "report/what_if/advice.h"
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "report/what_if/what_if_jobs.h"
#include "sim/analysis/critical_path.h"
#include "sim/analysis/time_breakdown.h"

/* ---- one change ---- */

/* The largest part of the critical path of a finished run. */
static int find_limit(const th_system *system, th_simulation *sim, const th_result *r,
                      th_advice_item *item, th_error *err)
{
    th_path_entry *path;
    th_time sum[TH_N_PARTS] = {0}, part[TH_N_PARTS], all = 0;
    int n = th_critical_path(r, &path, err), failed = n < 0;
    if (failed)
        return -1;
    for (int i = 0; i < n && !failed; i++) {
        failed =
            th_time_breakdown(&(th_run_view){system, th_simulation_costs(sim), sim->program, r},
                              path[i].task, part, err);
        for (int p = 0; p < TH_N_PARTS && !failed; p++)
            sum[p] += part[p];
        all += path[i].wait_ps + path[i].end_ps - path[i].start_ps;
    }
    th_free(path);
    for (int p = 0; p < TH_N_PARTS; p++)
        if (sum[p] > sum[item->limit])
            item->limit = p;
    item->limit_share = all > 0 ? (double)sum[item->limit] / (double)all : 0;
    return failed ? -1 : 0;
}

typedef struct batch {
    th_session *session;
    th_advice *advice;
    th_run_options options;
} batch;

static int run_mapping(const batch *b, const th_system *system, const th_mapping *m,
                       th_advice_item *item, th_error *err)
{
    th_session *s = b->session;
    th_simulation *sim = th_simulation_new(system, s->workload, m, s->scripts, &b->options, err);
    int failed = sim ? 0 : -1;
    if (!failed && th_machine_run_until(sim->machine, TH_TIME_MAX, err) == TH_STOP_INTERRUPTED)
        failed = th_error_interrupted(err, "the run is not at its end");
    const th_result *r = failed ? NULL : th_simulation_result(sim, err);
    if (r)
        item->throughput_per_s = (double)th_workload_samples(s->workload) * th_result_throughput(r);
    failed = r ? find_limit(system, sim, r, item, err) : -1;
    th_simulation_free(sim);
    return failed;
}

/* A system on which nothing fits is an answer. */
static bool ends_all(const th_error *e)
{
    return th_error_is_no_memory(e) || th_error_is_interrupted(e);
}

/* Job 0 is the unchanged system. Tables of the session are only read. */
static int run_piece(void *state, int i, th_error *err)
{
    batch *b = state;
    th_advice_item *item = i == 0 ? &b->advice->baseline : &b->advice->all[i - 1];
    const th_system *system = item->system ? item->system : b->session->system;
    th_mapping *m = th_what_if_map(b->session, system, &b->options, b->advice->request.remap,
                                   &item->metrics, &item->failure);
    int failed = m ? run_mapping(b, system, m, item, &item->failure) : -1;
    th_mapping_free(m);
    th_system_free(item->system); /* of many, each may be large */
    item->system = NULL;
    if (!failed)
        item->failure.id[0] = '\0';
    if (!failed || (i > 0 && !ends_all(&item->failure)))
        return 0;
    return th_error_set(err, item->failure.id, "%s", item->failure.text);
}

int th_advice_run(th_session *s, th_advice *a, th_error *err)
{
    batch b = {s, a, s->simulation ? s->simulation->options : s->defaults};
    a->goal = th_what_if_goal(s);
    return th_what_if_jobs_run(s, &(th_what_if_jobs){"advice", run_piece, &b, a->n + 1}, err);
}

/* ---- the order ---- */

static double gain_of(const th_advice *a, const th_advice_item *i)
{
    const th_metrics *base = &a->baseline.metrics, *m = &i->metrics;
    if (base->lateness_ps > 0)
        return 1 - (double)m->lateness_ps / (double)base->lateness_ps;
    if (m->lateness_ps > 0) /* what is late now gains nothing */
        return -(double)m->lateness_ps / (double)base->latency_ps;
    double before = th_goal_value(&a->goal, base);
    return before > 0 ? 1 - th_goal_value(&a->goal, m) / before : 0;
}

bool th_advice_has_gain_per_cost(const th_advice_item *i)
{
    return !i->failure.id[0] && i->has_cost && i->cost > 0;
}

typedef enum { FREE, PRICED, UNKNOWN, NO_GAIN, NO_MAPPING } rank_class;

static rank_class class_of(const th_advice_item *i)
{
    if (i->failure.id[0])
        return NO_MAPPING;
    bool saves = i->has_cost && i->cost < 0;
    if (i->gain < 0 || (i->gain == 0 && !saves))
        return NO_GAIN;
    return !i->has_cost ? UNKNOWN : i->cost > 0 ? PRICED : FREE;
}

/* Less than 0: x stands before y. */
static int compare(const th_advice_item *x, const th_advice_item *y)
{
    rank_class a = class_of(x), b = class_of(y);
    if (a != b)
        return a < b ? -1 : 1;
    double p = a == PRICED ? x->gain / x->cost : x->gain;
    double q = a == PRICED ? y->gain / y->cost : y->gain;
    return (p < q) - (p > q);
}

/* By insertion: there are few, and equal ones keep their order. */
void th_advice_rank(th_advice *a)
{
    for (int i = 0; i < a->n; i++)
        a->all[i].gain = a->all[i].failure.id[0] ? 0 : gain_of(a, &a->all[i]);
    for (int i = 1; i < a->n; i++) {
        th_advice_item item = a->all[i];
        int at = i;
        for (; at > 0 && compare(&item, &a->all[at - 1]) < 0; at--)
            a->all[at] = a->all[at - 1];
        a->all[at] = item;
    }
}

void th_advice_clear(th_advice *a)
{
    for (int i = 0; i < a->n; i++) {
        th_system_free(a->all[i].system);
        th_free(a->all[i].what);
    }
    th_free(a->all);
    *a = (th_advice){.n = 0};
}
