/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deadline.c - when each model of a workload ends, against its deadline.
 *   th_deadline_model_ends -> th_deadline_model_timing* | th_deadline_lateness */
#include <config.h>

#include "mapper/evaluate/deadline.h"

void th_deadline_model_ends(const th_workload *w, const th_program *p, const th_task_result *times,
                            th_time *end)
{
    int model = 0;
    size_t n_inputs = (size_t)p->n_inputs;
    for (size_t i = 0; i < (size_t)w->n_models * n_inputs; i++)
        end[i] = 0;
    for (int32_t t = 0; t < p->n_tasks; t++) {
        const th_task *k = &p->tasks[t];
        if (k->layer < 0)
            continue;
        model = th_workload_part_of(w, k->layer, model);
        th_time *at = &end[(size_t)model * n_inputs + (size_t)k->input];
        if (times[t].end_ps < 0)
            *at = -1;
        else if (*at >= 0 && times[t].end_ps > *at)
            *at = times[t].end_ps;
    }
}

th_model_timing th_deadline_model_timing(const th_workload *w, const th_stream *s, int model,
                                         const th_time *end)
{
    const th_model *m = &w->models[model];
    th_model_timing timing = {.is_complete = true};
    double sum = 0;
    for (int32_t i = 0; i < s->n_inputs; i++) {
        th_time at = end[(size_t)model * (size_t)s->n_inputs + (size_t)i];
        th_time latency = at - m->arrival_ps - i * s->interval_ps;
        timing.is_complete &= at >= 0;
        timing.end_ps = at > timing.end_ps ? at : timing.end_ps;
        timing.max_latency_ps = latency > timing.max_latency_ps ? latency : timing.max_latency_ps;
        sum += (double)latency;
    }
    timing.latency_ps = (th_time)(sum / s->n_inputs + 0.5);
    if (m->deadline_ps > 0 && timing.max_latency_ps > m->deadline_ps)
        timing.lateness_ps = timing.max_latency_ps - m->deadline_ps;
    return timing;
}

th_time th_deadline_lateness(const th_workload *w, const th_stream *s, const th_time *end)
{
    th_time sum = 0;
    for (int i = 0; i < w->n_models; i++)
        sum += th_deadline_model_timing(w, s, i, end).lateness_ps;
    return sum;
}

bool th_deadline_exists(const th_workload *w)
{
    for (int i = 0; i < w->n_models; i++)
        if (w->models[i].deadline_ps > 0)
            return true;
    return false;
}
