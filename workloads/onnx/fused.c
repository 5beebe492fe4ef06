/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fused.c - fused operators of com.microsoft as the standard ones that they stand for (body.h);
 * attention.c has attentions. */
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
