/* SPDX-License-Identifier: GPL-3.0-or-later */
/* body.c - see body.h. Names are kept apart from those of the model by the node's in front of them:
 * readers are counted by name. */
#include <config.h>
#include "workloads/onnx/body.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "workloads/onnx/nodes.h"

enum { NAME_BYTES = 256 };

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

/* The name of a value of the body; "-": none. */
static char *inner_name(th_onnx_body *b, const char *word)
{
    char name[NAME_BYTES];
    if (strcmp(word, "-") == 0)
        return keep(b, "", 0);
    int n = snprintf(name, sizeof name, "%.180s\n%.60s", th_onnx_node_name(b->call), word);
    return keep(b, name, (size_t)n);
}

/* That of the layer which makes it. */
static char *layer_name(th_onnx_body *b, const char *word)
{
    char name[NAME_BYTES];
    bool is_whole = strcmp(word, TH_ONNX_WHOLE) == 0;
    th_print(name, sizeof name, "%.180s%s%.60s", th_onnx_node_name(b->call), is_whole ? "" : ".",
             is_whole ? "" : word);
    return keep(b, name, strlen(name));
}

void th_onnx_body_bind(th_onnx_body *b, const char *name, const th_onnx_value *v)
{
    char *inner = b->status ? NULL : inner_name(b, name);
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

const char *th_onnx_body_list(th_onnx_body *b, const int64_t *numbers, int n)
{
    th_strbuf text = TH_STRBUF_INIT;
    for (int i = 0; i < n; i++)
        th_strbuf_printf(&text, "%lld,", (long long)numbers[i]);
    const char *kept = text.failed ? NULL : keep(b, text.text ? text.text : ",", text.length);
    th_strbuf_clear(&text);
    return kept ? kept : "";
}

const char *th_onnx_body_name(th_onnx_body *b, const char *prefix, size_t i)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s%zu", prefix, i);
    const char *kept = keep(b, name, strlen(name));
    return kept ? kept : "";
}

const char *th_onnx_body_names(th_onnx_body *b, const char *prefix, int64_t n)
{
    th_strbuf text = TH_STRBUF_INIT;
    for (int64_t i = 0; i < n; i++)
        th_strbuf_printf(&text, "%s%lld ", prefix, (long long)i);
    const char *kept = text.failed ? NULL : keep(b, text.text ? text.text : "", text.length);
    th_strbuf_clear(&text);
    return kept ? kept : "";
}

void th_onnx_body_join(th_onnx_body *b, const char *prefix, th_onnx_value *const *items, int64_t n,
                       int64_t step, int64_t axis, bool is_new)
{
    char wide[NAME_BYTES];
    snprintf(wide, sizeof wide, "%s%s", prefix, is_new ? "_" : "");
    for (int64_t i = 0; i < n; i++) {
        const char *name = th_onnx_body_name(b, prefix, (size_t)i);
        th_onnx_body_bind(b, name, items[i * step]);
        if (is_new)
            th_onnx_body_do(b, "Unsqueeze %s > %s%lld axes=%lld,", name, wide, (long long)i,
                            (long long)axis);
    }
    th_onnx_body_do(b, "Concat %s > %s axis=%lld", th_onnx_body_names(b, wide, n), prefix,
                    (long long)axis);
}

/* All of the node's attributes that a node of the body may have. */
static void copy_attributes(th_onnx_body *b, th_onnx_node *n)
{
    for (size_t i = 0; i < b->call->n_attribute; i++)
        if (strcmp(b->call->attribute[i]->name, "channels_last") != 0)
            n->attribute[n->n_attribute++] = b->call->attribute[i];
}

/* NAME=NUMBER, NAME=NUMBER,...,NUMBER, (a list) or NAME=TEXT */
static void add_attribute(th_onnx_body *b, th_onnx_node *n, char *word, char *equals)
{
    th_onnx_attribute *a = th_onnx_room(b->r, 1, sizeof *a);
    char *value = equals + 1;
    bool is_list = strchr(value, ',');
    if (!a) {
        b->status = -1;
        return;
    }
    th_onnx__attribute__init(a);
    *equals = '\0';
    a->name = word;
    n->attribute[n->n_attribute++] = a;
    if (value[strspn(value, "-0123456789,")] || !*value) {
        a->has_s = true;
        a->s = (ProtobufCBinaryData){strlen(value), (uint8_t *)value};
        return;
    }
    a->has_i = !is_list;
    a->i = strtoll(value, NULL, 10);
    a->ints = is_list ? th_onnx_room(b->r, (int64_t)strlen(value), sizeof *a->ints) : NULL;
    if (is_list && !a->ints)
        b->status = -1;
    for (; a->ints && *value; value += strspn(value, ","))
        a->ints[a->n_ints++] = strtoll(value, &value, 10);
}

static bool is_bound(th_onnx_body *b, const char *word)
{
    int64_t number;
    const char *name = inner_name(b, word);
    return name && th_map_get(b->scope.number, name, strlen(name), &number);
}

/* OP INPUT ... > OUTPUT ... ATTRIBUTE=VALUE ... */
static void add_statement(th_onnx_body *b, char *text)
{
    int64_t most = 1;
    for (const char *c = text; *c; c++)
        most += *c == ' ';
    char **words = th_onnx_room(b->r, most, sizeof *words), *rest = NULL;
    th_onnx_node *n = words ? th_onnx_room(b->r, 1, sizeof *n) : NULL;
    if (n) {
        th_onnx__node__init(n);
        n->attribute =
            th_onnx_room(b->r, most + (int64_t)b->call->n_attribute, sizeof(*n->attribute));
    }
    if (!n || !n->attribute || th_grow(&b->nodes, &b->room, b->n + 1, sizeof *b->nodes)) {
        b->status = th_error_no_memory(b->r->err);
        return;
    }
    n->op_type = strtok_r(text, " ", &rest);
    n->input = words;
    for (char *word, *equals; (word = strtok_r(NULL, " ", &rest));) {
        if (strcmp(word, ">") == 0)
            n->output = words + n->n_input;
        else if ((equals = strchr(word, '=')))
            add_attribute(b, n, word, equals);
        else if (strcmp(word, "*") == 0)
            copy_attributes(b, n);
        else
            (n->output ? n->output : n->input)[n->output ? n->n_output++ : n->n_input++] =
                inner_name(b, word[0] != '?'          ? word
                              : is_bound(b, word + 1) ? word + 1
                                                      : "-");
        if (n->n_output == 1 && !n->name)
            n->name = layer_name(b, word);
    }
    while (n->n_input > 0 && n->input[n->n_input - 1] && !n->input[n->n_input - 1][0])
        n->n_input--; /* an optional one that is not there */
    b->nodes[b->n++] = n;
}

void th_onnx_body_do(th_onnx_body *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = b->status ? -1 : vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = n < 0 ? NULL : th_onnx_room(b->r, (int64_t)n + 1, 1);
    if (!text) {
        b->status = -1;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, (size_t)n + 1, format, arguments);
    va_end(arguments);
    for (char *end; text && b->status == 0; text = end) {
        end = strchr(text, ';');
        if (end)
            *end++ = '\0';
        add_statement(b, text);
    }
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
    const th_onnx_node *last = b->n > 0 ? b->nodes[b->n - 1] : NULL;
    int64_t most = words || !last ? 1 : (int64_t)last->n_output;
    for (const char *c = words; c && *c; c++)
        most += *c == ' ';
    char *rest, *word, *text = words ? keep(b, words, strlen(words)) : NULL,
                       **names = th_onnx_room(b->r, most, sizeof *names);
    th_onnx_value **out = names ? th_onnx_room(b->r, most, sizeof(*out)) : NULL;
    for (*n = 0; out && text && (word = strtok_r(*n ? NULL : text, " ", &rest));)
        names[(*n)++] = inner_name(b, word);
    for (; out && !words && last && *n < last->n_output; ++*n)
        names[*n] = last->output[*n];
    if (!out || b->status || count(b, names, *n, 1) || th_onnx_read_nodes(b->r, b->nodes, b->n))
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
