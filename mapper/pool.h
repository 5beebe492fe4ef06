/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool.h - evaluates batches of mappings; results do not depend on how many workers there are. */
#ifndef TH_MAPPER_POOL_H
#define TH_MAPPER_POOL_H
#include "mapper/evaluate.h"

typedef struct th_pool th_pool;

/* Threads on this machine (pool_threads.c), each with an evaluator of its own. */
th_pool *th_pool_new(const th_problem *p, int threads, th_error *err);
void th_pool_free(th_pool *p);

/* fitness[i] of mappings[i] with this bound, for i < n. 0, or -1 with the error of the lowest i
 * that failed. */
int th_pool_evaluate(th_pool *p, th_mapping *const *mappings, int n, double bound,
                     th_fitness *fitness, th_error *err);

/* The evaluator of the calling thread, for reckoning outside batches. */
th_evaluator *th_pool_evaluator(th_pool *p);

#endif
