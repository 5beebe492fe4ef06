/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_probe.h - how many flows are on one link as time goes on, in a bounded number of spans.
 *   init -> th_machine_watch -> the run -> advance(the end)
 * What is kept does not grow with the run: of each span the integral of the number of flows over
 * time, and the greatest number. */
#ifndef TH_SIM_OBSERVE_LINK_PROBE_H
#define TH_SIM_OBSERVE_LINK_PROBE_H
#include <stdint.h>
#include "base/units.h"

enum { TH_WATCH_SPANS_MAX = 64 };

typedef struct th_watch_span {
    th_time flow_ps; /* integral of the number of flows over the span */
    int32_t most;    /* flows at once, even for no time between two events */
} th_watch_span;

typedef struct th_link_watch {
    int link;
    int32_t n_spans; /* 1 .. TH_WATCH_SPANS_MAX */
    th_time span_ps; /* length of each, >= 1; what comes after the last belongs to none */
    th_time since;   /* flows have not changed since then */
    int32_t flows;
    th_watch_span spans[TH_WATCH_SPANS_MAX];
} th_link_watch;

/* Spans that cover [0, end]: n of them, or fewer where end is shorter than n ps. */
void th_link_watch_init(th_link_watch *w, int link, th_time end, int32_t n);
/* Up to now there were as many flows as before; from now on there are `change` more. */
void th_link_watch_advance(th_link_watch *w, th_time now, int32_t change);

#endif
