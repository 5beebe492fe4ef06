/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reroute.h - why links were slow: the flows that shared them, when, what they lost, and when the
 * run would end if they took another route. The run is simulated again with a probe, and once more
 * for each new route. */
#ifndef TH_SESSION_WHAT_IF_REROUTE_H
#define TH_SESSION_WHAT_IF_REROUTE_H
#include "session/session.h"
#include "session/table/report.h"

/* The n_links most loaded links, or this one (-1: none is named), and of each the n_flows pairs of
 * nodes whose flows lost most. The run must be done. 0 or -1. */
typedef struct th_why {
    int link, n_links;
    int64_t n_flows;
} th_why;
int th_section_why(th_session *s, th_report *r, const th_why *w, th_error *err);

#endif
