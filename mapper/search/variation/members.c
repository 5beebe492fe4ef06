/* SPDX-License-Identifier: GPL-3.0-or-later */
/* members.c - other members for the sets of a mapping, beyond the candidate partitions.
 *
 *   members: a copy of mother -> one change of members -> designs that the members can take ->
 *     shares and strategies of the changed sets anew, by dynamic programming
 *
 * A change: an accelerator joins another set, an idle one joins a set, a member becomes idle, two
 * members of different sets or a member and an idle accelerator change places, two members of one
 * set do (which puts other boundaries on other links). Two change places in all sets that they are
 * in; of several sets that one is in, it leaves the first. The number of sets stays. Sets of a
 * partial mapping stay as they are; with sets_inside_groups no set comes to span groups. */
#include <config.h>

#include "mapper/search/variation/members.h"

#include <string.h>

#include "base/alloc.h"

static const th_system *system_of(const th_variation *v)
{
    return v->search->problem.system;
}

/* --- one change --- */

static int leave(th_set *set, int32_t at)
{
    set->n_accels--;
    memmove(set->accels + at, set->accels + at + 1,
            (size_t)(set->n_accels - at) * sizeof *set->accels);
    return th_set_share(set, NULL);
}

/* At position at; the others behind it move back. */
static int join(th_set *set, int32_t accel, int32_t at)
{
    int32_t *accels = th_alloc_array((size_t)set->n_accels + 2, sizeof *accels);
    if (!accels)
        return -1;
    memcpy(accels, set->accels, (size_t)at * sizeof *accels);
    accels[at] = accel;
    memcpy(accels + at + 1, set->accels + at, (size_t)(set->n_accels - at) * sizeof *accels);
    th_free(set->accels);
    set->accels = accels;
    set->n_accels++;
    return th_set_share(set, NULL);
}

int th_member_exchange(th_mapping *m, int32_t a, int32_t b)
{
    bool are_idle = true;
    for (int32_t set = 0; set < m->n_sets; set++)
        for (int32_t r = 0; r < m->sets[set].n_accels; r++) {
            int32_t *at = &m->sets[set].accels[r], now = *at;
            *at = now == a ? b : now == b ? a : now;
            are_idle &= *at == now;
        }
    return are_idle;
}

int th_member_move(th_mapping *m, int32_t accel, int32_t set, int32_t at, th_error *err)
{
    th_place from = th_mapping_find(m, accel);
    if (from.set == set || (set >= 0 && th_set_place(&m->sets[set], accel) >= 0) ||
        (from.set >= 0 && m->sets[from.set].n_accels == 1))
        return 1;
    if ((from.set >= 0 && leave(&m->sets[from.set], from.at)) ||
        (set >= 0 && join(&m->sets[set], accel, at)))
        return th_error_no_memory(err);
    return 0;
}

/* --- what a change needs afterwards --- */

bool th_set_spans_groups(const th_system *s, const th_set *set)
{
    bool spans = false;
    for (int32_t r = 1; r < set->n_accels; r++)
        spans |= s->nodes[s->accel_node[set->accels[r]]].group !=
                 s->nodes[s->accel_node[set->accels[0]]].group;
    return spans;
}

/* The design it has, else the first that all members can take, else each its own. */
static void find_design(const th_system *s, th_set *set)
{
    if (set->design != TH_DESIGN_OWN && th_set_supports_design(s, set, set->design))
        return;
    set->design = TH_DESIGN_OWN;
    for (int32_t d = 0; d < s->n_designs && set->design == TH_DESIGN_OWN; d++)
        if (th_set_supports_design(s, set, d))
            set->design = d;
}

static int settle_set(th_variation *v, th_mapping *m, int set, const th_members_settling *how,
                      th_error *err)
{
    return how->keeps_strategies ? th_partitioner_set_shares(&v->partitioner, m, set, err)
                                 : th_variation_reoptimise(v, m, set, how->jitter, err);
}

static bool has_changed(const th_set *now, const th_set *old)
{
    return now->n_accels != old->n_accels ||
           memcmp(now->accels, old->accels, (size_t)now->n_accels * sizeof *now->accels) != 0;
}

/* Designs for the changed sets. 0; 1: the sets may not be so. */
static int settle_designs(th_variation *v, th_mapping *m, const th_mapping *before)
{
    for (int set = 0; set < m->n_sets; set++) {
        const th_set *old = &before->sets[set];
        if (!has_changed(&m->sets[set], old))
            continue;
        if ((v->search->options.sets_inside_groups &&
             th_set_spans_groups(system_of(v), &m->sets[set])) ||
            th_constraints_fixed_set(v->search->problem.constraints, old))
            return 1;
        find_design(system_of(v), &m->sets[set]);
    }
    return !th_mapping_designs_agree(m, system_of(v));
}

int th_members_settle(th_variation *v, th_mapping *m, const th_mapping *before,
                      const th_members_settling *how, th_error *err)
{
    int failed = settle_designs(v, m, before);
    for (int set = 0; !failed && set < m->n_sets; set++)
        if (has_changed(&m->sets[set], &before->sets[set]))
            failed = settle_set(v, m, set, how, err);
    return failed;
}

/* --- at random --- */

bool th_variation_has_members(const th_variation *v, const th_mapping *m)
{
    return m->n_sets > 1 || th_partitioner_has_several_kinds(&v->partitioner);
}

static int change_at_random(th_variation *v, th_mapping *m, th_members_settling *how, th_error *err)
{
    const int32_t n = system_of(v)->n_accels;
    int32_t a = (int32_t)th_variation_below(v, n), b = (int32_t)th_variation_below(v, n);
    int32_t set = (int32_t)th_variation_below(v, m->n_sets + 1) - 1; /* -1: idle */
    how->jitter = th_variation_chance(v, 0.5) ? 0.3 : 0;
    how->keeps_strategies = false;
    if (a != b && th_variation_chance(v, 0.5)) {
        how->keeps_strategies = th_variation_chance(v, 0.5);
        return th_member_exchange(m, a, b);
    }
    return th_member_move(
        m, a, set, set < 0 ? 0 : (int32_t)th_variation_below(v, m->sets[set].n_accels + 1), err);
}

int th_variation_members(th_variation *v, const th_mapping *mother, th_mapping **out, th_error *err)
{
    th_mapping *m = th_mapping_copy(mother);
    if (!m)
        return th_error_no_memory(err);
    m->generator = TH_GENERATOR_PARTITIONING;
    th_members_settling how;
    int failed = change_at_random(v, m, &how, err);
    if (!failed)
        failed = th_members_settle(v, m, mother, &how, err);
    *out = failed ? NULL : m;
    if (failed)
        th_mapping_free(m);
    return failed < 0 ? -1 : 0;
}
