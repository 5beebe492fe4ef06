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

/* The name of a value of the body. */
static void join(char *out, const char *name, const char *what)
{
    snprintf(out, NAME, "%.30s_%.16s", name, what);
}

/* One constant of three axes; of numbers that nothing tells, unless they are all of v's. */
static void bind(th_onnx_body *b, const char *name, const th_onnx_value *v, const int64_t *dim,
                 bool is_whole)
{
    th_onnx_value part = {.rank = 3, .type = v ? v->type : TH_ONNX_INT64, .is_constant = true};
    memcpy(part.dim, dim, 3 * sizeof *dim);
    part.source = v && is_whole ? v->source : 0;
    th_onnx_body_bind(b, name, &part);
}

/* The product of what is called from and weights i, with their bias, as to. */
static void add_layer(th_onnx_body *b, const moe *m, int i, int64_t experts, const char *from,
                      const char *to)
{
    char words[2 * NAME], w[NAME], bias[NAME], product[NAME];
    int64_t outputs = i == 1 ? m->hidden : i == 0 ? m->fused * m->inter : m->inter;
    join(w, to, "w");
    join(bias, to, "bias");
    join(product, to, "product");
    bind(b, w, m->weights[i], (const int64_t[]){experts, i == 1 ? m->inter : m->hidden, outputs},
         experts == m->experts);
    snprintf(words, sizeof words, "%.47s %s", from, w);
    th_onnx_body_add(b, "MatMul", words, m->bias[i] ? product : to);
    if (!m->bias[i])
        return;
    bind(b, bias, m->bias[i], (const int64_t[]){experts, 1, outputs}, experts == m->experts);
    snprintf(words, sizeof words, "%s %s", product, bias);
    th_onnx_body_add(b, "Add", words, to);
}

/* The activation of the first product, and what it gates, as to. */
static void add_activation(th_onnx_body *b, const moe *m, int64_t experts, const char *in,
                           const char *first, const char *to)
{
    char gate[NAME], up[NAME], active[NAME], words[2 * NAME];
    join(gate, to, "gate");
    join(up, to, "up");
    join(active, to, "active");
    snprintf(words, sizeof words, "%s %s", gate, up);
    if (m->fused == 2) {
        th_onnx_body_add(b, "Split", first, words);
        th_onnx_body_set(b, "axis", 2);
        th_onnx_body_set_list(b, "split", (const int64_t[]){m->inter, m->inter}, 2);
    } else if (m->weights[2]) {
        add_layer(b, m, 2, experts, in, up);
    }
    bool is_gated = m->fused == 2 || m->weights[2];
    th_onnx_body_add(b, m->activation ? m->activation : "Identity", m->fused == 2 ? gate : first,
                     is_gated ? active : to);
    snprintf(words, sizeof words, "%s %s", active, up);
    if (is_gated)
        th_onnx_body_add(b, "Mul", words, to);
}

/* `experts` experts of `rows` tokens each: what they make of x is called part. */
static void add_part(th_onnx_body *b, const moe *m, int64_t experts, int64_t rows, const char *part)
{
    char words[2 * NAME], at[NAME], in[NAME], first[NAME], inner[NAME], made[NAME];
    th_onnx_value chosen = {
        .rank = 2, .dim = {experts, rows}, .type = TH_ONNX_INT64, .is_constant = true};
    join(at, part, "at");
    join(in, part, "in");
    join(first, part, "first");
    join(inner, part, "inner");
    join(made, part, "made");
    th_onnx_body_bind(b, at, &chosen);
    snprintf(words, sizeof words, "tokens %s", at);
    th_onnx_body_add(b, "Gather", words, in);
    add_layer(b, m, 0, experts, in, first);
    add_activation(b, m, experts, in, first, inner);
    add_layer(b, m, 1, experts, inner, made);
    snprintf(words, sizeof words, "%s pair_rows", made);
    th_onnx_body_add(b, "Reshape", words, part);
}

/* Each token is the sum of what its experts made, weighted by its probabilities. */
static void combine(th_onnx_body *b, const moe *m, const char *pairs, const th_onnx_value *x)
{
    char words[48];
    const th_onnx_value places = {
        .rank = 2, .dim = {m->tokens, m->k}, .type = TH_ONNX_INT64, .is_constant = true};
    const int64_t last = -1, axis = 1;
    th_onnx_body_bind(b, "places", &places);
    th_onnx_body_numbers(b, "k", &m->k, 1);
    th_onnx_body_numbers(b, "shape", x->dim, x->rank);
    th_onnx_body_add(b, "Softmax", "router", "probabilities");
    th_onnx_body_set(b, "axis", -1);
    th_onnx_body_add(b, "TopK", "probabilities k", "best -");
    th_onnx_body_add(b, "Unsqueeze", "best", "weights");
    th_onnx_body_set_list(b, "axes", &last, 1);
    snprintf(words, sizeof words, "%s places", pairs);
    th_onnx_body_add(b, "Gather", words, "chosen");
    th_onnx_body_add(b, "Mul", "chosen weights", "weighted");
    th_onnx_body_add(b, "ReduceSum", "weighted", "sum");
    th_onnx_body_set_list(b, "axes", &axis, 1);
    th_onnx_body_set(b, "keepdims", 0);
    th_onnx_body_add(b, "Reshape", "sum shape", "out");
}

/* variant: 1: QMoE, whose weights have scales. */
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
    th_onnx_body_numbers(&b, "token_rows", (const int64_t[]){m.tokens, m.hidden}, 2);
    th_onnx_body_numbers(&b, "pair_rows", (const int64_t[]){-1, m.hidden}, 2);
    th_onnx_body_add(&b, "Reshape", "x token_rows", "tokens");
    if (more > 0)
        add_part(&b, &m, more, rows + 1, "more");
    if (rows > 0)
        add_part(&b, &m, m.experts - more, rows, "experts");
    if (more > 0 && rows > 0) {
        th_onnx_body_add(&b, "Concat", "more experts", "pairs");
        th_onnx_body_set(&b, "axis", 0);
    }
    combine(&b, &m, more == 0 ? "experts" : rows == 0 ? "more" : "pairs", x);
    return th_onnx_body_end(&b, "out");
}
