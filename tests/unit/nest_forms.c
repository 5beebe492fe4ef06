/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nest_forms.c - closed forms of designs whose steps differ: nests of steps in two slots.
 *
 * From the schedule winograd takes choices only: the method, and which loop is outermost. */
#include <config.h>
#include "tests/unit/design_question.h"
#include "tests/unit/script_answers.h"
#include "tests/unit/two_slot.h"

/* --- winograd --------------------------------------------------------------------------------- */

/* The times of the steps of a layer of full stripes and blocks. */
typedef struct {
    double first_rows, more_rows, weights, compute, store; /* cycles */
    /* Masks of loops of the nest in whose first iterations they are loaded. */
    unsigned input_when, weight_when;
    unsigned first_stripe; /* the loop over stripes */
} stripe_times;

static two_slot_step stripe_step(const void *context, unsigned first, unsigned last)
{
    const stripe_times *t = context;
    bool loads_input = (first & t->input_when) == t->input_when,
         loads_weights = (first & t->weight_when) == t->weight_when;
    (void)last;
    return (two_slot_step){
        .load_input = !loads_input              ? 0
                      : first & t->first_stripe ? t->first_rows
                                                : t->more_rows,
        .load_weight = loads_weights ? t->weights : 0,
        .compute = t->compute,
        .store = t->store,
    };
}

/* Multipliers of an element, and pairs of pixels and taps of a stripe. */
static int64_t lanes_of(const question *q)
{
    int64_t n = whole(q, "m") + whole(q, "r") - 1;
    return n * n;
}

static int64_t taps_of(const question *q)
{
    return whole(q, "m") * q->s->dim[TH_DIM_W] * kernel_of(q->s);
}

/* True if the multipliers of an element work on input channels rather than on taps: the faster for
 * all channels together. */
static bool are_channels_faster(const question *q, const char *method)
{
    int64_t c = th_group_inputs(q->s), pn = whole(q, "pn"), lanes = lanes_of(q), taps = taps_of(q);
    return strcmp(method, "direct") == 0 &&
           th_ceil_div(c, pn) * th_ceil_div(taps, lanes) >= th_ceil_div(c, pn * lanes) * taps;
}

/* Cycles of a stripe of pm output channels and c input channels. */
static int64_t stripe_cycles(const question *q, const char *method, int64_t c)
{
    const th_shard *s = q->s;
    int64_t m = whole(q, "m"), r = whole(q, "r"), pn = whole(q, "pn");
    if (strcmp(method, "direct") != 0)
        return th_ceil_div(s->dim[TH_DIM_R], r) * th_ceil_div(s->dim[TH_DIM_S], r) *
               th_ceil_div(c, pn) * th_ceil_div(s->dim[TH_DIM_W], m);
    return are_channels_faster(q, method)
               ? th_ceil_div(c, pn * lanes_of(q)) * taps_of(q)
               : th_ceil_div(c, pn) * th_ceil_div(taps_of(q), lanes_of(q));
}

static int64_t kernel_bytes(const question *q, int64_t k, int64_t c)
{
    return th_shard_bytes(q->s, TH_TENSOR_WEIGHT, k * c * kernel_of(q->s));
}

/* Output and input channels of a block that fits a slot of the weight buffer. */
static void fit_block(const question *q, const char *method, int64_t *k, int64_t *c)
{
    int64_t outputs = th_group_outputs(q->s), inputs = th_group_inputs(q->s);
    int64_t pm = whole(q, "pm"), pn = whole(q, "pn");
    int64_t room = whole(q, "weight_buffer") / whole(q, "slots");
    *k = th_min(outputs, room / kernel_bytes(q, pm, inputs) * pm);
    *c = inputs;
    if (*k > 0)
        return;
    *k = th_min(outputs, pm);
    int64_t unit = th_min(inputs, are_channels_faster(q, method) ? pn * lanes_of(q) : pn);
    if (kernel_bytes(q, *k, unit) > room)
        unit = th_min(inputs, pn);
    *c = th_min(inputs, room / kernel_bytes(q, *k, unit) * unit);
}

static stripe_times stripe_times_of(const question *q, const char *method, int64_t k, int64_t c)
{
    const th_shard *s = q->s;
    int64_t m = whole(q, "m"), row = th_group_inputs(s) * s->in_w;
    int64_t window = (m - 1) * s->stride_h + (s->dim[TH_DIM_R] - 1) * s->dilation_h + 1;
    int64_t cycles = stripe_cycles(q, method, c) * th_ceil_div(k, whole(q, "pm"));
    return (stripe_times){
        .first_rows = port_cycles(q, TH_TENSOR_INPUT, window * row),
        .more_rows = port_cycles(q, TH_TENSOR_INPUT, m * s->stride_h * row),
        .weights = port_cycles(q, TH_TENSOR_WEIGHT, k * c * kernel_of(s)),
        .compute = (double)cycles,
        .store = port_cycles(q, TH_TENSOR_OUTPUT, k * m * s->dim[TH_DIM_W]),
    };
}

/* Two slots, clip = false. The nest is image-group pairs, stripes, blocks of outputs, blocks of
 * inputs; with channels outermost: blocks, images and stripes (with several groups: groups, blocks,
 * stripes). */
double winograd_form(const question *q)
{
    enum { FIRST = 1, SECOND = 2, THIRD = 4, FOURTH = 8 }; /* loops of the nest */
    const th_shard *s = q->s;
    th_schedule plan;
    if (!scheduled(q, &plan))
        return NAN;
    bool one_group = s->groups == 1;
    bool shares_weights = one_group && !th_shard_multiplies_activations(s);
    bool all_stay = plan.input_stays && plan.weight_stays;
    int64_t k = th_group_outputs(s), c = th_group_inputs(s);
    if (!all_stay)
        fit_block(q, plan.variant, &k, &c);
    int32_t images = s->dim[TH_DIM_B] * s->groups;
    int32_t stripes = (int32_t)th_ceil_div(s->dim[TH_DIM_H], whole(q, "m"));
    int32_t blocks_k = (int32_t)th_ceil_div(th_group_outputs(s), k),
            blocks_c = (int32_t)th_ceil_div(th_group_inputs(s), c);
    stripe_times t = stripe_times_of(q, plan.variant, k, c);
    two_slot_nest nest = {{images, stripes, blocks_k, blocks_c}, stripe_step, &t};
    if (plan.input_stays) {
        t.first_stripe = SECOND;
        t.input_when = THIRD | FOURTH;
        if (all_stay)
            t.weight_when = SECOND | (shares_weights ? FIRST : 0u);
    } else {
        nest.count[0] = one_group ? blocks_k : images;
        nest.count[1] = one_group ? images : blocks_k;
        nest.count[2] = stripes;
        t.first_stripe = THIRD;
        t.weight_when = THIRD | (shares_weights ? SECOND : 0u);
    }
    return two_slot_cycles(&nest);
}

/* --- gemv ------------------------------------------------------------------------------------- */

/* The last block of a loop may have fewer columns (or units) than the others. */
typedef struct {
    const question *q;
    int64_t gates, operations; /* of a unit */
    bool is_resident;
    int64_t full, rest; /* columns or units of a full block and of the last one */
    unsigned weight_when;
} gemv_blocks;

/* x and h of the equations at the head of gemv.c, for the units of one block. */
static double product_of(const gemv_blocks *g, int64_t units, int64_t elements)
{
    double columns = (double)(g->gates * units);
    return g->q->s->dim[TH_DIM_B] * ceil(columns / number(g->q, "lanes")) * (double)elements;
}

/* e without the latency. */
static double gates_of(const gemv_blocks *g, int64_t units)
{
    double operations = (double)(g->operations * units);
    return g->q->s->dim[TH_DIM_B] * ceil(operations / number(g->q, "gate_lanes"));
}

/* The time steps are the outer loop, the blocks the inner one. The product x of the first block of
 * the next step overlaps with the gates of the last block. */
static two_slot_step recurrent_step(const void *context, unsigned first, unsigned last)
{
    enum { STEPS = 1, BLOCKS = 2, ALL = 15 };
    const gemv_blocks *g = context;
    const th_shard *s = g->q->s;
    int64_t c = s->dim[TH_DIM_C], k = s->dim[TH_DIM_K], rows = s->dim[TH_DIM_B];
    int64_t units = last & BLOCKS ? g->rest : g->full;
    int64_t weights = first & STEPS || !g->is_resident ? g->gates * (c + k) : 0;
    double latency = number(g->q, "step_latency"), gates = gates_of(g, units);
    double x = product_of(g, units, c), h = product_of(g, units, k);
    double next_x = product_of(g, g->full, c);
    double cycles =
        last & BLOCKS ? h + fmax(next_x, gates + latency) + x - next_x : fmax(x + h, gates);
    double once = fmin(next_x, gates_of(g, g->rest) + latency);
    return (two_slot_step){
        .load_input = port_cycles(g->q, TH_TENSOR_INPUT, first & BLOCKS ? rows * c : 0),
        .load_weight = port_cycles(g->q, TH_TENSOR_WEIGHT, units * weights),
        .compute = cycles + (first == ALL ? once : 0),
        .store = port_cycles(g->q, TH_TENSOR_OUTPUT, rows * units),
    };
}

static bool is_one_vector(const th_shard *s)
{
    return (int64_t)s->dim[TH_DIM_B] * s->groups * s->dim[TH_DIM_H] == 1;
}

/* The loops are blocks of columns, images and groups, rows. */
static two_slot_step row_step(const void *context, unsigned first, unsigned last)
{
    enum { BLOCKS = 1 };
    const gemv_blocks *g = context;
    const th_shard *s = g->q->s;
    int64_t columns = last & BLOCKS ? g->rest : g->full, w = s->dim[TH_DIM_W];
    int64_t c = th_group_inputs(s), inner = c * kernel_of(s);
    int64_t window = th_window(1, s->stride_h, s->dim[TH_DIM_R], s->dilation_h, s->in_h) * s->in_w;
    bool loads_weights = (first & g->weight_when) == g->weight_when;
    bool loads_input = first & BLOCKS || !is_one_vector(s);
    return (two_slot_step){
        .load_input = port_cycles(g->q, TH_TENSOR_INPUT, loads_input ? c * window : 0),
        .load_weight = port_cycles(g->q, TH_TENSOR_WEIGHT, loads_weights ? columns * inner : 0),
        .compute = (double)w * ceil((double)columns / number(g->q, "lanes")) * (double)inner,
        .store = port_cycles(g->q, TH_TENSOR_OUTPUT, columns * w),
    };
}

/* Columns (or units) of n in a full block, each of `weights` weights: what a slot holds, in whole
 * rounds of the lanes; a single vector is cut into eight. 0: a slot holds none. */
static int64_t block_of(const question *q, int64_t n, int64_t weights, bool is_resident)
{
    enum { PIECES = 8 };
    int64_t lanes = whole(q, "lanes"), room = whole(q, "weight_buffer") / whole(q, "slots");
    int64_t fit = room / th_shard_bytes(q->s, TH_TENSOR_WEIGHT, weights);
    if (is_resident || fit >= n)
        fit = n;
    else if (fit > lanes)
        fit -= fit % lanes;
    bool is_cut = is_one_vector(q->s) && th_layer_gates((th_layer_kind)q->s->kind) == 0;
    int64_t piece = th_ceil_div(th_ceil_div(n, PIECES), lanes) * lanes;
    return is_cut ? th_min(fit, piece) : fit;
}

/* With two slots. */
double gemv_form(const question *q)
{
    enum { IMAGES = 2, ROWS = 4 }; /* loops of the nest of rows */
    const th_shard *s = q->s;
    bool shares_weights = s->groups == 1 && !th_shard_multiplies_activations(s);
    gemv_blocks g = {.q = q, .weight_when = ROWS | (shares_weights ? IMAGES : 0u)};
    g.gates = th_layer_gates((th_layer_kind)s->kind);
    g.operations = s->kind == TH_LAYER_LSTM ? 9 : s->kind == TH_LAYER_GRU ? 8 : 1;
    int64_t n = th_group_outputs(s), per_column = th_group_inputs(s) * kernel_of(s);
    if (g.gates > 0)
        per_column = g.gates * (s->dim[TH_DIM_C] + n);
    g.is_resident = g.gates > 0 && th_shard_bytes(s, TH_TENSOR_WEIGHT, n * per_column) <=
                                       whole(q, "weight_buffer");
    g.full = block_of(q, n, per_column, g.is_resident);
    if (whole(q, "slots") != 2 || g.full == 0)
        return NAN;
    int32_t blocks = (int32_t)th_ceil_div(n, g.full), images = s->dim[TH_DIM_B] * s->groups;
    g.rest = n - (blocks - 1) * g.full;
    const two_slot_nest steps = {{s->dim[TH_DIM_H], blocks, 1, 1}, recurrent_step, &g};
    const two_slot_nest rows = {{blocks, images, s->dim[TH_DIM_H], 1}, row_step, &g};
    return two_slot_cycles(g.gates > 0 ? &steps : &rows);
}

/* --- script ----------------------------------------------------------------------------------- */

/* Cycles of a tile in the array and in the ports; the last tile has the remainders. */
typedef struct {
    two_slot_step all_but_last, last;
} script_tiles;

static two_slot_step script_step(const void *context, unsigned first, unsigned last)
{
    const script_tiles *t = context;
    (void)first;
    return last & 1u ? t->last : t->all_but_last;
}

/* What one of n tiles, or the last one, has of a total. */
static double script_part(double all, double n, bool is_last)
{
    return is_last ? all - (n - 1) * floor(all / n) : floor(all / n);
}

/* Cycles that a tile of a tensor takes in its port. */
static double script_port(const question *q, const th_script_answer *a, th_tensor tensor,
                          bool is_last)
{
    int bytes = TH_SCRIPT_INPUT_BYTES + (int)tensor;
    double port = number(q, ports[tensor]), n = a->number[TH_SCRIPT_TILES];
    double bits = th_precision_bits((th_precision)q->s->precision[tensor]);
    double all = a->has[bytes] ? a->number[bytes] : (double)th_script_tensor_bytes(q->s, tensor);
    return port > 0 ? 8 * script_part(all, n, is_last) / bits / port : 0;
}

static two_slot_step script_tile(const question *q, const th_script_answer *a, bool is_last)
{
    double n = a->number[TH_SCRIPT_TILES], cycles = a->number[TH_SCRIPT_CYCLES];
    return (two_slot_step){
        .load_input = script_port(q, a, TH_TENSOR_INPUT, is_last),
        .load_weight = script_port(q, a, TH_TENSOR_WEIGHT, is_last),
        .compute = script_part(cycles, n, is_last),
        .store = script_port(q, a, TH_TENSOR_OUTPUT, is_last),
    };
}

/* With two slots: the tiles of the answer one after the other. */
double script_form(const question *q)
{
    th_shard asked = *q->s;
    th_script_answer a = {.has = {false}};
    asked.adds_to_output = asked.has_bias = 0;
    answer_anything(NULL, "", &(th_script_question){.shard = &asked}, &a, NULL);
    if (whole(q, "slots") != 2)
        return NAN;
    const script_tiles tiles = {script_tile(q, &a, false), script_tile(q, &a, true)};
    const int32_t n = (int32_t)a.number[TH_SCRIPT_TILES];
    return two_slot_cycles(&(two_slot_nest){{n, 1, 1, 1}, script_step, &tiles});
}
