/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parallel_plan.c - see parallel_plan.h. */
#include <config.h>
#include <string.h>
#include "base/min_max.h"
#include "base/names.h"
#include "training/parallel_plan.h"

const char *const th_axis_names[] = {"tensor", "context", "data", "pipeline", NULL};
const char *const th_plan_expert_axis = "expert";
const char *const th_plan_overlap_names[] = {"data", "tensor", "pipeline", NULL};
const char *const th_plan_layout_names[] = {"layers", "with_embedding", "uneven", NULL};
const char *const th_plan_kernel_names[] = {"fused", "eager", NULL};
const char *const th_plan_attention_names[] = {"fused", "portable", "unfused", "fused_softmax",
                                               NULL};
const char *const th_plan_launch_names[] = {"auto", "python", "compiled", "graph", NULL};
const char *const th_plan_exchange_names[] = {"direct", "by_node", NULL};
const char *const th_plan_recompute_names[] = {"none", "selective", "needed", "full", NULL};
const char *const th_plan_gradient_names[] = {"fp32", "16bit", NULL};

/* ---- software ---- */

/* Megatron-LM and its forks of 2022: Apex' norms and masked softmax are the fused kernels that they
 * have. 2024: FlashAttention 2, fused kernels by compilers, gradients beside the backward pass.
 * 2026: attention of cuDNN, CUDA graphs, messages of tensor ranks beside products, and those of
 * stages. */
const char *const th_software_names[] = {"2022", "2024", "2026", NULL};
const th_software th_softwares[] = {
    {false, TH_ATTENTION_SOFTMAX, TH_LAUNCH_PYTHON, false, false, false},
    {true, TH_ATTENTION_PORTABLE, TH_LAUNCH_COMPILED, true, false, false},
    {true, TH_ATTENTION_FUSED, TH_LAUNCH_GRAPH, true, true, true},
};

/* ---- order ---- */

/* TH_N_AXES: expert; -1: none. */
static int axis_of(const char *word)
{
    int i = 0;
    while (i < TH_N_AXES && strcmp(th_axis_names[i], word) != 0)
        i++;
    return i < TH_N_AXES || strcmp(word, th_plan_expert_axis) == 0 ? i : -1;
}

static const char *const order_names[] = {"tensor", "context", "expert", "data", "pipeline", NULL};

int th_plan_set_order(th_parallel_plan *p, const char *const *words, int n, th_error *err)
{
    unsigned seen = 0;
    int at = 0;
    for (int i = 0; i < TH_N_AXES; i++)
        p->order[i] = i;
    p->experts_apart = false;
    if (n == 0)
        return 0;
    for (int i = 0; i < n && i <= TH_N_AXES; i++) {
        int axis = axis_of(words[i]);
        if (axis < 0)
            return th_error_unknown(err, "MAP-0443", "-order", words[i], order_names);
        if (seen & 1u << axis)
            break;
        if (axis < TH_N_AXES)
            p->order[at++] = axis;
        else
            p->experts_apart = seen & 1u << TH_AXIS_DATA;
        seen |= 1u << axis;
    }
    unsigned all = (1u << TH_N_AXES) - 1;
    if (n <= TH_N_AXES + 1 && (seen & all) == all && at + (seen > all ? 1 : 0) == n)
        return 0;
    return th_error_set(
        err, "MAP-0429",
        "-order: must name tensor, context, data and pipeline once each, and expert "
        "at most once");
}

/* ---- ranks ---- */

static int32_t extent(const th_parallel_plan *p, int axis)
{
    const int32_t extents[] = {[TH_AXIS_TENSOR] = p->n.tensor,
                               [TH_AXIS_CONTEXT] = p->n.context,
                               [TH_AXIS_DATA] = p->n.data,
                               [TH_AXIS_PIPELINE] = p->n.pipeline};
    return extents[axis];
}

/* Between ranks of a stage that are neighbours along an axis. */
static int32_t stride_of(const th_parallel_plan *p, int axis)
{
    int32_t stride = 1;
    for (int i = 0; p->order[i] != axis; i++)
        if (p->order[i] != TH_AXIS_PIPELINE)
            stride *= extent(p, p->order[i]);
    return stride;
}

/* ---- checks ---- */

static int divides(const char *id, const char *what, int64_t n, const char *whole, int64_t of,
                   th_error *err)
{
    if (n >= 1 && of % n == 0)
        return 0;
    return th_error_set(err, id, "%s %lld: must divide %s, %lld", what, (long long)n, whole,
                        (long long)of);
}

/* Stages of their own have all layers, and each other accelerators. */
static int check_own(const th_parallel_plan *p, const th_transformer *t, th_error *err)
{
    bool is_there[TH_OWN_STAGES_MAX] = {false};
    int32_t layers = 0, blocks = 0;
    for (int32_t i = 0; i < p->n_own; i++) {
        layers += p->own[i].layers;
        blocks += !is_there[p->own[i].block];
        is_there[p->own[i].block] = true;
    }
    if (p->n_own == p->n.pipeline && p->n.chunks == 1 && layers == t->layers && blocks == p->n_own)
        return 0;
    return th_error_set(err, "MAP-0793",
                        "-stages: %d stages with %d layers: must be the %d of -pipeline, each on "
                        "other blocks, without -virtual, and with the model's %d layers",
                        (int)p->n_own, (int)layers, (int)p->n.pipeline, (int)t->layers);
}

static int check_chunks(const th_parallel_plan *p, const th_transformer *t, th_error *err)
{
    if (p->n_own > 0)
        return check_own(p, t, err);
    const th_degrees *n = &p->n;
    int32_t steps = n->pipeline * n->chunks;
    int32_t layers = t->layers + (p->layout == TH_LAYOUT_WITH_EMBEDDING ? 2 : 0);
    if (p->layout == TH_LAYOUT_UNEVEN && layers < steps)
        return th_error_set(err, "MAP-0431",
                            "%d layers over %d stages of %d chunks: -pipeline x -virtual must be "
                            "at most the layers",
                            (int)layers, (int)n->pipeline, (int)n->chunks);
    if (p->layout == TH_LAYOUT_UNEVEN || layers % steps == 0)
        return 0;
    return th_error_set(err, "MAP-0424",
                        "%d layers over %d stages of %d chunks: -pipeline x -virtual of %d must "
                        "divide the layers (-layout uneven: need not)",
                        (int)layers, (int)n->pipeline, (int)n->chunks, (int)steps);
}

static int check_model(const th_parallel_plan *p, const th_transformer *t, th_error *err)
{
    const th_degrees *n = &p->n;
    if (divides("MAP-0420", "-tensor", n->tensor, "the heads", t->heads, err) ||
        divides("MAP-0421", "-context", n->context, "the sequence", p->batch.sequence, err))
        return -1;
    if (t->experts.n > 0 &&
        divides("MAP-0422", "-expert", n->expert, "the experts", t->experts.n, err))
        return -1;
    if (t->experts.n == 0 && n->expert > 1)
        return th_error_set(err, "MAP-0423", "-expert %d: the model has no experts: must be 1",
                            (int)n->expert);
    return check_chunks(p, t, err);
}

/* Gradients are as wide as weights, or wider. */
static int check_gradients(const th_parallel_plan *p, th_error *err)
{
    if (p->gradient_bytes >= th_plan_number_bytes(p))
        return 0;
    return th_error_set(err, "MAP-0799", "-gradients 16bit: in %s must be fp32",
                        th_step_precisions[p->precision].name);
}

/* Shares are those of replicas that meet in gradients alone, and make the whole batch. */
static int check_shares(const th_parallel_plan *p, th_error *err)
{
    const th_degrees *n = &p->n;
    int64_t sum = 0;
    for (int32_t i = 0; i < p->n_shares; i++)
        sum += p->shares[i];
    if (divides("MAP-0795", "-shares: their number,", p->n_shares, "-data", n->data, err))
        return -1;
    const int64_t each = n->data / p->n_shares, ranks = each * n->tensor * n->context;
    if (n->zero == 3 ||
        (n->expert > 1 && (p->experts_apart || ranks % ((int64_t)n->expert * n->expert_tensor) ||
                           stride_of(p, TH_AXIS_DATA) != n->tensor * n->context)))
        return th_error_set(err, "MAP-0796",
                            "-shares: ranks that take unlike shares exchange %s for every "
                            "micro-batch: must be %s",
                            n->zero == 3 ? "weights" : "tokens of experts",
                            n->zero == 3 ? "-zero 0 to 2" : "-expert within a share");
    if (sum * each * p->batch.micro_batch == p->batch.global_batch)
        return 0;
    return th_error_set(err, "MAP-0797",
                        "-shares: %lld micro-batches x -data / shares, %lld, x -micro_batch, %d, "
                        "are %lld sequences: must be the %d of -global_batch",
                        (long long)sum, (long long)each, (int)p->batch.micro_batch,
                        (long long)(sum * each * p->batch.micro_batch), (int)p->batch.global_batch);
}

static int check_batch(const th_parallel_plan *p, th_error *err)
{
    if (p->n_shares > 0)
        return check_shares(p, err);
    int64_t each = (int64_t)p->batch.micro_batch * p->n.data;
    if (each >= 1 && p->batch.global_batch % each == 0 && p->batch.global_batch >= each)
        return 0;
    return th_error_set(err, "MAP-0425",
                        "-global_batch %d: must be a multiple of -micro_batch x -data, %lld",
                        (int)p->batch.global_batch, (long long)each);
}

static int check_ranks(const th_parallel_plan *p, int32_t n_accels, th_error *err)
{
    const th_degrees *n = &p->n;
    int64_t stage = (int64_t)n->tensor * n->context * n->data, ranks = stage * n->pipeline;
    if (ranks > n_accels)
        return th_error_set(
            err, "MAP-0426",
            "-tensor x -context x -data x -pipeline are %lld ranks: must be at most "
            "the %d accelerators of the system",
            (long long)ranks, (int)n_accels);
    if (stage % ((int64_t)n->expert * n->expert_tensor))
        return th_error_set(err, "MAP-0427",
                            "-expert %d x -expert_tensor %d: must divide the %lld ranks of a stage",
                            (int)n->expert, (int)n->expert_tensor, (long long)stage);
    return divides("MAP-0428", "-zero_group", n->zero_group, "-data x -context",
                   (int64_t)n->data * n->context, err);
}

int th_plan_check(const th_parallel_plan *p, const th_transformer *t, int32_t n_accels,
                  th_error *err)
{
    return check_model(p, t, err) || check_gradients(p, err) || check_batch(p, err) ||
                   check_ranks(p, n_accels, err)
               ? -1
               : 0;
}

int32_t th_plan_micro_batches(const th_parallel_plan *p)
{
    int32_t most = 0;
    for (int32_t i = 0; i < p->n_shares; i++)
        most = th_max(most, p->shares[i]);
    return most > 0 ? most : p->batch.global_batch / (p->batch.micro_batch * p->n.data);
}

/* ---- shares ---- */

int32_t th_plan_share_of(const th_parallel_plan *p, int32_t rank)
{
    return rank / stride_of(p, TH_AXIS_DATA) % p->n.data / (p->n.data / th_plan_n_shares(p));
}

int32_t th_plan_share_rank(const th_parallel_plan *p, int32_t share)
{
    return share * (p->n.data / th_plan_n_shares(p)) * stride_of(p, TH_AXIS_DATA);
}

static th_pipeline_shape shape_of(const th_parallel_plan *p, int32_t share)
{
    return (th_pipeline_shape){p->n.pipeline, p->n.chunks,
                               p->n_shares > 0 ? p->shares[share] : th_plan_micro_batches(p)};
}

int th_plan_schedules_make(th_plan_schedules *x, const th_parallel_plan *p, th_error *err)
{
    for (x->n = 0; x->n < th_plan_n_shares(p); x->n++) {
        const th_pipeline_shape shape = shape_of(p, x->n);
        if (th_pipeline_make(p->schedule, &shape, &x->of[x->n], err) == 0)
            continue;
        th_plan_schedules_clear(x);
        return -1;
    }
    return 0;
}

void th_plan_schedules_clear(th_plan_schedules *x)
{
    while (x->n > 0)
        th_pipeline_clear(&x->of[--x->n]);
}

bool th_plan_schedules_are_possible(const th_parallel_plan *p)
{
    th_error ignored;
    for (int32_t i = 0; p->schedule->check && i < th_plan_n_shares(p); i++) {
        const th_pipeline_shape shape = shape_of(p, i);
        if (p->schedule->check(&shape, &ignored))
            return false;
    }
    return true;
}

/* ---- ranks on accelerators ---- */

int32_t th_plan_stage_ranks(const th_parallel_plan *p)
{
    return p->n.tensor * p->n.context * p->n.data;
}

int32_t th_plan_number_bytes(const th_parallel_plan *p)
{
    return th_step_precisions[p->precision].bytes;
}

int32_t th_plan_state_bytes(const th_parallel_plan *p)
{
    enum { SINGLE = 4 };
    return 2 * SINGLE + (th_plan_number_bytes(p) < SINGLE ? SINGLE : 0);
}

static int32_t block_of(const th_parallel_plan *p, int32_t stage)
{
    return stage < p->n_own ? p->own[stage].block : stage;
}

int32_t th_plan_accel(const th_parallel_plan *p, int32_t stage, int32_t rank)
{
    int32_t accel = 0, stride = 1;
    for (int i = 0; i < TH_N_AXES; i++) {
        int32_t n = extent(p, p->order[i]);
        int32_t at = p->order[i] == TH_AXIS_PIPELINE ? block_of(p, stage) : rank % n;
        if (p->order[i] != TH_AXIS_PIPELINE)
            rank /= n;
        accel += at * stride;
        stride *= n;
    }
    return accel;
}

th_layer_range th_plan_layers(const th_parallel_plan *p, const th_transformer *t, int32_t step)
{
    int32_t steps = p->n.pipeline * p->n.chunks;
    int32_t extra = p->layout == TH_LAYOUT_WITH_EMBEDDING ? 1 : 0;
    int32_t each = (t->layers + 2 * extra) / steps, more = t->layers % steps;
    if (p->n_own > 0) {
        int32_t first = 0;
        for (int32_t i = 0; i < step; i++)
            first += p->own[i].layers;
        return (th_layer_range){first, p->own[step].layers};
    }
    if (p->layout == TH_LAYOUT_UNEVEN)
        return (th_layer_range){step * each + th_min(step, more), each + (step < more)};
    const int32_t first = th_max(step * each - extra, 0);
    const int32_t end = th_min((step + 1) * each - extra, t->layers);
    return (th_layer_range){first, th_max(end - first, 0)};
}

/* ---- groups ---- */

static int32_t experts_on_node(const th_parallel_plan *p)
{
    return p->experts_on_node > 1 ? p->experts_on_node : 1;
}

int32_t th_plan_group_size(const th_parallel_plan *p, th_plan_group kind)
{
    const th_degrees *n = &p->n;
    const int32_t size[TH_N_GROUPS] = {[TH_GROUP_TENSOR] = n->tensor,
                                       [TH_GROUP_CONTEXT] = n->context,
                                       [TH_GROUP_EXPERT] = n->expert,
                                       [TH_GROUP_EXPERT_NODES] = n->expert / experts_on_node(p),
                                       [TH_GROUP_EXPERT_LOCAL] = experts_on_node(p),
                                       [TH_GROUP_EXPERT_SHARED] = n->expert_tensor,
                                       [TH_GROUP_GRADIENT] = n->data * n->context,
                                       [TH_GROUP_ZERO] = n->zero_group,
                                       [TH_GROUP_REPLICA] = n->data * n->context / n->zero_group};
    return size[kind];
}

/* The i-th of the ranks that hold the same weights as rank: context and data in their order. */
static int32_t same_weights(const th_parallel_plan *p, int32_t rank, int32_t i)
{
    int32_t c = p->n.context, d = p->n.data;
    int32_t context = stride_of(p, TH_AXIS_CONTEXT), data = stride_of(p, TH_AXIS_DATA);
    rank -= rank / context % c * context + rank / data % d * data;
    return context < data ? rank + i % c * context + i / c * data
                          : rank + i % d * data + i / d * context;
}

static int32_t number_of(const th_parallel_plan *p, int32_t rank)
{
    int32_t c = p->n.context, d = p->n.data;
    int32_t context = stride_of(p, TH_AXIS_CONTEXT), data = stride_of(p, TH_AXIS_DATA);
    int32_t at_c = rank / context % c, at_d = rank / data % d;
    return context < data ? at_c + at_d * c : at_d + at_c * d;
}

void th_plan_group_of(const th_parallel_plan *p, th_plan_group kind, int32_t rank, int32_t *ranks)
{
    const int32_t n = th_plan_group_size(p, kind), e = p->n.expert, node = experts_on_node(p);
    const int32_t tensor = stride_of(p, TH_AXIS_TENSOR), context = stride_of(p, TH_AXIS_CONTEXT);
    const int32_t apart = p->experts_apart ? th_plan_stage_ranks(p) / e : p->n.expert_tensor;
    const int32_t first = rank / (e * apart) * (e * apart) + rank % apart;
    const int32_t expert = (rank - first) / apart; /* position in the group */
    const int32_t zero = p->n.zero_group, at = number_of(p, rank);
    const struct {
        int32_t first, step;
    } of[TH_N_GROUPS] = {
        [TH_GROUP_TENSOR] = {rank - rank / tensor % p->n.tensor * tensor, tensor},
        [TH_GROUP_CONTEXT] = {rank - rank / context % p->n.context * context, context},
        [TH_GROUP_EXPERT] = {first, apart},
        [TH_GROUP_EXPERT_NODES] = {first + expert % node * apart, node * apart},
        [TH_GROUP_EXPERT_LOCAL] = {first + expert / node * node * apart, apart},
        [TH_GROUP_EXPERT_SHARED] = {rank / n * n, 1},
        /* numbers of ranks that hold the same weights */
        [TH_GROUP_GRADIENT] = {0, 1},
        [TH_GROUP_ZERO] = {at / zero * zero, 1},
        [TH_GROUP_REPLICA] = {at % zero, zero}};
    for (int32_t i = 0; i < n; i++) {
        ranks[i] = of[kind].first + i * of[kind].step;
        if (kind >= TH_GROUP_GRADIENT)
            ranks[i] = same_weights(p, rank, ranks[i]);
    }
}
