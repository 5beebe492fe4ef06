/* SPDX-License-Identifier: GPL-3.0-or-later */
/* given.c - numbers that the options give inputs of the graph: these are constants then, whatever
 * the file has for them. An axis without a length takes what is left of them. */
#include <config.h>
#include "workloads/onnx/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "workloads/onnx/shape/fold.h"

bool th_onnx_is_given(const th_onnx_reader *r, const char *name)
{
    for (int i = 0; i < r->options->n_values; i++)
        if (strcmp(r->options->values[i].name, name) == 0)
            return true;
    return false;
}

/* Sets the shape of n numbers; false: they are too few or too many. */
static bool set_shape(th_onnx_value *v, const ThOnnx__Shape *shape, int64_t n)
{
    int64_t known = 1;
    int32_t open = -1;
    v->rank = shape ? (int32_t)shape->n_dim : n != 1;
    for (int32_t i = 0; i < v->rank; i++) {
        bool is_open = !shape || !shape->dim[i]->has_dim_value;
        v->dim[i] = is_open ? 1 : shape->dim[i]->dim_value;
        if (v->dim[i] < 1 || v->dim[i] > TH_ONNX_NUMBERS_MAX / known || (is_open && open >= 0))
            return false;
        open = is_open ? i : open;
        known *= v->dim[i];
    }
    if (open >= 0)
        v->dim[open] = n / known;
    return th_onnx_elements(v) == n;
}

/* A word as element i, by the type; false: it is no such number. */
static bool take_number(const char *text, size_t length, th_onnx_value *v, int64_t i)
{
    char *end;
    bool is_truth = v->type == TH_ONNX_BOOL,
         is_true = is_truth && length == 4 && memcmp(text, "true", length) == 0,
         is_word = is_true || (is_truth && length == 5 && memcmp(text, "false", length) == 0);
    if (is_word) {
        v->ints[i] = is_true;
        return true;
    }
    if (v->reals)
        v->reals[i] = strtod(text, &end);
    else
        v->ints[i] = strtoll(text, &end, 10);
    return length > 0 && end == text + length && !(is_truth && (v->ints[i] & ~(int64_t)1));
}

static int add_value(th_onnx_reader *r, const th_onnx_setting *given, const ThOnnx__Value *input)
{
    static const char space[] = " \t\n";
    const ThOnnx__TensorType *t = input->type ? input->type->tensor_type : NULL;
    th_onnx_value v = {.is_constant = true, .type = t ? t->elem_type : 0};
    int64_t n = 0;
    for (const char *at = given->text + strspn(given->text, space); *at;
         at += strspn(at, space), n++)
        at += strcspn(at, space);
    bool is_good = v.type >= TH_ONNX_FLOAT && v.type != TH_ONNX_STRING &&
                   (!t->shape || t->shape->n_dim <= TH_ONNX_RANK_MAX) && set_shape(&v, t->shape, n);
    if (is_good && th_onnx_fold_begin(r, &v) <= 0)
        return -1;
    const char *at = given->text;
    for (int64_t i = 0; i < n && is_good; i++) {
        at += strspn(at, space);
        is_good = take_number(at, strcspn(at, space), &v, i);
        at += strcspn(at, space);
    }
    if (is_good)
        return th_onnx_define(r, given->name, &v) ? 0 : -1;
    return th_error_set(r->err, "WORK-0942",
                        "%s: -value {%.80s %.80s}: must be as many %s as the input's shape has",
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
        const char *names[NAMES_MAX];
        size_t k = 0, n = g->n_input < NAMES_MAX ? g->n_input : NAMES_MAX;
        for (size_t at = 0; at < n; at++)
            names[at] = g->input[at]->name;
        while (k < g->n_input && strcmp(g->input[k]->name, given->name) != 0)
            k++;
        const char *near = k < g->n_input ? NULL : th_name_nearest(given->name, names, n);
        if (k == g->n_input)
            return th_error_set(r->err, "WORK-0943",
                                "%s: -value {%.80s %.80s}: no input is called that%s%.80s%s",
                                r->path, given->name, given->text, near ? " (did you mean " : "",
                                near ? near : "", near ? "?)" : "");
        if (th_onnx_find(r, given->name))
            return th_error_set(r->err, "WORK-0944", "%s: -value: \"%.80s\" is given twice",
                                r->path, given->name);
        if (add_value(r, given, g->input[k]))
            return -1;
    }
    return 0;
}
