/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout.c - see layout.h.
 *   th_plot_lay_out: cells of a heat map -> axes -> names below -> key or scale beside */
#include <config.h>
#include <math.h>
#include "report/plot/layout.h"
#include "report/table/report_scale.h"

enum {
    TICKS = 8,      /* about this number of ticks */
    NAMES_MAX = 30, /* of more categories only some have names */
    HEAT_NAMES_MAX = 48
};

/* Pixels. */
enum {
    AREA_WIDTH = 740,
    AREA_HEIGHT = 400,
    SQUARE = 520,    /* the area of a parity plot */
    TITLE = 52,      /* above the area */
    KEY_SAMPLE = 64, /* of the key, beside its names */
    COLOURBOX = 120,
    CELL_MIN = 12,
    HEAT_HEIGHT_MIN = 110,
    CELL_HEIGHT = 30,
    CELL_WIDTH = 52
};

/* Above the largest value, for its marker or its label. */
static const double ROOM = 0.03;

bool th_plot_is_bars(const th_plot *p)
{
    return p->type == TH_PLOT_BAR || p->type == TH_PLOT_STACKED;
}

const char *th_plot_key_name(const th_plot *p, int s)
{
    return p->n_series > 1 || p->type == TH_PLOT_STACKED ? p->series[s].name : NULL;
}

static int longest_name(const th_plot *p)
{
    int longest = 0;
    for (int i = 0; i < p->n_series; i++)
        if (th_text_width(p->series[i].name) > longest)
            longest = th_text_width(p->series[i].name);
    return longest;
}

static int longest_tick(const th_plot_ticks *t)
{
    int longest = 0;
    for (int i = 0; i < t->n; i++)
        if (th_text_width(t->text[i]) > longest)
            longest = th_text_width(t->text[i]);
    return longest;
}

int th_plot_name_stride(const th_plot *p, int n)
{
    int most = p->type == TH_PLOT_HEAT ? HEAT_NAMES_MAX : NAMES_MAX;
    return (n + most - 1) / most;
}

static int longest_category(const th_plot *p)
{
    int longest = 0;
    for (int i = 0; i < p->n_categories; i += th_plot_name_stride(p, p->n_categories))
        if (th_text_width(p->category[i]) > longest)
            longest = th_text_width(p->category[i]);
    return longest;
}

static double largest_sum(const th_plot *p)
{
    double largest = 0;
    for (int c = 0; c < p->n_categories; c++) {
        double sum = 0;
        for (int s = 0; s < p->n_series; s++)
            sum += isfinite(p->series[s].point[c].y) ? p->series[s].point[c].y : 0;
        largest = fmax(largest, sum);
    }
    return largest;
}

/* Bars begin at 0, and heat at 0 or near its least value. */
static void find_axes(th_plot_layout *l)
{
    const th_plot *p = l->plot;
    double least, largest;
    th_plot_ends(p, true, &least, &largest);
    if (p->type == TH_PLOT_STACKED)
        largest = largest_sum(p);
    if (th_plot_is_bars(p) && !p->y.is_log)
        least = fmin(least, 0);
    if (p->type == TH_PLOT_HEAT)
        th_plot_axis_find(least, largest, false, l->area_height / (2 * TH_PIXELS_LINE) + 1, &l->z);
    if (p->type == TH_PLOT_BAR || p->type == TH_PLOT_LINE || p->type == TH_PLOT_SCATTER)
        largest += ROOM * (largest - least);
    th_plot_axis_find(least, largest, p->y.is_log, TICKS, &l->y);
    th_plot_ends(p, false, &least, &largest);
    if (p->type == TH_PLOT_PARITY) {
        double least_y, largest_y;
        th_plot_ends(p, true, &least_y, &largest_y);
        least = fmin(least, least_y);
        largest = fmax(largest, largest_y);
    }
    th_plot_axis_find(least, largest, p->x.is_log, TICKS, &l->x);
    if (p->type == TH_PLOT_PARITY)
        l->y = l->x;
    /* the way of a search ends with its last evaluation */
    if (p->n_series > 0 && p->series[0].join == TH_JOIN_STEPS && !p->series[0].is_front)
        l->x.to = largest;
}

static void lay_out_names(th_plot_layout *l)
{
    const th_plot *p = l->plot;
    int longest = longest_category(p), n = p->n_categories;
    double room = n > 0 ? (double)l->area_width / n * th_plot_name_stride(p, n) : 0;
    bool fits = (longest + 1) * TH_PIXELS_LETTER <= room;
    l->slants_names = n > 0 && !fits && p->type != TH_PLOT_HEAT;
    l->stands_names = n > 0 && !fits && p->type == TH_PLOT_HEAT;
    l->bottom = (p->x.label ? 2 * TH_PIXELS_LINE : 0) + TH_PIXELS_LINE;
    l->bottom += l->stands_names   ? longest * TH_PIXELS_LETTER
                 : l->slants_names ? 2 * longest * TH_PIXELS_LETTER / 3 + TH_PIXELS_LINE / 2
                                   : TH_PIXELS_LINE;
}

/* Cells of one size; wider ones where the title needs the room. */
static void lay_out_cells(th_plot_layout *l)
{
    const th_plot *p = l->plot;
    int columns = p->n_categories, rows = p->n_series;
    int width = columns <= TH_PLOT_LABELLED_CELLS ? CELL_WIDTH : AREA_WIDTH / columns;
    int height = rows <= TH_PLOT_LABELLED_CELLS ? CELL_HEIGHT : SQUARE / rows;
    l->area_width = columns * (width > CELL_MIN ? width : CELL_MIN);
    l->area_height = rows * (height > CELL_MIN ? height : CELL_MIN);
    int title = th_text_width(p->title) * TH_PIXELS_LETTER - l->left - COLOURBOX;
    if (title > AREA_WIDTH)
        title = AREA_WIDTH;
    if (l->area_width < title)
        l->area_width = title;
    if (l->area_height < HEAT_HEIGHT_MIN)
        l->area_height = HEAT_HEIGHT_MIN;
}

static int right_of(const th_plot_layout *l)
{
    const th_plot *p = l->plot;
    bool has_key = p->type == TH_PLOT_PARITY;
    for (int s = 0; s < p->n_series; s++)
        has_key = has_key || th_plot_key_name(p, s);
    return p->type == TH_PLOT_HEAT ? COLOURBOX
           : has_key               ? KEY_SAMPLE + longest_name(p) * TH_PIXELS_LETTER
                                   : TH_PIXELS_MARGIN;
}

void th_plot_lay_out(th_plot_layout *l, const th_plot *p)
{
    bool is_heat = p->type == TH_PLOT_HEAT, is_square = p->type == TH_PLOT_PARITY;
    *l = (th_plot_layout){.plot = p,
                          .area_width = is_square ? SQUARE : AREA_WIDTH,
                          .area_height = is_square ? SQUARE : AREA_HEIGHT};
    l->left = 3 * TH_PIXELS_LINE + (is_heat ? longest_name(p) + 1 : 0) * TH_PIXELS_LETTER;
    if (is_heat)
        lay_out_cells(l);
    find_axes(l);
    lay_out_names(l);
    l->left += (is_heat ? 0 : longest_tick(&l->y) * TH_PIXELS_LETTER) +
               (l->slants_names ? TH_PIXELS_MARGIN : 0);
    l->width = l->left + l->area_width + right_of(l);
    l->height = l->bottom + l->area_height + TITLE;
}
