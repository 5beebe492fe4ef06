/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_metric.h - the metrics of a point: figures of the run in its script, and values that the
 * script returns. */
#ifndef TH_TCL_STUDY_STUDY_METRIC_H
#define TH_TCL_STUDY_STUDY_METRIC_H
#include "study/store.h"
#include "report/table/quantity.h"
#include "tcl/tcl_session.h"

/* Adds a figure of the run (own_kind NULL), or a value of the script with the named kind. 0 or
 * -1. */
int th_study_metric_add(th_study *s, const char *name, const char *own_kind, th_error *err);

const char *th_study_metric_name(int i); /* of the run; NULL after the last */
th_kind th_study_kind(const char *name); /* TH_KIND_TEXT for unknown names */
/* Converts a stored figure, and back. Texts are not copied. */
th_figure th_study_figure(const th_quantity *q);
th_quantity th_study_quantity(const th_study_metric *m, const th_figure *f);

/* A figure of the finished run. 0, or -1: there is no run, or it has not finished. */
int th_study_metric_ask(th_session *s, const th_study_metric *m, th_quantity *out, th_error *err);

#endif
