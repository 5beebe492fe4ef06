/* SPDX-License-Identifier: GPL-3.0-or-later */
/* accelerator_inspect.c - the state of the running tasks of accelerators, for traces and for the
 * results of a stopped run. Changes nothing. */
#include <config.h>

#include "sim/machine/accelerator_state.h"

void th_accel_report_tiles(th_machine *m, const th_accel_state *a)
{
    if (!a->observed.is_watched)
        return;
    th_tiles tiles = th_pipeline_tiles(a->pipeline, &th_accel_cost(m, a)->schedule);
    TH_NOTIFY(m->observers, tiles, m->now, th_accel_number(m, a), &tiles);
}

void th_accelerator_report_state(const th_machine *m, int accel)
{
    const th_accel_state *a = &m->accels[accel];
    if (!m->program || !a->observed.is_watched || a->mode != TH_ACCEL_STEPPED)
        return;
    th_tiles tiles = th_pipeline_tiles(a->pipeline, &th_accel_cost(m, a)->schedule);
    for (th_observer *o = m->observers; o; o = o->next)
        if (o->type->follows && o->type->tiles)
            o->type->tiles(o, m->now, accel, &tiles);
}

/* The present state of the running task's pipeline; false: no task has begun. */
static bool get_pipeline(const th_machine *m, const th_accel_state *a, th_pipeline *p)
{
    if (th_accelerator_is_free(a) || a->mode == TH_ACCEL_STARTING || a->mode == TH_ACCEL_FAILED ||
        a->mode == TH_ACCEL_DELAYED)
        return false;
    *p = *a->pipeline;
    th_accel_catch_up(m, a, p);
    return true;
}

th_pipeline_stats th_accelerator_running(const th_machine *m, int accel)
{
    const th_accel_state *a = &m->accels[accel];
    th_pipeline p;
    if (a->mode != TH_ACCEL_DELAYED)
        return get_pipeline(m, a, &p) ? p.stats : (th_pipeline_stats){0};
    p.stats = a->stats_at_end;
    p.stats.busy_ps += m->now - a->started - th_stats_occupied(&p.stats);
    return p.stats;
}

th_tiles th_accelerator_tiles(const th_machine *m, int accel)
{
    const th_accel_state *a = &m->accels[accel];
    th_pipeline p;
    return get_pipeline(m, a, &p) ? th_pipeline_tiles(&p, &th_accel_cost(m, a)->schedule)
                                  : (th_tiles){0};
}
