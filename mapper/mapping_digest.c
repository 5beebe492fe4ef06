/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping_digest.c - the digest of a mapping. */
#include <config.h>

#include "mapper/mapping_digest.h"

#include "base/map.h"

static void add(th_mapping_digest *d, const void *bytes, size_t n)
{
    for (int i = 0; i < 2; i++)
        d->half[i] = th_hash(bytes, n, d->half[i]);
}

th_mapping_digest th_mapping_digest_of(const th_mapping *m)
{
    th_mapping_digest d = {{1, 2}};
    for (int i = 0; i < m->n_sets; i++) {
        const int32_t head[] = {m->sets[i].design, m->sets[i].n_accels, !!m->sets[i].shares};
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
