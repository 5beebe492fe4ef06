/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.c - one line per start and end of a task, and per new value of a signal:
 * time_ps,event,task,kind,from,to,layer,input,bytes,object,signal,value
 * A start or end fills the columns before object, a value those from object on. */
#include <config.h>

#include "sim/trace/trace_state.h"

static bool is_plain(const char *name)
{
    while (*name && *name != ',' && *name != '"' && *name != '\n' && *name != '\r')
        name++;
    return *name == 0;
}

/* Quoted where CSV asks for it (RFC 4180). */
static void write_name(th_out *o, const char *name)
{
    if (is_plain(name)) {
        th_out_text(o, name);
        return;
    }
    th_out_char(o, '"');
    for (; *name; name++)
        th_out_bytes(o, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    th_out_char(o, '"');
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
    write_field(&t->out, th_task_kind_name(task->kind));
    write_field(&t->out, node_name(t, task->node));
    write_field(&t->out, node_name(t, is_transfer ? task->peer : -1));
    write_field(&t->out, layer ? layer : "");
    write_number(&t->out, task->input);
    write_number(&t->out, is_transfer ? task->bytes : 0);
    th_out_text(&t->out, ",,,\n");
}

static void value(th_trace *t, th_variable *v, th_time now)
{
    const char *text = th_value_text(t, v);
    th_out_number(&t->out, now);
    th_out_text(&t->out, ",value,,,,,,,,");
    th_out_text(&t->out, th_traced_class_name(t, v->object));
    th_out_char(&t->out, '/');
    write_name(&t->out, th_traced_name(t, v->object));
    write_field(&t->out, th_signal_name(v->signal));
    th_out_char(&t->out, ',');
    if (text)
        write_name(&t->out, text);
    else
        th_out_number(&t->out, v->value);
    th_out_char(&t->out, '\n');
}

/* Initial values of 0 or none are left out. */
static void begin(th_trace *t, th_time now)
{
    th_out_text(&t->out, "time_ps,event,task,kind,from,to,layer,input,bytes,object,signal,value\n");
    for (int32_t i = 0; i < t->n_variables; i++)
        if (t->variables[i].value > 0)
            value(t, &t->variables[i], now);
}

const th_trace_type th_trace_csv = {
    .name = "csv", .finest_ps = 1, .begin = begin, .value = value, .task = task};
