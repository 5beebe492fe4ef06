/* SPDX-License-Identifier: GPL-3.0-or-later */
/* legend.h - what the columns of the reports mean, for -legend and for help. */
#ifndef TH_SESSION_TABLE_LEGEND_H
#define TH_SESSION_TABLE_LEGEND_H

typedef struct th_legend {
    const char *report; /* "links" of report_links */
    const char *table;  /* of the report; NULL: all of its tables */
    const char *column; /* its field in CSV, without the unit */
    const char *meaning;
} th_legend;

extern const th_legend th_legends[]; /* by report; the last has no column */

/* NULL: the column has no row here: its figure says what it means (th_column), or nothing does, as
 * of the parameters of a study. */
const char *th_legend_meaning(const char *report, const char *table, const char *column);

/* The report of the i-th table family of a command, as its legends name it: "links" of
 * report_links; NULL: after the last. */
const char *th_legend_report(const char *command, int i);

#endif
