/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_attributes.c - the attributes of layers: of the workload, the mapping, and the run. */
#include <config.h>
#include "report/objects/class_attributes.h"

enum {
    LAYER_NAME,
    LAYER_KIND,
    LAYER_DIMS,
    LAYER_MACS,
    LAYER_PARAMETERS,
    LAYER_ACTIVATIONS,
    LAYER_OUTPUT_BYTES,
    LAYER_PRECISION,
    LAYER_DENSITY,
    LAYER_INPUTS,
    LAYER_WEIGHTS_OF,
    LAYER_SET,
    LAYER_DESIGN,
    LAYER_STRATEGY,
    LAYER_SHARD,
    LAYER_START,
    LAYER_END,
    LAYER_TASKS,
    LAYER_ACCELS,
    LAYER_ACTIVE,
    LAYER_BUSY,
    LAYER_STALL_INPUT,
    LAYER_STALL_WEIGHT,
    LAYER_STALL_PARTIAL,
    LAYER_STALL_OUTPUT,
    LAYER_IDLE,
    LAYER_BUSY_CYCLES,
    LAYER_MACS_DONE,
    LAYER_OPERATIONS,
    LAYER_UTILIZATION,
    LAYER_BOUND,
    LAYER_ROOFLINE,
    LAYER_DRAM_INPUT,
    LAYER_DRAM_WEIGHT,
    LAYER_DRAM_PARTIAL,
    LAYER_DRAM_READ,
    LAYER_DRAM_WRITTEN,
    LAYER_INPUT_READS,
    LAYER_WEIGHT_READS,
    LAYER_PARTIAL_READS,
    LAYER_OUTPUT_WRITES,
    LAYER_VARIANT,
    LAYER_ENERGY,
    LAYER_MAC_ENERGY,
    LAYER_DRAM_WAIT = LAYER_MAC_ENERGY + TH_N_ENERGY_ATTRIBUTES
};

static const char *bound(int i)
{
    return i <= TH_BOUND_WAITING ? th_bound_name((th_bound)i) : NULL;
}

const th_attribute th_layer_attributes[] = {
    [LAYER_NAME] = {"name", TH_KIND_TEXT, "the part after layer/", .heading = "layer"},
    [LAYER_KIND] = {"kind", TH_KIND_TEXT, "operator of the layer", .of = TH_OF_INPUT},
    [LAYER_DIMS] = {"dims", TH_KIND_TEXT, "extents of its loops", .of = TH_OF_INPUT},
    [LAYER_MACS] = {"macs", TH_KIND_COUNT, "multiply-accumulates of one batch", .heading = "MACs", .of = TH_OF_INPUT},
    [LAYER_PARAMETERS] = {"parameters", TH_KIND_COUNT,
                          "weights (unless they are another layer's), biases and norms", .of = TH_OF_INPUT},
    [LAYER_ACTIVATIONS] = {"activations", TH_KIND_COUNT, "elements of its output", .of = TH_OF_INPUT},
    [LAYER_OUTPUT_BYTES] = {"output_bytes", TH_KIND_BYTES, "size of its output", .of = TH_OF_INPUT},
    [LAYER_PRECISION] = {"precision", TH_KIND_TEXT, "of its input, weights and output", .of = TH_OF_INPUT},
    [LAYER_DENSITY] = {"density", TH_KIND_TEXT,
                       "part that is not zero of its input, weights and output", .of = TH_OF_INPUT},
    [LAYER_INPUTS] = {"inputs", TH_KIND_TEXT, "layers that it reads", .of = TH_OF_INPUT},
    [LAYER_WEIGHTS_OF] = {"weights_of", TH_KIND_TEXT, "layer whose weights it has, if another", .of = TH_OF_INPUT},
    [LAYER_SET] = {"set", TH_KIND_COUNT, "set of the mapping that runs it", .of = TH_OF_INPUT},
    [LAYER_DESIGN] = {"design", TH_KIND_TEXT, "design of that set", .of = TH_OF_INPUT},
    [LAYER_STRATEGY] = {"strategy", TH_KIND_TEXT, "how the set shards it", .of = TH_OF_INPUT},
    [LAYER_SHARD] = {"shard", TH_KIND_TEXT, "extents of the largest shard; those of 1 are left out",
                     .heading = "largest shard", .of = TH_OF_INPUT},
    [LAYER_START] = {"start", TH_KIND_TIME, "when its first task began", .is_detail = true},
    [LAYER_END] = {"end", TH_KIND_TIME, "when its last task ended", .is_detail = true},
    [LAYER_TASKS] = {"tasks", TH_KIND_COUNT, "tasks computed for it", .is_detail = true},
    [LAYER_ACCELS] = {"n_accels", TH_KIND_COUNT, "accelerators that run it", .heading = "accels", .is_detail = true},
    [LAYER_ACTIVE] = {"active", TH_KIND_TIME, "time with a task of the layer under way"},
    [LAYER_BUSY] = {"busy", TH_KIND_TIME,
                    "time in which arrays work, summed over its accelerators", .is_detail = true},
    [LAYER_STALL_INPUT] = {"stall_input", TH_KIND_TIME,
                           "time in which arrays wait for inputs from DRAM, summed",
                           .heading = "input", .is_detail = true},
    [LAYER_STALL_WEIGHT] = {"stall_weight", TH_KIND_TIME,
                            "time in which arrays wait for weights from DRAM, summed",
                            .heading = "weight", .is_detail = true},
    [LAYER_STALL_PARTIAL] = {"stall_partial", TH_KIND_TIME,
                             "time in which arrays wait for partial sums from DRAM, summed",
                             .heading = "partial", .is_detail = true},
    [LAYER_STALL_OUTPUT] = {"stall_output", TH_KIND_TIME,
                            "time in which arrays wait for room to store outputs, summed",
                            .heading = "output", .is_detail = true},
    [LAYER_IDLE] =
        {"idle", TH_KIND_TIME,
         "time of its accelerators while the layer is active, without a task of it, summed", .is_detail = true},
    [LAYER_BUSY_CYCLES] = {"busy_cycles", TH_KIND_COUNT,
                           "cycles of the arrays (of the vector units, where it has no MACs)", .is_detail = true},
    [LAYER_MACS_DONE] = {"macs_done", TH_KIND_COUNT, "multiply-accumulates of all its tasks", .is_detail = true},
    [LAYER_OPERATIONS] = {"operations", TH_KIND_COUNT, "element operations of the vector units", .is_detail = true},
    [LAYER_UTILIZATION] =
        {"utilization", TH_KIND_SHARE,
         "multiply-accumulates / those that the arrays could have done while the layer was active",
         .heading = "of peak", .is_detail = true},
    [LAYER_BOUND] = {"bound", TH_KIND_TEXT,
                     "what took longest: compute, memory, a port, waiting (idle)", bound, .is_detail = true},
    [LAYER_ROOFLINE] = {"roofline", TH_KIND_MEAN,
                        "active time / max(multiply-accumulates / peak, DRAM bytes / bandwidth)",
                        .heading = "x roofline", .is_detail = true},
    [LAYER_DRAM_INPUT] = {"dram_input", TH_KIND_BYTES, "inputs read from DRAM", .is_detail = true},
    [LAYER_DRAM_WEIGHT] = {"dram_weight", TH_KIND_BYTES, "weights read from DRAM", .is_detail = true},
    [LAYER_DRAM_PARTIAL] = {"dram_partial", TH_KIND_BYTES, "partial sums read back from DRAM", .is_detail = true},
    [LAYER_DRAM_READ] = {"dram_read", TH_KIND_BYTES, "bytes read from DRAM",
                         .heading = "DRAM read", .is_detail = true},
    [LAYER_DRAM_WRITTEN] = {"dram_written", TH_KIND_BYTES, "bytes written to DRAM",
                            .heading = "written", .is_detail = true},
    [LAYER_INPUT_READS] = {"input_reads", TH_KIND_COUNT,
                           "inputs that arrays read from their buffers", .is_detail = true},
    [LAYER_WEIGHT_READS] = {"weight_reads", TH_KIND_COUNT, "weights, likewise", .is_detail = true},
    [LAYER_PARTIAL_READS] = {"partial_reads", TH_KIND_COUNT, "partial sums, likewise", .is_detail = true},
    [LAYER_OUTPUT_WRITES] = {"output_writes", TH_KIND_COUNT,
                             "outputs that arrays wrote to their buffers", .is_detail = true},
    [LAYER_VARIANT] = {"variant", TH_KIND_TEXT, "how the design ran it", .is_detail = true},
    [LAYER_ENERGY] = {"energy", TH_KIND_ENERGY,
                      "taken by its tasks, where the system says what things cost"},
    [LAYER_MAC_ENERGY] = TH_ENERGY_ATTRIBUTES,
    [LAYER_DRAM_WAIT] = {"dram_wait", TH_KIND_SHARE,
                         "share of the time of its tasks in which arrays wait for DRAM",
                         .heading = "wait"},
    {NULL, TH_KIND_TEXT, NULL},
};

static th_quantity layer_inputs(th_session *s, const th_layer *l)
{
    th_strbuf_clear(&s->text.scratch);
    for (int32_t i = 0; i < l->n_inputs; i++)
        th_strbuf_printf(
            &s->text.scratch, "%s%s", i > 0 ? " " : "",
            l->inputs[i] == TH_EXTERNAL_INPUT ? "input" : s->workload->layers[l->inputs[i]].name);
    return th_text(s->text.scratch.text);
}

/* "input fp16 weight int8 output fp16", "input 1 weight 2:4 output 0.5"; the second factor of a
 * matmul of two inputs stands where the weights do. */
static th_quantity layer_tensors(th_session *s, const th_layer *l, int attribute)
{
    static const char *const names[TH_N_TENSORS] = {"input", "weight", "output"};
    th_strbuf_clear(&s->text.scratch);
    for (int t = 0; t < TH_N_TENSORS; t++) {
        if (t == TH_TENSOR_WEIGHT && !th_layer_has_weights(l) && !th_layer_has_macs(l))
            continue;
        th_strbuf_printf(&s->text.scratch, "%s%s ", t > 0 ? " " : "", names[t]);
        if (attribute == LAYER_PRECISION)
            th_strbuf_add(&s->text.scratch, th_precision_name(l->precision[t]));
        else if (t == TH_TENSOR_WEIGHT && l->sparse_m > 0)
            th_strbuf_printf(&s->text.scratch, "%d:%d", (int)l->sparse_n, (int)l->sparse_m);
        else
            th_strbuf_printf(&s->text.scratch, "%g", l->density[t]);
    }
    return th_text(s->text.scratch.text);
}

static th_quantity layer_dims(th_session *s, const th_layer *l)
{
    th_strbuf_clear(&s->text.scratch);
    for (int d = 0; d < TH_N_DIMS; d++)
        th_strbuf_printf(&s->text.scratch, "%s%c%d", d > 0 ? " " : "", th_dim_letters[d],
                         (int)l->dim[d]);
    return th_text(s->text.scratch.text);
}

/* ---- figures of a run ---- */

static th_quantity share_or_absent(double share)
{
    return share >= 0 ? th_share(share) : th_absent(TH_KIND_SHARE);
}

/* Designs that do not count their accesses leave all at 0. */
static th_quantity accesses(const th_layer_result *l, int attribute)
{
    const th_accesses *a = &l->accesses;
    if (a->input_reads + a->weight_reads + a->partial_reads + a->output_writes == 0)
        return th_absent(TH_KIND_COUNT);
    switch (attribute) {
    case LAYER_INPUT_READS:
        return th_count(a->input_reads);
    case LAYER_WEIGHT_READS:
        return th_count(a->weight_reads);
    case LAYER_PARTIAL_READS:
        return th_count(a->partial_reads);
    default:
        return th_count(a->output_writes);
    }
}

static th_quantity dram(const th_layer_result *l, int attribute)
{
    const int64_t *moved = l->stats.moved_bytes;
    switch (attribute) {
    case LAYER_DRAM_READ:
        return th_bytes(th_stats_read(&l->stats));
    case LAYER_DRAM_WRITTEN:
        return th_bytes(moved[TH_ENGINE_OUTPUT]);
    default:
        return th_bytes(moved[attribute - LAYER_DRAM_INPUT + TH_ENGINE_INPUT]);
    }
}

static th_quantity quality(const th_layer_result *l, int attribute)
{
    double distance = th_layer_roofline_distance(l);
    th_time occupied = th_stats_occupied(&l->stats);
    switch (attribute) {
    case LAYER_DRAM_WAIT:
        return occupied > 0 ? th_share((double)(occupied - l->stats.busy_ps) / (double)occupied)
                            : th_absent(TH_KIND_SHARE);
    case LAYER_UTILIZATION:
        return share_or_absent(th_layer_utilization(l));
    case LAYER_BOUND:
        return th_text(th_layer_bound(l) != TH_BOUND_NONE ? th_bound_name(th_layer_bound(l))
                                                          : NULL);
    case LAYER_ROOFLINE:
        return distance > 0 ? th_mean(distance) : th_absent(TH_KIND_MEAN);
    default:
        return th_text(l->variant);
    }
}

static th_quantity times(const th_layer_result *l, int attribute)
{
    switch (attribute) {
    case LAYER_START:
        return th_ps_or_absent(l->start_ps);
    case LAYER_END: /* absent until the last task has ended */
        return th_ps_or_absent(l->n_open > 0 ? -1 : l->end_ps);
    case LAYER_ACTIVE:
        return th_ps(l->active_ps);
    case LAYER_BUSY:
        return th_ps(l->stats.busy_ps);
    case LAYER_IDLE:
        return th_ps(l->idle_ps);
    default:
        return th_ps(l->stats.stall_ps[attribute - LAYER_STALL_INPUT + TH_ENGINE_INPUT]);
    }
}

static th_quantity work(const th_layer_result *l, int attribute)
{
    switch (attribute) {
    case LAYER_TASKS:
        return th_count(l->n_tasks);
    case LAYER_ACCELS:
        return th_count(l->n_accels);
    case LAYER_BUSY_CYCLES:
        return th_count(l->array_cycles > 0 ? l->array_cycles : l->vector_cycles);
    case LAYER_MACS_DONE:
        return th_count(l->macs);
    default:
        return th_count(l->vector_operations);
    }
}

static th_quantity figure(th_session *s, int index, int attribute)
{
    const th_result *r = th_run_result(s);
    if (!r || index >= r->n_layers)
        return th_absent(th_layer_attributes[attribute].kind);
    const th_layer_result *l = &r->layers[index];
    if (attribute == LAYER_ENERGY)
        return r->has_energy ? th_joules(th_energy_sum(&l->energy)) : th_absent(TH_KIND_ENERGY);
    if (attribute >= LAYER_MAC_ENERGY && attribute < LAYER_DRAM_WAIT)
        return th_energy_part(r, &l->energy, attribute - LAYER_MAC_ENERGY);
    if (attribute == LAYER_START || attribute == LAYER_END ||
        (attribute >= LAYER_ACTIVE && attribute <= LAYER_IDLE))
        return times(l, attribute);
    if (attribute <= LAYER_OPERATIONS)
        return work(l, attribute);
    if (attribute >= LAYER_DRAM_INPUT && attribute <= LAYER_DRAM_WRITTEN)
        return dram(l, attribute);
    if (attribute >= LAYER_INPUT_READS && attribute <= LAYER_OUTPUT_WRITES)
        return accesses(l, attribute);
    return quality(l, attribute);
}

/* ---- without a run ---- */

/* The largest extents over the positions of the set, in its first phase: "K16 C64 H28 W28 R3". */
static th_quantity layer_shard(th_session *s, int index, const th_set *set)
{
    int32_t extent[TH_N_DIMS] = {0};
    for (int p = 0; p < set->n_accels; p++) {
        th_loop_box box = th_shard_phase_loops(&s->workload->layers[index], s->workload->batch,
                                               &s->mapping->strategy[index], set->shares, p, 0);
        for (int d = 0; d < TH_N_DIMS; d++)
            if (box.hi[d] - box.lo[d] > extent[d])
                extent[d] = box.hi[d] - box.lo[d];
    }
    th_strbuf *out = &s->text.scratch;
    th_strbuf_clear(out);
    for (int d = 0; d < TH_N_DIMS; d++)
        if (extent[d] > 1)
            th_strbuf_printf(out, "%s%c%d", out->length > 0 ? " " : "", th_dim_letters[d],
                             (int)extent[d]);
    if (out->length == 0)
        th_strbuf_add(out, "1");
    return th_text(out->text);
}

static th_quantity layer_mapped(th_session *s, int index, int attribute)
{
    char text[80];
    if (!s->mapping)
        return th_absent(th_layer_attributes[attribute].kind);
    const th_set *set = &s->mapping->sets[s->mapping->set_of[index]];
    if (attribute == LAYER_SET)
        return th_count(s->mapping->set_of[index]);
    if (attribute == LAYER_DESIGN)
        return th_text(th_set_design_name(set, s->system));
    if (attribute == LAYER_SHARD)
        return layer_shard(s, index, set);
    th_strbuf_clear(&s->text.scratch);
    th_strbuf_add(&s->text.scratch,
                  th_strategy_format(&s->mapping->strategy[index], text, sizeof text));
    return th_text(s->text.scratch.text);
}

th_quantity th_layer_attribute(th_session *s, int index, int attribute)
{
    const th_layer *l = &s->workload->layers[index];
    switch (attribute) {
    case LAYER_NAME:
        return th_text(l->name);
    case LAYER_KIND:
        return th_text(th_layer_type_name(l));
    case LAYER_DIMS:
        return layer_dims(s, l);
    case LAYER_MACS:
        return th_count(th_layer_macs(l));
    case LAYER_PARAMETERS:
        return th_count(th_layer_parameters(l));
    case LAYER_ACTIVATIONS:
        return th_count(th_layer_output_elements(l));
    case LAYER_OUTPUT_BYTES:
        return th_bytes(
            th_tensor_bytes(th_layer_output_elements(l), l->precision[TH_TENSOR_OUTPUT]));
    case LAYER_PRECISION:
    case LAYER_DENSITY:
        return layer_tensors(s, l, attribute);
    case LAYER_INPUTS:
        return layer_inputs(s, l);
    case LAYER_WEIGHTS_OF:
        return l->tied_to > 0 ? th_text(s->workload->layers[l->tied_to - 1].name)
                              : th_absent(TH_KIND_TEXT);
    case LAYER_SET:
    case LAYER_DESIGN:
    case LAYER_STRATEGY:
    case LAYER_SHARD:
        return layer_mapped(s, index, attribute);
    default:
        return figure(s, index, attribute);
    }
}
