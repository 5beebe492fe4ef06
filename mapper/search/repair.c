/* SPDX-License-Identifier: GPL-3.0-or-later */
/* repair.c - see repair.h. Layers of the vector unit follow their producers. */
#include <config.h>

#include "mapper/search/repair.h"

#include <string.h>

#include "base/alloc.h"
#include "mapper/strategies.h"

const char *const th_repair_kind_names[] = {
    [TH_REPAIR_UNUSED] = "unused", [TH_REPAIR_SPARE] = "spare",   [TH_REPAIR_RESHARD] = "reshard",
    [TH_REPAIR_MOVE] = "move",     [TH_REPAIR_DETOUR] = "detour", [TH_REPAIR_NONE] = "none",
};

/* --- strategies of sets --- */

/* Does the dead accelerator belong to the set? */
static bool is_hit(const th_repairs *r, int32_t set)
{
    return th_set_place(&r->mapping->sets[set], r->accel) >= 0;
}

static const th_problem *problem_of(const th_repairs *r)
{
    return th_evaluator_problem(r->evaluator);
}

static int32_t batch_of(const th_problem *p)
{
    return p->workload->batch / p->stream.micro_batches;
}

/* Those nearest to the present ones, for the layers that came from sets of the dead one. 1; 0: a
 * layer cannot be cut so. */
static int take_nearest(const th_repairs *r, th_mapping *m)
{
    const th_problem *p = problem_of(r);
    bool fits = true;
    for (int l = 0; fits && l < m->n_layers; l++) {
        if (is_hit(r, r->mapping->set_of[l]) && th_mapping_is_free(m, p->workload, l))
            fits = th_strategy_repair(&m->strategy[l], &p->workload->layers[l], batch_of(p),
                                      m->sets[m->set_of[l]].n_accels);
    }
    return fits && th_mapping_follow(m, p->workload, batch_of(p));
}

/* Those of least estimated time for all layers of the set, with the chunks of the present ones or
 * without; of other sets of the dead one the nearest. 1; 0: a layer cannot be cut so; -1. */
static int take_best(const th_repairs *r, th_mapping *m, int32_t set, th_error *err)
{
    const th_problem *p = problem_of(r);
    th_time estimate;
    if (!take_nearest(r, m))
        return 0;
    int status = th_initial_solve(r->generator, m, set, (th_jitter){0, NULL}, &estimate, err);
    for (int l = 0; !status && r->way == TH_REPAIR_CHUNKED && l < m->n_layers; l++) {
        th_strategy with = m->strategy[l];
        th_strategy_take_chunks(&with, &r->mapping->strategy[l]);
        if (m->set_of[l] == set &&
            th_strategy_fits(&with, &p->workload->layers[l], batch_of(p), m->sets[set].n_accels))
            m->strategy[l] = with;
    }
    return status < 0 ? -1 : status == 0;
}

/* --- candidates: *out NULL where there is none; 0 or -1 --- */

static bool is_allowed(const th_repairs *r, const th_mapping *m)
{
    for (int l = 0; l < m->n_layers; l++) {
        const th_set *set = &m->sets[m->set_of[l]];
        for (int i = 0; is_hit(r, r->mapping->set_of[l]) && i < set->n_accels; i++)
            if (!th_constraints_allows(problem_of(r)->constraints, l, set->accels[i]))
                return false;
    }
    return true;
}

/* Gives set new strategies. Takes the mapping over; frees it where it is no candidate. */
static int finish(const th_repairs *r, th_mapping *m, int32_t set, th_mapping **out, th_error *err)
{
    if (!m)
        return th_error_no_memory(err);
    int fits = is_allowed(r, m);
    if (fits)
        fits = r->way == TH_REPAIR_NEAREST ? take_nearest(r, m) : take_best(r, m, set, err);
    if (fits > 0)
        *out = m;
    else
        th_mapping_free(m);
    return fits < 0 ? -1 : 0;
}

/* The first n members but the dead one. */
static void keep_members(const th_repairs *r, th_set *set, int32_t n)
{
    for (int i = th_set_place(set, r->accel); i + 1 < set->n_accels; i++) {
        set->accels[i] = set->accels[i + 1];
        if (set->shares)
            set->shares[i] = set->shares[i + 1];
    }
    set->n_accels = n;
}

/* A copy in which the dead one has left all sets but r->set, which has the layers of those that
 * were it alone. NULL: memory is out. */
static th_mapping *without_others(const th_repairs *r)
{
    th_mapping *m = th_mapping_copy(r->mapping);
    for (int32_t k = 0; m && k < m->n_sets; k++) {
        if (k == r->set || !is_hit(r, k))
            continue;
        for (int l = 0; m->sets[k].n_accels == 1 && l < m->n_layers; l++)
            m->set_of[l] = m->set_of[l] == k ? r->set : m->set_of[l];
        if (m->sets[k].n_accels > 1)
            keep_members(r, &m->sets[k], m->sets[k].n_accels - 1);
    }
    return m;
}

/* Another accelerator in its place, with the strategies as they are. */
static int take_spare(const th_repairs *r, int32_t spare, th_mapping **out, th_error *err)
{
    th_mapping *m = th_mapping_copy(r->mapping);
    if (!m)
        return th_error_no_memory(err);
    bool can = true;
    for (int32_t k = 0; can && k < m->n_sets; k++) {
        if (!is_hit(r, k))
            continue;
        m->sets[k].accels[th_set_place(&m->sets[k], r->accel)] = spare;
        can = th_mapping_check_set(m, k, problem_of(r)->system, "", NULL) == 0;
    }
    if (can && is_allowed(r, m))
        *out = m;
    else
        th_mapping_free(m);
    return 0;
}

/* Its set with n of the other members, the first ones. */
static int shrink(const th_repairs *r, int32_t n, th_mapping **out, th_error *err)
{
    th_mapping *m = without_others(r);
    if (m)
        keep_members(r, &m->sets[r->set], n);
    return finish(r, m, r->set, out, err);
}

/* A mapping like the present one without set r->set, whose layers are on set to. NULL: memory is
 * out. */
static th_mapping *without_set(const th_repairs *r, int32_t to)
{
    th_mapping *m = without_others(r);
    if (!m)
        return NULL;
    for (int l = 0; l < m->n_layers; l++)
        m->set_of[l] = m->set_of[l] == r->set ? to : m->set_of[l];
    th_mapping_drop_set(m, r->set);
    return m;
}

/* --- in turn --- */

bool th_repairs_start(th_repairs *r, th_evaluator *e, th_initial_generator *g, const th_mapping *m,
                      int32_t accel)
{
    *r = (th_repairs){
        .evaluator = e, .generator = g, .mapping = m, .accel = accel, .stage = TH_REPAIR_SPARE};
    r->set = -1;
    for (int32_t k = 0; k < m->n_sets; k++)
        if (is_hit(r, k) && (r->set < 0 || m->sets[k].n_accels > m->sets[r->set].n_accels))
            r->set = k;
    r->n_left = r->set >= 0 ? m->sets[r->set].n_accels - 1 : 0;
    return r->set >= 0;
}

static int group_of(const th_system *s, int32_t accel)
{
    return s->nodes[s->accel_node[accel]].group;
}

/* next counts accelerators twice: those of its own group, then the others. */
static int next_spare(th_repairs *r, th_mapping **out, int32_t *to, th_error *err)
{
    const th_system *s = problem_of(r)->system;
    while (!*out && r->next < 2 * s->n_accels && r->n_spares < TH_REPAIR_SPARES) {
        bool is_near = r->next < s->n_accels;
        *to = r->next++ % s->n_accels;
        if (is_near != (group_of(s, *to) == group_of(s, r->accel)) ||
            th_mapping_find(r->mapping, *to).set >= 0)
            continue;
        if (take_spare(r, *to, out, err))
            return -1;
        r->n_spares += *out ? 1 : 0;
    }
    return 0;
}

/* After all ways to give strategies to n_left members. */
static int32_t size_after(const th_repairs *r)
{
    int32_t half = r->mapping->sets[r->set].n_accels / 2;
    if (!r->was_cut)
        return r->n_left - 1;
    return r->n_left > half ? half : 0;
}

static int next_shrunk(th_repairs *r, th_mapping **out, int32_t *to, th_error *err)
{
    while (!*out && r->n_left > 0) {
        *to = r->n_left;
        if (shrink(r, *to, out, err))
            return -1;
        if (*out)
            r->was_cut = true;
        if (r->way == TH_REPAIR_WAYS - 1)
            r->n_left = size_after(r);
        r->way = (r->way + 1) % TH_REPAIR_WAYS;
    }
    return 0;
}

static int next_moved(th_repairs *r, th_mapping **out, int32_t *to, th_error *err)
{
    while (!*out && r->next < r->mapping->n_sets) {
        *to = r->next;
        bool is_own = *to == r->set || (is_hit(r, *to) && r->mapping->sets[*to].n_accels == 1);
        if (!is_own && finish(r, without_set(r, *to), *to - (*to > r->set), out, err))
            return -1;
        r->next += is_own || r->way == TH_REPAIR_WAYS - 1;
        r->way = is_own ? 0 : (r->way + 1) % TH_REPAIR_WAYS;
    }
    return 0;
}

typedef int next_candidate(th_repairs *r, th_mapping **out, int32_t *to, th_error *err);

th_mapping *th_repairs_next(th_repairs *r, th_repair_kind *kind, int32_t *to, bool *failed,
                            th_error *err)
{
    static next_candidate *const stages[] = {[TH_REPAIR_SPARE] = next_spare,
                                             [TH_REPAIR_RESHARD] = next_shrunk,
                                             [TH_REPAIR_MOVE] = next_moved};
    th_mapping *m = NULL;
    *failed = false;
    while (!m && !*failed && r->stage <= TH_REPAIR_MOVE) {
        *kind = (th_repair_kind)r->stage;
        *failed = stages[r->stage](r, &m, to, err) != 0;
        if (m || *failed)
            break;
        r->stage++;
        r->next = 0;
        r->way = 0;
    }
    return m;
}
