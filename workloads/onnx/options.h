/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h - how an ONNX model is read, and what its reader notices. */
#ifndef TH_WORKLOADS_ONNX_OPTIONS_H
#define TH_WORKLOADS_ONNX_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>

/* A symbolic axis, by its name in the model or as INPUT.AXIS, is so long. */
typedef struct th_onnx_dim {
    const char *name;
    int64_t extent;
    bool is_met; /* set by the reader: an axis of that name is there */
} th_onnx_dim;

typedef struct th_onnx_options {
    int32_t batch;     /* in the place of the model's; 0: that one (1 where it is open) */
    int precision;     /* of all tensors; -1: that of the model's first input */
    th_onnx_dim *dims; /* n_dims of them */
    int n_dims;
    bool copies_unknown; /* operators without a rule are passes over their inputs */
    /* Called with every tensor of the graph, in the order in which they are found. NULL: never. */
    void (*on_value)(void *context, const char *name, const int64_t *dim, int rank);
    void *context;
} th_onnx_options;

/* What a reader noticed that is no error. */
typedef struct th_onnx_notes {
    int n_copied;          /* operators read as copies */
    char first_copied[80]; /* one of them */
} th_onnx_notes;

#endif
