/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_isomorphic.c - which sets are alike, so that estimates made on one of them hold on the
 * others: groups of one kind in a system of many, say.
 *
 * A set is described by its members in order (memory and vector unit, design, share, whether they
 * have a host) and by the routes from each to each, and from the host to each, as media numbered in
 * the order in which they are met. So two sets of one description differ in names alone, and what
 * the plans estimate (plan_time.c) is the same on both. Not told of transfers that are serial,
 * where every set stands for itself, nor of systems whose routes are not kept. */
#include <config.h>

#include "base/alloc.h"
#include "mapper/lower/plan_state.h"

enum { MEMBERS_MAX = 128 }; /* of a set that is described: their routes grow with the square */

typedef struct {
    th_plans *plans;
    int32_t *word;
    size_t n, capacity;
    int32_t *number_of; /* by medium: in the order of the description; -1: not met yet */
    int32_t n_met;
} description;

/* 0, or -1: memory is out. */
static int add(description *d, int64_t x)
{
    if (th_grow(&d->word, &d->capacity, d->n + 2, sizeof *d->word))
        return -1;
    d->word[d->n++] = (int32_t)(x & INT32_MAX);
    d->word[d->n++] = (int32_t)(x >> 31);
    return 0;
}

static int add_medium(description *d, int32_t medium)
{
    bool is_new = d->number_of[medium] < 0;
    if (is_new)
        d->number_of[medium] = d->n_met++;
    return add(d, d->number_of[medium]) ||
                   (is_new && add(d, d->plans->system->media[medium].bits_per_s))
               ? -1
               : 0;
}

static int add_route(description *d, int from, int to)
{
    const th_plan_route *way = th_plan_route_of(d->plans, from, to);
    if (!way || add(d, way->n) || add(d, way->latency_ps))
        return -1;
    for (int32_t i = 0; i < way->n; i++)
        if (add_medium(d, d->plans->routes.media[way->first + i]))
            return -1;
    return 0;
}

static int add_member(description *d, const th_set *set, int r)
{
    const th_plans *p = d->plans;
    const int32_t accel = set->accels[r], host = p->facts.host_of[accel];
    if (add(d, th_compute_cost_memory_class(p->costs, accel)) ||
        add(d, th_set_design(set, r, p->system)) || add(d, set->shares ? set->shares[r] : 0) ||
        add(d, host >= 0))
        return -1;
    return host >= 0 ? add_route(d, host, p->system->accel_node[accel]) : 0;
}

static int describe(description *d, const th_set *set)
{
    const int32_t *node = d->plans->system->accel_node;
    if (add(d, set->n_accels))
        return -1;
    for (int r = 0; r < set->n_accels; r++)
        if (add_member(d, set, r))
            return -1;
    for (int q = 0; q < set->n_accels; q++)
        for (int r = 0; r < set->n_accels; r++)
            if (q != r && add_route(d, node[set->accels[q]], node[set->accels[r]]))
                return -1;
    return 0;
}

/* Into *number, 0 or -1. */
static int find_number(th_plans *p, const th_set *set, int32_t set_id, int32_t *number)
{
    const bool is_told = !p->system->transfers_serially && set->n_accels <= MEMBERS_MAX &&
                         th_plan_routes_are_kept(p);
    size_t media = (size_t)p->system->n_media + 1;
    description d = {.plans = p, .number_of = th_alloc_array(media, sizeof *d.number_of)};
    for (size_t i = 0; d.number_of && i < media; i++)
        d.number_of[i] = -1;
    int failed = d.number_of ? 0 : -1;
    if (!failed)
        failed = is_told ? describe(&d, set) : add(&d, set_id);
    *number = failed
                  ? -1
                  : (int32_t)th_shared_map_number(p->memo.isomorphic, d.word, d.n * sizeof *d.word);
    th_free(d.word);
    th_free(d.number_of);
    return *number < 0 ? -1 : 0;
}

int32_t th_plans_isomorphism_class(th_plans *p, const th_set *set, th_error *err)
{
    int32_t set_id, members_id;
    if (th_plans_set_ids(p, set, &set_id, &members_id, err))
        return -1;
    size_t before = p->isomorphism.capacity, at = (size_t)set_id;
    if (th_grow(&p->isomorphism.class_of, &p->isomorphism.capacity, at + 1,
                sizeof *p->isomorphism.class_of))
        return th_error_no_memory(err);
    for (size_t i = before; i < p->isomorphism.capacity; i++)
        p->isomorphism.class_of[i] = -1;
    if (p->isomorphism.class_of[at] < 0 &&
        find_number(p, set, set_id, &p->isomorphism.class_of[at]))
        return th_error_no_memory(err);
    return p->isomorphism.class_of[at];
}
