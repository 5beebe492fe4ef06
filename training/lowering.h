/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lowering.h - a step that becomes a program: lower_step.c has its operations and its order,
 * lower_exchanges.c what replicas exchange. */
#ifndef TH_TRAINING_LOWERING_H
#define TH_TRAINING_LOWERING_H
#include "training/step_tasks.h"

enum { NONE = TH_NO_BUNDLE, WAITS_MAX = 16 };

/* Exchanges of weights or gradients, one after the other. */
typedef struct th_lowering_calls {
    th_step_exchange of[2];
    int n;
    th_step_place place;
} th_lowering_calls;

/* Bundles that something waits for. */
typedef struct th_lowering_waits {
    int32_t of[WAITS_MAX], n;
} th_lowering_waits;

/* Where a stage stands. */
typedef struct th_lowering_stage {
    int32_t wait[WAITS_MAX], n_wait;     /* bundles that the next one waits for */
    int32_t beside[WAITS_MAX], n_beside; /* collectives that the next computation overlaps */
    double ahead_s;                      /* that the host is; < 0: launches before, behind */
    int32_t engine;                      /* last exchange of weights and gradients */
    int32_t gate;                        /* end of the layer before: prefetching begins there */
    th_lowering_calls reduce;            /* gradients of the layer before, not on the engine yet */
    int32_t reduce_after;                /* its computation */
    int64_t pending_bytes;               /* gradients that are reduced at the end */
    int64_t parameters;
    th_lowering_waits forked, joins; /* of a pair: before its forward operation, and behind it */
    int32_t paired;                  /* chunk of its backward operation; NONE: it is in no pair */
} th_lowering_stage;

/* Gradients of a stage that wait for the first stage of their chunk. */
typedef struct th_held_calls {
    int32_t stage, chunk, after;
    th_lowering_calls of;
} th_held_calls;

/* An exchange of all shares, by share and layer: what it waits for of that share. */
typedef struct th_joint_calls {
    int32_t stage, after, and_after;
    th_lowering_calls of; /* n 0: none */
} th_joint_calls;

typedef struct th_lowering {
    const th_system *system;
    const th_work_context *c;
    const th_pipeline_schedule *all, *s; /* of each share, of the one that is lowered */
    int32_t n_shares, share;
    th_step_tasks *tasks;
    th_lowering_stage *all_stages, *stages;   /* of each share, of this one */
    th_work_context *all_of_stage, *of_stage; /* with its device */
    th_joint_calls *joint;                    /* of each share: joint_of; by layer */
    int32_t *joint_layer, n_joint;            /* of the first share, in its order */
    int32_t *gathered;                        /* by layer: weights, with shares */
    th_parallel_plan recomputed; /* the plan, for layers that alone are computed again */
    int32_t *came;               /* messages of operations to other stages, by th_pipeline_number */
    int64_t message_bytes;
    int32_t *made; /* by chunk: the last computation of its first stage; NONE: not yet */
    th_held_calls *held;
    size_t n_held, held_capacity;
} th_lowering;

static inline th_bundles th_lowering_waits_of(const th_lowering_stage *g)
{
    return (th_bundles){g->wait, g->n_wait};
}

static inline void th_lowering_wait_for(th_lowering_stage *g, int32_t task)
{
    g->wait[0] = task;
    g->n_wait = 1;
}

static inline void th_lowering_wait_also(th_lowering_stage *g, int32_t task)
{
    if (task != NONE && g->n_wait < WAITS_MAX)
        g->wait[g->n_wait++] = task;
}

/* The stage of a share. */
static inline th_lowering_stage *th_lowering_stage_of(const th_lowering *l, int32_t share,
                                                      int32_t at)
{
    return &l->all_stages[share * l->all->shape.stages + at];
}

/* What the first computation of a layer waits for: its weights. ZeRO 3: every time; 1 and 2: once a
 * step, where the exchange overlaps. */
int th_lowering_gather_weights(th_lowering *l, int32_t at, int64_t parameters, bool is_first,
                               th_error *err);
/* Behind a layer that makes gradients. */
int th_lowering_reduce_gradients(th_lowering *l, int32_t at, const th_pipeline_op *op,
                                 int64_t parameters, th_error *err);
/* Puts the gradients of the layer before on the engine, behind the weights of the next one, which a
 * computation waits for. */
int th_lowering_send_gradients(th_lowering *l, int32_t at, th_error *err);
/* Stage `at` has made all of its gradients of a chunk: those of the last chunk leave, or, where it
 * is the first stage, those of all stages. */
int th_lowering_release_gradients(th_lowering *l, int32_t at, int32_t chunk, th_error *err);
/* The exchanges of gradients that all shares have noted for a stage: each when all have made them.
 */
int th_lowering_exchange_joint(th_lowering *l, int32_t at, th_error *err);
/* What is not on the engine; all shares wait for it. */
int th_lowering_exchange_now(th_lowering *l, int32_t at, th_collective_kind kind, int64_t bytes,
                             th_error *err);

#endif
