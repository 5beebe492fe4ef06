/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map_result.c - what map_workload tells of its search, and what it leaves in the session. */
#include <config.h>
#include "tcl/commands/map_call.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/units.h"
#include "mapper/search/searches.h"
#include "mapper/search/space.h"
#include "session/goal.h"
#include "tcl/design_option.h"
#include "tcl/warning.h"

/* --- while it searches --- */

/* ", bound 1.727ms, gap 40.9 %"; only times have a bound of their own unit. */
static void describe_gap(const th_search *s, double bound, char *out, size_t size)
{
    char least[64] = "", time[64];
    if (th_goal_column(&s->problem.goal).kind == TH_KIND_TIME)
        snprintf(least, sizeof least, ", bound %s",
                 th_format_time((th_time)bound, time, sizeof time));
    snprintf(out, size, "%s, gap %.1f %%", least, 100 * (s->best_fitness.value / bound - 1));
}

/* "1.678ms by annealing, bound 1.276ms, gap 31.5 %" */
static const char *describe_best(const th_search *s, double bound, char *out, size_t size)
{
    char best[160] = "-", gap[160] = "";
    const th_improvement *last = s->improvements.at + s->improvements.n - 1;
    if (!s->best) {
        snprintf(out, size, "%s", best);
        return out;
    }
    th_goal_format(&s->problem.goal, &s->best_fitness.metrics, best, sizeof best);
    if (bound > 0 && s->best_fitness.metrics.lateness_ps <= 0)
        describe_gap(s, bound, gap, sizeof gap);
    snprintf(out, size, "%s by %s%s", best, last->found_by->name, gap);
    return out;
}

void th_map_show_progress(th_progress *p, const th_search *s, double bound)
{
    char best[400], left[64] = "";
    double elapsed = th_progress_elapsed_s(p), rate = (double)s->n_evaluations / elapsed;
    int64_t rest = s->counts.candidates > 0 ? s->counts.candidates - s->counts.nodes
                                            : s->options.evaluations - s->n_evaluations;
    if (rest > 0 && rate > 0)
        snprintf(left, sizeof left, ", %.0f s left", (double)rest / rate);
    th_progress_show(p, "map_workload: best %s, %lld evaluations, %.0f/s%s",
                     describe_best(s, bound, best, sizeof best), (long long)s->n_evaluations, rate,
                     left);
}

int th_map_tell_candidates(th_call *c, const th_search *s)
{
    char text[200];
    if (s->counts.candidates == 0 || !th_session_is_typed(c->session))
        return 0;
    snprintf(text, sizeof text,
             "exhaustive: %lld mappings in space %s, about %.0f s (Ctrl-C keeps the best so far)\n",
             (long long)s->counts.candidates,
             th_space_describe(s->options.space, s->options.chunks),
             (double)s->counts.candidates * th_search_elapsed_s(s) /
                 (double)(s->n_evaluations > 0 ? s->n_evaluations : 1));
    return th_session_print(c->session, text, &c->err);
}

/* --- warnings --- */

void th_map_warn_of_baseline(const th_call *c, const th_search *search)
{
    static const int idle[] = {MAP_SEED, MAP_INITIAL};
    for (size_t i = 0; search->type->is_baseline && i < sizeof idle / sizeof *idle; i++) {
        if (!th_call_has(c, idle[i]))
            continue;
        th_warn(c, "TCL-0300", "%s: has no effect: %s is a baseline, which uses no random numbers",
                th_map_options[idle[i]].name, search->type->name);
    }
    if (!search->type->is_baseline || !search->is_out_of_budget)
        return;
    th_warn(c, "TCL-0301",
            "%s: the budget ended this baseline after %lld evaluations, before it had tried all of "
            "its mappings",
            search->type->name, (long long)search->n_evaluations);
}

static bool has_design(const th_mapping *m, int32_t design, const th_system *s)
{
    for (int i = 0; i < m->n_sets; i++)
        for (int r = 0; r < m->sets[i].n_accels; r++)
            if (th_set_design(&m->sets[i], r, s) == design)
                return true;
    return false;
}

void th_map_warn_of_design(const th_call *c, const th_mapping *m)
{
    const th_system *s = c->session->system;
    for (int32_t d = 0; d < s->n_designs; d++)
        if (th_design_option_gave(&s->designs[d]) && !has_design(m, d, s))
            th_warn(c, "TCL-1202",
                    "no set of the mapping has design \"%.60s\" of -design; -designs {%.60s} maps "
                    "with it alone",
                    s->designs[d].name, s->designs[d].name);
}

/* --- the result --- */

th_cuts th_map_cuts(const th_problem *p, const th_search_options *o)
{
    return p->constraints || o->start ? TH_CUTS_ANY : TH_CUTS_OF_SEARCHES;
}

int th_map_chunks(const th_problem *p, const th_search_options *o)
{
    return p->constraints || o->start ? TH_SHARD_CHUNKS_MAX : o->chunks;
}

/* The results that outlive a search; th_free(found), th_front_free(front). */
static int copy_findings(const th_search *search, th_search_record *how, th_error *err)
{
    how->improvements = th_alloc_array(search->improvements.n + 1, sizeof *how->improvements);
    if (!how->improvements)
        return th_error_no_memory(err);
    memcpy(how->improvements, search->improvements.at,
           search->improvements.n * sizeof *how->improvements);
    how->n_improvements = search->improvements.n;
    if (search->problem.goal.n_front == 0)
        return 0;
    how->front = th_nsga2_front(search, err);
    return how->front ? 0 : -1;
}

int th_map_keep_best(th_call *c, const th_search *search, const th_run_options *run,
                     bool is_interrupted)
{
    char value[160];
    assert(search->best); /* the search fails where no mapping fits */
    th_search_record how = {
        .type = search->type,
        .goal = search->problem.goal,
        .seed = search->options.seed,
        .inside_groups = search->options.sets_inside_groups,
        .initial = search->options.initial,
        .budget = is_interrupted || search->work_budget < INT64_MAX ? search->n_evaluations
                                                                    : search->budget,
        .seconds = is_interrupted ? 0 : search->options.seconds,
        .elapsed_s = th_search_elapsed_s(search),
        .evaluations = search->n_evaluations,
        .infeasible = search->counts.infeasible,
        .stopped_early = search->counts.stopped_early,
        .found_at = search->best_found_at,
        .segments = th_pool_segments(search->pool),
        .fitness = search->best_fitness,
        .run = *run,
        .cuts = th_map_cuts(&search->problem, &search->options),
        .chunks = th_map_chunks(&search->problem, &search->options),
        .is_proven = search->is_proven,
        .space = th_space_describe(search->options.space,
                                   search->type->is_baseline ? 1 : search->options.chunks),
        .nodes = search->counts.nodes,
    };
    th_mapping *best = NULL;
    int failed = copy_findings(search, &how, &c->err);
    if (!failed && !(best = th_mapping_copy(search->best)))
        failed = th_error_no_memory(&c->err);
    if (failed) {
        th_free(how.improvements);
        th_front_free(how.front);
        return failed;
    }
    th_session_set_mapping(c->session, best, &how);
    c->session->defaults = *run;
    th_call_return_text(c, th_goal_format(&how.goal, &how.fitness.metrics, value, sizeof value));
    return 0;
}

int th_map_end_early(th_call *c, const th_search *search, const th_run_options *run)
{
    char text[300], value[160];
    const bool is_kept = th_call_has(c, MAP_CHECKPOINT) && search && search->best;
    const char *after = is_kept ? "; the same command goes on from its checkpoint" : "";
    if (!search || !th_search_has_result(search)) {
        snprintf(text, sizeof text,
                 "map_workload: interrupted before it found a mapping that fits and is in time; "
                 "the mapping is the one before%s",
                 after);
        return th_call_cancel(c, text);
    }
    if (th_map_keep_best(c, search, run, true) != 0)
        return -1;
    snprintf(
        text, sizeof text,
        "map_workload: interrupted; the mapping is the best found, %s; -evaluations %lld gives it "
        "again%s",
        th_goal_format(&search->problem.goal, &search->best_fitness.metrics, value, sizeof value),
        (long long)search->n_evaluations, after);
    return th_call_cancel(c, text);
}
