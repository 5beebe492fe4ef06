/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_search.h - the best parallel plan of a model on a system, by bounds.
 *
 *   new -> (know)* -> iterate* -> found -> free
 *
 * A queue of plans by their lower bound. The first one is bound more closely and put back, or, if
 * it cannot be, simulated; a group of plans is put back as its members. Once the best plan is no
 * worse than the first bound of the queue, none is better: proven. Which plans are simulated, in
 * which order, does not depend on the number of threads. */
#ifndef TH_TRAINING_SEARCH_PLAN_SEARCH_H
#define TH_TRAINING_SEARCH_PLAN_SEARCH_H
#include "base/strbuf.h"
#include "training/layer_work.h"
#include "training/search/plan_space.h"

/* plan_objective.c: what a search makes least. */
typedef enum { TH_PLAN_STEP, TH_PLAN_ENERGY, TH_PLAN_COST } th_plan_objective;
extern const char *const th_plan_objective_names[]; /* step, tokens_per_joule, tokens_per_cost */

typedef struct th_plan_weights {
    double *per_second; /* of so many ranks */
    double per_plan[2]; /* of its operations, without and with recomputation */
} th_plan_weights;

/* base: batch and precision of the plans. 0; -1: memory is out, or the system lacks figures. Either
 * way per_second is the caller's to free. */
int th_plan_weights_init(th_plan_weights *w, th_plan_objective objective, const th_work_context *c,
                         const th_parallel_plan *base, const th_system *s, th_error *err);
/* Seconds, joules, cost x seconds. */
double th_plan_value(const th_plan_weights *w, const th_parallel_plan *p, double s);

typedef struct th_plan_search th_plan_search;

typedef struct th_plan_search_options {
    /* The second one, of two: all plans are searched for that no other beats in both; the first one
     * is the step, and top 1. */
    th_plan_objective objectives[2];
    int n_objectives;
    int64_t evaluations; /* plans to simulate at most; 0: no limit */
    double seconds;      /* of wall time; 0: no limit */
    int threads;         /* >= 1 */
    int top;             /* so many plans must be proven to be the best ones; >= 1 */
    double fill;         /* of an accelerator's memory that a plan may take */
    bool (*is_interrupted)(void);
    void (*watch)(void *own, const th_plan_search *x); /* after every few plans; NULL: nobody */
    void *own;
} th_plan_search_options;

typedef struct th_found_plan {
    th_parallel_plan plan;
    th_time step_ps;
    double values[2];   /* of objectives: seconds, joules, cost x seconds; the least is best */
    double bytes;       /* of the fullest accelerator */
    double bound;       /* of the first value */
    int64_t evaluation; /* from 1 */
} th_found_plan;

/* All arguments must outlive it, but options. work: model, device, numbers. 0, or NULL: memory is
 * out, or figures are missing that the objective needs. */
th_plan_search *th_plan_search_new(const th_system *s, const th_work_context *work,
                                   const th_plan_space *space, const th_plan_search_options *o,
                                   th_error *err);
void th_plan_search_free(th_plan_search *x); /* accepts NULL */
/* The step of a plan is known, from an earlier search, and is not simulated again. 0 or -1. */
int th_plan_search_know(th_plan_search *x, const char *plan, th_time step_ps, th_error *err);
/* Until so many plans more have been simulated as there are threads, or it is done. 0; -1 on
 * failure, or interrupted (BASE-0008): what was found stays. */
int th_plan_search_iterate(th_plan_search *x, th_error *err);
/* Into the memory, as far as it may be filled. */
bool th_plan_search_fits(const th_plan_search *x, const th_parallel_plan *p);
/* Simulates n plans with stages of their own, but for those whose bound says that they are not
 * searched for; values[i]: of these the bound; INFINITY: it does not fit. How many, or -1. */
int th_plan_search_try(th_plan_search *x, const th_parallel_plan *plans, int n, double *values,
                       th_error *err);
bool th_plan_search_is_done(const th_plan_search *x);

typedef struct th_plan_findings {
    th_found_plan *of; /* all that were simulated, the best first */
    int n;
    int64_t evaluations;
    th_plan_search_options options;
    double bound; /* of the first value of all that was not simulated; INFINITY: there is none */
    double elapsed_s;
    bool is_done; /* as many plans are proven as were asked for, or there are no others; of two
                   * objectives, no plan is missing that none beats in both */
} th_plan_findings;
/* Valid until the next call with x. */
th_plan_findings th_plan_search_found(const th_plan_search *x);
/* An own copy; NULL: memory is out. Freed by th_plan_findings_free. */
th_plan_findings *th_plan_findings_copy(const th_plan_findings *f);
void th_plan_findings_free(th_plan_findings *f); /* accepts NULL */
/* Is no plan of the space better than f->of[i], but for those before it? */
bool th_plan_is_proven(const th_plan_findings *f, int i);

/* plan_genes.c: a genetic search of plans with stages of their own, from those that x has found and
 * from degrees whose layers are spread by the speed of their stages: at most so many plans, the
 * same on any number of threads. 0 or -1, as iterate. */
int th_plan_evolve(th_plan_search *x, const th_work_context *work, const th_plan_space *space,
                   int64_t evaluations, uint64_t seed, th_error *err);

/* plan_text.c: what a search chose, as options of parallel_plan: "-tensor 8 -data 4 ...". */
void th_plan_describe(const th_parallel_plan *p, th_strbuf *out);
/* "TP 8 PP 4 ...", the choices that are not 1. */
void th_plan_short_name(const th_parallel_plan *p, char *out, size_t size);
/* Of a model: all that a step depends on. */
uint64_t th_plan_model_digest(const th_transformer *t, int32_t sequence, uint64_t seed);

/* plan_smallest.c: the plan that needs least memory on an accelerator, of all in the space, and the
 * plan of fewest accelerators that fits, of all with up to most_accels (none: ranks 0). 0, or -1:
 * interrupted, or no plan divides. */
typedef struct th_smallest_plans {
    th_parallel_plan least, fewest;
    double least_bytes;
    int64_t ranks; /* of the second */
} th_smallest_plans;
int th_plan_smallest(const th_plan_space *space, const th_work_context *work, double fill,
                     int32_t most_accels, th_smallest_plans *out, th_error *err);

#endif
