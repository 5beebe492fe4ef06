/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exhaustive.c - simulates all mappings of a space (space.h): proves which one is best.
 *
 *   init: are there few enough? -> iterate: where there are many, two_level for a good mapping to
 *   stop others at -> all, batch by batch -> clear
 *
 * Each mapping is simulated until it is done or later than the best so far. Inside another search
 * (th_search_try_all) the budget is the number of mappings up to which it is worth while: it takes
 * the space of that search, or basic, or ends at once. docs/models/exhaustive.md. */
#include <config.h>

#include "base/min_max.h"
#include "mapper/search/enumeration.h"
#include "mapper/search/searches.h"
#include "mapper/search/space.h"

enum { BATCH = 32, FIRST_EVALUATIONS = 500 };

typedef struct {
    th_search *first; /* NULL: it has ended, or there is none */
    th_enumeration *all;
    th_mapping *next; /* NULL: none is left */
} exhaustive;

/* Begins to enumerate a space where it has at most so many mappings. 1, 0 or -1. */
static int take_space(th_search *s, th_space space, int64_t most, th_error *err)
{
    exhaustive *x = s->state;
    th_enumeration_free(x->all);
    s->options.space = space;
    x->all = th_enumeration_new(s, space, err);
    return x->all ? th_enumeration_fits(x->all, most, err) : -1;
}

/* Begins to search where the mappings are many. 0 or -1. */
static int begin_first(th_search *s, th_error *err)
{
    exhaustive *x = s->state;
    int are_few = th_enumeration_fits(x->all, TH_ENUMERATION_OF_SEARCHES, err);
    if (are_few == 0)
        x->first =
            th_search_new_inner(s, &th_search_two_level, FIRST_EVALUATIONS, s->options.seed, err);
    return are_few < 0 || (are_few == 0 && !x->first) ? -1 : 0;
}

static int init(th_search *s, th_error *err)
{
    exhaustive *x = s->state;
    int64_t most = TH_ENUMERATION_MOST;
    if (s->parent && s->budget < most)
        most = s->budget;
    int fits = take_space(s, s->options.space, most, err);
    if (fits == 0 && s->parent && s->options.space == TH_SPACE_FULL)
        fits = take_space(s, TH_SPACE_BASIC, most, err);
    if (fits > 0 && !s->parent) {
        s->counts.candidates = th_enumeration_count(x->all);
        if (begin_first(s, err))
            return -1;
    }
    if (fits > 0)
        return th_enumeration_next(x->all, &x->next, err);
    if (fits < 0 || s->parent)
        return fits;
    return th_error_set(err, "MAP-0070",
                        "exhaustive: \"%s\" onto \"%s\", space %s: must have at most %d mappings "
                        "to be enumerated",
                        s->problem.workload->name, s->problem.system->name,
                        th_space_describe(s->options.space, s->options.chunks),
                        (int)TH_ENUMERATION_MOST);
}

static void clear(th_search *s)
{
    exhaustive *x = s->state;
    th_search_free(x->first);
    th_mapping_free(x->next);
    th_enumeration_free(x->all);
}

static int iterate(th_search *s, th_error *err)
{
    exhaustive *x = s->state;
    if (x->first && !x->first->done)
        return th_search_iterate(x->first, err);
    th_mapping *batch[BATCH];
    th_fitness fitness[BATCH];
    int n = 0, left = th_search_left(s, BATCH), failed = 0;
    bool is_empty = !x->next;
    while (!failed && x->next && n < left) {
        batch[n++] = x->next;
        failed = th_enumeration_next(x->all, &x->next, err);
    }
    s->counts.nodes += n;
    if (!failed)
        failed = th_search_evaluate(s, batch, n, s->best_fitness.value, fitness, err);
    for (int i = 0; i < n; i++)
        th_mapping_free(batch[i]);
    s->done = !x->next;
    s->is_proven = s->done && !is_empty;
    return failed;
}

/* Nothing was feasible: why, the search behind it says better, as if it had been the first. */
static void forget(th_search *s)
{
    s->n_evaluations = 0;
    s->counts = (th_search_counts){0};
    s->first_infeasibility = (th_error){"", ""};
}

/* In one go, so that any end of the search behind it is that of a budget that allows it. */
int th_search_try_all(th_search *s, bool *is_tried, th_error *err)
{
    int64_t most = s->budget - s->n_evaluations;
    if (s->parent || *is_tried || most < 1)
        return 0;
    *is_tried = true;
    if (s->options.seconds > 0)
        most = th_min(most, (int64_t)TH_ENUMERATION_OF_SEARCHES);
    if (s->work_budget < INT64_MAX)
        most = th_min(most, (s->work_budget - s->work) / TH_LEAST_WORK);
    th_search *all = th_search_new_inner(s, &th_search_exhaustive, most, 0, err);
    int failed = all ? 0 : -1;
    while (!failed && !all->done)
        failed = th_search_iterate(all, err);
    if (!failed && !s->best)
        forget(s);
    if (!failed && s->best)
        s->done = s->is_proven = all->is_proven && all->options.space == s->options.space;
    th_search_free(all);
    return failed;
}

const th_search_type th_search_exhaustive = {
    .name = "exhaustive",
    .synopsis = "all mappings of a space, where they are few: proves which one is best",
    .initial = TH_INITIAL_HEURISTIC,
    .space = TH_SPACE_BASIC,
    .state_size = sizeof(exhaustive),
    .init = init,
    .iterate = iterate,
    .clear = clear,
};
