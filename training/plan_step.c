/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_step.c - see plan_step.h. */
#include <config.h>
#include "base/interrupt.h"
#include "sim/machine/machine.h"
#include "training/plan_step.h"

static th_time run(const th_system *s, th_program *p, th_error *err)
{
    const th_machine_options options = {.is_interrupted = th_interrupt_is_pending};
    th_compute_cost_cache *costs = th_compute_cost_cache_new(s, err);
    th_machine *m = costs ? th_machine_new(s, costs, &options, err) : NULL;
    th_time end = -1;
    if (m && th_program_finish(p, err) == 0 && th_program_look_up_works(p, costs, err) == 0 &&
        th_machine_load(m, p, err) == 0) {
        const th_stop stop = th_machine_run_until(m, TH_TIME_MAX, err);
        if (stop == TH_STOP_DONE)
            end = th_machine_elapsed(m);
        else if (stop == TH_STOP_INTERRUPTED)
            th_error_interrupted(err, "no plan was simulated");
    }
    th_machine_free(m);
    th_compute_cost_cache_free(costs);
    return end;
}

th_time th_plan_step_time(const th_system *s, const th_work_context *c,
                          const th_pipeline_schedule *schedule, th_error *err)
{
    th_training_step step;
    th_time end = -1;
    th_program *p = th_program_new(err);
    if (!p)
        return -1;
    th_program_clear(p);
    if (th_lower_step(s, c, schedule, true, p, &step, err) == 0) {
        end = run(s, p, err);
        th_training_step_clear(&step);
    }
    th_program_free(p);
    return end;
}

double th_step_joules(const th_design_energy *e, const th_transformer *t, const th_parallel_plan *p,
                      double s)
{
    const double ranks = (double)th_plan_stage_ranks(p) * p->n.pipeline;
    double macs = th_transformer_operations(t, p->batch.sequence, !t->is_encoder) / 2 *
                  p->batch.sequence * p->batch.global_batch;
    if (p->recompute >= TH_RECOMPUTE_NEEDED)
        macs = macs * 4 / 3; /* the forward pass again */
    const th_step_precision *of = &th_step_precisions[p->precision];
    return s * ranks * e->static_w + macs * e->mac_j[of->macs] * of->times;
}
