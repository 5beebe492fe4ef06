/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.c - the gnuplot script of a plot.
 *   th_plot_script: terminal -> axes -> the data of all series -> one plot command
 * The script contains the numbers, but no dates or paths: the same numbers give the same
 * picture. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "report/plot/plot.h"
#include "report/table/report_scale.h"

/* Okabe and Ito's colours, which the colour-blind tell apart (Color Universal Design, 2008); yellow
 * last, for it is pale on white. */
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#56B4E9", "#E69F00", "#000000", "#F0E442"};
enum { N_COLOURS = sizeof colours / sizeof colours[0] };
static const char quiet[] = "#D8DCE0", ink[] = "#30363C", faint[] = "#DDE1E5", empty[] = "#F7F8FA";
/* Heat: one hue from pale to dark. */
static const char palette[] =
    "0 '#EEF3F8', 0.25 '#B5CDE1', 0.5 '#6BA3C9', 0.75 '#2B6FA5', 1 '#08306B'";

enum {
    LABELLED_BARS = 24,  /* up to this number of bars, values stand above them */
    LABELLED_CELLS = 12, /* up to this number of columns, heat maps show values */
    LETTERS_IN_ROW =
        84, /* up to this number of letters, names are horizontal; longer ones slanted */
    LETTERS_IN_HEAT = 56, /* up to this number they are slanted; longer ones vertical */
    LETTERS_IN_KEY = 14,  /* longer names leave room for fewer */
    TICKS_MAX = 30,       /* of more categories only some have names */
    HEAT_TICKS_MAX = 48
};

static const char *colour_of(const th_plot_series *s, int number)
{
    return s->is_quiet ? quiet : colours[number % N_COLOURS];
}

/* ---- words ---- */

/* 'text', for commands. */
static void add_quoted(th_strbuf *out, const char *text)
{
    th_strbuf_add(out, "'");
    for (; *text != '\0'; text++) {
        char byte[3] = {*text, *text == '\'' ? '\'' : '\0', '\0'};
        th_strbuf_add(out, *text == '\n' ? " " : byte);
    }
    th_strbuf_add(out, "'");
}

/* "text", for data, where nothing can be escaped. */
static void add_datum(th_strbuf *out, const char *text)
{
    th_strbuf_add(out, "\"");
    for (; *text != '\0'; text++) {
        char byte[2] = {*text == '"' || *text == '\n' || *text == '\\' ? '\'' : *text, '\0'};
        th_strbuf_add(out, byte);
    }
    th_strbuf_add(out, "\"");
}

static bool is_text(th_picture as)
{
    return as == TH_PICTURE_TXT;
}

static bool is_table(const th_plot *p)
{
    return p->type == TH_PLOT_BAR || p->type == TH_PLOT_STACKED || p->type == TH_PLOT_HEAT;
}

/* ---- terminal and axes ---- */

static void add_terminal(const th_plot *p, th_picture as, th_strbuf *out)
{
    bool is_square = p->type == TH_PLOT_HEAT || p->type == TH_PLOT_PARITY;
    switch (as) {
    case TH_PICTURE_SVG:
    case TH_PICTURE_SCRIPT:
        th_strbuf_printf(out,
                         "set terminal svg size %d,%d dynamic font 'Helvetica,Arial,sans-serif,14' "
                         "background '#FFFFFF' noenhanced\n",
                         is_square ? 760 : 900, is_square ? 680 : 540);
        break;
    case TH_PICTURE_PNG:
        th_strbuf_printf(out,
                         "set terminal pngcairo size %d,%d font 'sans,12' fontscale 1.9 linewidth "
                         "2 pointscale 2 background '#FFFFFF' noenhanced\n",
                         is_square ? 1520 : 1800, is_square ? 1360 : 1080);
        break;
    case TH_PICTURE_PDF:
        th_strbuf_printf(out,
                         "set terminal pdfcairo size %s font 'sans,10' linewidth 1.2 pointscale "
                         "0.8 background '#FFFFFF' noenhanced\n",
                         is_square ? "16cm,14.3cm" : "18cm,10.8cm");
        break;
    case TH_PICTURE_TXT:
        th_strbuf_printf(out, "set terminal dumb %s noenhanced\n", is_square ? "78,36" : "78,26");
        break;
    case TH_N_PICTURES:
        break;
    }
}

static int longest_name(const th_plot *p)
{
    int longest = 0;
    for (int i = 0; i < p->n_series; i++)
        if (p->series[i].name && th_text_width(p->series[i].name) > longest)
            longest = th_text_width(p->series[i].name);
    return longest;
}

static void add_style(const th_plot *p, th_picture as, th_strbuf *out)
{
    th_strbuf_add(out, "set encoding utf8\nset datafile missing '-'\n");
    th_strbuf_add(out, p->type == TH_PLOT_HEAT ? "unset border\n" : "set border 3");
    if (p->type != TH_PLOT_HEAT)
        th_strbuf_printf(out, " linecolor '%s' linewidth 1\n", ink);
    th_strbuf_printf(out, "set tics nomirror out scale 0.5 textcolor '%s'\n", ink);
    if (p->type != TH_PLOT_HEAT && !is_text(as))
        th_strbuf_printf(out, "set grid %s back linetype 1 linewidth 0.7 linecolor '%s'\n",
                         is_table(p) ? "ytics" : "xtics ytics", faint);
    th_strbuf_add(out, "set style fill solid 1 noborder\n");
    th_strbuf_add(out, is_text(as)
                           ? "set key tmargin left horizontal\n"
                           : "set key outside top horizontal left Left reverse samplen 1.5\n");
    int longest = longest_name(p); /* gnuplot thinks letters narrower than they are */
    if (!is_text(as) && longest > LETTERS_IN_KEY)
        th_strbuf_printf(out, "set key maxcols %d\n",
                         longest < LETTERS_IN_ROW / 2 ? LETTERS_IN_ROW / (longest + 5) : 1);
}

static void add_label(th_strbuf *out, const char *what, const char *text)
{
    if (!text)
        return;
    th_strbuf_printf(out, "set %s ", what);
    add_quoted(out, text);
    th_strbuf_printf(out, " textcolor '%s'\n", ink);
}

/* The distance between names that are shown, of n. */
static int stride_of(const th_plot *p, int n)
{
    int most = p->type == TH_PLOT_HEAT ? HEAT_TICKS_MAX : TICKS_MAX;
    return (n + most - 1) / most;
}

static void add_ticks(th_strbuf *out, const char *axis, const char *(*name)(const th_plot *, int),
                      const th_plot *p, int n)
{
    th_strbuf_printf(out, "set %stics (", axis);
    for (int i = 0; i < n; i += stride_of(p, n)) {
        th_strbuf_add(out, i > 0 ? ", " : "");
        add_quoted(out, name(p, i));
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

static void add_categories(const th_plot *p, th_strbuf *out)
{
    int n = p->n_categories, all = 0;
    for (int i = 0; i < n; i += stride_of(p, n))
        all += th_text_width(p->category[i]) + 2;
    add_ticks(out, "x", category_name, p, n);
    if (p->type == TH_PLOT_HEAT && all > LETTERS_IN_HEAT)
        th_strbuf_add(out, "set xtics rotate by 90 right\n");
    else if (all > LETTERS_IN_ROW)
        th_strbuf_add(out, "set xtics rotate by 35 right\n");
    th_strbuf_printf(out, "set xtics scale 0\nset xrange [-0.6:%d.6]\n", n - 1);
}

/* A terminal has no room beside the axis that goes up, and nothing is written there: its label
 * stands below. */
static void add_axis_labels(const th_plot *p, th_picture as, th_strbuf *out)
{
    th_strbuf both = TH_STRBUF_INIT;
    const char *x = p->x.label, *y = p->y.label;
    if (is_text(as) && y)
        th_strbuf_printf(&both, "%s%supwards: %s", x ? x : "", x ? "; " : "", y);
    add_label(out, "xlabel", both.length > 0 ? both.text : x);
    if (!is_text(as))
        add_label(out, "ylabel", y);
    out->failed |= both.failed;
    th_strbuf_clear(&both);
}

static void add_axes(const th_plot *p, th_picture as, th_strbuf *out)
{
    add_label(out, "title", p->title);
    add_axis_labels(p, as, out);
    if (p->x.is_log)
        th_strbuf_add(out, "set logscale x\n");
    if (p->y.is_log)
        th_strbuf_add(out, "set logscale y\n");
    if (p->n_categories > 0)
        add_categories(p, out);
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

static const char *key_name(const th_plot *p, int s)
{
    return p->n_series > 1 ? p->series[s].name : NULL;
}

/* ---- bars ---- */

static void plot_bars(const th_plot *p, th_strbuf *out)
{
    static const double GROUP = 0.8; /* of a category's place */
    double width = GROUP / p->n_series;
    bool is_first = true, is_labelled = p->n_series * p->n_categories <= LABELLED_BARS;
    th_strbuf_printf(
        out, "set yrange [0:*]\nset offsets 0, 0, graph 0.06, 0\nset boxwidth %.6g absolute\n",
        p->n_series > 1 ? 0.92 * width : width * 0.8);
    for (int s = 0; s < p->n_series; s++) {
        double shift = ((double)s - (double)(p->n_series - 1) / 2) * width;
        add_part(out, &is_first);
        th_strbuf_printf(out, "$s%d using ($1 + %.6g):2 with boxes linecolor '%s'", s, shift,
                         colour_of(&p->series[s], s));
        add_title(out, key_name(p, s));
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
    th_strbuf_add(out, "set yrange [0:*]\n");
    for (int s = 0; s < p->n_series; s++) {
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

static double largest_cell(const th_plot *p)
{
    double largest = 0;
    for (int s = 0; s < p->n_series; s++)
        for (size_t i = 0; i < p->series[s].n; i++)
            largest = fmax(largest, p->series[s].point[i].y); /* not of NAN */
    return largest;
}

static void plot_heat(const th_plot *p, th_strbuf *out)
{
    double largest = largest_cell(p);
    bool is_labelled = p->n_categories <= LABELLED_CELLS;
    add_matrix(p, out);
    add_ticks(out, "y", series_name, p, p->n_series);
    th_strbuf_printf(out,
                     "set yrange [%d.5:-0.5]\nset xrange [-0.5:%d.5]\nset ytics scale 0\n"
                     "set palette defined (%s)\nset cbrange [0:%.9g]\n",
                     p->n_series - 1, p->n_categories - 1, palette, largest > 0 ? largest : 1);
    add_label(out, "cblabel", p->z.label);
    th_strbuf_printf(out,
                     "set size ratio -1\nset colorbox noborder\n"
                     "set object 1 rectangle from graph 0, 0 to graph 1, 1 behind fillcolor '%s' "
                     "fillstyle solid noborder\n"
                     "plot $cells using 1:2:($1 - 0.48):($1 + 0.48):($2 - 0.48):($2 + 0.48):3 with "
                     "boxxyerror linecolor palette notitle",
                     empty);
    if (is_labelled)
        th_strbuf_printf(out,
                         ", \\\n     $cells using 1:2:4:($3 > %.9g ? 0xFFFFFF : 0x30363C) with "
                         "labels textcolor rgb variable notitle",
                         0.55 * largest);
}

/* ---- points ---- */

static void plot_level(const th_plot *p, int s, th_strbuf *out)
{
    th_strbuf_printf(out, "%.9g with lines dashtype 2 linewidth 1.5 linecolor '%s'",
                     p->series[s].point[0].y, ink);
    add_title(out, p->series[s].name);
}

static const char *style_of(th_join join)
{
    switch (join) {
    case TH_JOIN_NONE:
        return "points pointtype 7 pointsize 1.1";
    case TH_JOIN_LINE:
        return "linespoints pointtype 7 pointsize 0.8 linewidth 2";
    case TH_JOIN_STEPS:
        return "steps linewidth 2";
    case TH_JOIN_LEVEL:
        break;
    }
    return "lines";
}

static bool any_label(const th_plot_series *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->point[i].label)
            return true;
    return false;
}

static void plot_points(const th_plot *p, th_strbuf *out)
{
    bool is_first = true, is_stepped = p->n_series > 0 && p->series[0].join == TH_JOIN_STEPS;
    if (!is_stepped)
        th_strbuf_add(out, "set offsets graph 0.04, graph 0.06, graph 0.06, graph 0.04\n");
    else
        th_strbuf_printf(out, "set xrange [%d:%.9g]\nset offsets 0, 0, graph 0.06, graph 0.04\n",
                         p->x.is_log ? 1 : 0, p->series[0].point[p->series[0].n - 1].x);
    for (int s = 0; s < p->n_series; s++) {
        const th_plot_series *series = &p->series[s];
        add_part(out, &is_first);
        if (series->join == TH_JOIN_LEVEL) {
            plot_level(p, s, out);
            continue;
        }
        th_strbuf_printf(out, "$s%d using 1:2 with %s linecolor '%s'", s, style_of(series->join),
                         colour_of(series, s));
        add_title(out, key_name(p, s));
        if (!any_label(series))
            continue;
        add_part(out, &is_first);
        th_strbuf_printf(out,
                         "$s%d using 1:2:3 with labels left offset 0.8, 0.4 textcolor '%s' notitle",
                         s, ink);
    }
}

/* ---- parity ---- */

static void range_of(const th_plot *p, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (int s = 0; s < p->n_series; s++)
        for (size_t i = 0; i < p->series[s].n; i++) {
            *least = fmin(*least, fmin(p->series[s].point[i].x, p->series[s].point[i].y));
            *most = fmax(*most, fmax(p->series[s].point[i].x, p->series[s].point[i].y));
        }
}

static void plot_parity(const th_plot *p, th_picture as, th_strbuf *out)
{
    static const double MARGIN = 1.25;
    double least, most;
    range_of(p, &least, &most);
    th_strbuf_printf(
        out, "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\nset size square\nset samples 2\n",
        least / MARGIN, most * MARGIN, least / MARGIN, most * MARGIN);
    th_strbuf_add(out, "set format xy '%g'\nplot ");
    if (!is_text(as))
        th_strbuf_printf(out,
                         "'+' using 1:($1 * %.6g):($1 * %.6g) with filledcurves fillcolor '%s' "
                         "title 'within %.3g %%', \\\n     ",
                         1 - p->band, 1 + p->band, faint, 100 * p->band);
    for (int s = 0; s < p->n_series; s++) {
        th_strbuf_printf(out, "$s%d using 1:2 with %s linecolor '%s'", s,
                         is_text(as) ? "dots" : "points pointtype 7 pointsize 0.28",
                         colour_of(&p->series[s], s));
        add_title(out, p->series[s].name);
        th_strbuf_add(out, ", \\\n     ");
    }
    th_strbuf_printf(out, "x with lines linewidth 1 linecolor '%s' title 'equal'", ink);
}

void th_plot_script(const th_plot *p, th_picture as, th_strbuf *out)
{
    add_terminal(p, as, out);
    add_style(p, as, out);
    add_axes(p, as, out);
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
        plot_heat(p, out);
        break;
    case TH_PLOT_LINE:
    case TH_PLOT_SCATTER:
        plot_points(p, out);
        break;
    case TH_PLOT_PARITY:
        plot_parity(p, as, out);
        break;
    case TH_N_PLOT_TYPES:
        break;
    }
    th_strbuf_add(out, "\n");
}
