/* SPDX-License-Identifier: GPL-3.0-or-later */
/* footprint.c - peak bytes of every accelerator's DRAM, by program order.
 *
 * Weights are resident. A buffer lives from the layer whose end issues its first transfer (the
 * producer; the start for the external input) to the last layer that reads the tensor; an output
 * until the end of its last reader; pieces of a rotation and partial sums while their layer runs.
 * Every pass in flight has buffers of its own. Time is the layer's number: a table of changes by
 * (accelerator, layer), summed once. */
#include <config.h>

#include "mapper/footprint.h"

#include <string.h>

#include "base/alloc.h"

/* Every part of the workload has a column more than layers, for what ends with its last one. */
static size_t columns(const th_lower *l)
{
    return (size_t)l->workload->n_layers + (size_t)th_workload_parts(l->workload);
}

static int64_t *change(th_lower *l, int accel, int part, int layer)
{
    return &l->footprint[(size_t)accel * columns(l) + (size_t)(layer + part)];
}

/* Layers of one part. */
static void hold(th_lower *l, int accel, int from, int to, int64_t bytes)
{
    int part = th_workload_part_of(l->workload, from, 0);
    *change(l, accel, part, from) += bytes;
    *change(l, accel, part, to + 1) -= bytes;
}

static void hold_layer(th_lower *l, int layer)
{
    const th_layer_plan *plan = l->layer_plan[layer];
    for (int r = 0; r < plan->n; r++) {
        int accel = l->placed[layer].set->accels[r];
        l->weight_bytes[accel] += plan->at[r].weight_bytes;
        hold(l, accel, layer, l->last_use[layer + 1], plan->at[r].output_bytes);
        hold(l, accel, layer, layer, plan->at[r].buffer_bytes);
    }
}

static int first_of_part(const th_lower *l, int layer)
{
    return th_workload_part(l->workload, th_workload_part_of(l->workload, layer, 0)).first_layer;
}

static void hold_edge(th_lower *l, const th_edge *e)
{
    int from = e->tensor < 0 ? first_of_part(l, e->consumer) : e->tensor;
    int to = e->last_reader;
    for (int32_t d = 0; d < e->plan->n; d++) {
        int accel = l->system->nodes[e->plan->deliveries[d].to_node].accel;
        hold(l, accel, from, to, e->plan->deliveries[d].bytes);
    }
}

/* Without a host the external input is where it is needed from the start. */
static void hold_external(th_lower *l, const th_edge *e)
{
    const th_layer_plan *plan = l->layer_plan[e->consumer];
    for (int r = 0; r < plan->n; r++) {
        int accel = l->placed[e->consumer].set->accels[r];
        if (th_plans_host_of(l->plans, accel) < 0)
            hold(l, accel, first_of_part(l, e->consumer), e->consumer,
                 th_tensor_bytes(th_box_elements(&plan->at[r].need[e->input]),
                                 l->workload->layers[e->consumer].precision[TH_TENSOR_INPUT]));
    }
}

/* Greatest sum over the layers of a part, and where. */
static int64_t peak_of_part(th_lower *l, int accel, int number, int *at)
{
    th_model part = th_workload_part(l->workload, number);
    int64_t sum = 0, peak = 0;
    *at = part.first_layer;
    for (int layer = part.first_layer; layer < part.first_layer + part.n_layers; layer++) {
        sum += *change(l, accel, number, layer);
        if (sum > peak) {
            peak = sum;
            *at = layer;
        }
    }
    return peak;
}

/* Of all passes in flight, and the layer of the part that takes most. Nothing says how models go on
 * beside each other, so their peaks may fall together. */
static int64_t peak_of(th_lower *l, int accel, int *at)
{
    int64_t sum = 0, most = -1;
    *at = 0;
    for (int i = 0; i < th_workload_parts(l->workload); i++) {
        int layer;
        int64_t peak = l->in_flight[i] * peak_of_part(l, accel, i, &layer);
        sum += peak;
        if (peak > most) {
            most = peak;
            *at = layer;
        }
    }
    return sum;
}

int th_footprint_check(th_lower *l, th_error *err)
{
    const th_system *s = l->system;
    size_t cells = (size_t)s->n_accels * columns(l);
    if (th_grow(&l->footprint, &l->footprint_capacity, cells, sizeof *l->footprint))
        return th_error_no_memory(err);
    memset(l->footprint, 0, cells * sizeof *l->footprint);
    memset(l->weight_bytes, 0, (size_t)s->n_accels * sizeof *l->weight_bytes);
    for (int layer = 0; layer < l->workload->n_layers; layer++)
        hold_layer(l, layer);
    for (int32_t e = 0; e < l->edge_start[l->workload->n_layers + 1]; e++)
        hold_edge(l, &l->edges[e]);
    for (int32_t e = 0; e < l->edge_start[1]; e++)
        hold_external(l, &l->edges[e]);
    for (int a = 0; a < s->n_accels; a++) {
        int layer;
        const th_node *node = &s->nodes[s->accel_node[a]];
        l->peak_bytes[a] = l->weight_bytes[a] + peak_of(l, a, &layer);
        if (l->peak_bytes[a] > node->a.dram_bytes)
            return th_error_set(
                err, "MAP-0022",
                "accel/%s: %lld bytes too few at layer \"%s\": %lld needed, %lld of "
                "them weights, %lld there",
                node->name, (long long)(l->peak_bytes[a] - node->a.dram_bytes),
                l->workload->layers[layer].name, (long long)l->peak_bytes[a],
                (long long)l->weight_bytes[a], (long long)node->a.dram_bytes);
    }
    return 0;
}
