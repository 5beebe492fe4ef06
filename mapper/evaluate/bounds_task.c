/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_task.c - the least time of one task.
 *
 * least: from sums over its schedule: the array's cycles, the loads before the first and the store
 * after the last of them, and the bytes that each port and the DRAM must move.
 * pipelined: step by step, with the slots of the buffers; the loads of a step share the DRAM, and
 * stores have it for themselves. The time of an undisturbed run would be tighter, but is no bound:
 * with fair sharing of the DRAM a task may end sooner when another engine is delayed. Proofs:
 * docs/models/bounds.md. */
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

/* Nothing is computed before the first operands are in, and the last tile is stored after all. */
static double array_ps(const th_schedule *s, const th_port *port, const th_schedule_totals *t)
{
    const th_step *first = &s->step[mask_of_first_step(s)];
    double input = request_ps(s, port, TH_ENGINE_INPUT,
                              (double)(first->input_bytes + s->first_row_extra_bytes));
    double weights = request_ps(s, port, TH_ENGINE_WEIGHT, (double)first->weight_bytes);
    double stored =
        request_ps(s, port, TH_ENGINE_OUTPUT, (double)s->output_bytes[TH_N_STORE_KINDS - 1]);
    return fmax(input, weights) + (double)th_cycles_ps(t->cycles, s->hz) + stored;
}

static double least_ps(const th_schedule *s, const th_port *port, const th_schedule_totals *t)
{
    const double moved[TH_N_ENGINES] = {(double)t->input_bytes, (double)t->weight_bytes,
                                        (double)t->partial_bytes, (double)t->output_bytes};
    double rounding = rounding_of(t);
    double least = array_ps(s, port, t);
    if (port->bits_per_s != TH_UNLIMITED)
        least = fmax(least, bytes_moved(t) * 8 * (double)TH_PS_PER_S / (double)port->bits_per_s -
                                rounding);
    for (int e = 0; e < TH_N_ENGINES; e++)
        least = fmax(least, moved[e] * (double)TH_PS_PER_S / bytes_per_s(s, port, e) - rounding);
    return least;
}

double th_task_least_ps(const th_schedule *s, const th_port *port)
{
    th_schedule_totals t = th_schedule_sum(s);
    return least_ps(s, port, &t);
}

double th_task_least_bytes(const th_schedule *s, const th_port *port)
{
    th_schedule_totals t = th_schedule_sum(s);
    double bytes = bytes_moved(&t), short_ps = rounding_of(&t);
    if (port->bits_per_s != TH_UNLIMITED)
        bytes -= short_ps * (double)port->bits_per_s / 8 / (double)TH_PS_PER_S;
    return fmax(bytes, 0);
}

/* --- step by step ----------------------------------------------------------------------------- */

enum { STEPS_MAX = 20000 }; /* of longer schedules the sums are the bound: a fraction of a ms */
enum { INPUT, WEIGHT, PARTIAL, N_LOADS };

/* Times in ps since the start. computed, stored: of the last slots_in steps and slots_out tiles,
 * by number modulo slots. */
typedef struct walk {
    const th_schedule *s;
    uint8_t order[TH_N_LOOPS]; /* outermost first, C innermost */
    int32_t index[TH_N_LOOPS];
    int64_t step, tile;
    double dram_ps_per_byte, port_ps_per_byte[TH_N_ENGINES], latency;
    double loaded[N_LOADS], all_loaded;
    double computed[TH_SLOTS_MAX], computed_last;
    double stored[TH_SLOTS_MAX], stored_last;
} walk;

static void start_walk(walk *k, const th_schedule *s, const th_port *port)
{
    int n = 0;
    *k = (walk){.s = s, .latency = (double)port->latency_ps};
    for (int place = 0; place < TH_N_LOOPS; place++)
        if (th_schedule_loop(s, place) != TH_LOOP_C)
            k->order[n++] = (uint8_t)th_schedule_loop(s, place);
    k->order[n] = TH_LOOP_C;
    if (port->bits_per_s != TH_UNLIMITED)
        k->dram_ps_per_byte = 8 * (double)TH_PS_PER_S / (double)port->bits_per_s;
    for (int e = 0; e < TH_N_ENGINES; e++)
        k->port_ps_per_byte[e] = (double)TH_PS_PER_S / bytes_per_s(s, port, e);
}

static unsigned mask_of_step(const walk *k)
{
    unsigned mask = 0;
    for (int loop = TH_LOOP_H; loop <= TH_LOOP_C; loop++)
        mask |= (unsigned)(k->index[loop] == k->s->count[loop] - 1) << (loop - TH_LOOP_H);
    return mask;
}

static bool is_on_chip(const walk *k, unsigned stays)
{
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        if ((stays >> loop & 1u) && k->index[loop] != 0)
            return true;
    return false;
}

/* The operands of the step are there: each through its port, all of them through the DRAM. */
static double load(walk *k, unsigned mask)
{
    const th_schedule *s = k->s;
    double bytes[N_LOADS] = {0}, all = 0, there = 0,
           ready = k->latency + (k->step < s->slots_in ? 0 : k->computed[k->step % s->slots_in]);
    if (!is_on_chip(k, s->input_stays))
        bytes[INPUT] = (double)(s->step[mask].input_bytes +
                                (k->index[TH_LOOP_H] == 0 ? s->first_row_extra_bytes : 0));
    if (!is_on_chip(k, s->weight_stays))
        bytes[WEIGHT] = (double)s->step[mask].weight_bytes;
    if (s->reads_sums && k->index[TH_LOOP_C] == 0)
        bytes[PARTIAL] = (double)s->output_bytes[mask & (TH_N_STORE_KINDS - 1)];
    for (int e = 0; e < N_LOADS; e++) {
        all += bytes[e];
        if (bytes[e] > 0)
            k->loaded[e] = fmax(k->loaded[e], ready) + bytes[e] * k->port_ps_per_byte[e];
        there = fmax(there, k->loaded[e]);
    }
    if (all > 0)
        k->all_loaded = fmax(k->all_loaded, ready) + all * k->dram_ps_per_byte;
    return fmax(there, k->all_loaded);
}

static void store(walk *k, unsigned mask)
{
    double bytes = (double)k->s->output_bytes[mask & (TH_N_STORE_KINDS - 1)];
    if (bytes > 0)
        k->stored_last = fmax(k->stored_last, k->computed_last + k->latency) +
                         bytes * k->port_ps_per_byte[TH_ENGINE_OUTPUT];
    k->stored[k->tile++ % k->s->slots_out] = k->stored_last;
}

static void compute(walk *k, unsigned mask, double loaded)
{
    const th_schedule *s = k->s;
    double begin = fmax(k->computed_last, loaded);
    if (k->index[TH_LOOP_C] == 0 && k->tile >= s->slots_out)
        begin = fmax(begin, k->stored[k->tile % s->slots_out]);
    int64_t cycles = s->step[mask].cycles + (k->step == 0 ? s->start_cycles : 0);
    k->computed_last = begin + (double)th_cycles_ps(cycles, s->hz);
    k->computed[k->step++ % s->slots_in] = k->computed_last;
}

/* False: that was the last step. */
static bool advance(walk *k)
{
    int place = TH_N_LOOPS - 1;
    while (place >= 0 && k->index[k->order[place]] == k->s->count[k->order[place]] - 1)
        k->index[k->order[place--]] = 0;
    if (place < 0)
        return false;
    k->index[k->order[place]]++;
    return true;
}

double th_task_pipelined_ps(const th_schedule *s, const th_port *port)
{
    th_schedule_totals t = th_schedule_sum(s);
    double least = least_ps(s, port, &t);
    walk k;
    if (t.n_steps > STEPS_MAX || th_schedule_revisits(s))
        return least;
    start_walk(&k, s, port);
    do {
        unsigned mask = mask_of_step(&k);
        compute(&k, mask, load(&k, mask));
        if (mask & TH_LAST_C)
            store(&k, mask);
    } while (advance(&k));
    return fmax(least, fmax(k.computed_last, k.stored_last) - rounding_of(&t));
}
