/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.c - one line per start and end of a task, and per new value of a signal:
 * time_ps,event,task,kind,from,to,layer,input,bytes,object,signal,value
 * A start or end fills the columns before object, a value those from object on. */
#include <config.h>

#include "base/strbuf.h"
#include "sim/trace/trace_state.h"

static const char *const kind_names[] = {
    [TH_TASK_COMPUTE] = "compute",
    [TH_TASK_TRANSFER] = "transfer",
    [TH_TASK_HOST] = "host",
    [TH_TASK_COLLECTIVE] = "collective",
};

static bool is_plain(const char *name)
{
    while (*name && *name != ',' && *name != '"' && *name != '\n' && *name != '\r')
        name++;
    return *name == 0;
}

/* Quoted where CSV asks for it (RFC 4180). */
static void add_name(th_strbuf *b, const char *name)
{
    bool is_quoted = !is_plain(name);
    th_strbuf_add(b, is_quoted ? "\"" : name);
    for (; is_quoted && *name; name++)
        th_strbuf_add_bytes(b, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    th_strbuf_add(b, is_quoted ? "\"" : "");
}

static void write_name(th_out *o, const char *name)
{
    th_strbuf quoted = TH_STRBUF_INIT;
    if (is_plain(name)) {
        th_out_text(o, name);
        return;
    }
    add_name(&quoted, name);
    th_out_text(o, quoted.text ? quoted.text : "");
    th_strbuf_clear(&quoted);
}

static void write_field(th_out *o, const char *name)
{
    th_out_char(o, ',');
    write_name(o, name);
}

static void write_number(th_out *o, int64_t number)
{
    th_out_char(o, ',');
    th_out_number(o, number);
}

static const char *node_name(const th_trace *t, int32_t node)
{
    return node >= 0 ? th_traced_name(t, node) : "";
}

static void task(th_trace *t, th_time now, bool starts, int32_t number, const th_task *task)
{
    bool is_transfer = task->kind == TH_TASK_TRANSFER;
    const char *layer = th_trace_layer_name(t, th_trace_layer_of(t, number));
    th_out_number(&t->out, now);
    th_out_text(&t->out, starts ? ",start" : ",end");
    write_number(&t->out, number);
    write_field(&t->out, kind_names[task->kind]);
    write_field(&t->out, node_name(t, task->node));
    write_field(&t->out, node_name(t, is_transfer ? task->peer : -1));
    write_field(&t->out, layer ? layer : "");
    write_number(&t->out, task->input);
    write_number(&t->out, is_transfer ? task->bytes : 0);
    th_out_text(&t->out, ",,,\n");
}

static void value(th_trace *t, th_variable *v, th_time now)
{
    const char *text = th_value_text(t, v), *columns = t->writer_data;
    if (t->is.is_out_of_memory)
        return;
    th_out_number(&t->out, now);
    th_out_bytes(&t->out, columns + v->columns_at, (size_t)v->n_columns);
    if (text)
        write_name(&t->out, text);
    else
        th_out_number(&t->out, v->value);
    th_out_char(&t->out, '\n');
}

/* The columns between time and value are the same for all values of a variable. */
static void make_columns(th_trace *t)
{
    th_strbuf all = TH_STRBUF_INIT;
    for (int32_t i = 0; i < t->n_variables; i++) {
        th_variable *v = &t->variables[i];
        v->columns_at = (int32_t)all.length;
        th_strbuf_printf(&all, ",value,,,,,,,,%s/", th_traced_class_name(t, v->object));
        add_name(&all, th_traced_name(t, v->object));
        th_strbuf_printf(&all, ",%s,", th_signal_name(v->signal));
        v->n_columns = (int32_t)all.length - v->columns_at;
    }
    t->is.is_out_of_memory |= all.failed;
    t->writer_data = all.text;
}

/* Initial values of 0 or none are left out. */
static void begin(th_trace *t, th_time now)
{
    make_columns(t);
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
    .name = "csv", .finest_ps = 1, .begin = begin, .value = value, .task = task, .end = end};
