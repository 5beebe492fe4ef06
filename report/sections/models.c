/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models.c - when each model of a workload finished. */
#include <config.h>
#include "base/alloc.h"
#include "mapper/evaluate/deadline.h"
#include "report/sections/sections.h"

static th_quantity if_through(const th_model_timing *timing, th_time ps)
{
    return timing->is_complete ? th_ps(ps) : th_absent(TH_KIND_TIME);
}

static void add_model(const th_session *s, th_table *t, int number, const th_time *end)
{
    const th_model *m = &s->workload->models[number];
    th_model_timing timing =
        th_deadline_model_timing(s->workload, &s->simulation->options.stream, number, end);
    bool has_deadline = m->deadline_ps > 0;
    const char *verdict = !has_deadline || !timing.is_complete ? NULL
                          : timing.lateness_ps > 0             ? "missed"
                                                               : "met";
    th_table_row(
        t, (th_quantity[]){
               th_text(m->name),
               th_count(m->n_layers),
               th_ps(m->arrival_ps),
               if_through(&timing, timing.end_ps),
               if_through(&timing, timing.latency_ps),
               if_through(&timing, timing.max_latency_ps),
               has_deadline ? th_ps(m->deadline_ps) : th_absent(TH_KIND_TIME),
               th_text(verdict),
               has_deadline ? if_through(&timing, timing.lateness_ps) : th_absent(TH_KIND_TIME),
           });
}

int th_section_models(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"model", "model", TH_KIND_TEXT},       {"layers", "layers", TH_KIND_COUNT},
        {"arrival", "arrival", TH_KIND_TIME},   {"end", "end", TH_KIND_TIME},
        {"latency", "latency", TH_KIND_TIME},   {"longest", "longest", TH_KIND_TIME},
        {"deadline", "deadline", TH_KIND_TIME}, {"verdict", "verdict", TH_KIND_TEXT},
        {"lateness", "late by", TH_KIND_TIME},  {NULL, NULL, TH_KIND_TEXT},
    };
    const th_result *x = th_simulation_result(s->simulation, err);
    if (!x)
        return -1;
    size_t n = (size_t)s->workload->n_models * (size_t)x->n_inputs;
    th_time *end = th_alloc_array(n + 1, sizeof *end);
    if (!end)
        return th_error_no_memory(err);
    th_deadline_model_ends(s->workload, s->simulation->program, x->tasks, end);
    th_table *t = th_report_table(r, "models", "Models", columns);
    th_table_note(t, "latency", "latency: mean over the inputs");
    th_table_note(t, "longest", "longest: of one input");
    th_table_note(t, "verdict", "verdict: whether it meets the deadline");
    for (int i = 0; i < s->workload->n_models; i++)
        add_model(s, t, i, end);
    th_free(end);
    return 0;
}
