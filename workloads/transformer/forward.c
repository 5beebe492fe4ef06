/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forward.c - the forward pass of a transformer language model as a workload: the text of a
 * workload file, which the reader of these checks.
 *   check -> embedding -> layer by layer: attention, feed-forward network -> norm and output layer
 * What one kernel computes is one layer: attention is fused, and gates are. */
#include <config.h>
#include "base/files/config_write.h"
#include "workloads/transformer/transformer.h"
#include "workloads/workload_read.h"

/* Layers that have no kind here. 0 or -1. */
static int check(const th_transformer *t, th_error *err)
{
    if (t->experts.n > 0)
        return th_error_set(
            err, "WORK-0406",
            "%s: the layers of a workload do not choose experts: must be a model without -experts",
            t->name);
    if (t->latent.kv_rank > 0)
        return th_error_set(err, "WORK-0407",
                            "%s: the layers of a workload have no latent attention: must be a "
                            "model with -heads and -kv_heads",
                            t->name);
    for (int32_t i = 0; i < t->n_kinds; i++) {
        const th_transformer_kind *k = &t->kinds[i];
        if (k->heads != t->heads || k->kv_heads != t->kv_heads || k->head_dim != t->head_dim ||
            k->ffn != t->ffn || k->weights || k->parameters || k->operations || k->bytes ||
            k->ratio || k->index)
            return th_error_set(err, "WORK-1069",
                                "%s: the layers of a workload are no layers \"%s\": kinds must "
                                "differ in windows alone",
                                t->name, k->name);
    }
    return 0;
}

static void put(th_strbuf *out, const char *name, int32_t layer, const char *type)
{
    if (layer < 0)
        th_strbuf_printf(out, "    { name = \"%s\"; type = \"%s\";", name, type);
    else
        th_strbuf_printf(out, "    { name = \"h%d.%s\"; type = \"%s\";", (int)layer, name, type);
}

static void put_norm(const th_transformer *t, th_strbuf *out, const char *name, int32_t layer)
{
    put(out, name, layer, t->norm_size == 2 ? "layer_norm" : "rms_norm");
    th_strbuf_add(out, " },\n");
}

/* A product of the layer in front, or of one of the same layer of the model. */
static void put_product(th_strbuf *out, const char *name, int32_t layer, const char *from,
                        int64_t columns, bool has_bias)
{
    put(out, name, layer, "matmul");
    if (from)
        th_strbuf_printf(out, " inputs = \"h%d.%s\";", (int)layer, from);
    th_strbuf_printf(out, " columns = %lld; bias = %s; },\n", (long long)columns,
                     has_bias ? "true" : "false");
}

/* Queries or keys: their product, and what turns them by their positions. */
static void put_projection(const th_transformer *t, th_strbuf *out, int32_t layer, bool is_query)
{
    int64_t columns = (int64_t)(is_query ? t->heads : t->kv_heads) * t->head_dim;
    put_product(out, is_query ? "q" : "k", layer, "norm1", columns, t->bias != TH_BIAS_NONE);
    if (t->has_qk_norm)
        put_norm(t, out, is_query ? "q_norm" : "k_norm", layer);
    if (t->positions > 0)
        return;
    put(out, is_query ? "q_turned" : "k_turned", layer, "rotary");
    th_strbuf_add(out, " },\n");
}

/* What a decoder's attention does not look at. */
static void put_mask(const th_transformer *t, th_strbuf *out, int32_t layer, int32_t sequence)
{
    if (t->is_encoder)
        return;
    th_strbuf_printf(out, " causal_rows = %d;", (int)sequence);
    const th_transformer_kind k = th_transformer_layer(t, layer);
    if (k.window > 0)
        th_strbuf_printf(out, " window = %d;", (int)k.window);
}

static void put_attention(const th_transformer *t, th_strbuf *out, int32_t i, int32_t sequence)
{
    const char *end = t->positions == 0 ? "_turned" : t->has_qk_norm ? "_norm" : "";
    put_norm(t, out, "norm1", i);
    put_projection(t, out, i, true);
    put_projection(t, out, i, false);
    put_product(out, "v", i, "norm1", (int64_t)t->kv_heads * t->head_dim, t->bias != TH_BIAS_NONE);
    put(out, "attention", i, "fused_attention");
    th_strbuf_printf(out, " inputs = [\"h%d.q%s\", \"h%d.k%s\", \"h%d.v\"]; heads = %d;", (int)i,
                     end, (int)i, end, (int)i, (int)t->heads);
    put_mask(t, out, i, sequence);
    th_strbuf_add(out, " },\n");
    put_product(out, "proj", i, NULL, t->hidden, t->bias == TH_BIAS_ALL);
    put(out, "sum1", i, "add");
    if (i == 0)
        th_strbuf_add(out, " inputs = [\"h0.proj\", \"embedded\"]; },\n");
    else
        th_strbuf_printf(out, " inputs = [\"h%d.proj\", \"h%d.sum2\"]; },\n", (int)i, (int)i - 1);
}

static void put_ffn(const th_transformer *t, th_strbuf *out, int32_t i)
{
    bool has_bias = t->bias == TH_BIAS_ALL;
    put_norm(t, out, "norm2", i);
    put_product(out, "up", i, NULL, t->ffn, has_bias);
    if (t->gated) {
        put_product(out, "gate", i, "norm2", t->ffn, has_bias);
        put(out, "gated", i, "gate");
        th_strbuf_printf(out, " inputs = [\"h%d.gate\", \"h%d.up\"]; },\n", (int)i, (int)i);
    } else {
        put(out, "gelu", i, "gelu");
        th_strbuf_add(out, " },\n");
    }
    put_product(out, "down", i, NULL, t->hidden, has_bias);
    put(out, "sum2", i, "add");
    th_strbuf_printf(out, " inputs = [\"h%d.down\", \"h%d.sum1\"]; },\n", (int)i, (int)i);
}

static void put_embedding(const th_transformer *t, th_strbuf *out)
{
    put(out, t->positions > 0 ? "words" : "embedded", -1, "embedding");
    th_strbuf_printf(out, " vocabulary = %d; outputs = %d; },\n", (int)t->vocab, (int)t->hidden);
    if (t->positions == 0)
        return;
    put(out, "positions", -1, "embedding");
    th_strbuf_printf(out, " inputs = \"input\"; vocabulary = %d; outputs = %d; },\n",
                     (int)t->positions, (int)t->hidden);
    put(out, "embedded", -1, "add");
    th_strbuf_add(out, " inputs = [\"words\", \"positions\"]; },\n");
}

static void put_model(const th_transformer *t, const th_forward_options *o, th_strbuf *out)
{
    th_strbuf_add(out, "name = ");
    th_config_put_text(out, t->name);
    th_strbuf_printf(out,
                     ";\nbatch = %d;\nprecision = \"%s\";\ninput = { channels = 1; height = %d; "
                     "width = 1; };\nlayers = (\n",
                     (int)o->batch, th_precision_name(o->precision), (int)o->sequence);
    put_embedding(t, out);
    for (int32_t i = 0; i < t->layers; i++) {
        put_attention(t, out, i, o->sequence);
        put_ffn(t, out, i);
    }
    put_norm(t, out, "norm", -1);
    put(out, "logits", -1, "matmul");
    const char *table = !t->tied ? "" : t->positions > 0 ? "words" : "embedded";
    th_strbuf_printf(
        out, t->tied ? " columns = %d; weights_of = \"%s\"; } );\n" : " columns = %d;%s } );\n",
        (int)t->vocab, table);
}

th_workload *th_transformer_forward(const th_transformer *t, const th_forward_options *o,
                                    th_error *err)
{
    th_strbuf text = TH_STRBUF_INIT;
    th_workload *w = NULL;
    if (check(t, err))
        return NULL;
    put_model(t, o, &text);
    if (text.failed)
        th_error_no_memory(err);
    else
        w = th_workload_read_text(text.text, t->name, 0, err);
    th_strbuf_clear(&text);
    return w;
}
