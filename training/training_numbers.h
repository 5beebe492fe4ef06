/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_numbers.h - the fitted numbers of the model of training steps, and what each means. */
#ifndef TH_TRAINING_TRAINING_NUMBERS_H
#define TH_TRAINING_TRAINING_NUMBERS_H

typedef enum {
    TH_NUMBER_CLOCK,
    TH_NUMBER_ATTENTION,
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

#endif
