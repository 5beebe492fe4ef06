/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fused.c - fused operators of com.microsoft as the standard ones that they stand for (body.h);
 * attention.c has attentions. */
#include <config.h>
#include "workloads/onnx/body.h"
#include "workloads/onnx/op.h"

#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"

/* ---- other operators ------------------------------------------------------------------------- */

/* Those of the row's text, which calls the node's inputs in0, in1 ... */
int th_onnx_replace_body(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    th_onnx_body_begin(&b, r);
    for (size_t i = 0; i < r->node->n_input; i++)
        th_onnx_body_give(&b, th_onnx_body_name(&b, "in", i), i);
    th_onnx_body_do(&b, "%s", o->body);
    return th_onnx_body_end(&b, NULL);
}

/* Every third input from the third on. */
int th_onnx_replace_quantized_concat(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    size_t n = 0;
    (void)o;
    th_onnx_body_begin(&b, r);
    for (size_t i = 2; i < r->node->n_input; i += 3)
        th_onnx_body_give(&b, th_onnx_body_name(&b, "in", n++), i);
    th_onnx_body_do(&b, "Concat %s > " TH_ONNX_WHOLE " *",
                    th_onnx_body_names(&b, "in", (int64_t)n));
    return th_onnx_body_end(&b, NULL);
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
        th_onnx_body_do(&b, "Flatten wide > first");
    th_onnx_body_do(&b, "%s first second %s > %s *", is_conv ? "Conv" : "Gemm",
                    has_bias ? "bias" : "", adds ? "product" : TH_ONNX_WHOLE);
    if (adds && th_onnx_body_give(&b, "added", is_conv ? 3 : 2))
        th_onnx_body_do(&b, "Add product added > " TH_ONNX_WHOLE);
    return th_onnx_body_end(&b, NULL);
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
    th_onnx_body_do(&b, "Gather words ids > word;Add word positions > %s",
                    has_segments ? "placed;Gather segments segment_ids > segment;"
                                   "Add placed segment > sum"
                                 : "sum");
    th_onnx_body_do(&b, "LayerNormalization sum > norm");
    if (r->node->n_output < 2 || !th_onnx_is_used(r, 1))
        return th_onnx_body_end(&b, "norm - sum");
    th_onnx_value lengths = {
        .rank = 1, .dim = {ids->dim[0]}, .type = TH_ONNX_INT32, .is_constant = true};
    th_onnx_body_bind(&b, "lengths", &lengths);
    return th_onnx_body_end(&b, "norm lengths sum");
}

/* ---- channels behind the pixels -------------------------------------------------------------- */

/* From channels behind the pixels to channels before them, or back. */
static void turn(th_onnx_body *b, const char *from, const char *to, int32_t rank, bool to_front)
{
    int64_t order[TH_ONNX_RANK_MAX];
    for (int32_t i = 0; i < rank; i++)
        order[i] = i == 0 ? 0 : to_front ? (i == 1 ? rank - 1 : i - 1) : i == rank - 1 ? 1 : i + 1;
    th_onnx_body_do(b, "Transpose %s > %s perm=%s", from, to, th_onnx_body_list(b, order, rank));
}

/* Input i of the node, turned where it should be. */
static bool give_image(th_onnx_body *b, const char *name, size_t i, int32_t rank, bool turns)
{
    char behind[32];
    snprintf(behind, sizeof behind, "%s_behind", name);
    if (!turns || !th_onnx_body_give(b, behind, i))
        return !turns && th_onnx_body_give(b, name, i);
    turn(b, behind, name, rank, true);
    return true;
}

/* Do the weights of a convolution have their channels behind the kernel? NhwcConv has them there,
 * NhwcFusedConv and quantized ones before it, where the extents leave both. */
static bool are_weights_behind(const th_onnx_reader *r, const th_onnx_value *x,
                               const th_onnx_value *w)
{
    int64_t kernel[TH_ONNX_RANK_MAX], groups = th_onnx_int(r->node, "group", 1);
    int32_t last = w->rank - 1;
    bool is_before = w->dim[1] * groups == x->dim[last],
         is_behind = w->dim[last] * groups == x->dim[last];
    if (is_before && is_behind && th_onnx_ints(r->node, "kernel_shape", kernel, last) == last - 1)
        for (int32_t i = 1; i < last; i++) {
            is_before &= w->dim[i + 1] == kernel[i - 1];
            is_behind &= w->dim[i] == kernel[i - 1];
        }
    return is_behind && (!is_before || strcmp(r->node->op_type, "NhwcConv") == 0);
}

/* The operator on images with channels before the pixels, as which it is read: that of its name
 * behind "Nhwc". What a FusedConv adds is such an image, too. */
int th_onnx_replace_channels_last(th_onnx_reader *r, const th_onnx_operator *o)
{
    enum { NHWC = 4, IMAGE = 3 };
    th_onnx_body b;
    th_strbuf names = TH_STRBUF_INIT;
    const char *name = r->node->op_type;
    const th_onnx_value *x = th_onnx_input(r, 0);
    (void)o;
    if (!x || x->rank < 3)
        return x ? th_onnx_expected(r, "inputs of at least 3 axes") : -1;
    name += strncmp(name, "Nhwc", NHWC) == 0 ? NHWC : 0;
    size_t weights = strcmp(name, "QLinearConv") == 0 ? 3
                     : strstr(name, "Conv")           ? 1
                                                      : 0,
           image = strcmp(name, "FusedConv") == 0 ? IMAGE : 0;
    const th_onnx_value *w = weights ? th_onnx_input_or_none(r, weights) : NULL;
    bool turns_w = w && w->rank == x->rank && are_weights_behind(r, x, w);
    th_onnx_body_begin(&b, r);
    for (size_t i = 0; i < r->node->n_input; i++) {
        char in[24];
        snprintf(in, sizeof in, "in%zu", i);
        bool turns = i == 0 || (i == image && image > 0) || (i == weights && turns_w);
        th_strbuf_printf(&names, "%s ", give_image(&b, in, i, x->rank, turns) ? in : "-");
    }
    if (names.failed)
        b.status = th_error_no_memory(r->err);
    th_onnx_body_do(&b, "%s %s > image *", name, names.text ? names.text : "");
    turn(&b, "image", "out", x->rank, false);
    th_strbuf_clear(&names);
    return th_onnx_body_end(&b, "out");
}

/* GroupNorm; variant: SkipGroupNorm, which adds a tensor and a bias before, and outputs the sum. */
int th_onnx_replace_group_norm(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    const th_onnx_value *x = th_onnx_input(r, 0), *skip = o->variant ? th_onnx_input(r, 3) : NULL;
    bool is_behind = th_onnx_int(r->node, "channels_last", 1) != 0,
         is_active = th_onnx_int(r->node, "activation", 0) != 0;
    if (!x || (o->variant && !skip))
        return -1;
    if (x->rank < 3 || (skip && skip->rank != x->rank && skip->rank != 2))
        return th_onnx_expected(r, "an image, and what is added to it: one, or its channels");
    th_onnx_body_begin(&b, r);
    give_image(&b, "in", 0, x->rank, is_behind);
    th_onnx_body_give(&b, "gamma", 1);
    th_onnx_body_give(&b, "beta", 2);
    bool has_bias = skip && th_onnx_body_give(&b, "bias", 4);
    if (skip && skip->rank == x->rank)
        give_image(&b, "skip", 3, x->rank, is_behind);
    else if (skip && th_onnx_body_give(&b, "flat_skip", 3))
        th_onnx_body_do(&b, "Unsqueeze flat_skip > skip axes=-2,-1");
    if (has_bias)
        th_onnx_body_do(&b, "Unsqueeze bias > wide_bias axes=1,2;Add in wide_bias > biased");
    if (skip)
        th_onnx_body_do(&b, "Add %s skip > sum", has_bias ? "biased" : "in");
    th_onnx_body_do(&b, "GroupNormalization %s gamma beta > %s", skip ? "sum" : "in",
                    is_active ? "norm;Swish norm > image" : "image");
    if (!is_behind)
        return th_onnx_body_end(&b, skip ? "image sum" : "image");
    turn(&b, "image", "out", x->rank, false);
    if (skip)
        turn(&b, "sum", "sum_out", x->rank, false);
    return th_onnx_body_end(&b, skip ? "out sum_out" : "out");
}
