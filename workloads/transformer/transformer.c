/* SPDX-License-Identifier: GPL-3.0-or-later */
/* transformer.c - see transformer.h. */
#include <config.h>
#include "workloads/transformer/transformer.h"

static int check_kinds(const th_transformer *t, th_error *err)
{
    for (int32_t i = 0; i < t->n_kinds; i++) {
        const th_transformer_kind *k = &t->kinds[i];
        if (k->heads > 0 && (k->kv_heads < 1 || k->head_dim < 1 || k->heads % k->kv_heads != 0))
            return th_error_set(
                err, "WORK-1066",
                "-layer_kinds: %s: kv_heads %lld, head_dim %lld: must be a divisor of "
                "the %lld heads, and a width",
                k->name, (long long)k->kv_heads, (long long)k->head_dim, (long long)k->heads);
        if (k->experts > 0 && t->experts.n == 0)
            return th_error_set(err, "WORK-1067", "-layer_kinds: %s: experts 1: needs -experts",
                                k->name);
        if (!th_kind_has_mixer(k) && !th_kind_has_ffn(k))
            return th_error_set(err, "WORK-1068",
                                "-layer_kinds: %s: needs heads, weights, ffn or experts", k->name);
    }
    return 0;
}

int th_transformer_check(const th_transformer *t, th_error *err)
{
    const struct {
        const char *name;
        int32_t n;
    } needed[] = {{"-layers", t->layers}, {"-hidden", t->hidden},     {"-heads", t->heads},
                  {"-vocab", t->vocab},   {"-head_dim", t->head_dim}, {"-kv_heads", t->kv_heads}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i].n < 1)
            return th_error_set(err, "WORK-0400", "%s: must be at least 1", needed[i].name);
    if (t->heads % t->kv_heads != 0)
        return th_error_set(err, "WORK-0401", "-kv_heads %d: must divide the %d heads",
                            (int)t->kv_heads, (int)t->heads);
    if (t->n_kinds == 0 && t->ffn < 1 && (t->experts.n == 0 || t->experts.dense_layers > 0))
        return th_error_set(err, "WORK-0402", "-ffn: must be at least 1");
    if (t->experts.n > 0 && (t->experts.top_k < 1 || t->experts.top_k > t->experts.n))
        return th_error_set(err, "WORK-0403", "-top_k %d: must be from 1 to the %d experts",
                            (int)t->experts.top_k, (int)t->experts.n);
    if (t->experts.n > 0 && t->experts.ffn < 1)
        return th_error_set(err, "WORK-0404", "-expert_ffn: must be at least 1");
    if (t->experts.dense_layers > t->layers)
        return th_error_set(err, "WORK-0405", "-dense_layers %d: at most the %d layers",
                            (int)t->experts.dense_layers, (int)t->layers);
    return check_kinds(t, err);
}

/* ---- layers ---- */

th_transformer_kind th_transformer_layer(const th_transformer *t, int32_t layer)
{
    if (t->n_kinds > 0)
        return t->kinds[t->pattern[layer % t->n_pattern]];
    bool is_sparse = t->experts.n > 0 && layer >= t->experts.dense_layers;
    bool has_window = t->window > 0 && layer % t->window_every == 0;
    return (th_transformer_kind){.heads = t->heads,
                                 .kv_heads = t->kv_heads,
                                 .head_dim = t->head_dim,
                                 .window = has_window ? t->window : 0,
                                 .ffn = is_sparse ? 0 : t->ffn,
                                 .experts = is_sparse};
}

bool th_kind_has_mixer(const th_transformer_kind *k)
{
    return k->heads > 0 || k->weights > 0;
}

bool th_kind_has_ffn(const th_transformer_kind *k)
{
    return k->ffn > 0 || k->experts > 0;
}

bool th_transformer_is_sparse(const th_transformer *t, int32_t layer)
{
    return t->experts.n > 0 && th_transformer_layer(t, layer).experts > 0;
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

int64_t th_kind_mixer_weights(const th_transformer *t, const th_transformer_kind *k)
{
    if (k->weights > 0 || k->heads == 0)
        return k->weights;
    if (t->latent.kv_rank > 0)
        return latent_weights(t);
    return 2 * (int64_t)t->hidden * k->head_dim * (k->heads + k->kv_heads);
}

int64_t th_ffn_weights(const th_transformer *t, int32_t width)
{
    return (t->gated ? 3 : 2) * (int64_t)t->hidden * width;
}

static int64_t bias_parameters(const th_transformer *t, const th_transformer_kind *k)
{
    int64_t qkv = k->head_dim * (k->heads + 2 * k->kv_heads);
    if (t->bias == TH_BIAS_NONE || k->heads == 0)
        return 0;
    if (t->bias == TH_BIAS_QKV)
        return qkv;
    int64_t ffn = (t->gated ? 2 : 1) * (k->experts ? t->experts.ffn : k->ffn) + t->hidden;
    return qkv + t->hidden + ffn * (k->experts ? t->experts.n : 1);
}

static int64_t norm_parameters(const th_transformer *t, const th_transformer_kind *k)
{
    int64_t of_parts = (int64_t)t->hidden * (th_kind_has_mixer(k) + th_kind_has_ffn(k));
    int64_t of_heads = t->has_qk_norm && k->heads > 0 ? 2 * k->head_dim : 0;
    bool is_latent = t->latent.kv_rank > 0 && k->heads > 0;
    int64_t of_latent = is_latent ? t->latent.q_rank + t->latent.kv_rank : 0;
    return (of_parts + of_heads + of_latent) * t->norm_size;
}

int64_t th_transformer_layer_parameters(const th_transformer *t, int32_t layer)
{
    const th_experts *e = &t->experts;
    th_transformer_kind k = th_transformer_layer(t, layer);
    int64_t n = th_kind_mixer_weights(t, &k) + norm_parameters(t, &k) + bias_parameters(t, &k) +
                k.parameters;
    if (!th_transformer_is_sparse(t, layer))
        return n + th_ffn_weights(t, (int32_t)k.ffn);
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

int64_t th_transformer_parameters(const th_transformer *t)
{
    int64_t n = th_transformer_embedding_parameters(t) + th_transformer_head_parameters(t);
    for (int32_t i = 0; i < t->layers; i++)
        n += th_transformer_layer_parameters(t, i);
    return n;
}

/* ---- operations ---- */

int64_t th_kind_active_weights(const th_transformer *t, const th_transformer_kind *k)
{
    const th_experts *e = &t->experts;
    int64_t n = th_kind_mixer_weights(t, k);
    if (!k->experts)
        return n + th_ffn_weights(t, (int32_t)k->ffn);
    return n + e->top_k * th_ffn_weights(t, e->ffn) + th_ffn_weights(t, e->shared_ffn) +
           (int64_t)t->hidden * e->n;
}

int64_t th_transformer_active_weights(const th_transformer *t)
{
    int64_t n = (int64_t)t->hidden * t->vocab;
    for (int32_t i = 0; i < t->layers; i++) {
        th_transformer_kind k = th_transformer_layer(t, i);
        n += th_kind_active_weights(t, &k);
    }
    return n;
}

/* The mean, over the queries of a sequence, of the keys up to their own, most of them at most: the
 * first queries meet fewer than that. */
static double mean_keys(double s, double most)
{
    return most > 0 && most < s ? most - most * (most - 1) / (2 * s) : (s + 1) / 2;
}

double th_transformer_keys(const th_transformer *t, int32_t layer, int32_t sequence)
{
    th_transformer_kind k = th_transformer_layer(t, layer);
    double s = sequence, w = (double)k.window, ratio = (double)k.ratio;
    if (t->is_encoder)
        return w > 0 && w < s ? w : s;
    double compressed = ratio > 0 ? mean_keys(s, (double)k.top * ratio) / ratio : 0;
    return mean_keys(s, w) + compressed;
}

double th_kind_head_width(const th_transformer *t, const th_transformer_kind *k)
{
    return t->latent.kv_rank > 0 ? (t->head_dim + t->latent.rope_dim + t->latent.value_dim) / 2.0
                                 : (double)k->head_dim;
}

double th_kind_other_operations(const th_transformer_kind *k, int32_t sequence)
{
    double scored = mean_keys(sequence, 0) / (double)(k->ratio > 0 ? k->ratio : 1);
    return (double)k->operations + 2 * (double)k->index * scored;
}

double th_transformer_operations(const th_transformer *t, int32_t sequence, bool is_causal)
{
    double n = 6.0 * (double)th_transformer_active_weights(t);
    for (int32_t i = 0; i < t->layers; i++) {
        th_transformer_kind k = th_transformer_layer(t, i);
        double keys = is_causal ? th_transformer_keys(t, i, sequence) : sequence;
        n += 12.0 * (double)k.heads * th_kind_head_width(t, &k) * keys +
             3 * th_kind_other_operations(&k, sequence);
    }
    return n;
}
