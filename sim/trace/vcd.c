/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vcd.c - value change dump (IEEE Std 1364-2005, section 18.2), for GTKWave and similar viewers.
 *
 * Objects are scopes within the scope of their class, signals are variables in them: accel.3.busy.
 * Numbers are integers, bits are wires, and values with names (state, layer, array) have the type
 * `string` that GTKWave adds to the standard: "sNAME ID". Times are multiples of the resolution,
 * which is the timescale. */
#include <config.h>

#include "sim/trace/trace_state.h"

enum { FIRST_ID = '!', N_IDS = '~' - '!' + 1, INTEGER_BITS = 32 };

/* 0 -> "!", 94 -> "!!" ...: the shortest unused one. */
static void make_id(th_variable *v, int32_t number)
{
    int n = 0;
    do {
        v->id[n++] = (char)(FIRST_ID + number % N_IDS);
        number = number / N_IDS - 1;
    } while (number >= 0);
    v->id_length = n;
}

static void write_name(th_out *o, const char *name)
{
    for (; *name; name++)
        th_out_char(o, th_vcd_letter(*name));
}

static void write_timescale(th_out *o, th_time resolution_ps)
{
    static const char *const units[] = {"ps", "ns", "us", "ms", "s"};
    int unit = 0;
    for (; resolution_ps >= 1000; resolution_ps /= 1000)
        unit++;
    th_out_text(o, "$timescale ");
    th_out_number(o, resolution_ps);
    th_out_text(o, units[unit]);
    th_out_text(o, " $end\n");
}

static void write_scope(th_out *o, const char *name)
{
    th_out_text(o, "$scope module ");
    write_name(o, name);
    th_out_text(o, " $end\n");
}

static void write_variable(th_out *o, const th_variable *v)
{
    th_signal s = (th_signal)v->signal;
    th_out_text(o, th_signal_is_text(s)  ? "$var string 1 "
                   : th_signal_is_bit(s) ? "$var wire 1 "
                                         : "$var integer 32 ");
    th_out_bytes(o, v->id, (size_t)v->id_length);
    th_out_char(o, ' ');
    th_out_text(o, th_signal_name(v->signal));
    th_out_text(o, " $end\n");
}

/* One scope per class: accelerators may stand among other nodes. */
static void write_class(th_trace *t, const char *class)
{
    bool is_open = false;
    int32_t last = -1;
    for (int32_t i = 0; i < t->n_variables; i++) {
        const th_variable *v = &t->variables[i];
        if (strcmp(th_traced_class_name(t, v->object), class) != 0)
            continue;
        if (!is_open)
            write_scope(&t->out, class);
        is_open = true;
        if (v->object != last) {
            th_out_text(&t->out, last >= 0 ? "$upscope $end\n" : "");
            write_scope(&t->out, th_traced_name(t, v->object));
        }
        last = v->object;
        write_variable(&t->out, v);
    }
    if (is_open)
        th_out_text(&t->out, "$upscope $end\n$upscope $end\n");
}

static char *add_bits(char *at, int64_t value)
{
    uint32_t bits = (uint32_t)value;
    int n = 1;
    while (n < INTEGER_BITS && bits >> n)
        n++;
    *at++ = 'b';
    while (n > 0)
        *at++ = (char)('0' + (bits >> --n & 1u));
    *at++ = ' ';
    return at;
}

static void write_text(th_out *o, const char *text)
{
    th_out_char(o, 's');
    write_name(o, *text ? text : "-");
    th_out_char(o, ' ');
}

/* All of a line but its text fits into the reserve. */
static void value(th_trace *t, th_variable *v, th_time now)
{
    th_signal s = (th_signal)v->signal;
    (void)now;
    if (th_signal_is_text(s))
        write_text(&t->out, th_value_text(t, v));
    char *to = th_out_reserve(&t->out), *at = to;
    if (th_signal_is_bit(s))
        *at++ = v->value ? '1' : '0';
    else if (!th_signal_is_text(s))
        at = add_bits(at, v->value);
    memcpy(at, v->id, sizeof v->id);
    at += v->id_length;
    *at++ = '\n';
    t->out.n += (size_t)(at - to);
}

static void tick(th_trace *t, th_time now)
{
    th_out_char(&t->out, '#');
    th_out_number(&t->out, now / t->options.resolution_ps);
    th_out_char(&t->out, '\n');
}

static void begin(th_trace *t, th_time now)
{
    static const char *const classes[] = {"accel", "node", "link"};
    for (int32_t i = 0; i < t->n_variables; i++)
        make_id(&t->variables[i], i);
    th_out_text(&t->out, "$version Tharsis " PACKAGE_VERSION " $end\n");
    write_timescale(&t->out, t->options.resolution_ps);
    for (int k = 0; k < 3; k++)
        write_class(t, classes[k]);
    th_out_text(&t->out, "$enddefinitions $end\n");
    tick(t, now);
    th_out_text(&t->out, "$dumpvars\n");
    for (int32_t i = 0; i < t->n_variables; i++)
        value(t, &t->variables[i], now);
    th_out_text(&t->out, "$end\n");
}

/* Lets viewers show how long the last values held. */
static void end(th_trace *t, th_time now)
{
    tick(t, now);
}

const th_trace_type th_trace_vcd = {
    .name = "vcd",
    .finest_ps = 1,
    .begin = begin,
    .tick = tick,
    .value = value,
    .end = end,
    .write_beside = th_gtkw_write,
};
