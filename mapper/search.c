/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search.c - the table of searches, and what they share.
 *   new -> iterate until done -> free */
#include <config.h>

#include "mapper/search.h"

#include <string.h>

#include "base/alloc.h"
#include "mapper/searches.h"

const th_search_options th_search_defaults = {.seed = 1, .evaluations = 0, .threads = 1};

const th_search_type *const th_search_types[] = {
    &th_search_two_level,
    &th_search_random,
    &th_search_computation_prioritized,
    &th_search_uniform,
    NULL,
};

const th_search_type *th_search_find(const char *name)
{
    for (int i = 0; th_search_types[i]; i++)
        if (strcmp(th_search_types[i]->name, name) == 0)
            return th_search_types[i];
    return NULL;
}

th_search *th_search_new(const th_search_type *type, const th_problem *p,
                         const th_search_options *o, th_error *err)
{
    th_search *s = th_alloc_zero(1, sizeof *s);
    if (!s) {
        th_error_no_memory(err);
        return NULL;
    }
    s->type = type;
    s->problem = *p;
    s->options = *o;
    s->best_fitness = TH_TIME_MAX;
    s->pool = th_pool_new(p, o->threads, err);
    if (s->pool && !(s->state = th_alloc_zero(1, type->state_size + 1)))
        th_error_no_memory(err);
    if (s->state && type->init(s, err) == 0)
        return s;
    th_search_free(s);
    return NULL;
}

static int nothing_found(const th_search *s, th_error *err)
{
    const char *workload = s->problem.workload->name, *system = s->problem.system->name,
               *why = s->first_misfit.text[0] ? s->first_misfit.text
                                              : "no set can run all of its layers";
    if (s->n_evaluations == 0)
        return th_error_set(err, "MAP-0042", "%s: no mapping of \"%s\" onto \"%s\" can be made: %s",
                            s->type->name, workload, system, why);
    return th_error_set(err, "MAP-0024",
                        "%s: none of %lld mappings of \"%s\" onto \"%s\" fits; the first: %s",
                        s->type->name, (long long)s->n_evaluations, workload, system, why);
}

int th_search_iterate(th_search *s, th_error *err)
{
    if (s->done)
        return 0;
    s->n_batches++;
    if (s->type->iterate(s, err))
        return -1;
    return s->done && !s->best ? nothing_found(s, err) : 0;
}

void th_search_free(th_search *s)
{
    if (!s)
        return;
    if (s->state)
        s->type->clear(s);
    th_free(s->state);
    th_pool_free(s->pool);
    th_mapping_free(s->best);
    th_free(s);
}

static int keep_if_best(th_search *s, const th_mapping *m, th_time fitness, int64_t number,
                        th_error *err)
{
    if (fitness == TH_TIME_MAX && s->n_infeasible++ == 0)
        th_evaluator_explain(th_pool_evaluator(s->pool), m, &s->first_misfit);
    s->n_stopped += fitness == TH_TIME_MAX - 1;
    if (fitness >= TH_TIME_MAX - 1 || fitness >= s->best_fitness)
        return 0;
    th_mapping *copy = th_mapping_copy(m);
    if (!copy)
        return th_error_no_memory(err);
    th_mapping_free(s->best);
    s->best = copy;
    s->best_fitness = fitness;
    s->best_found_at = number;
    return 0;
}

int th_search_evaluate(th_search *s, th_mapping *const *mappings, int n, th_time bound,
                       th_time *fitness, th_error *err)
{
    if (th_pool_evaluate(s->pool, mappings, n, bound, fitness, err))
        return -1;
    for (int i = 0; i < n; i++)
        if (keep_if_best(s, mappings[i], fitness[i], s->n_evaluations + i + 1, err))
            return -1;
    s->n_evaluations += n;
    return 0;
}

int32_t th_search_batch(const th_search *s)
{
    return s->problem.workload->batch / s->problem.stream.micro_batches;
}
