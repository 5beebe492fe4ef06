/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.c - one line per start and end of a task, and per new value of a signal:
 * time_ps,event,task,kind,from,to,layer,input,bytes,object,signal,value
 * A start or end has what stands before object, a value what stands from object on. */
#include <config.h>

#include "base/strbuf.h"
#include "sim/trace/writer.h"

static const char *const kind_names[] = {
    [TH_TASK_COMPUTE] = "compute",
    [TH_TASK_TRANSFER] = "transfer",
    [TH_TASK_HOST] = "host",
    [TH_TASK_COLLECTIVE] = "collective",
};

static const char *node_name(const th_trace *t, int32_t node)
{
    return node >= 0 ? t->system->nodes[node].name : "";
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

static void write_field(th_out *o, const char *text)
{
    th_out_char(o, ',');
    write_name(o, text);
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

static void task(th_trace *t, th_time now, bool starts, int32_t number, const th_task *task)
{
    bool moves = task->kind == TH_TASK_TRANSFER;
    const char *layer =
        t->workload && task->layer >= 0 ? t->workload->layers[task->layer].name : "";
    write_time(t, now);
    th_out_text(&t->out, starts ? ",start" : ",end");
    write_number(&t->out, number);
    write_field(&t->out, kind_names[task->kind]);
    write_field(&t->out, node_name(t, task->node));
    write_field(&t->out, moves ? node_name(t, task->peer) : "");
    write_field(&t->out, layer);
    write_number(&t->out, task->input);
    write_number(&t->out, moves ? task->bytes : 0);
    th_out_text(&t->out, ",,,\n");
}

/* What stands before the value of each variable, one behind the other, in t->own: it takes long to make. */
static void prepare(th_trace *t)
{
    th_strbuf all = TH_STRBUF_INIT;
    for (int32_t i = 0; i < t->n_variables; i++) {
        th_variable *v = &t->variables[i];
        v->track = (int32_t)all.length;
        th_strbuf_printf(&all, ",value,,,,,,,,%s/", th_traced_class_name(t, v->object));
        add_name(&all, th_traced_name(t, v->object));
        th_strbuf_printf(&all, ",%s,", th_signal_name(v->signal));
        v->id_length = (int32_t)all.length - v->track;
    }
    t->own = all.text;
    t->is_out_of_memory |= all.failed;
}

static void value(th_trace *t, th_variable *v, th_time now)
{
    const char *text = th_value_text(t, v);
    if (t->is_out_of_memory)
        return;
    write_time(t, now);
    th_out_bytes(&t->out, (const char *)t->own + v->track, (size_t)v->id_length);
    if (text)
        write_name(&t->out, text);
    else
        th_out_number(&t->out, v->value);
    th_out_char(&t->out, '\n');
}

/* Values that are 0 or none at the beginning are left out: all are, before anything has happened. */
static void begin(th_trace *t, th_time now)
{
    prepare(t);
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

const th_trace_type th_trace_csv = {
    .name = "csv", .finest_ps = 1, .begin = begin, .value = value, .stamp = {.unit_ps = 1}, .task = task, .end = end};
