/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.c - plots for terminals, at most 80 columns: bars, stacks and heat maps; gnuplot draws the
 * others. Bars are horizontal, so that names stay readable. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/min_max.h"
#include "render/plot/plot.h"
#include "render/text/report_scale.h"

enum { WIDTH = 80, NAME_MAX = 24, NUMBER = 8 };
static const char fills[] = "#=:~o+x%"; /* characters of series; grey ones are dots */
static const char shades[] = " .:-=+*#%@";

static char fill_of(const th_plot *p, int series)
{
    return p->series[series].is_quiet ? '.' : fills[(size_t)series % (sizeof fills - 1)];
}

static void add_times(th_strbuf *out, char c, int n)
{
    for (int i = 0; i < n; i++)
        th_strbuf_add_bytes(out, &c, 1);
}

/* The name, cut or filled up to the width. */
static void add_name(th_strbuf *out, const char *name, int width)
{
    int n = 0;
    for (; *name != '\0' && (n < width || ((unsigned char)*name & 0xC0) == 0x80); name++) {
        th_strbuf_add_bytes(out, name, 1);
        n += ((unsigned char)*name & 0xC0) != 0x80;
    }
    add_times(out, ' ', width - n);
}

/* Columns for the names of rows, or else of categories. */
static int width_of_names(const th_plot *p, bool is_rows)
{
    int width = 0;
    for (int i = 0; i < (is_rows ? p->n_series : p->n_categories); i++)
        width = th_max(width, th_text_width(is_rows ? p->series[i].name : p->category[i]));
    return th_min(width, NAME_MAX);
}

static void add_head(const th_plot *p, const char *label, th_strbuf *out)
{
    if (p->title)
        th_strbuf_printf(out, "%s\n", p->title);
    if (label && (!p->title || p->is_titled))
        th_strbuf_printf(out, "%s\n", label);
    th_strbuf_add(out, "\n");
}

/* "# busy   = stalled", where there are several, behind what they are. */
static void add_key(const th_plot *p, th_strbuf *out)
{
    if (p->n_series > 1 && p->z.label)
        th_strbuf_printf(out, "%s: ", p->z.label);
    for (int s = 0; p->n_series > 1 && s < p->n_series; s++)
        th_strbuf_printf(out, "%s%c %s", s > 0 ? "   " : "", fill_of(p, s), p->series[s].name);
    if (p->n_series > 1)
        th_strbuf_add(out, "\n\n");
}

static double largest_sum(const th_plot *p, bool is_stacked)
{
    double largest = 0;
    for (int c = 0; c < p->n_categories; c++) {
        double sum = 0;
        for (int s = 0; s < p->n_series; s++) {
            double y = p->series[s].point[c].y;
            sum = is_stacked ? sum + y : fmax(sum, y); /* fmax ignores NAN */
        }
        largest = fmax(largest, sum);
    }
    return largest;
}

static void draw_bars(const th_plot *p, th_strbuf *out)
{
    int names = width_of_names(p, false), room = WIDTH - names - 1 - NUMBER;
    double largest = largest_sum(p, false);
    for (int c = 0; c < p->n_categories; c++)
        for (int s = 0; s < p->n_series; s++) {
            const th_plot_point *point = &p->series[s].point[c];
            bool is_there = isfinite(point->y) && largest > 0;
            add_name(out, s == 0 ? p->category[c] : "", names);
            th_strbuf_add(out, " ");
            add_times(out, fill_of(p, s), is_there ? (int)lround(point->y / largest * room) : 0);
            th_strbuf_printf(out, " %s\n", point->label ? point->label : "-");
        }
}

/* Rounds sums, not parts, so that equal sums have equal lines. */
static void draw_stacks(const th_plot *p, th_strbuf *out)
{
    int names = width_of_names(p, false), room = WIDTH - names - 1;
    double largest = largest_sum(p, true);
    for (int c = 0; c < p->n_categories; c++) {
        double sum = 0;
        int drawn = 0;
        add_name(out, p->category[c], names);
        th_strbuf_add(out, " ");
        for (int s = 0; s < p->n_series && largest > 0; s++) {
            sum += isfinite(p->series[s].point[c].y) ? p->series[s].point[c].y : 0;
            int end = (int)lround(sum / largest * room);
            add_times(out, fill_of(p, s), end - drawn);
            drawn = end > drawn ? end : drawn;
        }
        th_strbuf_add(out, "\n");
    }
}

/* ---- heat ---- */

static char shade_of(double y, double largest)
{
    enum { DARKEST = sizeof shades - 2 };
    if (!isfinite(y))
        return ' ';
    int shade = largest > 0 ? (int)ceil(y / largest * DARKEST) : 0;
    return shades[shade < 1 ? 1 : shade];
}

/* Names of columns, from top to bottom. */
static void add_columns(const th_plot *p, int names, int cell, th_strbuf *out)
{
    int height = width_of_names(p, false);
    for (int line = 0; line < height; line++) {
        add_times(out, ' ', names + 1);
        for (int c = 0; c < p->n_categories; c++) {
            int length = (int)strlen(p->category[c]), at = line - (height - length);
            char letter = at >= 0 && at < length ? p->category[c][at] : ' ';
            add_times(out, letter, 1);
            add_times(out, ' ', cell - 1);
        }
        th_strbuf_add(out, "\n");
    }
}

static void draw_heat(const th_plot *p, th_strbuf *out)
{
    int names = width_of_names(p, true), cell = 2 * p->n_categories + names < WIDTH ? 2 : 1;
    double largest = 0;
    for (int s = 0; s < p->n_series; s++)
        for (int c = 0; c < p->n_categories; c++)
            largest = fmax(largest, p->series[s].point[c].y);
    add_columns(p, names, cell, out);
    for (int s = 0; s < p->n_series; s++) {
        add_name(out, p->series[s].name, names);
        th_strbuf_add(out, " ");
        for (int c = 0; c < p->n_categories; c++)
            add_times(out, shade_of(p->series[s].point[c].y, largest), cell);
        th_strbuf_add(out, "\n");
    }
    th_strbuf_printf(out, "\n%s at the left, %s above; %s is 0 to %.3g: \"%s\"\n", p->y.label,
                     p->x.label, p->z.label, largest, shades + 1);
}

bool th_plot_is_text(const th_plot *p)
{
    return p->type == TH_PLOT_BAR || p->type == TH_PLOT_STACKED || p->type == TH_PLOT_HEAT;
}

void th_plot_text_draw(const th_plot *p, th_strbuf *out)
{
    bool is_bars = p->type == TH_PLOT_BAR || p->type == TH_PLOT_STACKED;
    add_head(p, is_bars ? p->y.label : NULL, out);
    if (is_bars)
        add_key(p, out);
    switch (p->type) {
    case TH_PLOT_BAR:
        draw_bars(p, out);
        break;
    case TH_PLOT_STACKED:
        draw_stacks(p, out);
        break;
    case TH_PLOT_HEAT:
        draw_heat(p, out);
        break;
    case TH_PLOT_LINE:
    case TH_PLOT_SCATTER:
    case TH_PLOT_PARITY:
    case TH_N_PLOT_TYPES:
        break;
    }
}
