/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parallel_plan.h - how a step of training is spread over accelerators: degrees of parallelism,
 * batch, schedule, and the accelerator of each rank.
 *
 *   (the caller fills the plan) -> check -> ranks, groups
 *
 * A rank has a position along tensor, context, data and pipeline; its accelerator is the
 * mixed-radix number of these, in the order of the plan, the first fastest. The ranks of a stage
 * are numbered without the pipeline, 0 .. n - 1. Experts are spread over e ranks of a stage:
 * consecutive ones but for the expert_tensor ranks that share each expert, or, where the order has
 * expert behind data, ranks that are n / e apart. */
#ifndef TH_TRAINING_PARALLEL_PLAN_H
#define TH_TRAINING_PARALLEL_PLAN_H
#include "training/pipeline_schedule.h"
#include "training/step_precision.h"
#include "workloads/transformer/transformer.h"

typedef enum { TH_AXIS_TENSOR, TH_AXIS_CONTEXT, TH_AXIS_DATA, TH_AXIS_PIPELINE, TH_N_AXES } th_axis;
extern const char *const th_axis_names[TH_N_AXES + 1];
extern const char *const th_plan_expert_axis; /* "expert", which an order can have as well */
/* Words of options and files, by the value that they stand for; each ends in NULL. */
extern const char *const th_plan_overlap_names[],
    *const th_plan_layout_names[], *const th_plan_kernel_names[],
                                       *const th_plan_attention_names[],
                                           *const th_plan_launch_names[],
                                               *const th_plan_gradient_names[],
                                                   *const th_plan_exchange_names[],
                                                       *const th_plan_recompute_names[];

/* What the backward operation of a layer computes again, in rising order. */
typedef enum {
    TH_RECOMPUTE_NONE,
    TH_RECOMPUTE_SELECTIVE, /* scores of attention */
    TH_RECOMPUTE_NEEDED,    /* the layer, up to the last tensor that a gradient needs */
    TH_RECOMPUTE_FULL       /* the layer */
} th_recompute;

typedef enum {
    TH_ATTENTION_FUSED,    /* by the vendor's kernels */
    TH_ATTENTION_PORTABLE, /* by others: FlashAttention, Triton */
    TH_ATTENTION_UNFUSED,  /* scores are written to memory, masked and normalized there */
    TH_ATTENTION_SOFTMAX   /* scores are written to memory; one kernel masks and normalizes them */
} th_attention;

/* How the host launches kernels. */
typedef enum {
    TH_LAUNCH_AUTO,     /* eager kernels from Python, fused ones by compiled code */
    TH_LAUNCH_PYTHON,   /* one by one, from Python */
    TH_LAUNCH_COMPILED, /* one by one, by compiled code */
    TH_LAUNCH_GRAPH     /* all kernels of a computation at once */
} th_launch;

/* How the layers are cut into chunks. */
typedef enum {
    TH_LAYOUT_LAYERS,         /* equal chunks */
    TH_LAYOUT_WITH_EMBEDDING, /* equal chunks, embedding and output layer being a layer each */
    TH_LAYOUT_UNEVEN          /* the last chunks have one layer less where they do not divide */
} th_plan_layout;

typedef struct th_degrees {
    int32_t tensor, pipeline, chunks, context, data, expert, expert_tensor; /* >= 1 */
    int32_t zero;       /* 0 nothing, 1 states, 2 also gradients, 3 also weights are sharded */
    int32_t zero_group; /* over so many ranks of data x context */
} th_degrees;

typedef struct th_batch {
    int32_t sequence, micro_batch, global_batch; /* tokens; sequences */
} th_batch;

/* A stage of its own layers and accelerators (plan_stages.h). */
typedef struct th_own_stage {
    int16_t layers;
    int16_t block; /* it has the accelerators of this stage of equal ones */
    int16_t again; /* its first layers, that are computed again */
} th_own_stage;
enum { TH_OWN_STAGES_MAX = 128, TH_SHARES_MAX = 16 };

typedef struct th_parallel_plan {
    th_degrees n;
    int32_t n_own; /* stages of their own; 0: all are equal */
    th_own_stage own[TH_OWN_STAGES_MAX];
    th_batch batch;
    int32_t n_shares;              /* 0: all replicas take as many micro-batches */
    int32_t shares[TH_SHARES_MAX]; /* micro-batches of each of the first data / n_shares replicas,
                                    * of each of as many behind them, and so on */
    int32_t order[TH_N_AXES];      /* th_axis, the fastest first */
    bool experts_apart; /* the ranks of experts are far from each other, not neighbours */
    /* A token goes to another node once, and there on to the ranks of its experts; else from rank
     * to rank. */
    bool exchanges_by_node;
    /* Ranks of an expert group that share a node, if it is so for all of them: collective_times.h.
     * 0 or 1: from rank to rank. */
    int32_t experts_on_node;
    const th_pipeline_type *schedule; /* NULL: from schedule_file */
    const char *schedule_file;
    th_recompute recompute;
    th_train_precision precision;
    bool sequence_parallel;
    bool overlaps_data, overlaps_tensor;
    bool overlaps_pipeline; /* a stage computes while it sends and receives, else it waits */
    th_plan_layout layout;
    bool has_fused_kernels; /* elementwise operations are fused, else each is a pass of its own */
    th_attention attention;
    th_launch launch;
    bool frozen_weights;    /* adapters alone are trained (LoRA) */
    int32_t gradient_bytes; /* of an element that is reduced */
    double expert_skew;     /* tokens of the busiest rank over the mean; 1: balanced */
} th_parallel_plan;

/* What releases of a year overlap, fuse and launch as a graph. */
typedef struct th_software {
    bool has_fused_kernels;
    th_attention attention;
    th_launch launch;
    bool overlaps_data, overlaps_tensor, overlaps_pipeline;
} th_software;
extern const char *const th_software_names[];
extern const th_software th_softwares[]; /* by name */

/* Sets the order from n words, each axis once and expert before or behind data; 0: as by default.
 * 0, or -1: no such order. */
int th_plan_set_order(th_parallel_plan *p, const char *const *words, int n, th_error *err);

/* Does everything divide, and are there enough accelerators? 0, or -1 with the number to change. */
int th_plan_check(const th_parallel_plan *p, const th_transformer *t, int32_t n_accels,
                  th_error *err);
int32_t th_plan_micro_batches(const th_parallel_plan *p); /* of the replicas that take most */
int32_t th_plan_stage_ranks(const th_parallel_plan *p);   /* tensor x context x data */
/* Which share of the micro-batches a rank of a stage takes, and the first rank that takes it. */
int32_t th_plan_share_of(const th_parallel_plan *p, int32_t rank);
int32_t th_plan_share_rank(const th_parallel_plan *p, int32_t share);

/* The schedules of a plan, one for each share; without shares one. A function that takes the
 * schedules of a plan takes the first of them. */
typedef struct th_plan_schedules {
    th_pipeline_schedule of[TH_SHARES_MAX];
    int32_t n;
} th_plan_schedules;
/* Of a plan with a schedule of the table. 0, or -1 and nothing to clear. */
int th_plan_schedules_make(th_plan_schedules *x, const th_parallel_plan *p, th_error *err);
void th_plan_schedules_clear(th_plan_schedules *x);
/* Do their rules hold? */
bool th_plan_schedules_are_possible(const th_parallel_plan *p);
static inline int32_t th_plan_n_shares(const th_parallel_plan *p)
{
    return p->n_shares > 0 ? p->n_shares : 1;
}
/* Of a weight, an activation or a number of a message; and of what the optimizer (Adam) keeps of a
 * weight: two moments of 32 bits, and a copy of 32 bits of one that has fewer. */
int32_t th_plan_number_bytes(const th_parallel_plan *p);
int32_t th_plan_state_bytes(const th_parallel_plan *p);
/* The accelerator of a rank of a stage. */
int32_t th_plan_accel(const th_parallel_plan *p, int32_t stage, int32_t rank);

/* The layers of step k of the model (th_pipeline_step): [first, first + n). */
typedef struct th_layer_range {
    int32_t first, n;
} th_layer_range;
th_layer_range th_plan_layers(const th_parallel_plan *p, const th_transformer *t, int32_t step);

/* Groups of ranks of a stage. */
typedef enum {
    TH_GROUP_TENSOR,
    TH_GROUP_CONTEXT,
    TH_GROUP_EXPERT,
    TH_GROUP_EXPERT_NODES,  /* of these, one on each node */
    TH_GROUP_EXPERT_LOCAL,  /* of these, those of a node */
    TH_GROUP_EXPERT_SHARED, /* the expert_tensor ranks that share the same experts */
    TH_GROUP_GRADIENT,      /* data x context: all that hold the same weights */
    TH_GROUP_ZERO,          /* zero_group of these */
    TH_GROUP_REPLICA,       /* the ranks that hold the same part of a zero group */
    TH_N_GROUPS
} th_plan_group;
int32_t th_plan_group_size(const th_parallel_plan *p, th_plan_group kind);
/* The group of a rank: group_size ranks of its stage, in order. */
void th_plan_group_of(const th_parallel_plan *p, th_plan_group kind, int32_t rank, int32_t *ranks);

#endif
