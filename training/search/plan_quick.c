/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_quick.c - quick lower bounds of a plan (plan_bound.h): the work of each class of layers, as
 * often as there are such layers, and messages by the rates of links. */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "base/min_max.h"
#include "training/search/plan_bound.h"

/* ---- classes of layers ---- */

static bool are_alike(const th_transformer *t, int32_t a, int32_t b)
{
    const th_transformer_kind x = th_transformer_layer(t, a), y = th_transformer_layer(t, b);
    const size_t from = offsetof(th_transformer_kind, heads);
    return memcmp((const char *)&x + from, (const char *)&y + from, sizeof x - from) == 0;
}

static double rate_into_accels(const th_system *s)
{
    double *rate = th_alloc_zero((size_t)s->n_nodes + 1, sizeof *rate), most = 0;
    if (!rate)
        return -1;
    for (int i = 0; i < s->n_links; i++)
        if (s->links[i].to >= 0 && !s->links[i].is_dead)
            rate[s->links[i].to] += (double)s->media[s->links[i].medium].bits_per_s / 8;
    for (int i = 0; i < s->n_accels; i++)
        most = fmax(most, rate[s->accel_node[i]]);
    th_free(rate);
    return most;
}

int th_plan_units_init(th_plan_units *u, const th_system *s, const th_work_context *c,
                       th_error *err)
{
    const size_t n = (size_t)c->t->layers;
    *u = (th_plan_units){.class_of = th_alloc_array(n, sizeof *u->class_of),
                         .first = th_alloc_array(n, sizeof *u->first),
                         .count = th_alloc_zero(n, sizeof *u->count),
                         .bytes_per_s_into = rate_into_accels(s),
                         .system = s};
    if (!u->class_of || !u->first || !u->count || u->bytes_per_s_into < 0) {
        th_plan_units_clear(u);
        return th_error_no_memory(err);
    }
    for (int32_t i = 0; i < c->t->layers; i++) {
        int32_t class = 0;
        while (class < u->n && !are_alike(c->t, u->first[class], i))
            class ++;
        if (class == u->n)
            u->first[u->n++] = i;
        u->class_of[i] = class;
        u->count[class]++;
    }
    return 0;
}

void th_plan_units_clear(th_plan_units *u)
{
    th_free(u->class_of);
    th_free(u->first);
    th_free(u->count);
    *u = (th_plan_units){.class_of = NULL};
}

/* ---- quick bounds ---- */

/* What a rank of a group receives takes at least so long over its links. Long groups are timed as
 * shorter ones, so none counts as more than SHORTEST ranks. */
static double receive_s(const th_plan_units *u, const th_parallel_plan *p, th_collective_kind kind,
                        th_plan_group group, double bytes)
{
    enum { SHORTEST = 32 };
    const int32_t n = th_min(th_plan_group_size(p, group), SHORTEST);
    return (kind == TH_ALL_REDUCE ? 2 : 1) * bytes * (n - 1) / n / u->bytes_per_s_into;
}

/* Of an operation on a layer: computations and messages, the longer of those that overlap. */
static double layer_s(const th_plan_units *u, const th_work_context *c, int32_t layer,
                      th_pipeline_kind kind, bool is_split)
{
    th_pieces pieces;
    double sum = 0, beside = 0, from = 0; /* a message from then on */
    th_layer_work(c, layer, kind, is_split, &pieces);
    for (int i = 0; i < pieces.n; i++) {
        const th_piece *x = &pieces.of[i];
        const double s =
            x->bytes > 0 ? receive_s(u, c->p, x->collective, x->group, (double)x->bytes) : x->s;
        if (x->bytes > 0 && !x->overlaps)
            sum += s;
        else if (x->bytes > 0 && s > beside) {
            beside = s;
            from = sum;
        } else if (x->bytes == 0) {
            sum = fmax(sum + s, from + beside);
            beside = 0;
        }
    }
    return sum;
}

static double both_s(const th_plan_units *u, const th_work_context *c, int32_t layer)
{
    return layer_s(u, c, layer, TH_PIPELINE_FORWARD, false) +
           layer_s(u, c, layer, TH_PIPELINE_BACKWARD, false);
}

static double parameters_of_rank(const th_plan_units *u, const th_work_context *c)
{
    double sum = (double)th_layer_parameters_of_rank(c, TH_LAYER_EMBEDDING_STEP) +
                 (double)th_layer_parameters_of_rank(c, TH_LAYER_HEAD_STEP);
    for (int32_t i = 0; i < u->n; i++)
        sum += u->count[i] * (double)th_layer_parameters_of_rank(c, u->first[i]);
    return sum;
}

/* Sums over layers, s. */
typedef struct quick_sums {
    double all;                      /* every layer, embedding and output layer, there and back */
    double least, forward, backward; /* of the layers that take least */
    double head;
} quick_sums;

static quick_sums sums_of(const th_plan_units *u, const th_work_context *c)
{
    quick_sums x = {.least = INFINITY, .forward = INFINITY, .backward = INFINITY};
    x.head = both_s(u, c, TH_LAYER_HEAD_STEP);
    x.all = x.head + both_s(u, c, TH_LAYER_EMBEDDING_STEP);
    for (int32_t i = 0; i < u->n; i++) {
        const double forward = layer_s(u, c, u->first[i], TH_PIPELINE_FORWARD, false);
        const double backward = layer_s(u, c, u->first[i], TH_PIPELINE_BACKWARD, false);
        x.all += u->count[i] * (forward + backward);
        x.least = fmin(x.least, forward + backward);
        x.forward = fmin(x.forward, forward);
        x.backward = fmin(x.backward, backward);
    }
    return x;
}

/* Of the last stage, with equal chunks: the first of the others computes before it, and after it,
 * unless gradients of weights are made apart. */
static double last_stage_s(const th_work_context *c, const quick_sums *x, double m)
{
    const th_parallel_plan *p = c->p;
    const int32_t layers = c->t->layers / p->n.pipeline;
    if (p->n.chunks == 0)
        return m * layers * x->least + (p->n.pipeline - 1) * x->forward;
    const double fill = x->forward + (p->schedule->splits_backward ? 0 : x->backward);
    const double head = p->schedule->is_v ? 0 : x->head;
    return m * (layers * x->least + head) + (p->n.pipeline - 1) * (layers / p->n.chunks) * fill;
}

/* Of the stage with an accelerator of each kind that equal stages use: it is no faster. With shares
 * it may have few micro-batches. */
static double slowest_stage_s(const th_plan_units *u, const th_work_context *c, double m)
{
    const int32_t layers = c->t->layers / c->p->n.pipeline;
    const int32_t ranks = th_plan_stage_ranks(c->p) * c->p->n.pipeline;
    double most = 0;
    for (int32_t k = 0; c->p->n_shares == 0 && c->devices.n > 1 && k < c->devices.n; k++) {
        th_work_context of = *c;
        of.device = c->devices.of[k];
        if (c->devices.accel[k] < ranks)
            most = fmax(most, m * layers * sums_of(u, &of).least);
    }
    return most;
}

double th_plan_bound_quick(const th_plan_units *u, const th_work_context *c)
{
    const th_parallel_plan *p = c->p;
    const double m = th_plan_micro_batches(p), stages = p->n.pipeline;
    const double parameters = parameters_of_rank(u, c) / stages;
    const quick_sums x = sums_of(u, c);
    const double step =
        p->layout == TH_LAYOUT_LAYERS ? fmax(last_stage_s(c, &x, m), slowest_stage_s(u, c, m)) : 0;
    const int32_t shares = p->n.zero > 0 ? p->n.zero_group : 1, most = p->n.data * p->n.context;
    const double end = th_optimizer_s(c, (int64_t)(parameters / most)) * shares;
    double reduce = 0, gather = 0; /* ZeRO 3: for every micro-batch */
    if (!p->frozen_weights)
        reduce =
            receive_s(u, p, TH_REDUCE_SCATTER, TH_GROUP_GRADIENT, p->gradient_bytes * parameters);
    if (!p->frozen_weights && p->n.zero == 3) {
        reduce *= m;
        gather =
            2 * m *
            receive_s(u, p, TH_ALL_GATHER, TH_GROUP_ZERO, th_plan_number_bytes(p) * parameters);
    }
    if (p->overlaps_data)
        return fmax(fmax(m * x.all / stages, reduce + gather) + end, step);
    return fmax(m * x.all / stages + gather + reduce + end, step);
}

/* Of so many parameters, before what ZeRO does not share. */
static double state_bytes(const th_parallel_plan *p, double parameters)
{
    const double trained = p->frozen_weights ? 0 : parameters, shards = p->n.zero_group;
    return parameters * th_plan_number_bytes(p) / (p->n.zero >= 3 ? shards : 1) +
           trained * p->gradient_bytes / (p->n.zero >= 2 ? shards : 1) +
           trained * th_plan_state_bytes(p) / (p->n.zero >= 1 ? shards : 1);
}

/* The mean stage; or the first one, which has the embedding, and a micro-batch for each stage in
 * flight. */
double th_plan_bytes_quick(const th_plan_units *u, const th_work_context *c)
{
    static const double ROUNDING = 100;
    const th_parallel_plan *p = c->p;
    const double layers = c->t->layers / p->n.pipeline;
    const double in_flight = th_min(th_plan_micro_batches(p), p->n.pipeline);
    double activations = INFINITY, parameters = INFINITY;
    for (int32_t i = 0; i < u->n; i++) {
        activations = fmin(activations, (double)th_layer_activation_bytes(c, u->first[i]));
        parameters = fmin(parameters, (double)th_layer_parameters_of_rank(c, u->first[i]));
    }
    const double mean = state_bytes(p, parameters_of_rank(u, c) / p->n.pipeline) - ROUNDING;
    if (p->layout != TH_LAYOUT_LAYERS)
        return mean;
    parameters =
        layers * parameters + (double)th_layer_parameters_of_rank(c, TH_LAYER_EMBEDDING_STEP);
    return fmax(mean, state_bytes(p, parameters) + in_flight * layers * activations - ROUNDING);
}
