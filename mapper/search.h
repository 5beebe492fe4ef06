/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search.h - the table of searches and baselines; all are steppers.
 *   new -> iterate until done -> best, reports -> free
 * The result depends on problem, options and seed alone, not on the number of threads. */
#ifndef TH_MAPPER_SEARCH_H
#define TH_MAPPER_SEARCH_H
#include "mapper/evaluate.h"
#include "mapper/pool.h"

typedef struct th_search_options {
    uint64_t seed;
    int64_t evaluations;     /* budget; 0: the search's own default */
    int threads;             /* >= 1 */
    bool sets_inside_groups; /* a set never spans groups */
    bool heuristic_seeds;    /* random: also start from the seeds of two_level */
} th_search_options;
extern const th_search_options th_search_defaults;

typedef struct th_search th_search;

typedef struct th_search_type {
    const char *name; /* two_level random computation_prioritized uniform ... */
    const char *synopsis;
    bool is_baseline; /* takes no budget and no seed */
    size_t state_size;
    int (*init)(th_search *s, th_error *err);
    int (*iterate)(th_search *s, th_error *err); /* sets s->done when there is nothing left to do */
    void (*clear)(th_search *s);
} th_search_type;

extern const th_search_type *const th_search_types[]; /* ends in NULL; the first is the default */
const th_search_type *th_search_find(const char *name);

/* Public to read; changed by the search alone. */
struct th_search {
    const th_search_type *type;
    th_problem problem;
    th_search_options options;
    th_pool *pool;
    th_mapping *best;                               /* NULL until one was feasible */
    th_time best_fitness;                           /* TH_TIME_MAX until then */
    int64_t n_evaluations, n_infeasible, n_stopped; /* stopped: by the bound */
    th_error first_misfit; /* why the first mapping that did not fit, or could not be made, did
                              * not; of no meaning once one fits */
    int64_t best_found_at; /* evaluations when the best was found */
    int32_t n_batches;
    bool done;
    void *state; /* the type's own */
};

th_search *th_search_new(const th_search_type *type, const th_problem *p,
                         const th_search_options *o, th_error *err);
/* One batch. 0 or -1. */
int th_search_iterate(th_search *s, th_error *err);
void th_search_free(th_search *s);

/* For the searches: evaluates n mappings (fitness[i] of mappings[i]) in parallel, stopping those
 * that pass bound, and keeps the best (the lowest index among equals; a copy). 0 or -1. */
int th_search_evaluate(th_search *s, th_mapping *const *mappings, int n, th_time bound,
                       th_time *fitness, th_error *err);
#endif
