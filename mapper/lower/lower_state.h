/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_state.h - private to lowering: the mapping being lowered, as plans, and the tasks emitted
 * so far. */
#ifndef TH_MAPPER_LOWER_STATE_H
#define TH_MAPPER_LOWER_STATE_H
#include "mapper/lower/lower.h"
#include "mapper/lower/plan.h"

/* A tensor as one input of a layer. Edges are ordered by tensor (the external input first), then
 * consumer, then input. */
typedef struct th_edge {
    int32_t tensor; /* layer, or TH_EXTERNAL_INPUT */
    int32_t consumer, input;
    /* The first edge of those that share the tensor (all of it, but for inputs of other models),
     * and the last layer that reads it there. */
    int32_t first, last_reader;
    const th_edge_plan *plan;
    int32_t first_task; /* of its deliveries in this pass */
} th_edge;

/* The edges of the workload's graph. */
typedef struct th_lower_graph {
    th_edge *edges;
    int32_t *edge_start; /* by tensor + 1 */
    int32_t *last_use; /* by tensor + 1: the last layer that reads it; of an output, of its model */
    int32_t *input_edge; /* of input i of layer l: input_edge[first_input[l] + i] */
    int32_t *first_input;
} th_lower_graph;

/* The mapping being lowered, as plans. */
typedef struct th_lower_planned {
    int32_t *set_id, *members_id; /* by set, see th_placed */
    size_t set_capacity, members_capacity;
    th_placed *placed;
    const th_layer_plan **layer_plan;
    th_placed *consumers; /* scratch */
} th_lower_planned;

/* What each accelerator's memory holds. */
typedef struct th_lower_memory {
    int64_t *peak_bytes, *weight_bytes; /* by accelerator */
    int32_t *peak_layer;                /* by accelerator; -1: it holds nothing, or is unknown */
    int64_t *changes;                   /* scratch of th_footprint_check */
    size_t changes_capacity;
} th_lower_memory;

/* The passes of the stream: one per micro-batch of each input. */
typedef struct th_lower_passes {
    int32_t *in_flight; /* by part of the workload: passes in the system at once */
    int32_t *end;       /* last tasks of all passes so far */
    size_t *end_start;  /* by pass and part: where its tasks begin in end */
    int32_t *start;     /* by pass: its first task */
    size_t n_ends, end_capacity, end_start_capacity, start_capacity;
} th_lower_passes;

/* The program, and the tasks that later tasks of the current pass depend on. */
typedef struct th_lower_emission {
    th_program *program;
    int32_t pass, input;
    int64_t *launched;      /* by accelerator: the pass and part of its last launch; -1 */
    int32_t *launch_task;   /* by accelerator: that launch */
    int64_t launch_key;     /* the current pass and part */
    int32_t release;        /* the host task of the current part; -1: not in the program */
    bool starts_unreleased; /* a task depends on a release that is not in the program */
    int32_t *first_final,
        *final;                  /* per layer and position: the task after which its part is held */
    int32_t *needs, *first_need; /* per position: the transfers to it */
    int32_t *kept;               /* per position: final, of this layer in the pass before */
    int32_t *arrivals, *phase_task; /* per position and phase of a rotation */
    size_t final_capacity, first_need_capacity, kept_capacity;
    size_t n_needs, need_capacity, arrival_capacity, phase_capacity;
} th_lower_emission;

struct th_lower {
    const th_system *system;
    const th_workload *workload;
    th_plans *plans;
    th_lower_graph graph;
    th_lower_planned planned;
    th_lower_memory memory;
    th_lower_passes passes;
    th_lower_emission emission;
    bool (*is_interrupted)(void);
};

/* The accelerator of a position of a planned layer. */
static inline int th_lower_accel(const th_lower *l, int layer, int r)
{
    const th_set *set = l->planned.placed[layer].set;
    return set->accels[r % set->n_accels];
}

static inline int32_t th_lower_input_edge(const th_lower *l, int layer, int input)
{
    return l->graph.input_edge[l->graph.first_input[layer] + input];
}

/* lower_plan.c: the steps of lowering all or a part of a mapping, in this order. */
void th_lower_begin(th_lower *l); /* plans of earlier mappings may be dropped */
int th_lower_begin_pass(th_lower *l, int32_t pass,
                        th_error *err); /* 0, or -1: it was interrupted */
int th_lower_number_sets(th_lower *l, const th_mapping *m, th_error *err); /* 0 or -1 */
/* Plans of layers first .. last, of layer first - 1, which they read, and of the tensors between
 * them, all of whose consumers are there. 0 or -1. */
int th_lower_plan(th_lower *l, const th_mapping *m, int first, int last, int32_t batch,
                  th_error *err);

#endif
