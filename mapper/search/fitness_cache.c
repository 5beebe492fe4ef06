/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fitness_cache.c - the fitness of mappings that a search has met.
 *   new -> (find | keep)* -> free
 * When LIMIT mappings are remembered all are forgotten: that costs time, never a result. */
#include <config.h>

#include "mapper/search/fitness_cache.h"

#include "base/alloc.h"
#include "base/map.h"
#include "mapper/mapping_digest.h"

enum { LIMIT = 1 << 20 };

typedef struct {
    th_fitness fitness;
    double bound; /* under which it was stopped */
} known;

struct th_fitness_cache {
    th_map *numbers;
    known *all;
    size_t n, capacity;
};

th_fitness_cache *th_fitness_cache_new(void)
{
    th_fitness_cache *r = th_alloc_zero(1, sizeof *r);
    if (r && (r->numbers = th_map_new()))
        return r;
    th_fitness_cache_free(r);
    return NULL;
}

void th_fitness_cache_free(th_fitness_cache *r)
{
    if (!r)
        return;
    th_map_free(r->numbers);
    th_free(r->all);
    th_free(r);
}

bool th_fitness_cache_find(const th_fitness_cache *r, const th_mapping *m, double bound,
                           th_fitness *fitness)
{
    th_mapping_digest key = th_mapping_digest_of(m);
    int64_t number;
    if (!th_map_get(r->numbers, &key, sizeof key, &number))
        return false;
    const known *k = &r->all[number];
    if (k->fitness.fit == TH_FIT_STOPPED && bound > k->bound)
        return false;
    *fitness = k->fitness;
    return true;
}

int th_fitness_cache_keep(th_fitness_cache *r, const th_mapping *m, double bound,
                          const th_fitness *fitness)
{
    th_mapping_digest key = th_mapping_digest_of(m);
    int64_t number;
    if (th_map_get(r->numbers, &key, sizeof key, &number)) {
        r->all[number] = (known){*fitness, bound};
        return 0;
    }
    if (r->n == LIMIT) {
        th_map_clear(r->numbers);
        r->n = 0;
    }
    if (th_grow(&r->all, &r->capacity, r->n + 1, sizeof *r->all) ||
        th_map_put(r->numbers, &key, sizeof key, (int64_t)r->n))
        return -1;
    r->all[r->n++] = (known){*fitness, bound};
    return 0;
}
