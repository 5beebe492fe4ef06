/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dead_end.c - why a run cannot go on although tasks are left: a dead accelerator or a link that is
 * down and that work waits for, a deadlock of a collective, the end of simulated time, or
 * predecessors that never end; the first of these that holds is reported. */
#include <config.h>

#include "sim/machine/machine_state.h"

#include <stdio.h>

/* The lowest task that sends from src to dst now, or is a collective and runs; -1: none. */
static int32_t sending_task(const th_machine *m, int src, int dst)
{
    for (int32_t t = 0; t < m->program->n_tasks; t++) {
        const th_task *task = &m->program->tasks[t];
        bool runs = m->tasks.times[t].start_ps >= 0 && m->tasks.times[t].end_ps < 0;
        if (runs && (task->kind == TH_TASK_COLLECTIVE ||
                     (task->kind == TH_TASK_TRANSFER && task->node == src && task->peer == dst)))
            return t;
    }
    return -1;
}

/* " since 40.5us" */
static const char *since(const th_machine *m, th_property_kind kind, int object, char *out,
                         size_t size)
{
    char text[32];
    th_time at = th_property_fails_since(m, kind, object);
    snprintf(out, size, " since %s", th_format_time(at, text, sizeof text));
    return out;
}

/* Transfers on a link that is down wait for it; where routes avoid it, they have no other. */
static int report_link(const th_machine *m, int link, th_error *err)
{
    const th_system *s = m->system;
    int src, dst;
    char when[48];
    since(m, TH_PROPERTY_BANDWIDTH, link, when, sizeof when);
    if (!th_detours_crosses(&m->network->detours, s, &link, 1) ||
        !m->network->type->transfer_on(m->network, link, &src, &dst))
        return th_error_set(err, "SIM-0224",
                            "link/%s is down%s: what is on it cannot arrive, unless inject_fault "
                            "-reroute_after finds another route",
                            s->links[link].name, when);
    return th_error_set(
        err, "SIM-0225",
        "link/%s is down%s, and no other route leads from node/%s to node/%s: task/%d "
        "cannot end",
        s->links[link].name, when, s->nodes[src].name, s->nodes[dst].name,
        sending_task(m, src, dst));
}

/* Reports a failed accelerator or link that work waits for. -1, or 0 if there is none. */
static int report_failure(const th_machine *m, th_error *err)
{
    char when[48];
    for (int a = 0; m->properties.frequency_factor && a < m->system->n_accels; a++)
        if (m->properties.frequency_factor[a] == 0 &&
            (m->accels[a].task >= 0 || m->accels[a].ready.n > 0))
            return th_error_set(err, "SIM-0223", "accel/%s is dead%s: task/%d cannot end",
                                m->system->nodes[m->system->accel_node[a]].name,
                                since(m, TH_PROPERTY_FREQUENCY, a, when, sizeof when),
                                m->accels[a].task >= 0 ? m->accels[a].task
                                                       : th_ready_queue_peek(&m->accels[a].ready));
    int link = th_machine_awaited_link(m);
    return link >= 0 ? report_link(m, link, err) : 0;
}

/* It runs, or waits for its release alone. */
static bool is_under_way(const th_machine *m, int32_t t)
{
    bool is_released = m->program->tasks[t].release_ps <= m->now;
    return m->tasks.times[t].start_ps >= 0 || (m->tasks.waiting[t] == 0 && !is_released);
}

int th_machine_report_time_limit(const th_machine *m, th_error *err)
{
    for (int32_t t = 0; t < m->program->n_tasks; t++)
        if (m->tasks.times[t].end_ps < 0 && is_under_way(m, t))
            return th_error_set(err, "SIM-0012",
                                "task/%d (layer %d, input %d) would not end within 2^63 ps (106 "
                                "days), where simulated time ends",
                                t, m->program->tasks[t].layer, m->program->tasks[t].input);
    return 0;
}

th_stop th_machine_report_dead_end(const th_machine *m, th_error *err)
{
    if (report_failure(m, err) || th_replay_report_deadlock(m->replay, err) ||
        th_machine_report_time_limit(m, err))
        return TH_STOP_ERROR;
    int32_t t = 0;
    while (m->tasks.times[t].end_ps >= 0)
        t++;
    th_error_set(
        err, "SIM-0006",
        "task/%d (layer %d, input %d) can never run: %d of its predecessors have not ended", t,
        m->program->tasks[t].layer, m->program->tasks[t].input, m->tasks.waiting[t]);
    return TH_STOP_ERROR;
}
