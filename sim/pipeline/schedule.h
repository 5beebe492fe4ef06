/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule.h - the sequence of tiles into which a design cuts a layer shard.
 *
 * Five loops: B (batch and groups), H, W, K, C, in an order that the design chooses. One iteration
 * of all five is a step: it loads input and weight bytes and computes for some cycles. The steps
 * with the same B, H, W, K and every C work on one output tile. Where C is the innermost loop (of
 * more than one iteration) they follow each other, and the last is followed by a store. Where other
 * loops run inside C, every step is a visit to its tile: it reads back the tile's partial sums,
 * except on the first visit, and stores them, unless all of them stay on chip (sums_stay). Only the
 * last iteration of H, W, K, C may be smaller than the others, so sixteen kinds of step and eight
 * kinds of store describe the schedule without a list. */
#ifndef TH_SIM_PIPELINE_SCHEDULE_H
#define TH_SIM_PIPELINE_SCHEDULE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/units.h"
#include "workloads/layer.h"

/* One accelerator's part of a layer. A key of the compute-cost cache: plain, without padding,
 * compared by bytes. */
typedef struct th_shard {
    int32_t kind;           /* th_layer_kind */
    int32_t function;       /* th_function of elementwise and norm layers, else 0 */
    int32_t dim[TH_N_DIMS]; /* extents of the part; C: the input channels that it reads */
    int32_t groups;         /* that the part touches; need not divide K or C evenly */
    int32_t key_groups;     /* attention: heads of keys and values that it reads; else 0 */
    int32_t in_h, in_w;     /* rows and columns of the input that it reads, padding excluded */
    int32_t stride_h, stride_w;
    int32_t dilation_h, dilation_w;
    int32_t up_h, up_w;                /* stride of a transposed convolution, else 1 */
    int32_t precision[TH_N_TENSORS];   /* th_precision */
    int32_t density_ppm[TH_N_TENSORS]; /* parts per million that are not zero; 1000000: dense */
    int32_t sparse_n,
        sparse_m;       /* weights: at most n of m neighbours along C are not zero; 0: free */
    int32_t n_operands; /* inputs: 1; more for elementwise, concat, attention, a matmul of two */
    int32_t adds_to_output; /* 1: reads back partial sums and adds to them */
    int32_t has_bias;       /* 1: adds a bias, or a scale and shift that is folded into one */
    /* Transposed convolution: the pairs of an input and a kernel row (column) of this part, so that
     * parts add up to the layer; else 0. */
    int64_t products_h, products_w;
    int64_t scores; /* attention: pairs of a query and a key that it sees, of one head; else 0 */
} th_shard;

/* Bytes in DRAM of a number of elements of a tensor: a sparse tensor is compressed to its non-zero
 * elements and one bit per element (structured weights: log2 m bits per kept element). */
int64_t th_shard_bytes(const th_shard *s, th_tensor tensor, int64_t elements);
int64_t th_shard_macs(const th_shard *s); /* as if dense; 0: for the vector unit */
/* The wider of the precisions of inputs and weights. */
th_precision th_shard_mac_precision(const th_shard *s);
bool th_shard_is_for_arrays(const th_shard *s); /* else for the vector unit */
/* A matmul of two inputs: the weight engine loads the second one, and every image has its own. An
 * attention: the weight engine loads keys and values. */
bool th_shard_multiplies_activations(const th_shard *s);

enum { TH_LOOP_B, TH_LOOP_H, TH_LOOP_W, TH_LOOP_K, TH_LOOP_C, TH_N_LOOPS };
/* Bit of a loop in the masks below; iterations of B are all equal. */
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

/* The engines that move data; each has a port of its own and shares the DRAM. PARTIAL reads partial
 * sums back. */
typedef enum {
    TH_ENGINE_INPUT,
    TH_ENGINE_WEIGHT,
    TH_ENGINE_PARTIAL,
    TH_ENGINE_OUTPUT,
    TH_N_ENGINES
} th_engine_kind;

/* Elements that the array reads from and writes to its on-chip buffers in total. */
typedef struct th_accesses {
    int64_t input_reads, weight_reads, partial_reads, output_writes;
} th_accesses;

typedef struct th_schedule {
    int64_t hz;                    /* clock of the array, for all cycles */
    int32_t count[TH_N_LOOPS];     /* iterations, all >= 1 */
    uint8_t order[TH_N_LOOPS];     /* loops, outermost first; all 0 stands for B H W K C */
    th_step step[TH_N_STEP_KINDS]; /* by the set of loops in their last iteration */
    int64_t output_bytes[TH_N_STORE_KINDS];
    int64_t
        partial_bytes[TH_N_STORE_KINDS]; /* of the tile's partial sums, where they are spilled */
    int64_t
        first_row_extra_bytes; /* additional input in the first H iteration (line buffers fill) */
    /* Loops (bit 1 << TH_LOOP_x) through which an operand stays on chip: it is loaded only while
     * their indices are all 0. */
    uint8_t input_stays, weight_stays;
    bool sums_stay;       /* partial sums of all tiles inside the C loop stay on chip */
    bool reads_sums;      /* the first visit to a tile reads output_bytes: sums of another task */
    bool serial;          /* no loads while a finished tile is not stored yet */
    int64_t start_cycles; /* once, before the first step computes (array fill) */
    int64_t port_bits_per_s[TH_N_ENGINES]; /* 0: as fast as the DRAM */
    /* Contiguous bytes of a request; 0: the whole request. */
    int64_t run_bytes[TH_N_ENGINES];
    int32_t slots_in, slots_out; /* buffers for (input, weight) pairs and for output tiles */
    /* For reports only. */
    th_accesses accesses;
    double macs_per_cycle;              /* peak of the array; 0: unknown */
    int64_t buffer_bytes[TH_N_TENSORS]; /* on chip, all slots */
    const char *variant; /* static text: how the design runs it; NULL: the only way */
} th_schedule;

enum { TH_SLOTS_MAX = 8 };

/* Sums over all steps. */
typedef struct th_schedule_totals {
    int64_t n_steps, n_stores, cycles, input_bytes, weight_bytes, partial_bytes, output_bytes;
} th_schedule_totals;
th_schedule_totals th_schedule_sum(const th_schedule *s);

/* The loop at a place of the order, 0 the outermost. */
int th_schedule_loop(const th_schedule *s, int place);
/* Is a loop of more than one iteration inside C, so that every step is a visit? */
bool th_schedule_revisits(const th_schedule *s);

#endif
