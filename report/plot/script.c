/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.c - the gnuplot script of a plot.
 *   th_plot_script: layout -> terminal -> axes -> the data of all series -> one plot command
 * The script contains the numbers, but no dates or paths: the same numbers give the same
 * picture. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "report/plot/layout.h"
#include "report/table/report_scale.h"

/* Okabe and Ito's colours, which the colour-blind tell apart (Color Universal Design, 2008); yellow
 * last, for it is pale on white. */
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#56B4E9", "#E69F00", "#000000", "#F0E442"};
/* gnuplot's point types: circle, square, triangle, diamond, triangle on its head, pentagon; open
 * square and circle. A series differs from the others by colour and by shape. */
static const int markers[] = {7, 5, 9, 13, 11, 15, 4, 6};
enum { N_COLOURS = sizeof colours / sizeof colours[0] };
static const char quiet[] = "#D8DCE0", ink[] = "#30363C", faint[] = "#DDE1E5", empty[] = "#F7F8FA";
/* Heat: one hue from pale to dark. */
static const char palette[] =
    "0 '#EEF3F8', 0.25 '#B5CDE1', 0.5 '#6BA3C9', 0.75 '#2B6FA5', 1 '#08306B'";

enum { LABELLED_BARS = 24 }; /* up to this number of bars, values stand above them */

static const char *colour_of(const th_plot_series *s, int number)
{
    return s->is_quiet ? quiet : colours[number % N_COLOURS];
}

/* ---- words ---- */

/* 'text', for commands, with this character doubled besides. Control characters, which no SVG may
 * hold, are written out. */
static void add_doubled(th_strbuf *out, const char *text, char doubled)
{
    th_strbuf visible = TH_STRBUF_INIT;
    th_strbuf_add_visible(&visible, text);
    th_strbuf_add(out, "'");
    for (const char *c = visible.text; c && *c; c++) {
        char byte[3] = {*c, *c == '\'' || *c == doubled ? *c : '\0', '\0'};
        th_strbuf_add(out, *c == '\n' || *c == '\t' ? " " : byte);
    }
    th_strbuf_add(out, "'");
    out->failed |= visible.failed;
    th_strbuf_clear(&visible);
}

static void add_quoted(th_strbuf *out, const char *text)
{
    add_doubled(out, text, '\'');
}

/* The text at a tick is a format of gnuplot. */
static void add_tick_text(th_strbuf *out, const char *text)
{
    add_doubled(out, text, '%');
}

/* "text", for data. */
static void add_datum(th_strbuf *out, const char *text)
{
    th_strbuf visible = TH_STRBUF_INIT;
    th_strbuf_add_visible(&visible, text);
    th_strbuf_add(out, "\"");
    for (const char *c = visible.text; c && *c; c++) {
        bool is_special = *c == '"' || *c == '\\';
        char bytes[3] = {is_special ? '\\' : *c, is_special ? *c : '\0', '\0'};
        th_strbuf_add(out, *c == '\n' || *c == '\t' ? " " : bytes);
    }
    th_strbuf_add(out, "\"");
    out->failed |= visible.failed;
    th_strbuf_clear(&visible);
}

/* ---- terminal and axes ---- */

static void add_terminal(const th_plot_layout *l, th_picture as, th_strbuf *out)
{
    static const double CM = 0.02; /* of a pixel, in a PDF */
    switch (as) {
    case TH_PICTURE_PNG:
        th_strbuf_printf(out,
                         "set terminal pngcairo size %d,%d font 'sans,12' fontscale 1.9 linewidth "
                         "2 pointscale 2 background '#FFFFFF' noenhanced\n",
                         2 * l->width, 2 * l->height);
        break;
    case TH_PICTURE_PDF:
        th_strbuf_printf(out,
                         "set terminal pdfcairo size %.2fcm,%.2fcm font 'sans,7.5' linewidth 1.2 "
                         "pointscale 0.6 background '#FFFFFF' noenhanced\n",
                         CM * l->width, CM * l->height);
        break;
    case TH_PICTURE_SVG:
    case TH_PICTURE_SCRIPT:
    case TH_PICTURE_TXT: /* drawn without gnuplot */
    case TH_N_PICTURES:
        th_strbuf_printf(out,
                         "set terminal svg size %d,%d dynamic font 'Helvetica,Arial,sans-serif,14' "
                         "background '#FFFFFF' noenhanced\n",
                         l->width, l->height);
        break;
    }
    th_strbuf_printf(out,
                     "set lmargin at screen %.4f\nset rmargin at screen %.4f\n"
                     "set bmargin at screen %.4f\nset tmargin at screen %.4f\n",
                     (double)l->left / l->width, (double)(l->left + l->area_width) / l->width,
                     (double)l->bottom / l->height,
                     (double)(l->bottom + l->area_height) / l->height);
}

static void add_style(const th_plot_layout *l, th_strbuf *out)
{
    const th_plot *p = l->plot;
    th_strbuf_add(out, "set encoding utf8\nset datafile missing '-'\n");
    th_strbuf_add(out, p->type == TH_PLOT_HEAT ? "unset border\n" : "set border 3");
    if (p->type != TH_PLOT_HEAT)
        th_strbuf_printf(out, " linecolor '%s' linewidth 1\n", ink);
    th_strbuf_printf(out, "set tics nomirror out scale 0.5 textcolor '%s'\n", ink);
    if (p->type != TH_PLOT_HEAT)
        th_strbuf_printf(out, "set grid %s back linetype 1 linewidth 0.7 linecolor '%s'\n",
                         th_plot_is_bars(p) ? "ytics" : "xtics ytics", faint);
    th_strbuf_add(out, "set style fill solid 1 noborder\n");
    th_strbuf_printf(out,
                     "set key at screen %.4f, screen %.4f left top vertical Left reverse samplen "
                     "1.5 spacing 1.2\n",
                     (double)(l->left + l->area_width + TH_PIXELS_MARGIN / 2) / l->width,
                     (double)(l->bottom + l->area_height) / l->height);
}

static void add_label(th_strbuf *out, const char *what, const char *text)
{
    if (!text)
        return;
    th_strbuf_printf(out, "set %s ", what);
    add_quoted(out, text);
    th_strbuf_printf(out, " textcolor '%s'\n", ink);
}

static void add_names(th_strbuf *out, const char *axis, const char *(*name)(const th_plot *, int),
                      const th_plot *p, int n)
{
    th_strbuf_printf(out, "set %stics (", axis);
    for (int i = 0; i < n; i += th_plot_name_stride(p, n)) {
        th_strbuf_add(out, i > 0 ? ", " : "");
        add_tick_text(out, name(p, i));
        th_strbuf_printf(out, " %d", i);
    }
    th_strbuf_add(out, ")\n");
}

static const char *category_name(const th_plot *p, int i)
{
    return p->category[i];
}

static const char *series_name(const th_plot *p, int i)
{
    return p->series[i].name ? p->series[i].name : "";
}

/* The range and the ticks of an axis of numbers. */
static void add_ticks(th_strbuf *out, const char *axis, const th_plot_ticks *t)
{
    th_strbuf_printf(out, "set %srange [%.9g:%.9g]\nset %stics (", axis, t->from, t->to, axis);
    for (int i = 0; i < t->n; i++) {
        th_strbuf_add(out, i > 0 ? ", " : "");
        add_tick_text(out, t->text[i]);
        th_strbuf_printf(out, " %.9g", t->value[i]);
    }
    th_strbuf_add(out, ")\n");
}

static void add_categories(const th_plot_layout *l, th_strbuf *out)
{
    int n = l->plot->n_categories;
    add_names(out, "x", category_name, l->plot, n);
    if (l->stands_names)
        th_strbuf_add(out, "set xtics rotate by 90 right\n");
    else if (l->slants_names)
        th_strbuf_add(out, "set xtics rotate by 35 right\n");
    th_strbuf_printf(out, "set xtics scale 0\nset xrange [-0.6:%d.6]\n", n - 1);
}

static void add_axes(const th_plot_layout *l, th_strbuf *out)
{
    const th_plot *p = l->plot;
    add_label(out, "title", p->title);
    add_label(out, "xlabel", p->x.label);
    add_label(out, "ylabel", p->y.label);
    if (p->x.is_log)
        th_strbuf_add(out, "set logscale x\n");
    if (p->y.is_log)
        th_strbuf_add(out, "set logscale y\n");
    if (p->n_categories > 0)
        add_categories(l, out);
    else
        add_ticks(out, "x", &l->x);
    if (p->type != TH_PLOT_HEAT)
        add_ticks(out, "y", &l->y);
}

/* ---- data ---- */

static void add_number(th_strbuf *out, double x)
{
    if (isfinite(x))
        th_strbuf_printf(out, "%.9g", x);
    else
        th_strbuf_add(out, "-");
}

/* x, y and the label of each point, as $s0, $s1 ... */
static void add_points(const th_plot *p, th_strbuf *out)
{
    for (int s = 0; s < p->n_series; s++) {
        th_strbuf_printf(out, "$s%d << END\n", s);
        for (size_t i = 0; i < p->series[s].n; i++) {
            const th_plot_point *point = &p->series[s].point[i];
            add_number(out, point->x);
            th_strbuf_add(out, " ");
            add_number(out, point->y);
            th_strbuf_add(out, " ");
            add_datum(out, point->label ? point->label : "");
            th_strbuf_add(out, "\n");
        }
        th_strbuf_add(out, "END\n");
    }
}

/* One word of the plot command; the first has none before it. */
static void add_part(th_strbuf *out, bool *is_first)
{
    th_strbuf_add(out, *is_first ? "plot " : ", \\\n     ");
    *is_first = false;
}

static void add_title(th_strbuf *out, const char *name)
{
    if (!name) {
        th_strbuf_add(out, " notitle");
        return;
    }
    th_strbuf_add(out, " title ");
    add_quoted(out, name);
}

/* ---- bars ---- */

static void plot_bars(const th_plot *p, th_strbuf *out)
{
    static const double GROUP = 0.8; /* of a category's place */
    double width = GROUP / p->n_series;
    bool is_first = true, is_labelled = p->n_series * p->n_categories <= LABELLED_BARS;
    th_strbuf_printf(out, "set boxwidth %.6g absolute\n",
                     p->n_series > 1 ? 0.92 * width : width * 0.8);
    for (int s = 0; s < p->n_series; s++) {
        double shift = ((double)s - (double)(p->n_series - 1) / 2) * width;
        add_part(out, &is_first);
        th_strbuf_printf(out, "$s%d using ($1 + %.6g):2 with boxes linecolor '%s'", s, shift,
                         colour_of(&p->series[s], s));
        add_title(out, th_plot_key_name(p, s));
        if (!is_labelled)
            continue;
        add_part(out, &is_first);
        th_strbuf_printf(
            out, "$s%d using ($1 + %.6g):2:3 with labels offset 0, 0.6 textcolor '%s' notitle", s,
            shift, ink);
    }
}

/* Rectangles from the sum of those below. */
static void plot_stacks(const th_plot *p, th_strbuf *out)
{
    bool is_first = true;
    for (int s = 0; s < p->n_series; s++) {
        th_strbuf_printf(out, "$stack%d << END\n", s);
        for (int c = 0; c < p->n_categories; c++) {
            double below = 0;
            for (int k = 0; k < s; k++)
                below += p->series[k].point[c].y;
            th_strbuf_printf(out, "%d %.9g %.9g\n", c, below, below + p->series[s].point[c].y);
        }
        th_strbuf_add(out, "END\n");
    }
    for (int s = p->n_series - 1; s >= 0; s--) { /* the key has the order of the stack */
        add_part(out, &is_first);
        th_strbuf_printf(
            out, "$stack%d using 1:2:($1 - 0.4):($1 + 0.4):2:3 with boxxyerror linecolor '%s'", s,
            colour_of(&p->series[s], s));
        add_title(out, p->series[s].name);
    }
}

/* ---- heat ---- */

static void add_matrix(const th_plot *p, th_strbuf *out)
{
    th_strbuf_add(out, "$cells << END\n");
    for (int row = 0; row < p->n_series; row++)
        for (int c = 0; c < p->n_categories; c++) {
            const th_plot_point *point = &p->series[row].point[c];
            if (!isfinite(point->y))
                continue;
            th_strbuf_printf(out, "%d %d %.9g ", c, row, point->y);
            add_datum(out, point->label ? point->label : "");
            th_strbuf_add(out, "\n");
        }
    th_strbuf_add(out, "END\n");
}

static void plot_heat(const th_plot_layout *l, th_strbuf *out)
{
    static const double DARK = 0.55; /* of the scale: from here on text is white */
    const th_plot *p = l->plot;
    add_matrix(p, out);
    add_names(out, "y", series_name, p, p->n_series);
    th_strbuf_printf(out,
                     "set yrange [%d.5:-0.5]\nset xrange [-0.5:%d.5]\nset ytics scale 0\n"
                     "set palette defined (%s)\n",
                     p->n_series - 1, p->n_categories - 1, palette);
    add_ticks(out, "cb", &l->z);
    add_label(out, "cblabel", p->z.label);
    th_strbuf_printf(out,
                     "set colorbox user noborder origin screen %.4f, screen %.4f size screen %.4f, "
                     "screen %.4f\n"
                     "set object 1 rectangle from graph 0, 0 to graph 1, 1 behind fillcolor '%s' "
                     "fillstyle solid noborder\n"
                     "plot $cells using 1:2:($1 - 0.48):($1 + 0.48):($2 - 0.46):($2 + 0.46):3 with "
                     "boxxyerror linecolor palette notitle",
                     (double)(l->left + l->area_width + TH_PIXELS_MARGIN / 2) / l->width,
                     (double)l->bottom / l->height, 16. / l->width,
                     (double)l->area_height / l->height, empty);
    if (p->n_categories <= TH_PLOT_LABELLED_CELLS)
        th_strbuf_printf(out,
                         ", \\\n     $cells using 1:2:4:($3 > %.9g ? 0xFFFFFF : 0x30363C) with "
                         "labels textcolor rgb variable notitle",
                         l->z.from + DARK * (l->z.to - l->z.from));
}

/* ---- points ---- */

static void plot_level(const th_plot *p, int s, th_strbuf *out)
{
    th_strbuf_printf(out, "%.9g with lines dashtype 2 linewidth 1.5 linecolor '%s'",
                     p->series[s].point[0].y, ink);
    add_title(out, p->series[s].name);
}

static void add_point_style(const th_plot_series *series, int number, th_strbuf *out)
{
    int marker = markers[number % N_COLOURS];
    if (series->is_front)
        th_strbuf_printf(out, "steps linewidth 1.2 linecolor '%s'", ink);
    else if (series->join == TH_JOIN_STEPS)
        th_strbuf_printf(out, "steps linewidth 2 linecolor '%s'", colour_of(series, number));
    else if (series->join == TH_JOIN_LINE)
        th_strbuf_printf(out, "linespoints pointtype %d pointsize 0.9 linewidth 2 linecolor '%s'",
                         marker, colour_of(series, number));
    else
        th_strbuf_printf(out, "points pointtype %d pointsize 1.1 linecolor '%s'", marker,
                         colour_of(series, number));
}

/* Labels at the places that labels.c finds, in units of letters and lines. */
static int add_point_labels(const th_plot_layout *l, th_strbuf *out)
{
    static const char *const sides[] = {"right", "center", "left"};
    const th_plot *p = l->plot;
    th_plot_place *place =
        th_plot_place_labels(p, &(th_plot_area){l->area_width, l->area_height, TH_PIXELS_LETTER,
                                                TH_PIXELS_LINE, &l->x, &l->y});
    size_t at = 0;
    for (int s = 0; place && s < p->n_series; s++)
        for (size_t i = 0; i < p->series[s].n; i++, at++) {
            const th_plot_point *point = &p->series[s].point[i];
            if (!point->label || !place[at].is_shown)
                continue;
            th_strbuf_add(out, "set label ");
            add_quoted(out, point->label);
            th_strbuf_printf(out, " at %.9g, %.9g %s offset %.2f, %.2f textcolor '%s'\n", point->x,
                             point->y, sides[place[at].side + 1], place[at].dx / TH_PIXELS_LETTER,
                             place[at].dy / TH_PIXELS_LINE, ink);
        }
    th_free(place);
    return place ? 0 : -1;
}

/* A front lies behind the points, and last in the key. */
static void plot_points(const th_plot_layout *l, th_strbuf *out)
{
    const th_plot *p = l->plot;
    bool is_first = true;
    if (p->n_categories == 0 && add_point_labels(l, out) != 0)
        out->failed = true;
    for (int s = 0; s < p->n_series; s++)
        if (p->series[s].is_front) {
            add_part(out, &is_first);
            th_strbuf_printf(out, "$s%d using 1:2 with ", s);
            add_point_style(&p->series[s], s, out);
            add_title(out, NULL);
        }
    for (int s = 0; s < p->n_series; s++) {
        const th_plot_series *series = &p->series[s];
        add_part(out, &is_first);
        if (series->join == TH_JOIN_LEVEL) {
            plot_level(p, s, out);
            continue;
        }
        if (series->is_front)
            th_strbuf_add(out, "NaN with ");
        else
            th_strbuf_printf(out, "$s%d using 1:2 with ", s);
        add_point_style(series, s, out);
        add_title(out, th_plot_key_name(p, s));
    }
}

/* ---- parity ---- */

static void plot_parity(const th_plot *p, th_strbuf *out)
{
    th_strbuf_printf(out,
                     "set samples 2\nplot '+' using 1:($1 * %.6g):($1 * %.6g) with filledcurves "
                     "fillcolor '%s' title 'within %.3g %%', \\\n     ",
                     1 - p->band, 1 + p->band, faint, 100 * p->band);
    for (int s = 0; s < p->n_series; s++) {
        th_strbuf_printf(out,
                         "$s%d using 1:2 with points pointtype %d pointsize 0.3 linecolor '%s'", s,
                         markers[s % N_COLOURS], colour_of(&p->series[s], s));
        add_title(out, p->series[s].name);
        th_strbuf_add(out, ", \\\n     ");
    }
    th_strbuf_printf(out, "x with lines linewidth 1 linecolor '%s' title 'equal'", ink);
}

void th_plot_script(const th_plot *p, th_picture as, th_strbuf *out)
{
    th_plot_layout l;
    th_plot_lay_out(&l, p);
    add_terminal(&l, as, out);
    add_style(&l, out);
    add_axes(&l, out);
    if (p->type != TH_PLOT_HEAT && p->type != TH_PLOT_STACKED)
        add_points(p, out);
    switch (p->type) {
    case TH_PLOT_BAR:
        plot_bars(p, out);
        break;
    case TH_PLOT_STACKED:
        plot_stacks(p, out);
        break;
    case TH_PLOT_HEAT:
        plot_heat(&l, out);
        break;
    case TH_PLOT_LINE:
    case TH_PLOT_SCATTER:
        plot_points(&l, out);
        break;
    case TH_PLOT_PARITY:
        plot_parity(p, out);
        break;
    case TH_N_PLOT_TYPES:
        break;
    }
    th_strbuf_add(out, "\n");
}
