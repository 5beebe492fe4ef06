/* SPDX-License-Identifier: GPL-3.0-or-later */
/* windows.c - the time of accelerators and links, in windows of time.
 *   repeat the run from 0, with its property events -> stop at every edge -> subtract snapshots
 * Nothing is recorded during the run itself. A stop changes nothing, so the windows add up to the
 * run. */
#include <config.h>
#include "base/alloc.h"
#include "session/property_events.h"
#include "session/sections/sections.h"

/* All counters at one edge. */
typedef struct snapshot {
    th_accel_result *accels;
    th_link_result *links;
} snapshot;

typedef struct windows {
    th_session *session;
    th_simulation *again;
    size_t next_change; /* index of the session's event to apply next */
    const th_windows *asked;
    snapshot before, now;
    th_table *accels, *links;
} windows;

static void clear(windows *w)
{
    th_simulation_free(w->again);
    th_free(w->before.accels);
    th_free(w->before.links);
    th_free(w->now.accels);
    th_free(w->now.links);
}

static int make_snapshot(const th_system *s, snapshot *x)
{
    x->accels = th_alloc_zero((size_t)s->n_accels + 1, sizeof *x->accels);
    x->links = th_alloc_zero((size_t)s->n_links + 1, sizeof *x->links);
    return x->accels && x->links ? 0 : -1;
}

static void take_snapshot(windows *w, snapshot *x)
{
    const th_system *s = w->session->system;
    for (int a = 0; a < s->n_accels; a++)
        x->accels[a] = th_machine_accel(w->again->machine, a);
    for (int l = 0; l < s->n_links; l++)
        x->links[l] = th_machine_link(w->again->machine, l);
}

static int replay_to(windows *w, th_time t, th_error *err)
{
    return th_property_events_replay(w->session, w->again, &w->next_change, t, err);
}

/* ---- rows ---- */

static void add_accel(windows *w, th_time from, th_time to, int accel)
{
    const th_accel_result *a = &w->before.accels[accel], *b = &w->now.accels[accel];
    const th_system *s = w->session->system;
    th_time busy = b->stats.busy_ps - a->stats.busy_ps;
    th_time in = th_stats_stall_in(&b->stats) - th_stats_stall_in(&a->stats);
    th_time out = b->stats.stall_ps[TH_ENGINE_OUTPUT] - a->stats.stall_ps[TH_ENGINE_OUTPUT];
    th_table_row(w->accels,
                 (th_quantity[]){th_ps(from), th_ps(to),
                                 th_text(s->nodes[s->accel_node[accel]].name),
                                 th_share((double)busy / (double)(to - from)), th_ps(busy),
                                 th_ps(in), th_ps(out), th_ps(to - from - busy - in - out)});
}

static void add_link(windows *w, th_time from, th_time to, int link)
{
    const th_link_result *a = &w->before.links[link], *b = &w->now.links[link];
    th_time busy = b->busy_ps - a->busy_ps;
    th_table_row(w->links,
                 (th_quantity[]){th_ps(from), th_ps(to),
                                 th_text(w->session->system->links[link].name),
                                 th_share((double)busy / (double)(to - from)), th_ps(busy),
                                 th_ps(to - from - busy),
                                 th_mean((double)(b->flow_ps - a->flow_ps) / (double)(to - from))});
}

static void add_window(windows *w, th_time from, th_time to)
{
    const th_system *s = w->session->system;
    for (int a = 0; a < s->n_accels; a++)
        if (w->asked->accels[a])
            add_accel(w, from, to, a);
    for (int l = 0; l < s->n_links; l++)
        if (w->asked->links[l] &&
            (!w->asked->used_links || w->now.links[l].busy_ps > w->before.links[l].busy_ps))
            add_link(w, from, to, l);
}

static void swap(windows *w)
{
    snapshot old = w->before;
    w->before = w->now;
    w->now = old;
}

/* The beginning of window i, and the end of the one before. */
static th_time edge_of(const th_windows *x, int64_t i)
{
    if (x->length > 0)
        return i < x->n ? x->from + i * x->length : x->to;
    return x->from + (th_time)((__int128)(x->to - x->from) * i / x->n);
}

static int walk(windows *w, th_error *err)
{
    const th_windows *x = w->asked;
    th_time from = x->from;
    if (replay_to(w, from, err) != 0)
        return -1;
    take_snapshot(w, &w->before);
    for (int64_t i = 1; i <= x->n; i++) {
        th_time to = edge_of(x, i);
        if (replay_to(w, to, err) != 0)
            return -1;
        take_snapshot(w, &w->now);
        add_window(w, from, to);
        swap(w);
        from = to;
    }
    return 0;
}

int th_section_windows(th_session *s, th_report *r, const th_windows *asked, th_error *err)
{
    static const th_column of_accels[] = {
        {"from", "from", TH_KIND_TIME},
        {"to", "to", TH_KIND_TIME},
        {"accel", "accelerator", TH_KIND_TEXT},
        {"utilization", "busy", TH_KIND_SHARE},
        {"busy", "busy", TH_KIND_TIME},
        {"stall_in", "stall in", TH_KIND_TIME},
        {"stall_out", "stall out", TH_KIND_TIME},
        {"idle", "idle", TH_KIND_TIME},
        {NULL, NULL, TH_KIND_TEXT},
    };
    static const th_column of_links[] = {
        {"from", "from", TH_KIND_TIME},        {"to", "to", TH_KIND_TIME},
        {"link", "link", TH_KIND_TEXT},        {"utilization", "busy", TH_KIND_SHARE},
        {"busy", "busy", TH_KIND_TIME},        {"idle", "idle", TH_KIND_TIME},
        {"mean_flows", "flows", TH_KIND_MEAN}, {NULL, NULL, TH_KIND_TEXT},
    };
    windows w = {.session = s, .asked = asked};
    w.accels = th_report_table(r, "accelerators", "Accelerators", of_accels);
    w.links =
        th_report_table(r, "links", asked->used_links ? "Links that were used" : "Links", of_links);
    th_table_note(w.links, "mean_flows", "flows: their mean over the window");
    w.again = th_session_new_simulation(s, &s->simulation->options, err);
    int failed = w.again ? 0 : -1;
    if (!failed &&
        (make_snapshot(s->system, &w.before) != 0 || make_snapshot(s->system, &w.now) != 0))
        failed = th_error_no_memory(err);
    if (!failed)
        failed = walk(&w, err);
    clear(&w);
    return failed;
}
