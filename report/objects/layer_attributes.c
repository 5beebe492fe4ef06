/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_attributes.c - the attributes of layers: of the workload, the mapping, and the run. */
#include <config.h>
#include <stddef.h>
#include "report/objects/class_attributes.h"

/* ---- of the workload ---- */

enum {
    NAME,
    KIND,
    MACS,
    PARAMETERS,
    ACTIVATIONS,
    OUTPUT_BYTES,
    WEIGHTS_OF,
    PRECISION,
    DENSITY,
    SET,
    DESIGN,
    STRATEGY,
    SHARD
};

static th_quantity inputs(th_session *s, int index, const th_attribute *a)
{
    const th_layer *l = &s->workload->layers[index];
    (void)a;
    th_strbuf_clear(&s->text.scratch);
    for (int32_t i = 0; i < l->n_inputs; i++)
        th_strbuf_printf(
            &s->text.scratch, "%s%s", i > 0 ? " " : "",
            l->inputs[i] == TH_EXTERNAL_INPUT ? "input" : s->workload->layers[l->inputs[i]].name);
    return th_text(s->text.scratch.text);
}

/* "input fp16 weight int8 output fp16", "input 1 weight 2:4 output 0.5"; the second factor of a
 * matmul of two inputs stands where the weights do. */
static th_quantity tensors(th_session *s, int index, const th_attribute *a)
{
    const th_layer *l = &s->workload->layers[index];
    static const char *const names[TH_N_TENSORS] = {"input", "weight", "output"};
    th_strbuf_clear(&s->text.scratch);
    for (int t = 0; t < TH_N_TENSORS; t++) {
        if (t == TH_TENSOR_WEIGHT && !th_layer_has_weights(l) && !th_layer_has_macs(l))
            continue;
        th_strbuf_printf(&s->text.scratch, "%s%s ", t > 0 ? " " : "", names[t]);
        if (a->at == PRECISION)
            th_strbuf_add(&s->text.scratch, th_precision_name(l->precision[t]));
        else if (t == TH_TENSOR_WEIGHT && l->sparse_m > 0)
            th_strbuf_printf(&s->text.scratch, "%d:%d", (int)l->sparse_n, (int)l->sparse_m);
        else
            th_strbuf_printf(&s->text.scratch, "%g", l->density[t]);
    }
    return th_text(s->text.scratch.text);
}

static th_quantity dims(th_session *s, int index, const th_attribute *a)
{
    const th_layer *l = &s->workload->layers[index];
    (void)a;
    th_strbuf_clear(&s->text.scratch);
    for (int d = 0; d < TH_N_DIMS; d++)
        th_strbuf_printf(&s->text.scratch, "%s%c%d", d > 0 ? " " : "", th_dim_letters[d],
                         (int)l->dim[d]);
    return th_text(s->text.scratch.text);
}

static th_quantity of_workload(th_session *s, int index, const th_attribute *a)
{
    const th_layer *l = &s->workload->layers[index];
    switch (a->at) {
    case NAME:
        return th_text(l->name);
    case KIND:
        return th_text(th_layer_type_name(l));
    case MACS:
        return th_count(th_layer_macs(l));
    case PARAMETERS:
        return th_count(th_layer_parameters(l));
    case ACTIVATIONS:
        return th_count(th_layer_output_elements(l));
    case OUTPUT_BYTES:
        return th_bytes(
            th_tensor_bytes(th_layer_output_elements(l), l->precision[TH_TENSOR_OUTPUT]));
    default:
        return l->tied_to > 0 ? th_text(s->workload->layers[l->tied_to - 1].name)
                              : th_absent(TH_KIND_TEXT);
    }
}

/* ---- of the mapping ---- */

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

static th_quantity of_mapping(th_session *s, int index, const th_attribute *a)
{
    char text[80];
    if (!s->mapping)
        return th_absent(a->kind);
    const th_set *set = &s->mapping->sets[s->mapping->set_of[index]];
    if (a->at == SET)
        return th_count(s->mapping->set_of[index]);
    if (a->at == DESIGN)
        return th_text(th_set_design_name(set, s->system));
    if (a->at == SHARD)
        return layer_shard(s, index, set);
    th_strbuf_clear(&s->text.scratch);
    th_strbuf_add(&s->text.scratch,
                  th_strategy_format(&s->mapping->strategy[index], text, sizeof text));
    return th_text(s->text.scratch.text);
}

/* ---- of the run ---- */

/* NULL: it has not begun. */
static const th_layer_result *result_of(th_session *s, int index)
{
    const th_result *r = th_run_result(s);
    return r && index < r->n_layers ? &r->layers[index] : NULL;
}

/* A field of the result. */
static th_quantity field(th_session *s, int index, const th_attribute *a)
{
    return th_attribute_field(a, result_of(s, index));
}

static th_quantity small_field(th_session *s, int index, const th_attribute *a)
{
    const char *l = (const char *)result_of(s, index);
    return l ? th_count(*(const int32_t *)(l + a->at)) : th_absent(TH_KIND_COUNT);
}

/* Absent while it is -1; the end, until the last task has ended. */
static th_quantity when(th_session *s, int index, const th_attribute *a)
{
    const th_layer_result *l = result_of(s, index);
    bool is_open = l && l->n_open > 0 && a->at == (int)offsetof(th_layer_result, end_ps);
    th_quantity q = th_attribute_field(a, l);
    return q.is_absent || is_open ? th_absent(a->kind) : th_ps_or_absent(q.whole);
}

/* Designs that do not count their accesses leave all at 0. */
static th_quantity accesses(th_session *s, int index, const th_attribute *a)
{
    const th_layer_result *l = result_of(s, index);
    const th_accesses *x = l ? &l->accesses : NULL;
    bool are_counted =
        x && x->input_reads + x->weight_reads + x->partial_reads + x->output_writes > 0;
    return th_attribute_field(a, are_counted ? l : NULL);
}

static th_quantity busy_cycles(th_session *s, int index, const th_attribute *a)
{
    const th_layer_result *l = result_of(s, index);
    return !l ? th_absent(a->kind)
              : th_count(l->array_cycles > 0 ? l->array_cycles : l->vector_cycles);
}

static th_quantity dram_read(th_session *s, int index, const th_attribute *a)
{
    const th_layer_result *l = result_of(s, index);
    return l ? th_bytes(th_stats_read(&l->stats)) : th_absent(a->kind);
}

static th_quantity utilization(th_session *s, int index, const th_attribute *a)
{
    const th_layer_result *l = result_of(s, index);
    double share = l ? th_layer_utilization(l) : -1;
    return share >= 0 ? th_share(share) : th_absent(a->kind);
}

static const char *bound_name(int i)
{
    return i <= TH_BOUND_WAITING ? th_bound_name((th_bound)i) : NULL;
}

static th_quantity bound(th_session *s, int index, const th_attribute *a)
{
    const th_layer_result *l = result_of(s, index);
    (void)a;
    return th_text(l && th_layer_bound(l) != TH_BOUND_NONE ? th_bound_name(th_layer_bound(l))
                                                           : NULL);
}

static th_quantity roofline(th_session *s, int index, const th_attribute *a)
{
    const th_layer_result *l = result_of(s, index);
    double distance = l ? th_layer_roofline_distance(l) : 0;
    return distance > 0 ? th_mean(distance) : th_absent(a->kind);
}

static th_quantity variant(th_session *s, int index, const th_attribute *a)
{
    const th_layer_result *l = result_of(s, index);
    (void)a;
    return th_text(l ? l->variant : NULL);
}

static th_quantity dram_wait(th_session *s, int index, const th_attribute *a)
{
    const th_layer_result *l = result_of(s, index);
    th_time occupied = l ? th_stats_occupied(&l->stats) : 0;
    return occupied > 0 ? th_share((double)(occupied - l->stats.busy_ps) / (double)occupied)
                        : th_absent(a->kind);
}

static th_quantity energy(th_session *s, int index, const th_attribute *a)
{
    const th_layer_result *l = result_of(s, index);
    return th_energy_part(th_run_result(s), l ? &l->energy : NULL, a->at);
}

/* ---- the rows ---- */

#define INPUT(getter, which)    .of = TH_OF_INPUT, .get = getter, .at = which
#define FIELD_BY(getter, name)  .get = getter, .at = (int)offsetof(th_layer_result, name)
#define FIELD(name)             FIELD_BY(field, name)
#define DETAIL_BY(getter, name) .is_detail = true, FIELD_BY(getter, name)
#define DETAIL(name)            DETAIL_BY(field, name)

const th_attribute th_layer_attributes[] = {
    {"name", TH_KIND_TEXT, "the part after layer/", .heading = "layer", .get = of_workload,
     .at = NAME},
    {"kind", TH_KIND_TEXT, "operator of the layer", INPUT(of_workload, KIND)},
    {"dims", TH_KIND_TEXT, "extents of its loops", INPUT(dims, 0)},
    {"macs", TH_KIND_COUNT, "multiply-accumulates of one batch", .heading = "MACs",
     INPUT(of_workload, MACS)},
    {"parameters", TH_KIND_COUNT, "weights (unless they are another layer's), biases and norms",
     INPUT(of_workload, PARAMETERS)},
    {"activations", TH_KIND_COUNT, "elements of its output", INPUT(of_workload, ACTIVATIONS)},
    {"output_bytes", TH_KIND_BYTES, "size of its output", INPUT(of_workload, OUTPUT_BYTES)},
    {"precision", TH_KIND_TEXT, "of its input, weights and output", INPUT(tensors, PRECISION)},
    {"density", TH_KIND_TEXT, "part that is not zero of its input, weights and output",
     INPUT(tensors, DENSITY)},
    {"inputs", TH_KIND_TEXT, "layers that it reads", INPUT(inputs, 0)},
    {"weights_of", TH_KIND_TEXT, "layer whose weights it has, if another",
     INPUT(of_workload, WEIGHTS_OF)},
    {"set", TH_KIND_COUNT, "set of the mapping that runs it", INPUT(of_mapping, SET)},
    {"design", TH_KIND_TEXT, "design of that set", INPUT(of_mapping, DESIGN)},
    {"strategy", TH_KIND_TEXT, "how the set shards it", INPUT(of_mapping, STRATEGY)},
    {"shard", TH_KIND_TEXT, "extents of the largest shard; those of 1 are left out",
     .heading = "largest shard", INPUT(of_mapping, SHARD)},
    {"start", TH_KIND_TIME, "when its first task began", DETAIL_BY(when, start_ps)},
    {"end", TH_KIND_TIME, "when its last task ended", DETAIL_BY(when, end_ps)},
    {"tasks", TH_KIND_COUNT, "tasks computed for it", DETAIL_BY(small_field, n_tasks)},
    {"n_accels", TH_KIND_COUNT, "accelerators that run it", .heading = "accels",
     DETAIL_BY(small_field, n_accels)},
    {"active", TH_KIND_TIME, "time with a task of the layer under way", FIELD(active_ps)},
    {"busy", TH_KIND_TIME, "time in which arrays work, summed over its accelerators",
     DETAIL(stats.busy_ps)},
    {"stall_input", TH_KIND_TIME, "time in which arrays wait for inputs from DRAM, summed",
     .heading = "input", DETAIL(stats.stall_ps[TH_ENGINE_INPUT])},
    {"stall_weight", TH_KIND_TIME, "time in which arrays wait for weights from DRAM, summed",
     .heading = "weight", DETAIL(stats.stall_ps[TH_ENGINE_WEIGHT])},
    {"stall_partial", TH_KIND_TIME, "time in which arrays wait for partial sums from DRAM, summed",
     .heading = "partial", DETAIL(stats.stall_ps[TH_ENGINE_PARTIAL])},
    {"stall_output", TH_KIND_TIME, "time in which arrays wait for room to store outputs, summed",
     .heading = "output", DETAIL(stats.stall_ps[TH_ENGINE_OUTPUT])},
    {"idle", TH_KIND_TIME,
     "time of its accelerators while the layer is active, without a task of it, summed",
     DETAIL(idle_ps)},
    {"busy_cycles", TH_KIND_COUNT,
     "cycles of the arrays (of the vector units, where it has no MACs)", .is_detail = true,
     .get = busy_cycles},
    {"macs_done", TH_KIND_COUNT, "multiply-accumulates of all its tasks", DETAIL(macs)},
    {"operations", TH_KIND_COUNT, "element operations of the vector units",
     DETAIL(vector_operations)},
    {"utilization", TH_KIND_SHARE,
     "multiply-accumulates / those that the arrays could have done while the layer was active",
     .heading = "of peak", .is_detail = true, .get = utilization},
    {"bound", TH_KIND_TEXT, "what took longest: compute, memory, a port, waiting (idle)",
     bound_name, .is_detail = true, .get = bound},
    {"roofline", TH_KIND_MEAN,
     "active time / max(multiply-accumulates / peak, DRAM bytes / bandwidth)",
     .heading = "x roofline", .is_detail = true, .get = roofline},
    {"dram_input", TH_KIND_BYTES, "inputs read from DRAM",
     DETAIL(stats.moved_bytes[TH_ENGINE_INPUT])},
    {"dram_weight", TH_KIND_BYTES, "weights read from DRAM",
     DETAIL(stats.moved_bytes[TH_ENGINE_WEIGHT])},
    {"dram_partial", TH_KIND_BYTES, "partial sums read back from DRAM",
     DETAIL(stats.moved_bytes[TH_ENGINE_PARTIAL])},
    {"dram_read", TH_KIND_BYTES, "bytes read from DRAM", .heading = "DRAM read", .is_detail = true,
     .get = dram_read},
    {"dram_written", TH_KIND_BYTES, "bytes written to DRAM", .heading = "written",
     DETAIL(stats.moved_bytes[TH_ENGINE_OUTPUT])},
    {"input_reads", TH_KIND_COUNT, "inputs that arrays read from their buffers",
     DETAIL_BY(accesses, accesses.input_reads)},
    {"weight_reads", TH_KIND_COUNT, "weights, likewise",
     DETAIL_BY(accesses, accesses.weight_reads)},
    {"partial_reads", TH_KIND_COUNT, "partial sums, likewise",
     DETAIL_BY(accesses, accesses.partial_reads)},
    {"output_writes", TH_KIND_COUNT, "outputs that arrays wrote to their buffers",
     DETAIL_BY(accesses, accesses.output_writes)},
    {"variant", TH_KIND_TEXT, "how the design ran it", .is_detail = true, .get = variant},
    {"energy", TH_KIND_ENERGY, "taken by its tasks, where the system says what things cost",
     .get = energy, .at = TH_ENERGY_SUM},
    TH_ENERGY_ATTRIBUTES(energy),
    {"dram_wait", TH_KIND_SHARE, "share of the time of its tasks in which arrays wait for DRAM",
     .heading = "wait", .get = dram_wait},
    {NULL, TH_KIND_TEXT, NULL},
};
