/* SPDX-License-Identifier: GPL-3.0-or-later */
/* body.c - see body.h. Names are kept apart from those of the model by the node's in front of them:
 * readers are counted by name. */
#include <config.h>
#include "workloads/onnx/body.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "workloads/onnx/nodes.h"

enum { NAME_BYTES = 256 };

const char th_onnx_body_whole[] = "";

void th_onnx_body_begin(th_onnx_body *b, th_onnx_reader *r)
{
    *b = (th_onnx_body){.r = r, .call = r->node, .outer_call = r->call, .outer = r->scope};
    b->status = th_onnx_enter(r, &b->scope);
    r->call = r->call ? r->call : r->node;
    b->is_entered = b->status == 0;
    if (b->is_entered)
        r->scope = &b->scope;
}

static char *keep(th_onnx_body *b, const char *text, size_t length)
{
    char *kept = th_onnx_room(b->r, (int64_t)length + 1, 1);
    if (kept)
        memcpy(kept, text, length);
    else
        b->status = -1;
    return kept;
}

/* The name of a value of the body. */
static char *inner_name(th_onnx_body *b, const char *word, size_t length)
{
    char name[NAME_BYTES];
    int n =
        snprintf(name, sizeof name, "%.180s\n%.*s", th_onnx_node_name(b->call), (int)length, word);
    return keep(b, name, n < NAME_BYTES ? (size_t)n : NAME_BYTES - 1);
}

void th_onnx_body_bind(th_onnx_body *b, const char *name, const th_onnx_value *v)
{
    char *inner = b->status ? NULL : inner_name(b, name, strlen(name));
    if (inner && !th_onnx_define(b->r, inner, v))
        b->status = -1;
}

bool th_onnx_body_give(th_onnx_body *b, const char *name, size_t input)
{
    if (b->status)
        return false;
    b->r->scope = b->outer;
    bool is_there = th_onnx_input_or_none(b->r, input);
    const th_onnx_value *v = is_there ? th_onnx_given(b->r, input) : NULL;
    b->r->scope = &b->scope;
    if (v)
        th_onnx_body_bind(b, name, v);
    else if (is_there)
        b->status = -1;
    return v && b->status == 0;
}

void th_onnx_body_numbers(th_onnx_body *b, const char *name, const int64_t *numbers, int n)
{
    th_onnx_value v = {.rank = 1, .dim = {n}, .type = TH_ONNX_INT64, .is_constant = true};
    v.ints = b->status ? NULL : th_onnx_room(b->r, n, sizeof *v.ints);
    if (!v.ints) {
        b->status = -1;
        return;
    }
    memcpy(v.ints, numbers, (size_t)n * sizeof *numbers);
    th_onnx_body_bind(b, name, &v);
}

/* The words of a text as names; *n of them. NULL: memory is out. */
static char **split(th_onnx_body *b, const char *text, size_t *n)
{
    int64_t most = 1;
    for (const char *c = text; *c; c++)
        most += *c == ' ';
    char **words = b->status ? NULL : th_onnx_room(b->r, most, sizeof *words);
    if (!words)
        b->status = -1;
    for (*n = 0; words && *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        bool is_none = length == 1 && *text == '-';
        words[(*n)++] = is_none ? keep(b, "", 0) : inner_name(b, text, length);
        text += length;
    }
    return words;
}

/* The same of outputs, where an empty text is one name. */
static char **split_outputs(th_onnx_body *b, const char *text, size_t *n)
{
    char **words = split(b, text, n);
    if (words && *n == 0)
        words[(*n)++] = inner_name(b, "", 0);
    return words;
}

static char *layer_name(th_onnx_body *b, const char *outputs)
{
    char name[NAME_BYTES];
    size_t length = strcspn(outputs, " ");
    th_print(name, sizeof name, "%.180s%s%.*s", th_onnx_node_name(b->call), length ? "." : "",
             (int)length, outputs);
    return keep(b, name, strlen(name));
}

void th_onnx_body_add(th_onnx_body *b, const char *op, const char *inputs, const char *outputs)
{
    th_onnx_node *n = b->status ? NULL : th_onnx_room(b->r, 1, sizeof *n);
    if (!n || th_grow(&b->nodes, &b->room, b->n + 1, sizeof *b->nodes)) {
        if (b->status == 0)
            b->status = th_error_no_memory(b->r->err);
        return;
    }
    th_onnx__node__init(n);
    n->op_type = (char *)op; /* which nothing writes */
    n->name = layer_name(b, outputs);
    n->input = split(b, inputs, &n->n_input);
    n->output = split_outputs(b, outputs, &n->n_output);
    b->nodes[b->n++] = n;
}

static th_onnx_attribute *new_attribute(th_onnx_body *b, const char *name)
{
    th_onnx_node *n = b->status ? NULL : b->nodes[b->n - 1];
    th_onnx_attribute *a = n ? th_onnx_room(b->r, 1, sizeof *a) : NULL;
    th_onnx_attribute **list =
        a ? th_onnx_room(b->r, (int64_t)n->n_attribute + 1, sizeof *list) : NULL;
    if (!list) {
        b->status = -1;
        return NULL;
    }
    th_onnx__attribute__init(a);
    a->name = (char *)name;
    for (size_t i = 0; i < n->n_attribute; i++)
        list[i] = n->attribute[i];
    list[n->n_attribute++] = a;
    n->attribute = list;
    return a;
}

void th_onnx_body_set(th_onnx_body *b, const char *attribute, int64_t value)
{
    th_onnx_attribute *a = new_attribute(b, attribute);
    if (a) {
        a->has_i = true;
        a->i = value;
    }
}

void th_onnx_body_set_text(th_onnx_body *b, const char *attribute, const char *text)
{
    th_onnx_attribute *a = new_attribute(b, attribute);
    char *kept = a ? keep(b, text, strlen(text)) : NULL;
    if (kept) {
        a->has_s = true;
        a->s = (ProtobufCBinaryData){strlen(kept), (uint8_t *)kept};
    }
}

void th_onnx_body_set_list(th_onnx_body *b, const char *attribute, const int64_t *values, int n)
{
    th_onnx_attribute *a = new_attribute(b, attribute);
    int64_t *kept = a ? th_onnx_room(b->r, n, sizeof *kept) : NULL;
    if (!kept) {
        b->status = -1;
        return;
    }
    memcpy(kept, values, (size_t)n * sizeof *values);
    a->ints = kept;
    a->n_ints = (size_t)n;
}

void th_onnx_body_copy_attributes(th_onnx_body *b)
{
    th_onnx_node *n = b->status ? NULL : b->nodes[b->n - 1];
    th_onnx_attribute **list =
        n ? th_onnx_room(b->r, (int64_t)b->call->n_attribute, sizeof(*list)) : NULL;
    if (!list) {
        b->status = -1;
        return;
    }
    n->attribute = list;
    n->n_attribute = 0;
    for (size_t i = 0; i < b->call->n_attribute; i++)
        if (strcmp(b->call->attribute[i]->name, "channels_last") != 0)
            list[n->n_attribute++] = b->call->attribute[i];
}

static int count(th_onnx_body *b, char *const *outputs, size_t n_outputs, int by)
{
    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < b->nodes[i]->n_input; k++)
            if (th_onnx_count_use(b->r, b->nodes[i]->input[k], by))
                return -1;
    for (size_t i = 0; i < n_outputs; i++)
        if (th_onnx_count_use(b->r, outputs[i], by))
            return -1;
    return 0;
}

th_onnx_value **th_onnx_body_values(th_onnx_body *b, const char *words, size_t *n)
{
    char **names = split_outputs(b, words, n);
    th_onnx_value **out = names ? th_onnx_room(b->r, (int64_t)*n, sizeof(*out)) : NULL;
    if (!out || count(b, names, *n, 1) || th_onnx_read_nodes(b->r, b->nodes, b->n))
        b->status = -1;
    b->r->scope = b->outer;
    b->r->node = b->call;
    b->r->call = b->outer_call;
    for (size_t i = 0; b->status == 0 && i < *n; i++)
        if (names[i][0] && !(out[i] = th_onnx_take(b->r, &b->scope, names[i])))
            b->status = -1;
    if (b->status == 0) /* what calls this node may be read once more */
        count(b, names, *n, -1);
    if (b->is_entered)
        th_onnx_leave(b->r, &b->scope);
    th_free(b->nodes);
    return b->status ? NULL : out;
}

int th_onnx_body_end(th_onnx_body *b, const char *outputs)
{
    size_t n = 0;
    th_onnx_value **out = th_onnx_body_values(b, outputs, &n);
    for (size_t i = 0; out && i < b->call->n_output; i++) {
        if (i < n && out[i] && th_onnx_define_output(b->r, i, out[i]))
            return -1;
        if (i >= n && th_onnx_is_used(b->r, i))
            return th_onnx_refuse(b->r, "WORK-0709",
                                  "output %zu \"%.80s\": the rule has %zu outputs", i + 1,
                                  b->call->output[i], n);
    }
    return out ? 0 : -1;
}
