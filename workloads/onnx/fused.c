/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fused.c - fused operators of com.microsoft as the standard ones that they stand for (body.h).
 *
 * Attention is softmax(Q K^T) V for every head: the layers NODE.scores, NODE.softmax and
 * NODE.context. The node's scale, masks and what it adds to the scores belong to the softmax: they
 * are no layers and no inputs.
 * Keys and values of earlier tokens come in front of the new ones. Fewer heads of keys than of
 * queries: each serves a group of them. */
#include <config.h>
#include "workloads/onnx/body.h"
#include "workloads/onnx/op.h"

#include <stdio.h>
#include <string.h>

/* ---- another operator ------------------------------------------------------------------------ */

/* By th_onnx_operator.name: the standard operator, and which n of the node's inputs it reads; with
 * a step, inputs[0] and every step-th input behind it. */
static const struct {
    const char *name, *is;
    int inputs[3], n, step;
} others[] = {
    {"DynamicQuantizeMatMul", "MatMul", {0, 1}, 2, 0},
    {"MatMulIntegerToFloat", "MatMul", {0, 1}, 2, 0},
    {"QGemm", "Gemm", {0, 3, 6}, 3, 0},
    {"QLinearAdd", "Add", {0, 3}, 2, 0},
    {"QLinearAveragePool", "AveragePool", {0}, 1, 0},
    {"QLinearConcat", "Concat", {2}, 1, 3},
    {"QLinearGlobalAveragePool", "GlobalAveragePool", {0}, 1, 0},
    {"QLinearLeakyRelu", "LeakyRelu", {0}, 1, 0},
    {"QLinearMul", "Mul", {0, 3}, 2, 0},
    {"QLinearReduceMean", "ReduceMean", {0}, 1, 0},
    {"QLinearSigmoid", "Sigmoid", {0}, 1, 0},
    {"QLinearSoftmax", "Softmax", {0}, 1, 0},
    {"QLinearWhere", "Where", {0, 1, 4}, 3, 0},
};

int th_onnx_replace_same_as(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    char inputs[256] = "";
    size_t k = 0, used = 0;
    while (strcmp(others[k].name, o->name) != 0)
        k++;
    int n = others[k].n;
    if (others[k].step > 0)
        n = 1 + ((int)r->node->n_input - 1 - others[k].inputs[0]) / others[k].step;
    if (n > 15)
        return th_onnx_expected(r, "at most 15 inputs");
    th_onnx_body_begin(&b, r);
    for (int i = 0; i < n; i++) {
        char name[16];
        int input =
            others[k].step > 0 ? others[k].inputs[0] + i * others[k].step : others[k].inputs[i];
        snprintf(name, sizeof name, "in%d", i);
        if (th_onnx_body_give(&b, name, (size_t)input))
            used +=
                (size_t)snprintf(inputs + used, sizeof inputs - used, "%s%s", i ? " " : "", name);
    }
    th_onnx_body_add(&b, others[k].is, inputs, th_onnx_body_whole);
    th_onnx_body_copy_attributes(&b);
    return th_onnx_body_end(&b, th_onnx_body_whole);
}

/* Gemm, whose first input may have more than two axes before version 7, and FusedConv: where what
 * is added at the end is a tensor, it is no part of the layer. */
int th_onnx_replace_sum(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    const th_onnx_value *first = th_onnx_input(r, 0);
    bool is_conv = o->shape == th_onnx_shape_conv, is_wide = first && first->rank > 2 && !is_conv,
         adds = th_onnx_is_tensor(th_onnx_input_or_none(r, is_conv ? 3 : 2));
    if (!first || (!is_wide && !adds))
        return first ? 1 : -1;
    th_onnx_body_begin(&b, r);
    th_onnx_body_give(&b, is_wide ? "wide" : "first", 0);
    th_onnx_body_give(&b, "second", 1);
    bool has_bias = (is_conv || !adds) && th_onnx_body_give(&b, "bias", 2);
    if (is_wide)
        th_onnx_body_add(&b, "Flatten", "wide", "first");
    th_onnx_body_add(&b, is_conv ? "Conv" : "Gemm", has_bias ? "first second bias" : "first second",
                     adds ? "product" : th_onnx_body_whole);
    th_onnx_body_copy_attributes(&b);
    if (adds && th_onnx_body_give(&b, "added", is_conv ? 3 : 2))
        th_onnx_body_add(&b, "Add", "product added", th_onnx_body_whole);
    return th_onnx_body_end(&b, th_onnx_body_whole);
}

/* ---- attention ------------------------------------------------------------------------------- */

/* What an attention is made of; q, k and v are values of the body. */
typedef struct {
    int64_t batch, rows, heads, kv_heads, width, v_width; /* widths of one head */
    bool has_past; /* past_k and past_v, with their heads apart */
    bool is_split; /* k and v have their heads apart */
    bool is_causal;
    int64_t window; /* keys that a causal one sees at most; 0: all */
} attention;

static const int64_t heads_first[] = {0, 2, 1, 3};

static void reshape(th_onnx_body *b, const char *from, const char *to, const int64_t *shape, int n)
{
    char name[48], words[96];
    snprintf(name, sizeof name, "%s_shape", to);
    snprintf(words, sizeof words, "%s %s", from, name);
    th_onnx_body_numbers(b, name, shape, n);
    th_onnx_body_add(b, "Reshape", words, to);
}

/* batch x rows x channels as batch x heads x rows x width */
static void split_heads(th_onnx_body *b, const char *from, const char *to, int64_t heads)
{
    char four[40];
    snprintf(four, sizeof four, "%s_rows", to);
    reshape(b, from, four, (const int64_t[]){0, 0, heads, -1}, 4);
    th_onnx_body_add(b, "Transpose", four, to);
    th_onnx_body_set_list(b, "perm", heads_first, 4);
}

/* k and v with their heads apart, behind those of earlier tokens: all_k, all_v. */
static void add_keys(th_onnx_body *b, const attention *a)
{
    static const char *const names[][4] = {{"k", "new_k", "past_k new_k", "all_k"},
                                           {"v", "new_v", "past_v new_v", "all_v"}};
    for (int i = 0; i < 2; i++) {
        const char *to = a->has_past ? names[i][1] : names[i][3];
        if (a->is_split)
            th_onnx_body_add(b, "Identity", names[i][0], to);
        else
            split_heads(b, names[i][0], to, a->kv_heads);
        if (a->has_past) {
            th_onnx_body_add(b, "Concat", names[i][2], names[i][3]);
            th_onnx_body_set(b, "axis", 2);
        }
    }
}

/* Queries of the heads that share keys lie side by side: axes batch, key heads, group, rows. */
static void share_keys(th_onnx_body *b, const attention *a)
{
    const int64_t group[] = {2}, groups = a->heads / a->kv_heads;
    reshape(b, "heads_q", "group_q",
            (const int64_t[]){a->batch, a->kv_heads, groups, a->rows, a->width}, 5);
    th_onnx_body_add(b, "Unsqueeze", "all_k", "group_k");
    th_onnx_body_set_list(b, "axes", group, 1);
    th_onnx_body_add(b, "Unsqueeze", "all_v", "group_v");
    th_onnx_body_set_list(b, "axes", group, 1);
}

static void add_attention(th_onnx_body *b, const attention *a)
{
    static const int64_t turned[] = {0, 1, 3, 2}, turned_group[] = {0, 1, 2, 4, 3};
    bool shares = a->kv_heads != a->heads;
    split_heads(b, "q", "heads_q", a->heads);
    add_keys(b, a);
    if (shares)
        share_keys(b, a);
    th_onnx_body_add(b, "Transpose", shares ? "group_k" : "all_k", "turned_k");
    th_onnx_body_set_list(b, "perm", shares ? turned_group : turned, shares ? 5 : 4);
    th_onnx_body_add(b, "MatMul", shares ? "group_q turned_k" : "heads_q turned_k", "scores");
    th_onnx_body_add(b, "Softmax", "scores", "softmax");
    th_onnx_body_set(b, "axis", -1);
    th_onnx_body_set(b, TH_ONNX_CAUSAL_ROWS, a->is_causal ? a->rows : 0);
    th_onnx_body_set(b, TH_ONNX_WINDOW, a->window);
    th_onnx_body_add(b, "MatMul", shares ? "softmax group_v" : "softmax all_v", "context");
    if (shares)
        reshape(b, "context", "heads_out",
                (const int64_t[]){a->batch, a->heads, a->rows, a->v_width}, 4);
    th_onnx_body_add(b, "Transpose", shares ? "heads_out" : "context", "rows_out");
    th_onnx_body_set_list(b, "perm", heads_first, 4);
    reshape(b, "rows_out", "out", (const int64_t[]){a->batch, a->rows, a->heads * a->v_width}, 3);
}

static int bad_heads(th_onnx_reader *r)
{
    return th_onnx_refuse(r, "WORK-0150",
                          "num_heads %lld, kv_num_heads %lld: numbers that divide the channels of "
                          "queries, keys and values were expected",
                          (long long)th_onnx_int(r->node, "num_heads", 0),
                          (long long)th_onnx_int(r->node, "kv_num_heads", 0));
}

static bool divides(int64_t n, int64_t all)
{
    return n >= 1 && n <= TH_ONNX_EXTENT_MAX && all >= n && all % n == 0;
}

static bool is_unidirectional(const th_onnx_reader *r)
{
    return th_onnx_int(r->node, "unidirectional", 0) != 0;
}

/* One part of past (2 x batch x heads x rows x width), as that name. */
static void take_past(th_onnx_body *b, int64_t part, const char *index, const char *to)
{
    char words[40];
    const th_onnx_value at = {.type = TH_ONNX_INT64, .is_constant = true};
    th_onnx_value v = at;
    v.ints = th_onnx_room(b->r, 1, sizeof *v.ints);
    if (!v.ints) {
        b->status = -1;
        return;
    }
    v.ints[0] = part;
    th_onnx_body_bind(b, index, &v);
    snprintf(words, sizeof words, "past %s", index);
    th_onnx_body_add(b, "Gather", words, to);
    th_onnx_body_set(b, "axis", 0);
}

/* The keys and values together, as past holds them. */
static void add_present(th_onnx_body *b)
{
    const int64_t first[] = {0};
    th_onnx_body_add(b, "Unsqueeze", "all_k", "present_k");
    th_onnx_body_set_list(b, "axes", first, 1);
    th_onnx_body_add(b, "Unsqueeze", "all_v", "present_v");
    th_onnx_body_set_list(b, "axes", first, 1);
    th_onnx_body_add(b, "Concat", "present_k present_v", "present");
    th_onnx_body_set(b, "axis", 0);
}

/* The channels of queries, keys and values in the product's output. */
static int split_projection(th_onnx_reader *r, const th_onnx_value *w, int64_t *sizes)
{
    int n = th_onnx_ints(r->node, "qkv_hidden_sizes", sizes, 3);
    for (int i = 0; i < 3 && n != 3; i++)
        sizes[i] = w->rank == 2 && w->dim[1] % 3 == 0 ? w->dim[1] / 3 : 0;
    for (int i = 0; i < 3; i++)
        if (!divides(th_onnx_int(r->node, "num_heads", 0), sizes[i]))
            return bad_heads(r);
    return sizes[0] == sizes[1] && sizes[0] + sizes[1] + sizes[2] == w->dim[1] ? 0 : bad_heads(r);
}

/* Attention and QAttention (variant: 8, the input that holds the past): one product makes queries,
 * keys and values. */
int th_onnx_replace_attention(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    int64_t sizes[3];
    const th_onnx_value *x = th_onnx_input(r, 0), *w = x ? th_onnx_input(r, 1) : NULL;
    if (!w || (x->rank == 3 ? split_projection(r, w, sizes) : th_onnx_expected(r, "three axes")))
        return -1;
    int64_t heads = th_onnx_int(r->node, "num_heads", 1);
    attention a = {.batch = x->dim[0],
                   .rows = x->dim[1],
                   .heads = heads,
                   .kv_heads = heads,
                   .width = sizes[0] / heads,
                   .v_width = sizes[2] / heads,
                   .is_causal = is_unidirectional(r)};
    th_onnx_body_begin(&b, r);
    th_onnx_body_give(&b, "x", 0);
    th_onnx_body_give(&b, "w", 1);
    bool has_bias = th_onnx_body_give(&b, "bias", 2);
    a.has_past = th_onnx_body_give(&b, "past", (size_t)(o->variant ? o->variant : 4));
    th_onnx_body_add(&b, "MatMul", "x w", has_bias ? "product" : "qkv");
    if (has_bias)
        th_onnx_body_add(&b, "Add", "product bias", "qkv");
    th_onnx_body_add(&b, "Split", "qkv", "q k v");
    th_onnx_body_set(&b, "axis", 2);
    th_onnx_body_set_list(&b, "split", sizes, 3);
    if (a.has_past) {
        take_past(&b, 0, "first", "past_k");
        take_past(&b, 1, "second", "past_v");
    }
    add_attention(&b, &a);
    bool has_present = r->node->n_output > 1 && th_onnx_is_used(r, 1);
    if (has_present)
        add_present(&b);
    return th_onnx_body_end(&b, has_present ? "out present" : "out");
}

/* Queries, keys and values in one input: batch x rows x heads x (what) x width. */
static void unpack(th_onnx_body *b, const char *from, const char *to, const th_onnx_value *v)
{
    static const char *const all[] = {"q_", "k_", "v_"}, *const made[] = {"q", "k", "v"};
    int first = v->dim[3] == 3 ? 0 : 1;
    th_onnx_body_add(b, "Split", from, to);
    th_onnx_body_set(b, "axis", 3);
    for (int i = first; i < 3; i++)
        reshape(b, all[i], made[i], (const int64_t[]){v->dim[0], v->dim[1], v->dim[2] * v->dim[4]},
                3);
}

/* MultiHeadAttention: keys and values as rows, packed, or with their heads apart; or all in the
 * queries. */
int th_onnx_replace_multi_head_attention(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    const th_onnx_value *q = th_onnx_input(r, 0), *k = th_onnx_input_or_none(r, 1),
                        *v = th_onnx_input_or_none(r, 2);
    int64_t heads = th_onnx_int(r->node, "num_heads", 0);
    (void)o;
    if (!q)
        return -1;
    bool is_packed = q->rank == 5 && q->dim[3] == 3, is_kv_packed = k && k->rank == 5,
         is_split = k && k->rank == 4;
    if (!is_packed && (q->rank != 3 || !k || (!is_kv_packed && !v) ||
                       (is_kv_packed && k->dim[3] != 2) || (v && v->rank != k->rank)))
        return th_onnx_expected(r,
                                "queries, keys and values of three axes, or packed ones of five");
    int64_t channels = is_packed ? q->dim[2] * q->dim[4] : q->dim[2],
            v_channels = is_packed      ? channels
                         : is_kv_packed ? k->dim[2] * k->dim[4]
                         : is_split     ? v->dim[1] * v->dim[3]
                                        : v->dim[2];
    if (!divides(heads, channels) || !divides(heads, v_channels))
        return bad_heads(r);
    attention a = {.batch = q->dim[0],
                   .rows = q->dim[1],
                   .heads = heads,
                   .kv_heads = heads,
                   .width = channels / heads,
                   .v_width = v_channels / heads,
                   .is_split = is_split,
                   .is_causal = is_unidirectional(r)};
    th_onnx_body_begin(&b, r);
    th_onnx_body_give(&b, is_packed ? "packed" : "q", 0);
    th_onnx_body_give(&b, is_kv_packed ? "packed" : "k", 1);
    th_onnx_body_give(&b, "v", 2);
    if (is_packed)
        unpack(&b, "packed", "q_ k_ v_", q);
    else if (is_kv_packed)
        unpack(&b, "packed", "k_ v_", k);
    a.has_past = th_onnx_body_give(&b, "past_k", 6) && th_onnx_body_give(&b, "past_v", 7);
    add_attention(&b, &a);
    return th_onnx_body_end(&b, "out all_k all_v");
}

static void rotate(th_onnx_body *b, const char *from, const char *to)
{
    th_onnx_body_add(b, "RotaryEmbedding", from, to);
}

/* Keys and values may be in the queries: heads of these, then of keys, then of values. The operator
 * is of decoders: a token sees those before it. */
int th_onnx_replace_group_query_attention(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    const th_onnx_value *q = th_onnx_input(r, 0), *k = th_onnx_input_or_none(r, 1);
    int64_t heads = th_onnx_int(r->node, "num_heads", 0),
            kv = th_onnx_int(r->node, "kv_num_heads", heads);
    (void)o;
    if (!q)
        return -1;
    if (!divides(kv, heads) || q->rank != 3 || !divides(k ? heads : heads + 2 * kv, q->dim[2]))
        return bad_heads(r);
    int64_t width = q->dim[2] / (k ? heads : heads + 2 * kv);
    bool turns = th_onnx_int(r->node, "do_rotary", 0) != 0;
    int64_t window = th_onnx_int(r->node, "local_window_size", -1);
    attention a = {.batch = q->dim[0],
                   .rows = q->dim[1],
                   .heads = heads,
                   .kv_heads = kv,
                   .width = width,
                   .v_width = width,
                   .is_causal = true,
                   .window = window > 0 && window <= TH_ONNX_EXTENT_MAX ? window : 0};
    th_onnx_body_begin(&b, r);
    th_onnx_body_give(&b, k ? (turns ? "plain_q" : "q") : "packed", 0);
    th_onnx_body_give(&b, turns ? "plain_k" : "k", 1);
    th_onnx_body_give(&b, "v", 2);
    if (!k) {
        th_onnx_body_add(&b, "Split", "packed", turns ? "plain_q plain_k v" : "q k v");
        th_onnx_body_set(&b, "axis", 2);
        th_onnx_body_set_list(&b, "split", (const int64_t[]){heads * width, kv * width, kv * width},
                              3);
    }
    if (turns) {
        rotate(&b, "plain_q", "q");
        rotate(&b, "plain_k", "k");
    }
    a.has_past = th_onnx_body_give(&b, "past_k", 3) && th_onnx_body_give(&b, "past_v", 4);
    add_attention(&b, &a);
    return th_onnx_body_end(&b, "out all_k all_v");
}

/* ---- embeddings ------------------------------------------------------------------------------ */

/* Words, positions (which are constant: a bias) and segments, summed and normed. Outputs: the norm,
 * the lengths of the texts, the sum. */
int th_onnx_replace_embed_layer_norm(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    const th_onnx_value *ids = th_onnx_input(r, 0), *position = ids ? th_onnx_input(r, 3) : NULL;
    (void)o;
    if (!position || ids->rank != 2 || position->rank != 2)
        return position ? th_onnx_expected(r, "indices and tables of two axes") : -1;
    th_onnx_value positions = {.rank = 2,
                               .dim = {ids->dim[1], position->dim[1]},
                               .type = position->type,
                               .is_constant = true};
    th_onnx_body_begin(&b, r);
    th_onnx_body_give(&b, "ids", 0);
    th_onnx_body_give(&b, "words", 2);
    th_onnx_body_bind(&b, "positions", &positions);
    bool has_segments =
        th_onnx_body_give(&b, "segment_ids", 1) && th_onnx_body_give(&b, "segments", 4);
    th_onnx_body_add(&b, "Gather", "words ids", "word");
    th_onnx_body_add(&b, "Add", "word positions", has_segments ? "placed" : "sum");
    if (has_segments) {
        th_onnx_body_add(&b, "Gather", "segments segment_ids", "segment");
        th_onnx_body_add(&b, "Add", "placed segment", "sum");
    }
    th_onnx_body_add(&b, "LayerNormalization", "sum", "norm");
    if (r->node->n_output < 2 || !th_onnx_is_used(r, 1))
        return th_onnx_body_end(&b, "norm - sum");
    th_onnx_value lengths = {
        .rank = 1, .dim = {ids->dim[0]}, .type = TH_ONNX_INT32, .is_constant = true};
    th_onnx_body_bind(&b, "lengths", &lengths);
    return th_onnx_body_end(&b, "norm lengths sum");
}
