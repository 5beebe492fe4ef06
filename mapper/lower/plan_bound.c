/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_bound.c - a lower bound of the time of a layer alone, without a plan of its positions.
 *
 * What the last position computes, phase after phase, or waits for from its neighbour in the ring;
 * then what it exchanges with its partners, and sums. Uneven cuts give the last position the
 * longest piece of each dimension. So the bound takes one position's work where the time itself
 * (plan_time.c) takes that of all. Invariant: each term is at most that of plan_time.c. */
#include <config.h>

#include "mapper/lower/plan_state.h"

typedef struct {
    th_plans *plans;
    const th_placed *at;
    const th_layer *layer;
    int32_t batch;
    int position; /* the last one */
} bound;

static int node_at(const bound *b, int r)
{
    return b->plans->system->accel_node[b->at->set->accels[r]];
}

/* The collapsed time of a shard on the position; TH_TIME_MAX: its design cannot run it. -1: error.
 */
static th_time time_of(const bound *b, const th_shard *shard, th_error *err)
{
    th_error reason = {"", ""};
    const th_set *set = b->at->set;
    int32_t cost =
        th_compute_cost_lookup(b->plans->costs, set->accels[b->position],
                               th_set_design(set, b->position, b->plans->system), shard, &reason);
    if (cost >= 0)
        return th_compute_cost_get(b->plans->costs, cost)->collapsed_ps;
    if (!th_plans_is_fatal(&reason))
        return TH_TIME_MAX;
    return th_error_is_no_memory(&reason)
               ? th_error_no_memory(err)
               : th_error_set(err, reason.id, "layer \"%s\": %s", b->layer->name, reason.text);
}

/* The phases one after another; in all but the last the piece of the next one travels meanwhile. As
 * time_of. */
static th_time phases_bound(const bound *b, th_error *err)
{
    const th_strategy *s = &b->at->strategy;
    const int r = b->position, phases = th_shard_phases(b->layer, s);
    const bool rotates_input = th_shard_rotating(b->layer, s) == TH_OPERAND_INPUT;
    const int sender = phases > 1 ? node_at(b, th_shard_ring_member(b->layer, s, r, 1)) : -1;
    th_time sum = 0, own = 0;
    for (int phase = 0; phase < phases; phase++) {
        th_loop_box loops =
            th_shard_phase_loops(b->layer, b->batch, s, b->at->set->shares, r, phase);
        th_time travel = 0;
        if (phase > 0)
            travel = th_plan_route_bound(b->plans, sender, node_at(b, r),
                                         th_plan_piece_bytes(b->layer, rotates_input, &loops));
        if (travel < 0)
            return th_error_no_memory(err);
        sum = th_time_add(sum, own > travel ? own : travel);
        th_shard shard = th_plan_shard(b->layer, &loops);
        shard.adds_to_output = phase > 0 && s->rotate == TH_DIM_C;
        own = time_of(b, &shard, err);
        if (own < 0 || own == TH_TIME_MAX)
            return own;
    }
    return th_time_add(sum, own);
}

/* The exchange of partial sums among n partners, and their sum. The last position's own piece is
 * never empty, and its first partner sends it a part. As time_of. */
static th_time reduction_bound(const bound *b, int n, th_error *err)
{
    const th_strategy *s = &b->at->strategy;
    const int r = b->position, node = node_at(b, r);
    th_loop_box loops = th_shard_loops(b->layer, b->batch, s, b->at->set->shares, r);
    th_box output = th_layer_output_of(b->layer, &loops),
           held = th_shard_held(b->layer, b->batch, s, b->at->set->shares, r, 0);
    const int64_t own = th_plan_output_bytes(b->layer, &held);
    if (th_box_is_empty(&held))
        return 0;
    const int sender = node_at(b, th_shard_partner(s, b->layer, r, 0));
    const th_shard sum = th_plan_sum(b->layer, &held, n);
    th_time adds = time_of(b, &sum, err), in = th_plan_time_in(b->plans, node, (n - 1) * own),
            out = th_plan_time_out(b->plans, node, th_plan_output_bytes(b->layer, &output) - own),
            latency = th_plan_route_bound(b->plans, sender, node, 0);
    if (adds < 0 || adds == TH_TIME_MAX)
        return adds;
    return latency < 0 ? th_error_no_memory(err)
                       : th_time_add(th_time_add(adds, latency), out > in ? out : in);
}

th_time th_plans_layer_bound(th_plans *p, const th_placed *at, int32_t batch, th_error *err)
{
    const bound b = {.plans = p,
                     .at = at,
                     .layer = &p->workload->layers[at->layer],
                     .batch = batch,
                     .position = at->set->n_accels - 1};
    if (at->strategy.chunks > 0)
        return 0;
    th_time phases = phases_bound(&b, err);
    const int partners = th_shard_partners(&at->strategy, b.layer, b.position, NULL, NULL);
    if (phases < 0 || phases == TH_TIME_MAX || partners == 1)
        return phases;
    th_time reduction = reduction_bound(&b, partners, err);
    return reduction < 0 || reduction == TH_TIME_MAX ? reduction : th_time_add(phases, reduction);
}
