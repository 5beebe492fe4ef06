/* SPDX-License-Identifier: GPL-3.0-or-later */
/* remember.c - the fitness of mappings that a search has met.
 *   new -> (find | keep)* -> free
 * When LIMIT mappings are remembered all are forgotten: that costs time, never a result. */
#include <config.h>

#include "mapper/search/remember.h"

#include "base/alloc.h"
#include "base/map.h"

enum { LIMIT = 1 << 20 };

typedef struct {
    th_fitness fitness;
    double bound; /* under which it was stopped */
} known;

struct th_remembered {
    th_map *numbers;
    known *all;
    size_t n, capacity;
};

th_remembered *th_remembered_new(void)
{
    th_remembered *r = th_alloc_zero(1, sizeof *r);
    if (r && (r->numbers = th_map_new()))
        return r;
    th_remembered_free(r);
    return NULL;
}

void th_remembered_free(th_remembered *r)
{
    if (!r)
        return;
    th_map_free(r->numbers);
    th_free(r->all);
    th_free(r);
}

static void add(th_mapping_digest *d, const void *bytes, size_t n)
{
    for (int i = 0; i < 2; i++)
        d->half[i] = th_hash(bytes, n, d->half[i]);
}

th_mapping_digest th_mapping_digest_of(const th_mapping *m)
{
    th_mapping_digest d = {{1, 2}};
    for (int i = 0; i < m->n_sets; i++) {
        const int32_t head[] = {m->sets[i].design, m->sets[i].n_accels, m->sets[i].shares != NULL};
        add(&d, head, sizeof head);
        add(&d, m->sets[i].accels, (size_t)m->sets[i].n_accels * sizeof *m->sets[i].accels);
        if (m->sets[i].shares)
            add(&d, m->sets[i].shares, (size_t)m->sets[i].n_accels * sizeof *m->sets[i].shares);
    }
    add(&d, m->set_of, (size_t)m->n_layers * sizeof *m->set_of);
    add(&d, m->strategy, (size_t)m->n_layers * sizeof *m->strategy);
    if (m->order) {
        add(&d, m->order, (size_t)m->n_layers * sizeof *m->order);
        add(&d, m->weights, (size_t)m->n_layers);
    }
    if (m->activations_cross)
        add(&d, &m->activations_cross, sizeof m->activations_cross);
    return d;
}

bool th_remembered_find(const th_remembered *r, const th_mapping *m, double bound,
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

int th_remembered_keep(th_remembered *r, const th_mapping *m, double bound,
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
