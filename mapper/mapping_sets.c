/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping_sets.c - sets of a mapping that share accelerators, which work for each of their sets
 * when its layers are due, with one design. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "base/min_max.h"
#include "mapper/mapping.h"

bool th_sets_overlap(const th_set *a, const th_set *b)
{
    for (int32_t r = 0; r < a->n_accels; r++)
        if (th_set_place(b, a->accels[r]) >= 0)
            return true;
    return false;
}

bool th_mapping_sets_overlap(const th_mapping *m)
{
    for (int i = 0; i < m->n_sets; i++)
        for (int j = 0; j < i; j++)
            if (th_sets_overlap(&m->sets[i], &m->sets[j]))
                return true;
    return false;
}

/* Marks the members of a set as taken, unless one of them is. */
static bool take_members(const th_set *set, bool *is_taken)
{
    for (int r = 0; r < set->n_accels; r++)
        if (is_taken[set->accels[r]])
            return false;
    for (int r = 0; r < set->n_accels; r++)
        is_taken[set->accels[r]] = true;
    return true;
}

/* The smallest sets first: of nested sets that is the most. */
int32_t th_mapping_sets_at_once(const th_mapping *m, int first_layer, int n_layers)
{
    int32_t n_accels = 0, largest = 0, n = 0;
    for (int i = 0; i < m->n_sets; i++) {
        largest = th_max(largest, m->sets[i].n_accels);
        for (int r = 0; r < m->sets[i].n_accels; r++)
            n_accels = th_max(n_accels, m->sets[i].accels[r] + 1);
    }
    bool *is_taken = th_alloc_zero((size_t)n_accels + (size_t)m->n_sets + 1, sizeof *is_taken);
    if (!is_taken)
        return -1;
    for (int l = first_layer; l < first_layer + n_layers; l++)
        is_taken[n_accels + m->set_of[l]] = true; /* the set has layers */
    for (int32_t size = 1; size <= largest; size++)
        for (int i = 0; i < m->n_sets; i++)
            if (m->sets[i].n_accels == size && is_taken[n_accels + i])
                n += take_members(&m->sets[i], is_taken);
    th_free(is_taken);
    return n;
}

/* --- changes --- */

int32_t th_mapping_add_set(th_mapping *m, const int32_t *accels, int32_t n, int32_t design)
{
    th_set *sets = th_alloc_zero((size_t)m->n_sets + 2, sizeof *sets);
    int32_t *members = th_alloc_array((size_t)n + 1, sizeof *members);
    if (!sets || !members) {
        th_free(sets);
        th_free(members);
        return -1;
    }
    memcpy(members, accels, (size_t)n * sizeof *members);
    memcpy(sets, m->sets, (size_t)m->n_sets * sizeof *sets);
    sets[m->n_sets] = (th_set){design, n, members, NULL};
    th_free(m->sets);
    m->sets = sets;
    return m->n_sets++;
}

void th_mapping_drop_set(th_mapping *m, int32_t set)
{
    th_free(m->sets[set].accels);
    th_free(m->sets[set].shares);
    m->n_sets--;
    for (int32_t k = set; k < m->n_sets; k++)
        m->sets[k] = m->sets[k + 1];
    m->sets[m->n_sets] = (th_set){.accels = NULL}; /* th_mapping_free looks at it */
    for (int l = 0; l < m->n_layers; l++)
        m->set_of[l] -= m->set_of[l] > set;
}

void th_mapping_drop_idle_sets(th_mapping *m)
{
    for (int32_t set = m->n_sets - 1; set >= 0; set--) {
        bool is_idle = true;
        for (int l = 0; l < m->n_layers; l++)
            is_idle &= m->set_of[l] != set;
        if (is_idle)
            th_mapping_drop_set(m, set);
    }
}

/* Does an accelerator of both have two designs? */
static bool disagree(const th_set *a, const th_set *b, const th_system *s)
{
    bool differ = false;
    for (int32_t r = 0; r < a->n_accels; r++) {
        int32_t at = th_set_place(b, a->accels[r]);
        differ |= at >= 0 && th_set_design(a, r, s) != th_set_design(b, at, s);
    }
    return differ;
}

bool th_mapping_designs_agree(const th_mapping *m, const th_system *s)
{
    for (int32_t i = 0; i < m->n_sets; i++)
        for (int32_t j = 0; j < i; j++)
            if (disagree(&m->sets[i], &m->sets[j], s))
                return false;
    return true;
}

/* Two sets of one design never disagree: every set is changed once at most. */
bool th_mapping_spread_design(th_mapping *m, const th_system *s, int32_t set)
{
    for (int32_t i = 0; i < m->n_sets; i++) {
        th_set *other = &m->sets[i];
        if (!disagree(&m->sets[set], other, s))
            continue;
        other->design = m->sets[set].design;
        if (!th_set_supports_design(s, other, other->design) || !th_mapping_spread_design(m, s, i))
            return false;
    }
    return true;
}
