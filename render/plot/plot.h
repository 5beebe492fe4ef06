/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plot.h - a picture of numbers: what is shown, and gnuplot that draws it.
 *   th_plot_new -> (th_plot_category | th_plot_series -> th_plot_point*)* -> th_plot_draw ->
 *   th_plot_free
 * Bars, stacks and heat maps are tables: a place for each category, a series for each colour (of a
 * heat map: for each line), and a point of every series for every category, in their order. Lines
 * and scatters have points with both coordinates. A lack of memory is sticky and shows in
 * th_plot_draw. */
#ifndef TH_RENDER_PLOT_PLOT_H
#define TH_RENDER_PLOT_PLOT_H
#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"
#include "base/strbuf.h"

typedef enum {
    TH_PLOT_BAR,
    TH_PLOT_LINE,
    TH_PLOT_SCATTER,
    TH_PLOT_STACKED,
    TH_PLOT_HEAT,
    TH_PLOT_PARITY, /* a scatter of predicted against measured, and a band around equal */
    TH_N_PLOT_TYPES
} th_plot_type;

/* How points are joined, in lines and scatters. */
typedef enum { TH_JOIN_NONE, TH_JOIN_LINE, TH_JOIN_STEPS, TH_JOIN_LEVEL } th_join;

typedef struct th_plot_point {
    double x, y;       /* y is NAN: absent */
    const char *label; /* NULL: none */
} th_plot_point;

typedef struct th_plot_series {
    const char *name; /* in the key; NULL: not there */
    th_join join;
    bool is_quiet;      /* drawn in grey */
    bool is_front;      /* a Pareto front: a thin line behind the points */
    int x_side, y_side; /* where labels stand: -1 left of the point or below, 1 right or above */
    th_plot_point *point;
    size_t n, capacity;
} th_plot_series;

typedef struct th_plot_axis {
    const char *label;
    bool is_log;
} th_plot_axis;

typedef struct th_plot {
    th_plot_type type;
    const char *what;     /* is shown, in words with units: "latency [ms] by run" */
    const char *title;    /* above the plot; NULL: none */
    bool is_titled;       /* by the user: the title may not say what is shown */
    th_plot_axis x, y, z; /* z: colours, of a heat map or what the names of the key are */
    const char **category;
    int n_categories;
    th_plot_series *series;
    int n_series;
    double band; /* of a parity plot: relative */
    bool failed;
    struct th_arena *arena; /* private, as the rest */
    size_t category_capacity, series_capacity;
} th_plot;

/* File formats, by extension. */
typedef enum {
    TH_PICTURE_SVG,
    TH_PICTURE_PNG,
    TH_PICTURE_PDF,
    TH_PICTURE_TXT,
    TH_PICTURE_SCRIPT, /* the gnuplot script for SVG */
    TH_N_PICTURES
} th_picture;

th_plot *th_plot_new(th_plot_type type); /* NULL: memory is out */
void th_plot_free(th_plot *p);           /* accepts NULL */
/* A copy that is freed with p; "" if memory is out. */
const char *th_plot_text(th_plot *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void th_plot_category(th_plot *p, const char *name);
/* Starts a series; the points that follow belong to it. */
void th_plot_series_begin(th_plot *p, const char *name, th_join join);
void th_plot_point_add(th_plot *p, double x, double y, const char *label);

/* The format of a file by its extension; -1: unknown, with the known ones in err. */
int th_picture_find(const char *path, th_error *err);
/* The plot as the bytes of a file. 0, or -1: gnuplot is missing, or failed. */
int th_plot_draw(const th_plot *p, th_picture as, th_strbuf *out, th_error *err);

/* A value as a label: three digits, or all of a whole number, with thousands set apart. */
const char *th_plot_label(double value, char *out, size_t size);
/* The name of a series in the key; NULL: it is not there. */
const char *th_plot_key_name(const th_plot *p, int series);

/* text.c: the plot for terminals, at most 80 columns; of lines and scatters the head alone, below
 * which gnuplot draws. */
void th_plot_text_draw(const th_plot *p, th_strbuf *out);
bool th_plot_is_text(const th_plot *p); /* does text.c draw all of it? */
/* script.c */
void th_plot_script(const th_plot *p, th_picture as, th_strbuf *out);
/* gnuplot.c: runs gnuplot on this script, and reads its output. 0 or -1. */
int th_gnuplot_run(const char *script, th_strbuf *out, th_error *err);
/* The same with Graphviz' dot; format: svg, png, pdf. */
int th_dot_run(const char *format, const char *script, th_strbuf *out, th_error *err);

#endif
