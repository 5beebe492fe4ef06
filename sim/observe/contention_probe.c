/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contention_probe.c - see contention_probe.h.
 * Invariant: the windows of a link add up to the integral of its flows up to `since`. */
#include <config.h>

#include "sim/observe/contention_probe.h"

#include "base/alloc.h"
#include "base/integer.h"
#include "base/min_max.h"
#include "topology/routing/route.h"

/* ---- links ---- */

static void update_peak(th_probe_window *w, int32_t flows)
{
    w->peak_flows = th_max(w->peak_flows, flows);
}

/* Adds the time since the last change to the windows; from now on there are so many flows. */
static void advance(th_contention_probe *p, th_watched_link *l, th_time now, int32_t flows)
{
    th_probe_window *windows = p->windows + (size_t)(l - p->links) * (size_t)p->n_windows;
    while (l->since < now && l->since / p->window_ps < p->n_windows) {
        th_time i = l->since / p->window_ps, until = th_min((i + 1) * p->window_ps, now);
        windows[i].flow_ps += (double)l->flows * (double)(until - l->since);
        update_peak(&windows[i], l->flows);
        l->since = until;
    }
    l->since = now;
    l->flows = flows;
    if (now / p->window_ps < p->n_windows)
        update_peak(&windows[now / p->window_ps], flows);
}

static void end_sharing(th_watched_link *l, th_time now)
{
    l->shared_ps += now - l->shared_since;
    if (now - l->shared_since > l->longest_to - l->longest_from) {
        l->longest_from = l->shared_since;
        l->longest_to = now;
    }
    l->shared_since = -1;
}

static void link_changes(th_observer *o, th_time now, int link, int32_t flows, int32_t change)
{
    th_contention_probe *p = (th_contention_probe *)o;
    (void)change;
    if (p->place[link] < 0)
        return;
    th_watched_link *l = &p->links[p->place[link]];
    advance(p, l, now, flows);
    if (flows > l->peak_flows)
        l->peak_flows = flows;
    if (flows > 1 && l->shared_since < 0)
        l->shared_since = now;
    else if (flows < 2 && l->shared_since >= 0)
        end_sharing(l, now);
}

/* ---- flows ---- */

static void begin(th_contention_probe *p, th_time now, int32_t number)
{
    if (th_grow(&p->started, &p->started_capacity, (size_t)number + 1, sizeof *p->started))
        p->failed = true;
    else
        p->started[number] = now;
}

static th_watched_pair *find_pair(const th_contention_probe *p, int32_t from, int32_t to)
{
    int32_t pair[] = {from, to};
    int64_t place;
    return th_map_get(p->pair_places, pair, sizeof pair, &place) ? &p->pairs[place] : NULL;
}

static void end(th_contention_probe *p, th_time now, int32_t number, const th_message *m)
{
    th_watched_pair *pair = find_pair(p, m->src, m->dst);
    th_route_summary route;
    if (!pair || (size_t)number >= p->started_capacity)
        return;
    if (th_route_of_message(p->system, m->src, m->dst, m->bytes, &route)) {
        p->failed = true;
        return;
    }
    th_time alone_ps = th_time_add(th_time_add(m->delay_ps, route.latency_ps),
                                   th_duration_ps(th_message_padded(m), route.bits_per_s));
    th_time lost_ps = now - p->started[number] - alone_ps;
    pair->n_flows++;
    pair->lost_ps += lost_ps > 0 ? lost_ps : 0;
}

static th_message message_of(const th_task *t)
{
    return (th_message){.src = t->node, .dst = t->peer, .bytes = t->bytes, .delay_ps = t->delay_ps};
}

static void task_start(th_observer *o, th_time now, int32_t task)
{
    th_contention_probe *p = (th_contention_probe *)o;
    const th_task *t = &p->program->tasks[task];
    if (t->kind == TH_TASK_TRANSFER && find_pair(p, t->node, t->peer))
        begin(p, now, task);
}

static void task_end(th_observer *o, th_time now, int32_t task)
{
    th_contention_probe *p = (th_contention_probe *)o;
    const th_task *t = &p->program->tasks[task];
    th_message m = message_of(t);
    if (t->kind == TH_TASK_TRANSFER)
        end(p, now, task, &m);
}

static void message_start(th_observer *o, th_time now, int32_t task, int32_t flow,
                          const th_message *m)
{
    (void)task;
    th_contention_probe *p = (th_contention_probe *)o;
    if (find_pair(p, m->src, m->dst))
        begin(p, now, flow);
}

static void message_end(th_observer *o, th_time now, int32_t flow, const th_message *m)
{
    end((th_contention_probe *)o, now, flow, m);
}

/* ---- life ---- */

int th_contention_probe_init(th_contention_probe *p, const th_system *s, const th_program *program,
                             th_time end, int32_t n)
{
    static const th_observer_type type = {.link = link_changes,
                                          .task_start = task_start,
                                          .task_end = task_end,
                                          .message_start = message_start,
                                          .message_end = message_end};
    th_time shortest = th_ceil_div(end, n);
    *p = (th_contention_probe){.observer.type = &type,
                               .system = s,
                               .program = program,
                               .window_ps = shortest > 0 ? shortest : 1};
    p->n_windows = (int32_t)(th_ceil_div(end, p->window_ps));
    if (p->n_windows < 1)
        p->n_windows = 1;
    p->place = th_alloc_array((size_t)s->n_links + 1, sizeof *p->place);
    p->pair_places = th_map_new();
    for (int l = 0; p->place && l < s->n_links; l++)
        p->place[l] = -1;
    return p->place && p->pair_places ? 0 : -1;
}

int th_contention_probe_watch_link(th_contention_probe *p, int link)
{
    size_t n = p->n_links, cells = (size_t)p->n_windows;
    if (p->place[link] >= 0)
        return 0;
    if (th_grow(&p->links, &p->links_capacity, n + 1, sizeof *p->links) ||
        th_grow(&p->windows, &p->windows_capacity, (n + 1) * cells, sizeof *p->windows))
        return -1;
    p->links[n] = (th_watched_link){.link = link, .shared_since = -1};
    for (size_t i = 0; i < cells; i++)
        p->windows[n * cells + i] = (th_probe_window){0};
    p->place[link] = (int32_t)p->n_links++;
    return 0;
}

int th_contention_probe_watch_pair(th_contention_probe *p, int32_t from, int32_t to)
{
    int32_t pair[] = {from, to};
    if (find_pair(p, from, to))
        return 0;
    if (th_grow(&p->pairs, &p->pairs_capacity, p->n_pairs + 1, sizeof *p->pairs) ||
        th_map_put(p->pair_places, pair, sizeof pair, (int64_t)p->n_pairs))
        return -1;
    p->pairs[p->n_pairs++] = (th_watched_pair){.from = from, .to = to};
    return 0;
}

const th_probe_window *th_contention_probe_windows(const th_contention_probe *p, int link)
{
    return p->windows + (size_t)p->place[link] * (size_t)p->n_windows;
}

const th_watched_pair *th_contention_probe_pair(const th_contention_probe *p, int32_t from,
                                                int32_t to)
{
    return find_pair(p, from, to);
}

int th_contention_probe_finish(th_contention_probe *p, th_time end)
{
    for (size_t i = 0; i < p->n_links; i++) {
        advance(p, &p->links[i], end, p->links[i].flows);
        if (p->links[i].shared_since >= 0)
            end_sharing(&p->links[i], end);
    }
    return p->failed ? -1 : 0;
}

void th_contention_probe_clear(th_contention_probe *p)
{
    th_free(p->place);
    th_free(p->links);
    th_free(p->windows);
    th_map_free(p->pair_places);
    th_free(p->pairs);
    th_free(p->started);
}
