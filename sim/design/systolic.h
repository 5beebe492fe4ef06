/* SPDX-License-Identifier: GPL-3.0-or-later */
/* systolic.h - private to the systolic array: a layer as matrix products, and candidate schedules.
 *   layer_of (systolic.c) -> th_systolic_plan (systolic_plan.c), which calls
 *   systolic_tiles.c for elements and bytes */
#ifndef TH_SIM_DESIGN_SYSTOLIC_H
#define TH_SIM_DESIGN_SYSTOLIC_H
#include "sim/design/design.h"

typedef enum { TH_SYSTOLIC_OS, TH_SYSTOLIC_WS, TH_SYSTOLIC_IS } th_systolic_flow;

/* Equal matrix products M x N x K, one after the other. Loop B counts the products, H runs over M,
 * K over N, C over the inner dimension; W has one iteration. */
typedef struct th_systolic_layer {
    const th_shard *shard;
    th_systolic_flow flow;
    int rows, cols;
    int64_t extent[TH_N_LOOPS];
    int64_t images;      /* whose pixels form the M of one product */
    bool shares_weights; /* all products have the same weights */
    int64_t
        inner;    /* inner dimension without sparsity; extent[TH_LOOP_C] counts the elements kept */
    int64_t fill; /* cycles of a fold in addition to those of its stream */
    bool overlaps, may_refill;
    int64_t hz;
    int64_t buffer_bytes[TH_N_TENSORS], all_bytes; /* capacities; INT64_MAX: no limit */
    int32_t slots;
    int64_t sum_bits;
    int64_t port_bits_per_s[TH_N_ENGINES];
} th_systolic_layer;

/* A candidate schedule; a tile is a fold, or a piece of the stream of a fold. */
typedef struct th_systolic_candidate {
    uint8_t order[TH_N_LOOPS];
    int64_t tile[TH_N_LOOPS];       /* at most the extent */
    bool refills;                   /* every step is a fold of its own (a run of the stream) */
    bool input_stays, weight_stays; /* through the loop that does not change the operand */
    bool all_weights_stay;          /* through all products: the buffer holds all weights */
    bool sums_stay;
    bool keeps_rows;    /* input rows that the next block of M reads again stay on chip */
    bool keeps_channel; /* the channel that two blocks of the inner dimension share stays on chip */
} th_systolic_candidate;

/* The loop over the streamed dimension of a fold. */
int th_systolic_stream(th_systolic_flow flow);
int64_t th_systolic_count(const th_systolic_layer *l, const th_systolic_candidate *w, int loop);

/* Sets the fields of *out that bytes and cycles depend on. */
void th_systolic_fill_schedule(const th_systolic_layer *l, const th_systolic_candidate *w,
                               th_schedule *out);
/* The bytes of each buffer that a candidate needs, for all slots; *s is filled from the same
 * candidate. */
void th_systolic_buffer_bytes(const th_systolic_layer *l, const th_systolic_candidate *w,
                              const th_schedule *s, int64_t needs[TH_N_TENSORS]);

/* The fastest candidate that fits the buffers. 0, or -1 if not even one element at a time fits. */
int th_systolic_plan(const th_systolic_layer *l, const th_port *memory, th_schedule *out,
                     th_error *err);

#endif
