/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_work.c - see layer_work.h.
 *   th_layer_work -> forward_pieces (with the recomputation, in front of the backward ones) or
 *   backward_pieces -> costs of attention, feed-forward network, experts
 * Times are those of single operations (work_times.h). */
#include <config.h>
#include <math.h>
#include <string.h>
#include "training/kernel_counts.h"
#include "training/layer_work.h"
#include "training/work_times.h"

const char *const th_work_part_names[] = {[TH_WORK_PRODUCTS] = "products",
                                          [TH_WORK_ATTENTION] = "attention",
                                          [TH_WORK_NORMS] = "norms",
                                          [TH_WORK_ROTARY] = "rotary",
                                          [TH_WORK_ACTIVATIONS] = "activations",
                                          [TH_WORK_TOKENS] = "tokens",
                                          [TH_WORK_CASTS] = "casts",
                                          [TH_WORK_EMBEDDING] = "embedding",
                                          [TH_WORK_LOGITS] = "logits",
                                          [TH_WORK_OPTIMIZER] = "optimizer",
                                          [TH_WORK_OVERLAP] = "overlap",
                                          [TH_WORK_HOST] = "host",
                                          NULL};

/* Which of its products a layer computes: forward, or backward for its inputs or its weights, which
 * are the operations of a schedule that splits the backward one. */
typedef enum {
    PASS_FORWARD = TH_PIPELINE_FORWARD,
    PASS_INPUTS = TH_PIPELINE_BACKWARD,
    PASS_WEIGHTS = TH_PIPELINE_WEIGHTS
} product_pass;

/* What one computation adds up to, by th_work_part. */
typedef struct cost {
    double s[TH_N_WORK_PARTS];
    double bytes[TH_N_WORK_PARTS];  /* of elementwise passes */
    product_pass pass;              /* of those that are added */
    double kernels, expert_kernels; /* that the host launches */
} cost;

/* Kernels of a layer of experts besides its products: router, choice of experts, counting, copies
 * of tokens there and back, the calls of the exchange. */
enum { EXPERT_KERNELS_FORWARD = 40, EXPERT_KERNELS_BACKWARD = 60 };

enum { DROPOUT_MASK = 1, SINGLE = 4 }; /* bytes, of a number */

static double number(const th_work_context *c, th_training_number n)
{
    return c->numbers.of[n];
}

/* The bytes of a number outside of narrow products; the same, 0 where it has 32 bits. */
static double element(const th_work_context *c)
{
    return th_plan_number_bytes(c->p);
}

static double below_single(const th_work_context *c)
{
    return element(c) < SINGLE ? element(c) : 0;
}

static double tokens(const th_work_context *c)
{
    return (double)c->p->batch.sequence * c->p->batch.micro_batch / c->p->n.context;
}

/* ---- products ---- */

/* Members of rows x inner by inner x columns forward, as many operations backward. */
static double pass_s(const th_work_context *c, product_pass pass, const th_product *forward)
{
    th_product x = *forward;
    if (pass == PASS_INPUTS)
        x.inner = forward->columns, x.columns = forward->inner;
    else if (pass == PASS_WEIGHTS)
        x.rows = forward->inner, x.inner = forward->rows;
    return th_product_s(c, &x);
}

static void add_products(const th_work_context *c, cost *x, double members, double rows,
                         double columns, double inner)
{
    const th_step_precision *p = &th_step_precisions[c->p->precision];
    const th_product of = {p->products, members, rows, inner, columns};
    x->s[TH_WORK_PRODUCTS] += p->slower * pass_s(c, x->pass, &of);
    x->kernels += (1 + p->launches) * members;
    x->bytes[TH_WORK_CASTS] += p->cast_bytes * members * (rows * inner + columns * inner);
}

static void add_product(const th_work_context *c, cost *x, double m, double n, double k)
{
    add_products(c, x, 1, m, n, k);
}

/* ---- attention ---- */

/* Of a score, that dropout makes: what it leaves, and a mask. */
static double dropout_bytes(const th_work_context *c)
{
    return c->t->no_attention_dropout ? 0 : element(c) + DROPOUT_MASK;
}

/* Of a score, that kernels between the products of attention read and write: the softmax, backward
 * also what it made; scale and mask, unless its kernel does both; dropout. */
static double score_bytes(const th_work_context *c, th_attention how, bool is_backward)
{
    const bool is_apart = how == TH_ATTENTION_UNFUSED && !c->p->has_fused_kernels;
    const double dropout = c->t->no_attention_dropout ? 0 : element(c) + dropout_bytes(c);
    return ((is_backward ? 3 : 2) + (is_apart ? 4 : 0)) * element(c) + dropout;
}

/* times: 1 forward, 2.5 backward. Without a fused kernel products write and read the scores of all
 * keys, and between them they are masked, scaled and normalized. */
static void add_attention(const th_work_context *c, int32_t layer, double times, cost *x)
{
    const th_transformer *t = c->t;
    const th_transformer_kind k = th_transformer_layer(t, layer);
    const double heads = (double)k.heads / c->p->n.tensor, rows = tokens(c);
    const double other = rows * th_kind_other_operations(&k, c->p->batch.sequence) / c->p->n.tensor;
    const th_attention how = th_attention_of(c->p, (int32_t)heads);
    x->kernels += th_kernels_of_attention(c->p, t, how, times > 1);
    x->bytes[TH_WORK_ATTENTION] += times * rows * (double)k.bytes / c->p->n.tensor;
    if (how < TH_ATTENTION_UNFUSED) {
        const double keys = th_transformer_keys(t, layer, c->p->batch.sequence);
        x->s[TH_WORK_ATTENTION] +=
            th_fused_attention_s(c, &k, keys, how == TH_ATTENTION_PORTABLE, times > 1) +
            times * th_attention_besides_s(c, rows, other);
        return;
    }
    const double keys = c->p->batch.sequence, width = th_kind_head_width(t, &k);
    const th_product scores = {th_wide_precision(c), heads * c->p->batch.micro_batch,
                               rows / c->p->batch.micro_batch, width, keys};
    const th_product weighed = {scores.precision, scores.members, scores.rows, keys, width};
    if (heads > 0)
        x->s[TH_WORK_ATTENTION] +=
            fmin(times, 2) * (th_product_s(c, &scores) + th_product_s(c, &weighed));
    x->s[TH_WORK_ATTENTION] += fmin(times, 2) * th_attention_besides_s(c, rows, other);
    const double all = rows * keys * heads;
    if (how == TH_ATTENTION_UNFUSED && below_single(c) > 0)
        x->bytes[TH_WORK_ATTENTION] += (times > 1 ? 2 : 3) * element(c) * all;
    else
        x->s[TH_WORK_ATTENTION] +=
            th_pass_s(c, TH_OP_ELEMENTWISE, score_bytes(c, how, times > 1) * all);
}

/* ---- parts of a layer, forward; backward for the inputs it is the same products ---- */

/* The products of a kind that states their weights are one, as wide as the model. */
static void add_attention_products(const th_work_context *c, int32_t layer, cost *x)
{
    const th_transformer *t = c->t;
    const th_transformer_kind k = th_transformer_layer(t, layer);
    double rows = tokens(c), n = c->p->n.tensor, h = t->hidden, d = (double)k.head_dim;
    const th_latent_attention *l = &t->latent;
    if (k.weights > 0)
        add_product(c, x, rows, (double)k.weights / h / n, h);
    if (k.weights > 0 || k.heads == 0)
        return;
    if (l->kv_rank > 0) {
        double key = d + l->rope_dim;
        add_product(c, x, rows, l->q_rank + l->kv_rank + l->rope_dim, h);
        add_product(c, x, rows, t->heads * key / n, l->q_rank ? l->q_rank : h);
        add_product(c, x, rows, t->heads * (d + l->value_dim) / n, l->kv_rank);
        add_product(c, x, rows, h, t->heads * (double)l->value_dim / n);
        return;
    }
    add_product(c, x, rows, d * (double)(k.heads + 2 * k.kv_heads) / n, h);
    add_product(c, x, rows, h, d * (double)k.heads / n);
}

static void add_ffn_products(const th_work_context *c, double members, double rows, double width,
                             bool has_last, cost *x)
{
    double up = c->t->gated ? 2 : 1;
    add_products(c, x, members, rows, up * width, c->t->hidden);
    if (has_last)
        add_products(c, x, members, rows, c->t->hidden, width);
}

/* Tokens that a rank's experts compute, in the mean of the copies, and per expert. */
static void add_expert_products(const th_work_context *c, bool has_last, cost *x)
{
    const th_experts *e = &c->t->experts;
    double here = (double)e->n / c->p->n.expert, etp = c->p->n.expert_tensor;
    double rows = tokens(c) / c->p->n.tensor * etp * e->top_k * c->p->expert_skew / here;
    double kernels = x->kernels;
    add_ffn_products(c, here, rows, e->ffn / etp, has_last, x);
    x->expert_kernels += x->kernels - kernels; /* a kernel for each expert */
    x->kernels = kernels;
    add_product(c, x, tokens(c) / c->p->n.tensor, e->n, c->t->hidden);
    if (e->shared_ffn > 0)
        add_ffn_products(c, 1, tokens(c), (double)e->shared_ffn / c->p->n.tensor, has_last, x);
}

/* Of the feed-forward network of a layer. has_last: with the product that makes its result. */
static void add_products_of_ffn(const th_work_context *c, int32_t layer, bool has_last, cost *x)
{
    const th_transformer_kind k = th_transformer_layer(c->t, layer);
    if (k.experts)
        add_expert_products(c, has_last, x);
    else if (k.ffn > 0)
        add_ffn_products(c, 1, tokens(c), (double)k.ffn / c->p->n.tensor, has_last, x);
}

/* Of a part, forward (times 1) or backward (2). */
static void add_kernels(const th_work_context *c, th_kernel_part part, double times, cost *x)
{
    x->kernels += th_kernels_of(c->p, part, times > 1);
}

/* Passes of norms, sums and the rotary embedding, forward (times 1) or backward (2). */
static void add_attention_passes(const th_work_context *c, int32_t layer, double times, cost *x)
{
    const th_transformer *t = c->t;
    const th_transformer_kind k = th_transformer_layer(t, layer);
    double n = c->p->n.tensor, whole = c->p->sequence_parallel ? n : 1;
    double turned = k.heads > 0 ? (double)(k.head_dim * (k.heads + k.kv_heads)) : 0;
    double rotary = t->positions > 0 ? 0 : 2 * turned / n;
    if (!th_kind_has_mixer(&k))
        return;
    x->bytes[TH_WORK_NORMS] += times * element(c) * tokens(c) * 5.0 * t->hidden / whole;
    x->bytes[TH_WORK_ROTARY] += times * element(c) * tokens(c) * rotary;
    add_kernels(c, TH_KERNELS_NORM, times, x);
    add_kernels(c, TH_KERNELS_RESIDUAL, times, x);
    add_kernels(c, TH_KERNELS_HEADS, times, x);
    if (t->positions == 0)
        add_kernels(c, TH_KERNELS_ROTARY, times, x);
}

/* Columns of the feed-forward network that a token passes. */
static double ffn_width(const th_transformer *t, const th_transformer_kind *k)
{
    return k->experts ? (double)t->experts.top_k * t->experts.ffn + t->experts.shared_ffn
                      : (double)k->ffn;
}

static void add_ffn_passes(const th_work_context *c, int32_t layer, double times, cost *x)
{
    const th_transformer *t = c->t;
    const th_transformer_kind k = th_transformer_layer(t, layer);
    double n = c->p->n.tensor, whole = c->p->sequence_parallel ? n : 1;
    double width = ffn_width(t, &k);
    if (!th_kind_has_ffn(&k))
        return;
    double one = times * element(c) * tokens(c);
    x->bytes[TH_WORK_NORMS] += one * 5.0 * t->hidden / whole;
    x->bytes[TH_WORK_ACTIVATIONS] += one * (t->gated ? 3 : 2) * width / n;
    if (k.experts)
        x->bytes[TH_WORK_TOKENS] += one * 4.0 * t->experts.top_k * t->hidden / n;
    add_kernels(c, TH_KERNELS_NORM, times, x);
    add_kernels(c, TH_KERNELS_RESIDUAL, times, x);
    add_kernels(c, TH_KERNELS_ACTIVATION, times, x);
}

/* ---- pieces ---- */

static void close_piece(const th_work_context *c, th_pieces *out, const cost *x)
{
    double passes = c->p->has_fused_kernels ? 1 : number(c, TH_NUMBER_PASSES_EAGER);
    th_piece piece = {.host_s = x->kernels * number(c, th_launch_number(c->p)) +
                                x->expert_kernels * number(c, TH_NUMBER_HOST_EXPERTS)};
    for (int i = 0; i < TH_N_WORK_PARTS; i++) {
        piece.part_s[i] =
            x->s[i] +
            passes * th_pass_s(c, i == TH_WORK_NORMS ? TH_OP_NORM : TH_OP_ELEMENTWISE, x->bytes[i]);
        piece.s += piece.part_s[i];
    }
    if (fmax(piece.s, piece.host_s) > 0)
        out->of[out->n++] = piece;
}

static void communicate(const th_work_context *c, th_pieces *out, th_collective_kind kind,
                        th_plan_group group, double bytes, bool overlaps)
{
    if (th_plan_group_size(c->p, group) > 1 && bytes >= 1)
        out->of[out->n++] = (th_piece){.collective = kind,
                                       .group = group,
                                       .bytes = (int64_t)bytes,
                                       .overlaps = overlaps,
                                       .host_s = number(c, th_launch_number(c->p))};
}

/* An all-reduce of what was just computed cannot overlap: only gathering and scattering do. */
static bool overlaps_tensor(const th_work_context *c)
{
    return c->p->sequence_parallel && c->p->overlaps_tensor;
}

/* Before and behind a part that tensor parallel ranks compute together. */
static void enter_tensor(const th_work_context *c, bool overlaps, th_pieces *out)
{
    if (c->p->sequence_parallel)
        communicate(c, out, TH_ALL_GATHER, TH_GROUP_TENSOR, element(c) * tokens(c) * c->t->hidden,
                    overlaps);
}

static void leave_tensor(const th_work_context *c, bool overlaps, th_pieces *out)
{
    bool sp = c->p->sequence_parallel;
    communicate(c, out, sp ? TH_REDUCE_SCATTER : TH_ALL_REDUCE, TH_GROUP_TENSOR,
                element(c) * tokens(c) * c->t->hidden, overlaps);
}

/* Keys and values of the whole sequence, while queries meet those that are here. */
static void gather_context(const th_work_context *c, int32_t layer, th_pieces *out)
{
    const th_transformer_kind k = th_transformer_layer(c->t, layer);
    double width = k.heads > 0 ? 2.0 * (double)(k.kv_heads * k.head_dim) / c->p->n.tensor : 0;
    communicate(c, out, TH_ALL_GATHER, TH_GROUP_CONTEXT,
                element(c) * tokens(c) * c->p->n.context * width, true);
}

/* In the mean, how many of n ranks or nodes have an expert of a token that passes top_k of them. */
static double reached(const th_work_context *c, double n)
{
    double none = 1; /* the part that has none of them */
    for (int32_t i = 0; i < c->t->experts.top_k; i++)
        none *= 1 - 1 / n;
    return n * (1 - none);
}

/* The bytes of a rank's tokens, once for each of n ranks or nodes that has one of their experts. */
static double sent_to(const th_work_context *c, double n)
{
    return element(c) * tokens(c) / c->p->n.tensor * c->t->hidden * reached(c, n);
}

/* A token goes once to every rank that has one of its experts. Or once to every node, while ranks
 * of that node pass on what has come. */
static void exchange_tokens(const th_work_context *c, th_pieces *out)
{
    double direct = sent_to(c, c->p->n.expert);
    double nodes = th_plan_group_size(c->p, TH_GROUP_EXPERT_NODES);
    int n = out->n;
    if (c->p->experts_on_node <= 1 || nodes <= 1) {
        communicate(c, out, TH_ALL_TO_ALL, TH_GROUP_EXPERT, direct, false);
        return;
    }
    communicate(c, out, TH_ALL_TO_ALL, TH_GROUP_EXPERT_NODES, sent_to(c, nodes), false);
    if (out->n > n)
        out->of[n].local_bytes = (int64_t)direct;
}

/* Ranks that share experts gather the tokens of all of them, and scatter the sums back. */
static void share_tokens(const th_work_context *c, th_collective_kind kind, th_pieces *out)
{
    double all = c->p->n.expert_tensor * sent_to(c, c->p->n.expert);
    communicate(c, out, kind, TH_GROUP_EXPERT_SHARED, all, false);
}

static void take_tokens(const th_work_context *c, th_pieces *out)
{
    exchange_tokens(c, out);
    share_tokens(c, TH_ALL_GATHER, out);
}

static void return_tokens(const th_work_context *c, th_pieces *out)
{
    share_tokens(c, TH_REDUCE_SCATTER, out);
    exchange_tokens(c, out);
}

/* A half of a layer: its computation between what it exchanges, which overlaps it or is in front of
 * it and behind. has_last: with what it makes. */
static void add_half(const th_work_context *c, int32_t layer, const cost *x, bool is_ffn,
                     bool has_last, th_pieces *out)
{
    const bool is_sparse = is_ffn && th_transformer_is_sparse(c->t, layer);
    const bool overlaps = overlaps_tensor(c);
    enter_tensor(c, overlaps, out);
    if (!is_ffn)
        gather_context(c, layer, out);
    if (has_last && overlaps)
        leave_tensor(c, overlaps, out);
    if (is_sparse)
        take_tokens(c, out);
    close_piece(c, out, x);
    if (is_sparse && has_last)
        return_tokens(c, out);
    if (has_last && !overlaps)
        leave_tensor(c, overlaps, out);
}

/* has_last: up to the layer's result, else to the last tensor that a gradient needs. */
static void forward_layer(const th_work_context *c, int32_t layer, bool has_last, th_pieces *out)
{
    const th_transformer_kind k = th_transformer_layer(c->t, layer);
    cost a = {.kernels = 0}, f = {.expert_kernels = k.experts ? EXPERT_KERNELS_FORWARD : 0};
    if (th_kind_has_mixer(&k)) {
        add_attention_passes(c, layer, 1, &a);
        add_attention_products(c, layer, &a);
        add_attention(c, layer, 1, &a);
        add_half(c, layer, &a, false, true, out);
    }
    if (th_kind_has_ffn(&k)) {
        add_ffn_passes(c, layer, 1, &f);
        add_products_of_ffn(c, layer, has_last, &f);
        add_half(c, layer, &f, true, has_last, out);
    }
}

static bool has_weight_gradients(const th_work_context *c, bool is_split)
{
    return !is_split && !c->p->frozen_weights;
}

/* Of two weights of each half of a layer; those of experts are among the kernels of experts. */
static void add_gradients(const th_work_context *c, bool is_split, bool is_sparse, cost *a, cost *f)
{
    int32_t of_weight = th_kernels_of(c->p, TH_KERNELS_GRADIENT, true);
    if (!has_weight_gradients(c, is_split))
        return;
    a->kernels += 2 * of_weight;
    f->kernels += is_sparse ? 0 : 2 * of_weight;
}

/* Gradients of inputs take the products of the forward operation again, those of the weights once
 * more; passes read what they wrote and what comes back. */
static void backward_layer(const th_work_context *c, int32_t layer, bool is_split, th_pieces *out)
{
    const th_transformer_kind k = th_transformer_layer(c->t, layer);
    bool is_sparse = k.experts > 0;
    product_pass last = has_weight_gradients(c, is_split) ? PASS_WEIGHTS : PASS_INPUTS;
    cost a = {.kernels = 0};
    cost f = {.expert_kernels = is_sparse ? EXPERT_KERNELS_BACKWARD : 0};
    add_attention_passes(c, layer, 2, &a);
    add_ffn_passes(c, layer, 2, &f);
    for (product_pass i = PASS_INPUTS; i <= last; i++) {
        a.pass = f.pass = i;
        add_attention_products(c, layer, &a);
        add_products_of_ffn(c, layer, true, &f);
    }
    add_gradients(c, is_split, is_sparse, &a, &f);
    add_attention(c, layer, 2.5, &a);
    if (th_kind_has_ffn(&k))
        add_half(c, layer, &f, true, true, out);
    if (th_kind_has_mixer(&k))
        add_half(c, layer, &a, false, true, out);
}

static void recompute(const th_work_context *c, int32_t layer, th_pieces *out)
{
    const th_transformer_kind k = th_transformer_layer(c->t, layer);
    if (c->p->recompute >= TH_RECOMPUTE_NEEDED)
        forward_layer(c, layer, c->p->recompute == TH_RECOMPUTE_FULL, out);
    if (c->p->recompute == TH_RECOMPUTE_SELECTIVE && k.heads > 0) {
        cost x = {.kernels = 1};
        add_attention(c, layer, 1, &x);
        close_piece(c, out, &x);
    }
}

static void weights_of_layer(const th_work_context *c, int32_t layer, th_pieces *out)
{
    cost x = {.pass = PASS_WEIGHTS};
    if (c->p->frozen_weights)
        return;
    add_attention_products(c, layer, &x);
    add_products_of_ffn(c, layer, true, &x);
    close_piece(c, out, &x);
}

/* ---- embedding and output layer ---- */

/* Tensor ranks hold words each: what they look up is added up, as are gradients of what logits are
 * made of. */
static void embedding(const th_work_context *c, th_pipeline_kind kind, th_pieces *out)
{
    cost x = {.kernels = 2};
    x.bytes[TH_WORK_EMBEDDING] = 2.0 * element(c) * tokens(c) * c->t->hidden;
    if (kind == TH_PIPELINE_BACKWARD)
        enter_tensor(c, false, out);
    if (kind != TH_PIPELINE_WEIGHTS)
        close_piece(c, out, &x);
    if (kind == TH_PIPELINE_FORWARD)
        leave_tensor(c, false, out);
}

/* Loss and gradients of logits are of 32 bits, read and written; those of 16 are cast before (read
 * and written), and their gradients written again. */
static void output_layer(const th_work_context *c, th_pipeline_kind kind, bool is_split,
                         th_pieces *out)
{
    double rows = tokens(c), columns = (double)c->t->vocab / c->p->n.tensor;
    const th_product of = {th_wide_precision(c), 1, rows, c->t->hidden, columns};
    const product_pass pass = (product_pass)kind; /* forward, for inputs, for weights */
    const bool has_weights = kind == TH_PIPELINE_BACKWARD && has_weight_gradients(c, is_split);
    cost x = {.kernels = 5};
    x.s[TH_WORK_PRODUCTS] = pass_s(c, pass, &of) + (has_weights ? pass_s(c, PASS_WEIGHTS, &of) : 0);
    const double made = below_single(c), cast = made > 0 ? made + SINGLE : 0;
    if (kind != TH_PIPELINE_WEIGHTS) {
        x.bytes[TH_WORK_LOGITS] =
            (2 * SINGLE + (kind == TH_PIPELINE_FORWARD ? cast : made)) * rows * columns;
        enter_tensor(c, false, out);
    }
    if (kind != TH_PIPELINE_WEIGHTS || !c->p->frozen_weights)
        close_piece(c, out, &x);
    if (kind == TH_PIPELINE_BACKWARD)
        leave_tensor(c, false, out);
}

void th_layer_work(const th_work_context *c, int32_t layer, th_pipeline_kind kind, bool is_split,
                   th_pieces *out)
{
    out->n = 0;
    if (layer == TH_LAYER_EMBEDDING_STEP)
        embedding(c, kind, out);
    else if (layer == TH_LAYER_HEAD_STEP)
        output_layer(c, kind, is_split, out);
    else if (kind == TH_PIPELINE_FORWARD)
        forward_layer(c, layer, true, out);
    else if (kind == TH_PIPELINE_WEIGHTS)
        weights_of_layer(c, layer, out);
    else {
        recompute(c, layer, out);
        backward_layer(c, layer, is_split, out);
    }
}

/* ---- what a rank holds ---- */

int64_t th_layer_parameters_of_rank(const th_work_context *c, int32_t layer)
{
    const th_transformer *t = c->t;
    if (layer == TH_LAYER_EMBEDDING_STEP)
        return th_transformer_embedding_parameters(t) / c->p->n.tensor;
    bool is_apart = c->p->n.pipeline > 1 && !(c->p->schedule && c->p->schedule->is_v);
    if (layer == TH_LAYER_HEAD_STEP) /* tied, and the table on another stage: a copy of it */
        return (th_transformer_head_parameters(t) +
                (t->tied && is_apart ? (int64_t)t->hidden * t->vocab : 0)) /
               c->p->n.tensor;
    int64_t all = th_transformer_layer_parameters(t, layer);
    if (!th_transformer_is_sparse(t, layer))
        return all / c->p->n.tensor;
    int64_t experts = t->experts.n * th_ffn_weights(t, t->experts.ffn);
    return (all - experts) / c->p->n.tensor +
           experts / ((int64_t)c->p->n.expert * c->p->n.expert_tensor);
}

/* Adam: 32-bit weights and two moments are read and written, gradients read twice (for their norm
 * too), and the weights of fewer bits written. */
double th_optimizer_s(const th_work_context *c, int64_t parameters)
{
    const int32_t shards = c->p->n.zero > 0 ? c->p->n.zero_group : 1;
    const double bytes = 8 * SINGLE + below_single(c);
    if (c->p->frozen_weights)
        return 0;
    return th_pass_s(c, TH_OP_ELEMENTWISE, (double)parameters / shards * bytes);
}

/* arXiv 2205.05198, section 4, for grouped heads and gated networks: inputs of norms and products,
 * queries, keys, values, what the feed-forward network computes; of every score, where attention is
 * not fused, what the softmax made, and dropout with its mask. */
int64_t th_layer_activation_bytes(const th_work_context *c, int32_t layer)
{
    const th_transformer *t = c->t;
    double n = c->p->n.tensor, whole = c->p->sequence_parallel ? n : 1, rows = tokens(c);
    const th_transformer_kind k = th_transformer_layer(t, layer);
    double width = ffn_width(t, &k), mixed = (double)(k.head_dim * (k.heads + k.kv_heads));
    if (c->p->recompute >= TH_RECOMPUTE_NEEDED)
        return (int64_t)(element(c) * rows * t->hidden / whole);
    if (k.heads == 0) /* what its products make, or read */
        mixed = (double)k.weights / t->hidden / 2;
    /* of them, inputs of products: what norms and the activation function made, and the tokens of
     * experts; attention needs its output in 16 bits */
    double copies = k.experts ? t->experts.top_k : 0, shared = copies * c->p->n.expert_tensor;
    double parts = th_kind_has_mixer(&k) + th_kind_has_ffn(&k);
    double inputs = (parts + shared) * t->hidden / whole + width / n;
    double elements = inputs + (parts + copies) * t->hidden / whole + 2.0 * mixed / n +
                      (t->gated ? 2 : 1) * width / n;
    double spared = (element(c) - th_step_precisions[c->p->precision].kept_bytes) * inputs;
    bool keeps_scores =
        c->p->attention >= TH_ATTENTION_UNFUSED && c->p->recompute == TH_RECOMPUTE_NONE;
    double scores = (element(c) + dropout_bytes(c)) * rows * c->p->batch.sequence;
    return (int64_t)(rows * (element(c) * elements - spared) +
                     (keeps_scores ? scores * (double)k.heads / n : 0));
}

int64_t th_boundary_bytes(const th_work_context *c)
{
    double n = c->p->sequence_parallel ? c->p->n.tensor : 1;
    return (int64_t)(element(c) * tokens(c) * c->t->hidden / n);
}

double th_overlap_share(const th_work_context *c, th_plan_group group)
{
    return number(c, group == TH_GROUP_TENSOR ? TH_NUMBER_OVERLAP_TENSOR : TH_NUMBER_OVERLAP_COST);
}

double th_message_host_s(const th_work_context *c)
{
    return th_kernels_of(c->p, TH_KERNELS_MESSAGE, false) * number(c, th_launch_number(c->p));
}
