/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_attributes.c - the attributes of layers: of the workload, the mapping, and the run. */
#include <config.h>
#include "session/objects/class_attributes.h"

static const char *bound_name(int i)
{
    return i <= TH_BOUND_WAITING ? th_bound_name((th_bound)i) : NULL;
}

/* ---- of the workload ---- */

TH_GETTER(of_layer, th_attribute_at(a, &s->workload->layers[index]))

/* A getter that is an expression of the layer l. */
#define OF_LAYER(name, value)                                                                      \
    static th_quantity name(th_session *s, int index, const th_attribute *a)                       \
    {                                                                                              \
        const th_layer *l = &s->workload->layers[index];                                           \
        (void)a;                                                                                   \
        return value;                                                                              \
    }
OF_LAYER(kind, th_text(th_layer_type_name(l)))
OF_LAYER(macs, th_count(th_layer_macs(l)))
OF_LAYER(parameters, th_count(th_layer_parameters(l)))
OF_LAYER(activations, th_count(th_layer_output_elements(l)))
OF_LAYER(output_bytes,
         th_bytes(th_tensor_bytes(th_layer_output_elements(l), l->precision[TH_TENSOR_OUTPUT])))
OF_LAYER(weights_of, th_text(l->tied_to > 0 ? s->workload->layers[l->tied_to - 1].name : NULL))

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
        if (a->at == offsetof(th_layer, precision))
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

/* ---- of the mapping ---- */

/* NULL: there is none. */
static const th_set *set_of(const th_session *s, int index)
{
    return s->mapping ? &s->mapping->sets[s->mapping->set_of[index]] : NULL;
}

TH_GETTER(set, s->mapping ? th_count(s->mapping->set_of[index]) : th_absent(TH_KIND_COUNT))
TH_GETTER(design, th_text(s->mapping ? th_set_design_name(set_of(s, index), s->system) : NULL))

static th_quantity strategy(th_session *s, int index, const th_attribute *a)
{
    char text[80];
    if (!s->mapping)
        return th_absent(a->kind);
    th_strbuf_clear(&s->text.scratch);
    th_strbuf_add(&s->text.scratch,
                  th_strategy_format(&s->mapping->strategy[index], text, sizeof text));
    return th_text(s->text.scratch.text);
}

/* The largest extents over the positions of the set, in its first phase: "K16 C64 H28 W28 R3". */
static th_quantity shard(th_session *s, int index, const th_attribute *a)
{
    const th_set *set = set_of(s, index);
    if (!set)
        return th_absent(a->kind);
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

/* ---- of the run ---- */

/* NULL: nothing has run. */
static const th_layer_result *result_of(th_session *s, int index)
{
    const th_result *r = th_run_result(s);
    return r && index < r->n_layers ? &r->layers[index] : NULL;
}

TH_GETTER(of_result, th_attribute_at(a, result_of(s, index)))

static th_quantity energy(th_session *s, int index, const th_attribute *a)
{
    const th_layer_result *l = result_of(s, index);
    return th_energy_part(th_run_result(s), l ? &l->energy : NULL, a->at);
}

/* Designs that do not count their accesses leave all at 0. */
static th_quantity of_accesses(th_session *s, int index, const th_attribute *a)
{
    const th_layer_result *l = result_of(s, index);
    const th_accesses *n = l ? &l->accesses : NULL;
    bool is_counted = n && n->input_reads + n->weight_reads + n->partial_reads + n->output_writes;
    return th_attribute_at(a, is_counted ? l : NULL);
}

/* A getter that is an expression of the result l, where there is one and a condition holds. */
#define OF_RESULT(name, condition, value)                                                          \
    static th_quantity name(th_session *s, int index, const th_attribute *a)                       \
    {                                                                                              \
        const th_layer_result *l = result_of(s, index);                                            \
        return l && (condition) ? (value) : th_absent(a->kind);                                    \
    }
OF_RESULT(end, l->n_open == 0, th_ps_or_absent(l->end_ps))
OF_RESULT(busy_cycles, true, th_count(l->array_cycles > 0 ? l->array_cycles : l->vector_cycles))
OF_RESULT(dram_read, true, th_bytes(th_stats_read(&l->stats)))
OF_RESULT(utilization, th_layer_utilization(l) >= 0, th_share(th_layer_utilization(l)))
OF_RESULT(roofline, th_layer_roofline_distance(l) > 0, th_mean(th_layer_roofline_distance(l)))
OF_RESULT(bound, th_layer_bound(l) != TH_BOUND_NONE, th_text(th_bound_name(th_layer_bound(l))))
OF_RESULT(dram_wait, th_stats_occupied(&l->stats) > 0,
          th_share((double)(th_stats_occupied(&l->stats) - l->stats.busy_ps) /
                   (double)th_stats_occupied(&l->stats)))

/* ---- all of them ---- */

#define INPUT(getter)    .of = TH_OF_INPUT, .get = getter
#define RUN(getter)      .get = getter, .changes = TH_RECORDS_OF_ANY
#define RESULT(member)   RUN(of_result), TH_AT(th_layer_result, member)
#define DETAIL(getter)   .is_detail = true, RUN(getter)
#define DETAILS(member)  .is_detail = true, RESULT(member)
#define ACCESSES(member) DETAIL(of_accesses), TH_AT(th_layer_result, accesses.member)
const th_attribute th_layer_attributes[] = {
    {"name", TH_KIND_TEXT, "the part after layer/", .heading = "layer", .get = of_layer,
     TH_AT(th_layer, name)},
    {"kind", TH_KIND_TEXT, "operator of the layer", INPUT(kind)},
    {"dims", TH_KIND_TEXT, "extents of its loops", INPUT(dims)},
    {"macs", TH_KIND_COUNT, "multiply-accumulates of one batch", .heading = "MACs", INPUT(macs)},
    {"parameters", TH_KIND_COUNT, "weights (unless they are another layer's), biases and norms",
     INPUT(parameters)},
    {"activations", TH_KIND_COUNT, "elements of its output", INPUT(activations)},
    {"output_bytes", TH_KIND_BYTES, "size of its output", INPUT(output_bytes)},
    {"precision", TH_KIND_TEXT, "of its input, weights and output", INPUT(tensors),
     TH_AT(th_layer, precision)},
    {"density", TH_KIND_TEXT, "part that is not zero of its input, weights and output",
     INPUT(tensors), TH_AT(th_layer, density)},
    {"inputs", TH_KIND_TEXT, "layers that it reads", INPUT(inputs)},
    {"weights_of", TH_KIND_TEXT, "layer whose weights it has, if another", INPUT(weights_of)},
    {"set", TH_KIND_COUNT, "set of the mapping that runs it", INPUT(set)},
    {"design", TH_KIND_TEXT, "design of that set", INPUT(design)},
    {"strategy", TH_KIND_TEXT, "how the set shards it", INPUT(strategy)},
    {"shard", TH_KIND_TEXT, "extents of the largest shard; those of 1 are left out",
     .heading = "largest shard", INPUT(shard)},
    {"start", TH_KIND_TIME, "when its first task began", DETAILS(start_ps)},
    {"end", TH_KIND_TIME, "when its last task ended", DETAIL(end)},
    {"tasks", TH_KIND_COUNT, "tasks computed for it", DETAILS(n_tasks)},
    {"n_accels", TH_KIND_COUNT, "accelerators that run it", .heading = "accels", DETAILS(n_accels)},
    {"active", TH_KIND_TIME, "time with a task of the layer under way", RESULT(active_ps)},
    {"busy", TH_KIND_TIME, "time in which arrays work, summed over its accelerators",
     DETAILS(stats.busy_ps)},
    {"stall_input", TH_KIND_TIME, "time in which arrays wait for inputs from DRAM, summed",
     .heading = "input", DETAILS(stats.stall_ps[TH_ENGINE_INPUT])},
    {"stall_weight", TH_KIND_TIME, "time in which arrays wait for weights from DRAM, summed",
     .heading = "weight", DETAILS(stats.stall_ps[TH_ENGINE_WEIGHT])},
    {"stall_partial", TH_KIND_TIME, "time in which arrays wait for partial sums from DRAM, summed",
     .heading = "partial", DETAILS(stats.stall_ps[TH_ENGINE_PARTIAL])},
    {"stall_output", TH_KIND_TIME, "time in which arrays wait for room to store outputs, summed",
     .heading = "output", DETAILS(stats.stall_ps[TH_ENGINE_OUTPUT])},
    {"idle", TH_KIND_TIME,
     "time of its accelerators while the layer is active, without a task of it, summed",
     DETAILS(idle_ps)},
    {"busy_cycles", TH_KIND_COUNT,
     "cycles of the arrays (of the vector units, where it has no MACs)", DETAIL(busy_cycles)},
    {"macs_done", TH_KIND_COUNT, "multiply-accumulates of all its tasks", DETAILS(macs)},
    {"operations", TH_KIND_COUNT, "element operations of the vector units",
     DETAILS(vector_operations)},
    {"utilization", TH_KIND_SHARE,
     "multiply-accumulates / those that the arrays could have done while the layer was active",
     .heading = "of peak", DETAIL(utilization)},
    {"bound", TH_KIND_TEXT, "what took longest: compute, memory, a port, waiting (idle)",
     bound_name, DETAIL(bound)},
    {"roofline", TH_KIND_MEAN,
     "active time / max(multiply-accumulates / peak, DRAM bytes / bandwidth)",
     .heading = "x roofline", DETAIL(roofline)},
    {"dram_input", TH_KIND_BYTES, "inputs read from DRAM",
     DETAILS(stats.moved_bytes[TH_ENGINE_INPUT])},
    {"dram_weight", TH_KIND_BYTES, "weights read from DRAM",
     DETAILS(stats.moved_bytes[TH_ENGINE_WEIGHT])},
    {"dram_partial", TH_KIND_BYTES, "partial sums read back from DRAM",
     DETAILS(stats.moved_bytes[TH_ENGINE_PARTIAL])},
    {"dram_read", TH_KIND_BYTES, "bytes read from DRAM", .heading = "DRAM read", DETAIL(dram_read)},
    {"dram_written", TH_KIND_BYTES, "bytes written to DRAM", .heading = "written",
     DETAILS(stats.moved_bytes[TH_ENGINE_OUTPUT])},
    {"input_reads", TH_KIND_COUNT, "inputs that arrays read from their buffers",
     ACCESSES(input_reads)},
    {"weight_reads", TH_KIND_COUNT, "weights, likewise", ACCESSES(weight_reads)},
    {"partial_reads", TH_KIND_COUNT, "partial sums, likewise", ACCESSES(partial_reads)},
    {"output_writes", TH_KIND_COUNT, "outputs that arrays wrote to their buffers",
     ACCESSES(output_writes)},
    {"variant", TH_KIND_TEXT, "how the design ran it", DETAILS(variant)},
    {"energy", TH_KIND_ENERGY, "taken by its tasks, where the system says what things cost",
     RUN(energy), .at = TH_ENERGY_SUM},
    TH_ENERGY_ATTRIBUTES(energy),
    {"dram_wait", TH_KIND_SHARE, "share of the time of its tasks in which arrays wait for DRAM",
     .heading = "wait", RUN(dram_wait)},
    {.name = NULL},
};
