/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read_product.c - MatMul, Gemm, Einsum and their fused forms as products (product.h). */
#include <config.h>
#include "workloads/onnx/product.h"

#include <stdio.h>
#include <string.h>

#include "workloads/onnx/body.h"

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
    th_onnx_value *a = th_onnx_input_or_none(r, 0), *b = th_onnx_input_or_none(r, 1);
    const th_onnx_value *bias = th_onnx_input_or_none(r, 2);
    (void)o;
    if (!th_onnx_is_tensor(a) && !th_onnx_is_tensor(b))
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, 0, "");
    th_onnx_product p = matrices(r, a, b, th_onnx_int(r->node, "transA", 0) != 0,
                                 th_onnx_int(r->node, "transB", 0) != 0);
    return th_onnx_add_product(r, &p, a, b, bias && bias->is_constant, "");
}

/* ---- einsum ---------------------------------------------------------------------------------- */

enum { LETTERS = 128, INPUTS = 8, FIRST_DOTS = 1 /* letters of the axes that ... stands for */ };

typedef char term[TH_ONNX_RANK_MAX + 1]; /* letters, one for each axis */

typedef struct {
    term term[INPUTS + 1]; /* of the inputs, then of the output */
    term whole[INPUTS];    /* once each, those whose axis is not of 1 here and longer elsewhere */
    int n;
    int64_t extent[LETTERS]; /* -1: no input has the letter */
} equation;

/* The letters of ... are read, too: the steps of an equation are equations. */
static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= FIRST_DOTS && c < FIRST_DOTS + TH_ONNX_RANK_MAX);
}

/* The letters of a term, one point for "...". */
static bool read_term(const char **at, const char *end, char *out)
{
    int n = 0;
    for (; *at < end && **at != ',' && **at != '-'; ++*at) {
        if (end - *at >= 3 && memcmp(*at, "...", 3) == 0)
            *at += 2;
        else if (!is_letter(**at) && **at != ' ')
            return false;
        if (**at != ' ' && n == TH_ONNX_RANK_MAX)
            return false;
        if (**at != ' ')
            out[n++] = **at;
    }
    return true;
}

/* Puts letters in the place of the point, the last ones of these, so that there are `rank`. */
static bool open_dots(char *letters, int32_t rank)
{
    char *dots = strchr(letters, '.');
    int n = rank - (int)strlen(letters) + (dots ? 1 : 0);
    if (n < 0 || rank > TH_ONNX_RANK_MAX || (dots ? !!strchr(dots + 1, '.') : n > 0))
        return false;
    if (dots)
        memmove(dots + n, dots + 1, strlen(dots));
    for (int i = 0; i < n; i++)
        dots[i] = (char)(FIRST_DOTS + TH_ONNX_RANK_MAX - n + i);
    return true;
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

static int32_t place_of(const char *letters, char letter)
{
    const char *found = strchr(letters, letter);
    return found ? (int32_t)(found - letters) : -1;
}

static bool has_twice(const char *letters)
{
    for (const char *c = letters; *c; c++)
        if (strchr(c + 1, *c))
            return true;
    return false;
}

/* False: the terms do not fit the inputs, or the output has a letter twice or of its own. */
static bool set_extents(th_onnx_reader *r, equation *e)
{
    bool is_good = !has_twice(e->term[e->n]);
    memset(e->extent, -1, sizeof e->extent);
    for (int i = 0; i < 2 * e->n && is_good;
         i++) { /* once for the extents, once for what is whole */
        const char *letters = e->term[i % e->n];
        const th_onnx_value *v = th_onnx_input_or_none(r, (size_t)(i % e->n));
        for (int32_t k = 0, n = 0; is_good && k < v->rank; k++) {
            int64_t *extent = &e->extent[(int)letters[k]];
            int32_t first = place_of(letters, letters[k]);
            *extent = *extent < 0 || *extent == 1 ? v->dim[k] : *extent;
            is_good = v->dim[k] == v->dim[first] && (v->dim[k] == 1 || v->dim[k] == *extent);
            if (i >= e->n && first == k && v->dim[k] == *extent)
                e->whole[i - e->n][n++] = letters[k];
        }
    }
    for (const char *c = e->term[e->n]; *c && is_good; c++)
        is_good = e->extent[(int)*c] >= 0;
    return is_good;
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
        is_good = read_term(&at, end, e->term[i]) && (i + 1 == e->n || (at < end && *at == ','));
        int dots = v->rank - (int)strlen(e->term[i]) + 1;
        most_dots = strchr(e->term[i], '.') && dots > most_dots ? dots : most_dots;
        is_good = is_good && open_dots(e->term[i], v->rank);
        at += is_good && i + 1 < e->n;
    }
    if (is_good && at < end) {
        char *out = e->term[e->n];
        is_good = end - at >= 2 && at[0] == '-' && at[1] == '>';
        at += is_good ? 2 : 0;
        is_good = is_good && read_term(&at, end, out) && at == end;
        is_good = is_good &&
                  open_dots(out, (int32_t)strlen(out) + (strchr(out, '.') ? most_dots - 1 : 0));
    } else if (is_good) {
        implicit_output(e);
    }
    if (is_good && set_extents(r, e))
        return 0;
    return th_onnx_refuse(r, "WORK-0146", "equation: must fit the extents of up to %d inputs",
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

/* Two inputs are a product if both have, at its whole length, whatever the output has not. */
static bool product_of_terms(const equation *e, th_onnx_product *p)
{
    p->n = 0;
    for (char letter = FIRST_DOTS; letter <= 'z'; letter++) {
        int32_t x = place_of(e->term[0], letter), y = place_of(e->term[1], letter),
                z = place_of(e->term[2], letter);
        if (x < 0 && y < 0)
            continue;
        if (z < 0 && (!strchr(e->whole[0], letter) || !strchr(e->whole[1], letter)))
            return false;
        add_axis(p, x, y, z);
    }
    return !has_twice(e->term[0]) && !has_twice(e->term[1]);
}

/* One input is transposed or reduced, two make a product; others: th_onnx_replace_einsum. */
int th_onnx_read_einsum(th_onnx_reader *r, const th_onnx_operator *o)
{
    equation e;
    th_onnx_product p;
    (void)o;
    if (parse(r, &e))
        return -1;
    if (e.n == 1 || !product_of_terms(&e, &p))
        return th_onnx_gather_inputs(r, TH_FUNCTION_REDUCE, 0, "");
    return th_onnx_add_product(r, &p, th_onnx_input_or_none(r, 0), th_onnx_input_or_none(r, 1),
                               false, "");
}

/* A value of the body and the letters of its axes; the whole ones are what it is needed for. */
typedef struct {
    char name[24];
    term letters, whole;
} operand;

/* Is it a letter of the output or of an input from number `first` on? */
static bool is_needed(const equation *e, int first, char letter)
{
    bool is_found = strchr(e->term[e->n], letter);
    for (int i = first; i < e->n; i++)
        is_found |= !!strchr(e->whole[i], letter);
    return is_found;
}

/* The value that an equation makes of others, with these axes. */
static operand add_step(th_onnx_body *b, const char *inputs, const char *terms, const char *name,
                        const char *letters)
{
    operand out = {"", "", ""};
    char text[4 * TH_ONNX_RANK_MAX];
    snprintf(out.name, sizeof out.name, "%.20s", name);
    snprintf(out.letters, sizeof out.letters, "%.12s", letters);
    memcpy(out.whole, out.letters, sizeof out.whole);
    snprintf(text, sizeof text, "%s->%s", terms, out.letters);
    th_onnx_body_do(b, "Einsum %s > %s equation=%s", inputs, name, text);
    return out;
}

/* x without axes that neither y nor anything from input `first` on has, which are summed. */
static operand sum_alone(th_onnx_body *b, const equation *e, int first, const operand *x,
                         const operand *y)
{
    term kept = "";
    char name[32];
    int n = 0;
    for (const char *c = x->whole; *c; c++)
        if (strchr(y->whole, *c) || is_needed(e, first, *c))
            kept[n++] = *c;
    snprintf(name, sizeof name, "%s_sum", x->name);
    return strcmp(kept, x->letters) == 0 ? *x : add_step(b, x->name, x->letters, name, kept);
}

static operand take_input(th_onnx_body *b, const equation *e, int i)
{
    operand x;
    snprintf(x.name, sizeof x.name, "in%d", i);
    memcpy(x.letters, e->term[i], sizeof x.letters);
    memcpy(x.whole, e->whole[i], sizeof x.whole);
    th_onnx_body_give(b, x.name, (size_t)i);
    return x;
}

/* The product of x and input i. */
static operand multiply(th_onnx_body *b, const equation *e, int i, const operand *x)
{
    char made[2 * TH_ONNX_RANK_MAX + 1], terms[2 * TH_ONNX_RANK_MAX + 2], name[56];
    bool is_last = i + 1 == e->n;
    int n = 0;
    operand y = take_input(b, e, i), first = sum_alone(b, e, i + 1, x, &y);
    y = sum_alone(b, e, i + 1, &y, x);
    for (const char *c = first.letters; *c; c++)
        if (is_needed(e, i + 1, *c))
            made[n++] = *c;
    for (const char *c = y.letters; *c; c++)
        if (is_needed(e, i + 1, *c) && !strchr(first.letters, *c))
            made[n++] = *c;
    made[n] = '\0';
    if (n > TH_ONNX_RANK_MAX && b->status == 0)
        b->status = th_onnx_refuse_rank(b->r, n);
    snprintf(terms, sizeof terms, "%s,%s", first.letters, y.letters);
    snprintf(name, sizeof name, "%s %s", first.name, y.name);
    snprintf(y.name, sizeof y.name, "product%d", i);
    return add_step(b, name, terms, is_last ? TH_ONNX_WHOLE : y.name,
                    is_last ? e->term[e->n] : made);
}

/* Several inputs are multiplied from left to right; what only one of two has is summed before, as
 * soon as nothing behind them has it. */
int th_onnx_replace_einsum(th_onnx_reader *r, const th_onnx_operator *o)
{
    equation e;
    th_onnx_product p;
    th_onnx_body b;
    (void)o;
    if (parse(r, &e))
        return -1;
    if (e.n == 1 || (e.n == 2 && product_of_terms(&e, &p)))
        return 1;
    th_onnx_body_begin(&b, r);
    operand all = take_input(&b, &e, 0);
    for (int i = 1; i < e.n; i++)
        all = multiply(&b, &e, i, &all);
    return th_onnx_body_end(&b, TH_ONNX_WHOLE);
}
