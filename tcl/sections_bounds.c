/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sections_bounds.c - lower bounds, and how close the mapping comes to them. */
#include <config.h>
#include <math.h>
#include "mapper/bounds.h"
#include "mapper/pool/pool.h"
#include "tcl/sections.h"

static th_problem problem_under(const th_session *s, const th_run_options *run)
{
    return (th_problem){
        .system = s->system,
        .workload = s->workload,
        .stream = run->stream.n_inputs > 0 ? run->stream : th_stream_single,
        .network = run->network,
        .network_options = run->network_options,
        .scripts = s->scripts,
    };
}

/* What the mapping takes; without one, or if it does not fit, nothing is measured (latency -1). 0 or
 * -1. */
static int measure(const th_session *s, const th_problem *p, th_metrics *m, th_error *err)
{
    th_fitness fitness;
    m->latency_ps = m->interval_ps = -1;
    if (s->mapping == NULL)
        return 0;
    th_pool *pool = th_pool_new(&th_pool_threads, p, 1, err);
    int rc = pool == NULL ? -1
                          : th_pool_evaluate(pool, &s->mapping, 1, INFINITY, &fitness, err);
    th_pool_free(pool);
    if (rc == 0 && fitness.fit == TH_FIT)
        *m = fitness.metrics;
    return rc;
}

static th_quantity gap_of(th_time took, th_time bound)
{
    bool is_known = took >= 0 && bound > 0;
    return is_known ? th_share((double)took / (double)bound - 1) : th_absent(TH_KIND_SHARE);
}

static void add_row(th_table *t, const char *name, th_time makespan, th_time interval,
                    const char *why, const th_metrics *m, bool is_stream, bool is_total)
{
    th_quantity cells[] = {
        th_text(name),
        th_ps(makespan),
        gap_of(m->latency_ps, makespan),
        is_stream ? th_ps(interval) : th_absent(TH_KIND_TIME),
        is_stream ? gap_of(m->interval_ps, interval) : th_absent(TH_KIND_SHARE),
        th_text(why),
    };
    (is_total ? th_table_total : th_table_row)(t, cells);
}

int th_section_bounds(th_session *s, th_report *r, th_error *err)
{
    static const th_column one[] = {
        {"bound", "bound", TH_KIND_TEXT},        {"makespan", "makespan", TH_KIND_TIME},
        {"gap", "gap", TH_KIND_SHARE},           {"interval", NULL, TH_KIND_TIME},
        {"interval_gap", NULL, TH_KIND_SHARE},   {"limited_by", "limited by", TH_KIND_TEXT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    static const th_column stream[] = {
        {"bound", "bound", TH_KIND_TEXT},        {"makespan", "makespan", TH_KIND_TIME},
        {"gap", "gap", TH_KIND_SHARE},           {"interval", "interval", TH_KIND_TIME},
        {"interval_gap", "gap", TH_KIND_SHARE},  {"limited_by", "limited by", TH_KIND_TEXT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    th_problem p = problem_under(s, &s->defaults);
    th_bounds_scope scope = {.mapping = s->mapping};
    if (s->mapping != NULL)
        scope.cuts = th_bounds_cuts_of(s->mapping);
    bool is_stream = p.stream.n_inputs > 1;
    th_metrics m = {0};
    th_bounds b;
    if (measure(s, &p, &m, err) != 0 || th_bounds_find(&p, &scope, &b, err) != 0)
        return -1;
    th_table *t = th_report_table(r, "bounds", "Lower bounds", is_stream ? stream : one);
    for (int i = 0; i < TH_N_LIMITS; i++)
        add_row(t, th_limit_name((th_limit)i), b.makespan_ps[i], b.interval_ps[i], b.why[i], &m,
                is_stream, false);
    add_row(t, "largest", b.makespan_ps[b.largest], b.interval_ps[b.largest],
            th_limit_name(b.largest), &m, is_stream, true);
    th_bounds_clear(&b);
    return 0;
}

int th_searched_bound(const th_session *s, double *bound, th_error *err)
{
    th_problem p = problem_under(s, &s->searched.run);
    th_bounds b;
    p.goal = s->searched.goal;
    *bound = 0;
    if (s->searched.type == NULL)
        return 0;
    if (th_bounds_find(&p, &(th_bounds_scope){.cuts = s->searched.cuts}, &b, err) != 0)
        return -1;
    *bound = th_bounds_value(&b, &p);
    th_bounds_clear(&b);
    return 0;
}
