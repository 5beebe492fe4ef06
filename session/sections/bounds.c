/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds.c - lower bounds on the makespan, and the gap of the run (before a run: of the mapping) to
 * them. The bounds are for the network, stream and property events of the present run; before the
 * first run, for the next one. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/strbuf.h"
#include "mapper/evaluate/bounds.h"
#include "mapper/evaluate/deadline.h"
#include "mapper/pool/pool.h"
#include "session/property_events.h"
#include "sim/design/design.h"
#include "sim/design/script_memo.h"
#include "base/interrupt.h"
#include "session/sections/sections.h"
#include "workloads/models.h"

static const th_run_options *options_of(const th_session *s)
{
    return s->simulation ? &s->simulation->options : &s->defaults;
}

static bool has_run(const th_session *s)
{
    return s->simulation && s->simulation->has_begun;
}

/* The makespan of the mapping; without one, or if it does not fit, *took_ps stays. 0 or -1. */
static int evaluate(const th_session *s, const th_problem *p, th_time *took_ps, th_error *err)
{
    th_fitness fitness;
    if (!s->mapping)
        return 0;
    th_pool *pool = th_pool_new(&th_pool_threads, p, 1, err);
    int failed = pool ? th_pool_evaluate(pool, &s->mapping, 1, INFINITY, &fitness, err) : -1;
    th_pool_free(pool);
    if (!failed && fitness.fit == TH_FIT)
        *took_ps = fitness.metrics.latency_ps;
    return failed;
}

/* The makespan that is compared with the bounds: that of the finished run, or before a run that of
 * the mapping, unless property events will change it; else -1. */
static int measure(th_session *s, const th_problem *p, th_time *took_ps, th_error *err)
{
    *took_ps = -1;
    if (!has_run(s))
        return s->events.n > 0 ? 0 : evaluate(s, p, took_ps, err);
    if (!th_machine_is_done(s->simulation->machine))
        return 0;
    const th_result *x = th_simulation_result(s->simulation, err);
    if (!x)
        return -1;
    *took_ps = x->elapsed_ps;
    return 0;
}

/* Most chunks of a shard: of the search, or of the mapping of a file; without a mapping, of any. */
static int chunks_of(const th_session *s)
{
    if (!s->mapping)
        return TH_SHARD_CHUNKS_MAX;
    return s->search.type ? s->search.chunks : th_bounds_chunks_of(s->mapping);
}

/* Of problem p, with the property events of the present run; factors: room for those of the
 * system's accelerators and media. 0 or -1. */
static int find_under_events(th_session *s, const th_problem *p, double *factors, th_bounds *out,
                             th_error *err)
{
    const bool is_mapped = p->workload == s->workload;
    th_bounds_scope scope = {.mapping = is_mapped ? s->mapping : NULL,
                             .chunks = chunks_of(s),
                             .is_interrupted = th_interrupt_is_pending};
    const int n = p->system->n_accels + p->system->n_media;
    for (int i = 0; i < n; i++) /* what the session's system lacks has no events */
        factors[i] = 1;
    if (s->mapping)
        scope.cuts = th_bounds_cuts_of(s->mapping);
    if (s->events.n > 0) {
        scope.clock = factors;
        scope.bandwidth = factors + p->system->n_accels;
        th_property_events_maximum(s, factors, factors + p->system->n_accels);
    }
    return th_bounds_find(p, &scope, out, err);
}

static int find(th_session *s, const th_problem *p, th_bounds *out, th_error *err)
{
    double *factors = th_alloc_array((size_t)p->system->n_accels + (size_t)p->system->n_media + 1,
                                     sizeof *factors);
    int failed = factors ? find_under_events(s, p, factors, out, err) : th_error_no_memory(err);
    th_free(factors);
    return failed;
}

int th_bounds_of_session(th_session *s, const th_system *system, th_bounds *out, th_error *err)
{
    const th_problem p = th_session_problem(s, system, options_of(s));
    return find(s, &p, out, err);
}

/* ---- layers without a bound ---- */

static bool has_same_reason(const th_unknown_bound *a, const th_unknown_bound *b)
{
    return a->limit == b->limit && a->why == b->why && a->design == b->design &&
           (a->layer < 0) == (b->layer < 0);
}

static void name_layers(const th_session *s, const th_unknown_bound *g, int n, char *out,
                        size_t size)
{
    const th_layer *layers = s->workload->layers;
    *out = '\0';
    if (g->layer >= 0 && n == 1)
        th_print(out, size, "%.80s", layers[g->layer].name);
    else if (g->layer >= 0)
        th_print(out, size, "%.40s .. %.40s (%d)", layers[g->layer].name,
                 layers[g[n - 1].layer].name, n);
}

/* is_merged: neighbouring layers with one reason share a row. */
static void add_unknown(const th_session *s, const th_bounds *b, th_report *r, bool is_merged)
{
    static const th_column columns[] = {
        {"bound", "bound", TH_KIND_TEXT},
        {"layers", "layers", TH_KIND_TEXT},
        {"why", "why", TH_KIND_TEXT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    if (b->n_unknown == 0)
        return;
    th_table *t = th_report_table(r, "unknown", "Layers without a bound", columns);
    th_table_wrap(t);
    for (int i = 0, n; i < b->n_unknown; i += n) {
        char layers[120], why[200];
        const th_unknown_bound *g = &b->unknown[i];
        for (n = 1; is_merged && i + n < b->n_unknown && has_same_reason(g, &b->unknown[i + n]);
             n++)
            ;
        name_layers(s, g, n, layers, sizeof layers);
        th_table_row(t, (th_quantity[]){th_text(th_limit_name(g->limit)),
                                        th_text(layers[0] != '\0' ? layers : NULL),
                                        th_text(th_bounds_explain(g, s->system, why, sizeof why))});
    }
}

/* ---- the bounds ---- */

static th_quantity gap_of(th_time took, th_time bound)
{
    bool is_known = took >= 0 && bound > 0;
    return is_known ? th_share((double)took / (double)bound - 1) : th_absent(TH_KIND_SHARE);
}

typedef struct bound_row {
    const char *name, *limited_by;
    th_time makespan_ps, interval_ps; /* interval -1: not a stream */
} bound_row;

static void add_row(th_table *t, const bound_row *b, th_time took, bool is_total)
{
    th_quantity cells[] = {th_text(b->name), th_ps(b->makespan_ps), gap_of(took, b->makespan_ps),
                           th_ps_or_absent(b->interval_ps), th_text(b->limited_by)};
    (is_total ? th_table_total : th_table_row)(t, cells);
}

void th_bounds_describe_run(const th_session *s, char *out, size_t size)
{
    char network[TH_NETWORK_TEXT_MAX];
    out[0] = '\0';
    if (!s->system || has_run(s))
        return;
    const th_run_options run = th_run_options_of_mappings(s->system, options_of(s));
    int n = (int)run.stream.n_inputs;
    snprintf(out, size, "%s network%s, %d input%s: the next run", run.network->name,
             th_network_describe_options(&run, network, sizeof network), n, n == 1 ? "" : "s");
}

/* ---- deadlines ---- */

/* The longest latency of each model in the finished run; -1: it has none. Out of memory: NULL. */
static th_time *longest_latencies(const th_session *s, const th_result *x)
{
    const th_workload *w = s->workload;
    const size_t n_inputs = x ? (size_t)x->n_inputs : 0;
    th_time *out = th_alloc_array((size_t)w->n_models * (n_inputs + 1) + 1, sizeof *out);
    th_time *end = out ? out + w->n_models : NULL;
    if (out && x)
        th_deadline_model_ends(w, s->simulation->program, x->tasks, end);
    for (int i = 0; out && i < w->n_models; i++) {
        th_model_timing t = {.is_complete = false};
        if (x)
            t = th_deadline_model_timing(w, &s->simulation->options.stream, i, end);
        out[i] = t.is_complete ? t.max_latency_ps : -1;
    }
    return out;
}

/* The largest bound of a model that has the system for itself, for one input. */
static int bound_alone(th_session *s, int model, th_time *ps, const char **limit, th_error *err)
{
    th_problem p = th_session_problem(s, s->system, options_of(s));
    th_workload *alone = th_models_alone(s->workload, model, err);
    th_bounds b;
    p.workload = alone;
    p.stream.n_inputs = 1;
    int failed = alone ? find(s, &p, &b, err) : -1;
    if (!failed) {
        *ps = b.makespan_ps[b.largest];
        *limit = th_limit_name(b.largest);
        th_bounds_clear(&b);
    }
    th_workload_free(alone);
    return failed;
}

/* A model shares the system with others, so it is no faster than alone. */
static int add_deadline(th_session *s, int i, th_time latency, const char **key, th_report *r,
                        th_table *t, th_error *err)
{
    const th_model *m = &s->workload->models[i];
    th_time bound;
    const char *limit;
    char deadline[64], least[64];
    if (bound_alone(s, i, &bound, &limit, err) != 0)
        return -1;
    const bool is_met = latency >= 0 && latency <= m->deadline_ps;
    const char *verdict = is_met ? "met" : bound > m->deadline_ps ? "cannot be met" : "open";
    th_table_row(t, (th_quantity[]){th_text(m->name), th_ps(m->deadline_ps), th_ps(bound),
                                    th_ps_or_absent(latency), th_text(verdict), th_text(limit)});
    if (is_met)
        return 0;
    th_report_head_line(
        r, *key,
        th_report_printf(r, "%s: the deadline of %s %s: no mapping takes less than %s (%s)",
                         m->name, th_format_time(m->deadline_ps, deadline, sizeof deadline),
                         bound > m->deadline_ps ? "cannot be met" : "is not ruled out",
                         th_format_time(bound, least, sizeof least), limit));
    *key = ""; /* further lines belong to it */
    return 0;
}

static int add_deadlines(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"model", "model", TH_KIND_TEXT},
        {"deadline", "deadline", TH_KIND_TIME},
        {"least", "least latency", TH_KIND_TIME},
        {"longest", "in the run", TH_KIND_TIME},
        {"verdict", "verdict", TH_KIND_TEXT},
        {"limited_by", "limited by", TH_KIND_TEXT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    const bool is_done = has_run(s) && th_machine_is_done(s->simulation->machine);
    const th_result *x = is_done ? th_simulation_result(s->simulation, err) : NULL;
    if (is_done && !x)
        return -1;
    const char *key = "verdict";
    th_time *longest = longest_latencies(s, x);
    int failed = longest ? 0 : th_error_no_memory(err);
    th_table *t = th_report_table(r, "deadlines", "Deadlines", columns);
    for (int i = 0; !failed && i < s->workload->n_models; i++)
        if (s->workload->models[i].deadline_ps > 0)
            failed = add_deadline(s, i, longest[i], &key, r, t, err);
    th_free(longest);
    th_table_note(t, "least",
                  "least latency: the largest bound of the model with the system for itself");
    th_table_note(t, "verdict",
                  "verdict: met by the run; cannot be met by any mapping; open: neither is known");
    return failed;
}

int th_section_bounds(th_session *s, th_report *r, bool is_merged, th_error *err)
{
    static const th_column columns[] = {
        {"bound", "bound", TH_KIND_TEXT},
        {"makespan", "makespan", TH_KIND_TIME},
        {"gap", "gap", TH_KIND_SHARE},
        {"interval", "per input", TH_KIND_TIME},
        {"limited_by", "limited by", TH_KIND_TEXT},
        {NULL, NULL, TH_KIND_TEXT},
    };
    enum { N = sizeof columns / sizeof *columns, INTERVAL = 3 };
    th_problem p = th_session_problem(s, s->system, options_of(s));
    bool is_stream = p.stream.n_inputs > 1;
    char run[400];
    th_time took;
    th_bounds b;
    th_column *shown = th_report_columns(r, N);
    if (!shown)
        return th_error_no_memory(err);
    memcpy(shown, columns, sizeof columns);
    if (!is_stream)
        shown[INTERVAL].title = NULL;
    if (measure(s, &p, &took, err) != 0 || th_bounds_of_session(s, s->system, &b, err) != 0)
        return -1;
    th_bounds_describe_run(s, run, sizeof run);
    if (run[0] != '\0')
        th_report_head_line(r, "for", run);
    th_table *t = th_report_table(r, "bounds", "Lower bounds", shown);
    th_table_wrap(t);
    for (int i = 0; i <= TH_N_LIMITS; i++) {
        bool is_largest = i == TH_N_LIMITS;
        int limit = is_largest ? (int)b.largest : i;
        const char *name = th_limit_name((th_limit)limit);
        add_row(t,
                &(bound_row){.name = is_largest ? "largest" : name,
                             .limited_by = is_largest ? name : b.why[limit],
                             .makespan_ps = b.makespan_ps[limit],
                             .interval_ps = is_stream ? b.interval_ps[limit] : -1},
                took, is_largest);
    }
    th_table_note(t, "gap",
                  "gap: by how much the makespan of the run, or of the mapping before a run, "
                  "exceeds the bound");
    add_unknown(s, &b, r, is_merged);
    th_bounds_clear(&b);
    return th_deadline_exists(s->workload) ? add_deadlines(s, r, err) : 0;
}

/* ---- the bound of the search ---- */

/* Under the options of the search, for all mappings of its search space. */
static int find_for_all(const th_session *s, const th_problem *p, double *bound, th_error *err)
{
    th_bounds b;
    const th_bounds_scope scope = {.cuts = s->search.cuts,
                                   .chunks = s->search.chunks,
                                   .is_interrupted = th_interrupt_is_pending};
    if (th_bounds_find(p, &scope, &b, err) != 0)
        return -1;
    *bound = th_bounds_value(&b, p);
    th_bounds_clear(&b);
    return 0;
}

static bool asks_scripts(const th_system *s)
{
    bool any = false;
    for (int i = 0; i < s->n_designs; i++)
        any |= th_script_is_asked(th_design_find(s->designs[i].type));
    return any;
}

int th_search_record_bound(th_session *s, double *bound, double *for_all, th_error *err)
{
    th_problem p = th_session_problem(s, s->system, &s->search.run);
    th_bounds b;
    p.goal = s->search.goal;
    *bound = *for_all = s->search.bound;
    if (!s->search.type || s->search.has_bound)
        return 0;
    th_bounds_scope scope = {.cuts = s->search.cuts,
                             .chunks = s->search.chunks,
                             .mapping = s->mapping,
                             .is_interrupted = th_interrupt_is_pending};
    if (th_bounds_find(&p, &scope, &b, err) != 0)
        return -1;
    *bound = *for_all = th_bounds_value(&b, &p);
    bool is_of_some = th_bounds_are_partial(&b);
    th_bounds_clear(&b);
    if (!is_of_some && !asks_scripts(s->system)) {
        s->search.bound = *bound;
        s->search.has_bound = true;
    }
    return is_of_some ? find_for_all(s, &p, for_all, err) : 0;
}
