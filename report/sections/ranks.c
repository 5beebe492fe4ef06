/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.c - when each rank of a trace finished, and what it waits for if it did not. Under
 * ASTRA-sim's networks the times are those of its replay; under the others a rank finishes with its
 * last node, and its exposed time is what its accelerator did not compute. */
#include <config.h>
#include "sim/execution_trace/trace_stuck.h"
#include "report/sections/sections.h"

static const th_time ps_per_ns = 1000;

typedef struct rank_times {
    th_time finish_ps, exposed_ps; /* finish_ps -1: not finished */
} rank_times;

/* Of tasks first .. first + n - 1. */
static rank_times times_of_tasks(const th_program *p, const th_task_result *times, int32_t first,
                                 int32_t n)
{
    rank_times t = {0, 0};
    for (int32_t i = first; i < first + n; i++) {
        if (times[i].end_ps < 0)
            return (rank_times){-1, -1};
        t.finish_ps = times[i].end_ps > t.finish_ps ? times[i].end_ps : t.finish_ps;
        if (p->tasks[i].kind == TH_TASK_COMPUTE)
            t.exposed_ps -= times[i].end_ps - times[i].start_ps;
    }
    t.exposed_ps += t.finish_ps;
    return t;
}

static rank_times times_of_replay(const th_astra_rank_times *r, th_time now)
{
    if (r->finish_ns < 0 || r->finish_ns * ps_per_ns > now)
        return (rank_times){-1, -1};
    return (rank_times){r->finish_ns * ps_per_ns, (int64_t)r->exposed_ns * ps_per_ns};
}

static int add_rows(th_session *s, th_table *t, th_trace_explainer *x, th_error *err)
{
    const th_simulation *sim = s->simulation;
    const th_trace *trace = s->hand_built->trace;
    const th_task_result *times = th_machine_times(sim->machine);
    int32_t first = 0;
    for (int32_t i = 0; i < trace->n_ranks; i++) {
        int32_t n = trace->ranks[i].n_nodes;
        rank_times r = sim->ranks ? times_of_replay(&sim->ranks[i], th_machine_now(sim->machine))
                                  : times_of_tasks(sim->program, times, first, n);
        const char *why = th_trace_explain_rank(x, i, err);
        if (!why)
            return -1;
        bool is_finished = r.finish_ps >= 0;
        th_quantity cells[] = {
            th_count(i),
            th_text(is_finished ? "finished" : "not_finished"),
            is_finished ? th_ps(r.finish_ps) : th_absent(TH_KIND_TIME),
            is_finished ? th_ps(r.exposed_ps) : th_absent(TH_KIND_TIME),
            th_text(th_report_keep(t->report, why)),
        };
        th_table_row(t, cells);
        first += n;
    }
    return 0;
}

int th_section_ranks(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"rank", "rank", TH_KIND_COUNT},          {"state", "state", TH_KIND_TEXT},
        {"finish", "finish", TH_KIND_TIME},       {"exposed", "exposed", TH_KIND_TIME},
        {"reason", "what is left", TH_KIND_TEXT}, {NULL, NULL, TH_KIND_TEXT},
    };
    th_trace_explainer *x = th_trace_explainer_new(s->hand_built->trace, s->system,
                                                   th_machine_times(s->simulation->machine), err);
    if (!x)
        return -1;
    th_table *t = th_report_table(r, "ranks", NULL, columns);
    th_table_wrap(t);
    int failed = add_rows(s, t, x, err);
    th_trace_explainer_free(x);
    return failed;
}
