/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_points.c - lines and scatter plots for terminals: one marker per series on a canvas of
 * characters, with the ticks of axis.c. Lines are dotted between their points.
 *   axes -> lines -> points -> labels -> frame */
#include <config.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report/plot/plot.h"
#include "report/table/report_scale.h"

enum { WIDTH = 80, ROWS = 20, TICKS_X = 5, TICKS_Y = 6, COLUMNS_MAX = WIDTH };
static const char markers[] = "ox+*#@%&";

typedef struct canvas {
    const th_plot *plot;
    th_plot_ticks x, y;
    int left, columns; /* the area begins behind `left` characters */
    char cell[ROWS][COLUMNS_MAX + 1];
} canvas;

static char marker_of(const th_plot *p, int series)
{
    const th_plot_series *s = &p->series[series];
    return s->join == TH_JOIN_LEVEL ? '-'
           : s->is_front            ? '.'
                                    : markers[(size_t)series % (sizeof markers - 1)];
}

/* ---- axes ---- */

static void find_axes(canvas *c)
{
    const th_plot *p = c->plot;
    double least, largest;
    int longest = 0;
    th_plot_ends(p, true, &least, &largest);
    th_plot_axis_find(least, largest, p->y.is_log, TICKS_Y, &c->y);
    th_plot_ends(p, false, &least, &largest);
    if (p->n_categories > 0)
        c->x = (th_plot_ticks){.from = -0.5, .to = p->n_categories - 0.5};
    else
        th_plot_axis_find(least, largest, p->x.is_log, TICKS_X, &c->x);
    if (p->n_series > 0 && p->series[0].join == TH_JOIN_STEPS && !p->series[0].is_front)
        c->x.to = largest;
    for (int i = 0; i < c->y.n; i++)
        longest = th_text_width(c->y.text[i]) > longest ? th_text_width(c->y.text[i]) : longest;
    c->left = longest + 2;
    c->columns = WIDTH - c->left;
    for (int row = 0; row < ROWS; row++) {
        memset(c->cell[row], ' ', (size_t)c->columns);
        c->cell[row][c->columns] = '\0';
    }
}

static int column_of(const canvas *c, double x)
{
    return (int)lround(th_plot_share(&c->x, c->plot->x.is_log, x) * (c->columns - 1));
}

static int row_of(const canvas *c, double y)
{
    return ROWS - 1 - (int)lround(th_plot_share(&c->y, c->plot->y.is_log, y) * (ROWS - 1));
}

static bool is_inside(const canvas *c, int column, int row)
{
    return column >= 0 && column < c->columns && row >= 0 && row < ROWS;
}

static void put(canvas *c, int column, int row, char mark)
{
    if (is_inside(c, column, row))
        c->cell[row][column] = mark;
}

/* ---- lines ---- */

static void put_line(canvas *c, const th_plot_point *a, const th_plot_point *b, char mark)
{
    int x0 = column_of(c, a->x), y0 = row_of(c, a->y), x1 = column_of(c, b->x),
        y1 = row_of(c, b->y);
    int n = abs(x1 - x0) > abs(y1 - y0) ? abs(x1 - x0) : abs(y1 - y0);
    for (int i = 0; i <= n; i++)
        put(c, x0 + (int)lround((double)i * (x1 - x0) / (n > 0 ? n : 1)),
            y0 + (int)lround((double)i * (y1 - y0) / (n > 0 ? n : 1)), mark);
}

static void put_steps(canvas *c, const th_plot_series *s, char mark)
{
    for (size_t i = 1; i < s->n; i++) {
        th_plot_point corner = {s->point[i].x, s->point[i - 1].y, NULL};
        put_line(c, &s->point[i - 1], &corner, mark);
        put_line(c, &corner, &s->point[i], mark);
    }
}

static void put_series(canvas *c, int number)
{
    const th_plot_series *s = &c->plot->series[number];
    char mark = marker_of(c->plot, number);
    switch (s->join) {
    case TH_JOIN_LEVEL:
        for (int x = 0; x < c->columns && s->n > 0; x++)
            put(c, x, row_of(c, s->point[0].y), mark);
        break;
    case TH_JOIN_STEPS:
        put_steps(c, s, mark);
        break;
    case TH_JOIN_LINE:
        for (size_t i = 1; i < s->n; i++)
            put_line(c, &s->point[i - 1], &s->point[i], '.');
        break;
    case TH_JOIN_NONE:
        break;
    }
}

static void put_points(canvas *c, int number)
{
    const th_plot_series *s = &c->plot->series[number];
    if (s->join == TH_JOIN_NONE || s->join == TH_JOIN_LINE)
        for (size_t i = 0; i < s->n; i++)
            put(c, column_of(c, s->point[i].x), row_of(c, s->point[i].y),
                marker_of(c->plot, number));
}

/* ---- labels ---- */

/* The label beside the point, if nothing is there: to the right or left, so many lines below it. */
static bool put_label(canvas *c, const th_plot_point *point, int side, int below)
{
    int width = (int)strlen(point->label), row = row_of(c, point->y) + below;
    int from = column_of(c, point->x) + (side > 0 ? 2 : -1 - width);
    for (int i = 0; i < width; i++)
        if (!is_inside(c, from + i, row) || c->cell[row][from + i] != ' ')
            return false;
    for (int i = 0; i < width; i++)
        put(c, from + i, row, point->label[i]);
    return true;
}

/* Beside the point, else beside and a line above or below it; those of fronts first. */
static void put_labels(canvas *c, bool of_front)
{
    for (int s = 0; s < c->plot->n_series; s++)
        for (size_t i = 0; c->plot->series[s].is_front == of_front && i < c->plot->series[s].n;
             i++) {
            const th_plot_point *point = &c->plot->series[s].point[i];
            bool is_put = !point->label;
            for (int below = 0; below != 2; below = below == 0 ? -1 : below == -1 ? 1 : 2)
                is_put = is_put || put_label(c, point, 1, below) || put_label(c, point, -1, below);
        }
}

/* ---- frame ---- */

static void add_key(const th_plot *p, th_strbuf *out)
{
    for (int s = 0; p->n_series > 1 && s < p->n_series; s++)
        th_strbuf_printf(out, "%c %s\n", marker_of(p, s),
                         p->series[s].name ? p->series[s].name : "");
    th_strbuf_add(out, p->n_series > 1 ? "\n" : "");
}

static void add_rows(const canvas *c, th_strbuf *out)
{
    for (int row = 0; row < ROWS; row++) {
        const char *tick = "";
        for (int i = 0; i < c->y.n; i++)
            if (row_of(c, c->y.value[i]) == row)
                tick = c->y.text[i];
        int end = c->columns;
        while (end > 0 && c->cell[row][end - 1] == ' ')
            end--;
        th_strbuf_printf(out, "%*s |%.*s\n", c->left - 2, tick, end, c->cell[row]);
    }
}

/* A text below the axis, its middle at a column, if it does not touch the one before it. */
static void put_tick(const canvas *c, char *line, double x, const char *text)
{
    int width = (int)strlen(text), from = c->left + column_of(c, x) - width / 2;
    from = from + width > WIDTH ? WIDTH - width : from;
    if (from < 0 || (from > 0 && line[from - 1] != ' '))
        return;
    for (int i = 0; i < width; i++)
        if (line[from + i] != ' ')
            return;
    memcpy(line + from, text, (size_t)width);
}

static void add_ticks(const canvas *c, th_strbuf *out)
{
    char line[WIDTH + 1];
    memset(line, ' ', WIDTH);
    line[WIDTH] = '\0';
    for (int i = 0; i < c->x.n && c->x.value[i] <= c->x.to; i++)
        put_tick(c, line, c->x.value[i], c->x.text[i]);
    for (int i = 0; i < c->plot->n_categories; i++)
        put_tick(c, line, i, c->plot->category[i]);
    int end = WIDTH;
    while (end > 0 && line[end - 1] == ' ')
        end--;
    th_strbuf_printf(out, "%*s+", c->left - 1, "");
    for (int i = 0; i < c->columns; i++)
        th_strbuf_add(out, "-");
    th_strbuf_printf(out, "\n%.*s\n", end, line);
}

void th_plot_text_points(const th_plot *p, th_strbuf *out)
{
    canvas c = {.plot = p};
    find_axes(&c);
    for (int s = 0; s < p->n_series; s++)
        put_series(&c, s);
    for (int s = 0; s < p->n_series; s++)
        put_points(&c, s);
    if (p->n_categories == 0) {
        put_labels(&c, true);
        put_labels(&c, false);
    }
    add_key(p, out);
    if (p->y.label)
        th_strbuf_printf(out, "%s\n", p->y.label);
    add_rows(&c, out);
    add_ticks(&c, out);
    if (p->x.label)
        th_strbuf_printf(out, "%*s%s\n", WIDTH - th_text_width(p->x.label), "", p->x.label);
}
