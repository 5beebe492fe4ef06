/* SPDX-License-Identifier: GPL-3.0-or-later */
/* diff.c - two saved runs: their inputs and results, where they differ.
 *   inputs; property events; then totals, layers, accelerators, links:
 *   match by name -> differences -> the largest first
 * Times come before bytes, bytes before joules; among them the largest absolute difference is
 * first. Text gives each value its own unit; csv and json have ps, bytes, joules. */
#include <config.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/map.h"
#include "report/session/property_event_list.h"
#include "report/session/saved_figures.h"
#include "report/sections/sections.h"

/* The report, the two runs, and the options of a comparison. */
typedef struct comparison {
    th_report *report;
    const th_saved_run *a, *b;
    const th_diff_options *options;
} comparison;

/* ---- inputs ---- */

static void add_input(th_table *t, const char *what, const char *a, const char *b)
{
    if (strcmp(a, b) != 0)
        th_table_row(t, (th_quantity[]){th_text(what), th_text(a), th_text(b)});
}

static const char *seed_of(th_report *r, const th_saved_run *x)
{
    return x->has_seed ? th_report_printf(r, "%" PRIu64, x->seed) : "-";
}

static const char *text_of(const char *text)
{
    return text ? text : "-";
}

/* Titles are the names of the runs. */
static th_column *columns_of(const comparison *x, const th_column *columns, int n)
{
    th_column *out = th_report_columns(x->report, n);
    if (out)
        out[n] = (th_column){NULL, NULL, TH_KIND_TEXT};
    for (int c = 0; out && c < n; c++) {
        out[c] = columns[c];
        if (strcmp(columns[c].name, "a") == 0)
            out[c].title = th_report_printf(x->report, "%.24s", x->a->name);
        else if (strcmp(columns[c].name, "b") == 0)
            out[c].title = th_report_printf(x->report, "%.24s", x->b->name);
    }
    return out;
}

static int add_inputs(const comparison *x, th_error *err)
{
    th_report *r = x->report;
    const th_saved_run *a = x->a, *b = x->b;
    static const th_column columns[] = {
        {"input", "input", TH_KIND_TEXT}, {"a", "a", TH_KIND_TEXT}, {"b", "b", TH_KIND_TEXT}};
    enum { N = sizeof columns / sizeof *columns };
    th_column *shown = columns_of(x, columns, N);
    if (!shown)
        return th_error_no_memory(err);
    th_table *t = th_report_table(r, "inputs", "Inputs that differ", shown);
    add_input(t, "system", a->system, b->system);
    add_input(t, "system's digest", a->figures->system, b->figures->system);
    add_input(t, "workload", text_of(a->workload), text_of(b->workload));
    add_input(t, "workload's digest", a->figures->workload, b->figures->workload);
    add_input(t, "program", text_of(a->program), text_of(b->program));
    add_input(t, "batch", th_report_printf(r, "%d", (int)a->batch),
              th_report_printf(r, "%d", (int)b->batch));
    add_input(t, a->program || b->program ? "program's digest" : "mapping", a->mapping, b->mapping);
    add_input(t, "algorithm", a->algorithm, b->algorithm);
    add_input(t, "seed", seed_of(r, a), seed_of(r, b));
    add_input(t, "network", a->network, b->network);
    add_input(t, "inputs", th_report_printf(r, "%d", (int)a->n_inputs),
              th_report_printf(r, "%d", (int)b->n_inputs));
    return 0;
}

/* ---- property events ---- */

/* How many events are the same at the beginning, or the end, of both lists. */
static int common(const th_property_event_list *a, const th_property_event_list *b, int most,
                  bool at_end)
{
    int n = 0;
    while (n < most) {
        int i = at_end ? a->n - 1 - n : n, j = at_end ? b->n - 1 - n : n;
        if (strcmp(a->all[i].text, b->all[j].text) != 0)
            break;
        n++;
    }
    return n;
}

static void add_events_of(th_table *t, const th_saved_run *run, int from, int to)
{
    for (int i = from; i < to; i++) {
        const th_listed_event *c = &run->events->all[i];
        th_quantity cells[2 + TH_PROPERTY_EVENT_LIST_COLUMNS] = {th_text(run->name),
                                                                 th_text(c->text)};
        th_property_event_list_cells(c, &cells[2]);
        th_table_row(t, cells);
    }
}

/* The events of each run between the first and the last difference. In text a table without rows is
 * left out. */
static int add_events(const comparison *x, th_error *err)
{
    th_report *r = x->report;
    const th_saved_run *a = x->a, *b = x->b;
    const th_diff_options *o = x->options;
    int fewer = a->events->n < b->events->n ? a->events->n : b->events->n;
    int before = common(a->events, b->events, fewer, false);
    int after = common(a->events, b->events, fewer - before, true);
    if (o->is_text && before + after == a->events->n && before + after == b->events->n)
        return 0;
    th_column *columns = th_report_columns(r, 2 + TH_PROPERTY_EVENT_LIST_COLUMNS);
    if (!columns)
        return th_error_no_memory(err);
    columns[0] = (th_column){"run", "run", TH_KIND_TEXT};
    columns[1] = (th_column){"change", "change", TH_KIND_TEXT};
    memcpy(&columns[2], th_property_event_list_columns, sizeof th_property_event_list_columns);
    th_table *t = th_report_table(r, "changes", "Changes in the runs", columns);
    th_table_wrap(t);
    add_events_of(t, a, before, a->events->n - after);
    add_events_of(t, b, before, b->events->n - after);
    if (o->limit > 0)
        th_table_limit(t, o->limit);
    return 0;
}

/* ---- differences ---- */

typedef struct difference {
    const char *object, *figure;
    th_quantity a, b;
    int place; /* as they stand in the runs */
} difference;

typedef struct differences {
    difference *all;
    size_t n, capacity;
    bool failed;
} differences;

/* Adds a difference, unless both values are absent or equal. */
static void add_if_different(differences *d, const char *object, const char *figure, th_quantity a,
                             th_quantity b)
{
    if (a.is_absent == b.is_absent && (a.is_absent || th_quantity_compare(&a, &b) == 0))
        return;
    if (th_grow(&d->all, &d->capacity, d->n + 1, sizeof *d->all) != 0) {
        d->failed = true;
        return;
    }
    d->all[d->n] = (difference){object, figure, a, b, (int)d->n};
    d->n++;
}

static int rank_of(th_kind kind)
{
    return kind == TH_KIND_TIME ? 0 : kind == TH_KIND_BYTES ? 1 : 2;
}

static int by_size(const void *x, const void *y)
{
    const difference *a = x, *b = y;
    int kinds = rank_of(a->a.kind) - rank_of(b->a.kind);
    double p = fabs(th_quantity_number(&a->b, 0) - th_quantity_number(&a->a, 0)),
           q = fabs(th_quantity_number(&b->b, 0) - th_quantity_number(&b->a, 0));
    if (kinds != 0)
        return kinds;
    if (p != q)
        return p > q ? -1 : 1;
    return a->place - b->place;
}

/* ---- rows ---- */

static const char *unit_of(th_kind kind)
{
    switch (kind) {
    case TH_KIND_TIME:
        return "ps";
    case TH_KIND_BYTES:
        return "bytes";
    case TH_KIND_ENERGY:
        return "J";
    case TH_KIND_RATE:
        return "per_s";
    case TH_KIND_SHARE:
        return "of_1";
    default:
        return "";
    }
}

static const char *in_words(th_report *r, const th_quantity *q)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_quantity_format(q, &text);
    const char *copy = th_report_printf(r, "%s", text.text ? text.text : "");
    th_strbuf_clear(&text);
    return copy;
}

/* With its sign; shares in points of 1. */
static const char *difference_in_words(th_report *r, const difference *d)
{
    double by = th_quantity_number(&d->b, 0) - th_quantity_number(&d->a, 0);
    th_quantity size = d->a.is_absent ? d->b : d->a;
    size.whole = (int64_t)(th_kind_is_real(size.kind) ? 0 : d->b.whole - d->a.whole);
    size.whole = size.whole < 0 ? -size.whole : size.whole;
    size.real = fabs(by);
    return th_report_printf(r, "%c%s", by < 0 ? '-' : '+', in_words(r, &size));
}

static th_quantity number_or_absent(const th_quantity *q)
{
    return q->is_absent ? th_absent(TH_KIND_NUMBER) : th_number(th_quantity_number(q, 0));
}

static void add_difference(th_report *r, th_table *t, const difference *d, bool is_text)
{
    bool both = !d->a.is_absent && !d->b.is_absent;
    double a = th_quantity_number(&d->a, 0), b = th_quantity_number(&d->b, 0);
    th_quantity change = both && a > 0 ? th_change(b / a - 1) : th_absent(TH_KIND_CHANGE);
    th_quantity object = d->object ? th_text(d->object) : th_absent(TH_KIND_TEXT);
    if (is_text)
        th_table_row(t, (th_quantity[]){
                            object, th_text(d->figure),
                            d->a.is_absent ? th_absent(TH_KIND_TEXT) : th_text(in_words(r, &d->a)),
                            d->b.is_absent ? th_absent(TH_KIND_TEXT) : th_text(in_words(r, &d->b)),
                            both ? th_text(difference_in_words(r, d)) : th_absent(TH_KIND_TEXT),
                            change, th_absent(TH_KIND_TEXT)});
    else
        th_table_row(t, (th_quantity[]){object, th_text(d->figure), number_or_absent(&d->a),
                                        number_or_absent(&d->b),
                                        both ? th_number(b - a) : th_absent(TH_KIND_NUMBER), change,
                                        th_text(unit_of(d->a.kind))});
}

/* In text a table without rows is left out. */
typedef struct table_text {
    const char *name, *title;
    const char *object; /* head of the first column; NULL: none, in text */
} table_text;

static int add_table(const comparison *x, const table_text *text, differences *d, th_error *err)
{
    th_report *r = x->report;
    const th_diff_options *o = x->options;
    th_kind value = o->is_text ? TH_KIND_TEXT : TH_KIND_NUMBER;
    if (o->is_text && d->n == 0 && !d->failed)
        return 0;
    const th_column columns[] = {{text->object ? text->object : "of", text->object, TH_KIND_TEXT},
                                 {"figure", "figure", TH_KIND_TEXT},
                                 {"a", "a", value},
                                 {"b", "b", value},
                                 {"difference", "difference", value},
                                 {"change", "change", TH_KIND_CHANGE},
                                 {"unit", NULL, TH_KIND_TEXT}};
    enum { N = sizeof columns / sizeof *columns };
    th_column *shown = d->failed ? NULL : columns_of(x, columns, N);
    if (!shown)
        return th_error_no_memory(err);
    if (d->n > 0)
        qsort(d->all, d->n, sizeof *d->all, by_size);
    th_table *t = th_report_table(r, text->name, text->title, shown);
    for (size_t i = 0; i < d->n; i++)
        add_difference(r, t, &d->all[i], o->is_text);
    if (o->limit > 0)
        th_table_limit(t, o->limit);
    return 0;
}

/* ---- totals, and objects by name ---- */

static int add_totals(const comparison *x, th_error *err)
{
    const th_saved_run *a = x->a, *b = x->b;
    differences d = {.n = 0};
    bool is_made = a->program || b->program;
    th_quantity none = th_absent(TH_KIND_ENERGY);
    add_if_different(&d, NULL, "makespan", th_ps(a->makespan_ps), th_ps(b->makespan_ps));
    if (!is_made) {
        add_if_different(&d, NULL, "latency", th_ps(a->latency_ps), th_ps(b->latency_ps));
        add_if_different(&d, NULL, "throughput", th_rate(a->throughput_per_s),
                         th_rate(b->throughput_per_s));
        if (a->samples > 1 || b->samples > 1)
            add_if_different(&d, NULL, "throughput, batches", th_rate(a->batch_throughput_per_s),
                             th_rate(b->batch_throughput_per_s));
        add_if_different(&d, NULL, "accelerators busy", th_share(a->accel_utilization),
                         th_share(b->accel_utilization));
    }
    add_if_different(&d, NULL, "used links busy", th_share(a->link_utilization),
                     th_share(b->link_utilization));
    add_if_different(&d, NULL, "moved", th_bytes(a->network_bytes), th_bytes(b->network_bytes));
    add_if_different(&d, NULL, "energy", a->has_energy ? th_joules(a->energy_j) : none,
                     b->has_energy ? th_joules(b->energy_j) : none);
    int failed = add_table(x, &(table_text){"totals", "Totals", NULL}, &d, err);
    th_free(d.all);
    return failed;
}

static void add_object(differences *d, th_saved_class class, const th_saved_object *a,
                       const th_saved_object *b)
{
    const char *const *names = th_saved_figure_names[class];
    for (int f = 0; names[f]; f++) {
        th_kind kind = (a ? a : b)->figure[f].kind;
        add_if_different(d, (a ? a : b)->name, names[f], a ? a->figure[f] : th_absent(kind),
                         b ? b->figure[f] : th_absent(kind));
    }
}

/* By name: objects of a, matched with b or alone, then objects of b alone. */
static int match(differences *d, th_saved_class class, const th_saved_figures *a,
                 const th_saved_figures *b)
{
    th_map *places = th_map_new();
    bool *is_matched = th_alloc_zero((size_t)b->n[class] + 1, sizeof *is_matched);
    int failed = places && is_matched ? 0 : -1;
    for (int i = 0; !failed && i < b->n[class]; i++)
        failed =
            th_map_put(places, b->objects[class][i].name, strlen(b->objects[class][i].name), i);
    for (int i = 0; !failed && i < a->n[class]; i++) {
        const th_saved_object *x = &a->objects[class][i];
        int64_t place;
        bool is_there = th_map_get(places, x->name, strlen(x->name), &place);
        if (is_there)
            is_matched[place] = true;
        add_object(d, class, x, is_there ? &b->objects[class][place] : NULL);
    }
    for (int i = 0; !failed && i < b->n[class]; i++)
        if (!is_matched[i])
            add_object(d, class, NULL, &b->objects[class][i]);
    th_map_free(places);
    th_free(is_matched);
    return failed;
}

static int add_class(const comparison *x, th_saved_class class, th_error *err)
{
    static const table_text texts[TH_N_SAVED] = {{"layers", "Layers", "layer"},
                                                 {"accelerators", "Accelerators", "accel"},
                                                 {"links", "Links", "link"}};
    differences d = {.n = 0};
    int failed = match(&d, class, x->a->figures, x->b->figures)
                     ? th_error_no_memory(err)
                     : add_table(x, &texts[class], &d, err);
    th_free(d.all);
    return failed;
}

int th_section_diff(th_report *r, const th_saved_run *a, const th_saved_run *b,
                    const th_diff_options *o, th_error *err)
{
    const comparison x = {.report = r, .a = a, .b = b, .options = o};
    if (add_inputs(&x, err) != 0)
        return -1;
    if (o->is_text && r->first && r->first->n_rows == 0)
        th_report_drop_first(r);
    if (add_events(&x, err) != 0 || add_totals(&x, err) != 0)
        return -1;
    for (int c = 0; c < TH_N_SAVED; c++)
        if (add_class(&x, (th_saved_class)c, err) != 0)
            return -1;
    if (o->is_text && !r->first)
        th_report_head_line(r, "differ", "in nothing");
    return 0;
}
