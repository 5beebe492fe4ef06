/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_types_read.h - the types of layers that a workload file may name, and how each follows from
 * its keys and from the shapes of its inputs.
 *   th_layer_type_of -> (th_attention_parts, when it is an attention) ; th_layer_type_infer */
#ifndef TH_WORKLOADS_LAYER_TYPES_READ_H
#define TH_WORKLOADS_LAYER_TYPES_READ_H
#include "workloads/layer_keys_read.h"

typedef struct th_layer_type th_layer_type;
struct th_layer_type {
    const char *name;
    const char *const *keys; /* ends in NULL */
    /* Fills dim (but B) and all that the type's own keys say. */
    int (*infer)(const th_layer_source *s, const th_layer_type *t);
    th_layer_kind kind;
    th_function function;
    bool is_mean;
    bool keeps_precision; /* its output has the precision of its input, unless told */
    bool is_inner;        /* a part of an attention that is not its last one */
    int part;             /* of an attention */
};

/* The type that a layer's group names, its keys checked; NULL with an error otherwise. */
const th_layer_type *th_layer_type_of(const th_config_node *n, th_error *err);

/* Of an attention: does one input hold queries, keys and values? (Else inputs = ["q", "k", "v"].)
 */
bool th_attention_is_packed(const th_config_node *n);
/* An attention in a file stands for several layers, NAME.PART each: its parts, in order, ending in
 * name NULL; NULL for every other type. */
const th_layer_type *th_attention_parts(const th_layer_type *t, bool packed);
/* What a part reads: given (one or three layers, by number) and other parts, the first of them
 * being layer number first. Returns how many. */
int th_attention_inputs(const th_layer_type *part, bool packed, const int32_t given[3],
                        int32_t first, int32_t out[2]);

/* Everything of a layer but name, kind, batch and inputs: in_h, in_w, precisions and densities from
 * what makes its inputs, its shape, and whether what the file states besides agrees. 0 or -1. */
int th_layer_type_infer(const th_layer_source *s, const th_layer_type *t);

#endif
