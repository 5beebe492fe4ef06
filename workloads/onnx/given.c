/* SPDX-License-Identifier: GPL-3.0-or-later */
/* given.c - numbers that the options give inputs of the graph: these are constants then, whatever
 * the file has for them. An axis without a length takes what is left of them. */
#include <config.h>
#include "workloads/onnx/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "workloads/onnx/fold.h"

bool th_onnx_is_given(const th_onnx_reader *r, const char *name)
{
    for (int i = 0; i < r->options->n_values; i++)
        if (strcmp(r->options->values[i].name, name) == 0)
            return true;
    return false;
}

static const ThOnnx__Value *input_of(const ThOnnx__Graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_input; i++)
        if (strcmp(g->input[i]->name, name) == 0)
            return g->input[i];
    return NULL;
}

/* How many words a text has. */
static int64_t count_words(const char *text)
{
    int64_t n = 0;
    for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n"), n++)
        text += strcspn(text, " \t\n");
    return n;
}

/* Sets the shape of n numbers; false: they are too few or too many. */
static bool set_shape(th_onnx_value *v, const ThOnnx__Shape *shape, int64_t n)
{
    int64_t known = 1;
    int32_t open = -1;
    v->rank = shape ? (int32_t)shape->n_dim : n != 1;
    for (int32_t i = 0; i < v->rank; i++) {
        const ThOnnx__Dimension *d = shape ? shape->dim[i] : NULL;
        bool is_open = !d || !d->has_dim_value;
        v->dim[i] = is_open ? 1 : d->dim_value;
        if (v->dim[i] < 0 || v->dim[i] > TH_ONNX_NUMBERS_MAX || (is_open && open >= 0))
            return false;
        open = is_open ? i : open;
        known *= v->dim[i];
        if (known > TH_ONNX_NUMBERS_MAX)
            return false;
    }
    if (open >= 0 && known > 0)
        v->dim[open] = n / known;
    return th_onnx_elements(v) == n;
}

/* The next word as element i, by the type; false: it is no such number. */
static bool take_number(const char **at, th_onnx_value *v, int64_t i)
{
    static const char *const truths[] = {"false", "true"};
    const char *text = *at += strspn(*at, " \t\n");
    size_t length = strcspn(text, " \t\n");
    char *end = (char *)text;
    for (int k = 0; v->type == TH_ONNX_BOOL && k < 2; k++)
        if (strlen(truths[k]) == length && memcmp(text, truths[k], length) == 0) {
            v->ints[i] = k;
            end = (char *)text + length;
        }
    if (end == text && v->reals)
        v->reals[i] = strtod(text, &end);
    else if (end == text)
        v->ints[i] = strtoll(text, &end, 10);
    *at = end;
    bool is_in_range = v->reals || v->type != TH_ONNX_BOOL || v->ints[i] == 0 || v->ints[i] == 1;
    return length > 0 && end == text + length && is_in_range;
}

static int add_value(th_onnx_reader *r, const th_onnx_setting *given, const ThOnnx__Value *input)
{
    const ThOnnx__TensorType *t = input->type ? input->type->tensor_type : NULL;
    const char *at = given->text;
    th_onnx_value v = {.is_constant = true, .type = t ? t->elem_type : 0};
    int64_t n = count_words(at);
    bool is_good = t && v.type >= TH_ONNX_FLOAT && v.type != TH_ONNX_STRING &&
                   (!t->shape || t->shape->n_dim <= TH_ONNX_RANK_MAX) && set_shape(&v, t->shape, n);
    if (is_good && th_onnx_fold_begin(r, &v) <= 0)
        return -1;
    for (int64_t i = 0; i < n && is_good; i++)
        is_good = take_number(&at, &v, i);
    if (is_good)
        return th_onnx_define(r, given->name, &v) ? 0 : -1;
    return th_error_set(r->err, "WORK-0942",
                        "%s: -value {%.80s %.80s}: as many %s as the input's shape has were "
                        "expected",
                        r->path, given->name, given->text,
                        v.type == TH_ONNX_BOOL    ? "truth values (true, false)"
                        : th_onnx_is_real(v.type) ? "numbers"
                                                  : "whole numbers");
}

int th_onnx_add_given(th_onnx_reader *r, const ThOnnx__Graph *g)
{
    enum { NAMES_MAX = 64 };
    for (int i = 0; i < r->options->n_values; i++) {
        const th_onnx_setting *given = &r->options->values[i];
        const ThOnnx__Value *input = input_of(g, given->name);
        const char *names[NAMES_MAX];
        size_t n_names = 0;
        if (input && th_onnx_find(r, given->name))
            return th_error_set(r->err, "WORK-0944", "%s: -value: \"%.80s\" is given twice",
                                r->path, given->name);
        if (input && add_value(r, given, input))
            return -1;
        for (; !input && n_names < g->n_input && n_names < NAMES_MAX; n_names++)
            names[n_names] = g->input[n_names]->name;
        const char *near = input ? NULL : th_name_nearest(given->name, names, n_names);
        if (!input)
            return th_error_set(r->err, "WORK-0943",
                                "%s: -value {%.80s %.80s}: no input is called that%s%.80s%s",
                                r->path, given->name, given->text, near ? " (did you mean " : "",
                                near ? near : "", near ? "?)" : "");
    }
    return 0;
}
