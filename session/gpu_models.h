/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu_models.h - GPUs in a session: descriptions, measurements by name, and a predictor.
 *   new -> set ... -> set_predictor -> free */
#ifndef TH_SESSION_GPU_MODELS_H
#define TH_SESSION_GPU_MODELS_H
#include "predictor/model/predictor.h"

/* The rows held out of training: some rows of all devices, and all rows of some devices. */
typedef struct th_held_out {
    int64_t percent; /* of the rows */
    uint64_t seed;   /* of their choice */
    char *devices;   /* their names, each between line ends: "\nk40\nk80\n"; NULL: none */
} th_held_out;

typedef struct th_gpu_models {
    th_gpus gpus; /* empty until the descriptions that come with Tharsis are read */
    struct th_measurement_set {
        char *name;
        th_measurements *rows;
    } * sets;
    size_t n_sets, capacity;
    th_predictor *predictor; /* NULL: none */
    th_held_out held_out;    /* rows held out of its training; none if it was read from a file */
    uint32_t warned[2];      /* kinds that the user was warned of for this predictor, a bit each; of
                           single precision, and less */
    char warned_of[TH_GPU_NAME_MAX]; /* the GPU of the last such warning */
} th_gpu_models;

th_gpu_models *th_gpu_models_new(void); /* NULL: memory is out */
void th_gpu_models_free(th_gpu_models *l);

/* The measurements of that name; made if they are to be, or else those that have rows: a file that
 * could not be read leaves none. NULL: err says why. */
th_measurements *th_gpu_models_measurements(th_gpu_models *l, const char *name, bool make,
                                            th_error *err);
/* Takes over p and the names of devices. */
void th_gpu_models_set_predictor(th_gpu_models *l, th_predictor *p, th_held_out held_out);
/* The numbers of the rows held out, or of the others; the caller frees them. NULL: memory is
 * out. */
size_t *th_held_out_rows(const th_held_out *o, const th_measurements *m, bool held_out, size_t *n);
/* NULL: err names the command that makes one. */
const th_predictor *th_gpu_models_predictor(const th_gpu_models *l, th_error *err);

#endif
