/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_table.h - the points of a study as a table of a report. */
#ifndef TH_TCL_STUDY_STUDY_TABLE_H
#define TH_TCL_STUDY_STUDY_TABLE_H
#include "study/store.h"
#include "report/table/report.h"
#include "tcl/tcl_session.h"

typedef struct th_study_selection {
    const char *where;  /* an expression of Tcl about columns; NULL: all points */
    Tcl_Interp *interp; /* what cancels it ends where */
    Tcl_Obj *columns;   /* list; NULL: those that there are */
    Tcl_Obj *pareto;    /* list of columns: the points that no other one beats; NULL: all */
    Tcl_Obj *maximize;  /* those of them of which more is better; NULL: none */
    Tcl_Obj *by; /* list of columns whose values, joined, are one more column of texts at the end */
} th_study_selection;

#define TH_STUDY_BY "by" /* the column that -by makes */

/* Columns: point, parameters, status, metrics; and, without a heading in text, seed, mapping,
 * error. A parameter whose values are all numbers, or all times, sizes or bandwidths, is a column
 * of such. 0 or -1. */
int th_study_table(th_report *r, th_store *t, const th_study_selection *what, th_table **out,
                   th_error *err);
/* Points that failed, and why. */
int th_study_failures(th_report *r, th_store *t, th_error *err);
/* Name, digest, points by state, and what was selected. */
int th_study_head(th_report *r, th_store *t, const th_study_selection *what, const th_table *table,
                  th_error *err);

#endif
