/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_scale.h - units and digits of printed numbers: one unit per column of a table; times,
 * sizes and energies of one table in one unit each, to be compared by eye.
 *   th_scale_of_column -> th_cell_format for every row */
#ifndef TH_RENDER_TEXT_REPORT_SCALE_H
#define TH_RENDER_TEXT_REPORT_SCALE_H
#include "session/table/report.h"

/* The format of the numbers of a column: a divisor and a number of decimals. */
typedef struct th_scale {
    const char *unit; /* "": none */
    double divisor;
    int decimals;
} th_scale;

th_scale th_scale_of_column(const th_table *t, int column);
/* A cell: its own text, or out[size]. */
const char *th_cell_format(const th_table *t, const th_quantity *q, const th_scale *scale,
                           char *out, size_t size);
/* A single value in the unit that the user has set for its kind; false: none is set, or the value
 * is absent. */
bool th_value_format(const th_report *r, const th_quantity *q, char *out, size_t size);

/* The unit for values of this kind up to the largest, "" for none, and its size. */
const char *th_kind_unit(th_kind kind, double largest, double *divisor);
/* The i-th unit of this kind, from the largest; NULL after the last. */
const char *th_kind_unit_name(th_kind kind, int i);

/* The width of a text in characters, not bytes, since names may be UTF-8. 0 for NULL. */
int th_text_width(const char *text);

#endif
