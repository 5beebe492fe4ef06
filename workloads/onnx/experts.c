/* SPDX-License-Identifier: GPL-3.0-or-later */
/* experts.c - MoE and QMoE of com.microsoft as standard operators (body.h): of every token k of the
 * experts, which the data choose, compute a feed-forward network.
 *
 * The T k pairs of a token and an expert are spread evenly: T k mod E experts have one token more
 * than the others. Experts of equally many tokens are the groups of one product, as the weights
 * that it reads are; of fewer pairs than experts, the others read no weights and are no layer. */
#include <config.h>
#include "workloads/onnx/body.h"
#include "workloads/onnx/op.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 48 };

typedef struct {
    int64_t tokens, hidden, inter, k, experts;
    int64_t fused; /* matrices in the first weights: 2 where a gate and what it gates are in one */
    const char *activation; /* NULL: none */
    const th_onnx_value *weights[3], *bias[3];
} moe;

/* Where the operator has its weights; biases follow, of QMoE behind the scales. */
static size_t place_of(const th_onnx_operator *o, int i, bool is_bias)
{
    size_t step = o->variant ? 3 : 2;
    return 2 + step * (size_t)i + (is_bias ? step - 1 : 0);
}

/* Of weights E x inputs x outputs, or E x outputs x inputs: the extent that is not `known`; packed
 * values hold `pack` in the last. -1: neither is. */
static int64_t other_extent(const th_onnx_value *w, int64_t known, int64_t pack)
{
    if (w->rank != 3)
        return -1;
    return w->dim[1] == known ? w->dim[2] * pack : w->dim[2] * pack == known ? w->dim[1] : -1;
}

static const char *activation_of(const th_onnx_reader *r, bool *is_gated)
{
    static const struct {
        const char *type, *op;
    } all[] = {{"gelu", "Gelu"}, {"silu", "Swish"}, {"swiglu", "Swish"}, {"relu", "Relu"}};
    const char *op = th_onnx_is(r->node, "activation_type", "identity") ? NULL : "Relu";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (th_onnx_is(r->node, "activation_type", all[i].type))
            op = all[i].op;
    *is_gated = th_onnx_is(r->node, "activation_type", "swiglu");
    return op;
}

static int set_extents(th_onnx_reader *r, const th_onnx_operator *o, const th_onnx_value *x,
                       const th_onnx_value *router, moe *m)
{
    bool is_gated;
    int64_t bits = th_onnx_int(r->node, "expert_weight_bits", 4),
            pack = o->variant && bits > 0 && bits <= 8 ? 8 / bits : 1;
    m->activation = activation_of(r, &is_gated);
    for (int i = 0; i < 3; i++) {
        m->weights[i] = th_onnx_input_or_none(r, place_of(o, i, false));
        m->bias[i] = th_onnx_input_or_none(r, place_of(o, i, true));
    }
    bool is_good = x->rank >= 2 && router->rank == 2 && m->weights[0] && m->weights[1];
    m->k = th_onnx_int(r->node, "k", 1);
    m->hidden = is_good ? x->dim[x->rank - 1] : 0;
    m->tokens = is_good && m->hidden > 0 ? th_onnx_elements(x) / m->hidden : 0;
    m->experts = is_good ? router->dim[1] : 0;
    is_good = is_good && m->tokens >= 1 && m->experts >= 1 && m->k >= 1 && m->k <= m->experts &&
              m->tokens <= TH_ONNX_EXTENT_MAX / m->k && router->dim[0] == m->tokens;
    for (int i = 0; is_good && i < 3; i++)
        is_good =
            !m->weights[i] || (m->weights[i]->rank == 3 && m->weights[i]->dim[0] == m->experts);
    int64_t columns = is_good ? other_extent(m->weights[0], m->hidden, pack) : -1;
    m->inter = is_good ? other_extent(m->weights[1], m->hidden, pack) : -1;
    m->fused = m->inter > 0 && columns == 2 * m->inter && is_gated ? 2 : 1;
    is_good = is_good && m->inter > 0 && columns == m->fused * m->inter;
    if (is_good && m->weights[2])
        is_good = m->fused == 1 && other_extent(m->weights[2], m->hidden, pack) == m->inter;
    return is_good
               ? 0
               : th_onnx_expected(r, "tokens, a probability of each expert for each of them, and "
                                     "weights of equally many experts that fit their channels");
}

/* A constant of these extents; of numbers that nothing tells, unless they are all of v's. */
static void bind(th_onnx_body *b, const char *name, const th_onnx_value *v, const int64_t *dim,
                 int32_t rank)
{
    th_onnx_value part = {.rank = rank, .type = v ? v->type : TH_ONNX_INT64, .is_constant = true};
    memcpy(part.dim, dim, (size_t)rank * sizeof *dim);
    part.source = v && dim[0] == v->dim[0] ? v->source : 0;
    th_onnx_body_bind(b, name, &part);
}

/* The product of a part's input and weights i, with their bias: part_to. */
static void add_layer(th_onnx_body *b, const moe *m, int i, int64_t experts, const char *part,
                      const char *from, const char *to)
{
    char w[NAME], bias[NAME];
    int64_t outputs = i == 1 ? m->hidden : i == 0 ? m->fused * m->inter : m->inter;
    snprintf(w, sizeof w, "%s_w%d", part, i);
    snprintf(bias, sizeof bias, "%s_bias%d", part, i);
    bind(b, w, m->weights[i], (const int64_t[]){experts, i == 1 ? m->inter : m->hidden, outputs},
         3);
    if (!m->bias[i]) {
        th_onnx_body_do(b, "MatMul %s_%s %s > %s_%s", part, from, w, part, to);
        return;
    }
    bind(b, bias, m->bias[i], (const int64_t[]){experts, 1, outputs}, 3);
    th_onnx_body_do(b, "MatMul %s_%s %s > %s_product%d;Add %s_product%d %s > %s_%s", part, from, w,
                    part, i, part, i, bias, part, to);
}

/* `experts` experts of `rows` tokens each: what they make of them is called part. */
static void add_part(th_onnx_body *b, const moe *m, int64_t experts, int64_t rows, const char *part)
{
    char at[NAME];
    bool is_gated = m->fused == 2 || m->weights[2];
    const char *act = m->activation ? m->activation : "Identity";
    snprintf(at, sizeof at, "%s_at", part);
    bind(b, at, NULL, (const int64_t[]){experts, rows}, 2);
    th_onnx_body_do(b, "Gather tokens %s > %s_in", at, part);
    add_layer(b, m, 0, experts, part, "in", m->fused == 2 ? "both" : is_gated ? "gate" : "plain");
    if (m->fused == 2)
        th_onnx_body_do(b, "Split %s_both > %s_gate %s_up axis=2 num_outputs=2", part, part, part);
    else if (is_gated)
        add_layer(b, m, 2, experts, part, "in", "up");
    if (is_gated)
        th_onnx_body_do(b, "%s %s_gate > %s_active;Mul %s_active %s_up > %s_inner", act, part, part,
                        part, part, part);
    else
        th_onnx_body_do(b, "%s %s_plain > %s_inner", act, part, part);
    add_layer(b, m, 1, experts, part, "inner", "made");
    th_onnx_body_do(b, "Reshape %s_made > %s shape=-1,%lld", part, part, (long long)m->hidden);
}

/* variant: 1: QMoE, whose weights have scales. Each token is the sum of what its experts made,
 * weighted by its probabilities. */
int th_onnx_replace_experts(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_body b;
    moe m = {0};
    const th_onnx_value *x = th_onnx_input(r, 0), *router = x ? th_onnx_input(r, 1) : NULL;
    if (!router || set_extents(r, o, x, router, &m))
        return -1;
    int64_t pairs = m.tokens * m.k, rows = pairs / m.experts, more = pairs % m.experts;
    th_onnx_body_begin(&b, r);
    th_onnx_body_give(&b, "x", 0);
    th_onnx_body_give(&b, "router", 1);
    bind(&b, "places", NULL, (const int64_t[]){m.tokens, m.k}, 2);
    th_onnx_body_do(&b, "Reshape x > tokens shape=-1,%lld", (long long)m.hidden);
    if (more > 0)
        add_part(&b, &m, more, rows + 1, "more");
    if (rows > 0)
        add_part(&b, &m, m.experts - more, rows, "experts");
    if (more > 0 && rows > 0)
        th_onnx_body_do(&b, "Concat more experts > pairs axis=0");
    th_onnx_body_do(&b,
                    "Softmax router > probabilities axis=-1;TopK probabilities > best - k=%lld;"
                    "Unsqueeze best > weights axes=-1,;Gather %s places > chosen;"
                    "Mul chosen weights > weighted;ReduceSum weighted > sum axes=1, keepdims=0;"
                    "Reshape sum > out shape=%s",
                    (long long)m.k,
                    more == 0   ? "experts"
                    : rows == 0 ? "more"
                                : "pairs",
                    th_onnx_body_list(&b, x->dim, x->rank));
    return th_onnx_body_end(&b, "out");
}
