/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learned.h - what a session knows of GPUs: descriptions, measurements by name, and a predictor.
 *   new -> set ... -> set_predictor -> free */
#ifndef TH_TCL_LEARNED_H
#define TH_TCL_LEARNED_H
#include "predictor/predictor.h"
#include "tcl/session.h"

typedef struct th_learned {
    th_gpus gpus; /* none yet: those that come with Tharsis were not asked for */
    struct th_measured {
        char *name;
        th_measurements *rows;
    } * sets;
    size_t n_sets, capacity;
    th_predictor *predictor;  /* NULL: none */
    int64_t held_out_percent; /* of the rows, in training; 0: none, or it was read */
    uint64_t seed;
} th_learned;

th_learned *th_learned_new(void); /* NULL: memory is out */
void th_learned_free(th_learned *l);

/* The measurements of that name; made if they are to be, or else those that have rows: a file that could
 * not be read leaves none. NULL: err says why. */
th_measurements *th_learned_set(th_learned *l, const char *name, bool make, th_error *err);
/* Takes p over. */
void th_learned_set_predictor(th_learned *l, th_predictor *p, int64_t held_out_percent,
                              uint64_t seed);

/* Descriptions of GPUs that come with Tharsis, read when first asked for. 0 or -1. */
int th_learned_need_gpus(th_session *s, th_error *err);

#endif
