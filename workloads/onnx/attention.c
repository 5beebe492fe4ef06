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
    bool is_packed;  /* the node's inputs and output have one axis for batch and rows */
    bool is_causal;
    int64_t window; /* keys that a causal one sees at most; 0: all */
    int64_t past;   /* its tokens, of a buffer those that count; 0: all of it */
    int64_t keys;   /* the first of all, that any token sees; 0: all */
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

static void transpose(th_onnx_body *b, const char *from, const char *to, const int64_t *order,
                      int rank)
{
    th_onnx_body_add(b, "Transpose", from, to);
    th_onnx_body_set_list(b, "perm", order, rank);
}

/* batch x rows x channels as batch x heads x rows x width */
static void split_heads(th_onnx_body *b, const char *from, const char *to, int64_t heads)
{
    char four[40];
    snprintf(four, sizeof four, "%s_rows", to);
    reshape(b, from, four, (const int64_t[]){0, 0, heads, -1}, 4);
    transpose(b, four, to, heads_first, 4);
}

/* The first n tokens of keys or values with their heads apart; 0: all. */
static void take_first(th_onnx_body *b, const char *from, const char *to, int64_t n)
{
    const int64_t axis = 2, start = 0;
    if (n == 0) {
        th_onnx_body_add(b, "Identity", from, to);
        return;
    }
    th_onnx_body_add(b, "Slice", from, to);
    th_onnx_body_set_list(b, "starts", &start, 1);
    th_onnx_body_set_list(b, "ends", &n, 1);
    th_onnx_body_set_list(b, "axes", &axis, 1);
}

/* k and v with their heads apart, behind those of earlier tokens: all_k and all_v, and what is seen
 * of these. */
static void add_keys(th_onnx_body *b, const attention *a)
{
    static const char *const names[][6] = {
        {"k", "new_k", "past_k", "seen_past_k", "all_k", "seen_k"},
        {"v", "new_v", "past_v", "seen_past_v", "all_v", "seen_v"}};
    for (int i = 0; i < 2; i++) {
        const char *const *n = names[i], *to = a->has_past ? n[1] : n[4];
        if (a->is_split)
            th_onnx_body_add(b, "Identity", n[0], to);
        else
            split_heads(b, n[0], to, a->kv_heads);
        if (a->has_past) {
            char both[40];
            snprintf(both, sizeof both, "%s %s", n[3], n[1]);
            take_first(b, n[2], n[3], a->past);
            th_onnx_body_add(b, "Concat", both, n[4]);
            th_onnx_body_set(b, "axis", 2);
        }
        take_first(b, n[4], n[5], a->keys);
    }
}

/* Queries of the heads that share keys lie side by side: axes batch, key heads, group, rows. */
static void share_keys(th_onnx_body *b, const attention *a)
{
    const int64_t group[] = {2}, groups = a->heads / a->kv_heads;
    reshape(b, "heads_q", "group_q",
            (const int64_t[]){a->batch, a->kv_heads, groups, a->rows, a->width}, 5);
    th_onnx_body_add(b, "Unsqueeze", "seen_k", "group_k");
    th_onnx_body_set_list(b, "axes", group, 1);
    th_onnx_body_add(b, "Unsqueeze", "seen_v", "group_v");
    th_onnx_body_set_list(b, "axes", group, 1);
}

static void add_attention(th_onnx_body *b, const attention *a)
{
    static const int64_t turned[] = {0, 1, 3, 2}, turned_group[] = {0, 1, 2, 4, 3};
    const int64_t rows[] = {a->batch, a->rows, a->heads * a->v_width},
                  all_rows[] = {a->batch * a->rows, a->heads * a->v_width};
    bool shares = a->kv_heads != a->heads;
    if (a->is_q_split)
        th_onnx_body_add(b, "Identity", "q", "heads_q");
    else
        split_heads(b, "q", "heads_q", a->heads);
    add_keys(b, a);
    if (shares)
        share_keys(b, a);
    transpose(b, shares ? "group_k" : "seen_k", "turned_k", shares ? turned_group : turned,
              shares ? 5 : 4);
    th_onnx_body_add(b, "MatMul", shares ? "group_q turned_k" : "heads_q turned_k", "scores");
    th_onnx_body_add(b, "Softmax", "scores", "softmax");
    th_onnx_body_set(b, "axis", -1);
    th_onnx_body_set(b, TH_ONNX_CAUSAL_ROWS, a->is_causal ? a->rows : 0);
    th_onnx_body_set(b, TH_ONNX_WINDOW, a->window);
    th_onnx_body_add(b, "MatMul", shares ? "softmax group_v" : "softmax seen_v", "context");
    const char *heads = shares ? "heads_out" : "context";
    if (shares)
        reshape(b, "context", heads, (const int64_t[]){a->batch, a->heads, a->rows, a->v_width}, 4);
    if (a->is_q_split) {
        th_onnx_body_add(b, "Identity", heads, "out");
    } else {
        transpose(b, heads, "rows_out", heads_first, 4);
        reshape(b, "rows_out", "out", a->is_packed ? all_rows : rows, a->is_packed ? 2 : 3);
    }
}

/* Ends the body; the outputs of the node are the attention's, the keys and values, and what is
 * made of queries and keys, before the softmax or behind it. */
static int end_attention(th_onnx_body *b, const attention *a, bool is_behind)
{
    bool has_scores = b->call->n_output > 3 && th_onnx_is_used(b->r, 3);
    if (has_scores)
        reshape(b, is_behind ? "softmax" : "scores", "qk",
                (const int64_t[]){a->batch, a->heads, a->rows, -1}, 4);
    return th_onnx_body_end(b, has_scores ? "out all_k all_v qk" : "out all_k all_v");
}

static int bad_heads(th_onnx_reader *r, int64_t heads, int64_t kv_heads)
{
    return th_onnx_refuse(r, "WORK-0150",
                          "num_heads %lld, kv_num_heads %lld: numbers that divide the channels of "
                          "queries, keys and values were expected",
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
            return bad_heads(r, th_onnx_int(r->node, "num_heads", 0), 0);
    return sizes[0] == sizes[1] && sizes[0] + sizes[1] + sizes[2] == w->dim[1]
               ? 0
               : bad_heads(r, th_onnx_int(r->node, "num_heads", 0), 0);
}

/* The texts that packed tokens are, by the input that has a row for each: they have equal lengths,
 * where they are as many as fit. */
static int set_packed(th_onnx_reader *r, size_t offsets, int64_t tokens, attention *a)
{
    const th_onnx_value *v = th_onnx_input(r, offsets);
    if (!v)
        return -1;
    if (v->rank != 2 || v->dim[0] < 1 || v->dim[1] < 1 || v->dim[0] > TH_ONNX_EXTENT_MAX ||
        v->dim[1] > TH_ONNX_EXTENT_MAX || v->dim[0] * v->dim[1] != tokens)
        return th_onnx_expected(r, "as many tokens as token_offset: the lengths of texts depend on "
                                   "the data else");
    a->is_packed = true;
    a->batch = v->dim[0];
    a->rows = v->dim[1];
    return 0;
}

/* The shape of a value with the batch and the rows as axes of their own. */
static th_onnx_value unpacked(const attention *a, const th_onnx_value *v)
{
    th_onnx_value out = *v;
    if (!a->is_packed || v->rank == 0 || v->rank == TH_ONNX_RANK_MAX)
        return out;
    memmove(out.dim + 1, out.dim, (size_t)v->rank * sizeof *out.dim);
    out.dim[0] = a->batch;
    out.dim[1] = a->rows;
    out.rank++;
    return out;
}

/* Input i of the node in that shape. */
static bool give_unpacked(th_onnx_body *b, const attention *a, const char *name, size_t i,
                          const th_onnx_value *v)
{
    char packed[40];
    if (!a->is_packed || !v)
        return th_onnx_body_give(b, name, i);
    const th_onnx_value out = unpacked(a, v);
    snprintf(packed, sizeof packed, "%s_packed", name);
    th_onnx_body_give(b, packed, i);
    reshape(b, packed, name, out.dim, out.rank);
    return true;
}

static void project(th_onnx_body *b, const int64_t *sizes)
{
    bool has_bias = th_onnx_body_give(b, "bias", 2);
    th_onnx_body_add(b, "MatMul", "x w", has_bias ? "product" : "qkv");
    if (has_bias)
        th_onnx_body_add(b, "Add", "product bias", "qkv");
    th_onnx_body_add(b, "Split", "qkv", "q k v");
    th_onnx_body_set(b, "axis", 2);
    th_onnx_body_set_list(b, "split", sizes, 3);
}

/* Of the past, 2 x batch x heads x rows x width, the two parts. */
static void split_past(th_onnx_body *b, attention *a)
{
    a->has_past = true;
    take_past(b, 0, "first", "past_k");
    take_past(b, 1, "second", "past_v");
}

/* One product makes queries, keys and values. variant: the input that holds the past, 0: none,
 * for the tokens are packed. The past of DecoderMaskedSelfAttention is always a buffer. */
int th_onnx_replace_attention(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    int64_t sizes[3];
    bool is_packed = o->variant == 0,
         is_decoder = strcmp(o->name, "DecoderMaskedSelfAttention") == 0;
    size_t past = (size_t)o->variant;
    const th_onnx_value *x = th_onnx_input(r, 0), *w = x ? th_onnx_input(r, 1) : NULL,
                        *old = past ? th_onnx_input_or_none(r, past) : NULL;
    if (!w || (x->rank == (is_packed ? 2 : 3)
                   ? split_projection(r, w, sizes)
                   : th_onnx_expected(r, is_packed ? "two axes" : "three axes")))
        return -1;
    int64_t heads = th_onnx_int(r->node, "num_heads", 1);
    attention a = {.batch = x->dim[0],
                   .rows = x->dim[1],
                   .heads = heads,
                   .kv_heads = heads,
                   .width = sizes[0] / heads,
                   .v_width = sizes[2] / heads,
                   .is_causal = is_unidirectional(r)};
    if (is_packed && set_packed(r, 3, x->dim[0], &a))
        return -1;
    bool is_buffer = old && old->rank == 5 &&
                     (is_decoder || th_onnx_int(r->node, "past_present_share_buffer", 0) != 0);
    if (is_buffer && (a.past = past_of_buffer(r, 6, old->dim[3], a.rows)) < 0)
        return -1;
    bool is_empty = is_buffer && a.past == 0;
    th_onnx_body_begin(&b, r);
    give_unpacked(&b, &a, "x", 0, x);
    th_onnx_body_give(&b, "w", 1);
    project(&b, sizes);
    if (old && !is_empty && th_onnx_body_give(&b, "past", past))
        split_past(&b, &a);
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

/* Where a node has its inputs. */
typedef struct {
    size_t past, length, offsets; /* 0: none */
} places;

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

/* Keys and values as rows, packed, or with their heads apart; or all in the queries. variant: 0
 * MultiHeadAttention, 1 DecoderMasked..., 2 Packed..., whose inputs have no axis of the batch. */
int th_onnx_replace_multi_head_attention(th_onnx_reader *r, const th_onnx_operator *o)
{
    static const places all[] = {{6, 8, 0}, {5, 7, 0}, {0, 0, 4}};
    const places at = all[o->variant];
    th_onnx_body b;
    const th_onnx_value *q = th_onnx_input(r, 0), *k = th_onnx_input_or_none(r, 1),
                        *v = th_onnx_input_or_none(r, 2), *past = NULL;
    int64_t heads = th_onnx_int(r->node, "num_heads", 0);
    attention a = {.heads = heads, .kv_heads = heads, .is_causal = is_unidirectional(r)};
    if (!q || (at.offsets && set_packed(r, at.offsets, q->rank > 0 ? q->dim[0] : 0, &a)))
        return -1;
    th_onnx_value wide_q = unpacked(&a, q), wide_k = unpacked(&a, k ? k : q),
                  wide_v = unpacked(&a, v ? v : q);
    if (set_widths(r, &wide_q, k ? &wide_k : NULL, v ? &wide_v : NULL, &a))
        return -1;
    if (at.past)
        past = th_onnx_input_or_none(r, at.past);
    bool is_buffer = past && past->rank == 4 &&
                     (th_onnx_int(r->node, "past_present_share_buffer", 0) != 0 ||
                      th_onnx_input_or_none(r, at.length));
    if (is_buffer && (a.past = past_of_buffer(r, at.length, past->dim[2], a.rows)) < 0)
        return -1;
    bool is_packed = wide_q.rank == 5, is_kv_packed = k && wide_k.rank == 5;
    th_onnx_body_begin(&b, r);
    give_unpacked(&b, &a, is_packed ? "packed" : "q", 0, q);
    give_unpacked(&b, &a, is_kv_packed ? "packed" : "k", 1, k);
    give_unpacked(&b, &a, "v", 2, v);
    if (is_packed)
        unpack(&b, "packed", "q_ k_ v_", &wide_q);
    else if (is_kv_packed)
        unpack(&b, "packed", "k_ v_", &wide_k);
    a.has_past = past && !(is_buffer && a.past == 0) && th_onnx_body_give(&b, "past_k", at.past) &&
                 th_onnx_body_give(&b, "past_v", at.past + 1);
    add_attention(&b, &a);
    return end_attention(&b, &a, false);
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
