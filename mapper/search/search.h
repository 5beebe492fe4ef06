/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search.h - searches and baselines; all are steppers.
 *   new -> iterate until done -> best, reports -> free
 * The result depends on problem, options and seed alone, not on the number of threads. With a
 * budget of time it depends on when the time ran out; the same budget of n_evaluations then
 * reproduces it. A search may run others inside itself: an inner search evaluates through its
 * parent, with its pool; its evaluations and improvements count for both. */
#ifndef TH_MAPPER_SEARCH_H
#define TH_MAPPER_SEARCH_H
#include "mapper/evaluate/evaluate.h"
#include "mapper/pool/pool.h"
#include "mapper/search/search_options.h"

/* A mapping that was better than all before it: after how many evaluations, its metrics, and which
 * search (of the portfolio: which of its searches) found it, by which generator or operator. */
typedef struct th_improvement {
    int64_t evaluation;
    th_metrics metrics;
    const th_search_type *found_by;
    th_generator generator;
} th_improvement;

typedef struct th_improvements {
    th_improvement *at; /* in the order in which they were found */
    size_t n, capacity;
} th_improvements;

/* How the evaluations of a search ended. */
typedef struct th_search_counts {
    int64_t infeasible;
    int64_t not_surviving; /* of those: would have been the best, but options.survives */
    int64_t stopped_early; /* by the bound */
    int64_t nodes;         /* mappings that exhaustive made */
    int64_t candidates;    /* all that it will make; 0: another search, or not counted */
} th_search_counts;

extern const th_search_type *const th_search_types[]; /* ends in NULL; the first is the default */
const th_search_type *th_search_find(const char *name);

/* To make a mapping takes as long as to simulate so much, whatever is left to simulate. */
static const int64_t TH_LEAST_WORK = 2250;

/* Public to read; changed by the search alone. */
struct th_search {
    const th_search_type *type;
    th_problem problem;
    th_search_options options; /* initial, space: never the default */
    th_search *parent;         /* NULL: none */
    th_pool *pool;             /* the parent's, where there is one */
    /* of the outermost search; NULL and empty in others */
    struct th_survivor *survivor;           /* NULL until first used */
    struct th_initial_generator *generator; /* NULL until first used */
    struct th_partitioner *partitioner;     /* NULL until first used */
    /* budget */
    int64_t budget;      /* of evaluations; INT64_MAX: none */
    int64_t work_budget; /* of work, the same; spent between two batches */
    double began_s;
    /* results so far */
    th_mapping *best;        /* NULL until one was feasible */
    th_fitness best_fitness; /* value INFINITY until then */
    int64_t best_found_at;   /* evaluations when the best was found */
    int64_t n_evaluations;
    /* of them: tasks and events (th_fitness), and layers planned; at least what a mapping costs */
    int64_t work;
    th_search_counts counts;
    th_improvements improvements;
    /* why the first mapping was infeasible or could not be made; meaningless once one is
     * feasible */
    th_error first_infeasibility;
    int32_t n_batches;
    bool done;
    bool is_out_of_budget; /* done because a budget was spent, with mappings left to try */
    bool is_proven;        /* no mapping is better: the best meets the bound, or all were tried */
    void *state;           /* the type's own */
};

th_search *th_search_new(const th_search_type *type, const th_problem *p,
                         const th_search_options *o, th_error *err);
/* A search inside another: with the parent's problem, pool and options, except the budget (0: the
 * type's default; the parent's budget holds as well) and the seed. Freed before its parent. */
th_search *th_search_new_inner(th_search *parent, const th_search_type *type, int64_t evaluations,
                               uint64_t seed, th_error *err);
/* One batch. 0 or -1. Only an outermost search fails when it finds nothing. */
int th_search_iterate(th_search *s, th_error *err);
/* Does it have a best mapping that it may end with: in time, or options.keep_late? */
bool th_search_has_result(const th_search *s);
void th_search_free(th_search *s);
/* Wall time since the outermost search began. */
double th_search_elapsed_s(const th_search *s);

/* --- for the searches --- */

/* Applies the constraints' partial mapping to m, where it has its sets. 0 or -1. */
int th_search_apply_constraints(const th_search *s, th_mapping *m, th_error *err);
/* Evaluates n mappings (fitness[i] of mappings[i]) in parallel, with the constraints applied to
 * copies of them, stopping those whose value passes bound, and keeps the best (the lowest index
 * among equals; a copy). Mappings that violate a constraint even so are infeasible. The mappings
 * stay as they are. 0 or -1. */
int th_search_evaluate(th_search *s, th_mapping *const *mappings, int n, double bound,
                       th_fitness *fitness, th_error *err);
/* Evaluations that it and the searches around it may still spend; at most "wanted". */
int th_search_left(const th_search *s, int wanted);
/* Has the system so many accelerators that dynamic programming over all of them takes long? */
bool th_search_is_large(const th_search *s);
/* The generator that a search and all its inner searches share. NULL: out of memory. */
struct th_initial_generator *th_search_initial_generator(th_search *s, th_error *err);
/* And the partitioner: what shares in proportion to speed are. NULL on failure. */
struct th_partitioner *th_search_partitioner(th_search *s, th_error *err);
/* May the search make mappings whose sets share accelerators? In the full space, where transfers
 * are not serial and no partial mapping gives sets. */
bool th_search_sets_overlap(const th_search *s);
/* Images that a strategy may split: the smallest micro-batch. */
int32_t th_search_batch(const th_search *s);
#endif
