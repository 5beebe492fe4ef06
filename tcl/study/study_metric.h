/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study_metric.h - what a study keeps of a point: figures of the run that its script has made, and
 * what the script itself returns. */
#ifndef TH_TCL_STUDY_STUDY_METRIC_H
#define TH_TCL_STUDY_STUDY_METRIC_H
#include "study/store.h"
#include "report/table/quantity.h"
#include "tcl/tcl_session.h"

/* Adds a figure of the run (own_kind NULL), or one of the script's own, of a kind by name. 0 or -1.
 */
int th_study_metric_add(th_study *s, const char *name, const char *own_kind, th_error *err);

const char *th_study_metric_name(int i); /* of the run; NULL after the last */
th_kind th_study_kind(const char *name); /* TH_KIND_TEXT for names that are none */
/* A figure as it is kept, and back. Texts are not copied. */
th_figure th_study_figure(const th_quantity *q);
th_quantity th_study_quantity(const th_study_metric *m, const th_figure *f);

/* A figure of the session's finished run. 0, or -1: nothing has run, or not to its end. */
int th_study_metric_ask(th_session *s, const th_study_metric *m, th_quantity *out, th_error *err);

#endif
