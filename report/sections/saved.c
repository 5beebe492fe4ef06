/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved.c - saved runs side by side. */
#include <config.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/strbuf.h"
#include "report/session/model_error.h"
#include "report/session/property_event_list.h"
#include "report/session/saved_figures.h"
#include "report/sections/sections.h"

const char *const th_metric_names[TH_N_METRICS + 1] = {
    "latency", "throughput", "batch_throughput", "link_utilization", "accel_utilization",
    "energy",  NULL};

static const th_column metric_columns[TH_N_METRICS] = {
    {"latency", "latency", TH_KIND_TIME},
    {"throughput", "throughput", TH_KIND_RATE},
    {"batch_throughput", "batches", TH_KIND_RATE},
    {"link_utilization", "links busy", TH_KIND_SHARE},
    {"accel_utilization", "accels busy", TH_KIND_SHARE},
    {"energy", "energy", TH_KIND_ENERGY},
};

static th_quantity value_of(const th_saved_run *run, int metric)
{
    switch (metric) {
    case TH_METRIC_LATENCY:
        return th_ps(run->latency_ps);
    case TH_METRIC_THROUGHPUT:
        return run->program ? th_absent(TH_KIND_RATE) : th_rate(run->throughput_per_s);
    case TH_METRIC_BATCH_THROUGHPUT:
        return run->program ? th_absent(TH_KIND_RATE) : th_rate(run->batch_throughput_per_s);
    case TH_METRIC_LINKS:
        return th_share(run->link_utilization);
    case TH_METRIC_ENERGY:
        return run->has_energy ? th_joules(run->energy_j) : th_absent(TH_KIND_ENERGY);
    default: /* a hand-built program computes nothing */
        return run->program ? th_absent(TH_KIND_SHARE) : th_share(run->accel_utilization);
    }
}

static th_quantity change_of(th_quantity value, th_quantity reference)
{
    double a = th_quantity_number(&value, 0), b = th_quantity_number(&reference, 0);
    return !value.is_absent && b > 0 ? th_change(a / b - 1) : th_absent(TH_KIND_CHANGE);
}

/* The column of a metric, and one for its change against each reference; returns how many. */
static int add_columns(th_report *r, th_column *columns, int metric, const th_runs *relative_to)
{
    int n = 0;
    columns[n++] = metric_columns[metric];
    for (int k = 0; k < relative_to->n; k++) {
        const char *reference = relative_to->all[k]->name;
        columns[n++] = (th_column){
            th_report_printf(r, "%s_vs_%s", metric_columns[metric].name, reference),
            th_report_printf(r, relative_to->n == 1 ? "vs %s" : "%s", reference), TH_KIND_CHANGE};
    }
    return n;
}

static int add_cells(th_quantity *cells, const th_saved_run *run, int metric,
                     const th_runs *relative_to)
{
    int n = 0;
    cells[n++] = value_of(run, metric);
    for (int k = 0; k < relative_to->n; k++)
        cells[n++] = change_of(value_of(run, metric), value_of(relative_to->all[k], metric));
    return n;
}

/* What the runs are of; in text the head says so where they are not of the same. */
static const th_column input_columns[TH_RUN_INPUTS] = {
    {"system", NULL, TH_KIND_TEXT},
    {"system_digest", NULL, TH_KIND_TEXT},
    {"workload_digest", NULL, TH_KIND_TEXT},
    {"changes", NULL, TH_KIND_TEXT},
};

/* The property events of a run as one line, allocated in the report; NULL: none. */
static const char *changes_of(th_report *r, const th_saved_run *run)
{
    th_strbuf line = TH_STRBUF_INIT;
    th_property_event_list_add_line(run->events, INT_MAX, &line);
    const char *kept = line.text ? th_report_keep(r, line.text) : NULL;
    r->failed |= line.failed;
    th_strbuf_clear(&line);
    return kept;
}

/* Identifies what was run. Programs have batch 0, so a program and a workload of the same name
 * differ. */
static const char *what_of(const th_saved_run *run)
{
    return run->program ? run->program : run->workload;
}

static bool is_one_system(const th_saved_run *a, const th_saved_run *b)
{
    return strcmp(a->system, b->system) == 0 && strcmp(a->figures->system, b->figures->system) == 0;
}

static bool is_one_workload(const th_saved_run *a, const th_saved_run *b)
{
    return a->batch == b->batch && strcmp(what_of(a), what_of(b)) == 0 &&
           strcmp(a->figures->workload, b->figures->workload) == 0;
}

static bool is_one_stream(const th_stream *a, const th_stream *b)
{
    return a->n_inputs == b->n_inputs && a->interval_ps == b->interval_ps &&
           a->micro_batches == b->micro_batches && a->in_flight == b->in_flight;
}

/* Do they differ by changes or faults alone? What a model is off by is then in both alike. */
static bool is_one_run_changed(const th_saved_run *a, const th_saved_run *b)
{
    return is_one_system(a, b) && is_one_workload(a, b) && strcmp(a->mapping, b->mapping) == 0 &&
           strcmp(a->network, b->network) == 0 && is_one_stream(&a->stream, &b->stream);
}

/* Is the difference of two runs in a time or rate less than what their models are off by? */
static bool is_within_error(const th_saved_run *run, const th_saved_run *reference, int metric)
{
    bool is_time = metric == TH_METRIC_LATENCY || metric == TH_METRIC_THROUGHPUT ||
                   metric == TH_METRIC_BATCH_THROUGHPUT;
    th_quantity change = change_of(value_of(run, metric), value_of(reference, metric));
    return is_time && run != reference && !is_one_run_changed(run, reference) &&
           !change.is_absent &&
           100 * fabs(change.real) <
               th_models_error(th_models_union(run->models, reference->models));
}

/* The runs of relative_to from which this one differs by less, in all metrics that are times or
 * rates; "" for none. Allocated in the report. */
static const char *within_error_of(th_report *r, const th_saved_run *run, const int *metrics,
                                   int n_metrics, const th_runs *relative_to)
{
    const char *names = "";
    for (int k = 0; k < relative_to->n; k++) {
        bool any = false;
        for (int m = 0; m < n_metrics; m++)
            any |= is_within_error(run, relative_to->all[k], metrics[m]);
        if (any)
            names = th_report_printf(r, "%s%s%s", names, names[0] ? " " : "",
                                     relative_to->all[k]->name);
    }
    return names;
}

static bool any_within_error(th_report *r, const th_runs *runs, const int *metrics, int n_metrics,
                             const th_runs *relative_to)
{
    for (int i = 0; i < runs->n; i++)
        if (within_error_of(r, runs->all[i], metrics, n_metrics, relative_to)[0])
            return true;
    return false;
}

static void add_notes(th_table *t, const int *metrics, int n, bool any_within)
{
    for (int k = 0; k < n; k++) {
        if (metrics[k] == TH_METRIC_THROUGHPUT)
            th_table_note(t, "throughput", "throughput: samples per second");
        if (metrics[k] == TH_METRIC_LINKS)
            th_table_note(t, "link_utilization",
                          "links busy: mean over the links that carried something");
    }
    if (any_within)
        th_table_note(t, "within_error",
                      "within error of: its time or rate differs from that run's by less than the "
                      "largest known model error");
}

int th_section_runs(th_report *r, const th_runs *runs, const int *metrics, int n_metrics,
                    const th_runs *relative_to, th_error *err)
{
    int n_columns = 1 + n_metrics * (1 + relative_to->n) + 1 + TH_RUN_INPUTS, n = 0;
    bool any_within = any_within_error(r, runs, metrics, n_metrics, relative_to);
    th_column *columns = th_report_columns(r, n_columns);
    th_quantity *cells = th_alloc_array((size_t)n_columns, sizeof *cells);
    if (!columns || !cells) {
        th_free(cells);
        return th_error_no_memory(err);
    }
    columns[n++] = (th_column){"run", "run", TH_KIND_TEXT};
    for (int k = 0; k < n_metrics; k++)
        n += add_columns(r, &columns[n], metrics[k], relative_to);
    columns[n++] = (th_column){"within_error", any_within ? "within error of" : NULL, TH_KIND_TEXT};
    for (int k = 0; k < TH_RUN_INPUTS; k++)
        columns[n++] = input_columns[k];
    columns[n] = (th_column){NULL, NULL, TH_KIND_TEXT};
    th_table *t = th_report_table(r, "comparison", NULL, columns);
    add_notes(t, metrics, n_metrics, any_within);
    for (int i = 0; i < runs->n; i++) {
        n = 0;
        cells[n++] = th_text(runs->all[i]->name);
        for (int k = 0; k < n_metrics; k++)
            n += add_cells(&cells[n], runs->all[i], metrics[k], relative_to);
        const char *within = within_error_of(r, runs->all[i], metrics, n_metrics, relative_to);
        cells[n++] = within[0] ? th_text(within) : th_absent(TH_KIND_TEXT);
        cells[n++] = th_text(runs->all[i]->system);
        cells[n++] = th_text(runs->all[i]->figures->system);
        cells[n++] = th_text(runs->all[i]->figures->workload);
        cells[n++] = th_text(changes_of(r, runs->all[i]));
        th_table_row(t, cells);
    }
    th_free(cells);
    return 0;
}

typedef void (*th_line)(const th_saved_run *run, char *text, size_t size);

static void say_system(const th_saved_run *run, char *text, size_t size)
{
    th_print(text, size, "%.30s: %.200s, %s", run->name, run->system, run->figures->system);
}

static void say_workload(const th_saved_run *run, char *text, size_t size)
{
    if (run->program)
        th_print(text, size, "%.30s: program %.200s", run->name, run->program);
    else
        th_print(text, size, "%.30s: %.200s, batch %d, %s", run->name, run->workload,
                 (int)run->batch, run->figures->workload);
}

static void say_run(const th_saved_run *run, char *text, size_t size)
{
    char seed[40] = "";
    if (run->has_seed)
        snprintf(seed, sizeof seed, ", seed %" PRIu64, run->seed);
    th_print(text, size, "%.30s: %s %s%s, %s", run->name, run->program ? "program" : "mapping",
             run->mapping, seed, run->network);
}

/* A line for each run, the key before the first. */
static void add_lines(th_report *r, const char *key, th_line say, th_saved_run *const *runs,
                      int n_runs)
{
    enum { LISTED_MAX = 20 };
    char text[400];
    for (int i = 0; i < n_runs && i <= LISTED_MAX; i++) {
        say(runs[i], text, sizeof text);
        if (i == LISTED_MAX)
            snprintf(text, sizeof text, "(%d more)", n_runs - LISTED_MAX);
        th_report_head_line(r, i == 0 ? key : "", text);
    }
}

/* The property events of the runs that had some. */
static void add_changes(th_report *r, th_saved_run *const *runs, int n_runs)
{
    bool is_first = true;
    for (int i = 0; i < n_runs; i++) {
        th_strbuf line = TH_STRBUF_INIT;
        if (runs[i]->events->n == 0)
            continue;
        char name[40];
        th_print(name, sizeof name, "%.30s: ", runs[i]->name);
        th_strbuf_add(&line, name);
        th_property_event_list_add_line(runs[i]->events, TH_HEAD_WIDTH - (int)line.length, &line);
        if (line.text)
            th_report_head_line(r, is_first ? "changes" : "", line.text);
        is_first = false;
        r->failed |= line.failed;
        th_strbuf_clear(&line);
    }
}

/* A list with commas as lines of the head; changes the text. NULL: none. */
static void add_wrapped(th_report *r, const char *key, char *text)
{
    while (text && *text != '\0') {
        char *next = NULL;
        size_t n = strlen(text);
        for (size_t i = 0; n > TH_HEAD_WIDTH && i < TH_HEAD_WIDTH; i++)
            if (text[i] == ',')
                next = text + i + 1;
        if (next)
            next[0] = '\0';
        th_report_head_line(r, key, text);
        key = "";
        text = next ? next + 1 : NULL;
    }
}

/* What the models of the runs are known to be off by. */
static void add_errors(th_report *r, th_saved_run *const *runs, int n_runs)
{
    th_models models = {0, 0};
    th_strbuf text = TH_STRBUF_INIT;
    for (int i = 0; i < n_runs; i++)
        models = th_models_union(models, runs[i]->models);
    th_models_describe(models, &text);
    add_wrapped(r, "model error", text.text);
    r->failed |= text.failed;
    th_strbuf_clear(&text);
    double known = th_models_error(models);
    th_report_head_field(r, "model_error",
                         known > 0 ? th_share(known / 100) : th_absent(TH_KIND_SHARE));
}

void th_section_saved_head(th_report *r, th_saved_run *const *runs, int n_runs)
{
    bool has_one_system = n_runs > 0, has_one_workload = n_runs > 0;
    char text[400];
    for (int i = 1; i < n_runs; i++) {
        has_one_system = has_one_system && is_one_system(runs[i], runs[0]);
        has_one_workload = has_one_workload && is_one_workload(runs[i], runs[0]);
    }
    if (has_one_system)
        th_report_head_line(r, "system", runs[0]->system);
    if (has_one_workload && runs[0]->program) {
        th_report_head_line(r, "program", runs[0]->program);
    } else if (has_one_workload) {
        th_print(text, sizeof text, "%.200s, batch %d", runs[0]->workload, (int)runs[0]->batch);
        th_report_head_line(r, "workload", text);
    }
    th_report_head_line(r, "version", "tharsis " PACKAGE_VERSION);
    th_report_head_field(r, "version", th_text(PACKAGE_VERSION));
    if (!has_one_system)
        add_lines(r, "systems", say_system, runs, n_runs);
    if (!has_one_workload)
        add_lines(r, "workloads", say_workload, runs, n_runs);
    add_lines(r, "runs", say_run, runs, n_runs);
    add_errors(r, runs, n_runs);
    add_changes(r, runs, n_runs);
}

/* A row per property event and run. */
static int add_run_changes(th_report *r, th_saved_run *const *runs, int n_runs, th_error *err)
{
    th_column *columns = th_report_columns(r, 1 + TH_PROPERTY_EVENT_LIST_COLUMNS);
    if (!columns)
        return th_error_no_memory(err);
    columns[0] = (th_column){"run", NULL, TH_KIND_TEXT};
    memcpy(&columns[1], th_property_event_list_columns, sizeof th_property_event_list_columns);
    th_table *t = th_report_table(r, "run_changes", NULL, columns);
    for (int i = 0; i < n_runs; i++)
        for (int k = 0; k < runs[i]->events->n; k++) {
            th_quantity cells[1 + TH_PROPERTY_EVENT_LIST_COLUMNS] = {th_text(runs[i]->name)};
            th_property_event_list_cells(&runs[i]->events->all[k], &cells[1]);
            th_table_row(t, cells);
        }
    return 0;
}

int th_section_saved(th_report *r, th_saved_run *const *runs, int n_runs, th_error *err)
{
    static const th_column columns[] = {
        {"run", "run", TH_KIND_TEXT},
        {"system", "system", TH_KIND_TEXT},
        {"system_digest", NULL, TH_KIND_TEXT},
        {"workload", "workload", TH_KIND_TEXT},
        {"workload_digest", NULL, TH_KIND_TEXT},
        {"program", "program", TH_KIND_TEXT},
        {"batch", "batch", TH_KIND_COUNT},
        {"mapping", "mapping", TH_KIND_TEXT},
        {"algorithm", "algorithm", TH_KIND_TEXT},
        {"seed", "seed", TH_KIND_COUNT},
        {"network", "network", TH_KIND_TEXT},
        {"inputs", "inputs", TH_KIND_COUNT},
        {"latency", "latency", TH_KIND_TIME},
        {"makespan", "makespan", TH_KIND_TIME},
        {"throughput", "throughput", TH_KIND_RATE},
        {"batch_throughput", NULL, TH_KIND_RATE},
        {"link_utilization", "links busy", TH_KIND_SHARE},
        {"accel_utilization", "accels busy", TH_KIND_SHARE},
        {"moved", "moved", TH_KIND_BYTES},
        {"energy", NULL, TH_KIND_ENERGY},
        {NULL, NULL, TH_KIND_TEXT},
    };
    th_table *t = th_report_table(r, "runs", "Saved runs", columns);
    for (int i = 0; i < n_runs; i++) {
        const th_saved_run *x = runs[i];
        th_table_row(
            t, (th_quantity[]){th_text(x->name),
                               th_text(x->system),
                               th_text(x->figures->system),
                               th_text(x->workload),
                               th_text(x->figures->workload),
                               th_text(x->program),
                               x->workload ? th_count(x->batch) : th_absent(TH_KIND_COUNT),
                               th_text(x->mapping),
                               th_text(x->algorithm),
                               x->has_seed ? th_count((int64_t)x->seed) : th_absent(TH_KIND_COUNT),
                               th_text(x->network),
                               th_count(x->n_inputs),
                               th_ps(x->latency_ps),
                               th_ps(x->makespan_ps),
                               value_of(x, TH_METRIC_THROUGHPUT),
                               value_of(x, TH_METRIC_BATCH_THROUGHPUT),
                               th_share(x->link_utilization),
                               th_share(x->accel_utilization),
                               th_bytes(x->network_bytes),
                               value_of(x, TH_METRIC_ENERGY)});
    }
    return add_run_changes(r, runs, n_runs, err);
}
