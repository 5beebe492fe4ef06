/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_task.c - the least time of one task.
 *
 * From sums over its schedule: the array's cycles, the loads before the first and the store after
 * the last of them, and the bytes that each port and the DRAM must move. The time of an
 * undisturbed run would be tighter, but is no bound: with fair sharing of the DRAM a task may end
 * sooner when another engine is delayed. Proof: docs/models/bounds.md. */
#include <config.h>

#include "mapper/evaluate/bounds_task.h"

#include <math.h>

/* Each request may be a thousandth of a picosecond short (sim/kernel/fluid_time.h). */
static const double ROUNDING_PS = 1e-3;

/* Input, weights and partial sums of all steps, and all stores. */
static double rounding_of(const th_schedule_totals *t)
{
    return ROUNDING_PS * (3 * (double)t->n_steps + (double)t->n_stores);
}

static double bytes_per_s(const th_schedule *s, const th_port *port, int engine)
{
    double dram = port->bits_per_s == TH_UNLIMITED ? INFINITY : (double)port->bits_per_s / 8;
    double own = s->port_bits_per_s[engine] > 0 ? (double)s->port_bits_per_s[engine] / 8 : INFINITY;
    return own < dram ? own : dram;
}

/* The time of a single request of that size. */
static double request_ps(const th_schedule *s, const th_port *port, int engine, double bytes)
{
    if (bytes <= 0)
        return 0;
    double ps = bytes * (double)TH_PS_PER_S / bytes_per_s(s, port, engine) - ROUNDING_PS;
    return (double)port->latency_ps + (ps > 0 ? ps : 0);
}

static unsigned mask_of_first_step(const th_schedule *s)
{
    return (s->count[TH_LOOP_H] == 1 ? TH_LAST_H : 0u) |
           (s->count[TH_LOOP_W] == 1 ? TH_LAST_W : 0u) |
           (s->count[TH_LOOP_K] == 1 ? TH_LAST_K : 0u) |
           (s->count[TH_LOOP_C] == 1 ? TH_LAST_C : 0u);
}

static double bytes_moved(const th_schedule_totals *t)
{
    return (double)t->input_bytes + (double)t->partial_bytes + (double)t->output_bytes +
           (double)t->weight_bytes;
}

/* Of the first operands, which share the DRAM. */
static double first_loads_ps(const th_schedule *s, const th_port *port)
{
    const th_step *first = &s->step[mask_of_first_step(s)];
    double bytes[2] = {(double)(first->input_bytes + s->first_row_extra_bytes),
                       (double)first->weight_bytes};
    double most = fmax(request_ps(s, port, TH_ENGINE_INPUT, bytes[0]),
                       request_ps(s, port, TH_ENGINE_WEIGHT, bytes[1]));
    double both = fmax(bytes[0], 0) + bytes[1];
    if (port->bits_per_s == TH_UNLIMITED || both <= 0)
        return most;
    double moves = both * 8 * (double)TH_PS_PER_S / (double)port->bits_per_s - 2 * ROUNDING_PS;
    return fmax(most, (double)port->latency_ps + fmax(moves, 0));
}

/* Nothing is computed before the first operands are in, and the last tile is stored after all. */
static double array_ps(const th_schedule *s, const th_port *port, const th_schedule_totals *t)
{
    double stored =
        request_ps(s, port, TH_ENGINE_OUTPUT, (double)s->output_bytes[TH_N_STORE_KINDS - 1]);
    return first_loads_ps(s, port) + (double)th_cycles_ps(t->cycles, s->hz) + stored;
}

double th_task_least_ps(const th_schedule *s, const th_port *port)
{
    const th_schedule_totals t = th_schedule_sum(s);
    const double moved[TH_N_ENGINES] = {(double)t.input_bytes, (double)t.weight_bytes,
                                        (double)t.partial_bytes, (double)t.output_bytes};
    double rounding = rounding_of(&t);
    double least = array_ps(s, port, &t);
    if (port->bits_per_s != TH_UNLIMITED)
        least = fmax(least, bytes_moved(&t) * 8 * (double)TH_PS_PER_S / (double)port->bits_per_s -
                                rounding);
    for (int e = 0; e < TH_N_ENGINES; e++)
        least = fmax(least, moved[e] * (double)TH_PS_PER_S / bytes_per_s(s, port, e) - rounding);
    return least;
}

double th_task_least_bytes(const th_schedule *s, const th_port *port)
{
    th_schedule_totals t = th_schedule_sum(s);
    double bytes = bytes_moved(&t), short_ps = rounding_of(&t);
    if (port->bits_per_s != TH_UNLIMITED)
        bytes -= short_ps * (double)port->bits_per_s / 8 / (double)TH_PS_PER_S;
    return fmax(bytes, 0);
}
