/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload.h - the computation: a directed acyclic graph of layers, in topological order.
 *
 *   new -> add_layer* -> (sort ->) finish -> read only -> free
 * Invariant after finish: every layer comes after its producers, its input extents equal its
 * producers' output extents, and exactly the layers without consumers are outputs of the workload.
 */
#ifndef TH_WORKLOADS_WORKLOAD_H
#define TH_WORKLOADS_WORKLOAD_H
#include "base/error.h"
#include "base/units.h"
#include "workloads/layer.h"

/* One of several networks that share a system (models.h), or a network alone. */
typedef struct th_model {
    char *name;
    int32_t first_layer, n_layers;
    int32_t input_c, input_h, input_w; /* of its external input */
    double density;                    /* of that input */
    th_precision precision;
    bool has_own_inputs;
    th_time arrival_ps;  /* of its first input */
    th_time deadline_ps; /* of every input, after its arrival; 0: none */
} th_model;

typedef struct th_workload {
    char *name;
    char *file; /* where it came from, for messages; may be NULL */
    int32_t batch;
    int32_t input_c, input_h, input_w; /* of the external input, per element of the batch */
    th_precision precision;            /* of the external input */
    double density; /* of the external input: part that is not zero; 1 unless set */
    /* Every layer that reads the external input has one of its own, of whatever shape it reads:
     * layers that have nothing to do with each other. */
    bool has_own_inputs;
    /* Layers read inputs of whatever shape they say: a tensor is stretched, axis by axis, to what
     * its consumers read. Only systems whose transfers are serial run such workloads. */
    bool has_free_shapes;
    th_layer *layers;
    int n_layers;
    th_model *models;
    int n_models; /* in the order of their layers; none: one network alone */
    /* consumers of layer l: consumers[consumer_start[l] .. consumer_start[l + 1]), ascending, each
     * once */
    int32_t *consumer_start, *consumers;
    int32_t *outputs;
    int n_outputs; /* layers without consumers, ascending */
} th_workload;

/* The external input, per element of the batch. */
typedef struct th_workload_input {
    int32_t batch, c, h, w;
    th_precision precision;
} th_workload_input;

enum { TH_LARGEST_EXTENT = 1 << 28 }; /* of a tensor */

th_workload *th_workload_new(const char *name, const char *file, const th_workload_input *input,
                             th_error *err);
/* Copies the layer (name, inputs and input_channels too). inputs may name layers added later.
 * Returns its index or -1. */
int th_workload_add_layer(th_workload *w, const th_layer *l, th_error *err);
/* workload_finish.c: sorts topologically and renumbers the inputs: layers keep their order, but a
 * producer written after its consumer moves directly in front of it. The message about a cycle
 * names one. A reader that infers shapes calls this first and then walks w->layers; finish calls it
 * in any case. */
int th_workload_sort(th_workload *w, th_error *err);
/* workload_finish.c: sorts, checks shapes, sizes, unique names, at least one layer; fills consumers
 * and outputs. */
int th_workload_finish(th_workload *w, th_error *err);
void th_workload_free(th_workload *w); /* accepts NULL */

/* All tensors in this precision. */
void th_workload_set_precision(th_workload *w, th_precision p);
int th_workload_find(const th_workload *w, const char *layer_name); /* index or -1 */
/* Makes a name in size bytes one that a layer may have: what it may not hold becomes _, and one
 * that is taken gets the number behind it, for which there should be room. w may be NULL: nothing
 * is taken. */
void th_workload_make_name(const th_workload *w, char *name, int number, size_t size);

/* The networks that share the workload, of which there is at least one: its models, or the whole as
 * one that arrives at 0. The name stays the workload's. */
int th_workload_parts(const th_workload *w);
th_model th_workload_part(const th_workload *w, int i);
/* The number of the part that has layer; hint: one that may have it. */
int th_workload_part_of(const th_workload *w, int layer, int hint);

/* What one input of a stream holds: the sum over its networks of their batch. */
int64_t th_workload_samples(const th_workload *w);

/* Sums over layers. */
int64_t th_workload_macs(const th_workload *w);

#endif
