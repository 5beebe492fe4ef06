/* SPDX-License-Identifier: GPL-3.0-or-later */
/* transformer.c - see transformer.h. */
#include <config.h>
#include "workloads/transformer/transformer.h"

int th_transformer_check(const th_transformer *t, th_error *err)
{
    const struct {
        const char *name;
        int32_t n;
    } needed[] = {{"-layers", t->layers}, {"-hidden", t->hidden},     {"-heads", t->heads},
                  {"-vocab", t->vocab},   {"-head_dim", t->head_dim}, {"-kv_heads", t->kv_heads}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i].n < 1)
            return th_error_set(err, "WORK-0400", "%s: at least 1 was expected", needed[i].name);
    if (t->heads % t->kv_heads != 0)
        return th_error_set(err, "WORK-0401",
                            "-kv_heads %d: a divisor of the %d heads was expected",
                            (int)t->kv_heads, (int)t->heads);
    if (t->ffn < 1 && (t->experts.n == 0 || t->experts.dense_layers > 0))
        return th_error_set(err, "WORK-0402", "-ffn: at least 1 was expected");
    if (t->experts.n > 0 && (t->experts.top_k < 1 || t->experts.top_k > t->experts.n))
        return th_error_set(err, "WORK-0403", "-top_k %d: 1 to the %d experts was expected",
                            (int)t->experts.top_k, (int)t->experts.n);
    if (t->experts.n > 0 && t->experts.ffn < 1)
        return th_error_set(err, "WORK-0404", "-expert_ffn: at least 1 was expected");
    if (t->experts.dense_layers > t->layers)
        return th_error_set(err, "WORK-0405", "-dense_layers %d: at most the %d layers",
                            (int)t->experts.dense_layers, (int)t->layers);
    return 0;
}

bool th_transformer_is_sparse(const th_transformer *t, int32_t layer)
{
    return t->experts.n > 0 && layer >= t->experts.dense_layers;
}

/* ---- parameters ---- */

/* DeepSeek-V2 (arXiv 2405.04434), section 2.1: head_dim is that of a key without its part for the
 * position. */
static int64_t latent_weights(const th_transformer *t)
{
    const th_latent_attention *l = &t->latent;
    int64_t h = t->hidden, a = t->heads, key = t->head_dim + l->rope_dim;
    int64_t queries = l->q_rank ? h * l->q_rank + l->q_rank * a * key : h * a * key;
    return queries + h * (l->kv_rank + l->rope_dim) +
           l->kv_rank * a * (t->head_dim + l->value_dim) + a * l->value_dim * h;
}

static int64_t attention_weights(const th_transformer *t)
{
    int64_t h = t->hidden, d = t->head_dim;
    if (t->latent.kv_rank > 0)
        return latent_weights(t);
    return h * d * (t->heads + 2 * t->kv_heads) + t->heads * d * h;
}

int64_t th_ffn_weights(const th_transformer *t, int32_t width)
{
    return (t->gated ? 3 : 2) * (int64_t)t->hidden * width;
}

static int64_t bias_parameters(const th_transformer *t, bool is_sparse)
{
    int64_t qkv = (int64_t)t->head_dim * (t->heads + 2 * t->kv_heads);
    switch (t->bias) {
    case TH_BIAS_NONE:
        return 0;
    case TH_BIAS_QKV:
        return qkv;
    case TH_BIAS_ALL:
        break;
    }
    int64_t ffn = (t->gated ? 2 : 1) * (int64_t)(is_sparse ? t->experts.ffn : t->ffn) + t->hidden;
    return qkv + t->hidden + ffn * (is_sparse ? t->experts.n : 1);
}

static int64_t norm_parameters(const th_transformer *t)
{
    int64_t of_heads = t->has_qk_norm ? 2 * (int64_t)t->head_dim : 0;
    int64_t of_latent = t->latent.kv_rank > 0 ? t->latent.q_rank + t->latent.kv_rank : 0;
    return (2 * (int64_t)t->hidden + of_heads + of_latent) * t->norm_size;
}

int64_t th_transformer_layer_parameters(const th_transformer *t, int32_t layer)
{
    const th_experts *e = &t->experts;
    bool is_sparse = th_transformer_is_sparse(t, layer);
    int64_t n = attention_weights(t) + norm_parameters(t) + bias_parameters(t, is_sparse);
    if (!is_sparse)
        return n + th_ffn_weights(t, t->ffn);
    return n + e->n * th_ffn_weights(t, e->ffn) + th_ffn_weights(t, e->shared_ffn) +
           (int64_t)t->hidden * e->n;
}

int64_t th_transformer_embedding_parameters(const th_transformer *t)
{
    return (int64_t)t->hidden * (t->vocab + t->positions) + t->other;
}

int64_t th_transformer_head_parameters(const th_transformer *t)
{
    return (int64_t)t->hidden * (t->norm_size + (t->tied ? 0 : t->vocab));
}

/* ---- operations ---- */

int64_t th_transformer_active_weights(const th_transformer *t)
{
    const th_experts *e = &t->experts;
    int64_t n = (int64_t)t->hidden * t->vocab;
    for (int32_t i = 0; i < t->layers; i++) {
        n += attention_weights(t);
        if (th_transformer_is_sparse(t, i))
            n += e->top_k * th_ffn_weights(t, e->ffn) + th_ffn_weights(t, e->shared_ffn) +
                 (int64_t)t->hidden * e->n;
        else
            n += th_ffn_weights(t, t->ffn);
    }
    return n;
}

double th_transformer_keys(const th_transformer *t, int32_t layer, int32_t sequence)
{
    double s = sequence, w = t->window;
    bool has_window = t->window > 0 && layer % t->window_every == 0 && t->window < sequence;
    if (t->is_encoder)
        return has_window ? w : s;
    /* the first w queries meet fewer keys than the window holds */
    return has_window ? w - w * (w - 1) / (2 * s) : (s + 1) / 2;
}

double th_transformer_operations(const th_transformer *t, int32_t sequence, bool is_causal)
{
    double n = 6.0 * (double)th_transformer_active_weights(t);
    double value = t->latent.kv_rank > 0
                       ? (t->head_dim + t->latent.rope_dim + t->latent.value_dim) / 2.0
                       : t->head_dim;
    for (int32_t i = 0; i < t->layers; i++)
        n += 12.0 * t->heads * value * (is_causal ? th_transformer_keys(t, i, sequence) : sequence);
    return n;
}
