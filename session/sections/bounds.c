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
#include "mapper/pool/pool.h"
#include "session/property_events.h"
#include "sim/design/design.h"
#include "sim/design/script_memo.h"
#include "base/interrupt.h"
#include "session/sections/sections.h"

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
    th_bounds_scope scope = {
        .mapping = s->mapping, .chunks = chunks_of(s), .is_interrupted = th_interrupt_is_pending};
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

int th_bounds_of_session(th_session *s, const th_system *system, th_bounds *out, th_error *err)
{
    th_problem p = problem_under(s, s->simulation ? &s->simulation->options : &s->defaults);
    p.system = system;
    double *factors =
        th_alloc_array((size_t)system->n_accels + (size_t)system->n_media + 1, sizeof *factors);
    int failed = factors ? find_under_events(s, &p, factors, out, err) : th_error_no_memory(err);
    th_free(factors);
    return failed;
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
    const th_run_options run = th_run_options_of_mappings(
        s->system, s->simulation ? &s->simulation->options : &s->defaults);
    int n = (int)run.stream.n_inputs;
    snprintf(out, size, "%s network%s, %d input%s: the next run", run.network->name,
             th_network_describe_options(&run, network, sizeof network), n, n == 1 ? "" : "s");
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
    th_problem p = problem_under(s, s->simulation ? &s->simulation->options : &s->defaults);
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
    return 0;
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
    th_problem p = problem_under(s, &s->search.run);
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
