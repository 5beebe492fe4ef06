/* SPDX-License-Identifier: GPL-3.0-or-later */
/* offspring.c - makes a batch of offspring on the threads that evaluate mappings.
 *   make_batch: members that threads of the pool make -> the remaining ones, by the calling thread
 * A member depends on its parents, which stay constant meanwhile, and on random numbers of its
 * own: a stream identified by (seed, stream name, number of the member). So results do not depend
 * on which thread makes it. The calling thread makes all members where the pool has one thread or
 * designs are scripts, and those for which plans would have to be dropped, which is not allowed
 * while other threads use them. */
#include <config.h>

#include "base/alloc.h"
#include "mapper/search/variation/variation.h"

typedef struct {
    th_mapping *mapping;
    bool is_made; /* or has failed */
    bool failed;
    th_error error; /* then */
} member;

typedef struct {
    const th_variation *variation;
    const th_offspring *how;
    th_offspring_numbers numbers;
    member *members;
} offspring_batch;

/* The variation operators as one member uses them: generator is the caller's, random the member's;
 * the search, its partitions and stream are shared. */
static th_variation view_for_member(const th_variation *v, th_initial_generator *generator)
{
    th_variation view = {.search = v->search,
                         .partitioner = v->partitioner,
                         .generator = generator,
                         .stream = v->stream};
    view.partitioner.generator = generator;
    return view;
}

/* Makes member i with its random numbers; number 0 of the stream is the search's own. */
static int try_all(const offspring_batch *w, th_variation *v, int i, th_mapping **out,
                   th_error *err)
{
    int failed = 0;
    v->random = th_random_stream(v->search->options.seed, w->numbers.stream,
                                 1 + w->numbers.first + (uint64_t)i);
    if (!v->random)
        return th_error_no_memory(err);
    for (int t = 0; !failed && !*out && t < w->how->tries; t++)
        failed = w->how->make(v, w->how->state, i, out, err);
    gsl_rng_free(v->random);
    return !failed && *out ? th_search_apply_constraints(v->search, *out, err) : failed;
}

static int make_in_parallel(void *state, th_evaluator *e, int i)
{
    const offspring_batch *w = state;
    member *m = &w->members[i];
    th_initial_generator *generator = th_initial_share(w->variation->generator, e, &m->error);
    if (!generator)
        return -1;
    th_variation own = view_for_member(w->variation, generator);
    m->failed = try_all(w, &own, i, &m->mapping, &m->error) != 0;
    m->is_made = !th_initial_is_full(generator);
    if (!m->is_made) {
        th_mapping_free(m->mapping);
        m->mapping = NULL;
    }
    th_initial_free(generator);
    return m->is_made && m->failed;
}

static void make_alone(const offspring_batch *w, int i)
{
    member *m = &w->members[i];
    th_variation own = view_for_member(w->variation, w->variation->generator);
    m->failed = try_all(w, &own, i, &m->mapping, &m->error) != 0;
    m->is_made = true;
}

/* All members, up to the first that fails. 0 or -1. */
static int make_all(offspring_batch *w, int n, th_error *err)
{
    if (th_pool_run_tasks(w->variation->search->pool, make_in_parallel, w, n, err))
        return -1;
    for (int i = 0; i < n; i++) {
        member *m = &w->members[i];
        if (!m->is_made)
            make_alone(w, i);
        if (m->failed)
            return th_error_set(err, m->error.id, "%s", m->error.text);
    }
    return 0;
}

int th_variation_make_batch(th_variation *v, const th_offspring *how,
                            const th_offspring_numbers *numbers, int n, th_mapping **out,
                            th_error *err)
{
    offspring_batch w = {v, how, *numbers, th_alloc_zero((size_t)n + 1, sizeof *w.members)};
    if (!w.members)
        return th_error_no_memory(err);
    int failed = make_all(&w, n, err);
    for (int i = 0; i < n; i++) {
        if (failed)
            th_mapping_free(w.members[i].mapping);
        out[i] = failed ? NULL : w.members[i].mapping;
    }
    th_free(w.members);
    return failed;
}

int th_variation_offspring(th_variation *v, const th_offspring *how, int n, th_mapping **out,
                           th_error *err)
{
    th_offspring_numbers numbers = {v->stream, v->n_offspring};
    v->n_offspring += (uint64_t)n;
    return th_variation_make_batch(v, how, &numbers, n, out, err);
}

int th_mappings_compact(th_mapping **batch, int n)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (batch[i])
            batch[kept++] = batch[i];
    return kept;
}

int th_variation_cut_to_budget(const th_variation *v, th_mapping **batch, int n)
{
    int left = th_search_left(v->search, n);
    while (n > left)
        th_mapping_free(batch[--n]);
    return n;
}
