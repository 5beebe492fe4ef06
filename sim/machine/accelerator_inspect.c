/* SPDX-License-Identifier: GPL-3.0-or-later */
/* accelerator_inspect.c - what a task is doing: for traces, and for accounts of a run that has
 * stopped. It changes nothing. */
#include <config.h>

#include "sim/machine/accelerator_state.h"

void th_accel_report_tiles(th_machine *m, const th_accel_state *a)
{
    th_tiles tiles = th_pipeline_tiles(&a->pipeline, &th_accel_cost(m, a)->schedule);
    TH_NOTIFY(m->observers, tiles, m->now, th_accel_number(m, a), &tiles);
}

static void show_from(const th_machine *m, const th_accel_state *a, const th_pipeline *p,
                      const uint64_t *digest)
{
    const th_compute_cost *w = th_accel_cost(m, a);
    th_tile_source source = {.started = a->started,
                             .schedule = &w->schedule,
                             .port = &w->port,
                             .from = p,
                             .digest = digest};
    TH_NOTIFY(m->observers, follow, m->now, th_accel_number(m, a), &source);
}

/* A trace follows the task, which is not stepped, from *p on, where it stands now. */
void th_accel_report_from(const th_machine *m, const th_accel_state *a, const th_pipeline *p)
{
    show_from(m, a, p, NULL);
}

/* Nobody has drawn yet: the digest of the history is that of the start. */
void th_accel_report_from_start(const th_machine *m, th_accel_state *a)
{
    th_pipeline p;
    th_history_begin(m, a);
    bool prefetches = m->prefetch.is_used && th_prefetch_is_on(m, th_accel_number(m, a));
    if (prefetches)
        th_accel_start_pipeline(m, a, &p, &(th_pipeline_options){0});
    show_from(m, a, prefetches ? &p : NULL, a->history.digest);
}

/* The pipeline of the running task as it stands now; false: there is no task, or it has not begun.
 */
static bool look_at_pipeline(const th_machine *m, const th_accel_state *a, th_pipeline *p)
{
    if (th_accelerator_is_free(a) || a->mode == TH_ACCEL_STARTING || a->mode == TH_ACCEL_FAILED)
        return false;
    const th_compute_cost *w = th_accel_cost(m, a);
    *p = a->pipeline;
    if (a->mode == TH_ACCEL_COLLAPSED)
        th_pipeline_start(p, &w->schedule, &w->port, 0, true);
    else if (a->mode == TH_ACCEL_EXPANDED)
        th_history_apply(m, a, p, a->history.n_applied, true);
    th_pipeline_advance(p, &w->schedule, &w->port, m->now - a->started);
    return true;
}

void th_accelerator_trace(th_machine *m, int accel, bool is_traced)
{
    th_accel_state *a = &m->accels[accel];
    th_pipeline p;
    bool goes_on = a->mode == TH_ACCEL_COLLAPSED || a->mode == TH_ACCEL_EXPANDED;
    a->is_traced = is_traced;
    if (!is_traced || !m->program)
        return;
    if (goes_on && look_at_pipeline(m, a, &p))
        th_accel_report_from(m, a, &p);
    else if (a->mode == TH_ACCEL_STEPPED)
        th_accel_report_tiles(m, a);
}

th_pipeline_stats th_accelerator_running(const th_machine *m, int accel)
{
    th_pipeline p;
    return look_at_pipeline(m, &m->accels[accel], &p) ? p.stats : (th_pipeline_stats){0};
}

th_tiles th_accelerator_tiles(const th_machine *m, int accel)
{
    const th_accel_state *a = &m->accels[accel];
    th_pipeline p;
    return look_at_pipeline(m, a, &p) ? th_pipeline_tiles(&p, &th_accel_cost(m, a)->schedule)
                                      : (th_tiles){0};
}
