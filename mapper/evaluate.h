/* SPDX-License-Identifier: GPL-3.0-or-later */
/* evaluate.h - fitness: lower a mapping, replay it, read off the objective. One per thread. */
#ifndef TH_MAPPER_EVALUATE_H
#define TH_MAPPER_EVALUATE_H
#include "mapper/lower.h"
#include "sim/machine.h"

typedef enum { TH_OBJECTIVE_LATENCY, TH_OBJECTIVE_THROUGHPUT } th_objective;

typedef struct th_problem {
    const th_system *system;
    const th_workload *workload;
    th_stream stream;
    th_objective objective;
    const th_network_type *network; /* NULL: the default */
    th_network_options network_options;
    th_script_memo *scripts; /* answers for script designs; NULL: nobody does */
} th_problem;

typedef struct th_evaluator th_evaluator;

th_evaluator *th_evaluator_new(const th_problem *p, th_error *err);
void th_evaluator_free(th_evaluator *e);

/* Fitness in picoseconds, less is better: the makespan (latency) or the mean time between inputs in
 * the steady state (throughput). TH_TIME_MAX for a mapping that does not fit in memory, or a design of
 * which cannot run a layer; a run whose makespan passes bound is stopped, and gets TH_TIME_MAX - 1.
 * 0; -1 (memory, a defect of the mapping, a script that fails); or 1 when answers of scripts are
 * deferred and one is needed first. */
int th_evaluator_run(th_evaluator *e, const th_mapping *m, th_time bound, th_time *fitness,
                     th_error *err);

/* Why a mapping that does not fit, or cannot run, does not: the message of its lowering. */
void th_evaluator_explain(th_evaluator *e, const th_mapping *m, th_error *reason);

th_lower *th_evaluator_lower(th_evaluator *e);
const th_problem *th_evaluator_problem(const th_evaluator *e);

/* Folded compute time of the slowest position of a set that runs a layer by a strategy, its phases
 * added up: what seeds and baselines reckon with. -1: memory is out, or the set's design cannot run
 * the layer (th_plans_is_fatal tells which). */
th_time th_evaluator_shard_time(th_evaluator *e, const th_set *set, int layer, const th_strategy *s,
                                th_error *err);

#endif
