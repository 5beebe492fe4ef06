/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_set.h - private to training: the measured rows of one kind and phase, and training sets
 * and validation folds made of them.
 *   th_training_rows_begin
 *   -> { th_training_rows_fit_law | th_training_set_make -> th_training_set_clear }
 *   -> th_training_rows_clear */
#ifndef TH_PREDICTOR_MODEL_TRAINING_SET_H
#define TH_PREDICTOR_MODEL_TRAINING_SET_H
#include "predictor/model/layer_model.h"

typedef struct th_training_rows {
    th_layer_model *model;
    const th_measurements *all;
    size_t *row; /* of all; those of the kind and phase */
    size_t n;
    int *device;    /* by row: of the model */
    uint64_t *draw; /* by row: a pseudo-random number, equal for an operation on several devices */
    int *group;     /* by row: of families, 1 to n_groups */
    int n_groups;   /* 0: families are not told apart */
} th_training_rows;

/* Finds the rows, and sets kind, devices and ranges of the model. 0 or -1; clear it either way. */
int th_training_rows_begin(th_training_rows *r, th_layer_model *model, const th_measured_rows *rows,
                           uint64_t seed, th_error *err);
void th_training_rows_clear(th_training_rows *r);

enum {
    TH_UNFILTERED = -1,
    TH_HELD_OUT_FOLD = 0
}; /* devices, folds; the number of the held-out fold */

typedef struct th_row_filter {
    int device;          /* this device only; TH_UNFILTERED: all */
    int held_out_device; /* all devices but this one; TH_UNFILTERED: none is held out */
    int fold;            /* TH_UNFILTERED: all */
    bool without_fold;   /* all but those of the fold */
    size_t n_max;        /* maximum size of the sample */
    int group;           /* of families; 0: all */
    bool without_group;  /* all but those of the group */
} th_row_filter;

extern const th_row_filter th_all_rows;

/* Weights of the law that serve the rows; those of all devices where a device has few. 0, or -1:
 * memory is out. */
int th_training_rows_fit_law(const th_training_rows *r, const th_row_filter *s, double *weight);

/* How rows become samples. */
typedef struct th_sampling {
    bool is_seen;         /* weight has a law for each device; else a common one */
    const double *weight; /* of the law's terms */
    bool has_features;
} th_sampling;

/* 0, or -1: no memory. */
int th_training_set_make(th_training_set *out, const th_training_rows *r,
                         const th_row_filter *selection, const th_sampling *sampling);
void th_training_set_clear(th_training_set *t);

#endif
