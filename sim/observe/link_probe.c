/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_probe.c - see link_probe.h.
 * Invariant: the integrals of all spans add up to that of the link up to `since`. */
#include <config.h>

#include "sim/observe/link_probe.h"

void th_link_watch_init(th_link_watch *w, int link, th_time end, int32_t n)
{
    th_time shortest = (end + n - 1) / n;
    *w = (th_link_watch){.link = link, .span_ps = shortest > 0 ? shortest : 1};
    w->n_spans = (int32_t)((end + w->span_ps - 1) / w->span_ps);
    if (w->n_spans < 1)
        w->n_spans = 1;
}

static void see(th_watch_span *s, int32_t flows)
{
    if (flows > s->most)
        s->most = flows;
}

void th_link_watch_advance(th_link_watch *w, th_time now, int32_t change)
{
    while (w->since < now && w->since / w->span_ps < w->n_spans) {
        th_time place = w->since / w->span_ps, end = (place + 1) * w->span_ps;
        th_time until = end < now ? end : now;
        w->spans[place].flow_ps += w->flows * (until - w->since);
        see(&w->spans[place], w->flows);
        w->since = until;
    }
    w->since = now;
    w->flows += change;
    if (now / w->span_ps < w->n_spans)
        see(&w->spans[now / w->span_ps], w->flows);
}
