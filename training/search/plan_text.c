/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_text.c - what a search chooses of a plan, as text. */
#include <config.h>
#include <stddef.h>
#include <stdio.h>
#include "base/map.h"
#include "training/search/plan_search.h"
#include "training/plan_stages.h"

void th_plan_describe(const th_parallel_plan *p, th_strbuf *out)
{
    const th_degrees *n = &p->n;
    th_strbuf_printf(out, "-tensor %d", (int)n->tensor);
    if (p->sequence_parallel)
        th_strbuf_add(out, " -sequence_parallel");
    if (n->context > 1)
        th_strbuf_printf(out, " -context %d", (int)n->context);
    th_strbuf_printf(out, " -pipeline %d", (int)n->pipeline);
    if (n->pipeline > 1 || p->schedule != th_pipeline_find("1f1b"))
        th_strbuf_printf(out, " -schedule %s", p->schedule->name);
    if (n->chunks > 1)
        th_strbuf_printf(out, " -virtual %d", (int)n->chunks);
    for (int32_t i = 0; i < p->n_own; i++) {
        char word[32];
        th_plan_stage_word(p, i, word, sizeof word);
        th_strbuf_printf(out, "%s%s%s", i == 0 ? " -stages {" : " ", word,
                         i == p->n_own - 1 ? "}" : "");
    }
    th_strbuf_printf(out, " -data %d", (int)n->data);
    for (int32_t i = 0; i < p->n_shares; i++)
        th_strbuf_printf(out, "%s%d%s", i == 0 ? " -shares {" : " ", (int)p->shares[i],
                         i == p->n_shares - 1 ? "}" : "");
    if (p->n_shares > 0) /* else that of all plans */
        th_strbuf_printf(out, " -order {%s %s %s %s}", th_axis_names[p->order[0]],
                         th_axis_names[p->order[1]], th_axis_names[p->order[2]],
                         th_axis_names[p->order[3]]);
    if (n->expert > 1)
        th_strbuf_printf(out, " -expert %d", (int)n->expert);
    if (n->expert_tensor > 1)
        th_strbuf_printf(out, " -expert_tensor %d", (int)n->expert_tensor);
    if (n->zero > 0 && n->zero_group < n->data * n->context)
        th_strbuf_printf(out, " -zero_group %d", (int)n->zero_group);
    th_strbuf_printf(out, " -zero %d -micro_batch %d -recompute %s", (int)n->zero,
                     (int)p->batch.micro_batch, th_plan_recompute_names[p->recompute]);
}

void th_plan_short_name(const th_parallel_plan *p, char *out, size_t size)
{
    const th_degrees *n = &p->n;
    const struct {
        const char *name;
        int32_t degree;
    } of[] = {{"TP", n->tensor}, {"CP", n->context},        {"PP", n->pipeline}, {"VP", n->chunks},
              {"EP", n->expert}, {"ETP", n->expert_tensor}, {"DP", n->data}};
    int at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof of / sizeof *of && at < (int)size; i++)
        if (of[i].degree > 1)
            at += snprintf(out + at, size - (size_t)at, "%s%s %d", at > 0 ? " " : "", of[i].name,
                           (int)of[i].degree);
    if (at == 0)
        snprintf(out, size, "1 accelerator");
}

static uint64_t add(uint64_t h, const int64_t *of, int n)
{
    for (int i = 0; i < n; i++)
        h = th_hash_word(h, (uint64_t)of[i]);
    return h;
}

uint64_t th_plan_model_digest(const th_transformer *t, int32_t sequence, uint64_t seed)
{
    const th_experts *e = &t->experts;
    const th_latent_attention *l = &t->latent;
    const int64_t model[] = {t->layers,  t->hidden,     t->vocab,      t->gated,
                             t->tied,    t->is_encoder, t->positions,  e->n,
                             e->top_k,   e->ffn,        e->shared_ffn, l->q_rank,
                             l->kv_rank, l->rope_dim,   l->value_dim,  sequence};
    const size_t from = offsetof(th_transformer_kind, heads);
    uint64_t h =
        add(th_hash_word(seed, t->no_attention_dropout), model, sizeof model / sizeof *model);
    for (int32_t i = 0; i < t->layers; i++) {
        const th_transformer_kind k = th_transformer_layer(t, i);
        const int64_t parameters = th_transformer_layer_parameters(t, i);
        h = th_hash((const char *)&k + from, sizeof k - from, h);
        h = add(h, &parameters, 1);
    }
    return h;
}
