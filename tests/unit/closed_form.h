/* SPDX-License-Identifier: GPL-3.0-or-later */
/* closed_form.h - the cycles of a schedule of equal tiles, by equations, without a pipeline. */
#ifndef TH_TESTS_UNIT_CLOSED_FORM_H
#define TH_TESTS_UNIT_CLOSED_FORM_H
#include "base/min_max.h"
#include "sim/pipeline/schedule.h"

/* Closed form of the cycles of a schedule of equal tiles (no remainders, nothing stays on chip)
 * whose memory is faster than its ports (FPGA'15; docs/models/tiled.md). P tiles of q steps, L1 =
 * max(t_I, t_W, t_C):
 *   published   P max(q L1, t_O), without fill and drain
 *   two_slot    that + min(max(t_I, t_W), t_C) + min(t_O, q L1): the pipeline with two slots */
typedef struct th_closed_form {
    double published_cycles, two_slot_cycles;
} th_closed_form;

/* Cycles that bytes take through the port of engine e. */
static inline double port_cycles(const th_schedule *s, th_engine_kind e, int64_t bytes)
{
    int64_t bits_per_s = s->port_bits_per_s[e];
    return bits_per_s > 0 ? (double)bytes * 8 * (double)s->hz / (double)bits_per_s : 0;
}

static inline th_closed_form th_schedule_closed_form(const th_schedule *s)
{
    double t_i = port_cycles(s, TH_ENGINE_INPUT, s->step[0].input_bytes);
    double t_w = port_cycles(s, TH_ENGINE_WEIGHT, s->step[0].weight_bytes);
    double t_o = port_cycles(s, TH_ENGINE_OUTPUT, s->output_bytes[0]);
    double t_c = (double)s->step[0].cycles, t_l = th_max(t_i, t_w);
    double per_tile = s->count[TH_LOOP_C] * th_max(t_l, t_c), tiles = s->count[TH_LOOP_B];
    for (int loop = TH_LOOP_H; loop <= TH_LOOP_K; loop++)
        tiles *= s->count[loop];
    double published = tiles * th_max(per_tile, t_o);
    return (th_closed_form){published, published + th_min(t_l, t_c) + th_min(t_o, per_tile)};
}

#endif
