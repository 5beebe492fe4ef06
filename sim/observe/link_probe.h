/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_probe.h - an observer that counts the flows on one link over time, in at most
 * TH_PROBE_WINDOWS_MAX windows of equal length.
 *   init -> th_machine_observe -> the run -> advance(the end, 0)
 * It keeps per window the integral of the number of flows over time, and the peak. */
#ifndef TH_SIM_OBSERVE_LINK_PROBE_H
#define TH_SIM_OBSERVE_LINK_PROBE_H
#include "sim/program/observer.h"

enum { TH_PROBE_WINDOWS_MAX = 64 };

typedef struct th_probe_window {
    th_time flow_ps;    /* integral of the number of flows over the window */
    int32_t peak_flows; /* at once, even for no time between two events */
} th_probe_window;

typedef struct th_link_probe {
    th_observer observer; /* first: notify functions cast it */
    int link;
    int32_t n_windows; /* 1 .. TH_PROBE_WINDOWS_MAX */
    th_time window_ps; /* length of each, >= 1; flows after the last window are not counted */
    th_time since;     /* the number of flows has not changed since then */
    int32_t flows;
    th_probe_window windows[TH_PROBE_WINDOWS_MAX];
} th_link_probe;

/* Windows that cover [0, end]: n of them, or fewer where end is shorter than n ps. */
void th_link_probe_init(th_link_probe *p, int link, th_time end, int32_t n);
/* The number of flows changes by `change` at now. */
void th_link_probe_advance(th_link_probe *p, th_time now, int32_t change);

#endif
