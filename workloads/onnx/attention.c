/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attention.c - attentions of ai.onnx and com.microsoft as standard operators (body.h).
 *
 * Attention is softmax(Q K^T) V for every head: the layers NODE.scores, NODE.softmax and
 * NODE.context. The node's scale, masks, cap and what it adds to the scores belong to the softmax:
 * they are no layers and no inputs.
 * Keys and values of earlier tokens come in front of the new ones. Of a cache that is a buffer of
 * the longest text, the new ones are the last of those that count. Fewer heads of keys than of
 * queries: each serves a group of them. Tokens without padding ("packed") are texts of equal
 * length, as far as shapes tell. */
#include <config.h>
#include "workloads/onnx/body.h"
#include "workloads/onnx/op.h"

#include <stdio.h>
#include <string.h>

/* What an attention is made of; q, k and v are values of the body. */
typedef struct {
    int64_t batch, rows, heads, kv_heads, width, v_width; /* widths of one head */
    bool has_past;   /* past_k and past_v, with their heads apart */
    bool is_split;   /* k and v have their heads apart */
    bool is_q_split; /* so have q and the output */
    bool is_causal;
    int64_t window; /* keys that a causal one sees at most; 0: all */
    int64_t past;   /* its tokens, of a buffer those that count; 0: all of it */
    int64_t keys;   /* the first of all, that any token sees; 0: all */
} attention;

/* batch x rows x channels as batch x heads x rows x width */
static void split_heads(th_onnx_body *b, const char *from, const char *to, int64_t heads)
{
    th_onnx_body_do(b, "Reshape %s > %s_rows shape=0,0,%lld,-1;Transpose %s_rows > %s perm=0,2,1,3",
                    from, to, (long long)heads, to, to);
}

/* The first n tokens of keys or values with their heads apart; 0: all. */
static void take_first(th_onnx_body *b, const char *from, const char *to, char which, int64_t n)
{
    if (n == 0)
        th_onnx_body_do(b, "Identity %s%c > %s%c", from, which, to, which);
    else
        th_onnx_body_do(b, "Slice %s%c > %s%c starts=0, ends=%lld, axes=2,", from, which, to, which,
                        (long long)n);
}

/* k and v with their heads apart, behind those of earlier tokens: all_k and all_v, and what is seen
 * of these. */
static void add_keys(th_onnx_body *b, const attention *a)
{
    for (const char *c = "kv"; *c; c++) {
        const char plain[] = {*c, '\0'};
        char to[] = {'a', 'l', 'l', '_', *c, '\0'};
        if (a->has_past)
            memcpy(to, "new", 3);
        if (a->is_split)
            th_onnx_body_do(b, "Identity %s > %s", plain, to);
        else
            split_heads(b, plain, to, a->kv_heads);
        if (a->has_past) {
            take_first(b, "past_", "seen_past_", *c, a->past);
            th_onnx_body_do(b, "Concat seen_past_%c new_%c > all_%c axis=2", *c, *c, *c);
        }
        take_first(b, "all_", "seen_", *c, a->keys);
    }
}

/* Queries of the heads that share keys lie side by side: axes batch, key heads, group, rows. */
static void add_attention(th_onnx_body *b, const attention *a)
{
    bool shares = a->kv_heads != a->heads;
    long long batch = a->batch, rows = a->rows, heads = a->heads;
    if (a->is_q_split)
        th_onnx_body_do(b, "Identity q > heads_q");
    else
        split_heads(b, "q", "heads_q", a->heads);
    add_keys(b, a);
    if (shares)
        th_onnx_body_do(b,
                        "Reshape heads_q > group_q shape=%lld,%lld,%lld,%lld,%lld;"
                        "Unsqueeze seen_k > group_k axes=2,;Unsqueeze seen_v > group_v axes=2,",
                        batch, (long long)a->kv_heads, (long long)(heads / a->kv_heads), rows,
                        (long long)a->width);
    const char *kind = shares ? "group" : "seen";
    th_onnx_body_do(b,
                    "Transpose %s_k > turned_k perm=%s;MatMul %s_q turned_k > scores;"
                    "Softmax scores > softmax axis=-1 " TH_ONNX_CAUSAL_ROWS "=%lld " TH_ONNX_WINDOW
                    "=%lld;MatMul softmax %s_v > context",
                    kind, shares ? "0,1,2,4,3" : "0,1,3,2", shares ? kind : "heads",
                    a->is_causal ? rows : 0, (long long)a->window, kind);
    if (shares)
        th_onnx_body_do(b, "Reshape context > heads_out shape=%lld,%lld,%lld,%lld", batch, heads,
                        rows, (long long)a->v_width);
    const char *out = shares ? "heads_out" : "context";
    if (a->is_q_split)
        th_onnx_body_do(b, "Identity %s > out", out);
    else
        th_onnx_body_do(
            b, "Transpose %s > rows_out perm=0,2,1,3;Reshape rows_out > out shape=0,0,%lld", out,
            (long long)(heads * a->v_width));
}

/* Ends the body; the outputs of the node are the attention's, the keys and values, and what is
 * made of queries and keys, before the softmax or behind it. */
static int end_attention(th_onnx_body *b, const attention *a, bool is_behind)
{
    if (b->call->n_output > 3 && th_onnx_is_used(b->r, 3))
        th_onnx_body_do(b, "Reshape %s > qk shape=%lld,%lld,%lld,-1",
                        is_behind ? "softmax" : "scores", (long long)a->batch, (long long)a->heads,
                        (long long)a->rows);
    else
        return th_onnx_body_end(b, "out all_k all_v -");
    return th_onnx_body_end(b, "out all_k all_v qk");
}

static int bad_heads(th_onnx_reader *r, int64_t heads, int64_t kv_heads)
{
    return th_onnx_refuse(r, "WORK-0150",
                          "num_heads %lld, kv_num_heads %lld: must divide the channels of "
                          "queries, keys and values",
                          (long long)heads, (long long)kv_heads);
}

static bool divides(int64_t n, int64_t all)
{
    return n >= 1 && n <= TH_ONNX_EXTENT_MAX && all >= n && all % n == 0;
}

static bool is_unidirectional(const th_onnx_reader *r)
{
    return th_onnx_int(r->node, "unidirectional", 0) != 0;
}

/* The tokens of a buffer of so many that count: those before the new ones, where the input that
 * tells them is known, else all that fit. -1: they do not fit. */
static int64_t past_of_buffer(th_onnx_reader *r, size_t length, int64_t size, int64_t rows)
{
    const th_onnx_value *v = th_onnx_input_or_none(r, length);
    int64_t past =
        th_onnx_is_known(v) && th_onnx_elements(v) > 0 ? th_onnx_number(v, 0) : size - rows;
    if (past >= 0 && past <= size - rows)
        return past;
    return th_onnx_refuse_extent(r, past + rows, rows, size);
}

/* The channels of queries, keys and values in the product's output. */
static int split_projection(th_onnx_reader *r, const th_onnx_value *w, int64_t *sizes)
{
    int n = th_onnx_ints(r->node, "qkv_hidden_sizes", sizes, 3);
    for (int i = 0; i < 3 && n != 3; i++)
        sizes[i] = w->rank == 2 && w->dim[1] % 3 == 0 ? w->dim[1] / 3 : 0;
    for (int i = 0; i < 3; i++)
        if (!divides(th_onnx_int(r->node, "num_heads", 0), sizes[i]))
            return bad_heads(r, th_onnx_int(r->node, "num_heads", 0), 0);
    return sizes[0] == sizes[1] && sizes[0] + sizes[1] + sizes[2] == w->dim[1]
               ? 0
               : bad_heads(r, th_onnx_int(r->node, "num_heads", 0), 0);
}

/* Attention and QAttention (variant: the input that holds the past): one product makes queries,
 * keys and values. */
int th_onnx_replace_attention(th_onnx_reader *r, const th_onnx_operator *o)
{
    enum { LENGTH = 6 };
    th_onnx_body b;
    int64_t sizes[3];
    const th_onnx_value *x = th_onnx_input(r, 0), *w = x ? th_onnx_input(r, 1) : NULL,
                        *past = th_onnx_input_or_none(r, (size_t)o->variant);
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
    bool is_buffer =
        past && past->rank == 5 && th_onnx_int(r->node, "past_present_share_buffer", 0) != 0;
    if (is_buffer && (a.past = past_of_buffer(r, LENGTH, past->dim[3], a.rows)) < 0)
        return -1;
    th_onnx_body_begin(&b, r);
    th_onnx_body_give(&b, "x", 0);
    th_onnx_body_give(&b, "w", 1);
    bool has_bias = th_onnx_body_give(&b, "bias", 2);
    th_onnx_body_do(&b, "MatMul x w > %s", has_bias ? "product;Add product bias > qkv" : "qkv");
    th_onnx_body_do(&b, "Split qkv > q k v axis=2 split=%s", th_onnx_body_list(&b, sizes, 3));
    a.has_past =
        past && !(is_buffer && a.past == 0) && th_onnx_body_give(&b, "past", (size_t)o->variant);
    if (a.has_past)
        th_onnx_body_do(&b, "Split past > both_k both_v axis=0 split=1,1;"
                            "Squeeze both_k > past_k axes=0,;Squeeze both_v > past_v axes=0,");
    add_attention(&b, &a);
    if (r->node->n_output < 2 || !th_onnx_is_used(r, 1))
        return th_onnx_body_end(&b, "out");
    th_onnx_body_do(&b, "Unsqueeze all_k > present_k axes=0,;Unsqueeze all_v > present_v axes=0,;"
                        "Concat present_k present_v > present axis=0");
    return th_onnx_body_end(&b, "out present");
}

/* Queries, keys and values in one input: batch x rows x heads x (what) x width. */
static void unpack(th_onnx_body *b, const th_onnx_value *v)
{
    const char *made = v->dim[3] == 3 ? "qkv" : "kv";
    th_onnx_body_do(b, "Split packed > %s axis=3 num_outputs=%d",
                    v->dim[3] == 3 ? "q_ k_ v_" : "k_ v_", (int)v->dim[3]);
    for (; *made; made++)
        th_onnx_body_do(b, "Reshape %c_ > %c shape=0,0,%lld", *made, *made,
                        (long long)(v->dim[2] * v->dim[4]));
}

/* Checks queries, keys and values and sets the widths of a. */
static int set_widths(th_onnx_reader *r, const th_onnx_value *q, const th_onnx_value *k,
                      const th_onnx_value *v, attention *a)
{
    bool is_packed = q->rank == 5 && q->dim[3] == 3, is_kv_packed = k && k->rank == 5;
    if (!is_packed && (q->rank != 3 || !k || (!is_kv_packed && !v) ||
                       (is_kv_packed && k->dim[3] != 2) || (v && v->rank != k->rank)))
        return th_onnx_expected(r,
                                "queries, keys and values of three axes, or packed ones of five");
    a->is_split = k && k->rank == 4;
    int64_t channels = is_packed ? q->dim[2] * q->dim[4] : q->dim[2],
            v_channels = is_packed      ? channels
                         : is_kv_packed ? k->dim[2] * k->dim[4]
                         : a->is_split  ? v->dim[1] * v->dim[3]
                                        : v->dim[2];
    if (!divides(a->heads, channels) || !divides(a->heads, v_channels))
        return bad_heads(r, a->heads, 0);
    a->batch = q->dim[0];
    a->rows = q->dim[1];
    a->width = channels / a->heads;
    a->v_width = v_channels / a->heads;
    return 0;
}

/* MultiHeadAttention: keys and values as rows, packed, or with their heads apart; or all in the
 * queries. */
int th_onnx_replace_multi_head_attention(th_onnx_reader *r, const th_onnx_operator *o)
{
    enum { PAST = 6, LENGTH = 8 };
    th_onnx_body b;
    const th_onnx_value *q = th_onnx_input(r, 0), *k = th_onnx_input_or_none(r, 1),
                        *v = th_onnx_input_or_none(r, 2), *past = th_onnx_input_or_none(r, PAST);
    int64_t heads = th_onnx_int(r->node, "num_heads", 0);
    attention a = {.heads = heads, .kv_heads = heads, .is_causal = is_unidirectional(r)};
    (void)o;
    if (!q || set_widths(r, q, k, v, &a))
        return -1;
    bool is_buffer = past && past->rank == 4 &&
                     (th_onnx_int(r->node, "past_present_share_buffer", 0) != 0 ||
                      (th_onnx_input_or_none(r, LENGTH) && past->dim[2] >= a.rows));
    if (is_buffer && (a.past = past_of_buffer(r, LENGTH, past->dim[2], a.rows)) < 0)
        return -1;
    bool is_packed = q->rank == 5, is_kv_packed = k && k->rank == 5;
    th_onnx_body_begin(&b, r);
    th_onnx_body_give(&b, is_packed ? "packed" : "q", 0);
    th_onnx_body_give(&b, is_kv_packed ? "packed" : "k", 1);
    th_onnx_body_give(&b, "v", 2);
    if (is_packed || is_kv_packed)
        unpack(&b, is_packed ? q : k);
    a.has_past = past && !(is_buffer && a.past == 0) && th_onnx_body_give(&b, "past_k", PAST) &&
                 th_onnx_body_give(&b, "past_v", PAST + 1);
    add_attention(&b, &a);
    return end_attention(&b, &a, false);
}

/* PackedAttention and PackedMultiHeadAttention (variant: 1), whose tokens have no axis of the
 * batch: texts of equal lengths, if they are as many as token_offset holds. */
int th_onnx_replace_packed_attention(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    const th_onnx_value *x = th_onnx_input(r, 0),
                        *at = x ? th_onnx_input(r, o->variant ? 4 : 3) : NULL;
    if (!at)
        return -1;
    if (at->rank != 2 || x->rank < 2 || x->dim[0] < 1 || th_onnx_elements(at) != x->dim[0])
        return th_onnx_expected(r, "as many tokens as token_offset: the lengths of texts depend on "
                                   "the data else");
    const th_onnx_value *const in[] = {x, th_onnx_input_or_none(r, 1), th_onnx_input_or_none(r, 2)};
    th_onnx_body_begin(&b, r);
    for (size_t i = 0; i < 3; i++) {
        const th_onnx_value *v = in[i];
        bool is_wide = v && v->rank >= 2 && (i == 0 || o->variant);
        th_onnx_body_give(&b, th_onnx_body_name(&b, is_wide ? "tokens" : "in", i), i);
        if (is_wide)
            th_onnx_body_do(&b, "Reshape tokens%zu > in%zu shape=%lld,%lld,%s", i, i,
                            (long long)at->dim[0], (long long)at->dim[1],
                            th_onnx_body_list(&b, v->dim + 1, v->rank - 1));
    }
    th_onnx_body_do(&b, "%s in0 %s > wide *;Reshape wide > " TH_ONNX_WHOLE " shape=%lld,-1",
                    o->variant ? "MultiHeadAttention" : "Attention",
                    o->variant && x->rank > 2 ? "" : "in1 in2", (long long)x->dim[0]);
    return th_onnx_body_end(&b, NULL);
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
        return bad_heads(r, heads, kv);
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
    if (!k)
        th_onnx_body_do(&b, "Split packed > %s axis=2 split=%lld,%lld,%lld",
                        turns ? "plain_q plain_k v" : "q k v", (long long)(heads * width),
                        (long long)(kv * width), (long long)(kv * width));
    if (turns)
        th_onnx_body_do(&b, "RotaryEmbedding plain_q > q;RotaryEmbedding plain_k > k");
    a.has_past = th_onnx_body_give(&b, "past_k", 3) && th_onnx_body_give(&b, "past_v", 4);
    add_attention(&b, &a);
    return end_attention(&b, &a, false);
}

/* ---- ai.onnx ---- */

/* The extents of queries, keys and values, of three axes or of four with the heads apart. */
static int set_extents(th_onnx_reader *r, const th_onnx_value *q, const th_onnx_value *k,
                       const th_onnx_value *v, attention *a)
{
    bool is_split = q->rank == 4;
    a->is_split = a->is_q_split = is_split;
    if ((q->rank != 3 && !is_split) || k->rank != q->rank || v->rank != q->rank)
        return th_onnx_expected(r, "queries, keys and values of three or of four axes");
    a->heads = is_split ? q->dim[1] : th_onnx_int(r->node, "q_num_heads", 0);
    a->kv_heads = is_split ? k->dim[1] : th_onnx_int(r->node, "kv_num_heads", 0);
    if (!divides(a->kv_heads, a->heads) ||
        (!is_split && (!divides(a->heads, q->dim[2]) || !divides(a->kv_heads, v->dim[2]))))
        return bad_heads(r, a->heads, a->kv_heads);
    a->batch = q->dim[0];
    a->rows = q->dim[is_split ? 2 : 1];
    a->width = is_split ? q->dim[3] : q->dim[2] / a->heads;
    a->v_width = is_split ? v->dim[3] : v->dim[2] / a->kv_heads;
    return 0;
}

/* Since version 23. A causal one without a past masks what is above the diagonal of the scores: no
 * token sees keys behind the first that are as many as the tokens. */
int th_onnx_replace_own_attention(th_onnx_reader *r, const th_onnx_operator *o)
{
    enum { BEHIND_SOFTMAX = 3 };
    th_onnx_body b;
    attention a = {.is_causal = th_onnx_int(r->node, "is_causal", 0) != 0};
    const th_onnx_value *q = th_onnx_input(r, 0), *k = q ? th_onnx_input(r, 1) : NULL,
                        *v = k ? th_onnx_input(r, 2) : NULL;
    (void)o;
    if (!v || set_extents(r, q, k, v, &a))
        return -1;
    int64_t keys = k->dim[a.is_split ? 2 : 1];
    bool has_past = th_onnx_input_or_none(r, 4) && th_onnx_input_or_none(r, 5);
    if (a.is_causal && !has_past && !th_onnx_input_or_none(r, 6)) {
        a.is_causal = keys >= a.rows;
        a.keys = keys > a.rows ? a.rows : 0;
    }
    th_onnx_body_begin(&b, r);
    th_onnx_body_give(&b, "q", 0);
    th_onnx_body_give(&b, "k", 1);
    th_onnx_body_give(&b, "v", 2);
    a.has_past =
        has_past && th_onnx_body_give(&b, "past_k", 4) && th_onnx_body_give(&b, "past_v", 5);
    add_attention(&b, &a);
    return end_attention(&b, &a,
                         th_onnx_int(r->node, "qk_matmul_output_mode", 0) == BEHIND_SOFTMAX);
}
