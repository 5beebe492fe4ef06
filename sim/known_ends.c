/* SPDX-License-Identifier: GPL-3.0-or-later */
/* known_ends.c - a table from digests of 128 bits to ends: open addressing, linear probing.
 *   new -> (find | keep)* -> free
 * The digest is its own hash, and all that is compared. Invariants: n_slots is 0 or a power of two; at
 * most half of the slots are taken, so every probe ends; number 0 marks a free one. */
#include <config.h>

#include "sim/known_ends.h"

#include <string.h>

#include "base/alloc.h"

enum { FIRST_SLOTS = 256 };

typedef struct {
    uint64_t digest[2];
    size_t number; /* in ends, from 1 on; 0: free */
} slot;

struct th_known_ends {
    slot *slots;
    size_t n_slots;
    th_known_end *ends;
    size_t n, capacity, max;
};

th_known_ends *th_known_ends_new(size_t max)
{
    th_known_ends *k = th_alloc_zero(1, sizeof *k);
    if (k)
        k->max = max;
    return k;
}

void th_known_ends_free(th_known_ends *k)
{
    if (!k)
        return;
    th_free(k->slots);
    th_free(k->ends);
    th_free(k);
}

/* The slot of the digest, or the free one where it belongs. n_slots > 0. */
static slot *find(slot *slots, size_t n_slots, const uint64_t digest[2])
{
    for (size_t i = digest[0] & (n_slots - 1);; i = (i + 1) & (n_slots - 1)) {
        slot *s = &slots[i];
        if (s->number == 0 || (s->digest[0] == digest[0] && s->digest[1] == digest[1]))
            return s;
    }
}

const th_known_end *th_known_ends_find(const th_known_ends *k, const uint64_t digest[2])
{
    const slot *s = k->n_slots > 0 ? find(k->slots, k->n_slots, digest) : NULL;
    return s && s->number > 0 ? &k->ends[s->number - 1] : NULL;
}

static int make_room(th_known_ends *k)
{
    if (2 * k->n < k->n_slots)
        return 0;
    size_t n = k->n_slots ? 2 * k->n_slots : FIRST_SLOTS;
    slot *slots = th_alloc_zero(n, sizeof *slots);
    if (!slots)
        return -1;
    for (size_t i = 0; i < k->n_slots; i++)
        if (k->slots[i].number > 0)
            *find(slots, n, k->slots[i].digest) = k->slots[i];
    th_free(k->slots);
    k->slots = slots;
    k->n_slots = n;
    return 0;
}

int th_known_ends_keep(th_known_ends *k, const uint64_t digest[2], const th_known_end *e)
{
    if (k->n == k->max) {
        memset(k->slots, 0, k->n_slots * sizeof *k->slots);
        k->n = 0;
    }
    if (make_room(k) || th_grow(&k->ends, &k->capacity, k->n + 1, sizeof *k->ends))
        return -1;
    k->ends[k->n++] = *e;
    *find(k->slots, k->n_slots, digest) = (slot){{digest[0], digest[1]}, k->n};
    return 0;
}
