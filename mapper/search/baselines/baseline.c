/* SPDX-License-Identifier: GPL-3.0-or-later */
/* baseline.c - what baselines share; docs/models/baselines.md. */
#include <config.h>

#include "mapper/search/baselines/baseline.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "mapper/search/partition/sets.h"

int th_candidates_add(th_search *s, th_mapping *m, th_error *err)
{
    th_candidates *c = s->state;
    if (!m || th_grow(&c->mapping, &c->capacity, c->n + 1, sizeof *c->mapping)) {
        th_mapping_free(m);
        return th_error_no_memory(err);
    }
    c->mapping[c->n++] = m;
    return 0;
}

void th_candidates_note_infeasible(th_search *s, const th_error *reason)
{
    if (!s->first_infeasibility.id[0])
        s->first_infeasibility = *reason;
}

double th_baseline_bound(const th_search *s)
{
    double bound = INFINITY;
    for (; s; s = s->parent)
        bound = s->best_fitness.value < bound ? s->best_fitness.value : bound;
    return bound;
}

/* The first batch is one candidate, each further one twice as large: on large systems, where a
 * poor mapping takes seconds to replay, few candidates run without a bound. */
int th_candidates_iterate(th_search *s, th_error *err)
{
    enum { BATCH = 64 };
    th_candidates *c = s->state;
    th_fitness fitness[BATCH];
    size_t n = c->next + 1 < BATCH ? c->next + 1 : BATCH;
    if (n > c->n - c->next)
        n = c->n - c->next;
    n = (size_t)th_search_left(s, (int)n); /* of its budget */
    int failed =
        th_search_evaluate(s, c->mapping + c->next, (int)n, th_baseline_bound(s), fitness, err);
    c->next += n;
    s->done = c->next == c->n;
    return failed;
}

void th_candidates_clear(th_search *s)
{
    th_candidates *c = s->state;
    for (size_t i = 0; i < c->n; i++)
        th_mapping_free(c->mapping[i]);
    th_free(c->mapping);
}

int32_t th_baseline_members(const th_search *s, int32_t design, int32_t *accels, int32_t *in_group)
{
    const th_system *system = s->problem.system;
    int32_t n = 0;
    for (int own = 1; own >= (s->options.sets_inside_groups ? 1 : 0); own--) {
        for (int32_t a = 0; a < system->n_accels; a++) {
            const th_set alone = {.design = design, .n_accels = 1, .accels = &a};
            if ((system->nodes[system->accel_node[a]].group ==
                 system->nodes[system->accel_node[0]].group) == own &&
                th_set_supports_design(system, &alone, design))
                accels[n++] = a;
        }
        if (own)
            *in_group = n;
    }
    return n;
}

th_mapping *th_baseline_mapping(const th_search *s, int32_t design, const int32_t *accels,
                                int32_t n)
{
    th_mapping *m = th_mapping_new(1, &n, s->problem.workload->n_layers);
    if (!m)
        return NULL;
    m->sets[0].design = design;
    memcpy(m->sets[0].accels, accels, (size_t)n * sizeof *accels);
    return m;
}
