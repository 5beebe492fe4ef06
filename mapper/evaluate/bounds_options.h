/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_options.h - private to the bounds: all strategies of a layer, as the chain of layers sees
 * them. */
#ifndef TH_MAPPER_EVALUATE_BOUNDS_OPTIONS_H
#define TH_MAPPER_EVALUATE_BOUNDS_OPTIONS_H
#include "mapper/evaluate/bounds_cuts.h"
#include "mapper/evaluate/bounds_travel.h"

/* Of one input of a layer by a strategy. */
typedef struct th_option_need {
    int32_t cut[TH_TENSOR_DIMS]; /* among those of the layer, by axis */
    int32_t copies;              /* positions that need the same */
    bool is_product;             /* the needs of positions are all combinations of their ranges */
    bool is_sure;                /* every chunk of every position needs some */
} th_option_need;

/* One strategy. Times in ps, each the least wherever it runs. */
typedef struct th_option {
    double task;           /* of any chunk (without chunks: position) */
    double least, most;    /* of the quickest and the slowest position, all its chunks together */
    double work;           /* of all positions, the sums of partial results included */
    double exchange;       /* from the last computed chunk to the last sum of partial results */
    double first_exchange; /* ... from the first one to the first sum */
    double arrival;        /* of external inputs, at any chunk */
    double all_arrivals;   /* ... at all chunks of any position */
    double departure;      /* of any chunk's output, to the host */
    int32_t chunks, group;
    bool reads; /* every chunk reads some input */
} th_option;

/* Strategies whose positions hold the same pieces. */
typedef struct th_held_group {
    int32_t cut[TH_TENSOR_DIMS];
    int32_t copies; /* positions that hold a piece */
} th_held_group;

typedef struct th_options {
    int n, n_inputs, n_groups;
    th_option *item;
    th_option_need *need; /* n_inputs of each item */
    th_held_group *group;
    th_cut_list held[TH_TENSOR_DIMS], *needed; /* by axis; by input and axis */
    size_t item_capacity, need_capacity, group_capacity;
    bool has_cuts; /* else needs and groups say nothing */
} th_options;

/* Of micro-batches of batch images. 0, or -1: memory is out. */
int th_options_list(th_options *o, th_bound_finder *f, const th_travel *t, int layer,
                    int32_t batch);
void th_options_clear(th_options *o);

#endif
