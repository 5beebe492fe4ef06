/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_run.c - core commands about a run that has begun: what no class of figures has, because it
 * takes long to find or is of two classes. */
#include <config.h>
#include <string.h>
#include "base/alloc.h"
#include "predictor/model/layer_model.h"
#include "session/jobs.h"
#include "session/link_flows.h"
#include "sim/execution_trace/trace_stuck.h"
#include "tcl/core/lib_report.h"

static int need_jobs(th_call *c)
{
    return c->session->simulation->program->n_jobs > 0 ? 0 : th_lib_fault(c, "jobs");
}

/* bytes_by_job: for each job, and for what is of none, the bytes over each link. */
static int run_bytes_by_job(th_call *c)
{
    th_session *s = c->session;
    const th_result *x = need_jobs(c) == 0 ? th_simulation_result(s->simulation, &c->err) : NULL;
    if (!x)
        return -1;
    size_t n = (size_t)s->system->n_links, rows = (size_t)s->simulation->program->n_jobs + 1;
    int64_t *bytes = th_alloc_zero(rows * n + 1, sizeof *bytes);
    int failed = bytes ? th_link_bytes_by_job(bytes, s->system, s->simulation, x, &c->err)
                       : th_error_no_memory(&c->err);
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (size_t j = 0; !failed && j < rows; j++) {
        Tcl_Obj *row = Tcl_NewListObj(0, NULL);
        for (size_t l = 0; l < n; l++)
            th_lib_append(row, Tcl_NewWideIntObj(bytes[j * n + l]));
        th_lib_append(all, row);
    }
    th_free(bytes);
    Tcl_SetObjResult(c->interp, all);
    return failed;
}

/* job_alone JOB: its end without the other jobs, in ps, simulated; empty: not known. */
static int run_job_alone(th_call *c)
{
    int job;
    th_time end;
    if (need_jobs(c) != 0)
        return -1;
    if (Tcl_GetIntFromObj(NULL, c->words[0], &job) != TCL_OK || job < 0 ||
        job >= c->session->simulation->program->n_jobs)
        return th_lib_fault(c, "job_alone");
    if (th_job_end_alone(c->session, job, &end, &c->err) != 0)
        return -1;
    return th_lib_give(c, th_lib_number_if(end >= 0, end));
}

/* energy_sources: of the costs of energy of the system, each once. */
static int run_energy_sources(th_call *c)
{
    Tcl_Obj *all = Tcl_NewDictObj(); /* its keys are in order */
    const th_system *s = c->session->system;
    for (int d = 0; d < s->n_designs; d++)
        for (int p = 0; p < s->designs[d].n_params; p++)
            if (strcmp(s->designs[d].params[p].key, "energy_source") == 0)
                Tcl_DictObjPut(NULL, all, th_lib_text(s->designs[d].params[p].text), Tcl_NewObj());
    if (s->link_energy.source)
        Tcl_DictObjPut(NULL, all, th_lib_text(s->link_energy.source), Tcl_NewObj());
    return th_lib_give(c, all);
}

/* rank_reasons: of each rank of a trace, what it waits for if it has not finished. */
static int run_rank_reasons(th_call *c)
{
    th_session *s = c->session;
    if (!s->hand_built || !s->hand_built->trace)
        return th_error_set(&c->err, "TCL-0803",
                            "what ran is no execution trace: read_program reads one");
    const th_trace *t = s->hand_built->trace;
    const th_task_result *times = th_machine_times(s->simulation->machine);
    th_trace_explainer *x = th_trace_explainer_new(t, s->system, times, &c->err);
    const char *why = x ? "" : NULL;
    Tcl_Obj *all = Tcl_NewListObj(0, NULL);
    for (int32_t i = 0; why && i < t->n_ranks; i++)
        if ((why = th_trace_explain_rank(x, i, &c->err)))
            th_lib_append(all, th_lib_text(why));
    th_trace_explainer_free(x);
    Tcl_SetObjResult(c->interp, all);
    return why ? 0 : -1;
}

/* origins: {NAME SHARE ...}: where predicted times come from, of all time of accelerators. */
static int run_origins(th_call *c)
{
    const th_session *s = c->session;
    const th_program *p = s->simulation->program;
    const th_task_result *times = th_machine_times(s->simulation->machine);
    double of[TH_N_ORIGINS] = {0}, all = 0;
    for (int32_t i = 0; i < p->n_tasks; i++) {
        if (p->tasks[i].kind != TH_TASK_COMPUTE || times[i].end_ps < 0)
            continue;
        double ps = (double)(times[i].end_ps - times[i].start_ps);
        const th_compute_cost *cost =
            th_compute_cost_get(th_simulation_costs(s->simulation), p->tasks[i].compute_cost);
        all += ps;
        for (int o = 0; o < TH_N_ORIGINS; o++)
            of[o] += cost->schedule.variant == th_origin_name((th_origin)o) ? ps : 0;
    }
    Tcl_Obj *list = Tcl_NewListObj(0, NULL);
    for (int o = 0; o < TH_N_ORIGINS; o++)
        if (of[o] > 0) {
            th_lib_append(list, th_lib_text(th_origin_name(o)));
            th_lib_append(list, Tcl_NewDoubleObj(of[o] / all));
        }
    return th_lib_give(c, list);
}

const th_command th_core_run_commands[] = {
    TH_CORE_ROW_THAT_NEEDS("bytes_by_job", "", 0, run_bytes_by_job, th_session_need_run),
    TH_CORE_ROW_THAT_NEEDS("job_alone", "JOB", 1, run_job_alone, th_session_need_run),
    TH_CORE_ROW_THAT_NEEDS("energy_sources", "", 0, run_energy_sources, th_session_need_system),
    TH_CORE_ROW_THAT_NEEDS("origins", "", 0, run_origins, th_session_need_run),
    TH_CORE_ROW_THAT_NEEDS("rank_reasons", "", 0, run_rank_reasons, th_session_need_run),
    {.name = NULL},
};
