/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool.h - evaluates batches of mappings in parallel; results do not depend on the number of
 * workers.
 *   new -> (evaluate | run_tasks)* -> free */
#ifndef TH_MAPPER_POOL_H
#define TH_MAPPER_POOL_H
#include "mapper/evaluate/evaluate.h"

typedef struct th_pool th_pool;

/* The i-th task of n, run by a worker with an evaluator that no other thread uses meanwhile. 0; -1:
 * out of memory; 1: it failed, and no others are begun. */
typedef int th_pool_task(void *state, th_evaluator *e, int i);

/* A type of pool: one file each. */
typedef struct th_pool_type {
    const char *name; /* threads mpi */
    th_pool *(*create)(const th_problem *p, int threads, th_error *err);
    void (*destroy)(th_pool *p);
    int (*evaluate)(th_pool *p, th_mapping *const *mappings, int n, double bound,
                    th_fitness *fitness, th_error *err);
    th_evaluator *(*evaluator)(th_pool *p);
    int (*run_tasks)(th_pool *p, th_pool_task *task, void *state, int n, th_error *err);
    th_segment_counts (*segments)(th_pool *p);
} th_pool_type;

struct th_pool { /* first member of every type's own struct */
    const th_pool_type *type;
};

/* Threads on this machine, whose evaluators share their caches: the default (NULL). The other
 * type, th_pool_mpi, belongs to the program tharsis-mpi (pool_mpi.h). */
extern const th_pool_type th_pool_threads;

th_pool *th_pool_new(const th_pool_type *type, const th_problem *p, int threads, th_error *err);
void th_pool_free(th_pool *p); /* accepts NULL */

/* fitness[i] of mappings[i] with this bound, for i < n. 0, or -1 with the error of the lowest i
 * that failed. */
int th_pool_evaluate(th_pool *p, th_mapping *const *mappings, int n, double bound,
                     th_fitness *fitness, th_error *err);

/* Runs task(state, e, i) for all i < n on the threads that share caches with the calling one. With
 * one thread no task is run: the caller then does the work itself, and no result may depend on
 * which thread did it. 0, or -1: out of memory. */
int th_pool_run_tasks(th_pool *p, th_pool_task *task, void *state, int n, th_error *err);

/* The evaluator of the calling thread, for estimates outside batches. */
th_evaluator *th_pool_evaluator(th_pool *p);

/* Counts of the segment memos since new. They do not depend on the number of threads unless a memo
 * became full; each rank has one memo. */
th_segment_counts th_pool_segments(th_pool *p);

#endif
