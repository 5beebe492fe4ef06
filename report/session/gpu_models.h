/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_models.h - what a session knows of GPUs: descriptions, measurements by name, and a predictor.
 *   new -> set ... -> set_predictor -> free */
#ifndef TH_REPORT_SESSION_GPU_MODELS_H
#define TH_REPORT_SESSION_GPU_MODELS_H
#include "predictor/model/predictor.h"
#include "report/session/session.h"

/* What training is not shown: rows of all devices, and all rows of some. */
typedef struct th_left_out {
    int64_t percent; /* of the rows */
    uint64_t seed;   /* of their choice */
    char *devices;   /* their names, each between line ends: "\nk40\nk80\n"; NULL: none */
} th_left_out;

typedef struct th_learned {
    th_gpus gpus; /* none yet: those that come with Tharsis were not asked for */
    struct th_measured {
        char *name;
        th_measurements *rows;
    } * sets;
    size_t n_sets, capacity;
    th_predictor *predictor; /* NULL: none */
    th_left_out left_out;    /* of its training; nothing, where it was read */
} th_learned;

th_learned *th_learned_new(void); /* NULL: memory is out */
void th_learned_free(th_learned *l);

/* The measurements of that name; made if they are to be, or else those that have rows: a file that
 * could not be read leaves none. NULL: err says why. */
th_measurements *th_learned_set(th_learned *l, const char *name, bool make, th_error *err);
/* Takes p and the names of devices over. */
void th_learned_set_predictor(th_learned *l, th_predictor *p, th_left_out left_out);
/* Numbers of those that are left out, or of the others, for the caller to free; NULL: memory is
 * out. */
size_t *th_left_out_rows(const th_left_out *o, const th_measurements *m, bool left_out, size_t *n);
/* NULL: err says what makes one. */
const th_predictor *th_learned_predictor(const th_learned *l, th_error *err);

#endif
