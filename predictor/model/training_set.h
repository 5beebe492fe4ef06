/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_set.h - private to training: the measured rows of one kind and phase, and training sets
 * and validation folds made of them.
 *   th_rows_begin -> { th_rows_fit_law | th_training_set_make -> th_training_set_clear }
 *   -> th_rows_clear */
#ifndef TH_PREDICTOR_MODEL_TRAINING_SET_H
#define TH_PREDICTOR_MODEL_TRAINING_SET_H
#include "predictor/model/layer_model.h"

typedef struct th_rows {
    th_layer_model *model;
    const th_measurements *all;
    size_t *row; /* of all; those of the kind and phase */
    size_t n;
    int *device;    /* by row: of the model */
    uint64_t *draw; /* by row: a number as if drawn, equal for an operation on several devices */
} th_rows;

/* Finds the rows, and sets kind, devices and ranges of the model. 0 or -1; clear it either way. */
int th_rows_begin(th_rows *r, th_layer_model *model, const th_measured_rows *rows, uint64_t seed,
                  th_error *err);
void th_rows_clear(th_rows *r);

enum { TH_ALL = -1, TH_HELD_OUT = 0 }; /* devices, folds; the fold that is held out */

typedef struct th_selection {
    int device, left_out; /* only this (or TH_ALL), all but this (or TH_ALL: none) */
    int fold;             /* TH_ALL: no matter */
    bool without_fold;    /* all but those of the fold */
    size_t n_max;         /* a sample at most so large */
} th_selection;

extern const th_selection th_all_rows;

/* Weights of the law that serve the rows; those of all devices where a device has few. 0, or -1:
 * memory is out. */
int th_rows_fit_law(const th_rows *r, const th_selection *s, double *weight);

/* How rows become samples. */
typedef struct th_sampling {
    bool is_known;        /* weight has a law by device; else one for all */
    const double *weight; /* of the law's terms */
    bool has_features;
} th_sampling;

/* 0, or -1: no memory. */
int th_training_set_make(th_training_set *out, const th_rows *r, const th_selection *selection,
                         const th_sampling *sampling);
void th_training_set_clear(th_training_set *t);

#endif
