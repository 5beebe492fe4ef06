/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_inputs_read.h - the input extents, precision and density of a layer in a file, which follow
 * from its producers or are stated, and the properties that it states for its tensors.
 *   th_layer_take_inputs -> th_layer_input_shape* -> th_layer_read_tensors */
#ifndef TH_WORKLOADS_LAYER_INPUTS_READ_H
#define TH_WORKLOADS_LAYER_INPUTS_READ_H
#include "workloads/layer_keys_read.h"

typedef struct th_input_shape {
    int32_t c, h, w;
} th_input_shape;

/* Fills in_h, in_w, and precision and density of what is read. 0 or -1. */
int th_layer_take_inputs(const th_layer_source *s);
th_input_shape th_layer_input_shape(const th_layer_source *s, int input);
/* Precision and density of weights and outputs, behind the type's infer. keeps_precision: the
 * output has the precision of the input, unless told; is_inner: a part of an attention that is not
 * its last one. 0 or -1. */
int th_layer_read_tensors(const th_layer_source *s, bool keeps_precision, bool is_inner);

#endif
