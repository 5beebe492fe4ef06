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
    term thin[INPUTS];     /* letters whose axis has an extent of 1 here and more elsewhere */
    int n;
    int64_t extent[LETTERS]; /* -1: no input has the letter */
} equation;

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* A term, ... as letters of their own: the last of the dots is the letter before FIRST_DOTS + n. */
static int read_term(const char **at, const char *end, int n_dots, char *out)
{
    int n = 0;
    for (; *at < end && **at != ',' && **at != '-'; ++*at) {
        bool is_dots = end - *at >= 3 && memcmp(*at, "...", 3) == 0;
        int more = is_dots ? n_dots : is_letter(**at);
        if (n + more > TH_ONNX_RANK_MAX || (!is_dots && !is_letter(**at) && **at != ' '))
            return -1;
        for (int i = 0; i < more; i++)
            out[n++] = is_dots ? (char)(FIRST_DOTS + TH_ONNX_RANK_MAX - n_dots + i) : **at;
        *at += is_dots ? 2 : 0;
    }
    out[n] = '\0';
    return n;
}

static int dots_of(const char *at, const char *end, int32_t rank)
{
    int letters = 0;
    bool has_dots = false;
    for (; at < end && *at != ',' && *at != '-'; at++) {
        letters += is_letter(*at);
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

/* Gives the axes of ... letters that can be written. False: too few are free. */
static bool name_dots(equation *e)
{
    char next = 'A' - 1, *c = NULL;
    for (char dots = FIRST_DOTS; dots < FIRST_DOTS + TH_ONNX_RANK_MAX; dots++) {
        bool is_free = false;
        while (!is_free && next < 'z') {
            is_free = is_letter(++next);
            for (int i = 0; i <= e->n; i++)
                is_free = is_free && !strchr(e->term[i], next);
        }
        for (int i = 0; i <= e->n; i++)
            for (; (c = strchr(e->term[i], dots)) != NULL; *c = next)
                if (!is_free)
                    return false;
    }
    return true;
}

static bool has_twice(const char *letters)
{
    for (const char *c = letters; *c; c++)
        if (strchr(c + 1, *c))
            return true;
    return false;
}

/* False: the terms do not fit the inputs' shapes, or the output has a letter twice or of its own. */
static bool set_extents(th_onnx_reader *r, equation *e)
{
    bool is_good = !has_twice(e->term[e->n]);
    memset(e->extent, -1, sizeof e->extent);
    for (int i = 0; i < e->n && is_good; i++) {
        const th_onnx_value *v = th_onnx_input_or_none(r, (size_t)i);
        is_good = (int)strlen(e->term[i]) == v->rank;
        for (int32_t k = 0; k < v->rank && is_good; k++) {
            int64_t *extent = &e->extent[(int)e->term[i][k]],
                    own = v->dim[strchr(e->term[i], e->term[i][k]) - e->term[i]];
            is_good = v->dim[k] == own && (*extent < 0 || *extent == 1 || own == 1 || own == *extent);
            *extent = *extent < 0 || *extent == 1 ? own : *extent;
        }
    }
    for (const char *c = e->term[e->n]; *c && is_good; c++)
        is_good = e->extent[(int)*c] >= 0;
    for (int i = 0; i < e->n && is_good; i++)
        for (int32_t k = 0, n = 0; e->term[i][k]; k++)
            if (th_onnx_input_or_none(r, (size_t)i)->dim[k] != e->extent[(int)e->term[i][k]])
                e->thin[i][n++] = e->term[i][k];
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
        int dots = dots_of(at, end, v->rank);
        most_dots = dots > most_dots ? dots : most_dots;
        is_good = read_term(&at, end, dots, e->term[i]) >= 0 &&
                  (i + 1 == e->n ? at >= end || *at == '-' : at < end && *at == ',');
        at += is_good && i + 1 < e->n;
    }
    if (is_good && at < end) {
        is_good = end - at >= 2 && at[1] == '>';
        at += is_good ? 2 : 0;
        is_good = is_good && read_term(&at, end, most_dots, e->term[e->n]) >= 0 && at >= end;
    } else if (is_good) {
        implicit_output(e);
    }
    if (is_good && name_dots(e) && set_extents(r, e))
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

static int32_t place_of(const char *letters, char letter)
{
    const char *found = strchr(letters, letter);
    return found ? (int32_t)(found - letters) : -1;
}

/* Two inputs whose axes are in the output or in both, each as long as anywhere. */
static bool is_product(const equation *e, th_onnx_product *p)
{
    p->n = 0;
    for (char letter = 'A'; letter <= 'z' && e->n == 2; letter++) {
        int32_t x = place_of(e->term[0], letter), y = place_of(e->term[1], letter),
                z = place_of(e->term[2], letter);
        if (x < 0 && y < 0)
            continue;
        if (z < 0 && (x < 0 || y < 0))
            return false;
        add_axis(p, x, y, z);
    }
    return e->n == 2 && !has_twice(e->term[0]) && !has_twice(e->term[1]) && !e->thin[0][0] &&
           !e->thin[1][0];
}

/* One input of which the output is the diagonal: its letters, once each. */
static bool is_diagonal(const equation *e)
{
    int n = 0;
    for (const char *c = e->term[0]; *c; c++)
        if (e->n == 1 && strchr(e->term[0], *c) == c && *c != e->term[1][n++])
            return false;
    return e->n == 1 && has_twice(e->term[0]) && e->term[1][n] == '\0';
}

int th_onnx_read_einsum(th_onnx_reader *r, const th_onnx_operator *o)
{
    equation e;
    th_onnx_product p;
    (void)o;
    if (parse(r, &e))
        return -1;
    if (!is_product(&e, &p))
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, 0, "");
    return th_onnx_add_product(r, &p, th_onnx_input_or_none(r, 0), th_onnx_input_or_none(r, 1),
                               false, "");
}

/* ---- einsums of several steps ---------------------------------------------------------------- */

/* A value of the body and the letters of its axes. */
typedef struct {
    char name[32];
    term letters;
} operand;

static void add_step(th_onnx_body *b, const char *inputs, const char *terms, const char *output,
                     const char *to)
{
    char text[4 * TH_ONNX_RANK_MAX];
    snprintf(text, sizeof text, "%s->%s", terms, to);
    th_onnx_body_add(b, "Einsum", inputs, output);
    th_onnx_body_set_text(b, "equation", text);
}

/* Removes the axes of these letters by Squeeze or ReduceSum. */
static void remove_axes(th_onnx_body *b, operand *x, const char *op, const char *gone)
{
    int64_t axes[TH_ONNX_RANK_MAX];
    int n = 0, kept = 0;
    operand from = *x;
    for (int i = 0; from.letters[i]; i++)
        if (strchr(gone, from.letters[i]))
            axes[n++] = i;
        else
            x->letters[kept++] = from.letters[i];
    x->letters[kept] = '\0';
    if (n == 0)
        return;
    snprintf(x->name, sizeof x->name, "%.20s_%s", from.name, op[0] == 'S' ? "thin" : "sum");
    th_onnx_body_add(b, op, from.name, x->name);
    th_onnx_body_set_list(b, "axes", axes, n);
    th_onnx_body_set(b, "keepdims", 0);
}

/* Input i: its diagonal, without axes that are longer elsewhere. */
static operand take_input(th_onnx_body *b, const equation *e, int i)
{
    operand x = {"", ""};
    int n = 0;
    char name[16];
    snprintf(name, sizeof name, "in%d", i);
    th_onnx_body_give(b, name, (size_t)i);
    for (const char *c = e->term[i]; *c; c++)
        if (strchr(e->term[i], *c) == c)
            x.letters[n++] = *c;
    snprintf(x.name, sizeof x.name, "%s%s", name, has_twice(e->term[i]) ? "_diagonal" : "");
    if (has_twice(e->term[i]))
        add_step(b, name, e->term[i], x.name, x.letters);
    remove_axes(b, &x, "Squeeze", e->thin[i]);
    return x;
}

/* Is it a letter of the output or of an input from number `first` on? */
static bool is_needed(const equation *e, int first, char letter)
{
    for (int i = first; i <= e->n; i++)
        if (strchr(e->term[i], letter))
            return true;
    return false;
}

/* Sums over the axes that neither the other operand nor what comes from `first` on has. */
static void sum_alone(th_onnx_body *b, const equation *e, int first, operand *x, const char *other)
{
    term gone = "";
    int n = 0;
    for (const char *c = x->letters; *c; c++)
        if (!strchr(other, *c) && !is_needed(e, first, *c))
            gone[n++] = *c;
    remove_axes(b, x, "ReduceSum", gone);
}

/* Makes *all the product of it and input i. */
static void multiply(th_onnx_body *b, const equation *e, int i, operand *all)
{
    char names[72], letters[2 * TH_ONNX_RANK_MAX + 1], terms[2 * TH_ONNX_RANK_MAX + 2];
    operand next = take_input(b, e, i);
    int n = 0;
    sum_alone(b, e, i + 1, all, next.letters);
    sum_alone(b, e, i + 1, &next, all->letters);
    for (const char *c = all->letters; *c; c++)
        if (is_needed(e, i + 1, *c))
            letters[n++] = *c;
    for (const char *c = next.letters; *c; c++)
        if (is_needed(e, i + 1, *c) && !strchr(all->letters, *c))
            letters[n++] = *c;
    letters[n] = '\0';
    if (n > TH_ONNX_RANK_MAX && b->status == 0)
        b->status = th_onnx_refuse_rank(b->r, n);
    snprintf(names, sizeof names, "%s %s", all->name, next.name);
    snprintf(terms, sizeof terms, "%s,%s", all->letters, next.letters);
    bool is_last = i + 1 == e->n;
    snprintf(all->name, sizeof all->name, "product%d", i);
    snprintf(all->letters, sizeof all->letters, "%.12s", is_last ? e->term[e->n] : letters);
    add_step(b, names, terms, is_last ? th_onnx_body_whole : all->name, all->letters);
}

/* The inputs are multiplied from left to right; an axis is summed as soon as nothing else has it. */
int th_onnx_replace_einsum(th_onnx_reader *r, const th_onnx_operator *o)
{
    equation e;
    th_onnx_product p;
    th_onnx_body b;
    int64_t order[TH_ONNX_RANK_MAX];
    (void)o;
    if (parse(r, &e))
        return -1;
    if (is_product(&e, &p) || is_diagonal(&e))
        return 1;
    th_onnx_body_begin(&b, r);
    operand all = take_input(&b, &e, 0);
    for (int i = 1; i < e.n; i++)
        multiply(&b, &e, i, &all);
    if (e.n == 1) {
        sum_alone(&b, &e, 1, &all, "");
        for (int i = 0; all.letters[i]; i++)
            order[i] = place_of(all.letters, e.term[1][i]);
        th_onnx_body_add(&b, "Transpose", all.name, th_onnx_body_whole);
        th_onnx_body_set_list(&b, "perm", order, (int)strlen(all.letters));
    }
    return th_onnx_body_end(&b, th_onnx_body_whole);
}
