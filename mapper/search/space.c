/* SPDX-License-Identifier: GPL-3.0-or-later */
/* space.c - see space.h. Searches make mappings of any space; search.c moves them into their own
 * before they are evaluated, so that nothing outside of it can be a result. */
#include <config.h>

#include "mapper/search/space.h"

#include <stdlib.h>

#include "base/alloc.h"

const char *th_space_describe(th_space space, int chunks)
{
    static const char *const full[TH_SHARD_CHUNKS_MAX] = {
        "full, 1 chunk", "full, up to 2 chunks", "full, up to 3 chunks", "full, up to 4 chunks"};
    return space == TH_SPACE_BASIC ? "basic" : full[chunks > 1 ? chunks - 1 : 0];
}

static int by_number(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return *x - *y;
}

int th_space_make_basic(th_partitioner *partitioner, th_mapping *m, th_error *err)
{
    th_free(m->order);
    th_free(m->weights);
    m->order = NULL;
    m->weights = NULL;
    m->activations_cross = false;
    for (int l = 0; l < m->n_layers; l++) {
        th_strategy_set_chunks(&m->strategy[l], 0, 0);
        th_strategy_set_copies(&m->strategy[l], 0);
    }
    for (int i = 0; i < m->n_sets; i++) {
        th_set *set = &m->sets[i];
        if (th_constraints_fixed_set(partitioner->problem->constraints, set))
            continue;
        qsort(set->accels, (size_t)set->n_accels, sizeof *set->accels, by_number);
        if (set->shares && th_partitioner_set_shares(partitioner, m, i, err))
            return -1;
    }
    return 0;
}
