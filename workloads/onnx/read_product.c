/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read_product.c - MatMul, Gemm, Einsum and their fused forms as products (product.h). */
#include <config.h>
#include "workloads/onnx/product.h"

#include <ctype.h>
#include <string.h>

static void add_axis(th_onnx_product *p, int32_t first, int32_t second, int32_t out)
{
    p->first[p->n] = first;
    p->second[p->n] = second;
    p->out[p->n++] = out;
}

/* The product of matrices in the last two axes, for each index of the axes before them; a vector is
 * a matrix of one row or column. */
static th_onnx_product matrices(const th_onnx_reader *r, const th_onnx_value *a,
                                const th_onnx_value *b, bool is_first_turned, bool is_second_turned)
{
    th_onnx_product p = {.n = 0};
    int32_t front_a = a->rank > 1 ? a->rank - 2 : 0, front_b = b->rank > 1 ? b->rank - 2 : 0,
            front = front_a > front_b ? front_a : front_b, n = r->out[0].rank;
    for (int32_t i = 0; i < front; i++) {
        int32_t in_a = i - (front - front_a), in_b = i - (front - front_b);
        add_axis(&p, in_a < 0 ? -1 : in_a, in_b < 0 ? -1 : in_b, i);
    }
    if (a->rank > 1)
        add_axis(&p, is_first_turned ? a->rank - 1 : a->rank - 2, -1, b->rank > 1 ? n - 2 : n - 1);
    add_axis(&p, a->rank > 1 && is_first_turned ? a->rank - 2 : a->rank - 1,
             b->rank > 1 && !is_second_turned ? b->rank - 2 : b->rank - 1, -1);
    if (b->rank > 1)
        add_axis(&p, -1, is_second_turned ? b->rank - 2 : b->rank - 1, n - 1);
    return p;
}

/* variant: the number of the second input; 0 means 1. */
int th_onnx_read_matmul(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *a = th_onnx_input_or_none(r, 0),
                  *b = th_onnx_input_or_none(r, (size_t)(o->variant > 0 ? o->variant : 1)), packed;
    if (!th_onnx_is_tensor(a) && !th_onnx_is_tensor(b))
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, 0, "");
    if (th_onnx_has(r->node, "K") && th_onnx_has(r->node, "N")) {
        packed = *b;
        packed.rank = 2;
        packed.dim[0] = th_onnx_int(r->node, "K", 0);
        packed.dim[1] = th_onnx_int(r->node, "N", 0);
        b = &packed;
    }
    th_onnx_product p = matrices(r, a, b, th_onnx_int(r->node, "transA", 0) != 0,
                                 th_onnx_int(r->node, "transB", 0) != 0);
    return th_onnx_add_product(r, &p, a, b, false, "");
}

int th_onnx_read_gemm(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_value *a = th_onnx_input_or_none(r, 0), *b = th_onnx_input_or_none(r, 1), flat;
    const th_onnx_value *bias = th_onnx_input_or_none(r, 2);
    (void)o;
    if (!th_onnx_is_tensor(a) && !th_onnx_is_tensor(b))
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, 0, "");
    flat = *a;
    int64_t rest = 1;
    for (int32_t i = 1; i < a->rank; i++)
        rest *= a->dim[i];
    if (a->rank > 2 && !th_onnx_layout_reshape(&flat, (int64_t[]){a->dim[0], rest}, 2))
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, 0, "");
    th_onnx_product p = matrices(r, &flat, b, th_onnx_int(r->node, "transA", 0) != 0,
                                 th_onnx_int(r->node, "transB", 0) != 0);
    return th_onnx_add_product(r, &p, &flat, b, bias && bias->is_constant, "");
}

/* ---- einsum ---------------------------------------------------------------------------------- */

enum { LETTERS = 128, INPUTS = 8, FIRST_DOTS = 1 /* letters of the axes that ... stands for */ };

typedef struct {
    char term[INPUTS + 1][TH_ONNX_RANK_MAX + 1]; /* the letters of the inputs' axes, the output's */
    int n;
    int64_t extent[LETTERS];
} equation;

/* A term, ... as letters of their own: the last of the dots is the letter before FIRST_DOTS + n. */
static int read_term(const char **at, const char *end, int n_dots, char *out)
{
    int n = 0;
    for (; *at < end && **at != ',' && !(**at == '-' && (*at)[1] == '>'); ++*at) {
        if (**at == '.') {
            for (int i = 0; i < n_dots && n < TH_ONNX_RANK_MAX; i++)
                out[n++] = (char)(FIRST_DOTS + TH_ONNX_RANK_MAX - n_dots + i);
            *at += 2;
        } else if (isalpha((unsigned char)**at)) {
            if (n == TH_ONNX_RANK_MAX)
                return -1;
            out[n++] = **at;
        } else if (**at != ' ') {
            return -1;
        }
    }
    out[n] = '\0';
    return n;
}

static int dots_of(const char *at, const char *end, int32_t rank)
{
    int letters = 0;
    bool has_dots = false;
    for (; at < end && *at != ',' && !(*at == '-' && at[1] == '>'); at++) {
        letters += isalpha((unsigned char)*at) != 0;
        has_dots |= *at == '.';
    }
    return has_dots && rank >= letters ? rank - letters : 0;
}

/* Without "->" the output has all letters that occur once, in the order of the alphabet. */
static void implicit_output(equation *e)
{
    int n = 0;
    for (int letter = FIRST_DOTS; letter < LETTERS; letter++) {
        int count = 0;
        for (int i = 0; i < e->n; i++)
            for (const char *c = e->term[i]; *c; c++)
                count += *c == letter;
        if ((count == 1 || (count > 0 && letter < ' ')) && n < TH_ONNX_RANK_MAX)
            e->term[e->n][n++] = (char)letter;
    }
    e->term[e->n][n] = '\0';
}

static int set_extents(th_onnx_reader *r, equation *e)
{
    for (int i = 0; i < e->n; i++) {
        const th_onnx_value *v = th_onnx_input_or_none(r, (size_t)i);
        if ((int)strlen(e->term[i]) != v->rank)
            return -1;
        for (int32_t k = 0; k < v->rank; k++) {
            int64_t *extent = &e->extent[(int)e->term[i][k]];
            if (*extent > 1 && v->dim[k] != 1 && v->dim[k] != *extent)
                return -1;
            *extent = *extent > 1 ? *extent : v->dim[k];
        }
    }
    return 0;
}

static int parse(th_onnx_reader *r, equation *e)
{
    const th_onnx_attribute *a = th_onnx_attribute_of(r->node, "equation");
    const char *at = a && a->has_s ? (const char *)a->s.data : "", *end = at + (a ? a->s.len : 0);
    int most_dots = 0;
    *e = (equation){.n = (int)r->node->n_input};
    bool is_good = e->n >= 1 && e->n <= INPUTS;
    for (int i = 0; is_good && i < e->n; i++) {
        const th_onnx_value *v = th_onnx_input(r, (size_t)i);
        if (!v)
            return -1;
        int dots = dots_of(at, end, v->rank);
        most_dots = dots > most_dots ? dots : most_dots;
        is_good = read_term(&at, end, dots, e->term[i]) >= 0 &&
                  (i + 1 == e->n ? at >= end || *at == '-' : at < end && *at == ',');
        at += is_good && i + 1 < e->n;
    }
    if (is_good && at < end) {
        at += 2;
        is_good = read_term(&at, end, most_dots, e->term[e->n]) >= 0 && at >= end;
    } else if (is_good) {
        implicit_output(e);
    }
    if (is_good && set_extents(r, e) == 0)
        return 0;
    return th_onnx_refuse(r, "WORK-0146",
                          "equation: one that fits the extents of up to %d inputs was expected",
                          INPUTS);
}

int th_onnx_shape_einsum(th_onnx_reader *r, const th_onnx_operator *o)
{
    equation e;
    (void)o;
    if (parse(r, &e))
        return -1;
    r->out[0].type = th_onnx_input_or_none(r, 0)->type;
    r->out[0].rank = (int32_t)strlen(e.term[e.n]);
    for (int32_t i = 0; i < r->out[0].rank; i++)
        r->out[0].dim[i] = e.extent[(int)e.term[e.n][i]];
    return 0;
}

static int32_t place_of(const char *term, char letter)
{
    const char *found = strchr(term, letter);
    return found ? (int32_t)(found - term) : -1;
}

static bool has_twice(const char *term)
{
    for (const char *c = term; *c; c++)
        if (strchr(c + 1, *c))
            return true;
    return false;
}

/* Letters of a and b; an axis of one input alone that is summed makes it no product of matrices. */
static bool product_of_terms(const char *a, const char *b, const char *out, th_onnx_product *p)
{
    p->n = 0;
    for (int letter = FIRST_DOTS; letter < LETTERS; letter++) {
        int32_t x = place_of(a, (char)letter), y = place_of(b, (char)letter),
                z = place_of(out, (char)letter);
        if (x < 0 && y < 0)
            continue;
        if (z < 0 && (x < 0 || y < 0))
            return false;
        add_axis(p, x, y, z);
    }
    return !has_twice(a) && !has_twice(b) && !has_twice(out);
}

/* Two inputs make a product; one input is transposed or reduced. */
int th_onnx_read_einsum(th_onnx_reader *r, const th_onnx_operator *o)
{
    equation e;
    th_onnx_product p;
    (void)o;
    if (parse(r, &e))
        return -1;
    if (e.n != 2 || !product_of_terms(e.term[0], e.term[1], e.term[2], &p))
        return th_onnx_gather_inputs(r, e.n == 1 ? TH_FUNCTION_REDUCE : TH_FUNCTION_COPY, 0, "");
    return th_onnx_add_product(r, &p, th_onnx_input_or_none(r, 0), th_onnx_input_or_none(r, 1),
                               false, "");
}
