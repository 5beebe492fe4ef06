/* SPDX-License-Identifier: GPL-3.0-or-later */
/* transformer.h - the shape of a transformer language model, and what follows from it: parameters
 * and operations. Presets of published models are rows of a table.
 *
 * A layer is attention and a feed-forward network. Attention has queries of heads x head_dim, keys
 * and values of kv_heads x head_dim; or (kv_rank > 0) multi-head latent attention, whose queries,
 * keys and values are made from compressed ones. The first dense_layers layers of a mixture of
 * experts, and all layers of other models, have a feed-forward network of width ffn; the others
 * have experts of width expert_ffn, of which a token passes top_k, and shared experts of width
 * shared_expert_ffn together. */
#ifndef TH_WORKLOADS_TRANSFORMER_TRANSFORMER_H
#define TH_WORKLOADS_TRANSFORMER_TRANSFORMER_H
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/strbuf.h"
#include "workloads/workload.h"

/* Parameters besides products. */
typedef enum {
    TH_BIAS_NONE,
    TH_BIAS_QKV, /* of queries, keys and values alone */
    TH_BIAS_ALL
} th_bias;

typedef struct th_latent_attention {
    int32_t q_rank, kv_rank; /* of compressed queries (0: not compressed), keys and values */
    int32_t rope_dim;        /* of the position's part of a key, which all heads share */
    int32_t value_dim;       /* of a head's value */
} th_latent_attention;

typedef struct th_experts {
    int32_t n, top_k; /* n 0: none */
    int32_t ffn, shared_ffn;
    int32_t dense_layers;
} th_experts;

/* A kind of layer, where a model has several: what it has in place of the model's. */
enum {
    TH_TRANSFORMER_KINDS_MAX = 12,
    TH_TRANSFORMER_PATTERN_MAX = 512,
    TH_TRANSFORMER_KIND_NAME_MAX = 32
};
typedef struct th_transformer_kind {
    char name[TH_TRANSFORMER_KIND_NAME_MAX];
    int64_t heads, kv_heads, head_dim; /* of attention; heads 0: it has none */
    int64_t window;                    /* keys that a query meets, the last ones; 0: all */
    int64_t ratio, top; /* ratio > 0: also one key for so many, at most top of them (0: all) */
    int64_t index;      /* heads x width of the products with every key that choose some; 0: none */
    int64_t ffn;        /* width of a dense feed-forward network; 0: none */
    int64_t experts;    /* 1: the model's, instead of it */
    int64_t weights;    /* of what stands for the products of queries, keys, values and output */
    int64_t parameters; /* besides products, biases and norms; less than none where it has fewer */
    int64_t operations, bytes; /* of a token forward, of what neither products nor keys tell */
} th_transformer_kind;

typedef struct th_transformer {
    const char *name; /* static, or the caller's */
    int32_t layers, hidden, heads, kv_heads, head_dim, ffn, vocab;
    bool gated; /* feed-forward of three matrices, else two */
    bool tied;  /* the output layer is the embedding */
    bool is_encoder;
    bool no_attention_dropout; /* in training, of what the scores became */
    bool has_qk_norm;          /* a norm over each head's query and key */
    int32_t norm_size; /* parameters of a norm per channel: 1 RMS or without bias, 2 with it */
    int32_t positions; /* learned embeddings of positions; 0: none */
    th_bias bias;
    int64_t other; /* parameters outside the layers that none of these count */
    th_latent_attention latent;
    th_experts experts;
    int32_t window, window_every; /* attention to so many tokens in every k-th layer; 0: none */
    int32_t n_kinds, n_pattern;   /* 0: layers are as the numbers above say */
    th_transformer_kind kinds[TH_TRANSFORMER_KINDS_MAX];
    uint8_t
        pattern[TH_TRANSFORMER_PATTERN_MAX]; /* the kind of each layer; repeated behind its end */
} th_transformer;

typedef struct th_transformer_preset {
    th_transformer shape;
    int64_t published; /* parameters as published; 0: none */
    double tolerance;  /* of that number, relative: its last digit */
    const char *source;
} th_transformer_preset;

/* presets.c: the table ends in a shape without name. */
extern const th_transformer_preset th_transformer_presets[];

/* Are all extents there, and do they fit each other? 0, or -1 with the number to change. */
int th_transformer_check(const th_transformer *t, th_error *err);

/* A layer; where there are no kinds, one that follows from the model's numbers, without name. */
th_transformer_kind th_transformer_layer(const th_transformer *t, int32_t layer);
bool th_kind_has_mixer(const th_transformer_kind *k); /* attention, or what takes its place */
bool th_kind_has_ffn(const th_transformer_kind *k);   /* dense, or experts */
double th_kind_head_width(const th_transformer *t,
                          const th_transformer_kind *k); /* mean of key, value */
/* Weights of the products of attention or what takes its place; all that a token passes. */
int64_t th_kind_mixer_weights(const th_transformer *t, const th_transformer_kind *k);
int64_t th_kind_active_weights(const th_transformer *t, const th_transformer_kind *k);
/* Operations of a token forward besides products and what attends: states, choice of keys. */
double th_kind_other_operations(const th_transformer_kind *k, int32_t sequence);
bool th_transformer_is_sparse(const th_transformer *t, int32_t layer); /* has experts */
/* Parameters in matrix products: of the dense feed-forward network, of one expert, of
 * all shared experts, of the router, of the output layer. */
int64_t th_ffn_weights(const th_transformer *t, int32_t width);
/* All parameters of a layer, and those that are there once: embeddings, last norm, output layer. */
int64_t th_transformer_layer_parameters(const th_transformer *t, int32_t layer);
int64_t th_transformer_embedding_parameters(const th_transformer *t);
int64_t th_transformer_head_parameters(const th_transformer *t); /* norm and output layer */
int64_t th_transformer_parameters(const th_transformer *t);      /* all */
/* Parameters in products that a token passes, the output layer included. */
int64_t th_transformer_active_weights(const th_transformer *t);
/* Operations of a training step per token without recomputation: 6 per active weight, and of
 * attention 12 heads head_dim times the keys that a query meets, (S + 1) / 2 of S in the mean where
 * it is causal and no window holds. is_causal false counts S. */
double th_transformer_operations(const th_transformer *t, int32_t sequence, bool is_causal);
typedef struct th_forward_options {
    int32_t sequence, batch; /* tokens; sequences */
    th_precision precision;
} th_forward_options;
/* forward.c: its forward pass over whole sequences: embedding, per layer norms, products, attention
 * (causal, with windows), activation and sums, and the output layer, whose weights are the
 * embedding's where the model's is tied. A norm over heads is one over all of them. NULL on
 * failure: the model has experts, latent attention or layers of other kinds than windows. */
th_workload *th_transformer_forward(const th_transformer *t, const th_forward_options *o,
                                    th_error *err);

/* Keys that a query of a layer meets in the mean. */
double th_transformer_keys(const th_transformer *t, int32_t layer, int32_t sequence);

#endif
