/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_what_if.h - what would have to change for a shorter makespan to be possible. */
#ifndef TH_REPORT_WHAT_IF_BOUNDS_WHAT_IF_H
#define TH_REPORT_WHAT_IF_BOUNDS_WHAT_IF_H
#include "report/session/session.h"
#include "report/table/report.h"

/* A table of the largest bound as it is and after each change: links of twice the bandwidth, or
 * without latency; twice the bandwidth of DRAMs; twice the clock; one accelerator more. 0 or -1. */
int th_section_bounds_what_if(th_session *s, th_report *r, th_error *err);

#endif
