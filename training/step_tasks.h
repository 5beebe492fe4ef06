/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_tasks.h - the tasks of a step of training, rank by rank or one rank for all.
 *
 * What the ranks of a stage do together is a bundle: a task of each rank, or, of a collective, the
 * task of its group. A bundle waits for others rank by rank. Where ranks are merged, a bundle is
 * the task of rank 0, or of the first rank of each share of the micro-batches; computations are
 * then tasks of its accelerator, and messages delays that take what their simulation took
 * (collective_times.h). Else every rank has tasks, and collectives and transfers are live on the
 * network. A bundle is of the ranks of one share, or of all. */
#ifndef TH_TRAINING_STEP_TASKS_H
#define TH_TRAINING_STEP_TASKS_H
#include "base/map.h"
#include "base/strbuf.h"
#include "training/collective_times.h"
#include "training/layer_work.h"
#include "sim/program/program.h"

/* What a task of a step is for. */
typedef enum {
    TH_STEP_COMPUTE,
    TH_STEP_OPTIMIZER,
    TH_STEP_TENSOR,
    TH_STEP_CONTEXT,
    TH_STEP_EXPERT,
    TH_STEP_DATA,
    TH_STEP_PIPELINE,
    TH_N_STEP_TASKS
} th_step_task;
extern const char *const th_step_task_names[TH_N_STEP_TASKS + 1];

/* What a task of a step is a part of: the pass of a micro-batch through a layer. */
typedef struct th_step_place {
    int32_t micro_batch; /* -1: of the step as a whole; then the others say nothing */
    int32_t layer;       /* from 0, or TH_LAYER_EMBEDDING_STEP, TH_LAYER_HEAD_STEP */
    int32_t pass;        /* th_pipeline_kind */
} th_step_place;
static const th_step_place TH_STEP_AS_A_WHOLE = {-1, 0, 0};

/* The parts of a computation, which follow each other. */
typedef struct th_step_work {
    th_time ps[TH_N_WORK_PARTS];
} th_step_work;
/* Adds "products 1.2ms, norms 3us". */
void th_step_work_describe(const th_step_work *w, th_strbuf *out);

enum { TH_NO_BUNDLE = -1, TH_STEP_TASKS_MAX = 1 << 23 };

typedef struct th_step_tasks {
    const th_system *system;
    const th_parallel_plan *plan;
    /* By stage, of the plan seen from there; or one for all. */
    th_collective_times **times;
    th_parallel_plan *seen;
    int32_t n_times;
    th_collective_memo *own; /* where the caller has none */
    th_program *program;
    bool is_merged;
    int32_t ranks; /* of a stage that have tasks: all, or one of each share */
    int32_t share; /* whose bundles are added next; -1: of all ranks, which then wait for all */
    uint8_t *kind; /* th_step_task of each task of the program; the caller's, once taken */
    size_t kind_capacity;
    th_step_work *work; /* all different; the caller's, once taken, as is work_of */
    int32_t n_works;
    int32_t *work_of;        /* of each task; -1: it is no computation */
    th_step_place *place_of; /* of each task; likewise */
    th_step_place place;     /* of the tasks that are added next */
    /* private */
    th_map *known_work;
    size_t work_capacity, work_of_capacity, place_capacity;
    int32_t *task; /* of bundle b and rank r: [b * ranks + r] */
    int32_t n;
    size_t task_capacity;
    int32_t *members, *nodes; /* of a group */
} th_step_tasks;

/* What a bundle waits for: others, or TH_NO_BUNDLE. */
typedef struct th_bundles {
    const int32_t *of;
    int32_t n;
} th_bundles;

/* A collective of every group of a kind. */
typedef struct th_step_exchange {
    th_collective_kind kind;
    th_plan_group group;
    int64_t bytes;
} th_step_exchange;
/* Those of so many bytes of weights (all-gather) or gradients (reduce-scatter), one after the
 * other, over the ranks that share them. How many. */
int th_step_exchanges_of(const th_parallel_plan *p, th_collective_kind kind, int64_t bytes,
                         th_step_exchange of[2]);

/* merges: one rank stands for all. All arguments must outlive it. 0, or -1 and nothing to clear. */
int th_step_tasks_init(th_step_tasks *x, const th_system *s, const th_parallel_plan *p, bool merges,
                       th_program *program, th_error *err);
/* Is there room for so many bundles? 0, or -1 with what to make smaller. */
int th_step_tasks_check(const th_step_tasks *x, int64_t bundles, th_error *err);
/* The memo of all times, which must outlive x; NULL: each has its own. 0 or -1. */
int th_step_tasks_use(th_step_tasks *x, th_collective_memo *memo, th_error *err);
void th_step_tasks_clear(th_step_tasks *x); /* what was taken (set to NULL) stays */

/* Each adds a bundle and returns its number, or -1. */
int32_t th_step_compute(th_step_tasks *x, int32_t stage, const th_step_work *work,
                        th_step_task kind, th_bundles after, th_error *err);
/* slowdown: the share of their rate that computations beside it lose; 0: none is beside it. */
int32_t th_step_collective(th_step_tasks *x, int32_t stage, const th_step_exchange *e,
                           double slowdown, th_bundles after, th_error *err);
int32_t th_step_message(th_step_tasks *x, int32_t from, int32_t to, int64_t bytes, th_bundles after,
                        th_error *err);
/* How long an exchange takes by itself; 0: it has no bytes or no ranks. -1 on failure. */
th_time th_step_exchange_ps(th_step_tasks *x, int32_t stage, const th_step_exchange *e,
                            th_error *err);

#endif
