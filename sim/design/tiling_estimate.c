/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tiling_estimate.c - estimates the time of a tiling in closed form; the equations are ours.
 *
 *   measure (a tile) -> estimate (an order, the data that stays)
 *   even + (uneven - even) / (slots - 1) + first loads + last store
 *   even    max(cycles, bytes of an engine / its port, all bytes / bandwidth)
 *   uneven  the same maximum, taken separately over steps that load different operands; a step that
 *           loads takes at least (latency + bytes + cycles) / slots; so does one that stores, with
 *           the slots of outputs; sums that stay are stored in the last iteration of C
 * An operand that stays is loaded in bursts, which the slots spread over few steps. Remainder tiles
 * count in proportion to their size. Not counted: bursts of stores. The estimate only ranks
 * tilings; the pipeline computes the times (tiling.c). */
#include <config.h>

#include "base/min_max.h"
#include "sim/design/tiles.h"
#include "sim/design/tiling_choice.h"

static const double BITS_PS = 8e12; /* bits of a byte, picoseconds of a second */

static double count_over(const int32_t *count, unsigned loops)
{
    double all = 1;
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        all *= loops >> loop & 1u ? count[loop] : 1;
    return all;
}

/* DRAM time per byte of a request relative to full bursts: partial bursts and short runs take
 * longer. */
static double dram_part(const th_port *memory, int64_t bytes, int64_t run)
{
    int64_t piece = run > 0 && run < bytes ? run : bytes, burst = memory->burst_bytes;
    if (piece <= 0)
        return 1;
    double with_bursts = burst > 1 ? (double)(th_ceil_div(piece, burst) * burst) : (double)piece;
    return with_bursts / (double)piece / th_port_efficiency(memory, piece);
}

static void measure_compute(const th_tiling_problem *f, const th_tile *full, th_tile_properties *m)
{
    double cycles = 0;
    for (unsigned mask = 0; mask < TH_N_STEP_KINDS; mask++) {
        double n = th_steps_of_kind(m->count, mask);
        if (n > 0) {
            th_tile tile = th_tile_at(f->t, f->s, full, mask);
            cycles += n * (double)f->t->cycles(f->s, &tile);
        }
    }
    m->steps = count_over(m->count, (1u << TH_N_LOOPS) - 1);
    m->compute_ps = cycles * (double)TH_PS_PER_S / (double)f->t->hz;
}

/* Bytes of all tiles of an operand, each once; the last tile of each loop counts in proportion. */
static double bytes_once(const th_tiling_problem *f, const th_tile_properties *m,
                         const th_tile *full, th_engine_kind e, unsigned changes)
{
    const th_tiling *t = f->t;
    th_tile last = th_tile_at(t, f->s, full, TH_N_STEP_KINDS - 1);
    const double size[] = {0, (double)m->largest.h, (double)m->largest.w, (double)m->largest.k,
                           (double)m->largest.c};
    double rest[] = {0, (double)last.h, (double)last.w, (double)last.k, (double)last.c};
    double all = m->count[TH_LOOP_B];
    if (!(changes >> TH_LOOP_B & 1u))
        all = 1;
    for (int loop = TH_LOOP_H; loop <= TH_LOOP_C; loop++)
        if (changes >> loop & 1u)
            all *= m->count[loop] - 1 + rest[loop] / size[loop];
    return all * m->tile_bytes[e];
}

th_tile_properties th_tile_properties_of(const th_tiling_problem *f, const th_tile *full)
{
    const th_tiling *t = f->t;
    const th_shard *s = f->s;
    static const th_tensor tensor_of[] = {TH_TENSOR_INPUT, TH_TENSOR_WEIGHT, TH_TENSOR_OUTPUT,
                                          TH_TENSOR_OUTPUT};
    th_schedule ports = {.hz = t->hz};
    th_tile_properties m;
    th_tile_counts(s, full, m.count);
    m.largest = th_tile_largest(t, s, full);
    measure_compute(f, full, &m);
    if (t->has_runs)
        th_tile_runs(t, s, &m.largest, &ports);
    th_set_ports(&ports, s, t->port);
    for (int e = 0; e < TH_N_ENGINES; e++) {
        unsigned changes = th_tensor_loops(s, tensor_of[e]);
        int64_t bytes = th_tile_bytes(t, s, &m.largest, (th_engine_kind)e);
        m.tile_bytes[e] = (double)bytes;
        m.tiles[e] = count_over(m.count, changes);
        m.bytes[e] = bytes_once(f, &m, full, (th_engine_kind)e, changes);
        m.dram_part[e] = dram_part(f->memory, bytes, ports.run_bytes[e]);
        m.bits_per_s[e] = (double)ports.port_bits_per_s[e];
    }
    for (int tensor = 0; tensor < TH_N_TENSORS; tensor++)
        m.held_bytes[tensor] = th_tile_held(t, s, &m.largest, (th_tensor)tensor);
    return m;
}

static double first_ps(const th_tiling_problem *f, const th_tile_properties *m, th_engine_kind e)
{
    double dram = (double)f->memory->bits_per_s / m->dram_part[e];
    double rate = m->bits_per_s[e] < dram ? m->bits_per_s[e] : dram;
    double ps = (double)f->memory->latency_ps + m->tile_bytes[e] * BITS_PS / rate;
    return m->tile_bytes[e] > 0 ? ps : 0;
}

/* How often each engine moves its tiles. */
static void find_passes(const th_tiling_problem *f, const th_tile_properties *m,
                        const th_tiling_choice *choice, bool revisits, double *passes)
{
    unsigned all = (1u << TH_N_LOOPS) - 1, input = th_tensor_loops(f->s, TH_TENSOR_INPUT),
             weight = th_tensor_loops(f->s, TH_TENSOR_WEIGHT);
    passes[TH_ENGINE_INPUT] = count_over(m->count, all & ~input & ~choice->input_stays);
    passes[TH_ENGINE_WEIGHT] = count_over(m->count, all & ~weight & ~choice->weight_stays);
    passes[TH_ENGINE_PARTIAL] = revisits && !choice->sums_stay ? m->count[TH_LOOP_C] - 1 : 0;
    passes[TH_ENGINE_OUTPUT] = 1;
}

/* The time of one load of an engine alone, in its port and in the DRAM. */
typedef struct {
    double port_ps, dram_ps;
} load_time;

static load_time time_of_load(const th_tiling_problem *f, const th_tile_properties *m, int e)
{
    double bytes = m->bytes[e] / m->tiles[e];
    return (load_time){bytes * BITS_PS / m->bits_per_s[e],
                       bytes * m->dram_part[e] * BITS_PS / (double)f->memory->bits_per_s};
}

/* What stores cost a step, on average: in the DRAM, and until a slot is free again. */
typedef struct {
    double dram_ps, slot_ps;
} store_time;

static store_time time_of_stores(const th_tiling_problem *f, const th_tile_properties *m,
                                 const double *passes)
{
    const int e = TH_ENGINE_OUTPUT;
    double spills = passes[TH_ENGINE_PARTIAL] / m->steps, stores = passes[e] / m->steps;
    double bytes = stores * m->bytes[e] + spills * m->bytes[TH_ENGINE_PARTIAL];
    double dram = bytes * m->dram_part[e] * BITS_PS / (double)f->memory->bits_per_s;
    double waits = (double)f->memory->latency_ps + m->compute_ps / m->steps;
    double port = th_max(dram, bytes * BITS_PS / m->bits_per_s[e]);
    return (store_time){dram, (port + (stores + spills) * m->tiles[e] * waits) / f->t->slots_out};
}

/* The time of a step that loads through the engines in the mask `loading`, if all steps around it
 * do. */
static double step_ps(const th_tiling_problem *f, const load_time *loads, unsigned loading,
                      double compute_ps, const store_time *store)
{
    double slots = f->t->slots_in, longest = th_max(compute_ps, store->slot_ps);
    double dram = store->dram_ps;
    for (int e = 0; e < TH_ENGINE_OUTPUT; e++) {
        if (!(loading >> e & 1u))
            continue;
        double waits = (double)f->memory->latency_ps + th_max(loads[e].port_ps, loads[e].dram_ps);
        dram += loads[e].dram_ps;
        longest = th_max(longest, th_max(loads[e].port_ps, (waits + compute_ps) / slots));
    }
    return th_max(longest, dram);
}

/* The time of all steps, grouped by the engines that load: loads come in bursts, which the slots
 * spread over few steps. */
static double steps_ps(const th_tiling_problem *f, const th_tile_properties *m,
                       const th_tiling_choice *choice, bool spills, bool late,
                       const store_time *store)
{
    load_time loads[TH_ENGINE_OUTPUT];
    double n_in = m->steps / count_over(m->count, choice->input_stays);
    double n_weight = m->steps / count_over(m->count, choice->weight_stays);
    double n_both = m->steps / count_over(m->count, choice->input_stays | choice->weight_stays);
    double n[] = {m->steps - n_in - n_weight + n_both, n_in - n_both, n_weight - n_both, n_both};
    /* Sums that stay through loops inside C are all stored in its last iteration. */
    double storing = late ? 1.0 / m->count[TH_LOOP_C] : 1;
    const store_time none = {0, 0}, then = {store->dram_ps / storing, store->slot_ps / storing};
    double reads = spills ? 1 - 1.0 / m->count[TH_LOOP_C] : 0;
    double compute = m->compute_ps / m->steps, all = 0;
    for (int e = 0; e < TH_ENGINE_OUTPUT; e++)
        loads[e] = time_of_load(f, m, e);
    for (unsigned set = 0; set < 4; set++) {
        if (n[set] <= 0)
            continue;
        all += n[set] * (1 - reads) * storing * step_ps(f, loads, set, compute, &then);
        all += n[set] * (1 - storing) * step_ps(f, loads, set, compute, &none);
        unsigned with_sums = set | 1u << TH_ENGINE_PARTIAL;
        if (reads > 0)
            all += n[set] * reads * step_ps(f, loads, with_sums, compute, &then);
    }
    return all;
}

th_tiling_candidate th_tiling_choice_estimate(const th_tiling_problem *f,
                                              const th_tile_properties *m,
                                              const th_tiling_choice *choice, bool revisits)
{
    double passes[TH_N_ENGINES], dram = 0, even = m->compute_ps, all = 0;
    find_passes(f, m, choice, revisits, passes);
    for (int e = 0; e < TH_N_ENGINES; e++) {
        double bytes = passes[e] * m->bytes[e];
        if (e == TH_ENGINE_OUTPUT)
            bytes += passes[TH_ENGINE_PARTIAL] * m->bytes[TH_ENGINE_PARTIAL];
        all += bytes;
        dram += bytes * m->dram_part[e];
        even = th_max(even, bytes * BITS_PS / m->bits_per_s[e]);
    }
    even = th_max(even, dram * BITS_PS / (double)f->memory->bits_per_s);
    const store_time store = time_of_stores(f, m, passes);
    double uneven = steps_ps(f, m, choice, passes[TH_ENGINE_PARTIAL] > 0,
                             revisits && choice->sums_stay, &store) -
                    even;
    double longest = even + th_max(uneven, 0) / (f->t->slots_in > 1 ? f->t->slots_in - 1 : 1);
    double fill = th_max(first_ps(f, m, TH_ENGINE_INPUT), first_ps(f, m, TH_ENGINE_WEIGHT));
    return (th_tiling_candidate){*choice, longest + fill + first_ps(f, m, TH_ENGINE_OUTPUT), all,
                                 m->steps};
}
