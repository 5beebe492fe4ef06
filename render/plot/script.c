/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.c - the gnuplot script of a plot.
 *   th_plot_script: size -> terminal -> axes -> the data of all series -> one plot command
 * gnuplot chooses ticks and ranges, and lays out what is inside. The script contains the numbers,
 * but no dates or paths: the same numbers give the same picture. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "render/plot/plot.h"
#include "render/text/report_scale.h"

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

static const double GROUP = 0.8; /* bars, of a category's place */
enum {
    LABELLED_BARS = 24,  /* up to this number of bars, values stand above them */
    LABELLED_CELLS = 20, /* up to this number of columns, heat maps show values */
    NAMES = 30,          /* of more categories only some have names */
    HEAT_NAMES = 48
};

static const char *colour_of(const th_plot_series *s, int number)
{
    return s->is_quiet ? quiet : colours[number % N_COLOURS];
}

/* ---- words ---- */

/* The text between quotes, with this mark before every special character; 0: it is doubled. Control
 * characters, which no SVG may hold, are written out. */
static void add_marked(th_strbuf *out, const char *text, char quote, const char *special, char mark)
{
    th_strbuf visible = TH_STRBUF_INIT;
    th_strbuf_add_visible(&visible, text);
    th_strbuf_add_bytes(out, &quote, 1);
    for (const char *c = visible.text; c && *c; c++) {
        if (strchr(special, *c))
            th_strbuf_add_bytes(out, mark ? &mark : c, 1);
        th_strbuf_add_bytes(out, *c == '\n' || *c == '\t' ? " " : c, 1);
    }
    th_strbuf_add_bytes(out, &quote, 1);
    out->failed |= visible.failed;
    th_strbuf_clear(&visible);
}

static void add_quoted(th_strbuf *out, const char *text)
{
    add_marked(out, text, '\'', "'", 0);
}

/* The text at a tick is a format of gnuplot. */
static void add_tick_text(th_strbuf *out, const char *text)
{
    add_marked(out, text, '\'', "'%", 0);
}

static void add_datum(th_strbuf *out, const char *text)
{
    add_marked(out, text, '"', "\"\\", '\\');
}

/* ---- the size ---- */

/* Pixels; gnuplot lays out what is inside. */
enum {
    LETTER = 8, /* width, more or less */
    WIDTH = 840,
    HEIGHT = 480,
    SQUARE = 640, /* height of a parity plot */
    KEY = 8,      /* letters beside the names of the key */
    AREA = 740,   /* about: without the axis */
    FRAME = 190,  /* around a heat map, with the scale */
    TITLE = 110,  /* above and below it */
    CELL_WIDTH = 52,
    CELL_HEIGHT = 30,
    CELL_MIN = 12,
    HEAT_MIN = 190,  /* height, for the scale */
    SLANTED_MAX = 16 /* letters of names that are slanted; longer ones stand */
};

typedef struct {
    int width, height;
    int stride, slant; /* of the names below: the distance of those that are shown; degrees */
} layout;

static const char *category_name(const th_plot *p, int i)
{
    return p->category[i];
}

static const char *series_name(const th_plot *p, int i)
{
    return p->series[i].name ? p->series[i].name : "";
}

static int longest(const th_plot *p, const char *(*name)(const th_plot *, int), int n)
{
    int width = 0;
    for (int i = 0; i < n; i++)
        width = th_text_width(name(p, i)) > width ? th_text_width(name(p, i)) : width;
    return width;
}

static int cells(int n, int full, int least)
{
    int size = n <= LABELLED_CELLS ? full : AREA / n;
    size = n * (size > CELL_MIN ? size : CELL_MIN);
    return size > least ? size : least;
}

/* Names that find no room are slanted, long ones stand, and of many only some are shown; those of
 * terminals cannot be turned. */
static void lay_out_names(layout *l, const th_plot *p, int area, bool is_text)
{
    int names = (longest(p, category_name, p->n_categories) + 1) * LETTER, n = p->n_categories;
    int most = is_text ? AREA / names : p->type == TH_PLOT_HEAT ? HEAT_NAMES : NAMES;
    l->stride = most > 0 ? (n + most - 1) / most : n;
    if (is_text || names <= area / n * l->stride)
        return;
    l->slant = p->type == TH_PLOT_HEAT || names > SLANTED_MAX * LETTER ? 90 : 35;
    l->height += l->slant == 90 ? names : names / 2;
}

static layout lay_out(const th_plot *p, bool is_text)
{
    bool is_heat = p->type == TH_PLOT_HEAT, is_square = p->type == TH_PLOT_PARITY;
    int title = (th_text_width(p->title) + 12) * LETTER,
        names = longest(p, series_name, p->n_series), key = is_heat ? 0 : th_text_width(p->z.label),
        beside = ((names > key ? names : key) + KEY) * LETTER;
    layout l = {.width = WIDTH, .height = is_square ? SQUARE : HEIGHT, .stride = 1};
    if (is_heat) {
        l.width = FRAME + beside + cells(p->n_categories, CELL_WIDTH, 0);
        l.height = TITLE + cells(p->n_series, CELL_HEIGHT, HEAT_MIN);
    } else if (is_square || (p->n_series > 0 && th_plot_key_name(p, 0)))
        l.width += beside;
    l.width = l.width > title ? l.width : title;
    if (p->n_categories > 0)
        lay_out_names(&l, p, is_heat ? l.width - FRAME - beside : AREA, is_text);
    return l;
}

/* ---- terminal and axes ---- */

static void add_terminal(const layout *l, th_picture as, th_strbuf *out)
{
    static const double CM = 0.02; /* of a pixel, in a PDF */
    if (as == TH_PICTURE_PNG)
        th_strbuf_printf(out,
                         "set terminal pngcairo size %d,%d font 'sans,12' fontscale 1.9 linewidth "
                         "2 pointscale 2 background '#FFFFFF' noenhanced\n",
                         2 * l->width, 2 * l->height);
    else if (as == TH_PICTURE_PDF)
        th_strbuf_printf(out,
                         "set terminal pdfcairo size %.2fcm,%.2fcm font 'sans,7.5' linewidth 1.2 "
                         "pointscale 0.6 background '#FFFFFF' noenhanced\n",
                         CM * l->width, CM * l->height);
    else if (as == TH_PICTURE_TXT)
        th_strbuf_add(out, "set terminal dumb size 79,26 noenhanced\n");
    else
        th_strbuf_printf(out,
                         "set terminal svg size %d,%d dynamic font 'Helvetica,Arial,sans-serif,14' "
                         "background '#FFFFFF' noenhanced\n",
                         l->width, l->height);
}

static void add_label(th_strbuf *out, const char *what, const char *text)
{
    if (!text)
        return;
    th_strbuf_printf(out, "set %s ", what);
    add_quoted(out, text);
    th_strbuf_printf(out, " textcolor '%s'\n", ink);
}

static void add_style(const th_plot *p, th_picture as, th_strbuf *out)
{
    th_strbuf_add(out, "set encoding utf8\nset datafile missing '-'\n");
    if (p->type == TH_PLOT_HEAT)
        th_strbuf_add(out, "unset border\n");
    else
        th_strbuf_printf(out, "set border 3 linecolor '%s' linewidth 1\n", ink);
    th_strbuf_printf(out, "set tics nomirror out scale 0.5 textcolor '%s'\n", ink);
    if (p->type != TH_PLOT_HEAT && as != TH_PICTURE_TXT)
        th_strbuf_printf(out, "set grid %s back linetype 1 linewidth 0.7 linecolor '%s'\n",
                         th_plot_is_text(p) ? "ytics" : "xtics ytics", faint);
    th_strbuf_add(out, "set style fill solid 1 noborder\n");
    th_strbuf_printf(out, "set key %s vertical Left reverse samplen 1.5 spacing 1.2%s\n",
                     as == TH_PICTURE_TXT ? "tmargin left" : "outside right top",
                     p->type == TH_PLOT_STACKED ? " invert" : "");
    if (p->type != TH_PLOT_HEAT)
        add_label(out, "key title", p->z.label);
}

static void add_names(th_strbuf *out, const char *axis, const char *(*name)(const th_plot *, int),
                      const th_plot *p, int n, int stride)
{
    th_strbuf_printf(out, "set %stics scale 0 (", axis);
    for (int i = 0; i < n; i += stride) {
        th_strbuf_add(out, i > 0 ? ", " : "");
        add_tick_text(out, name(p, i));
        th_strbuf_printf(out, " %d", i);
    }
    th_strbuf_add(out, ")\n");
}

/* The least and largest x or y of all points, on a logarithmic axis of the positive ones. */
static void find_ends(const th_plot *p, bool is_y, double *least, double *largest)
{
    bool is_log = is_y ? p->y.is_log : p->x.is_log;
    *least = INFINITY;
    *largest = -INFINITY;
    for (int s = 0; s < p->n_series; s++)
        for (size_t i = 0; i < p->series[s].n; i++) {
            double value = is_y ? p->series[s].point[i].y : p->series[s].point[i].x;
            if (!isfinite(value) || (is_log && value <= 0))
                continue;
            *least = fmin(*least, value);
            *largest = fmax(*largest, value);
        }
}

/* The way of a search: it ends with the last evaluation. */
static bool is_search(const th_plot *p)
{
    return p->n_series > 0 && p->series[0].join == TH_JOIN_STEPS;
}

/* Linear axes of points are as long as those and the room for labels need; gnuplot ends others at
 * ticks. Bars begin at 0, and no axis of lines of values that are not negative goes below it. */
static void add_ranges(const th_plot *p, th_strbuf *out)
{
    double least, largest;
    find_ends(p, true, &least, &largest);
    if (p->x.is_log)
        th_strbuf_add(out, "set logscale x\n");
    if (p->y.is_log)
        th_strbuf_add(out, "set logscale y\n");
    else if (th_plot_is_text(p))
        th_strbuf_add(out, "set yrange [*<0:0<*]\n");
    else if (p->type == TH_PLOT_LINE && least >= 0)
        th_strbuf_add(out, "set yrange [0<*:*]\n");
    if (p->n_categories == 0 && (!p->x.is_log || is_search(p)))
        th_strbuf_add(out, "set autoscale xfix\n");
    if (p->type == TH_PLOT_SCATTER && !p->y.is_log)
        th_strbuf_add(out, "set autoscale yfix\n");
    if (p->type == TH_PLOT_STACKED)
        th_strbuf_add(out, "set autoscale yfixmax\n");
}

/* Room for markers at the edges, and for labels on their side of a point. */
static void add_room(const th_plot *p, th_strbuf *out)
{
    static const double MARKER = 0.02, LABELS_MAX = 0.3; /* of the area */
    double side[2] = {MARKER, MARKER}, above = p->y.is_log ? 0 : 0.05;
    for (int s = 0; s < p->n_series; s++)
        for (size_t i = 0; i < p->series[s].n; i++) {
            double *room = &side[p->series[s].x_side > 0];
            *room = fmax(*room,
                         (th_text_width(p->series[s].point[i].label) + 3.) * LETTER / (0.8 * AREA));
        }
    if (p->n_categories > 0 || is_search(p))
        side[0] = side[1] = 0;
    if (p->type != TH_PLOT_STACKED)
        th_strbuf_printf(out, "set offsets graph %.3g, graph %.3g, graph %g, graph %g\n",
                         fmin(side[0], LABELS_MAX), fmin(side[1], LABELS_MAX), above,
                         th_plot_is_text(p) ? 0 : above);
}

static void add_axes(const th_plot *p, const layout *l, th_picture as, th_strbuf *out)
{
    add_label(out, "title", as == TH_PICTURE_TXT ? NULL : p->title);
    add_label(out, "xlabel", p->x.label);
    add_label(out, "ylabel", p->y.label);
    if (p->n_categories > 0) {
        add_names(out, "x", category_name, p, p->n_categories, l->stride);
        th_strbuf_printf(out, "set xrange [-0.6:%d.6]\n", p->n_categories - 1);
    }
    if (l->slant > 0)
        th_strbuf_printf(out, "set xtics rotate by %d right\n", l->slant);
    if (l->slant == 35)
        th_strbuf_add(out, "set lmargin 14\n"); /* the first name begins left of the axis */
    if (p->type != TH_PLOT_HEAT && p->type != TH_PLOT_PARITY) {
        add_ranges(p, out);
        add_room(p, out);
    }
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

/* The next part of the plot command. */
static void add_part(th_strbuf *out)
{
    th_strbuf_add(out, ", \\\n     ");
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

static void plot_heat(const th_plot *p, th_strbuf *out)
{
    static const double DARK = 0.55, NEAR = 0.4; /* of the scale: from DARK on text is white; it
                                                    begins at 0 where values come NEAR, or are one
                                                    value */
    double least, largest;
    find_ends(p, true, &least, &largest);
    if (least >= 0 && (least <= NEAR * largest || least == largest)) {
        th_strbuf_add(out, "set cbrange [0:*]\n");
        least = 0;
    }
    add_matrix(p, out);
    add_names(out, "y", series_name, p, p->n_series, (p->n_series + HEAT_NAMES - 1) / HEAT_NAMES);
    add_label(out, "cblabel", p->z.label);
    th_strbuf_printf(out,
                     "set yrange [%d.5:-0.5]\nset xrange [-0.5:%d.5]\nset palette defined (%s)\n"
                     "set colorbox noborder\n"
                     "set object 1 rectangle from graph 0, 0 to graph 1, 1 behind fillcolor '%s' "
                     "fillstyle solid noborder\n"
                     "plot $cells using 1:2:($1 - 0.48):($1 + 0.48):($2 - 0.46):($2 + 0.46):3 with "
                     "boxxyerror linecolor palette notitle",
                     p->n_series - 1, p->n_categories - 1, palette, empty);
    if (p->n_categories <= LABELLED_CELLS)
        th_strbuf_printf(out,
                         ", \\\n     $cells using 1:2:4:($3 > %.9g ? 0xFFFFFF : 0x30363C) with "
                         "labels textcolor rgb variable notitle",
                         least + DARK * (largest - least));
}

/* ---- series ---- */

static void add_series_style(const th_plot *p, int s, th_strbuf *out)
{
    const th_plot_series *series = &p->series[s];
    const char *colour = series->is_front ? ink : colour_of(series, s);
    int marker = markers[s % N_COLOURS];
    if (p->type == TH_PLOT_BAR)
        th_strbuf_add(out, "boxes");
    else if (p->type == TH_PLOT_STACKED)
        th_strbuf_add(out, "histograms");
    else if (series->join == TH_JOIN_STEPS)
        th_strbuf_printf(out, "steps linewidth %g", series->is_front ? 1.2 : 2.);
    else if (series->join == TH_JOIN_LINE)
        th_strbuf_printf(out, "linespoints pointtype %d pointsize 0.9 linewidth 2", marker);
    else
        th_strbuf_printf(out, "points pointtype %d pointsize %g", marker,
                         p->type == TH_PLOT_PARITY ? 0.3 : 1.1);
    th_strbuf_printf(out, " linecolor '%s'", colour);
}

/* The columns of x and y; bars of one category stand side by side. */
static void add_using(const th_plot *p, int s, const char *y, th_strbuf *out)
{
    th_strbuf_printf(out, "$s%d using ", s);
    if (p->type == TH_PLOT_BAR)
        th_strbuf_printf(out, "($1 + %.6g):", (s - (p->n_series - 1) / 2.) * GROUP / p->n_series);
    else if (p->type != TH_PLOT_STACKED)
        th_strbuf_add(out, "1:");
    th_strbuf_add(out, y);
}

static void add_series(const th_plot *p, int s, th_strbuf *out)
{
    const th_plot_series *series = &p->series[s];
    if (series->join == TH_JOIN_LEVEL) {
        th_strbuf_printf(out, "%.9g with lines dashtype 2 linewidth 1.5 linecolor '%s'",
                         series->point[0].y, ink);
        add_title(out, series->name);
        return;
    }
    if (series->is_front) /* it lies behind the points, and is last in the key */
        th_strbuf_add(out, "NaN");
    else
        add_using(p, s, "2", out);
    th_strbuf_add(out, " with ");
    add_series_style(p, s, out);
    add_title(out, p->type == TH_PLOT_PARITY ? series->name : th_plot_key_name(p, s));
}

/* Values above bars, or above the axis where they are negative; names at their side of points. */
static void add_labels(const th_plot *p, int s, th_strbuf *out)
{
    const th_plot_series *series = &p->series[s];
    bool has_labels = false;
    for (size_t i = 0; i < series->n; i++)
        has_labels = has_labels || series->point[i].label;
    bool is_bar = p->type == TH_PLOT_BAR;
    if (!has_labels || p->type == TH_PLOT_STACKED ||
        (is_bar && p->n_series * p->n_categories > LABELLED_BARS))
        return;
    add_part(out);
    add_using(p, s, is_bar ? "($2 > 0 ? $2 : 0):3" : "2:3", out);
    if (is_bar)
        th_strbuf_add(out, " with labels offset 0, 0.6");
    else
        th_strbuf_printf(out, " with labels %s offset %.2g, %.2g",
                         series->x_side > 0 ? "left" : "right", 0.8 * series->x_side,
                         0.6 * series->y_side);
    th_strbuf_printf(out, " textcolor '%s' notitle", ink);
}

/* Equal, and a band around it; both axes have the same whole decades. */
static void add_equal(const th_plot *p, th_strbuf *out)
{
    double least, largest, least_y, largest_y;
    find_ends(p, false, &least, &largest);
    find_ends(p, true, &least_y, &largest_y);
    double from = pow(10, floor(log10(fmin(least, least_y)))),
           to = pow(10, ceil(log10(fmax(largest, largest_y))));
    th_strbuf_printf(out,
                     "set logscale xy\nset size ratio 1\nset xrange [%g:%g]\nset yrange [%g:%g]\n"
                     "set samples 2\nplot '+' using 1:($1 * %.6g):($1 * %.6g) with filledcurves "
                     "fillcolor '%s' title 'within %.3g %%'",
                     from, to, from, to, 1 - p->band, 1 + p->band, faint, 100 * p->band);
}

static void plot_series(const th_plot *p, th_strbuf *out)
{
    int n = p->n_series;
    if (p->type == TH_PLOT_BAR)
        th_strbuf_printf(out, "set boxwidth %.6g absolute\n", (n > 1 ? 0.92 : GROUP) * GROUP / n);
    if (p->type == TH_PLOT_STACKED)
        th_strbuf_printf(out, "set style histogram rowstacked\nset boxwidth %g\n", GROUP);
    if (p->type == TH_PLOT_PARITY)
        add_equal(p, out);
    else if (p->series[n - 1].is_front) {
        th_strbuf_printf(out, "plot $s%d using 1:2 with ", n - 1);
        add_series_style(p, n - 1, out);
        add_title(out, NULL);
    } else
        th_strbuf_add(out, "plot ");
    for (int s = 0; s < n; s++) {
        if (s > 0 || p->type == TH_PLOT_PARITY || p->series[n - 1].is_front)
            add_part(out);
        add_series(p, s, out);
    }
    for (int s = 0; s < n; s++)
        add_labels(p, s, out);
    if (p->type == TH_PLOT_PARITY)
        th_strbuf_printf(out, ", \\\n     x with lines linewidth 1 linecolor '%s' title 'equal'",
                         ink);
}

void th_plot_script(const th_plot *p, th_picture as, th_strbuf *out)
{
    layout l = lay_out(p, as == TH_PICTURE_TXT);
    add_terminal(&l, as, out);
    add_style(p, as, out);
    add_axes(p, &l, as, out);
    if (p->type == TH_PLOT_HEAT)
        plot_heat(p, out);
    else {
        add_points(p, out);
        plot_series(p, out);
    }
    th_strbuf_add(out, "\n");
}
