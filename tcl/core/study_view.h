/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_view.h - a study for pages: what lib/study_report.tcl knows of it. */
#ifndef TH_TCL_CORE_STUDY_VIEW_H
#define TH_TCL_CORE_STUDY_VIEW_H
#include "report/table/report.h"
#include "study/study.h"
#include "tcl/command.h"

typedef struct th_study_view {
    th_report *report; /* its first table has a row for each point; owns all of the study */
    th_study study;
} th_study_view;

/* core_study.c: the i-th figure of a run that a study can record; NULL after the last. */
const char *th_study_metric_name(int i);

/* 0, or -1 with the call's error; the report is the caller's to free in both cases. */
int th_study_view_make(th_call *c, const char *name, th_study_view *out);

#endif
