/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training.c - a step of training: its time, and what its slowest stage waits for.
 * A gap before a computation belongs to the messages that it waited for, each while it was under
 * way, back along what they waited for in turn: exposed communication of their kinds. The part in
 * which other stages compute is the bubble: before its first computation and after its last (fill);
 * as much of the rest as the busiest stage computes longer (imbalance); and what remains. */
#include <config.h>
#include <stdio.h>
#include "base/alloc.h"
#include "session/sections/sections.h"

typedef struct step_figures {
    th_time step_ps, compute_ps, optimizer_ps, bubble_ps;
    th_time fill_ps, imbalance_ps; /* of the bubble */
    th_time exposed_ps[TH_N_STEP_TASKS];
} step_figures;

/* The time from at until computation t starts. */
static void add_gap(const th_program *p, const th_task_result *times, const uint8_t *kind,
                    int32_t t, th_time at, step_figures *f)
{
    th_time until = times[t].start_ps;
    int32_t cause = times[t].cause;
    while (until > at && cause >= 0 && p->tasks[cause].kind != TH_TASK_COMPUTE) {
        th_time from = times[cause].start_ps > at ? times[cause].start_ps : at;
        f->exposed_ps[kind[cause]] += until - from;
        until = from;
        cause = times[cause].cause;
    }
    f->bubble_ps += until > at ? until - at : 0;
}

/* Waits along one stage: compute tasks in program order, and what ended last before each. */
static void add_stage(const th_program *p, const th_task_result *times, const uint8_t *kind,
                      int32_t node, step_figures *f)
{
    th_time at = 0;
    for (int32_t t = 0; t < p->n_tasks; t++) {
        if (p->tasks[t].kind != TH_TASK_COMPUTE || p->tasks[t].node != node)
            continue;
        th_time busy = times[t].end_ps - times[t].start_ps;
        *(kind[t] == TH_STEP_OPTIMIZER ? &f->optimizer_ps : &f->compute_ps) += busy;
        add_gap(p, times, kind, t, at, f);
        if (at == 0)
            f->fill_ps = f->bubble_ps;
        at = times[t].end_ps;
    }
    f->bubble_ps += f->step_ps - at;
    f->fill_ps += f->step_ps - at;
}

/* The longest time that one node computes. */
static int busiest_ps(const th_session *s, const th_program *p, const th_task_result *times,
                      th_time *out, th_error *err)
{
    th_time *busy = th_alloc_zero((size_t)s->system->n_nodes + 1, sizeof *busy);
    *out = 0;
    if (!busy)
        return th_error_no_memory(err);
    for (int32_t t = 0; t < p->n_tasks; t++)
        if (p->tasks[t].kind == TH_TASK_COMPUTE) {
            th_time *sum = &busy[p->tasks[t].node];
            *sum += times[t].end_ps - times[t].start_ps;
            *out = *sum > *out ? *sum : *out;
        }
    th_free(busy);
    return 0;
}

/* Of the waits for other stages, what the busiest one computes longer. */
static void split_bubble(step_figures *f, th_time busiest)
{
    th_time longer = busiest - f->compute_ps - f->optimizer_ps, rest = f->bubble_ps - f->fill_ps;
    f->imbalance_ps = longer < rest ? longer : rest;
}

/* The stage of a node. */
static int32_t stage_of(const th_session *s, const th_training_step *x, int32_t node)
{
    int32_t ranks = x->is_merged ? 1 : th_plan_stage_ranks(&x->plan);
    for (int32_t stage = 0; stage < x->plan.n.pipeline; stage++)
        for (int32_t rank = 0; rank < ranks; rank++)
            if (s->system->accel_node[th_plan_accel(&x->plan, stage, rank)] == node)
                return stage;
    return -1;
}

static int32_t last_node(const th_program *p, const th_task_result *times)
{
    int32_t node = -1;
    th_time end = -1;
    for (int32_t t = 0; t < p->n_tasks; t++)
        if (p->tasks[t].kind == TH_TASK_COMPUTE && times[t].end_ps > end) {
            end = times[t].end_ps;
            node = p->tasks[t].node;
        }
    return node;
}

static double tokens_of(const th_parallel_plan *p)
{
    return (double)p->batch.global_batch * p->batch.sequence;
}

static void add_row(th_report *r, const th_training_step *x, const step_figures *f, int32_t stage)
{
    static const th_column columns[] = {
        {"step", "step", TH_KIND_TIME},
        {"tokens", "tokens per s", TH_KIND_RATE},
        {"accel_tokens", "tokens per s and accelerator", TH_KIND_RATE},
        {"model_utilization", "model utilization", TH_KIND_SHARE},
        {"hardware_utilization", "hardware utilization", TH_KIND_SHARE},
        {"stage", "stage that ends last", TH_KIND_COUNT},
        {"compute", "computation", TH_KIND_TIME},
        {"optimizer", "optimizer", TH_KIND_TIME},
        {"bubble", "bubble", TH_KIND_TIME},
        {"bubble_fill", "bubble: fill and drain", TH_KIND_TIME},
        {"bubble_imbalance", "bubble: imbalance", TH_KIND_TIME},
        {"bubble_waiting", "bubble: waiting", TH_KIND_TIME},
        {"exposed_tensor", "exposed: tensor", TH_KIND_TIME},
        {"exposed_context", "exposed: context", TH_KIND_TIME},
        {"exposed_expert", "exposed: expert", TH_KIND_TIME},
        {"exposed_data", "exposed: data", TH_KIND_TIME},
        {"exposed_pipeline", "exposed: pipeline", TH_KIND_TIME},
        {NULL, NULL, TH_KIND_TEXT},
    };
    double s = th_seconds(f->step_ps), tokens = tokens_of(&x->plan);
    double peak = x->device.operations_per_s * x->n_ranks * s;
    double model =
        tokens * th_transformer_operations(&x->model, x->plan.batch.sequence, !x->model.is_encoder);
    double again = x->plan.recompute >= TH_RECOMPUTE_NEEDED ? 4.0 / 3 : 1;
    th_quantity cells[] = {th_ps(f->step_ps),
                           th_rate(th_ratio(tokens, s)),
                           th_rate(th_ratio(tokens, s * x->n_ranks)),
                           th_share(th_ratio(model, peak)),
                           th_share(th_ratio(model * again, peak)),
                           th_count(stage),
                           th_ps(f->compute_ps),
                           th_ps(f->optimizer_ps),
                           th_ps(f->bubble_ps),
                           th_ps(f->fill_ps),
                           th_ps(f->imbalance_ps),
                           th_ps(f->bubble_ps - f->fill_ps - f->imbalance_ps),
                           th_ps(f->exposed_ps[TH_STEP_TENSOR]),
                           th_ps(f->exposed_ps[TH_STEP_CONTEXT]),
                           th_ps(f->exposed_ps[TH_STEP_EXPERT]),
                           th_ps(f->exposed_ps[TH_STEP_DATA]),
                           th_ps(f->exposed_ps[TH_STEP_PIPELINE])};
    th_table_row(th_report_record(r, "training", NULL, columns), cells);
}

int th_section_training(th_session *s, th_report *r, th_error *err)
{
    const th_training_step *x = s->hand_built->step;
    const th_program *p = s->simulation->program;
    const th_task_result *times = th_machine_times(s->simulation->machine);
    th_time busiest;
    step_figures f = {.step_ps = th_machine_elapsed(s->simulation->machine)};
    int32_t node = last_node(p, times);
    if (node >= 0)
        add_stage(p, times, x->task, node, &f);
    if (busiest_ps(s, p, times, &busiest, err) != 0)
        return -1;
    split_bubble(&f, busiest);
    add_row(r, x, &f, stage_of(s, x, node));
    return 0;
}

/* ---- what it computes ---- */

int th_section_step_parts(th_session *s, th_report *r, th_error *err)
{
    static const th_column columns[] = {
        {"part", "part", TH_KIND_TEXT},
        {"time", "time", TH_KIND_TIME},
        {"of_step", "of the step", TH_KIND_SHARE},
        {NULL, NULL, TH_KIND_TEXT},
    };
    (void)err;
    const th_training_step *x = s->hand_built->step;
    const th_program *p = s->simulation->program;
    const th_task_result *times = th_machine_times(s->simulation->machine);
    th_time elapsed = th_machine_elapsed(s->simulation->machine);
    int32_t node = last_node(p, times);
    th_step_work sum = {.ps = {0}};
    for (int32_t t = 0; t < p->n_tasks; t++) {
        if (p->tasks[t].kind != TH_TASK_COMPUTE || p->tasks[t].node != node || times[t].end_ps < 0)
            continue;
        sum.ps[TH_WORK_OVERLAP] += times[t].end_ps - times[t].start_ps;
        for (int i = 0; i < TH_N_WORK_PARTS; i++) {
            sum.ps[i] += x->work[x->work_of[t]].ps[i];
            sum.ps[TH_WORK_OVERLAP] -= x->work[x->work_of[t]].ps[i];
        }
    }
    th_table *table = th_report_table(r, "training_parts", NULL, columns);
    for (int i = 0; i < TH_N_WORK_PARTS; i++)
        if (sum.ps[i] > 0)
            th_table_row(table,
                         (th_quantity[]){th_text(th_work_part_names[i]), th_ps(sum.ps[i]),
                                         th_share(th_ratio((double)sum.ps[i], (double)elapsed))});
    return 0;
}
