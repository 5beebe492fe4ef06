/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_transformer.c - create_transformer: a language model by its shape. */
#include <config.h>
#include <string.h>
#include "base/names.h"
#include "tcl/command.h"
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
    MODEL_BATCH
};

enum { EXTENT_MAX = 1 << 24, NAME_MAX_BYTES = 63 };

static const char *preset_name(int i)
{
    return th_transformer_presets[i].shape.name;
}

static const char *const precisions[] = {[TH_TRAIN_BF16] = "bf16",
                                         [TH_TRAIN_FP16] = "fp16",
                                         [TH_TRAIN_FP8] = "fp8",
                                         [TH_TRAIN_FP8_ROWS] = "fp8_rows",
                                         [TH_TRAIN_MXFP8] = "mxfp8",
                                         [TH_TRAIN_NVFP4] = "nvfp4",
                                         NULL};

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
                         "Of products: bf16 (the default), fp16; in the layers fp8 with a scale "
                         "per tensor, fp8_rows per row, mxfp8 or nvfp4 per block.",
                         .names = precisions},
    [MODEL_RECOMPUTE] =
        {"-recompute", TH_OPTION_CHOICE, "WHAT",
         "What the backward operation computes again: none (the default), "
         "selective (the scores of attention), full (the layer), needed (the "
         "layer up to the last tensor that a gradient needs).",
         .names = TH_NAMES([TH_RECOMPUTE_NONE] = "none", [TH_RECOMPUTE_SELECTIVE] = "selective",
                           [TH_RECOMPUTE_NEEDED] = "needed", [TH_RECOMPUTE_FULL] = "full")},
    [MODEL_SKEW] = {"-expert_skew", TH_OPTION_NUMBER, "FACTOR", .low = 1, .high = 1e6,
                    .help = "Tokens of the busiest rank's experts over the mean (1: balanced)."},
    [MODEL_FORWARD] = {"-forward", TH_OPTION_FLAG, NULL,
                       "Also makes its forward pass the workload, layer by layer, for "
                       "map_workload. The mapping and the run of the previous workload are "
                       "dropped."},
    [MODEL_BATCH] = {"-batch", TH_OPTION_INTEGER, "N", "Sequences per batch of -forward (1).", 1,
                     1000000},
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
                return th_error_set(&c->err, "TCL-0962", "%s: -latent_rank was expected with it",
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
    take_experts(c, &t.experts);
    return t;
}

/* Precisions of training that a workload has too. */
static int forward_precision(th_call *c, th_train_precision p, th_precision *out)
{
    *out = p == TH_TRAIN_FP16 ? TH_FP16 : TH_BF16;
    if (p <= TH_TRAIN_FP16)
        return 0;
    return th_error_set(&c->err, "TCL-0961",
                        "-forward: a workload has no precision %s: bf16 or fp16 was expected",
                        precisions[p]);
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
                        "-heads %d: a divisor of -hidden, %d, or -head_dim was expected",
                        (int)t->heads, (int)t->hidden);
}

static int run_create_transformer(th_call *c)
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
    if (take_latent(c, &m.shape) || check_head_dim(c, &m.shape) ||
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

const th_command th_transformer_commands[] = {
    {"create_transformer", "build", "", 0, 0, transformer_options,
     "create a language model to train or to map",
     "For parallel_plan, and with -forward for map_workload. A preset, a preset with another "
     "shape, or a shape of your own: -layers, -hidden, -heads and "
     "-vocab are needed then. Returns the name of the model.",
     .run = run_create_transformer, .not_while_running = true},
    {.name = NULL},
};
