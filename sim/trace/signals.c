/* SPDX-License-Identifier: GPL-3.0-or-later */
/* signals.c - the signals of objects: names, which are traced, present values.
 *   add* -> make_variables -> value_of* */
#include <config.h>

#include "base/alloc.h"
#include "sim/trace/timeline.h"

static const char *const signal_names[] = {
    [TH_SIGNAL_STATE] = "state",
    [TH_SIGNAL_TASK] = "task",
    [TH_SIGNAL_LAYER] = "layer",
    [TH_SIGNAL_SENDING] = "sending",
    [TH_SIGNAL_RECEIVING] = "receiving",
    [TH_SIGNAL_BUSY] = "busy",
    [TH_SIGNAL_FLOWS] = "flows",
    [TH_SIGNAL_QUEUE_DEPTH] = "queue_depth",
    [TH_SIGNAL_HEALTH] = "health",
    [TH_SIGNAL_BUFFER_FILL] = "buffer_fill",
    [TH_SIGNAL_ARRAY] = "array",
    [TH_SIGNAL_LOAD_INPUT] = "load_input",
    [TH_SIGNAL_LOAD_WEIGHT] = "load_weight",
    [TH_SIGNAL_LOAD_PARTIAL] = "load_partial",
    [TH_SIGNAL_STORE] = "store",
    [TH_N_SIGNALS] = NULL,
};

const char *th_signal_name(int i)
{
    return signal_names[i];
}

unsigned th_signals_of(th_traced_class class, bool all)
{
    unsigned inside = TH_BIT(TH_N_SIGNALS) - TH_BIT(TH_FIRST_TILE_SIGNAL);
    unsigned node = TH_BIT(TH_SIGNAL_TASK) | TH_BIT(TH_SIGNAL_LAYER) | TH_BIT(TH_SIGNAL_SENDING) |
                    TH_BIT(TH_SIGNAL_RECEIVING) | TH_BIT(TH_SIGNAL_BUSY);
    switch (class) {
    case TH_TRACED_ACCEL:
        return node | TH_BIT(TH_SIGNAL_STATE) | TH_BIT(TH_SIGNAL_QUEUE_DEPTH) |
               (all ? inside | TH_BIT(TH_SIGNAL_HEALTH) : 0);
    case TH_TRACED_LINK:
        return TH_BIT(TH_SIGNAL_BUSY) | TH_BIT(TH_SIGNAL_FLOWS) | TH_BIT(TH_SIGNAL_QUEUE_DEPTH) |
               (all ? TH_BIT(TH_SIGNAL_HEALTH) : 0);
    case TH_TRACED_NODE:
        return node;
    }
    return 0;
}

/* ---- objects --------------------------------------------------------------------------------- */

const char *th_traced_class_name(const th_trace *t, int32_t object)
{
    if (object >= t->n_nodes)
        return "link";
    return t->system->nodes[object].accel >= 0 ? "accel" : "node";
}

const char *th_traced_name(const th_trace *t, int32_t object)
{
    const char *name = object >= t->n_nodes ? t->system->links[object - t->n_nodes].name
                                            : t->system->nodes[object].name;
    return name ? name : "";
}

static int32_t object_of(const th_trace *t, th_traced_class class, int index)
{
    switch (class) {
    case TH_TRACED_ACCEL:
        return t->system->accel_node[index];
    case TH_TRACED_NODE:
        return index;
    case TH_TRACED_LINK:
        break;
    }
    return t->n_nodes + index;
}

void th_trace_add(th_trace *t, th_traced_class class, int index, unsigned signals)
{
    t->objects[object_of(t, class, index)].signals |= signals;
    t->is.is_chosen = true;
}

void th_trace_choose_all(th_trace *t)
{
    unsigned health = t->is.may_fail ? TH_BIT(TH_SIGNAL_HEALTH) : 0;
    for (int32_t i = 0; i < t->n_nodes; i++) {
        const th_node *n = &t->system->nodes[i];
        if (n->accel >= 0)
            t->objects[i].signals = th_signals_of(TH_TRACED_ACCEL, false) | health;
        else if (n->kind == TH_NODE_HOST)
            t->objects[i].signals = th_signals_of(TH_TRACED_NODE, false);
    }
    for (int32_t i = t->n_nodes; i < t->n_objects; i++)
        t->objects[i].signals = th_signals_of(TH_TRACED_LINK, false) | health;
}

/* ---- values ---------------------------------------------------------------------------------- */

int32_t th_trace_layer_of(const th_trace *t, int32_t task)
{
    if (task < 0 || !t->program)
        return -1;
    return t->program->n_jobs > 0 ? th_program_job_of(t->program, task)
                                  : t->program->tasks[task].layer;
}

const char *th_trace_layer_name(const th_trace *t, int32_t layer)
{
    if (layer < 0)
        return NULL;
    if (t->program && t->program->n_jobs > 0)
        return t->program->jobs[layer].name;
    return t->workload ? t->workload->layers[layer].name : NULL;
}

/* The bits of a tile state that hold a signal, and their shift. */
static th_tile_state tile_bits(int32_t signal, int *shift)
{
    switch (signal) {
    case TH_SIGNAL_BUFFER_FILL:
        *shift = 0;
        return TH_TILE_FILL;
    case TH_SIGNAL_ARRAY:
        *shift = TH_TILE_ARRAY_SHIFT;
        return TH_TILE_ARRAY;
    default:
        *shift = TH_TILE_MOVING_SHIFT + signal - TH_SIGNAL_LOAD_INPUT;
        return (th_tile_state)(1u << *shift);
    }
}

static int64_t tile_value(int32_t signal, th_tile_state tiles)
{
    int shift;
    th_tile_state bits = tile_bits(signal, &shift);
    return (tiles & bits) >> shift;
}

static int64_t link_value(int32_t signal, int32_t flows)
{
    switch (signal) {
    case TH_SIGNAL_BUSY:
        return flows > 0;
    case TH_SIGNAL_QUEUE_DEPTH:
        return flows > 0 ? flows - 1 : 0;
    default:
        return flows;
    }
}

int64_t th_value_of(const th_trace *t, const th_variable *v)
{
    const th_traced *o = &t->objects[v->object];
    if (v->signal == TH_SIGNAL_HEALTH)
        return o->health;
    if (v->object >= t->n_nodes)
        return link_value(v->signal, o->flows);
    switch ((th_signal)v->signal) {
    case TH_SIGNAL_STATE:
    case TH_SIGNAL_BUSY:
        return o->task >= 0;
    case TH_SIGNAL_TASK:
        return o->task;
    case TH_SIGNAL_LAYER:
        return th_trace_layer_of(t, o->task);
    case TH_SIGNAL_SENDING:
        return o->sending;
    case TH_SIGNAL_RECEIVING:
        return o->receiving;
    case TH_SIGNAL_QUEUE_DEPTH:
        return o->n_queued;
    case TH_SIGNAL_BUFFER_FILL:
    case TH_SIGNAL_ARRAY:
    case TH_SIGNAL_LOAD_INPUT:
    case TH_SIGNAL_LOAD_WEIGHT:
    case TH_SIGNAL_LOAD_PARTIAL:
    case TH_SIGNAL_STORE:
        return tile_value(v->signal, o->tiles);
    case TH_SIGNAL_FLOWS: /* of links */
    case TH_SIGNAL_HEALTH:
    case TH_N_SIGNALS:
        break;
    }
    return 0;
}

bool th_signal_is_text(th_signal s)
{
    return s == TH_SIGNAL_STATE || s == TH_SIGNAL_LAYER || s == TH_SIGNAL_ARRAY ||
           s == TH_SIGNAL_HEALTH;
}

bool th_signal_is_bit(th_signal s)
{
    return s == TH_SIGNAL_BUSY || s >= TH_SIGNAL_LOAD_INPUT;
}

const char *th_value_text(const th_trace *t, const th_variable *v)
{
    static const char *const healths[TH_N_HEALTHS] = {
        [TH_HEALTH_UP] = "up",     [TH_HEALTH_DEGRADED] = "degraded",
        [TH_HEALTH_DOWN] = "down", [TH_HEALTH_AVOIDED] = "avoided",
        [TH_HEALTH_SLOW] = "slow", [TH_HEALTH_FAST] = "fast",
        [TH_HEALTH_DEAD] = "dead"};
    if (v->signal == TH_SIGNAL_STATE)
        return v->value ? "computing" : "idle";
    if (v->signal == TH_SIGNAL_HEALTH)
        return healths[v->value];
    if (v->signal == TH_SIGNAL_ARRAY)
        return th_array_state_name((int32_t)v->value);
    if (v->signal != TH_SIGNAL_LAYER)
        return NULL;
    const char *name = th_trace_layer_name(t, (int32_t)v->value);
    return name ? name : "";
}

int th_trace_make_variables(th_trace *t)
{
    t->n_variables = 0;
    for (int32_t i = 0; i < t->n_objects; i++) {
        th_traced *o = &t->objects[i];
        int shift;
        o->first = t->n_variables;
        o->tile_bits = 0;
        o->written = 0;
        for (int32_t s = 0; s < TH_N_SIGNALS; s++) {
            if (!(o->signals >> s & 1u))
                continue;
            if (s >= TH_FIRST_TILE_SIGNAL)
                o->tile_bits = (th_tile_state)(o->tile_bits | tile_bits(s, &shift));
            if (th_grow(&t->variables, &t->variable_capacity, (size_t)t->n_variables + 1,
                        sizeof *t->variables))
                return -1;
            o->place[s] = (int8_t)(t->n_variables - o->first);
            t->variables[t->n_variables++] = (th_variable){.object = i, .signal = s};
            if (!t->type->timeline || th_timeline_writes(t, &t->variables[t->n_variables - 1]))
                o->written |= TH_BIT(s);
        }
    }
    return 0;
}
