/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search.c - what all searches share: evaluations, budgets, the best mapping.
 *   new | new_inner -> iterate until done -> free
 * The outermost search simulates the mappings of all its inner searches; each search of the chain
 * then counts the evaluations and keeps its best mapping. */
#include <config.h>

#include "mapper/search/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "mapper/evaluate/bounds.h"
#include "mapper/search/space.h"
#include "mapper/search/survival.h"
#include "mapper/search/initial/initial_mapping.h"

const th_search_options th_search_defaults = {
    .seed = 1, .threads = 1, .chunks = TH_SHARD_CHUNKS_MAX};

/* --- life --- */

static th_search *allocate(const th_search_type *type, const th_problem *p,
                           const th_search_options *o, th_error *err)
{
    th_search *s = th_alloc_zero(1, sizeof *s);
    if (!s || !(s->state = th_alloc_zero(1, type->state_size + 1))) {
        th_free(s);
        th_error_no_memory(err);
        return NULL;
    }
    s->type = type;
    s->problem = *p;
    s->options = *o;
    if (o->initial == TH_INITIAL_DEFAULT)
        s->options.initial = type->initial;
    if (o->space == TH_SPACE_DEFAULT)
        s->options.space = type->space == TH_SPACE_DEFAULT ? TH_SPACE_FULL : type->space;
    if (p->system->transfers_serially || s->options.space == TH_SPACE_BASIC) {
        s->options.chunks = 1; /* it knows none */
        s->problem.without_copies = true;
    }
    s->budget = o->evaluations > 0 ? o->evaluations : type->default_evaluations;
    if (s->budget == 0 || (o->seconds > 0 && o->evaluations == 0))
        s->budget = INT64_MAX;
    s->work_budget = INT64_MAX;
    s->began_s = th_clock_s();
    s->best_fitness = (th_fitness){.fit = TH_FIT_INFEASIBLE, .value = INFINITY};
    return s;
}

th_search *th_search_new(const th_search_type *type, const th_problem *p,
                         const th_search_options *o, th_error *err)
{
    if (p->goal.n_front > 0 && !type->finds_front) {
        th_error_set(err, "MAP-0116", "%s: finds one mapping: a Pareto front is what nsga2 finds",
                     type->name);
        return NULL;
    }
    if (o->start && type->is_baseline) {
        th_error_set(err, "MAP-0115",
                     "%s: baselines take no initial mapping; only searches accept -start",
                     type->name);
        return NULL;
    }
    th_search *s = allocate(type, p, o, err);
    if (!s)
        return NULL;
    s->pool = th_pool_new(o->pool, &s->problem, o->threads, err);
    if (s->pool && type->init(s, err) == 0)
        return s;
    th_search_free(s);
    return NULL;
}

th_search *th_search_new_inner(th_search *parent, const th_search_type *type, int64_t evaluations,
                               uint64_t seed, th_error *err)
{
    th_search_options o = parent->options;
    o.evaluations = evaluations;
    o.seed = seed;
    o.seconds = 0; /* the outermost checks of the time limit */
    th_search *s = allocate(type, &parent->problem, &o, err);
    if (!s)
        return NULL;
    s->parent = parent;
    s->pool = parent->pool;
    if (type->init(s, err) == 0)
        return s;
    th_search_free(s);
    return NULL;
}

void th_search_free(th_search *s)
{
    if (!s)
        return;
    if (s->pool) /* else init was never called */
        s->type->clear(s);
    th_free(s->state);
    if (s->partitioner)
        th_partitioner_clear(s->partitioner);
    th_free(s->partitioner);
    th_initial_free(s->generator);
    th_survivor_free(s->survivor);
    if (!s->parent)
        th_pool_free(s->pool);
    th_free(s->improvements.at);
    th_mapping_free(s->best);
    th_free(s);
}

/* --- steps --- */

static int nothing_found(const th_search *s, th_error *err)
{
    const char *workload = s->problem.workload->name, *system = s->problem.system->name,
               *why = s->first_infeasibility.text[0] ? s->first_infeasibility.text
                                                     : "no set can run all of its layers";
    if (s->n_evaluations == 0)
        return th_error_set(err, "MAP-0042", "%s: no mapping of \"%s\" onto \"%s\" can be made: %s",
                            s->type->name, workload, system, why);
    return th_error_set(err, "MAP-0024",
                        "%s: none of %lld mappings of \"%s\" onto \"%s\" fits; the first: %s",
                        s->type->name, (long long)s->n_evaluations, workload, system, why);
}

static int none_survives(const th_search *s, th_error *err)
{
    return th_error_set(err, "MAP-0134",
                        "%s: none of %lld mappings of \"%s\" onto \"%s\" survives every single "
                        "failure; the first: %s",
                        s->type->name, (long long)s->n_evaluations, s->problem.workload->name,
                        s->problem.system->name, s->first_infeasibility.text);
}

static int too_late(const th_search *s, th_error *err)
{
    const th_metrics *m = &s->best_fitness.metrics;
    char deadline[100] = "deadlines of its models", time[64], took[64], late[64];
    const th_time past = m->latency_ps - s->problem.goal.deadline_ps;
    if (s->problem.goal.deadline_ps > 0)
        snprintf(deadline, sizeof deadline, "deadline of %s%s",
                 th_format_time(s->problem.goal.deadline_ps, time, sizeof time),
                 m->lateness_ps > (past > 0 ? past : 0) ? " and those of its models" : "");
    th_format_time(m->latency_ps, took, sizeof took);
    th_format_time(m->lateness_ps, late, sizeof late);
    return th_error_set(err, "MAP-0114",
                        "%s: of %lld mappings of \"%s\" onto \"%s\" none meets the %s: "
                        "the least late ends at %s, %s late%s (-keep_late takes it)",
                        s->type->name, (long long)s->n_evaluations, s->problem.workload->name,
                        s->problem.system->name, deadline, took, late,
                        s->problem.workload->n_models > 1 ? " in all" : "");
}

bool th_search_has_result(const th_search *s)
{
    return s->best && (s->options.keep_late || s->best_fitness.metrics.lateness_ps <= 0);
}

/* What an outermost search that is done has to show. */
static int check_result(const th_search *s, th_error *err)
{
    if (th_search_has_result(s))
        return 0;
    if (!s->best && s->counts.not_surviving > 0 && s->counts.infeasible == s->counts.not_surviving)
        return none_survives(s, err);
    return s->best ? too_late(s, err) : nothing_found(s, err);
}

double th_search_elapsed_s(const th_search *s)
{
    while (s->parent)
        s = s->parent;
    return th_clock_s() - s->began_s;
}

static bool is_spent(const th_search *s)
{
    return th_search_left(s, 1) == 0 || s->work >= s->work_budget ||
           (s->options.seconds > 0 && th_search_elapsed_s(s) >= s->options.seconds);
}

/* Mappings of exhaustive are in its space; a start that is not is no worse than all of them. */
static bool moves_into_basic(const th_search *s)
{
    return s->options.space == TH_SPACE_BASIC && s->type->space != TH_SPACE_BASIC;
}

int th_search_apply_constraints(const th_search *s, th_mapping *m, th_error *err)
{
    return th_constraints_apply(s->problem.constraints, m, s->problem.workload, th_search_batch(s))
               ? th_error_no_memory(err)
               : 0;
}

/* Moves it into the space of the search that made it, and to the partial mapping. */
static int fit_in(th_search *s, th_mapping *m, th_error *err)
{
    th_partitioner *partitioner = moves_into_basic(s) ? th_search_partitioner(s, err) : NULL;
    if (moves_into_basic(s) && (!partitioner || th_space_make_basic(partitioner, m, err)))
        return -1;
    return th_search_apply_constraints(s, m, err);
}

static int check_start(th_search *s, const th_mapping *start, th_error *err)
{
    th_mapping *moved = th_mapping_copy(start);
    if (!moved)
        return th_error_no_memory(err);
    int failed = fit_in(s, moved, err);
    bool holds =
        !moves_into_basic(s) || (th_mapping_equal(start, moved) && !th_mapping_sets_overlap(start));
    for (int l = 0; l < start->n_layers && moves_into_basic(s); l++)
        holds &= start->strategy[l].split[TH_DIM_R] * start->strategy[l].split[TH_DIM_S] == 1;
    th_mapping_free(moved);
    if (failed || holds)
        return failed;
    return th_error_set(err, "MAP-0231",
                        "%s: the mapping to start from must be in space basic: members in the "
                        "order of the system and in one set each, shares equal or by speed, no "
                        "chunks or copies",
                        s->type->name);
}

/* The result of a search is never worse than what it was given. */
static int evaluate_start(th_search *s, th_error *err)
{
    th_mapping *start = th_mapping_copy(s->options.start);
    th_fitness fitness;
    if (start)
        start->generator = TH_GENERATOR_GIVEN;
    int failed = start ? check_start(s, start, err) : th_error_no_memory(err);
    if (!failed)
        failed = th_search_evaluate(s, &start, 1, INFINITY, &fitness, err);
    th_mapping_free(start);
    return failed;
}

static bool meets(const th_search *s, double gap)
{
    double bound = s->options.lower_bound;
    return s->best && th_bounds_met(s->best_fitness.value, bound * (1 + gap));
}

int th_search_iterate(th_search *s, th_error *err)
{
    if (s->done)
        return 0;
    if (s->n_batches++ == 0 && s->options.start && !s->parent && evaluate_start(s, err))
        return -1;
    if (s->type->iterate(s, err))
        return -1;
    s->is_proven |= meets(s, 0);
    s->done |= s->is_proven || meets(s, s->options.stop_gap);
    s->is_out_of_budget = !s->done && is_spent(s);
    s->done |= s->is_out_of_budget;
    return s->done && !s->parent ? check_result(s, err) : 0;
}

/* --- evaluations --- */

int th_search_left(const th_search *s, int wanted)
{
    for (; s; s = s->parent)
        if (s->budget - s->n_evaluations < wanted)
            wanted = (int)(s->budget - s->n_evaluations);
    return wanted > 0 ? wanted : 0;
}

bool th_search_is_large(const th_search *s)
{
    return s->problem.system->n_accels >= TH_INITIAL_LARGE_SET;
}

th_initial_generator *th_search_initial_generator(th_search *s, th_error *err)
{
    while (s->parent)
        s = s->parent;
    if (!s->generator)
        s->generator = th_initial_new(th_pool_evaluator(s->pool), err);
    return s->generator;
}

th_partitioner *th_search_partitioner(th_search *s, th_error *err)
{
    while (s->parent)
        s = s->parent;
    th_initial_generator *generator = th_search_initial_generator(s, err);
    if (s->partitioner || !generator)
        return generator ? s->partitioner : NULL;
    th_partitioner *p = th_alloc_zero(1, sizeof *p);
    int failed =
        p ? th_partitioner_init(p, generator, &s->problem, s->options.sets_inside_groups, err)
          : th_error_no_memory(err);
    if (p && failed)
        th_partitioner_clear(p);
    if (failed)
        th_free(p);
    return s->partitioner = failed ? NULL : p;
}

bool th_search_sets_overlap(const th_search *s)
{
    return s->options.space == TH_SPACE_FULL && !s->problem.system->transfers_serially &&
           th_constraints_n_sets(s->problem.constraints) == 0;
}

int32_t th_search_batch(const th_search *s)
{
    return s->problem.workload->batch / s->problem.stream.micro_batches;
}

typedef struct {
    th_mapping *const *mappings;
    int n;
    double bound;
    th_fitness *fitness; /* by mapping */
} batch;

/* Does it keep to the problem's constraints? What had copies, and may have none, may not fit its
 * set any more. reason may be NULL. */
static bool satisfies_constraints(const th_search *s, const th_mapping *m, th_error *reason)
{
    const th_problem *p = &s->problem;
    for (int l = 0; l < m->n_layers && p->without_copies; l++)
        if (th_strategy_check(&m->strategy[l], &p->workload->layers[l], th_search_batch(s),
                              m->sets[m->set_of[l]].n_accels, "", reason))
            return false;
    return th_constraints_check(p->constraints, m, p->system, p->workload, reason) == 0;
}

/* Simulates the mappings that satisfy the constraints; the others are infeasible. */
static int simulate(th_search *s, const batch *b, th_error *err)
{
    th_mapping **allowed = th_alloc_array((size_t)b->n + 1, sizeof *allowed);
    th_fitness *found = th_alloc_array((size_t)b->n + 1, sizeof *found);
    bool *is_allowed = th_alloc_array((size_t)b->n + 1, sizeof *is_allowed);
    int n = 0, failed = allowed && found && is_allowed ? 0 : th_error_no_memory(err);
    for (int i = 0; !failed && i < b->n; i++) {
        is_allowed[i] = satisfies_constraints(s, b->mappings[i], NULL);
        if (is_allowed[i])
            allowed[n++] = b->mappings[i];
    }
    if (!failed)
        failed = th_pool_evaluate(s->pool, allowed, n, b->bound, found, err);
    for (int i = 0, next = 0; !failed && i < b->n; i++)
        b->fitness[i] = is_allowed[i] ? found[next++]
                                      : (th_fitness){.fit = TH_FIT_INFEASIBLE, .value = INFINITY};
    th_free(allowed);
    th_free(found);
    th_free(is_allowed);
    return failed;
}

static int add_improvement(th_search *s, const th_improvement *i)
{
    if (th_grow(&s->improvements.at, &s->improvements.capacity, s->improvements.n + 1,
                sizeof *s->improvements.at))
        return -1;
    s->improvements.at[s->improvements.n++] = *i;
    return 0;
}

/* by: the search that made the mapping. */
static int keep_if_best(th_search *s, const th_mapping *m, const th_fitness *fitness,
                        int64_t number, const th_search_type *by, th_error *err)
{
    if (fitness->fit == TH_FIT_INFEASIBLE && s->counts.infeasible++ == 0 &&
        satisfies_constraints(s, m, &s->first_infeasibility))
        th_evaluator_explain(th_pool_evaluator(s->pool), m, &s->first_infeasibility);
    s->counts.stopped_early += fitness->fit == TH_FIT_STOPPED;
    if (fitness->fit != TH_FIT || fitness->value >= s->best_fitness.value)
        return 0;
    th_mapping *copy = th_mapping_copy(m);
    if (copy && by->is_baseline)
        copy->generator = TH_GENERATOR_BASELINE;
    if (!copy || add_improvement(s, &(th_improvement){number, fitness->metrics, by,
                                                      (th_generator)copy->generator})) {
        th_mapping_free(copy);
        return th_error_no_memory(err);
    }
    th_mapping_free(s->best);
    s->best = copy;
    s->best_fitness = *fitness;
    s->best_found_at = number;
    return 0;
}

/* Of the outermost search, with options.survives: mappings that would become the best and do not
 * survive are infeasible. 0 or -1. */
static int drop_not_surviving(th_search *s, const batch *b, th_error *err)
{
    double best = s->best_fitness.value;
    for (int i = 0; i < b->n; i++) {
        th_error why;
        if (b->fitness[i].fit != TH_FIT || b->fitness[i].value >= best)
            continue;
        if (!s->survivor && !(s->survivor = th_survivor_new(&s->problem, err)))
            return -1;
        int survives =
            th_survival_check(s->survivor, b->mappings[i], s->options.most_loss, &why, err);
        if (survives < 0)
            return -1;
        if (survives) {
            best = b->fitness[i].value;
            continue;
        }
        b->fitness[i].fit = TH_FIT_INFEASIBLE;
        b->fitness[i].value = INFINITY;
        if (s->counts.infeasible == 0 && s->counts.not_surviving == 0)
            s->first_infeasibility = why;
        s->counts.not_surviving++;
    }
    return 0;
}

/* Evaluates mappings that fit in. */
static int evaluate_as_given(th_search *s, const batch *b, th_error *err)
{
    const th_search_type *by = s->type;
    th_search *outermost = s;
    while (outermost->parent)
        outermost = outermost->parent;
    if (simulate(s, b, err))
        return -1;
    int64_t work = 0;
    for (int i = 0; i < b->n; i++)
        work += th_max(s->problem.workload->n_layers + b->fitness[i].work, TH_LEAST_WORK);
    if (outermost->options.survives && drop_not_surviving(outermost, b, err))
        return -1;
    for (; s; s = s->parent) {
        for (int i = 0; i < b->n; i++)
            if (keep_if_best(s, b->mappings[i], &b->fitness[i], s->n_evaluations + i + 1, by, err))
                return -1;
        s->n_evaluations += b->n;
        s->work += work;
    }
    return 0;
}

int th_search_evaluate(th_search *s, th_mapping *const *mappings, int n, double bound,
                       th_fitness *fitness, th_error *err)
{
    if (th_constraints_n_sets(s->problem.constraints) == 0 && !moves_into_basic(s))
        return evaluate_as_given(s, &(batch){mappings, n, bound, fitness}, err);
    th_mapping **copies = th_alloc_zero((size_t)n + 1, sizeof *copies);
    int failed = copies ? 0 : th_error_no_memory(err);
    for (int i = 0; !failed && i < n; i++) {
        copies[i] = th_mapping_copy(mappings[i]);
        failed = copies[i] ? fit_in(s, copies[i], err) : th_error_no_memory(err);
    }
    if (!failed)
        failed = evaluate_as_given(s, &(batch){copies, n, bound, fitness}, err);
    for (int i = 0; copies && i < n; i++)
        th_mapping_free(copies[i]);
    th_free(copies);
    return failed;
}
