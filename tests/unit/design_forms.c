/* SPDX-License-Identifier: GPL-3.0-or-later */
/* design_forms.c - an equation per design, from the extents of the layer and the keys.
 *
 * From the schedule they take choices only: the images that a systolic array merges, the pieces of
 * a roofline and their cycles; and what nest_forms.c says. */
#include <config.h>
#include "tests/unit/design_forms.h"

#include "predictor/model/phases.h"
#include "predictor/op/layer_op.h"
#include "sim/design/table_read.h"
#include "tests/unit/design_question.h"

/* --- tiled ------------------------------------------------------------------------------------ */

/* True if every step loads its operands, in the published order, with two slots. */
static bool is_as_published(const question *q)
{
    const char *order = q->config->text[key_index(q, "order")];
    double slots = number(q, "slots"), in = number(q, "slots_in"), out = number(q, "slots_out");
    bool has_tile = number(q, "tile_k") > 0 && number(q, "tile_c") > 0 && number(q, "tile_h") > 0 &&
                    number(q, "tile_w") > 0;
    bool is_sized =
        number(q, "buffer") > 0 || number(q, "input_buffer") > 0 || number(q, "weight_buffer") > 0;
    return has_tile && (in > 0 ? in : slots) == 2 && (out > 0 ? out : slots) == 2 && !is_sized &&
           number(q, "clip") == 0 && number(q, "halo") == 0 &&
           (!order || strcmp(order, "BHWKC") == 0);
}

/* Full tiles in two slots: P max(q L1, t_O) + min(max(t_I, t_W), t_C) + min(t_O, q L1). */
static double tiled_form(const question *q)
{
    const th_shard *s = q->s;
    double k = number(q, "tile_k"), c = number(q, "tile_c"), h = number(q, "tile_h"),
           w = number(q, "tile_w"), kernel = (double)kernel_of(s);
    if (!is_as_published(q))
        return NAN;
    double t_i = c * h * w / number(q, "input_port"), t_c = kernel * h * w;
    double t_w = k * c * kernel / number(q, "weight_port");
    double t_o = k * h * w / number(q, "output_port");
    double steps = ceil((double)th_group_inputs(s) / c);
    double tiles = (double)s->dim[TH_DIM_B] * s->groups * ceil(s->dim[TH_DIM_H] / h) *
                   ceil(s->dim[TH_DIM_W] / w) * ceil((double)th_group_outputs(s) / k);
    double t_l = th_max(t_i, t_w), per_tile = steps * th_max(t_l, t_c);
    return tiles * th_max(per_tile, t_o) + th_min(t_l, t_c) + th_min(t_o, per_tile);
}

/* --- systolic --------------------------------------------------------------------------------- */

/* The cycles without stalls. Runs have fills that depend on the buffers, so there is no closed form
 * with refill. */
static double systolic_form(const question *q)
{
    enum { OS, WS, IS };
    const th_shard *s = q->s;
    th_schedule plan;
    int flow = (int)number(q, "dataflow");
    if ((number(q, "refill") != 0 && flow != OS) || !scheduled(q, &plan))
        return NAN;
    int64_t products = plan.count[TH_LOOP_B], rows = whole(q, "rows"), cols = whole(q, "cols");
    int64_t pixels = (int64_t)s->dim[TH_DIM_H] * s->dim[TH_DIM_W];
    int64_t m = pixels * s->dim[TH_DIM_B] * s->groups / products, n = th_group_outputs(s);
    int64_t k = th_group_inputs(s) * kernel_of(s);
    if (s->sparse_m > 0)
        k = th_ceil_div(k * s->sparse_n, s->sparse_m);
    int64_t down = th_ceil_div(flow == OS ? m : k, rows);
    int64_t across = th_ceil_div(flow == IS ? m : n, cols);
    int64_t stream = flow == OS ? k : flow == WS ? m : n;
    int64_t folds = products * down * across;
    int64_t fold = stream + (flow == OS ? 1 : 2) * rows + cols - 2;
    return (double)(number(q, "overlap") != 0 ? (folds - 1) * th_max(stream, rows) + fold
                                              : folds * fold);
}

/* --- systolic_vec ----------------------------------------------------------------------------- */

/* The time at which `passes` passes of `steps` steps have been computed, without stores: the first
 * load of t cycles, then every step but the last overlaps with the load of the next. The fill f
 * belongs to the first step of all (overlap), or to the last step of every pass. */
static double computed_after(double passes, double steps, double t, double c, double f,
                             bool overlaps)
{
    double step = fmax(t, c), filled = fmax(t, c + f), n = passes * steps;
    if (!overlaps)
        return t + passes * (steps - 1) * step + (passes - 1) * filled + c + f;
    return n == 1 ? t + c + f : t + filled + (n - 2) * step + c;
}

/* Two slots, clip = false. P passes of ceil(C/vec) steps, t = max(t_I, t_W), c = H R S:
 *   cycles = max(computed_after(P) + t_O, computed_after(1) + P t_O) */
static double systolic_vec_form(const question *q)
{
    const th_shard *s = q->s;
    bool overlaps = number(q, "overlap") != 0;
    int64_t rows = whole(q, "rows"), cols = whole(q, "cols"), vec = whole(q, "vec");
    int64_t h = s->dim[TH_DIM_H];
    int64_t window = th_window(cols, s->stride_w, s->dim[TH_DIM_S], s->dilation_w, s->in_w);
    double passes = (double)s->dim[TH_DIM_B] * s->groups *
                    (double)th_ceil_div(th_group_outputs(s), rows) *
                    (double)th_ceil_div(s->dim[TH_DIM_W], cols);
    double steps = (double)th_ceil_div(th_group_inputs(s), vec), c = (double)(h * kernel_of(s));
    double f = (double)(rows + cols);
    double t = fmax(port_cycles(q, TH_TENSOR_INPUT, vec * s->in_h * window),
                    port_cycles(q, TH_TENSOR_WEIGHT, rows * vec * kernel_of(s)));
    double store = port_cycles(q, TH_TENSOR_OUTPUT, rows * h * cols);
    return fmax(computed_after(passes, steps, t, c, f, overlaps) + store,
                computed_after(1, steps, t, c, f, overlaps) + passes * store);
}

/* --- roofline --------------------------------------------------------------------------------- */

/* Cycles of a transfer at a share of the design's own bandwidth; 0 without one. */
static double share_cycles(const question *q, double bytes, double share)
{
    double bandwidth = number(q, "bandwidth");
    return bandwidth > 0 ? bytes * 8 * number(q, "clock") / (bandwidth * share) : 0;
}

/* The recurrence over the pieces (load, compute, store) with the design's slots; one operand is
 * loaded before all of them. */
static double roofline_form(const question *q)
{
    th_schedule plan;
    if (!scheduled(q, &plan))
        return NAN;
    th_schedule_totals all = th_schedule_sum(&plan);
    bool by_channel = plan.input_stays;
    double streamed = (double)(by_channel ? all.weight_bytes : all.input_bytes);
    double once = share_cycles(q, (double)(by_channel ? all.input_bytes : all.weight_bytes), 1);
    double stored = (double)all.output_bytes, loaded = 0, ended = 0, emptied = 0;
    double computed[TH_SLOTS_MAX] = {0}, out[TH_SLOTS_MAX] = {0}; /* when each slot became free */
    int64_t slots = whole(q, "slots"), n = plan.count[by_channel ? TH_LOOP_K : TH_LOOP_H];
    for (int64_t i = 0; i < n; i++) {
        unsigned mask = i < n - 1 ? 0 : by_channel ? TH_LAST_K : TH_LAST_H;
        const th_step *piece = &plan.step[mask];
        double in = (double)(by_channel ? piece->weight_bytes : piece->input_bytes);
        double back = (double)plan.output_bytes[mask];
        double *free_in = &computed[i % slots], *free_out = &out[i % slots];
        loaded = th_max(loaded, *free_in) + share_cycles(q, in, streamed / (streamed + stored));
        ended = th_max(th_max(loaded, once), th_max(ended, *free_out)) + (double)piece->cycles;
        emptied = th_max(emptied, ended) + share_cycles(q, back, stored / (streamed + stored));
        *free_in = ended;
        *free_out = emptied;
    }
    return emptied;
}

/* --- serial_tiled: the equations at the head of serial_tiled.c, in operations -----------------*/

enum { OPERATIONS_PER_MAC = 2 };

static double operations_per_s(const question *q)
{
    double given = ceil(number(q, "throughput"));
    return given > 0 ? given
                     : OPERATIONS_PER_MAC * number(q, "tile_k") * number(q, "tile_c") *
                           number(q, "clock");
}

static double bus_cycles(const question *q, th_tensor tensor, double elements)
{
    double bytes = (double)th_shard_bytes(q->s, tensor, (int64_t)elements);
    return 8 * bytes / (number(q, "bus_bits") * number(q, "clock")) * operations_per_s(q);
}

static double serial_tiles(const question *q)
{
    const th_shard *s = q->s;
    double k = number(q, "tile_k"), c = number(q, "tile_c"), h = number(q, "tile_h"),
           w = number(q, "tile_w"), in_h = number(q, "input_tile_h"),
           in_w = number(q, "input_tile_w"), kernel = (double)kernel_of(s);
    if (!(k > 0 && c > 0 && h > 0 && w > 0))
        return NAN;
    double in_pixels = (in_h > 0 ? in_h : h) * (in_w > 0 ? in_w : w);
    double t_in = bus_cycles(q, TH_TENSOR_INPUT, c * in_pixels) +
                  bus_cycles(q, TH_TENSOR_WEIGHT, k * c * kernel);
    double t_comp = OPERATIONS_PER_MAC * h * w * k * c * kernel;
    double t_out = bus_cycles(q, TH_TENSOR_OUTPUT, k * h * w);
    double areas = ceil(s->dim[TH_DIM_H] / h) * ceil(s->dim[TH_DIM_W] / w);
    double blocks = ceil((double)th_group_outputs(s) / k);
    double steps = ceil((double)th_group_inputs(s) / c);
    return s->dim[TH_DIM_B] * s->groups * areas * blocks * (steps * (t_in + t_comp) + t_out);
}

/* `times` products of rows x inputs elements with a matrix of `weights` weights. */
typedef struct {
    double times, rows, inputs, outputs, weights;
} products;

static double serial_stream(const question *q, products p)
{
    double t_in = bus_cycles(q, TH_TENSOR_INPUT, p.rows * p.inputs) +
                  bus_cycles(q, TH_TENSOR_WEIGHT, p.weights);
    double t_comp = OPERATIONS_PER_MAC * p.rows * p.weights;
    double t_out = bus_cycles(q, TH_TENSOR_OUTPUT, p.rows * p.outputs);
    return p.times * fmax(t_in, fmax(t_comp, t_out));
}

static double serial_tiled_form(const question *q)
{
    const th_shard *s = q->s;
    double gates = th_layer_gates((th_layer_kind)s->kind), k = (double)th_group_outputs(s);
    double inner = (double)th_group_inputs(s) * (double)kernel_of(s);
    double b = s->dim[TH_DIM_B], rows = (double)s->dim[TH_DIM_H] * s->dim[TH_DIM_W];
    if (s->kind == TH_LAYER_CONV)
        return serial_tiles(q);
    if (gates > 0)
        return serial_stream(q, (products){rows, b, inner, k, gates * k * (inner + k)});
    if (th_shard_multiplies_activations(s))
        return serial_stream(q, (products){b * s->groups, rows, inner, k, inner * k});
    return serial_stream(q, (products){s->groups, b * rows, inner, k, inner * k});
}

/* --- table, learned: the measurement or prediction itself, a cycle is a picosecond ------------ */

static double table_form(const question *q)
{
    const th_shard *s = q->s;
    th_timed_shape shape = {.kind = s->kind, .stride = s->stride_h, .groups = s->groups};
    auto_time_table *t = th_time_table_read(q->config->text[key_index(q, "file")], NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    memcpy(shape.dim, s->dim, sizeof shape.dim);
    const th_timed_row *row = th_time_table_find(t, &shape);
    return row ? (double)row->time_ps : NAN;
}

static double predicted_ps(const th_predictor *p, const question *q, const th_layer_part *part)
{
    const th_gpu *found = th_predictor_gpu(p, q->config->text[key_index(q, "gpu")]);
    th_layer_op op;
    th_phases phases;
    if (!found || th_layer_op_of(part, &op, NULL))
        return NAN;
    th_gpu gpu = *found;
    gpu.extra[TH_GPU_FP16] = number(q, "peak_fp16");
    if (th_phases_predict(p, &op.op, &gpu, &phases, NULL))
        return NAN;
    return op.times * (double)th_phases_ps(phases.execution_ms);
}

/* Of a conv or a matmul, on a GPU that the model describes. */
static double learned_form(const question *q)
{
    const th_shard *s = q->s;
    th_layer_part part = {.kind = (th_layer_kind)s->kind,
                          .groups = s->groups,
                          .in_h = s->in_h,
                          .in_w = s->in_w,
                          .stride_h = s->stride_h,
                          .stride_w = s->stride_w,
                          .dilation_h = s->dilation_h,
                          .dilation_w = s->dilation_w,
                          .up_h = s->up_h,
                          .up_w = s->up_w,
                          .n_operands = s->n_operands,
                          .precision = s->precision[0] == TH_FP16 ? TH_PRECISION_FP16 : 0,
                          .has_bias = s->has_bias,
                          .activation = (th_op_activation)number(q, "activation")};
    memcpy(part.dim, s->dim, sizeof part.dim);
    auto_predictor *p = th_predictor_read(q->config->text[key_index(q, "model")], NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    return predicted_ps(p, q, &part);
}

/* --- the table -------------------------------------------------------------------------------- */

typedef double form(const question *q);

static form *form_of(const th_design_type *type)
{
    static const struct {
        const char *type;
        form *form;
    } forms[] = {{"tiled", tiled_form},
                 {"systolic", systolic_form},
                 {"systolic_vec", systolic_vec_form},
                 {"winograd", winograd_form},
                 {"roofline", roofline_form},
                 {"serial_tiled", serial_tiled_form},
                 {"gemv", gemv_form},
                 {"table", table_form},
                 {"learned", learned_form},
                 {"script", script_form}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].type, type->name) == 0)
            return forms[i].form;
    return NULL;
}

bool has_closed_form(const th_design_type *type)
{
    return form_of(type) != NULL;
}

double closed_form(const th_design_type *type, const th_design_config *config,
                   const th_shard *shard)
{
    return form_of(type)(&(question){type, config, shard});
}

double closed_form_of(const char *keys, const th_shard *shard)
{
    auto_system *s = system_with(keys);
    const th_design_type *type = NULL;
    th_design_config config;
    th_error e = {"", ""};
    CU_ASSERT_EQUAL_FATAL(th_design_configure(&s->designs[0], &type, &config, &e), 0);
    double cycles = closed_form(type, &config, shard);
    th_design_release(type, &config);
    return cycles;
}
