/* SPDX-License-Identifier: GPL-3.0-or-later */
/* footprint.c - peak bytes of every accelerator's DRAM, by program order.
 *
 * Weights are resident, once for layers that share them. A buffer lives from the layer whose end
 * issues its first transfer (the producer; the start for the external input) to the last layer that
 * reads the tensor; an output until the end of its last reader; pieces of a rotation and partial
 * sums while their layer runs. Every pass in flight has buffers of its own. Time is the layer's
 * number: a table of changes by (accelerator, layer), summed once. The contents at the fullest
 * layer of one accelerator are listed by the same walk.
 *
 * Of a segment (segment.c), whose first layer reads nothing but what the layer before it made, and
 * of which only its last layer is read by others, the sums follow from itself, but for the layers
 * at which two segments meet: the end of one and the begin of the next add up there. */
#include <config.h>

#include "mapper/lower/footprint.h"

#include <string.h>

#include "base/alloc.h"

/* Layers first .. last of the mapping in l->memory.changes. What is held beyond is cut off. */
typedef struct {
    th_lower *l;
    const th_mapping *m; /* NULL: weights of tied layers count for each of them */
    int first, last;
    size_t columns;
    th_memory_peak *listed; /* NULL: changes are added up; else they are not, and what is held by */
    int accel;              /* this accelerator while each part is at */
    const int *at;          /* this layer is listed */
} table;

/* Every part of the workload has a column more than layers, for what ends with its last one. */
static table table_of(th_lower *l, const th_mapping *m, int first, int last)
{
    size_t columns = (size_t)(last - first + 1) + (size_t)th_workload_parts(l->workload);
    return (table){.l = l, .m = m, .first = first, .last = last, .columns = columns};
}

static int64_t *change(const table *t, int accel, int part, int layer)
{
    return &t->l->memory.changes[(size_t)accel * t->columns + (size_t)(layer - t->first + part)];
}

/* How long something is held: layers of one part. */
typedef struct {
    int part, from, to;
} span;

static span span_of(const table *t, int from, int to)
{
    return (span){th_workload_part_of(t->l->workload, from, 0), from, to < t->last ? to : t->last};
}

void th_memory_peak_add(th_memory_peak *p, th_held what)
{
    if (what.bytes == 0)
        return;
    if (th_grow(&p->held, &p->capacity, p->n + 1, sizeof *p->held))
        p->failed = true;
    else
        p->held[p->n++] = what;
}

static void hold(const table *t, int accel, span x, th_held what)
{
    if (t->listed) {
        what.bytes *= t->l->passes.in_flight[x.part];
        if (accel == t->accel && x.from <= t->at[x.part] && t->at[x.part] <= x.to)
            th_memory_peak_add(t->listed, what);
        return;
    }
    int64_t *row = change(t, accel, x.part, t->first);
    row[x.from - t->first] += what.bytes;
    row[x.to - t->first + 1] -= what.bytes;
}

/* Resident from start to end. */
static void hold_weights(const table *t, int accel, int layer, int64_t bytes)
{
    if (!t->listed)
        t->l->memory.weight_bytes[accel] += bytes;
    else if (accel == t->accel)
        th_memory_peak_add(t->listed, (th_held){TH_HELD_WEIGHTS, layer, bytes});
}

static void hold_layer(const table *t, int layer)
{
    th_lower *l = t->l;
    const th_layer_plan *plan = l->planned.layer_plan[layer];
    const span output = span_of(t, layer, l->graph.last_use[layer + 1]),
               itself = span_of(t, layer, layer);
    for (int r = 0; r < plan->n; r++) {
        int accel = l->planned.placed[layer].set->accels[r % plan->n_accels];
        int64_t kept = t->m && r < plan->n_accels
                           ? th_mapping_kept_weight_bytes(t->m, l->workload, layer, r)
                           : 0;
        hold_weights(t, accel, layer, plan->at[r].weight_bytes - kept);
        hold(t, accel, output, (th_held){TH_HELD_OUTPUT, layer, plan->at[r].output_bytes});
        hold(t, accel, itself, (th_held){TH_HELD_BUFFER, layer, plan->at[r].buffer_bytes});
    }
}

static int first_of_part(const th_lower *l, int layer)
{
    return th_workload_part(l->workload, th_workload_part_of(l->workload, layer, 0)).first_layer;
}

static void hold_edge(const table *t, const th_edge *e)
{
    const th_lower *l = t->l;
    const span x =
        span_of(t, e->tensor < 0 ? first_of_part(l, e->consumer) : e->tensor, e->last_reader);
    for (int32_t d = 0; d < e->plan->n; d++) {
        int accel = l->system->nodes[e->plan->deliveries[d].to_node].accel;
        hold(t, accel, x, (th_held){TH_HELD_INPUT, e->consumer, e->plan->deliveries[d].bytes});
    }
}

/* Without a host the external input is where it is needed from the start. */
static void hold_external(const table *t, const th_edge *e)
{
    const th_lower *l = t->l;
    const th_layer_plan *plan = l->planned.layer_plan[e->consumer];
    const span x = span_of(t, first_of_part(l, e->consumer), e->consumer);
    for (int r = 0; r < plan->n; r++) {
        int accel = l->planned.placed[e->consumer].set->accels[r % plan->n_accels];
        int64_t bytes =
            th_tensor_bytes(th_box_elements(&plan->at[r].need[e->input]),
                            l->workload->layers[e->consumer].precision[TH_TENSOR_INPUT]);
        if (th_plans_host_of(l->plans, accel) < 0)
            hold(t, accel, x, (th_held){TH_HELD_INPUT, e->consumer, bytes});
    }
}

static int clear(const table *t)
{
    th_lower *l = t->l;
    size_t accels = (size_t)l->system->n_accels, cells = accels * t->columns;
    if (th_grow(&l->memory.changes, &l->memory.changes_capacity, cells, sizeof *l->memory.changes))
        return -1;
    memset(l->memory.changes, 0, cells * sizeof *l->memory.changes);
    memset(l->memory.weight_bytes, 0, accels * sizeof *l->memory.weight_bytes);
    return 0;
}

/* Layers first .. last, and the tensors first - 1 .. last - 1 as they reach them. */
static void hold_all(const table *t, int first, int last)
{
    const th_lower *l = t->l;
    for (int layer = first; layer <= last; layer++)
        hold_layer(t, layer);
    for (int32_t e = l->graph.edge_start[first]; e < l->graph.edge_start[last + 1]; e++)
        hold_edge(t, &l->graph.edges[e]);
    for (int32_t e = first > 0 ? l->graph.edge_start[1] : 0; e < l->graph.edge_start[1]; e++)
        hold_external(t, &l->graph.edges[e]);
}

/* Greatest sum over the layers of a part, and where. */
static int64_t peak_of_part(const table *t, int accel, int number, int *at)
{
    th_model part = th_workload_part(t->l->workload, number);
    int64_t sum = 0, peak = 0;
    *at = part.first_layer;
    for (int layer = part.first_layer; layer < part.first_layer + part.n_layers; layer++) {
        sum += *change(t, accel, number, layer);
        if (sum > peak) {
            peak = sum;
            *at = layer;
        }
    }
    return peak;
}

/* Of all passes in flight, and the layer of the part that takes most. Models progress
 * independently, so their peaks may coincide. */
static int64_t peak_of(const table *t, int accel, int *at)
{
    const th_lower *l = t->l;
    int64_t sum = 0, most = -1;
    *at = 0;
    for (int i = 0; i < th_workload_parts(l->workload); i++) {
        int layer;
        int64_t peak = l->passes.in_flight[i] * peak_of_part(t, accel, i, &layer);
        sum += peak;
        if (peak > most) {
            most = peak;
            *at = layer;
        }
    }
    return sum;
}

int th_footprint_check(th_lower *l, const th_mapping *m, th_error *err)
{
    const th_system *s = l->system;
    const table t = table_of(l, m, 0, l->workload->n_layers - 1);
    if (clear(&t))
        return th_error_no_memory(err);
    hold_all(&t, t.first, t.last);
    for (int a = 0; a < s->n_accels; a++) {
        int layer;
        const th_node *node = &s->nodes[s->accel_node[a]];
        l->memory.peak_bytes[a] = l->memory.weight_bytes[a] + peak_of(&t, a, &layer);
        l->memory.peak_layer[a] = l->memory.peak_bytes[a] > 0 ? layer : -1;
        if (l->memory.peak_bytes[a] > node->a.dram_bytes)
            return th_error_set(
                err, "MAP-0022",
                "accel/%s: %lld bytes too few at layer \"%s\": %lld needed, %lld of "
                "them weights, %lld there",
                node->name, (long long)(l->memory.peak_bytes[a] - node->a.dram_bytes),
                l->workload->layers[layer].name, (long long)l->memory.peak_bytes[a],
                (long long)l->memory.weight_bytes[a], (long long)node->a.dram_bytes);
    }
    return 0;
}

int th_footprint_list(th_lower *l, const th_mapping *m, int accel, th_memory_peak *out)
{
    table t = table_of(l, m, 0, l->workload->n_layers - 1);
    int parts = th_workload_parts(l->workload);
    int *at = th_alloc_array((size_t)parts, sizeof *at);
    if (!at || clear(&t)) {
        th_free(at);
        return -1;
    }
    hold_all(&t, t.first, t.last);
    for (int i = 0; i < parts; i++)
        peak_of_part(&t, accel, i, &at[i]);
    t.listed = out;
    t.accel = accel;
    t.at = at;
    hold_all(&t, t.first, t.last);
    th_free(at);
    return out->failed ? -1 : 0;
}

int th_footprint_of_segment(th_lower *l, int first, int last, th_footprint_part *out)
{
    const table t = table_of(l, NULL, first - 1,
                             last); /* column 0: layer first - 1, of which only what leaves it */
    if (clear(&t))
        return -1;
    hold_all(&t, first, last);
    for (int r = 0; first > 0 && r < l->planned.layer_plan[first - 1]->n; r++)
        hold(&t,
             l->planned.placed[first - 1]
                 .set->accels[r % l->planned.layer_plan[first - 1]->n_accels],
             span_of(&t, first, l->graph.last_use[first]),
             (th_held){TH_HELD_OUTPUT, first - 1,
                       l->planned.layer_plan[first - 1]->at[r].output_bytes});
    for (int a = 0; a < l->system->n_accels; a++) {
        int64_t sum = *change(&t, a, 0, first - 1);
        out[a] = (th_footprint_part){.weights = l->memory.weight_bytes[a], .at_begin = sum};
        for (int layer = first; layer < last; layer++) {
            sum += *change(&t, a, 0, layer);
            out[a].inside = sum > out[a].inside ? sum : out[a].inside;
        }
        out[a].at_end = sum + *change(&t, a, 0, last);
    }
    return 0;
}
