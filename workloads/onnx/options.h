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

/* The numbers of an input of the graph, as words. */
typedef struct th_onnx_setting {
    const char *name, *text;
} th_onnx_setting;

typedef struct th_onnx_options {
    int32_t batch;     /* replaces the model's batch; 0: the model's (1 if it is symbolic) */
    int precision;     /* of all tensors; -1: precision of the model's first input */
    th_onnx_dim *dims; /* n_dims of them */
    int n_dims;
    const th_onnx_setting *values; /* n_values of them */
    int n_values;
    bool copies_unknown; /* read operators without a rule as copies of their inputs */
    /* Called with every tensor of the graph, in the order in which they are defined. NULL: never.
     */
    void (*on_value)(void *context, const char *name, const int64_t *dim, int rank);
    void *context;
} th_onnx_options;

/* What a reader reports that is no error. */
enum { TH_ONNX_KINDS_MAX = 16, TH_ONNX_NOTE_MAX = 400 };

typedef struct th_onnx_note {
    int n;
    char first[TH_ONNX_NOTE_MAX]; /* what the first of them is */
} th_onnx_note;

typedef struct th_onnx_notes {
    /* operators without a rule for what they compute, and how many nodes of each are copies */
    th_onnx_note copied[TH_ONNX_KINDS_MAX];
    int n_copied;              /* such nodes, also those of further operators */
    th_onnx_note guessed;      /* their outputs whose shape the file does not state */
    th_onnx_note contradicted; /* tensors of another shape than the file states */
    th_onnx_note left_out;     /* tensors that a node has as an input and no layer reads */
    th_onnx_note empty;        /* nodes without a layer, as what they make has no elements */
    int64_t opset;             /* the version of ai.onnx that the model imports */
} th_onnx_notes;

#endif
