/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search.c - the report on the search that found the mapping. */
#include <config.h>
#include <string.h>
#include <stdio.h>
#include "base/units.h"
#include "mapper/evaluate/bounds.h"
#include "mapper/evaluate/deadline.h"
#include "mapper/search/searches.h"
#include "session/goal.h"
#include "session/sections/sections.h"

/* A cell of a search with random numbers and a budget; absent for baselines and files. */
static th_quantity if_searched(const th_search_record *f, th_quantity q)
{
    return !f->type || f->type->is_baseline ? th_absent(q.kind) : q;
}

/* A cell of any mapping of map_workload. */
static th_quantity if_found(const th_search_record *f, th_quantity q)
{
    return f->type ? q : th_absent(q.kind);
}

/* Each baseline has its own sets, unless it had to stay inside groups. */
static const char *sets_of(const th_search_record *f)
{
    if (!f->type || (f->type->is_baseline && !f->inside_groups))
        return NULL;
    return f->inside_groups ? "inside groups" : "free";
}

static const char *seeds_of(const th_search_record *f)
{
    if (!f->type || f->type->is_baseline || f->type == &th_search_exhaustive)
        return NULL;
    return f->initial == TH_INITIAL_RANDOM ? "random" : "heuristic";
}

/* Enumeration proves within its space; what meets the lower bound is optimal among all mappings. */
static const char *proof_of(const th_search_record *f, double for_all, char *out, size_t size)
{
    if (th_bounds_met(f->fitness.value, for_all))
        return "yes";
    if (!f->is_proven)
        return "no";
    snprintf(out, size, "yes, in space %s", f->space);
    return out;
}

static const char *describe_time(const th_search_record *f, char *out, size_t size)
{
    snprintf(out, size, "%.10g s; again with -evaluations %lld", f->seconds,
             (long long)f->evaluations);
    return out;
}

/* The search that found the mapping, of the portfolio one of its own; and what made the mapping. */
static const char *found_by(const th_search_record *f)
{
    return f->n_improvements > 0 ? f->improvements[f->n_improvements - 1].found_by->name : NULL;
}

static const char *generator_of(const th_search_record *f)
{
    return f->n_improvements > 0
               ? th_generator_names[f->improvements[f->n_improvements - 1].generator]
               : NULL;
}

/* "ideal network, 8 inputs": the network and stream of the search, which all of its figures refer
 * to. */
static const char *describe_options(const th_session *s, char *out, size_t size)
{
    const th_search_record *f = &s->search;
    char network[TH_NETWORK_TEXT_MAX], interval[64] = "", parts[40] = "", time[40];
    const th_stream *x = &f->run.stream;
    if (!f->type)
        return NULL;
    if (x->interval_ps > 0)
        snprintf(interval, sizeof interval, " every %s",
                 th_format_time(x->interval_ps, time, sizeof time));
    if (x->micro_batches > 1)
        snprintf(parts, sizeof parts, ", %d micro-batches", (int)x->micro_batches);
    const th_run_options run = th_run_options_of_mappings(s->system, &f->run);
    snprintf(out, size, "%s network%s, %d input%s%s%s", run.network->name,
             th_network_describe_options(&run, network, sizeof network), (int)x->n_inputs,
             x->n_inputs == 1 ? "" : "s", interval, parts);
    return out;
}

/* Did the run in the head use other options than the search? */
static bool is_of_another_run(const th_session *s)
{
    return s->simulation && s->simulation->has_begun && s->search.type &&
           !th_run_options_equal(&s->simulation->options, &s->search.run);
}

static const th_column search_columns[] = {
    {"algorithm", "algorithm", TH_KIND_TEXT},
    {"searched_under", "searched under", TH_KIND_TEXT},
    {"objective", "objective", TH_KIND_TEXT},
    {"space", "space", TH_KIND_TEXT},
    {"sets", "accelerator sets", TH_KIND_TEXT},
    {"seed", "seed", TH_KIND_COUNT},
    {"initial_mappings", "initial mappings", TH_KIND_TEXT},
    {"budget", "evaluations allowed", TH_KIND_COUNT},
    {"time_budget", "time allowed", TH_KIND_TEXT},
    {"evaluations", "evaluations", TH_KIND_COUNT},
    {"infeasible", "infeasible", TH_KIND_COUNT},
    {"stopped_early", "stopped early", TH_KIND_COUNT},
    {"found_at", "best found at evaluation", TH_KIND_COUNT},
    {"found_by", "best found by", TH_KIND_TEXT},
    {"generator", "generator", TH_KIND_TEXT},
    {"deadline", "deadline", TH_KIND_TIME},
    {"lateness", "late by", TH_KIND_TIME},
    {"lower_bound", "lower bound", TH_KIND_TIME},
    {"gap", "gap to the bound", TH_KIND_SHARE},
    {"nodes", "nodes explored", TH_KIND_COUNT},
    {"proven", "proven optimal", TH_KIND_TEXT},
};
enum {
    N_FIRST = sizeof search_columns / sizeof *search_columns,
    UNDER = 1,
    TIME_BUDGET = 8,
    N_SEARCH = N_FIRST + 1 + TH_GOAL_RATES
};

/* Those, the objective, and rates where the goal has any; NULL: memory is out. */
static const th_column *columns_of_search(const th_session *s, th_report *r)
{
    const th_search_record *f = &s->search;
    th_column *columns = th_report_columns(r, N_SEARCH);
    if (!columns)
        return NULL;
    memcpy(columns, search_columns, sizeof search_columns);
    columns[N_FIRST] = th_goal_column(&f->goal);
    th_goal_rate_columns(&f->goal, th_workload_samples(s->workload), &columns[N_FIRST + 1]);
    columns[N_SEARCH] = (th_column){NULL, NULL, TH_KIND_TEXT};
    if (f->seconds <= 0)
        columns[TIME_BUDGET].title = NULL; /* not in text */
    if (!is_of_another_run(s))
        columns[UNDER].title = NULL;
    return columns;
}

int th_section_search(th_session *s, th_report *r, th_error *err)
{
    const th_search_record *f = &s->search;
    const th_metrics *m = &f->fitness.metrics;
    bool has_deadline = f->goal.deadline_ps > 0 || (f->type && th_deadline_exists(s->workload));
    char objective[200], proof[60], time_budget[120], under[TH_NETWORK_TEXT_MAX + 160];
    double bound, for_all;
    if (th_search_record_bound(s, &bound, &for_all, err) != 0)
        return -1;
    const th_column *columns = columns_of_search(s, r);
    if (!columns)
        return th_error_no_memory(err);
    th_goal_describe(&f->goal, objective, sizeof objective);
    th_quantity cells[N_SEARCH] = {
        th_text(f->type ? f->type->name : "file"),
        th_text(describe_options(s, under, sizeof under)),
        if_found(f, th_text(objective)),
        th_text(f->space),
        th_text(sets_of(f)),
        if_searched(f, th_count((int64_t)f->seed)),
        th_text(seeds_of(f)),
        f->budget < INT64_MAX ? if_found(f, th_count(f->budget)) : th_absent(TH_KIND_COUNT),
        th_text(f->seconds > 0 ? describe_time(f, time_budget, sizeof time_budget) : NULL),
        if_found(f, th_count(f->evaluations)),
        if_found(f, th_count(f->infeasible)),
        if_found(f, th_count(f->stopped_early)),
        if_found(f, th_count(f->found_at)),
        th_text(found_by(f)),
        th_text(generator_of(f)),
        f->goal.deadline_ps > 0 ? th_ps(f->goal.deadline_ps) : th_absent(TH_KIND_TIME),
        has_deadline ? th_ps(m->lateness_ps) : th_absent(TH_KIND_TIME),
        bound > 0 ? th_ps((th_time)bound) : th_absent(TH_KIND_TIME),
        /* a late value holds more than a makespan */
        bound > 0 && m->lateness_ps <= 0 ? th_share(f->fitness.value / bound - 1)
                                         : th_absent(TH_KIND_SHARE),
        f->nodes > 0 ? th_count(f->nodes) : th_absent(TH_KIND_COUNT),
        if_found(f, th_text(proof_of(f, for_all, proof, sizeof proof))),
        if_found(f, th_goal_quantity(&f->goal, m)),
    };
    th_goal_rates(&f->goal, th_workload_samples(s->workload), m, &cells[N_FIRST + 1]);
    th_table_row(th_report_record(r, "search", NULL, columns), cells);
    return 0;
}

/* ---- budget and evaluations ---- */

/* Only if the search has composed makespans from segments. */
static th_quantity if_segmented(const th_segment_counts *k, th_quantity q)
{
    return k->lookups > 0 ? q : th_absent(q.kind);
}

int th_section_search_timing(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"evaluations", "evaluations", TH_KIND_COUNT},
        {"elapsed", "elapsed", TH_KIND_TIME},
        {"rate", "evaluations per second", TH_KIND_COUNT},
        {"full_replays", "full replays", TH_KIND_COUNT},
        {"segment_lookups", "segment lookups", TH_KIND_COUNT},
        {"segment_hits", "segment cache hits", TH_KIND_COUNT},
        {"hit_rate", "hit rate", TH_KIND_SHARE},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const th_search_record *f = &s->search;
    const th_segment_counts *k = &f->segments;
    int64_t known = k->lookups - k->replayed;
    (void)err;
    th_table_row(th_report_record(r, "timing", NULL, columns),
                 (th_quantity[]){
                     if_found(f, th_count(f->evaluations)),
                     if_found(f, th_ps((th_time)(f->elapsed_s * (double)TH_PS_PER_S))),
                     f->elapsed_s > 0 ? th_count((int64_t)((double)f->evaluations / f->elapsed_s))
                                      : th_absent(TH_KIND_COUNT),
                     if_segmented(k, th_count(k->full_replays)),
                     if_segmented(k, th_count(k->lookups)),
                     if_segmented(k, th_count(known)),
                     if_segmented(k, th_share((double)known / (double)k->lookups)),
                 });
    return 0;
}

/* ---- improvements ---- */

int th_section_convergence(th_session *s, th_report *r, th_error *err)
{
    const th_search_record *f = &s->search;
    bool has_deadline = f->goal.deadline_ps > 0 || th_deadline_exists(s->workload);
    th_column *columns = th_report_columns(r, 6);
    if (!columns)
        return th_error_no_memory(err);
    columns[0] = (th_column){"evaluation", "evaluation", TH_KIND_COUNT};
    columns[1] = th_goal_column(&f->goal);
    columns[2] = (th_column){"change", "change", TH_KIND_CHANGE};
    columns[3] = (th_column){"lateness", has_deadline ? "late by" : NULL, TH_KIND_TIME};
    columns[4] = (th_column){"found_by", "found by", TH_KIND_TEXT};
    columns[5] = (th_column){"generator", "generator", TH_KIND_TEXT};
    columns[6] = (th_column){NULL, NULL, TH_KIND_TEXT};
    th_table *t = th_report_table(r, "convergence", "Improvements, by evaluation", columns);
    for (size_t i = 0; i < f->n_improvements; i++) {
        const th_metrics *m = &f->improvements[i].metrics;
        double value = th_goal_value(&f->goal, m),
               before = i > 0 ? th_goal_value(&f->goal, &f->improvements[i - 1].metrics) : 0;
        th_table_row(t, (th_quantity[]){
                            th_count(f->improvements[i].evaluation),
                            th_goal_quantity(&f->goal, m),
                            before > 0 ? th_change(value / before - 1) : th_absent(TH_KIND_CHANGE),
                            th_ps(m->lateness_ps),
                            th_text(f->improvements[i].found_by->name),
                            th_text(th_generator_names[f->improvements[i].generator]),
                        });
    }
    return 0;
}

/* ---- the front ---- */

int th_section_front(th_session *s, th_report *r, th_error *err)
{
    const th_search_record *f = &s->search;
    int n = f->goal.n_front;
    int rates = th_goal_has_throughput(&f->goal) ? TH_GOAL_RATES : 0;
    int64_t samples = th_workload_samples(s->workload);
    th_column *columns = th_report_columns(r, n + rates + 3);
    if (!columns)
        return th_error_no_memory(err);
    columns[0] = (th_column){"mapping", "mapping", TH_KIND_COUNT};
    for (int i = 0; i < n; i++)
        columns[1 + i] = th_objective_column(f->goal.front[i]);
    if (rates > 0)
        th_goal_rate_columns(&f->goal, samples, &columns[1 + n]);
    columns[n + rates + 1] = (th_column){"n_sets", "sets", TH_KIND_COUNT};
    columns[n + rates + 2] = (th_column){"state", "state", TH_KIND_TEXT};
    columns[n + rates + 3] = (th_column){NULL, NULL, TH_KIND_TEXT};
    th_table *t = th_report_table(r, "front", "Pareto front", columns);
    for (int k = 0; k < f->front->n; k++) {
        th_quantity cells[TH_FRONT_MAX + TH_GOAL_RATES + 3] = {th_count(k)};
        for (int i = 0; i < n; i++)
            cells[1 + i] = th_objective_quantity(f->goal.front[i], &f->front->metrics[k]);
        if (rates > 0)
            th_goal_rates(&f->goal, samples, &f->front->metrics[k], &cells[1 + n]);
        cells[n + rates + 1] = th_count(f->front->mapping[k]->n_sets);
        cells[n + rates + 2] = th_text(k == f->selected ? "selected" : NULL);
        th_table_row(t, cells);
    }
    return 0;
}
