/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout.h - private to report/plot/: where the parts of a picture stand. The area of the plot has
 * one size whatever stands around it, the key stands to its right, and a heat map has cells of one
 * size. */
#ifndef TH_REPORT_PLOT_LAYOUT_H
#define TH_REPORT_PLOT_LAYOUT_H
#include "report/plot/plot.h"

enum {
    TH_PIXELS_LETTER = 8,        /* pixels: width of a letter, more or less */
    TH_PIXELS_LINE = 18,         /* height of a line of text */
    TH_PIXELS_MARGIN = 24,       /* beside the area */
    TH_PLOT_LABELLED_CELLS = 20, /* up to this number of columns, heat maps show values */
};

/* Of a picture, in pixels from its left and lower edge, and its axes. */
typedef struct th_plot_layout {
    const th_plot *plot;
    int width, height;
    int left, bottom, area_width, area_height;
    bool slants_names, stands_names;
    th_plot_ticks x, y, z;
} th_plot_layout;

void th_plot_lay_out(th_plot_layout *l, const th_plot *p);
/* The distance between names of an axis that are shown, of n. */
int th_plot_name_stride(const th_plot *p, int n);
bool th_plot_is_bars(const th_plot *p);
/* The name of a series in the key; NULL: it is not there. */
const char *th_plot_key_name(const th_plot *p, int series);

#endif
