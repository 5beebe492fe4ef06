/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_table.h - the points of a study as a table of a report. */
#ifndef TH_TCL_STUDY_STUDY_TABLE_H
#define TH_TCL_STUDY_STUDY_TABLE_H
#include "study/store.h"
#include "report/table/report.h"
#include "tcl/tcl_session.h"

typedef struct th_study_selection {
    const char *where;  /* an expression of Tcl about columns; NULL: all points */
    Tcl_Interp *interp; /* cancelling it ends where */
    Tcl_Obj *columns;   /* list of columns; NULL: all */
    Tcl_Obj *pareto;    /* list of columns: only points that no other dominates; NULL: all */
    Tcl_Obj *maximize;  /* those where more is better; NULL: none */
    Tcl_Obj *by;        /* list of columns: a last column joins their values */
} th_study_selection;

#define TH_STUDY_BY "by" /* the column that -by makes */

/* Columns: point, parameters, status, metrics; CSV and JSON also have seed, mapping, error. A
 * parameter whose values are all numbers, times, sizes or bandwidths is a column of that kind. 0 or
 * -1. */
int th_study_table(th_report *r, th_store *t, const th_study_selection *what, th_table **out,
                   th_error *err);
/* Failed points and their errors. */
int th_study_failures(th_report *r, th_store *t, th_error *err);
/* Name, digest, points by state, and the selection. */
int th_study_head(th_report *r, th_store *t, const th_study_selection *what, const th_table *table,
                  th_error *err);

#endif
