/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_layer.c - how a layer runs on a set: the compute costs of each position, the inputs that it
 * needs, what it holds, and the traffic inside the set (rotating pieces, partial sums). */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "mapper/lower/plan_state.h"

static int32_t groups_touched(const th_layer *l, const th_loop_box *loops)
{
    if (l->groups == 1)
        return 1;
    int32_t per_group = l->dim[TH_DIM_K] / l->groups;
    return (loops->hi[TH_DIM_K] - 1) / per_group - loops->lo[TH_DIM_K] / per_group + 1;
}

/* Input channels; a channel of every operand for what has several but a matmul, whose second input
 * takes the place of the weights. */
static int32_t channels_read(const th_layer *l, const th_loop_box *loops, int32_t groups)
{
    if (l->input_shapes && l->n_inputs == 1) {
        th_box box = th_layer_input_of(l, 0, loops);
        return box.hi[1] - box.lo[1];
    }
    if (!th_layer_has_macs(l) && l->kind != TH_LAYER_EMBEDDING)
        return loops->hi[TH_DIM_K] - loops->lo[TH_DIM_K];
    if (l->groups > 1)
        return groups * (l->dim[TH_DIM_C] / l->groups);
    return loops->hi[TH_DIM_C] - loops->lo[TH_DIM_C];
}

/* The box of the first input that is read at all: a part of a concat may lie in a later one. */
static th_box first_read(const th_layer *l, const th_loop_box *loops)
{
    th_box box = th_layer_input_of(l, 0, loops);
    for (int i = 1; i < l->n_inputs && th_box_is_empty(&box); i++)
        box = th_layer_input_of(l, i, loops);
    return box;
}

/* at * n / extent, rounded down, for at <= extent, without an overflow on the way. */
static int64_t scaled(int64_t n, int64_t at, int64_t extent)
{
    return at * (n / extent) + at * (n % extent) / extent;
}

/* Of n things spread evenly along the extent of d, those in this part; over all parts they sum to
 * n. */
static int64_t share_of(const th_layer *l, const th_loop_box *loops, th_dim d, int64_t n)
{
    return scaled(n, loops->hi[d], l->dim[d]) - scaled(n, loops->lo[d], l->dim[d]);
}

/* Products of input rows and kernel rows: each pair occurs once. They are shared among the output
 * rows, then among the kernel rows. */
static void count_products(const th_layer *l, const th_loop_box *loops, th_shard *s)
{
    int64_t high = share_of(l, loops, TH_DIM_H, (int64_t)l->in_h * l->dim[TH_DIM_R]);
    int64_t wide = share_of(l, loops, TH_DIM_W, (int64_t)l->in_w * l->dim[TH_DIM_S]);
    s->products_h = share_of(l, loops, TH_DIM_R, high);
    s->products_w = share_of(l, loops, TH_DIM_S, wide);
}

th_shard th_plan_shard(const th_layer *l, const th_loop_box *loops)
{
    th_box input = first_read(l, loops);
    th_shard s = {.kind = (int32_t)l->kind,
                  .groups = groups_touched(l, loops),
                  .in_h = input.hi[2] - input.lo[2],
                  .in_w = input.hi[3] - input.lo[3],
                  .stride_h = l->stride_h,
                  .stride_w = l->stride_w,
                  .dilation_h = l->dilation_h,
                  .dilation_w = l->dilation_w,
                  .up_h = l->up_h,
                  .up_w = l->up_w,
                  .function = (int32_t)l->function,
                  .sparse_n = l->sparse_n,
                  .sparse_m = l->sparse_m,
                  .n_operands = l->n_inputs,
                  .has_bias = l->has_bias || l->has_norm};
    for (int t = 0; t < TH_N_TENSORS; t++) {
        s.precision[t] = (int32_t)l->precision[t];
        s.density_ppm[t] = th_density_ppm(l->density[t]);
    }
    for (int d = 0; d < TH_N_DIMS; d++)
        s.dim[d] = loops->hi[d] - loops->lo[d];
    s.dim[TH_DIM_C] = channels_read(l, loops, s.groups);
    if (l->kind == TH_LAYER_ATTENTION) {
        th_box keys = th_layer_input_of(l, 1, loops);
        s.key_groups = (keys.hi[1] - keys.lo[1]) / (l->dim[TH_DIM_C] / l->groups);
        s.dim[TH_DIM_R] = keys.hi[2] - keys.lo[2];
        s.scores = th_layer_scores(l, loops->lo[TH_DIM_H], loops->hi[TH_DIM_H]);
    } else if (l->input_shapes && l->n_inputs > 1) { /* one pass over as much as the output holds */
        s.in_h = s.dim[TH_DIM_H];
        s.in_w = s.dim[TH_DIM_W];
        s.n_operands = 1;
    }
    if (l->up_h > 1 || l->up_w > 1)
        count_products(l, loops, &s);
    return s;
}

th_shard th_plan_sum(const th_layer *l, const th_box *box, int n)
{
    int32_t h = box->hi[2] - box->lo[2], w = box->hi[3] - box->lo[3], k = box->hi[1] - box->lo[1];
    int32_t p = (int32_t)l->precision[TH_TENSOR_OUTPUT];
    return (th_shard){.kind = TH_LAYER_ELEMENTWISE,
                      .function = TH_FUNCTION_ADD,
                      .dim = {box->hi[0] - box->lo[0], k, k, h, w, 1, 1},
                      .groups = 1,
                      .in_h = h,
                      .in_w = w,
                      .stride_h = 1,
                      .stride_w = 1,
                      .dilation_h = 1,
                      .dilation_w = 1,
                      .up_h = 1,
                      .up_w = 1,
                      .precision = {p, p, p},
                      .density_ppm = {1000000, 1000000, 1000000},
                      .n_operands = n};
}

int64_t th_plan_piece_bytes(const th_layer *l, bool rotates_input, const th_loop_box *loops)
{
    if (rotates_input) {
        th_box box = th_layer_input_of(l, 0, loops);
        return th_tensor_bytes(th_box_elements(&box), l->precision[TH_TENSOR_INPUT]);
    }
    return th_shard_weight_piece_bytes(l, loops);
}

int64_t th_plan_output_bytes(const th_layer *l, const th_box *box)
{
    return th_tensor_bytes(th_box_elements(box), l->precision[TH_TENSOR_OUTPUT]);
}

/* The rotating input arrives piece by piece; of an input that does not rotate all phases together,
 * or each, read the whole part. */
static th_box need_of(const th_layer *l, int32_t batch, const th_placed *at, int r, int i,
                      const th_loop_box *whole)
{
    if (i > 0 || th_shard_rotating(l, &at->strategy) != TH_OPERAND_INPUT)
        return th_layer_input_of(l, i, whole);
    th_loop_box own = th_shard_phase_loops(l, batch, &at->strategy, at->set->shares, r, 0);
    return th_layer_input_of(l, i, &own);
}

th_box th_plan_need(const th_layer *l, int32_t batch, const th_placed *at, int r, int i)
{
    const int chunk = r / at->set->n_accels, position = r % at->set->n_accels;
    const th_loop_box whole =
        th_shard_chunk_loops(l, batch, &at->strategy, at->set->shares, position, chunk);
    return need_of(l, batch, at, position, i, &whole);
}

/* The last cost that was looked up for one purpose: most positions have the same. */
typedef struct {
    bool is_known;
    int32_t memory_class, design, cost;
    th_shard shard;
} last_cost;

typedef struct {
    th_plans *plans;
    const th_placed *at;
    const th_layer *layer;
    int32_t batch;
    th_layer_plan *plan;
    int32_t *members; /* scratch, n */
    int32_t n_sends;
    int n_partners; /* of every position, itself among them */
    last_cost computes, adds, sums;
} maker;

/* The compute cost of a part of the layer; an error names the layer. */
static int32_t cost_of(maker *k, int r, const th_shard *shard, last_cost *last, th_error *err)
{
    th_error reason = {"", ""};
    const int position = r % k->plan->n_accels;
    const int32_t accel = k->at->set->accels[position];
    const int32_t design = th_set_design(k->at->set, position, k->plans->system);
    const int32_t class = th_compute_cost_memory_class(k->plans->costs, accel);
    if (last->is_known && last->memory_class == class && last->design == design &&
        memcmp(&last->shard, shard, sizeof *shard) == 0)
        return last->cost;
    int32_t cost = th_compute_cost_lookup(k->plans->costs, accel, design, shard, &reason);
    if (cost >= 0) {
        *last = (last_cost){true, class, design, cost, *shard};
        return cost;
    }
    if (th_error_is_no_memory(&reason))
        return th_error_no_memory(err);
    return th_error_set(err, reason.id, "layer \"%s\": %s", k->layer->name, reason.text);
}

/* whole: its part of all phases together. */
static int plan_phases(maker *k, int r, const th_loop_box *whole, th_error *err)
{
    th_layer_plan *plan = k->plan;
    for (int phase = 0; phase < plan->phases; phase++) {
        th_loop_box loops = plan->phases == 1
                                ? *whole
                                : th_shard_phase_loops(k->layer, k->batch, &k->at->strategy,
                                                       k->at->set->shares, r, phase);
        th_shard shard = th_plan_shard(k->layer, &loops);
        int32_t cost = cost_of(k, r, &shard, &k->computes, err), adding = cost;
        shard.adds_to_output = k->at->strategy.rotate == TH_DIM_C;
        if (cost >= 0 && shard.adds_to_output)
            adding = cost_of(k, r, &shard, &k->adds, err);
        if (cost < 0 || adding < 0)
            return -1;
        plan->cost[r * plan->phases + phase] = cost;
        plan->cost_adding[r * plan->phases + phase] = adding;
        int64_t bytes =
            plan->phases > 1 ? th_plan_piece_bytes(k->layer, plan->rotates_input, &loops) : 0;
        plan->piece_bytes[r * plan->phases + phase] = bytes;
        if (bytes > plan->at[r].buffer_bytes)
            plan->at[r].buffer_bytes = bytes;
    }
    return 0;
}

static void plan_needs(maker *k, int r)
{
    th_position_plan *at = &k->plan->at[r];
    for (int i = 0; i < k->layer->n_inputs; i++)
        at->need[i] = need_of(k->layer, k->batch, k->at, r % k->plan->n_accels, i, &at->loops);
}

static void plan_ring(maker *k, int r)
{
    const th_strategy *s = &k->at->strategy;
    const int phases = k->plan->phases;
    const bool rotates = phases > 1;
    k->plan->at[r].ring_from = rotates ? th_shard_ring_member(k->layer, s, r, 1) : -1;
    k->plan->at[r].ring_to = rotates ? th_shard_ring_member(k->layer, s, r, phases - 1) : -1;
}

/* Reduce-scatter among the partners: each sums its own piece of the output box they share, which
 * is what it holds in the end. */
static int plan_reduction(maker *k, int r, th_error *err)
{
    th_position_plan *at = &k->plan->at[r];
    at->reduce_cost = -1;
    at->first_send = k->n_sends;
    if (k->n_partners == 1)
        return 0;
    const int chunk = r / k->plan->n_accels, position = r % k->plan->n_accels;
    int rank = 0, n = th_shard_partners(&k->at->strategy, k->layer, position, k->members, &rank);
    for (int i = 0; i < n; i++) {
        const int32_t to = chunk * k->plan->n_accels + k->members[i];
        const th_box *piece = &k->plan->at[to].held;
        if (i != rank && !th_box_is_empty(piece))
            k->plan->sends[k->n_sends++] =
                (th_partial_send){to, th_plan_output_bytes(k->layer, piece)};
    }
    at->n_sends = k->n_sends - at->first_send;
    if (th_box_is_empty(&at->held))
        return 0;
    th_shard sum = th_plan_sum(k->layer, &at->held, n);
    at->buffer_bytes += (n - 1) * th_plan_output_bytes(k->layer, &at->held);
    at->reduce_cost = cost_of(k, r, &sum, &k->sums, err);
    return at->reduce_cost < 0 ? -1 : 0;
}

/* Of all positions, before any of them is planned: partners need each other's. */
static void plan_parts(maker *k)
{
    const th_strategy *s = &k->at->strategy;
    for (int r = 0; r < k->plan->n; r++) {
        const int chunk = r / k->plan->n_accels, position = r % k->plan->n_accels;
        th_position_plan *at = &k->plan->at[r];
        at->loops =
            th_shard_chunk_loops(k->layer, k->batch, s, k->at->set->shares, position, chunk);
        at->held = th_shard_held_of(k->layer, s, position, &at->loops);
    }
}

static int plan_position(maker *k, int r, th_error *err)
{
    th_position_plan *at = &k->plan->at[r];
    const th_box output = th_layer_output_of(k->layer, &at->loops);
    at->output_bytes = th_plan_output_bytes(k->layer, &output);
    if (r < k->plan->n_accels) /* the first chunk */
        at->weight_bytes = th_shard_weight_bytes(k->layer, &k->at->strategy, k->at->set->shares, r);
    plan_needs(k, r);
    plan_ring(k, r);
    return plan_phases(k, r, &at->loops, err) || plan_reduction(k, r, err) ? -1 : 0;
}

static th_layer_plan *new_plan(th_plans *p, int n, int phases, int n_inputs)
{
    size_t positions = (size_t)n, all = positions * (size_t)phases;
    th_layer_plan *plan = th_plans_alloc(p, 1, sizeof *plan);
    if (!plan)
        return NULL;
    plan->n = n;
    plan->phases = phases;
    plan->at = th_plans_alloc(p, positions, sizeof *plan->at);
    plan->cost = th_plans_alloc(p, all, sizeof *plan->cost);
    plan->cost_adding = th_plans_alloc(p, all, sizeof *plan->cost_adding);
    plan->piece_bytes = th_plans_alloc(p, all, sizeof *plan->piece_bytes);
    th_box *needs = th_plans_alloc(p, positions * (size_t)n_inputs, sizeof *needs);
    if (!plan->at || !plan->cost || !plan->cost_adding || !plan->piece_bytes || !needs)
        return NULL;
    for (int r = 0; r < n; r++)
        plan->at[r].need = needs + (size_t)r * (size_t)n_inputs;
    return plan;
}

static int check_serial(const th_layer *l, const th_strategy *s, th_error *err)
{
    if (s->rotate != TH_NO_ROTATION)
        return th_error_set(err, "MAP-0084",
                            "layer \"%s\": rotates an operand, which serial transfers do not know",
                            l->name);
    if (s->chunks > 0)
        return th_error_set(err, "MAP-0126",
                            "layer \"%s\": has chunks, which serial transfers do not know",
                            l->name);
    if (s->copies > 0)
        return th_error_set(err, "MAP-0627",
                            "layer \"%s\": has copies, which serial transfers do not know",
                            l->name);
    return 0;
}

th_layer_plan *th_plan_make_layer(th_plans *p, const th_placed *at, int32_t batch, th_error *err)
{
    const th_layer *l = &p->workload->layers[at->layer];
    int n = at->set->n_accels, partners = th_shard_partners(&at->strategy, l, 0, NULL, NULL);
    if (p->system->transfers_serially && check_serial(l, &at->strategy, err))
        return NULL;
    const int all = n * th_shard_chunks(&at->strategy);
    th_layer_plan *plan = new_plan(p, all, th_shard_phases(l, &at->strategy), l->n_inputs);
    int32_t *members = th_alloc_array((size_t)n, sizeof *members);
    if (plan) {
        plan->n_accels = n;
        plan->copies = th_shard_copies(&at->strategy);
        plan->sends = th_plans_alloc(p, (size_t)all * (size_t)partners, sizeof *plan->sends);
    }
    int failed = plan && members && plan->sends ? 0 : th_error_no_memory(err);
    maker k = {.plans = p,
               .at = at,
               .layer = l,
               .batch = batch,
               .plan = plan,
               .members = members,
               .n_partners = partners};
    if (!failed) {
        plan->rotates_input = th_shard_rotating(l, &at->strategy) == TH_OPERAND_INPUT;
        plan_parts(&k);
    }
    for (int r = 0; !failed && r < all; r++)
        failed = plan_position(&k, r, err);
    th_free(members);
    return failed ? NULL : plan;
}
