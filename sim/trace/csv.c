/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.c - one line per start and end of a task, and per new value of a signal:
 * time_ps,event,task,kind,from,to,layer,input,bytes,object,signal,value
 * A start or end has what stands before object, a value what stands from object on. What takes long
 * to make is made once: names as fields, and what stands before the value of each variable. */
#include <config.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "sim/trace/phrases.h"
#include "sim/trace/writer.h"

static const char *const kind_names[] = {
    [TH_TASK_COMPUTE] = "compute",
    [TH_TASK_TRANSFER] = "transfer",
    [TH_TASK_HOST] = "host",
    [TH_TASK_COLLECTIVE] = "collective",
};

/* Where a field stands in the texts, with the comma before it. */
typedef struct {
    uint32_t at, n;
} field;

/* t->own is the fields, of no name, of nodes and of layers, and behind them the texts. */
enum { OF_NONE = 0, OF_NODES = 1 };

static size_t first_layer(const th_trace *t)
{
    return OF_NODES + (size_t)t->n_nodes;
}

static size_t n_fields(const th_trace *t)
{
    return first_layer(t) + (t->workload ? (size_t)t->workload->n_layers : 0);
}

static const char *texts(const th_trace *t)
{
    return (const char *)((const field *)t->own + n_fields(t));
}

/* Names may hold anything that is printed: quoted where CSV asks for it (RFC 4180). */
static void add_name(th_strbuf *b, const char *name)
{
    bool is_quoted = strpbrk(name, ",\"\n\r") != NULL;
    th_strbuf_add(b, is_quoted ? "\"" : "");
    for (; is_quoted && *name; name++) {
        if (*name == '"')
            th_strbuf_add(b, "\"");
        th_strbuf_add_bytes(b, name, 1);
    }
    th_strbuf_add(b, is_quoted ? "\"" : name);
}

static void write_name(th_out *o, const char *name)
{
    th_strbuf text = TH_STRBUF_INIT;
    if (!strpbrk(name, ",\"\n\r")) {
        th_out_text(o, name);
        return;
    }
    add_name(&text, name);
    th_out_text(o, text.text ? text.text : "");
    th_strbuf_clear(&text);
}

static void write_field(th_trace *t, size_t number)
{
    const field *f = (const field *)t->own + number;
    th_out_bytes(&t->out, texts(t) + f->at, f->n);
}

static void write_number(th_out *o, int64_t number)
{
    th_out_char(o, ',');
    th_out_number(o, number);
}

static void write_time(th_trace *t, th_time now)
{
    th_out_stamp(&t->out, th_trace_stamp(t, now));
}

static size_t field_of_node(int32_t node)
{
    return node >= 0 ? OF_NODES + (size_t)node : OF_NONE;
}

/* What tasks of a kind have alike that work for a layer at the same nodes; 0: those are too many to
 * be told apart. */
static uint64_t key_of(const th_task *task, int32_t peer)
{
    enum { NODE = 18, LAYER = 20 };
    uint64_t node = (uint64_t)task->node + 1, to = (uint64_t)peer + 1,
             layer = (uint64_t)task->layer + 1;
    if (node >> NODE || to >> NODE || layer >> LAYER)
        return 0;
    return th_phrases_key(0, (((uint64_t)task->kind << NODE | node) << NODE | to) << LAYER | layer);
}

static void write_what(th_trace *t, const th_task *task)
{
    int32_t peer = task->kind == TH_TASK_TRANSFER ? task->peer : -1;
    bool has_layer = t->workload && task->layer >= 0;
    uint64_t key = key_of(task, peer);
    if (th_phrases_say(t->phrases, &t->out, &t->stamp, key))
        return;
    th_phrases_listen(&t->out);
    th_out_char(&t->out, ',');
    th_out_text(&t->out, kind_names[task->kind]);
    write_field(t, field_of_node(task->node));
    write_field(t, field_of_node(peer));
    write_field(t, has_layer ? first_layer(t) + (size_t)task->layer : OF_NONE);
    th_phrases_learn(t->phrases, &t->out, key);
}

static void task(th_trace *t, th_time now, bool starts, int32_t number, const th_task *task)
{
    bool moves = task->kind == TH_TASK_TRANSFER;
    if (t->is_out_of_memory)
        return;
    write_time(t, now);
    th_out_text(&t->out, starts ? ",start" : ",end");
    write_number(&t->out, number);
    write_what(t, task);
    write_number(&t->out, task->input);
    write_number(&t->out, moves ? task->bytes : 0);
    th_out_text(&t->out, ",,,\n");
}

static field add_field(th_strbuf *all, const char *name)
{
    size_t at = all->length;
    th_strbuf_add(all, ",");
    add_name(all, name);
    return (field){(uint32_t)at, (uint32_t)(all->length - at)};
}

/* What stands before its value, in the texts. */
static void add_variable(const th_trace *t, th_strbuf *all, th_variable *v)
{
    v->track = (int32_t)all->length;
    th_strbuf_printf(all, ",value,,,,,,,,%s/", th_traced_class_name(t, v->object));
    add_name(all, th_traced_name(t, v->object));
    th_strbuf_printf(all, ",%s,", th_signal_name(v->signal));
    v->id_length = (int32_t)all->length - v->track;
}

static void add_fields(const th_trace *t, th_strbuf *all, field *f)
{
    *f++ = add_field(all, "");
    for (int32_t i = 0; i < t->n_nodes; i++)
        *f++ = add_field(all, th_traced_name(t, i));
    for (int32_t i = 0; t->workload && i < t->workload->n_layers; i++)
        *f++ = add_field(all, t->workload->layers[i].name);
}

static int prepare(th_trace *t)
{
    th_strbuf all = TH_STRBUF_INIT;
    field *fields = th_alloc_array(n_fields(t), sizeof *fields), *own = NULL;
    if (fields)
        add_fields(t, &all, fields);
    for (int32_t i = 0; i < t->n_variables; i++)
        add_variable(t, &all, &t->variables[i]);
    if (fields && !all.failed)
        own = th_alloc_array(n_fields(t) * sizeof *fields + all.length, 1);
    if (own) {
        memcpy(own, fields, n_fields(t) * sizeof *fields);
        memcpy(own + n_fields(t), all.text, all.length);
    }
    th_free(fields);
    th_strbuf_clear(&all);
    t->own = own;
    return own ? 0 : -1;
}

static void value(th_trace *t, th_variable *v, th_time now)
{
    const char *text = th_value_text(t, v);
    if (t->is_out_of_memory)
        return;
    write_time(t, now);
    th_out_bytes(&t->out, texts(t) + v->track, (size_t)v->id_length);
    if (text)
        write_name(&t->out, text);
    else
        th_out_number(&t->out, v->value);
    th_out_char(&t->out, '\n');
}

/* Values that are 0 or none at the beginning are left out: all are, before anything has happened.
 */
static void begin(th_trace *t, th_time now)
{
    if (prepare(t))
        t->is_out_of_memory = true;
    th_out_text(&t->out, "time_ps,event,task,kind,from,to,layer,input,bytes,object,signal,value\n");
    for (int32_t i = 0; i < t->n_variables; i++)
        if (t->variables[i].value > 0)
            value(t, &t->variables[i], now);
}

static void end(th_trace *t, th_time now)
{
    (void)t;
    (void)now;
}

const th_trace_type th_trace_csv = {.name = "csv",
                                    .finest_ps = 1,
                                    .begin = begin,
                                    .value = value,
                                    .stamp = {.unit_ps = 1},
                                    .task = task,
                                    .end = end};
