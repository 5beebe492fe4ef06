/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_memory.c - see plan_memory.h.
 *   weights      2 bytes a parameter, in 32 bits 4; ZeRO 3 shards them
 *   gradients    as they are added, 2 or 4 bytes; ZeRO 2 and 3 shard them
 *   states       12 bytes: 32-bit weights and two moments (Adam), in 32 bits these alone; ZeRO 1 to
 *                3 shard them
 *   activations  of every layer and micro-batch between its F and its B (W, where it is split)
 *   buffers      the logits, and their gradients in 32 bits; with ZeRO 3 the weights of two
 *                layers, and the gradients of one; with full recomputation the activations of one
 * Not counted: the runtime's and the communication library's own memory, fragmentation. */
#include <config.h>
#include "training/plan_memory.h"
#include <stdio.h>

#include "base/min_max.h"
#include "training/plan_stages.h"
#include "workloads/transformer/transformer.h"

const char *const th_memory_term_names[] = {"weights",     "gradients", "states",
                                            "activations", "buffers",   NULL};

enum { LOGIT_GRADIENT_BYTES = 4 };

static int32_t last_step(const th_pipeline_schedule *s)
{
    return s->shape.stages * s->shape.chunks - 1;
}

/* Of the layers of a step of the model. */
typedef struct chunk_sizes {
    int64_t parameters, activations;
    int64_t largest; /* parameters of a layer, or of an embedding */
} chunk_sizes;

static void add_parameters(const th_work_context *c, int32_t layer, chunk_sizes *out)
{
    int64_t n = th_layer_parameters_of_rank(c, layer);
    out->parameters += n;
    out->largest = th_max(out->largest, n);
}

static chunk_sizes sizes_of(const th_work_context *c, const th_pipeline_schedule *s, int32_t step)
{
    th_layer_range r = th_plan_layers(c->p, c->t, step);
    th_parallel_plan plan = *c->p;
    th_work_context again = *c;
    again.p = &plan;
    plan.recompute = TH_RECOMPUTE_FULL;
    chunk_sizes out = {.parameters = 0};
    for (int32_t i = r.first; i < r.first + r.n; i++) {
        add_parameters(c, i, &out);
        out.activations +=
            th_layer_activation_bytes(th_plan_recomputes(c->p, c->t, step, i) ? &again : c, i);
    }
    if (step == 0)
        add_parameters(c, TH_LAYER_EMBEDDING_STEP, &out);
    if (step == last_step(s))
        add_parameters(c, TH_LAYER_HEAD_STEP, &out);
    return out;
}

/* The most activations that the order of a stage keeps at a time. */
static int64_t most_activations(const th_work_context *c, const th_pipeline_schedule *s,
                                int32_t stage)
{
    int64_t kept = 0, most = 0, of_chunk[TH_CHUNKS_MAX_OF_STAGE];
    int frees = s->splits_backward ? TH_PIPELINE_WEIGHTS : TH_PIPELINE_BACKWARD;
    for (int32_t chunk = 0; chunk < s->shape.chunks; chunk++)
        of_chunk[chunk] = sizes_of(c, s, th_pipeline_step(s, stage, chunk)).activations;
    for (int32_t i = 0; i < s->n_ops; i++) {
        const th_pipeline_op *op = &s->ops[(int64_t)stage * s->n_ops + i];
        if (op->kind == TH_PIPELINE_FORWARD)
            kept += of_chunk[op->chunk];
        else if (op->kind == frees)
            kept -= of_chunk[op->chunk];
        most = th_max(most, kept);
    }
    return most;
}

static int64_t buffer_bytes(const th_work_context *c, const th_pipeline_schedule *s, int32_t stage,
                            int64_t largest)
{
    const th_parallel_plan *p = c->p;
    const bool has_again = p->n_own > 0 && p->own[stage].again > 0;
    double tokens = (double)p->batch.sequence * p->batch.micro_batch / p->n.context;
    const int64_t number = th_plan_number_bytes(p);
    int64_t bytes = 0;
    for (int32_t chunk = 0; chunk < s->shape.chunks; chunk++)
        if (th_pipeline_step(s, stage, chunk) == last_step(s))
            bytes += (int64_t)((double)(number + LOGIT_GRADIENT_BYTES) * tokens * c->t->vocab /
                               p->n.tensor);
    if (p->n.zero == 3)
        bytes += largest * (2 * number + p->gradient_bytes);
    if (p->recompute >= TH_RECOMPUTE_NEEDED || has_again) {
        th_parallel_plan kept = *p;
        kept.recompute =
            p->recompute > TH_RECOMPUTE_SELECTIVE ? TH_RECOMPUTE_SELECTIVE : p->recompute;
        th_work_context whole = *c;
        whole.p = &kept;
        bytes += th_layer_activation_bytes(&whole, c->t->layers - 1);
    }
    return bytes;
}

int64_t th_stage_parameters(const th_work_context *c, const th_pipeline_schedule *s, int32_t stage)
{
    int64_t n = 0;
    for (int32_t chunk = 0; chunk < s->shape.chunks; chunk++)
        n += sizes_of(c, s, th_pipeline_step(s, stage, chunk)).parameters;
    return n;
}

th_plan_memory th_plan_memory_of(const th_work_context *c, const th_pipeline_schedule *s,
                                 int32_t stage)
{
    const th_degrees *n = &c->p->n;
    int64_t parameters = th_stage_parameters(c, s, stage), largest = 0, shards = n->zero_group;
    for (int32_t chunk = 0; chunk < s->shape.chunks; chunk++)
        largest = th_max(largest, sizes_of(c, s, th_pipeline_step(s, stage, chunk)).largest);
    int64_t trained = c->p->frozen_weights ? 0 : parameters;
    return (th_plan_memory){
        {[TH_MEMORY_WEIGHTS] =
             parameters * th_plan_number_bytes(c->p) / (n->zero >= 3 ? shards : 1),
         [TH_MEMORY_GRADIENTS] = trained * c->p->gradient_bytes / (n->zero >= 2 ? shards : 1),
         [TH_MEMORY_STATES] = trained * th_plan_state_bytes(c->p) / (n->zero >= 1 ? shards : 1),
         [TH_MEMORY_ACTIVATIONS] = most_activations(c, s, stage),
         [TH_MEMORY_BUFFERS] = buffer_bytes(c, s, stage, largest)}};
}

int64_t th_plan_memory_sum(const th_plan_memory *m)
{
    int64_t sum = 0;
    for (int i = 0; i < TH_N_MEMORY_TERMS; i++)
        sum += m->of[i];
    return sum;
}

/* Are most parameters of a rank those of experts? */
static bool is_mostly_experts(const th_work_context *c)
{
    const int32_t last = c->t->layers - 1;
    th_transformer dense = *c->t;
    th_work_context without = *c;
    dense.experts.n = 0;
    dense.ffn = 1;
    without.t = &dense;
    return th_transformer_is_sparse(c->t, last) &&
           th_layer_parameters_of_rank(c, last) > 2 * th_layer_parameters_of_rank(&without, last);
}

/* Ranks that take unlike shares exchange no weights (check_shares). */
static int zero_most(const th_parallel_plan *p)
{
    return p->n_shares > 0 ? 2 : 3;
}

/* What makes the term smaller under this plan, where no greater -zero by itself does. */
static const char *remedy(const th_work_context *c, int term)
{
    const th_parallel_plan *p = c->p;
    const int32_t replicas = p->n.data * p->n.context;
    const bool can_shrink = p->batch.micro_batch > 1, is_again = p->recompute == TH_RECOMPUTE_FULL;
    static const int zero_of[] = {[TH_MEMORY_WEIGHTS] = 3, [TH_MEMORY_GRADIENTS] = 2, 1};
    if (term == TH_MEMORY_ACTIVATIONS && can_shrink)
        return is_again ? "a smaller -micro_batch" : "a smaller -micro_batch or -recompute full";
    if (term == TH_MEMORY_ACTIVATIONS)
        return is_again ? "a greater -tensor or -context"
                        : "-recompute full, a greater -tensor or -context";
    if (term == TH_MEMORY_BUFFERS)
        return can_shrink ? "a smaller -micro_batch or a greater -tensor" : "a greater -tensor";
    const bool is_sharded = p->n.zero >= zero_of[term];
    if (is_sharded && p->n.zero_group < replicas)
        return "a greater -zero_group";
    if (term == TH_MEMORY_STATES && !is_sharded)
        return replicas == 1      ? "a greater -data with -zero 1"
               : zero_most(p) < 3 ? "-zero 2 with a greater -tensor or -pipeline"
                                  : "-zero 3 with a greater -tensor or -pipeline";
    if (is_mostly_experts(c))
        return "a greater -expert, -expert_tensor or -pipeline";
    if (is_sharded)
        return "a greater -tensor, -pipeline or -data";
    if (replicas == 1 || zero_of[term] > zero_most(p))
        return "a greater -tensor or -pipeline";
    return term == TH_MEMORY_WEIGHTS ? "a greater -tensor, -pipeline or -zero 3"
                                     : "a greater -tensor, -pipeline or -zero 2";
}

int64_t th_plan_memory_most(const th_work_context *c, const th_pipeline_schedule *s, int32_t *stage,
                            double *fill)
{
    int64_t most = 0;
    double fullest = -1;
    for (int32_t k = 0; k < s->shape.stages * th_plan_n_shares(c->p); k++) {
        const int32_t i = k % s->shape.stages, share = k / s->shape.stages;
        const th_plan_memory m = th_plan_memory_of(c, &s[share], i);
        const int64_t sum = th_plan_memory_sum(&m);
        const double of = (double)sum / (double)th_stage_device(c, i, share).memory_bytes;
        most = th_max(most, sum);
        if (of > fullest && stage)
            *stage = k;
        fullest = th_max(fullest, of);
    }
    if (fill)
        *fill = fullest;
    return most;
}

/* The least -zero above that of the plan with which it fits; 0: none. */
static int32_t zero_that_fits(const th_work_context *c, const th_pipeline_schedule *s)
{
    th_parallel_plan p = *c->p;
    th_work_context with = *c;
    double fill = 2;
    with.p = &p;
    while (fill > 1 && p.n.zero < zero_most(&p) && p.n.zero_group > 1) {
        p.n.zero++;
        th_plan_memory_most(&with, s, NULL, &fill);
    }
    return fill <= 1 ? p.n.zero : 0;
}

int th_plan_memory_check(const th_work_context *c, const th_pipeline_schedule *s, th_error *err)
{
    int32_t at = 0;
    double fill;
    th_plan_memory_most(c, s, &at, &fill);
    const int32_t fullest = at % s->shape.stages, share = at / s->shape.stages;
    const double there = (double)th_stage_device(c, fullest, share).memory_bytes;
    const th_plan_memory m = th_plan_memory_of(c, &s[share], fullest);
    const double most = (double)th_plan_memory_sum(&m);
    int largest = 0;
    for (int i = 1; i < TH_N_MEMORY_TERMS; i++)
        largest = m.of[i] > m.of[largest] ? i : largest;
    if (most <= there)
        return 0;
    const bool may_fit = most <= there * TH_PLAN_FILL_MAX;
    const int32_t zero = zero_that_fits(c, s);
    char with_zero[16];
    snprintf(with_zero, sizeof with_zero, "-zero %d", (int)zero);
    th_error_set(err, "MAP-0430",
                 "stage %d needs %.1f GB of the accelerator's %.1f GB%s; %s take %.1f GB: %s %s",
                 (int)fullest, most / 1e9, there / 1e9,
                 may_fit ? ", which is within the error of the estimate" : "",
                 th_memory_term_names[largest], (double)m.of[largest] / 1e9,
                 zero > 0 ? with_zero : remedy(c, largest),
                 may_fit ? "would make room" : "makes room");
    return may_fit ? 1 : -1;
}
