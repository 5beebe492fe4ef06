/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool.c - calls the functions of the chosen type of pool. */
#include <config.h>

#include "mapper/pool/pool.h"

th_pool *th_pool_new(const th_pool_type *type, const th_problem *p, int threads, th_error *err)
{
    return (type ? type : &th_pool_threads)->create(p, threads, err);
}

void th_pool_free(th_pool *p)
{
    if (p)
        p->type->destroy(p);
}

int th_pool_evaluate(th_pool *p, th_mapping *const *mappings, int n, double bound,
                     th_fitness *fitness, th_error *err)
{
    return p->type->evaluate(p, mappings, n, bound, fitness, err);
}

int th_pool_run_tasks(th_pool *p, th_pool_task *task, void *state, int n, th_error *err)
{
    return n > 0 ? p->type->run_tasks(p, task, state, n, err) : 0;
}

th_evaluator *th_pool_evaluator(th_pool *p)
{
    return p->type->evaluator(p);
}

th_segment_counts th_pool_segments(th_pool *p)
{
    return p->type->segments(p);
}
