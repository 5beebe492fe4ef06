/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_plan.c - core commands about the search that found a parallel plan, and about bounds of the
 * plan that is the program. */
#include <config.h>
#include <math.h>
#include "base/units.h"
#include "tcl/core/lib_report.h"
#include "tcl/tcl_session.h"
#include "training/search/plan_bound.h"
#include "training/plan_stages.h"

static Tcl_Obj *number_if_finite(double x)
{
    return isfinite(x) ? Tcl_NewDoubleObj(x) : Tcl_NewObj();
}

/* Of what a step of the plan computes for the model, at the peak of its accelerators. */
static double utilization(const th_session *s, const th_found_plan *f)
{
    const th_transformer *t = &s->model.shape;
    const th_parallel_plan *p = &f->plan;
    const double tokens = (double)p->batch.global_batch * p->batch.sequence;
    const double ranks = (double)th_plan_stage_ranks(p) * p->n.pipeline;
    return tokens * th_transformer_operations(t, p->batch.sequence, !t->is_encoder) /
           (s->hand_built->step->device.operations_per_s * ranks * th_seconds(f->step_ps));
}

static Tcl_Obj *row_of(const th_session *s, const th_plan_findings *all, int i)
{
    const th_found_plan *f = &all->of[i];
    const th_parallel_plan *p = &f->plan;
    char name[80];
    th_strbuf options = TH_STRBUF_INIT;
    th_plan_short_name(p, name, sizeof name);
    th_plan_describe(p, &options);
    Tcl_Obj *row = TH_LIB_LIST(
        th_lib_text(name), th_lib_text(p->n.pipeline > 1 ? p->schedule->name : ""),
        Tcl_NewIntObj(p->n.zero), Tcl_NewIntObj(p->batch.micro_batch),
        th_lib_text(th_plan_recompute_names[p->recompute]),
        th_lib_text(p->sequence_parallel ? "yes" : "no"), Tcl_NewWideIntObj(f->step_ps),
        Tcl_NewDoubleObj(f->values[0]), Tcl_NewDoubleObj(utilization(s, f)),
        Tcl_NewIntObj(th_plan_stage_ranks(p) * p->n.pipeline), Tcl_NewWideIntObj((int64_t)f->bytes),
        Tcl_NewDoubleObj(f->bound), th_lib_text(th_plan_is_proven(all, i) ? "yes" : "no"),
        Tcl_NewWideIntObj(f->evaluation), th_lib_text(options.text),
        Tcl_NewDoubleObj(f->values[1]));
    th_strbuf_clear(&options);
    return row;
}

/* plans: {OBJECTIVES TOKENS EVALUATIONS IS_DONE BOUND ELAPSED TOP MOST_FILL} of the search, and of
 * each plan that it simulated {NAME SCHEDULE ZERO MICRO_BATCH RECOMPUTE SEQUENCE_PARALLEL STEP_PS
 * VALUE UTILIZATION RANKS BYTES BOUND PROVEN EVALUATION OPTIONS SECOND_VALUE}, the best first;
 * empty: the program was not searched for. */
static int run_plans(th_call *c)
{
    const th_session *s = c->session;
    const th_plan_findings *f = s->hand_built ? s->hand_built->search : NULL;
    if (!f)
        return 0;
    const th_batch *b = &f->of[0].plan.batch;
    Tcl_Obj *rows = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < f->n; i++)
        th_lib_append(rows, row_of(s, f, i));
    Tcl_Obj *objectives = Tcl_NewListObj(0, NULL);
    for (int i = 0; i < f->options.n_objectives; i++)
        th_lib_append(objectives, th_lib_text(th_plan_objective_names[f->options.objectives[i]]));
    Tcl_Obj *search =
        TH_LIB_LIST(objectives, Tcl_NewWideIntObj((int64_t)b->global_batch * b->sequence),
                    Tcl_NewWideIntObj(f->evaluations), Tcl_NewBooleanObj(f->is_done),
                    number_if_finite(f->bound), Tcl_NewDoubleObj(f->elapsed_s),
                    Tcl_NewIntObj(f->options.top), Tcl_NewDoubleObj(TH_PLAN_FILL_MAX));
    return th_lib_give(c, TH_LIB_LIST(search, rows));
}

static int bounds_of(th_call *c, const th_work_context *work, th_time out[3])
{
    th_plan_schedules schedules;
    th_plan_units u;
    if (th_plan_units_init(&u, c->session->system, work, &c->err))
        return -1;
    out[1] = (th_time)(th_plan_bound_quick(&u, work) * (double)TH_PS_PER_S);
    out[2] = -1;
    if (th_plan_schedules_make(&schedules, work->p, &c->err) == 0) {
        out[2] = th_plan_bound_schedule(&u, work, schedules.of, &c->err);
        th_plan_schedules_clear(&schedules);
    }
    u.bytes_per_s_into = INFINITY;
    out[0] = (th_time)(th_plan_bound_quick(&u, work) * (double)TH_PS_PER_S);
    th_plan_units_clear(&u);
    return out[2] < 0 ? -1 : 0;
}

/* plan_bounds: {COMPUTE LINKS SCHEDULE} of the step, ps; empty: the program is none, or has
 * a schedule of a file or of pairs, or stages of their own. */
static int run_plan_bounds(th_call *c)
{
    const th_hand_built *m = c->session->hand_built;
    th_time bounds[3];
    if (!m || !m->step || !m->plan->plan.schedule || m->plan->plan.schedule->has_pairs ||
        m->plan->plan.n_own > 0)
        return 0;
    th_work_context work = {.t = &c->session->model.shape,
                            .p = &m->plan->plan,
                            .device = m->step->device,
                            .numbers = m->plan->numbers};
    if (th_training_devices_of(c->session->system, &work.devices, &c->err))
        return -1;
    work.device = th_training_fastest(&work);
    if (bounds_of(c, &work, bounds))
        return -1;
    return th_lib_give(c, TH_LIB_LIST(Tcl_NewWideIntObj(bounds[0]), Tcl_NewWideIntObj(bounds[1]),
                                      Tcl_NewWideIntObj(bounds[2])));
}

const th_command th_core_plan_commands[] = {
    TH_CORE_ROW("plans", "", 0, 0, run_plans),
    TH_CORE_ROW("plan_bounds", "", 0, 0, run_plan_bounds),
    {.name = NULL},
};
