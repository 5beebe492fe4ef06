/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heat_of_table.c - a heat map of three columns of a table: two give the place of a cell, one its
 * value.
 *   th_plot_heat_of_table: places along x and y -> the best value of each cell -> series */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include "base/alloc.h"
#include "report/plot/plots.h"
#include "report/table/report_scale.h"

enum { PLACES_MAX = 256 }; /* more are too small to see */

/* The different values of a column, in the order of the rows: the first row of each. */
typedef struct {
    size_t first[PLACES_MAX];
    int n;
} places;

/* The place of the row; -1: there are too many. */
static int find_place(places *p, const th_table *t, size_t row, int column)
{
    for (int i = 0; i < p->n; i++)
        if (th_quantity_compare(th_table_cell(t, p->first[i], column),
                                th_table_cell(t, row, column)) == 0)
            return i;
    if (p->n == PLACES_MAX)
        return -1;
    p->first[p->n] = row;
    return p->n++;
}

static const char *name_of(th_plot *plot, const th_quantity *q)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_quantity_format(q, &text);
    const char *copy = th_plot_text(plot, "%s", text.text ? text.text : "");
    th_strbuf_clear(&text);
    return copy;
}

/* value[PLACES_MAX * y + x]; -1: too many places. */
static int fill(const th_table *t, const th_plot_columns *c, places *x, places *y, double *value,
                th_error *err)
{
    for (size_t row = 0; row < t->n_rows; row++) {
        int i = find_place(x, t, row, c->x), j = find_place(y, t, row, c->y[0]);
        if (i < 0 || j < 0)
            return th_error_set(err, "STUDY-0083",
                                "%s: a heat map has at most %d places along an axis",
                                t->columns[i < 0 ? c->x : c->y[0]].name, (int)PLACES_MAX);
        double z = th_quantity_number(th_table_cell(t, row, c->z), NAN),
               *best = &value[PLACES_MAX * j + i];
        if (!(c->z_better > 0 ? *best >= z : *best <= z) && !isnan(z))
            *best = z;
    }
    return 0;
}

static double largest_of(const places *x, const places *y, const double *value)
{
    double largest = 0;
    for (int j = 0; j < y->n; j++)
        for (int i = 0; i < x->n; i++)
            if (fabs(value[PLACES_MAX * j + i]) > largest)
                largest = fabs(value[PLACES_MAX * j + i]);
    return largest;
}

static void add_all(th_plot *p, const th_table *t, const th_plot_columns *c, const places *x,
                    const places *y, const double *value)
{
    const th_column *z = &t->columns[c->z];
    double divisor;
    char text[40];
    const char *unit = th_kind_unit(z->kind, largest_of(x, y, value), &divisor);
    p->x.label = th_plot_axis_label(p, t->columns[c->x].name, "");
    p->y.label = th_plot_axis_label(p, t->columns[c->y[0]].name, "");
    p->z.label = th_plot_axis_label(p, z->name, unit);
    p->what = th_plot_text(p, "%s by %s and %s", p->z.label, p->x.label, p->y.label);
    for (int i = 0; i < x->n; i++)
        th_plot_category(p, name_of(p, th_table_cell(t, x->first[i], c->x)));
    for (int j = 0; j < y->n; j++) {
        th_plot_series_begin(p, name_of(p, th_table_cell(t, y->first[j], c->y[0])), TH_JOIN_NONE);
        for (int i = 0; i < x->n; i++) {
            double v = value[PLACES_MAX * j + i] / divisor;
            th_plot_point_add(p, i, v, isnan(v) ? NULL : th_plot_label(v, text, sizeof text));
        }
    }
}

th_plot *th_plot_heat_of_table(const th_table *t, const th_plot_columns *c, th_error *err)
{
    places x = {.n = 0}, y = {.n = 0};
    th_plot *p = NULL;
    double *value = th_alloc_array(PLACES_MAX * PLACES_MAX, sizeof *value);
    if (t->columns[c->z].kind == TH_KIND_TEXT)
        th_error_set(err, "STUDY-0084", "-z %s: must be a column of numbers",
                     t->columns[c->z].name);
    else if (t->n_rows == 0)
        th_error_set(err, "STUDY-0085", "there is nothing to draw: no point is left");
    else if (!value || !(p = th_plot_new(TH_PLOT_HEAT)))
        th_error_no_memory(err);
    for (size_t i = 0; p && i < PLACES_MAX * PLACES_MAX; i++)
        value[i] = NAN;
    if (p && fill(t, c, &x, &y, value, err) != 0) {
        th_plot_free(p);
        p = NULL;
    }
    if (p)
        add_all(p, t, c, &x, &y, value);
    th_free(value);
    return p;
}
