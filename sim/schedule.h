/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule.h - what a design answers for one layer shard: the sequence of tiles.
 *
 * Five loops, outermost first: B (batch and groups), H, W, K, C. One iteration of the innermost
 * loop is a step: it loads input and weight bytes and computes for some cycles. One iteration of
 * all loops but C is an output tile: its last step is followed by a store. Only the last iteration
 * of H, W, K, C may be smaller than the others, so sixteen kinds of step and eight kinds of store
 * say it all, without a list. */
#ifndef TH_SIM_SCHEDULE_H
#define TH_SIM_SCHEDULE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/units.h"
#include "workloads/layer.h"

/* One accelerator's part of a layer: the memo's key, so it is plain, padded-free and compared by
 * bytes. */
typedef struct th_shard {
    int32_t kind;           /* th_layer_kind */
    int32_t dim[TH_N_DIMS]; /* extents of the part; C counts the input channels that it reads */
    int32_t groups;         /* that the part touches; divides neither K nor C necessarily evenly */
    int32_t in_h, in_w;     /* rows and columns of the input that it reads, padding excluded */
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t element_bytes;
    int32_t n_operands;     /* inputs: 1, more for add */
    int32_t adds_to_output; /* 1: reads back partial sums that it goes on with */
} th_shard;

enum { TH_LOOP_B, TH_LOOP_H, TH_LOOP_W, TH_LOOP_K, TH_LOOP_C, TH_N_LOOPS };
/* Bit of a loop in the masks below; B has none, its iterations are alike. */
enum {
    TH_LAST_H = 1,
    TH_LAST_W = 2,
    TH_LAST_K = 4,
    TH_LAST_C = 8,
    TH_N_STEP_KINDS = 16,
    TH_N_STORE_KINDS = 8
};

typedef struct th_step {
    int64_t input_bytes, weight_bytes, cycles;
} th_step;

/* The units that move data; each has a port of its own and shares the DRAM with the others. */
typedef enum { TH_ENGINE_INPUT, TH_ENGINE_WEIGHT, TH_ENGINE_OUTPUT, TH_N_ENGINES } th_engine_kind;

typedef struct th_schedule {
    int64_t hz;                    /* clock of the array, for all cycles */
    int32_t count[TH_N_LOOPS];     /* iterations, all >= 1 */
    th_step step[TH_N_STEP_KINDS]; /* by the set of loops that are in their last iteration */
    int64_t output_bytes[TH_N_STORE_KINDS];
    int64_t first_row_extra_bytes; /* more input in the first H iteration (line buffers fill) */
    /* Loops (bit 1 << TH_LOOP_x) through which an operand stays on chip: it is loaded only while
     * their indices are all 0. */
    uint8_t input_stays, weight_stays;
    int64_t start_cycles;                  /* once, before the first step computes (array fill) */
    int64_t port_bits_per_s[TH_N_ENGINES]; /* 0: as fast as the DRAM */
    int32_t slots_in, slots_out; /* buffers for (input, weight) pairs and for output tiles */
} th_schedule;

enum { TH_SLOTS_MAX = 8 };

/* Sums over all steps. */
typedef struct th_schedule_totals {
    int64_t n_steps, n_stores, cycles, input_bytes, weight_bytes, output_bytes;
} th_schedule_totals;
th_schedule_totals th_schedule_sum(const th_schedule *s);

/* What a schedule of equal tiles (no remainders, nothing stays on chip) takes when the memory is faster
 * than the ports, in cycles (FPGA'15; docs/models/tiled.md). With P tiles of q steps, L1 = max(t_I,
 * t_W, t_C):
 *   published   P max(q L1, t_O), neither fill nor drain
 *   two_slot    that + min(max(t_I, t_W), t_C) + min(t_O, q L1): what the pipeline gives with two slots */
typedef struct th_closed_form {
    double published_cycles, two_slot_cycles;
} th_closed_form;
th_closed_form th_schedule_closed_form(const th_schedule *s);

#endif
