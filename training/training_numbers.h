/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_numbers.h - the fitted numbers of the model of training steps, what each means, and what
 * measured steps stand behind them. */
#ifndef TH_TRAINING_TRAINING_NUMBERS_H
#define TH_TRAINING_TRAINING_NUMBERS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/strbuf.h"

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

/* What steps the numbers were fitted to, and are held against besides, on a generation of
 * accelerators. */
typedef struct th_generation {
    const char *name;       /* NULL ends the table */
    const char *devices;    /* its rows of devices.csv, divided by ";" */
    int32_t fitted;         /* measured steps that numbers were fitted to */
    const char *judged;     /* whose steps, which none was fitted to; "" */
    const char *precisions; /* of all of these, divided by ";" */
} th_generation;
extern const th_generation th_generations[];
const th_generation *th_generation_of(const char *device); /* NULL: the table has none */
/* Was a step measured there, in that precision (of th_step_precisions)? g may be NULL. */
bool th_generation_has_steps(const th_generation *g, const char *precision);
/* Adds "measured steps of this generation (A100: ...)", or that there is none. */
void th_generation_describe(const th_generation *g, const char *precision, th_strbuf *out);

#endif
