/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_numbers.h - the fitted numbers of the model of training steps, each with what it means,
 * and the generations of accelerators that it distinguishes. */
#ifndef TH_TRAINING_TRAINING_NUMBERS_H
#define TH_TRAINING_TRAINING_NUMBERS_H
#include <stdbool.h>
#include <stdint.h>

typedef enum {
    TH_NUMBER_PRODUCTS_A100,
    TH_NUMBER_PRODUCTS_H100,
    TH_NUMBER_PRODUCTS_FP8,
    TH_NUMBER_PRODUCTS_TPU,
    TH_NUMBER_CLOCK_LIMITED,
    TH_NUMBER_ATTENTION,
    TH_NUMBER_ATTENTION_PORTABLE,
    TH_NUMBER_PASSES_FUSED,
    TH_NUMBER_PASSES_EAGER,
    TH_NUMBER_OVERLAP_COST,
    TH_NUMBER_OVERLAP_TENSOR,
    TH_NUMBER_HOST_KERNEL,
    TH_NUMBER_HOST_PYTHON,
    TH_NUMBER_HOST_GRAPH,
    TH_NUMBER_HOST_EXPERTS,
    TH_N_NUMBERS
} th_training_number;

enum { TH_NUMBER_MAX = 1000 };
typedef struct th_training_numbers {
    double of[TH_N_NUMBERS];
} th_training_numbers;

typedef struct th_number_meaning {
    const char *name; /* NULL ends the table */
    double shipped;
    const char *meaning;
} th_number_meaning;
extern const th_number_meaning th_number_meanings[TH_N_NUMBERS + 1];
th_training_numbers th_training_numbers_shipped(void);

/* What the name of a design tells of an accelerator. */
typedef struct th_generation {
    const char *prefix; /* of the name of its design; NULL: every other accelerator */
    th_training_number products;
    int32_t cores;                 /* that a wave of tiles fills; 0: no waves */
    double fp8_factor, fp4_factor; /* of the 16-bit peak; 0: no such products */
    bool is_limited;               /* in power, below the vendor's */
    bool is_measured;              /* are there measured steps that the model is held against? */
} th_generation;
const th_generation *th_generation_find(const char *design);

#endif
