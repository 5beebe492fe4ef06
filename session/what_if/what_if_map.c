/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if_map.c - see what_if_map.h. */
#include <config.h>
#include "session/what_if/what_if_map.h"
#include "mapper/search/searches.h"
#include "base/interrupt.h"

/* A baseline takes no start, a front is no one mapping, and another system may be too large to
 * enumerate. */
static const th_search_type *algorithm_of(const th_search_record *how)
{
    bool can_start = how->type && !how->type->is_baseline && how->goal.n_front == 0 &&
                     how->type != &th_search_exhaustive;
    return can_start ? how->type : th_search_types[0];
}

th_goal th_what_if_goal(const th_session *s)
{
    return s->search.goal.n_front == 0 ? s->search.goal : (th_goal){0};
}

static th_mapping *best_of(th_search *search, th_metrics *metrics, th_error *err)
{
    while (!search->done) {
        if (th_interrupt_is_pending()) {
            th_error_interrupted(err, "no mapping was found");
            return NULL;
        }
        if (th_search_iterate(search, err) != 0)
            return NULL;
    }
    th_mapping *best = th_mapping_copy(search->best);
    if (!best)
        th_error_no_memory(err);
    if (metrics)
        *metrics = search->best_fitness.metrics;
    return best;
}

th_mapping *th_what_if_map(const th_session *s, const th_system *system, const th_run_options *o,
                           th_remap how, th_metrics *metrics, th_error *err)
{
    const th_search_record *found = &s->search;
    th_problem problem = th_session_problem(s, system, o);
    problem.goal = th_what_if_goal(s);
    th_search_options options = th_search_defaults;
    options.seed = how.has_seed ? how.seed : found->type ? found->seed : options.seed;
    options.evaluations = how.evaluations;
    options.threads = 1;
    options.sets_inside_groups = found->inside_groups;
    if (found->type)
        options.chunks = found->chunks;
    options.keep_late = true; /* how late it is, the report says */
    options.start = s->mapping;
    th_search *search = th_search_new(algorithm_of(found), &problem, &options, err);
    th_mapping *best = search ? best_of(search, metrics, err) : NULL;
    th_search_free(search);
    return best;
}
