/* SPDX-License-Identifier: GPL-3.0-or-later */
/* systolic.h - private to the systolic array: a layer as matrix products, and how its operands lie.
 *   layer_of (systolic.c) -> th_systolic_plan (systolic_plan.c), which asks
 *   systolic_tiles.c for elements and bytes */
#ifndef TH_SIM_DESIGN_SYSTOLIC_H
#define TH_SIM_DESIGN_SYSTOLIC_H
#include "sim/design/design.h"

typedef enum { TH_SYSTOLIC_OS, TH_SYSTOLIC_WS, TH_SYSTOLIC_IS } th_systolic_flow;

/* Equal matrix products M x N x K, one after the other: loop B counts them, H walks M, K walks N, C
 * walks the inner dimension, W does nothing. */
typedef struct th_systolic_layer {
    const th_shard *shard;
    th_systolic_flow flow;
    int rows, cols;
    int64_t extent[TH_N_LOOPS];
    int64_t images;      /* whose pixels are the M of one product */
    bool shares_weights; /* all products have the same */
    int64_t inner;       /* inner dimension as if dense; extent[TH_LOOP_C] are kept */
    int64_t fill;        /* cycles of a fold beyond those of its stream */
    bool overlaps, may_refill;
    int64_t hz;
    int64_t buffer_bytes[TH_N_TENSORS], all_bytes; /* capacities; INT64_MAX: no limit */
    int32_t slots;
    int64_t sum_bits;
    int64_t port_bits_per_s[TH_N_ENGINES];
} th_systolic_layer;

/* One way of running it: a tile is a fold, or a piece of a fold's stream. */
typedef struct th_systolic_way {
    uint8_t order[TH_N_LOOPS];
    int64_t tile[TH_N_LOOPS];       /* at most the extent */
    bool refills;                   /* every step is a fold of its own: a run of the stream */
    bool input_stays, weight_stays; /* through the loop that they do not depend on */
    bool weights_stay_for_good;     /* through all products: the buffer holds all of them */
    bool sums_stay;
    bool keeps_rows;    /* input rows that the next block of M reads again stay on chip */
    bool keeps_channel; /* likewise the channel that two blocks of the inner dimension share */
} th_systolic_way;

/* The loop along which a fold streams. */
int th_systolic_stream(th_systolic_flow flow);
int64_t th_systolic_count(const th_systolic_layer *l, const th_systolic_way *w, int loop);

/* Everything of *out that bytes and cycles depend on. */
void th_systolic_fill_schedule(const th_systolic_layer *l, const th_systolic_way *w,
                               th_schedule *out);
/* Bytes on chip that a way needs of each buffer, all slots; reads *s as filled from it. */
void th_systolic_needs(const th_systolic_layer *l, const th_systolic_way *w, const th_schedule *s,
                       int64_t needs[TH_N_TENSORS]);

/* The quickest way that the buffers allow. 0, or -1 when not even one element at a time fits. */
int th_systolic_plan(const th_systolic_layer *l, const th_port *memory, th_schedule *out,
                     th_error *err);

#endif
