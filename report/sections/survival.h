/* SPDX-License-Identifier: GPL-3.0-or-later */
/* survival.h - what the mapping of the session loses by any one failure: its report. */
#ifndef TH_REPORT_SECTIONS_SURVIVAL_H
#define TH_REPORT_SECTIONS_SURVIVAL_H
#include "report/session/session.h"
#include "report/table/report.h"

/* By the objective of the search that found the mapping, if it has a single one, else by latency.
 * *failures: the table of them. 0 or -1. */
int th_section_survival(th_session *s, th_report *r, th_table **failures, th_error *err);

#endif
