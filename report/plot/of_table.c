/* SPDX-License-Identifier: GPL-3.0-or-later */
/* of_table.c - a plot of columns of a table.
 *   th_plot_of_table: check -> scales -> { series -> points } -> front
 * A column of texts gives categories, in the order of the rows; a column of numbers an axis, in the
 * unit that reports would use. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "report/plot/plots.h"
#include "report/table/report_scale.h"

enum {
    LABELLED_POINTS = 40, /* with more points only those of the front have labels */
    SHARED_MAX = 2000     /* points at one place share a label in series up to this size */
};

typedef struct {
    const th_table *t;
    const th_plot_columns *columns;
    th_plot *plot;
    double x_unit, y_unit;
    int *place; /* category of each row */
    th_error *err;
} drawing;

static const char *text_of(const th_quantity *q)
{
    return q->is_absent || !q->text ? "-" : q->text;
}

static bool is_text(const drawing *d, int column)
{
    return d->t->columns[column].kind == TH_KIND_TEXT;
}

/* Headings of reports are short, since a line below explains them; a plot has no such line. */
static const char *title_of(const th_column *c)
{
    static const struct {
        const char *name, *title;
    } longer[] = {
        {"active", "active time"},
        {"busy", "busy time"},
        {"idle", "idle time"},
        {"moved", "bytes moved"},
        {"load", "load of the link"},
        {"utilization", "share of the time busy"},
        {"link_utilization", "links busy"},
        {"accel_utilization", "accelerators busy"},
        {"stall_in", "stalled on input"},
        {"stall_out", "stalled on output"},
        {"stall_input", "stalled on inputs"},
        {"stall_weight", "stalled on weights"},
        {"stall_partial", "stalled on partial sums"},
        {"stall_output", "stalled on outputs"},
        {"throughput", "throughput in samples"},
        {"batch_throughput", "throughput in batches"},
    };
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        if (strcmp(longer[i].name, c->name) == 0)
            return longer[i].title;
    return c->title ? c->title : c->name;
}

/* ---- axes ---- */

static double largest_in(const th_table *t, int column)
{
    double largest = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        double x = fabs(th_quantity_number(th_table_cell(t, row, column), NAN));
        largest = x > largest ? x : largest; /* not NAN */
    }
    return largest;
}

/* The label "latency [ms]", and the divisor of values. */
static const char *axis_of(drawing *d, const int *columns, int n, double *divisor)
{
    const th_column *first = &d->t->columns[columns[0]];
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, largest_in(d->t, columns[i]));
    const char *unit = th_kind_unit(first->kind, largest, divisor);
    const char *title = n == 1 ? title_of(first) : first->kind == TH_KIND_TIME ? "time" : "";
    return th_plot_axis_label(d->plot, title, unit);
}

/* ---- places along x ---- */

static bool is_first(const drawing *d, size_t row, int column)
{
    for (size_t i = 0; i < row; i++)
        if (strcmp(text_of(th_table_cell(d->t, i, column)),
                   text_of(th_table_cell(d->t, row, column))) == 0)
            return false;
    return true;
}

/* Numbers as categories of bars, as they are printed. */
static const char *category_of(const drawing *d, size_t row)
{
    const th_quantity *q = th_table_cell(d->t, row, d->columns->x);
    char number[40];
    if (is_text(d, d->columns->x))
        return text_of(q);
    snprintf(number, sizeof number, "%.6g", th_quantity_number(q, NAN) / d->x_unit);
    return th_plot_text(d->plot, "%s", number);
}

/* The category of a row, added if it is new. */
static int find_place(drawing *d, size_t row)
{
    const char *name = category_of(d, row);
    for (int i = 0; i < d->plot->n_categories; i++)
        if (strcmp(d->plot->category[i], name) == 0)
            return i;
    th_plot_category(d->plot, name);
    return d->plot->n_categories - 1;
}

static void find_places(drawing *d)
{
    d->place = th_alloc_zero(d->t->n_rows + 1, sizeof *d->place);
    if (!d->place)
        d->plot->failed = true;
    for (size_t row = 0; !d->plot->failed && row < d->t->n_rows; row++)
        d->place[row] = find_place(d, row);
}

/* ---- series ---- */

static bool belongs(const drawing *d, size_t row, const char *by)
{
    return !by || strcmp(text_of(th_table_cell(d->t, row, d->columns->by)), by) == 0;
}

/* Two rows of one series and category: the last counts. */
static void add_bars(drawing *d, int y, const char *name, const char *by)
{
    char text[40];
    th_plot_series_begin(d->plot, name, TH_JOIN_NONE);
    for (int place = 0; place < d->plot->n_categories; place++) {
        double value = NAN;
        for (size_t row = 0; row < d->t->n_rows; row++)
            if (d->place[row] == place && belongs(d, row, by))
                value = th_quantity_number(th_table_cell(d->t, row, y), NAN) / d->y_unit;
        th_plot_point_add(d->plot, place, value,
                          isnan(value) ? NULL : th_plot_label(value, text, sizeof text));
    }
}

static int by_x(const void *a, const void *b)
{
    const th_plot_point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

/* What a point is called: the text of the first column, "#5" for point 5 of a study alone, and
 * "mapping 5" for another number. */
static const char *name_of_row(drawing *d, size_t row)
{
    const th_quantity *q = th_table_cell(d->t, row, 0);
    if (is_text(d, 0))
        return text_of(q);
    if (q->kind != TH_KIND_COUNT)
        return NULL;
    const char *name = d->t->columns[0].name;
    bool is_point = strcmp(name, "point") == 0;
    return th_plot_text(d->plot, "%s%lld", is_point ? "#" : th_plot_text(d->plot, "%s ", name),
                        (long long)q->whole);
}

/* Points at one place share a label: "ring, mesh". */
static void add_named_point(drawing *d, double x, double y, const char *name)
{
    th_plot_series *s = &d->plot->series[d->plot->n_series - 1];
    for (size_t i = 0; name && s->n <= SHARED_MAX && i < s->n; i++)
        if (s->point[i].x == x && s->point[i].y == y && s->point[i].label) {
            s->point[i].label = th_plot_text(d->plot, "%s, %s", s->point[i].label, name);
            return;
        }
    th_plot_point_add(d->plot, x, y, name);
}

static void add_points(drawing *d, int y, const char *name, const char *by)
{
    bool is_line = d->columns->type == TH_PLOT_LINE;
    th_plot_series_begin(d->plot, name, is_line ? TH_JOIN_LINE : TH_JOIN_NONE);
    for (size_t row = 0; !d->plot->failed && row < d->t->n_rows; row++) {
        const th_quantity *at = th_table_cell(d->t, row, d->columns->x);
        double x =
            is_text(d, d->columns->x) ? d->place[row] : th_quantity_number(at, NAN) / d->x_unit;
        double value = th_quantity_number(th_table_cell(d->t, row, y), NAN) / d->y_unit;
        if (isfinite(x) && isfinite(value) && belongs(d, row, by))
            add_named_point(d, x, value, is_line ? NULL : name_of_row(d, row));
    }
    if (d->plot->failed || !is_line)
        return;
    th_plot_series *s = &d->plot->series[d->plot->n_series - 1];
    qsort(s->point, s->n, sizeof *s->point, by_x);
}

static void add_series(drawing *d, int y, const char *name, const char *by)
{
    bool is_table = d->columns->type == TH_PLOT_BAR || d->columns->type == TH_PLOT_STACKED;
    if (is_table)
        add_bars(d, y, name, by);
    else
        add_points(d, y, name, by);
    if (!d->plot->failed)
        d->plot->series[d->plot->n_series - 1].is_quiet =
            strcmp(d->t->columns[y].name, "idle") == 0;
}

/* "torus", or "torus, latency" where there are several figures. */
static const char *name_of_part(drawing *d, const char *by, const char *figure)
{
    return d->columns->n_y == 1 ? by : th_plot_text(d->plot, "%s, %s", by, figure);
}

static void add_all_series(drawing *d)
{
    const th_plot_columns *c = d->columns;
    for (int i = 0; i < c->n_y; i++) {
        const char *name = title_of(&d->t->columns[c->y[i]]);
        for (size_t row = 0; c->by >= 0 && row < d->t->n_rows; row++) {
            const char *by = text_of(th_table_cell(d->t, row, c->by));
            if (is_first(d, row, c->by))
                add_series(d, c->y[i], name_of_part(d, by, name), by);
        }
        if (c->by < 0)
            add_series(d, c->y[i], name, NULL);
    }
}

/* ---- the Pareto front ---- */

/* Which is better: -1 less, 1 more, 0 unknown. */
static int better(const th_column *c)
{
    static const char *const less[] = {"latency", "makespan", "energy",
                                       "moved",   "interval", "edp_js"},
                             *const more[] = {"throughput", "batch_throughput",
                                              "accel_utilization"};
    for (size_t i = 0; i < sizeof less / sizeof *less; i++)
        if (strcmp(c->name, less[i]) == 0)
            return -1;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (strcmp(c->name, more[i]) == 0)
            return 1;
    return 0;
}

static bool is_dominated(const th_plot *p, const th_plot_point *a, int x_sign, int y_sign)
{
    for (int s = 0; s < p->n_series; s++)
        for (size_t i = 0; i < p->series[s].n; i++) {
            const th_plot_point *b = &p->series[s].point[i];
            double dx = x_sign * (b->x - a->x), dy = y_sign * (b->y - a->y);
            if (dx >= 0 && dy >= 0 && (dx > 0 || dy > 0))
                return true;
        }
    return false;
}

static int by_x_down(const void *a, const void *b)
{
    return by_x(b, a);
}

/* From the best x on; `steps` then traces the corners of the dominated area. */
static void add_front(drawing *d)
{
    th_plot *p = d->plot;
    const th_plot_columns *c = d->columns;
    int x_sign = c->x_better != 0 ? c->x_better : better(&d->t->columns[c->x]);
    int y_sign = c->y_better != 0 ? c->y_better : better(&d->t->columns[c->y[0]]);
    int n = p->n_series;
    if (x_sign == 0 || y_sign == 0 || d->columns->n_y > 1 || p->failed)
        return;
    th_plot_series_begin(p, "Pareto front", TH_JOIN_STEPS);
    if (p->failed)
        return;
    th_plot_series *front = &p->series[n];
    front->is_front = true;
    for (int s = 0; !p->failed && s < n; s++)
        for (size_t i = 0; i < p->series[s].n; i++) {
            const th_plot_point a = p->series[s].point[i];
            p->n_series = n; /* the front itself dominates nothing */
            bool is_out = is_dominated(p, &a, x_sign, y_sign);
            p->n_series = n + 1;
            if (!is_out)
                th_plot_point_add(p, a.x, a.y, a.label);
            if (!is_out && !p->failed)
                p->series[s].point[i].label = NULL; /* the front has it */
        }
    if (!p->failed)
        qsort(front->point, front->n, sizeof *front->point, x_sign < 0 ? by_x : by_x_down);
}

/* Many points, or points that have only numbers: labels for the front alone. */
static void drop_labels(drawing *d)
{
    if (d->t->n_rows <= LABELLED_POINTS && is_text(d, 0))
        return;
    for (int s = 0; s < d->plot->n_series; s++)
        for (size_t i = 0; !d->plot->series[s].is_front && i < d->plot->series[s].n; i++)
            d->plot->series[s].point[i].label = NULL;
}

/* ---- the plot ---- */

static bool has_values(const th_table *t, const th_plot_columns *c)
{
    for (size_t row = 0; row < t->n_rows; row++)
        for (int i = 0; i < c->n_y; i++)
            if (!th_table_cell(t, row, c->y[i])->is_absent)
                return true;
    return false;
}

static int check(const drawing *d)
{
    const th_plot_columns *c = d->columns;
    for (int i = 0; i < c->n_y; i++) {
        const th_column *y = &d->t->columns[c->y[i]], *first = &d->t->columns[c->y[0]];
        if (y->kind == TH_KIND_TEXT)
            return th_error_set(d->err, "TCL-0369", "-y %s: must be a column of numbers", y->name);
        if (y->kind != first->kind)
            return th_error_set(d->err, "TCL-0370", "-y %s: must be of one kind with %s", y->name,
                                first->name);
    }
    if (c->type == TH_PLOT_SCATTER && is_text(d, c->x))
        return th_error_set(d->err, "TCL-0371", "-x %s: must be a column of numbers in a scatter",
                            d->t->columns[c->x].name);
    if (d->t->n_rows == 0)
        return th_error_set(d->err, "TCL-0372", "there is nothing to draw: the table has no rows");
    if (!has_values(d->t, c))
        return th_error_set(d->err, "TCL-0387",
                            "there is nothing to draw: no row has a value of %s",
                            d->t->columns[c->y[0]].name);
    return 0;
}

th_plot *th_plot_of_table(const th_table *t, const th_plot_columns *columns, th_error *err)
{
    drawing d = {t, columns, th_plot_new(columns->type), 1, 1, NULL, err};
    bool is_table = columns->type == TH_PLOT_BAR || columns->type == TH_PLOT_STACKED;
    if (!d.plot)
        th_error_no_memory(err);
    if (!d.plot || check(&d) != 0) {
        th_plot_free(d.plot);
        return NULL;
    }
    const char *x = d.plot->x.label = axis_of(&d, &columns->x, 1, &d.x_unit);
    d.plot->y.label = axis_of(&d, columns->y, columns->n_y, &d.y_unit);
    if (strcmp(t->columns[columns->x].name, "run") == 0)
        d.plot->x.label = NULL; /* names of runs say themselves what they are */
    if (is_table || is_text(&d, columns->x))
        find_places(&d);
    if (!d.plot->failed)
        add_all_series(&d);
    if (columns->type == TH_PLOT_SCATTER)
        add_front(&d);
    if (columns->type == TH_PLOT_SCATTER && !d.plot->failed)
        drop_labels(&d);
    d.plot->what = th_plot_text(d.plot, is_table ? "%s by %s" : "%s over %s", d.plot->y.label, x);
    th_free(d.place);
    return d.plot;
}
