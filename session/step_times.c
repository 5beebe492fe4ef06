/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_times.c - see step_times.h.
 *   walk the tasks by their starts, and add each to its accelerator -> finish -> by stage
 * (Operations of a pair take turns, so that the order of the program is not that of the run.) */
#include <config.h>
#include "base/alloc.h"
#include "base/min_max.h"
#include "sim/program/result.h"
#include "session/step_times.h"

/* A run of a step. */
typedef struct step_run {
    const th_program *program;
    const th_training_step *step;
    const th_task_result *times;
    th_time elapsed_ps;
    th_stage_times *of; /* by node */
    th_time busiest_ps; /* the longest that one node computes */
} step_run;

/* The time from the end of what it did last until then, which task cause ends, or begins after. */
static void add_wait(const step_run *r, th_stage_times *f, th_time until, int32_t cause)
{
    while (until > f->end_ps && cause >= 0 && r->program->tasks[cause].kind != TH_TASK_COMPUTE) {
        const th_time start = th_max(r->times[cause].start_ps, f->end_ps);
        f->exposed_ps[r->step->task[cause]] += until - start;
        until = start;
        cause = r->times[cause].cause;
    }
    *(f->has_turned ? &f->drain_ps : &f->warm_up_ps) += th_max(until - f->end_ps, 0);
}

/* Of weights that are gathered behind their update: the rank waits for it. */
static void add_last_message(const step_run *r, int32_t t)
{
    int32_t from = t;
    while (from >= 0 && r->program->tasks[from].kind != TH_TASK_COMPUTE)
        from = r->times[from].cause;
    if (from < 0 || r->step->task[from] != TH_STEP_OPTIMIZER)
        return;
    th_stage_times *f = &r->of[r->program->tasks[from].node];
    add_wait(r, f, r->times[t].end_ps, t);
    f->end_ps = th_max(f->end_ps, r->times[t].end_ps);
}

/* What it waited since it last computed forward is drain no more if it does so again. */
static void note_pass(const step_run *r, th_stage_times *f, int32_t t)
{
    const th_step_place *at = &r->step->place_of[t];
    if (at->micro_batch < 0)
        return;
    f->has_turned |= at->pass != TH_PIPELINE_FORWARD;
    if (f->has_turned && at->pass == TH_PIPELINE_FORWARD) {
        f->waiting_ps += f->drain_ps;
        f->drain_ps = 0;
    }
}

static void add_computation(step_run *r, int32_t t)
{
    th_stage_times *f = &r->of[r->program->tasks[t].node];
    th_time busy = r->times[t].end_ps - r->times[t].start_ps;
    const th_step_work *work = &r->step->work[r->step->work_of[t]];
    add_wait(r, f, r->times[t].start_ps, r->times[t].cause);
    note_pass(r, f, t);
    *(r->step->task[t] == TH_STEP_OPTIMIZER ? &f->optimizer_ps : &f->compute_ps) += busy;
    f->work_ps[TH_WORK_OVERLAP] += busy;
    for (int i = 0; i < TH_N_WORK_PARTS; i++) {
        f->work_ps[i] += work->ps[i];
        f->work_ps[TH_WORK_OVERLAP] -= work->ps[i];
    }
    f->end_ps = r->times[t].end_ps;
    r->busiest_ps = th_max(r->busiest_ps, f->compute_ps + f->optimizer_ps);
}

/* Of the waits for other stages, what the busiest one computes longer. */
static void finish(const step_run *r, th_stage_times *f)
{
    th_time longer = r->busiest_ps - f->compute_ps - f->optimizer_ps;
    f->drain_ps += r->elapsed_ps - f->end_ps;
    f->imbalance_ps = th_min(longer, f->waiting_ps);
    f->waiting_ps -= f->imbalance_ps;
    f->bubble_ps = f->warm_up_ps + f->drain_ps + f->imbalance_ps + f->waiting_ps;
}

/* Of the ranks of each stage the one that ends last. */
static void pick_ranks(const step_run *r, const th_system *s, th_stage_times *out)
{
    const th_parallel_plan *p = &r->step->plan;
    const int32_t ranks = r->step->is_merged && p->n_shares == 0 ? 1 : th_plan_stage_ranks(p);
    for (int32_t stage = 0; stage < p->n.pipeline; stage++) {
        const th_stage_times *last = NULL;
        for (int32_t rank = 0; rank < ranks; rank++) {
            const th_stage_times *f = &r->of[s->accel_node[th_plan_accel(p, stage, rank)]];
            last = !last || f->end_ps > last->end_ps ? f : last;
        }
        out[stage] = *last;
        finish(r, &out[stage]);
    }
}

const th_stage_times *th_session_stage_times(th_session *s, bool *has_failed)
{
    const th_training_step *x = th_session_step(s);
    th_simulation *sim = s->simulation;
    if (!x || !sim || !th_machine_is_done(sim->machine))
        return NULL;
    if (sim->stage_times)
        return sim->stage_times;
    step_run r = {.program = sim->program,
                  .step = x,
                  .times = th_machine_times(sim->machine),
                  .elapsed_ps = th_machine_elapsed(sim->machine),
                  .of = th_alloc_zero((size_t)s->system->n_nodes + 1, sizeof *r.of)};
    th_stage_times *out = th_alloc_array((size_t)x->plan.n.pipeline, sizeof *out);
    th_error err;
    int32_t *order = NULL, n = 0;
    const th_result *result = th_simulation_result(sim, &err);
    bool is_ordered = r.of && out && result && th_tasks_by_start(result, &order, &n) == 0;
    *has_failed |= !is_ordered;
    if (is_ordered) {
        for (int32_t i = 0; i < n; i++)
            if (r.program->tasks[order[i]].kind == TH_TASK_COMPUTE)
                add_computation(&r, order[i]);
            else if (x->place_of[order[i]].micro_batch < 0)
                add_last_message(&r, order[i]);
        pick_ranks(&r, s->system, out);
        sim->stage_times = out;
    } else {
        th_free(out);
    }
    th_free(order);
    th_free(r.of);
    return sim->stage_times;
}
