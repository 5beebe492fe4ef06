/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_transformer.c - create_transformer: a language model by its shape; report_transformer.
 *   run_create_transformer -> take_config (options of a file) -> parse_shape -> take_kinds */
#include <config.h>
#include <stddef.h>
#include <string.h>
#include "base/names.h"
#include "session/sections/sections.h"
#include "tcl/command.h"
#include "tcl/core/lib_report.h"
#include "tcl/report_call.h"
#include "tcl/warning.h"
#include "tcl/tcl_session.h"

enum {
    MODEL_PRESET,
    MODEL_NAME,
    MODEL_LAYERS,
    MODEL_HIDDEN,
    MODEL_HEADS,
    MODEL_KV_HEADS,
    MODEL_HEAD_DIM,
    MODEL_FFN,
    MODEL_GATED,
    MODEL_VOCAB,
    MODEL_TIED,
    MODEL_EXPERTS,
    MODEL_TOP_K,
    MODEL_EXPERT_FFN,
    MODEL_SHARED_FFN,
    MODEL_DENSE_LAYERS,
    MODEL_QUERY_RANK,
    MODEL_LATENT_RANK,
    MODEL_ROPE_DIM,
    MODEL_VALUE_DIM,
    MODEL_WINDOW,
    MODEL_WINDOW_EVERY,
    MODEL_SEQUENCE,
    MODEL_PRECISION,
    MODEL_RECOMPUTE,
    MODEL_SKEW,
    MODEL_FORWARD,
    MODEL_BATCH,
    MODEL_CONFIG,
    MODEL_BIAS,
    MODEL_QK_NORM,
    MODEL_NORM_SIZE,
    MODEL_OTHER,
    MODEL_DROPOUT,
    MODEL_KINDS,
    MODEL_PATTERN
};

enum { EXTENT_MAX = 1 << 24, NAME_MAX_BYTES = 63 };

TH_CHOICE(preset_name, th_transformer_presets[i].shape.name)
TH_CHOICE(precision_name, th_step_precisions[i].name)

#define EXTENT(NAME, HELP)                                                                         \
    {                                                                                              \
        NAME, TH_OPTION_INTEGER, "N", HELP, 1, EXTENT_MAX                                          \
    }

static const th_option transformer_options[] = {
    [MODEL_PRESET] = {"-model", TH_OPTION_CHOICE, "NAME",
                      "A published model; other options change its shape.", .choice = preset_name},
    [MODEL_NAME] = {"-name", TH_OPTION_TEXT, "NAME", "Name of the model."},
    [MODEL_LAYERS] = EXTENT("-layers", "Layers."),
    [MODEL_HIDDEN] = EXTENT("-hidden", "Width of the residual stream."),
    [MODEL_HEADS] = EXTENT("-heads", "Attention heads."),
    [MODEL_KV_HEADS] = EXTENT("-kv_heads", "Heads of keys and values (-heads)."),
    [MODEL_HEAD_DIM] = EXTENT("-head_dim", "Width of a head (-hidden / -heads)."),
    [MODEL_FFN] = EXTENT("-ffn", "Width of the feed-forward network (4 x -hidden)."),
    [MODEL_GATED] = {"-gated", TH_OPTION_INTEGER, "0|1",
                     "1: the feed-forward network has three matrices, else two (0).", 0, 1},
    [MODEL_VOCAB] = EXTENT("-vocab", "Tokens of the vocabulary."),
    [MODEL_TIED] = {"-tied", TH_OPTION_INTEGER, "0|1", "1: the output layer is the embedding (0).",
                    0, 1},
    [MODEL_EXPERTS] = {"-experts", TH_OPTION_INTEGER, "N", "Experts of a layer (0: none).", 0,
                       EXTENT_MAX},
    [MODEL_TOP_K] = EXTENT("-top_k", "Experts that a token passes (1)."),
    [MODEL_EXPERT_FFN] = EXTENT("-expert_ffn", "Width of an expert."),
    [MODEL_SHARED_FFN] = {"-shared_expert_ffn", TH_OPTION_INTEGER, "N",
                          "Width of the shared experts together (0).", 0, EXTENT_MAX},
    [MODEL_DENSE_LAYERS] = {"-dense_layers", TH_OPTION_INTEGER, "N",
                            "First layers without experts (0).", 0, EXTENT_MAX},
    [MODEL_QUERY_RANK] = {"-query_rank", TH_OPTION_INTEGER, "N",
                          "Width of compressed queries of latent attention (0: not compressed).", 0,
                          EXTENT_MAX},
    [MODEL_LATENT_RANK] = {"-latent_rank", TH_OPTION_INTEGER, "N",
                           "Width of compressed keys and values: multi-head latent attention, "
                           "-head_dim being a key's part without position (0: none).",
                           0, EXTENT_MAX},
    [MODEL_ROPE_DIM] = {"-rope_dim", TH_OPTION_INTEGER, "N",
                        "Width of the position's part of a latent key (64).", 0, EXTENT_MAX},
    [MODEL_VALUE_DIM] = EXTENT("-value_dim", "Width of a value of latent attention (-head_dim)."),
    [MODEL_WINDOW] = {"-window", TH_OPTION_INTEGER, "N",
                      "Keys that a query meets in windowed layers (0: all).", 0, EXTENT_MAX},
    [MODEL_WINDOW_EVERY] = EXTENT("-window_every", "Every so many layers have the window (1)."),
    [MODEL_SEQUENCE] = EXTENT("-sequence", "Tokens of a sequence (2048)."),
    [MODEL_PRECISION] = {"-precision", TH_OPTION_CHOICE, "P",
                         "Of products: bf16 (the default), fp16; fp32 or tf32 with weights, "
                         "gradients, activations and messages of 32 bits; in the layers fp8 with a "
                         "scale per tensor, fp8_rows per row, mxfp8 or nvfp4 per block.",
                         .choice = precision_name},
    [MODEL_RECOMPUTE] = {"-recompute", TH_OPTION_CHOICE, "WHAT",
                         "What the backward operation computes again: none (the default), "
                         "selective (the scores of attention), full (the layer), needed (the "
                         "layer up to the last tensor that a gradient needs).",
                         .names = th_plan_recompute_names},
    [MODEL_SKEW] = {"-expert_skew", TH_OPTION_NUMBER, "FACTOR", .low = 1, .high = 1e6,
                    .help = "Tokens of the busiest rank's experts over the mean (1: balanced)."},
    [MODEL_FORWARD] = {"-forward", TH_OPTION_FLAG, NULL,
                       "Also makes its forward pass the workload, layer by layer, for "
                       "map_workload. The mapping and the run of the previous workload are "
                       "dropped."},
    [MODEL_BATCH] = {"-batch", TH_OPTION_INTEGER, "N", "Sequences per batch of -forward (1).", 1,
                     1000000},
    [MODEL_CONFIG] = {"-config", TH_OPTION_FILE, "FILE",
                      "A config.json of huggingface.co; other options change its shape.",
                      .without = "-model"},
    [MODEL_BIAS] =
        {"-bias", TH_OPTION_CHOICE, "WHICH",
         "What has a bias: none (the default), qkv (queries, keys and values) or all.",
         .names = TH_NAMES([TH_BIAS_NONE] = "none", [TH_BIAS_QKV] = "qkv", [TH_BIAS_ALL] = "all")},
    [MODEL_QK_NORM] = {"-qk_norm", TH_OPTION_INTEGER, "0|1",
                       "1: each head's query and key pass a norm (0).", 0, 1},
    [MODEL_NORM_SIZE] = {"-norm_size", TH_OPTION_INTEGER, "N",
                         "Parameters of a norm per channel (1; with a bias 2).", 1, 2},
    [MODEL_OTHER] = {"-other_parameters", TH_OPTION_INTEGER, "N",
                     "Outside the layers, that no other option counts (0).", 0, INT64_C(1) << 50},
    [MODEL_DROPOUT] = {"-attention_dropout", TH_OPTION_INTEGER, "0|1",
                       "1: dropout behind the softmax of attention that is not fused (1).", 0, 1},
    [MODEL_KINDS] = {"-layer_kinds", TH_OPTION_TEXT, "KINDS",
                     "Kinds of layers, each {NAME KEY N ...}, where a model has several. Of "
                     "attention: heads (0: none), kv_heads, head_dim, window (0: all keys), ratio "
                     "(one more key for so many), top (so many of these), index (heads x width of "
                     "what chooses keys); ffn, or experts 1; weights of products in place of those "
                     "of attention; further parameters; operations and bytes of a token forward "
                     "that neither tells. Keys that are left out are the model's.",
                     .least = 1, .most = TH_TRANSFORMER_KINDS_MAX},
    [MODEL_PATTERN] = {"-layer_pattern", TH_OPTION_TEXT, "NAMES",
                       "The kind of each layer, from the first; repeated (-layer_kinds in turn).",
                       .least = 1, .most = TH_TRANSFORMER_PATTERN_MAX,
                       .with = "-layer_kinds -config"},
    {.name = NULL},
};

static void take(const th_call *c, int option, int32_t *out)
{
    *out = (int32_t)th_call_number(c, option, *out);
}

static void take_experts(const th_call *c, th_experts *e)
{
    take(c, MODEL_EXPERTS, &e->n);
    take(c, MODEL_TOP_K, &e->top_k);
    take(c, MODEL_EXPERT_FFN, &e->ffn);
    take(c, MODEL_SHARED_FFN, &e->shared_ffn);
    take(c, MODEL_DENSE_LAYERS, &e->dense_layers);
    if (e->n > 0 && e->top_k == 0)
        e->top_k = 1;
}

enum { ROPE_DIM = 64 }; /* of DeepSeek's models, and of those made after them */

static int take_latent(th_call *c, th_transformer *t)
{
    th_latent_attention *l = &t->latent;
    bool is_new = l->kv_rank == 0;
    take(c, MODEL_LATENT_RANK, &l->kv_rank);
    if (l->kv_rank == 0) {
        *l = (th_latent_attention){.kv_rank = 0};
        for (int o = MODEL_QUERY_RANK; o <= MODEL_VALUE_DIM; o++)
            if (o != MODEL_LATENT_RANK && th_call_has(c, o))
                return th_error_set(&c->err, "TCL-0962", "%s: needs -latent_rank",
                                    transformer_options[o].name);
        return 0;
    }
    if (is_new)
        *l = (th_latent_attention){
            .kv_rank = l->kv_rank, .rope_dim = ROPE_DIM, .value_dim = t->head_dim};
    take(c, MODEL_QUERY_RANK, &l->q_rank);
    take(c, MODEL_ROPE_DIM, &l->rope_dim);
    take(c, MODEL_VALUE_DIM, &l->value_dim);
    return 0;
}

/* The preset, or a model without any extent, changed as the options say. */
static th_transformer parse_shape(const th_call *c)
{
    th_transformer t = {.norm_size = 1, .window_every = 1};
    if (th_call_has(c, MODEL_PRESET))
        t = th_transformer_presets[th_call_number(c, MODEL_PRESET, 0)].shape;
    if (t.window_every == 0)
        t.window_every = 1;
    take(c, MODEL_LAYERS, &t.layers);
    take(c, MODEL_HIDDEN, &t.hidden);
    take(c, MODEL_HEADS, &t.heads);
    bool is_new = !th_call_has(c, MODEL_PRESET);
    if (is_new) {
        t.kv_heads = t.heads;
        t.head_dim = t.heads > 0 ? t.hidden / t.heads : 0;
        t.ffn = 4 * t.hidden;
    }
    take(c, MODEL_KV_HEADS, &t.kv_heads);
    take(c, MODEL_HEAD_DIM, &t.head_dim);
    take(c, MODEL_FFN, &t.ffn);
    take(c, MODEL_VOCAB, &t.vocab);
    take(c, MODEL_WINDOW, &t.window);
    take(c, MODEL_WINDOW_EVERY, &t.window_every);
    t.gated = th_call_number(c, MODEL_GATED, t.gated);
    t.tied = th_call_number(c, MODEL_TIED, t.tied);
    t.bias = (th_bias)th_call_number(c, MODEL_BIAS, t.bias);
    t.has_qk_norm = th_call_number(c, MODEL_QK_NORM, t.has_qk_norm);
    t.no_attention_dropout = th_call_number(c, MODEL_DROPOUT, !t.no_attention_dropout) == 0;
    t.other = th_call_number(c, MODEL_OTHER, t.other);
    take(c, MODEL_NORM_SIZE, &t.norm_size);
    take_experts(c, &t.experts);
    return t;
}

/* ---- kinds of layers ---- */

static const struct {
    const char *name;
    size_t offset;
} kind_keys[] = {
#define KEY(NAME)                                                                                  \
    {                                                                                              \
#NAME, offsetof(th_transformer_kind, NAME)                                                 \
    }
    KEY(heads),      KEY(kv_heads),   KEY(head_dim), KEY(window),  KEY(ratio),
    KEY(top),        KEY(index),      KEY(ffn),      KEY(experts), KEY(weights),
    KEY(parameters), KEY(operations), KEY(bytes),
#undef KEY
};
enum { N_KIND_KEYS = sizeof kind_keys / sizeof *kind_keys };

static int take_kind_key(th_call *c, const char *key, Tcl_Obj *value, th_transformer_kind *k)
{
    const Tcl_WideInt most = INT64_C(1) << 48;
    const char *names[N_KIND_KEYS + 1] = {NULL};
    Tcl_WideInt n;
    for (int i = 0; i < N_KIND_KEYS; i++) {
        names[i] = kind_keys[i].name;
        if (strcmp(key, names[i]) != 0)
            continue;
        Tcl_WideInt least = strcmp(key, "parameters") == 0 ? -most : 0;
        bool is_width = kind_keys[i].offset < offsetof(th_transformer_kind, experts);
        if (Tcl_GetWideIntFromObj(NULL, value, &n) != TCL_OK || n < least ||
            n > (is_width ? EXTENT_MAX : most))
            return th_error_set(
                &c->err, "TCL-2968",
                "-layer_kinds: %s: %s \"%.40s\": must be a whole number of at least "
                "%s",
                k->name, key, Tcl_GetString(value), least ? "-2^48" : "0");
        *(int64_t *)((char *)k + kind_keys[i].offset) = n;
        return 0;
    }
    return th_error_unknown(&c->err, "TCL-2969", "-layer_kinds: key", key, names);
}

/* {NAME KEY N ...}: a layer of the model that these change. */
static int take_kind(th_call *c, Tcl_Obj *word, const th_transformer *t, th_transformer_kind *k)
{
    Tcl_Size n;
    Tcl_Obj **x;
    if (Tcl_ListObjGetElements(NULL, word, &n, &x) != TCL_OK || n % 2 == 0 ||
        strlen(Tcl_GetString(x[0])) >= TH_TRANSFORMER_KIND_NAME_MAX)
        return th_error_set(&c->err, "TCL-2970",
                            "-layer_kinds: \"%.60s\": must be {NAME KEY N ...}",
                            Tcl_GetString(word));
    *k = (th_transformer_kind){.heads = t->heads,
                               .kv_heads = t->kv_heads,
                               .head_dim = t->head_dim,
                               .window = t->window,
                               .ffn = t->ffn,
                               .experts = t->experts.n > 0};
    strcpy(k->name, Tcl_GetString(x[0]));
    for (Tcl_Size i = 1; i < n; i += 2)
        if (take_kind_key(c, Tcl_GetString(x[i]), x[i + 1], k) != 0)
            return -1;
    if (k->experts)
        k->ffn = 0;
    return 0;
}

static int take_pattern(th_call *c, th_transformer *t)
{
    const th_value *v = &c->option[MODEL_PATTERN];
    const char *names[TH_TRANSFORMER_KINDS_MAX + 1] = {NULL};
    t->n_pattern = v->word ? v->n : t->n_kinds;
    for (int32_t i = 0; i < t->n_kinds; i++)
        names[i] = t->kinds[i].name;
    for (int32_t i = 0; i < t->n_pattern; i++) {
        int32_t k = v->word ? 0 : i;
        while (v->word && k < t->n_kinds && strcmp(names[k], Tcl_GetString(v->words[i])) != 0)
            k++;
        if (k == t->n_kinds)
            return th_error_unknown(&c->err, "TCL-2971", "-layer_pattern: kind",
                                    Tcl_GetString(v->words[i]), names);
        t->pattern[i] = (uint8_t)k;
    }
    return 0;
}

static int take_kinds(th_call *c, th_transformer *t)
{
    const th_value *v = &c->option[MODEL_KINDS];
    for (t->n_kinds = 0; v->word && t->n_kinds < v->n; t->n_kinds++)
        if (take_kind(c, v->words[t->n_kinds], t, &t->kinds[t->n_kinds]) != 0)
            return -1;
    return take_pattern(c, t);
}

/* ---- config.json ---- */

/* Options and their values, as if they had been given, but for those that were. */
static int take_options(th_call *c, Tcl_Obj **x, int n)
{
    for (int i = 0; i + 1 < n; i += 2)
        for (int o = 0; transformer_options[o].name; o++)
            if (strcmp(transformer_options[o].name, Tcl_GetString(x[i])) == 0 &&
                !th_call_has(c, o) &&
                th_value_parse(c, &transformer_options[o], x[i + 1], &c->option[o]) != 0)
                return -1;
    return 0;
}

/* *made: options and notes, with a reference that the caller drops in the end; NULL: none. */
static int take_config(th_call *c, Tcl_Obj **made)
{
    Tcl_Obj **part, **x, *path;
    *made = NULL;
    if (!th_call_has(c, MODEL_CONFIG))
        return 0;
    path = Tcl_NewStringObj(c->option[MODEL_CONFIG].path, -1);
    if (th_lib_call(c, "hub::model", 1, &path) != 0)
        return -1;
    Tcl_IncrRefCount(*made = Tcl_GetObjResult(c->interp));
    Tcl_ResetResult(c->interp);
    if (th_lib_elements(*made, 2, &part) < 0)
        return th_lib_fault(c, "a reader");
    int n = th_lib_elements(part[0], -1, &x);
    return take_options(c, x, n);
}

static void tell_notes(const th_call *c, Tcl_Obj *made)
{
    Tcl_Obj **part;
    th_strbuf notes = TH_STRBUF_INIT;
    if (!made || th_lib_elements(made, 2, &part) < 0)
        return;
    th_strbuf_add(&notes, Tcl_GetString(part[1]));
    th_warn_notes(c, c->option[MODEL_CONFIG].path, false, &notes);
}

/* ---- create_transformer ---- */

/* Precisions of training that a workload has too. */
static int forward_precision(th_call *c, th_train_precision p, th_precision *out)
{
    *out = th_step_precisions[p].macs;
    if (p <= TH_TRAIN_FP32)
        return 0;
    return th_error_set(&c->err, "TCL-0961",
                        "-forward: a workload has no precision %s: must be bf16, fp16 or fp32",
                        precision_name((int)p));
}

/* NULL: without -forward, or on failure. */
static th_workload *make_forward(th_call *c, const th_session_model *m)
{
    th_forward_options o = {.sequence = m->sequence,
                            .batch = (int32_t)th_call_number(c, MODEL_BATCH, 1)};
    th_transformer named = m->shape;
    named.name = m->name;
    if (!th_call_has(c, MODEL_FORWARD) || th_session_need_no_trace(c->session, &c->err) ||
        forward_precision(c, m->precision, &o.precision))
        return NULL;
    return th_transformer_forward(&named, &o, &c->err);
}

/* The width of a head follows from -hidden only where it divides. */
static int check_head_dim(th_call *c, const th_transformer *t)
{
    if (th_call_has(c, MODEL_PRESET) || th_call_has(c, MODEL_HEAD_DIM) || t->heads < 1 ||
        t->hidden % t->heads == 0)
        return 0;
    return th_error_set(&c->err, "TCL-0964",
                        "-heads %d: must divide -hidden, %d, unless -head_dim is given",
                        (int)t->heads, (int)t->hidden);
}

static int make_model(th_call *c)
{
    th_session_model m = {.shape = parse_shape(c),
                          .sequence = (int32_t)th_call_number(c, MODEL_SEQUENCE, 2048),
                          .precision = (th_train_precision)th_call_number(c, MODEL_PRECISION, 0),
                          .recompute = (th_recompute)th_call_number(c, MODEL_RECOMPUTE, 0),
                          .expert_skew = th_call_real(c, MODEL_SKEW, 1)};
    const char *name = th_call_text(c, MODEL_NAME, m.shape.name ? m.shape.name : "transformer");
    if (strlen(name) > NAME_MAX_BYTES || name[0] == '\0' || strpbrk(name, "\r\n"))
        return th_error_set(&c->err, "TCL-0911", "-name \"%.70s\": one line of 1 to %d bytes", name,
                            NAME_MAX_BYTES);
    if (take_latent(c, &m.shape) || check_head_dim(c, &m.shape) || take_kinds(c, &m.shape) ||
        th_transformer_check(&m.shape, &c->err))
        return -1;
    strcpy(m.name, name);
    th_workload *forward = make_forward(c, &m);
    if (th_call_has(c, MODEL_FORWARD) && !forward)
        return -1;
    if (forward)
        th_session_set_workload(c->session, forward);
    th_session_set_model(c->session, &m);
    th_call_return_text(c, name);
    return 0;
}

static int run_create_transformer(th_call *c)
{
    Tcl_Obj *made;
    int failed = take_config(c, &made) || make_model(c);
    if (!failed)
        tell_notes(c, made);
    if (made)
        Tcl_DecrRefCount(made);
    return failed ? -1 : 0;
}

/* ---- report_transformer ---- */

static int run_report_transformer(th_call *c)
{
    if (!c->session->model.name[0])
        return th_error_set(&c->err, "TCL-2972", "no language model: create_transformer makes one");
    th_report *r = th_report_new("transformer", "Language model");
    if (!r)
        return th_error_no_memory(&c->err);
    return th_report_finish(c, r, th_section_transformer(c->session, r, &c->err), NULL);
}

static const th_option report_options[] = {RECORD_OPTIONS, {.name = NULL}};

const th_command th_transformer_commands[] = {
    {"create_transformer", "training", "", 0, 0, transformer_options,
     "create a language model, to train or to map",
     "parallel_plan trains the model; with -forward it is a workload for map_workload. The model "
     "is a preset, a preset with another shape, the config.json of a model, or a shape of your "
     "own, which needs -layers, -hidden, -heads and -vocab. report_transformer counts its "
     "parameters. Returns the name of the model.",
     .run = run_create_transformer, .not_while_running = true},
    {"report_transformer", "training", "", 0, 0, report_options,
     "print the parameters and operations of the model",
     "Prints all parameters, and those in the products that a token passes through; by kind of "
     "layer also the operations and bytes of a token's forward pass outside products.",
     .run = run_report_transformer, .is_report = true},
    {.name = NULL},
};
