/* SPDX-License-Identifier: GPL-3.0-or-later */
/* changes.c - what has changed at a tick, and how it is written.
 *
 *   (change | set_tiles)* -> write_changes | write_tiles_alone -> ... -> settle
 * An object that something happens to is put on a list; when the tick is over, the signals of the
 * objects on it that have other values than before are written. So however much happens at an
 * instant, its outcome is written once. What comes again is copied from phrases: of one variable,
 * or of all that tell the same, the tiles of an accelerator and the flows of a link, together.
 *
 * Invariants: an object is on the list if and only if it is noted to be there, next to those of its
 * signals that may have changed; values of variables that are written together stand in their
 * objects, until settle. */
#include <config.h>

#include "sim/trace/signals.h"
#include "sim/trace/stretches.h"

static const unsigned tile_signals = TH_BIT(TH_N_SIGNALS) - TH_BIT(TH_FIRST_TILE_SIGNAL);
static const unsigned is_listed = TH_BIT(TH_N_SIGNALS);

void th_trace_change(th_trace *t, int32_t object, unsigned signals)
{
    th_traced *o = &t->objects[object];
    if (o->signals == 0)
        return;
    if (o->changed == 0)
        t->changed[t->n_changed++] = object;
    o->changed |= is_listed | (signals & o->shown);
}

void th_trace_set_tiles(th_trace *t, int32_t accel, th_tile_state tiles)
{
    int32_t object = t->system->accel_node[accel];
    th_traced *o = &t->objects[object];
    if ((o->tiles ^ tiles) & o->tile_bits)
        th_trace_change(t, object, tile_signals);
    o->tiles = tiles;
}

static th_variable *variable_of(th_trace *t, const th_traced *o, int signal)
{
    return &t->variables[o->first + o->place[signal]];
}

/* Unless that was done at this tick. */
static void tell_time(th_trace *t, bool *is_told)
{
    if (!*is_told)
        th_out_stamp(&t->out, th_trace_stamp(t, t->tick));
    *is_told = true;
}

/* ---- keys of phrases, by what changes from which value to which ------------------------------ */

enum { NONE = 1, END = 1 << 16 }; /* values from -NONE on */
static const uint64_t of_variable = (uint64_t)1 << 63,
                      of_flows = (uint64_t)1 << 62; /* else of tiles */

static uint64_t key_of(uint64_t kind, int32_t number, uint64_t from, uint64_t to)
{
    return kind | (uint64_t)number << 32 | from << 16 | to;
}

/* 0: it may not come again. */
static uint64_t key_of_variable(const th_trace *t, const th_variable *v, int64_t value)
{
    if (v->signal == TH_SIGNAL_TASK || v->value + NONE >= END || value + NONE >= END)
        return 0;
    return key_of(of_variable, (int32_t)(v - t->variables), (uint64_t)(v->value + NONE),
                  (uint64_t)(value + NONE));
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_variable(th_trace *t, th_variable *v, bool *is_told)
{
    int64_t value = th_value_of(t, v);
    if (value == v->value)
        return;
    uint64_t key = key_of_variable(t, v, value);
    v->before = v->value;
    v->value = value;
    tell_time(t, is_told);
    if (th_phrases_say(t->phrases, &t->out, th_trace_stamp(t, t->tick), key))
        return;
    th_phrases_listen(&t->out);
    t->type->value(t, v, t->tick);
    th_phrases_learn(t->phrases, &t->out, key);
}

/* The writer says it. */
static void write_each_tile_signal(th_trace *t, const th_traced *o, th_tile_state from,
                                   th_tile_state to)
{
    for (int s = TH_FIRST_TILE_SIGNAL; s < TH_N_SIGNALS; s++) {
        if (!(o->signals >> s & 1u) || th_tile_value(s, from) == th_tile_value(s, to))
            continue;
        th_variable *v = variable_of(t, o, s);
        v->before = th_tile_value(s, from);
        v->value = th_tile_value(s, to);
        t->type->value(t, v, t->tick);
    }
}

/* There are many changes, and few that are different. */
static void write_tiles(th_trace *t, int32_t object, bool *is_told)
{
    th_traced *o = &t->objects[object];
    th_tile_state from = o->written, to = o->tiles & o->tile_bits;
    if (from == to)
        return;
    o->written = to;
    tell_time(t, is_told);
    uint64_t key = key_of(0, object, from, to);
    if (!th_phrases_say(t->phrases, &t->out, th_trace_stamp(t, t->tick), key)) {
        th_phrases_listen(&t->out);
        write_each_tile_signal(t, o, from, to);
        th_phrases_learn(t->phrases, &t->out, key);
    }
    th_stretches_note(t, key, o->tiles_at, o->tiles_before);
}

/* Signals of these of a link that differ between so many flows and so many. */
static unsigned of_link_that_differ(unsigned signals, int32_t from, int32_t to)
{
    unsigned differ = 0;
    for (unsigned left = signals; left; left &= left - 1) {
        int32_t s = __builtin_ctz(left);
        differ |= th_link_value(s, from) == th_link_value(s, to) ? 0 : TH_BIT(s);
    }
    return differ;
}

static void write_flows(th_trace *t, int32_t object, bool *is_told)
{
    th_traced *o = &t->objects[object];
    int32_t from = o->written_flows, to = o->flows;
    unsigned differ = of_link_that_differ(o->shown, from, to);
    o->written_flows = to;
    if (differ == 0)
        return;
    tell_time(t, is_told);
    uint64_t key =
        from < END && to < END ? key_of(of_flows, object, (uint64_t)from, (uint64_t)to) : 0;
    if (th_phrases_say(t->phrases, &t->out, th_trace_stamp(t, t->tick), key))
        return;
    th_phrases_listen(&t->out);
    for (unsigned left = differ; left; left &= left - 1) {
        th_variable *v = variable_of(t, o, __builtin_ctz(left));
        v->before = th_link_value(v->signal, from);
        v->value = th_link_value(v->signal, to);
        t->type->value(t, v, t->tick);
    }
    th_phrases_learn(t->phrases, &t->out, key);
}

void th_trace_write_changes(th_trace *t)
{
    bool is_told = !t->type->tells_time;
    for (int32_t i = 0; i < t->n_changed; i++) {
        int32_t object = t->changed[i];
        th_traced *o = &t->objects[object];
        unsigned alone = o->changed & ~tile_signals & ~is_listed;
        if (alone && object >= t->n_nodes)
            write_flows(t, object, &is_told);
        else
            for (; alone; alone &= alone - 1)
                write_variable(t, variable_of(t, o, __builtin_ctz(alone)), &is_told);
        if (o->changed & tile_signals)
            write_tiles(t, object, &is_told);
        o->changed = 0;
    }
    t->n_changed = 0;
}

void th_trace_write_tiles_alone(th_trace *t, int32_t accel, th_tile_state tiles)
{
    int32_t object = t->system->accel_node[accel];
    bool is_told = !t->type->tells_time;
    t->objects[object].tiles = tiles;
    write_tiles(t, object, &is_told);
}

/* ---- where all stands ------------------------------------------------------------------------ */

void th_trace_forget_changes(th_trace *t)
{
    for (int32_t i = 0; i < t->n_variables; i++) {
        th_variable *v = &t->variables[i];
        v->before = 0;
        v->value = th_value_of(t, v);
    }
    for (int32_t i = 0; i < t->n_objects; i++) {
        t->objects[i].written = t->objects[i].tiles & t->objects[i].tile_bits;
        t->objects[i].written_flows = t->objects[i].flows;
    }
    for (int32_t i = 0; i < t->n_changed; i++)
        t->objects[t->changed[i]].changed = 0;
    t->n_changed = 0;
}

void th_trace_settle_values(th_trace *t)
{
    for (int32_t i = 0; i < t->n_variables; i++) {
        th_variable *v = &t->variables[i];
        if (v->object >= t->n_nodes)
            v->value = th_link_value(v->signal, t->objects[v->object].written_flows);
        else if (v->signal >= TH_FIRST_TILE_SIGNAL)
            v->value = th_tile_value(v->signal, t->objects[v->object].written);
    }
}
