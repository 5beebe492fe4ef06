/* SPDX-License-Identifier: GPL-3.0-or-later */
/* changes.c - the values that have changed at a tick.
 *
 *   (change | set_tiles)* -> write_changes
 * Objects with events are put on a list. At the end of the tick those of their signals are written
 * whose values differ from the last ones written, so each variable is written at most once per
 * tick. */
#include <config.h>

#include "sim/trace/trace_state.h"

void th_trace_change(th_trace *t, int32_t object, unsigned signals)
{
    th_traced *o = &t->objects[object];
    if (o->signals == 0)
        return;
    if (!o->is_listed)
        t->changed[t->n_changed++] = object;
    o->is_listed = true;
    o->changed |= signals & o->written;
}

void th_trace_set_tiles(th_trace *t, int32_t accel, th_tile_state tiles)
{
    const unsigned tile_signals = TH_BIT(TH_N_SIGNALS) - TH_BIT(TH_FIRST_TILE_SIGNAL);
    int32_t object = t->system->accel_node[accel];
    th_traced *o = &t->objects[object];
    if ((o->tiles ^ tiles) & o->tile_bits)
        th_trace_change(t, object, tile_signals);
    o->tiles = tiles;
}

static void write_variable(th_trace *t, th_variable *v, bool *has_tick)
{
    int64_t value = th_value_of(t, v);
    if (value == v->value)
        return;
    v->before = v->value;
    v->value = value;
    if (!*has_tick && t->type->tick)
        t->type->tick(t, t->at.tick);
    *has_tick = true;
    t->type->value(t, v, t->at.tick);
}

void th_trace_write_changes(th_trace *t)
{
    bool has_tick = false;
    for (int32_t i = 0; i < t->n_changed; i++) {
        th_traced *o = &t->objects[t->changed[i]];
        for (unsigned left = o->changed; left; left &= left - 1) {
            int signal = __builtin_ctz(left);
            write_variable(t, &t->variables[o->first + o->place[signal]], &has_tick);
        }
        o->changed = 0;
        o->is_listed = false;
    }
    t->n_changed = 0;
}

void th_trace_drop_changes(th_trace *t)
{
    for (int32_t i = 0; i < t->n_variables; i++) {
        t->variables[i].before = 0;
        t->variables[i].value = th_value_of(t, &t->variables[i]);
    }
    for (int32_t i = 0; i < t->n_changed; i++) {
        t->objects[t->changed[i]].changed = 0;
        t->objects[t->changed[i]].is_listed = false;
    }
    t->n_changed = 0;
}
