/* SPDX-License-Identifier: GPL-3.0-or-later */
/* evaluate.h - fitness of a mapping: lower it, replay the program, compute the objective.
 *   new -> (share) -> (run | trim ...)* -> free
 * One evaluator per thread; several may share caches. */
#ifndef TH_MAPPER_EVALUATE_EVALUATE_H
#define TH_MAPPER_EVALUATE_EVALUATE_H
#include "mapper/lower/lower.h"
#include "mapper/evaluate/objective.h"
#include "mapper/constraints.h"
#include "mapper/evaluate/segment.h"
#include "sim/machine/machine.h"

typedef enum {
    TH_FIT,           /* value counts */
    TH_FIT_STOPPED,   /* its value passes the bound */
    TH_FIT_INFEASIBLE /* does not fit in memory, or a design of it cannot run a layer */
} th_fit;

/* The value that a search minimises. Only a mapping that is TH_FIT has metrics. */
typedef struct th_fitness {
    th_fit fit;
    double value; /* th_goal_fitness, which is huge where a deadline is missed; INFINITY unless
                     TH_FIT */
    th_metrics metrics;
    /* Tasks lowered and events simulated; of segments half, whether they were remembered or not, so
     * that it depends on the mapping and the bound alone. */
    int64_t work;
} th_fitness;

typedef struct th_problem {
    const th_system *system;
    const th_workload *workload;
    th_stream stream;
    union {
        th_objective objective; /* goal.objective */
        th_goal goal;
    };
    const th_network_type *network; /* NULL: the default */
    th_network_options network_options;
    const th_constraints *constraints; /* that searches keep to; NULL: none */
    th_script_memo *scripts; /* schedules of script designs; NULL: they cannot be called */
    bool without_copies;     /* of layers: searches make none, and let layers keep none */
} th_problem;

typedef struct th_evaluator th_evaluator;

/* Refuses an objective that needs energy where the system gives no energy costs. */
th_evaluator *th_evaluator_new(const th_problem *p, th_error *err);
/* For another thread, on the same problem and with the same caches: plans, compute costs,
 * segments, completion times. Freed before e. */
th_evaluator *th_evaluator_share(th_evaluator *e, th_error *err);
void th_evaluator_free(th_evaluator *e);

/* Shared caches are never dropped while another thread may use them. is_full: are they larger than
 * their limits? trim drops them in that case, while no evaluator that shares them runs. */
bool th_evaluator_is_full(const th_evaluator *e);
void th_evaluator_trim(th_evaluator *e);

/* The fitness of a mapping. A run may be stopped when its value clearly passes bound (INFINITY:
 * never). 0, or -1: memory is out, a defect of the mapping, a script fails. */
int th_evaluator_run(th_evaluator *e, const th_mapping *m, double bound, th_fitness *fitness,
                     th_error *err);

/* Can the network of the problem lose a link during a run? */
bool th_evaluator_can_lose_links(const th_evaluator *e);
/* The same, of a whole run, without the medium of a link (-1: with all) from the start: transfers
 * take detours (sim/network/detour.h). TH_FIT_INFEASIBLE where one has none. used: links that
 * carried something, by link; NULL: not wanted. 0 or -1. */
int th_evaluator_run_without_link(th_evaluator *e, const th_mapping *m, int32_t link,
                                  th_fitness *fitness, bool *used, th_error *err);

/* Why a mapping that does not fit, or cannot run, does not: the message of its lowering
 * or of its run. */
void th_evaluator_explain(th_evaluator *e, const th_mapping *m, th_error *reason);

/* Counts of the segment memo, for all who share it, while none of them runs; all 0 where it does
 * not apply. */
th_segment_counts th_evaluator_segments(const th_evaluator *e);

th_lower *th_evaluator_lower(th_evaluator *e);
const th_problem *th_evaluator_problem(const th_evaluator *e);

/* Collapsed compute time of the slowest position of a set that runs a layer by a strategy, summed
 * over its phases; used by baselines. -1: memory is out, or the set's design cannot run the layer
 * (th_plans_is_fatal distinguishes them). */
th_time th_evaluator_shard_time(th_evaluator *e, const th_set *set, int layer, const th_strategy *s,
                                th_error *err);

#endif
