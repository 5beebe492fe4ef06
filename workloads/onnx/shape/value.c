/* SPDX-License-Identifier: GPL-3.0-or-later */
/* value.c - see value.h. */
#include <config.h>
#include "workloads/onnx/shape/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { HINT_MAX = 64 }; /* elements of an input that somebody may tell */

int64_t th_onnx_version(const th_onnx_reader *r, const char *domain)
{
    for (size_t i = r->model->n_opset_import; i-- > 0;) {
        const ThOnnx__OperatorSet *set = r->model->opset_import[i];
        const char *own = set->domain && set->domain[0] ? set->domain : "ai.onnx";
        if (set->has_version && strcmp(own, domain) == 0)
            return set->version;
    }
    return 0;
}

th_onnx_words th_onnx_kind(const th_onnx_reader *r, const th_onnx_node *node)
{
    th_onnx_words words;
    const char *domain = node->domain && node->domain[0] ? node->domain : "ai.onnx";
    int64_t version = th_onnx_version(r, domain);
    int n = snprintf(words.text, sizeof words.text, "%.40s of %.40s", node->op_type, domain);
    if (version > 0)
        snprintf(words.text + n, sizeof words.text - (size_t)n, " %lld", (long long)version);
    return words;
}

int th_onnx_refuse(th_onnx_reader *r, const char *id, const char *format, ...)
{
    char text[TH_ERROR_TEXT_MAX / 2];
    const th_onnx_note *doubt = r->notes->guessed.n ? &r->notes->guessed : &r->notes->contradicted;
    const th_onnx_node *node = r->call ? r->call : r->node;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return th_error_set(r->err, id, "%s: node \"%.100s\" (%s): %s%s%s", r->path,
                        th_onnx_node_name(node), th_onnx_kind(r, node).text, text,
                        doubt->n == 0                 ? ""
                        : doubt == &r->notes->guessed ? "; the cause may be that "
                                                      : "; the cause may be what the file states: ",
                        doubt->first);
}

int th_onnx_expected(th_onnx_reader *r, const char *what)
{
    return th_onnx_refuse(r, "WORK-0089", "must have %s", what);
}

int th_onnx_refuse_large(th_onnx_reader *r)
{
    return th_onnx_refuse(r, "WORK-0084",
                          "an extent of more than %d in batch x channels x height x width",
                          TH_ONNX_EXTENT_MAX);
}

int th_onnx_refuse_extent(th_onnx_reader *r, int64_t extent, int64_t least, int64_t most)
{
    return th_onnx_refuse(r, "WORK-0097", "extent %lld: must be from %lld to %lld",
                          (long long)extent, (long long)least, (long long)most);
}

int th_onnx_refuse_number(th_onnx_reader *r, const char *what, double x)
{
    return th_onnx_refuse(r, "WORK-0094", "%s of %g: out of range", what, x);
}

int th_onnx_refuse_rank(th_onnx_reader *r, int32_t rank)
{
    return th_onnx_refuse(r, "WORK-0100", "%d axes: at most %d are read", (int)rank,
                          TH_ONNX_RANK_MAX);
}

th_onnx_words th_onnx_why(const th_onnx_reader *r, const th_onnx_value *v)
{
    th_onnx_words w = {" without running the model"};
    const th_onnx_tensor *t = v->unread;
    const char *name = t && t->name ? t->name : "",
               *file = t ? th_onnx_external(t, "location") : NULL;
    int64_t n = 1;
    for (size_t i = 0; t && i < t->n_dims && n <= TH_ONNX_NUMBERS_MAX; i++)
        n *= t->dims[i];
    if (th_onnx_is_tensor(v) && v->origin && v->origin_n <= HINT_MAX)
        snprintf(w.text, sizeof w.text, " without running the model, or -value {%.80s ...}",
                 v->origin);
    else if (file && n <= TH_ONNX_NUMBERS_MAX)
        snprintf(w.text, sizeof w.text,
                 ": the numbers of \"%.60s\" are in the file \"%.80s\", which is not there or does "
                 "not have them",
                 name, file);
    else if (t)
        snprintf(w.text, sizeof w.text, ": the numbers of \"%.60s\" are %s", name,
                 n > TH_ONNX_NUMBERS_MAX ? "more than 16384" : "not in the file as numbers");
    else if (v->uncomputed)
        snprintf(w.text, sizeof w.text, ": node \"%.60s\" (%.120s), of constants, is not computed",
                 th_onnx_node_name(v->uncomputed), th_onnx_kind(r, v->uncomputed).text);
    return w;
}

int th_onnx_refuse_unknown(th_onnx_reader *r, size_t input)
{
    return th_onnx_refuse(
        r, "WORK-0096", "input %zu \"%.80s\" is not known%s, and a shape depends on it", input + 1,
        r->node->input[input], th_onnx_why(r, th_onnx_input_or_none(r, input)).text);
}

int th_onnx_mixes_batch(th_onnx_reader *r)
{
    r->mixes_batch = true;
    return -1;
}

/* ---- values ---------------------------------------------------------------------------------- */

void *th_onnx_room(th_onnx_reader *r, int64_t n, size_t size)
{
    void *block = NULL;
    if (th_grow(&r->blocks.at, &r->blocks.room, r->blocks.n + 1, sizeof *r->blocks.at) == 0)
        block = th_alloc_zero((size_t)(n > 0 ? n : 1), size);
    if (!block)
        th_error_no_memory(r->err);
    else
        r->blocks.at[r->blocks.n++] = block;
    return block;
}

th_onnx_value *th_onnx_define(th_onnx_reader *r, const char *name, const th_onnx_value *v)
{
    th_onnx_value *made = NULL;
    if (th_grow(&r->values.at, &r->values.room, r->values.n + 1, sizeof *r->values.at) == 0 &&
        th_map_put(r->scope->number, name, strlen(name), (int64_t)r->values.n) == 0)
        made = th_alloc(sizeof *made);
    if (!made) {
        th_error_no_memory(r->err);
        return NULL;
    }
    *made = *v;
    r->values.at[r->values.n++] = made;
    if (made->is_constant && made->source == 0)
        made->source = (int64_t)r->values.n;
    th_onnx_check_stated(r, name, made);
    if (r->options->on_value)
        r->options->on_value(r->options->context, name, made->dim, made->rank);
    return made;
}

/* It depends on what the inputs of the node depend on. */
static void set_origin(const th_onnx_reader *r, th_onnx_value *v)
{
    for (size_t i = 0; i < r->node->n_input; i++) {
        const th_onnx_value *in = th_onnx_input_or_none(r, i);
        if (in && in->origin && (!v->origin || in->origin_n < v->origin_n)) {
            v->origin = in->origin;
            v->origin_n = in->origin_n;
        }
    }
}

int th_onnx_define_output(th_onnx_reader *r, size_t i, const th_onnx_value *v)
{
    const char *name = i < r->node->n_output ? r->node->output[i] : "";
    int64_t number;
    if (!name[0])
        return 0;
    if (th_map_get(r->scope->number, name, strlen(name), &number))
        return th_onnx_refuse(r, "WORK-0083", "output %zu \"%.80s\": another tensor has the name",
                              i + 1, name);
    th_onnx_value *made = th_onnx_define(r, name, v);
    if (made && !made->is_constant)
        set_origin(r, made);
    return made ? 0 : -1;
}

th_onnx_value *th_onnx_find(const th_onnx_reader *r, const char *name)
{
    int64_t i;
    for (const th_onnx_scope *s = r->scope; s; s = s->outer)
        if (th_map_get(s->number, name, strlen(name), &i))
            return r->values.at[i];
    return NULL;
}

th_onnx_value *th_onnx_input_or_none(const th_onnx_reader *r, size_t i)
{
    return i < r->node->n_input && r->node->input[i][0] ? th_onnx_find(r, r->node->input[i]) : NULL;
}

th_onnx_value *th_onnx_input(th_onnx_reader *r, size_t i)
{
    th_onnx_value *v = th_onnx_input_or_none(r, i);
    if (!v)
        th_onnx_refuse(r, "WORK-0081", "input %zu%s%.80s%s is not there", i + 1,
                       i < r->node->n_input ? " \"" : "",
                       i < r->node->n_input ? r->node->input[i] : "",
                       i < r->node->n_input ? "\"" : "");
    return v;
}

int64_t th_onnx_uses_of(const th_onnx_reader *r, const char *name)
{
    int64_t n = 0;
    th_map_get(r->uses, name, strlen(name), &n);
    return n;
}

bool th_onnx_is_sole_reader(const th_onnx_reader *r, size_t i)
{
    return th_onnx_uses_of(r, r->node->input[i]) == 1;
}

bool th_onnx_is_used(const th_onnx_reader *r, size_t output)
{
    return output < r->node->n_output && r->node->output[output][0] &&
           th_onnx_uses_of(r, r->node->output[output]) > 0;
}

bool th_onnx_is_tensor(const th_onnx_value *v)
{
    return v && !v->is_constant && !v->is_sequence;
}

/* ---- numbers --------------------------------------------------------------------------------- */

int64_t th_onnx_elements(const th_onnx_value *v)
{
    const int64_t most = (int64_t)1 << 53;
    int64_t n = 1;
    for (int32_t i = 0; i < v->rank; i++)
        if (v->dim[i] == 0)
            return 0;
    for (int32_t i = 0; i < v->rank; i++) {
        if (v->dim[i] < 0 || n > most / v->dim[i])
            return -1;
        n *= v->dim[i];
    }
    return n;
}

bool th_onnx_is_known(const th_onnx_value *v)
{
    return v && v->is_constant && (v->ints || v->reals);
}

int64_t th_onnx_whole(double x)
{
    const double most = 9.2e18;
    return x != x ? 0 : x > most ? INT64_MAX : x < -most ? INT64_MIN : (int64_t)x;
}

int64_t th_onnx_number(const th_onnx_value *v, int64_t i)
{
    return v->ints ? v->ints[i] : th_onnx_whole(v->reals[i]);
}

double th_onnx_real_number(const th_onnx_value *v, int64_t i)
{
    return v->ints ? (double)v->ints[i] : v->reals[i];
}

int th_onnx_list(th_onnx_reader *r, int input, const char *attribute, int64_t *out, int max)
{
    const th_onnx_value *v = input >= 0 ? th_onnx_input_or_none(r, (size_t)input) : NULL;
    const th_onnx_attribute *a = v || !attribute ? NULL : th_onnx_attribute_of(r->node, attribute);
    int64_t n = v ? th_onnx_elements(v) : a ? (int64_t)a->n_ints : -1;
    if (v && !th_onnx_is_known(v))
        return th_onnx_refuse_unknown(r, (size_t)input) - 1;
    if (n > max)
        return th_onnx_refuse(r, "WORK-0707", "%s %.80s: %lld numbers: must be at most %d",
                              v ? "input" : "attribute", v ? r->node->input[input] : attribute,
                              (long long)n, max) -
               1;
    for (int64_t i = 0; i < n; i++)
        out[i] = v ? th_onnx_number(v, i) : a->ints[i];
    return (int)n;
}

int th_onnx_scalar(th_onnx_reader *r, int input, const char *attribute, int64_t *out)
{
    if (attribute && th_onnx_has(r->node, attribute)) {
        *out = th_onnx_int(r->node, attribute, *out);
        return 0;
    }
    int n = th_onnx_list(r, input, NULL, out, 1);
    return n == -2 ? -1 : 0;
}

int32_t th_onnx_axis(th_onnx_reader *r, int64_t axis, int32_t rank)
{
    if (axis >= -rank && axis < rank)
        return (int32_t)(axis < 0 ? axis + rank : axis);
    return th_onnx_refuse(r, "WORK-0098", "axis %lld: must be from %d to %d", (long long)axis,
                          -(int)rank, (int)rank - 1);
}
