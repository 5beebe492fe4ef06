/* SPDX-License-Identifier: GPL-3.0-or-later */
/* initial_mapping.c - the life of the generator of initial mappings and of the caches that several
 * of them share. choices.c lists the strategies of a layer, transition.c the times between two
 * layers, dynamic_programming.c chooses among them. */
#include <config.h>

#include "mapper/search/initial/initial_mapping_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/strategies.h"

double th_jitter_factor(th_jitter j)
{
    return j.most > 0 ? 1 + j.most * th_random_unit(j.random) : 1;
}

static void free_cache(th_initial_cache *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n_choices; i++)
        th_choices_free(m->choices[i]);
    for (size_t i = 0; i < m->n_matrices; i++)
        th_transition_matrix_free(m->matrices[i]);
    th_free(m->choices);
    th_free(m->matrices);
    th_shared_map_free(m->choices_by_key);
    th_shared_map_free(m->matrices_by_key);
    pthread_mutex_destroy(&m->lock);
    th_free(m);
}

/* NULL: out of memory. */
static th_initial_cache *new_cache(void)
{
    th_initial_cache *m = th_alloc_zero(1, sizeof *m);
    if (!m)
        return NULL;
    pthread_mutex_init(&m->lock, NULL);
    m->choices_by_key = th_shared_map_new();
    m->matrices_by_key = th_shared_map_new();
    if (m->choices_by_key && m->matrices_by_key)
        return m;
    free_cache(m);
    return NULL;
}

th_initial_generator *th_initial_new(th_evaluator *e, th_error *err)
{
    const th_problem *p = th_evaluator_problem(e);
    th_initial_generator *g = th_alloc_zero(1, sizeof *g);
    if (g) {
        g->evaluator = e;
        g->plans = th_lower_plans(th_evaluator_lower(e));
        g->workload = p->workload;
        g->constraints = p->constraints;
        g->batch = p->workload->batch / p->stream.micro_batches;
        g->cache = new_cache();
        if (g->cache)
            return g;
    }
    th_error_no_memory(err);
    th_initial_free(g);
    return NULL;
}

th_initial_generator *th_initial_share(th_initial_generator *g, th_evaluator *e, th_error *err)
{
    th_initial_generator *shared = th_alloc_zero(1, sizeof *shared);
    if (!shared) {
        th_error_no_memory(err);
        return NULL;
    }
    *shared = (th_initial_generator){
        .evaluator = e,
        .plans = th_lower_plans(th_evaluator_lower(e)),
        .workload = g->workload,
        .constraints = g->constraints,
        .batch = g->batch,
        .cache = g->cache,
        .shares = true,
        .is_full = g->is_full,
        .infeasibility = g->infeasibility,
        .infeasibility_is_of_design = g->infeasibility_is_of_design,
    };
    return shared;
}

bool th_initial_is_full(const th_initial_generator *g)
{
    return g->is_full;
}

void th_initial_free(th_initial_generator *g)
{
    if (g && !g->shares)
        free_cache(g->cache);
    th_free(g);
}

th_plans *th_initial_plans(const th_initial_generator *g)
{
    return g->plans;
}

const th_error *th_initial_infeasibility(const th_initial_generator *g)
{
    return &g->infeasibility;
}
