/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_probe.c - see link_probe.h.
 * Invariant: the integrals of all windows add up to that of the link up to `since`. */
#include <config.h>

#include "sim/observe/link_probe.h"

static void link_changes(th_observer *o, th_time now, int link, int32_t flows, int32_t change)
{
    th_link_probe *p = (th_link_probe *)o;
    (void)flows;
    if (link == p->link)
        th_link_probe_advance(p, now, change);
}

void th_link_probe_init(th_link_probe *p, int link, th_time end, int32_t n)
{
    static const th_observer_type type = {.link = link_changes};
    th_time shortest = (end + n - 1) / n;
    *p = (th_link_probe){
        .observer.type = &type, .link = link, .window_ps = shortest > 0 ? shortest : 1};
    p->n_windows = (int32_t)((end + p->window_ps - 1) / p->window_ps);
    if (p->n_windows < 1)
        p->n_windows = 1;
}

static void update_peak(th_probe_window *s, int32_t flows)
{
    if (flows > s->peak_flows)
        s->peak_flows = flows;
}

void th_link_probe_advance(th_link_probe *p, th_time now, int32_t change)
{
    while (p->since < now && p->since / p->window_ps < p->n_windows) {
        th_time i = p->since / p->window_ps, end = (i + 1) * p->window_ps;
        th_time until = end < now ? end : now;
        p->windows[i].flow_ps += p->flows * (until - p->since);
        update_peak(&p->windows[i], p->flows);
        p->since = until;
    }
    p->since = now;
    p->flows += change;
    if (now / p->window_ps < p->n_windows)
        update_peak(&p->windows[now / p->window_ps], p->flows);
}
