/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h - options of reading an ONNX model, and what the reader reports besides errors. */
#ifndef TH_WORKLOADS_ONNX_OPTIONS_H
#define TH_WORKLOADS_ONNX_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>

/* The extent of a symbolic axis, by its name in the model or as INPUT.AXIS. */
typedef struct th_onnx_dim {
    const char *name;
    int64_t extent;
    bool is_met; /* set by the reader: an axis has that name */
} th_onnx_dim;

typedef struct th_onnx_options {
    int32_t batch;     /* replaces the model's batch; 0: the model's (1 if it is symbolic) */
    int precision;     /* of all tensors; -1: precision of the model's first input */
    th_onnx_dim *dims; /* n_dims of them */
    int n_dims;
    bool copies_unknown; /* read operators without a rule as copies of their inputs */
    /* Called with every tensor of the graph, in the order in which they are defined. NULL: never.
     */
    void (*on_value)(void *context, const char *name, const int64_t *dim, int rank);
    void *context;
} th_onnx_options;

/* What a reader reports that is no error. */
typedef struct th_onnx_notes {
    int n_copied;          /* operators read as copies */
    char first_copied[80]; /* one of them */
} th_onnx_notes;

#endif
