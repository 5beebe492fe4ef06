/* SPDX-License-Identifier: GPL-3.0-or-later */
/* name_index.c - which element of an array has a given name: open addressing, linear probing.
 *   {0} -> (add | find)* -> clear
 * Invariant: at most half of the slots are taken, so every probe ends.
 * Not modelled: taking a name out again. */
#include <config.h>
#include "topology/name_index.h"

#include "base/alloc.h"
#include "base/map.h"

#include <assert.h>
#include <string.h>

static const char *name_at(th_named of, int position)
{
    const char *name;
    memcpy(&name, (const char *)of.first + (size_t)position * of.stride, sizeof name);
    return name;
}

/* The slot that holds the name, or the free one where it belongs. There are slots. */
static int32_t *slot_of(const th_name_index *x, th_named of, const char *name)
{
    uint64_t mask = (uint64_t)x->n_slots - 1;
    for (uint64_t i = th_hash(name, strlen(name), 0) & mask;; i = (i + 1) & mask)
        if (x->slots[i] == 0 || strcmp(name_at(of, x->slots[i] - 1), name) == 0)
            return &x->slots[i];
}

int th_name_index_find(const th_name_index *x, th_named of, const char *name)
{
    return x->n_slots ? *slot_of(x, of, name) - 1 : -1;
}

static int make_room(th_name_index *x, th_named of)
{
    enum { FIRST_SLOTS = 16 };
    if (2 * (x->n + 1) <= x->n_slots)
        return 0;
    th_name_index wider = {.n_slots = x->n_slots ? 2 * x->n_slots : FIRST_SLOTS, .n = x->n};
    wider.slots = th_alloc_zero((size_t)wider.n_slots, sizeof *wider.slots);
    if (!wider.slots)
        return -1;
    for (int32_t i = 0; i < x->n_slots; i++)
        if (x->slots[i] != 0)
            *slot_of(&wider, of, name_at(of, x->slots[i] - 1)) = x->slots[i];
    th_free(x->slots);
    *x = wider;
    return 0;
}

int th_name_index_add(th_name_index *x, th_named of, int position)
{
    if (make_room(x, of) < 0)
        return -1;
    int32_t *slot = slot_of(x, of, name_at(of, position));
    assert(*slot == 0);
    *slot = position + 1;
    x->n++;
    return 0;
}

void th_name_index_clear(th_name_index *x)
{
    th_free(x->slots);
    *x = (th_name_index){0};
}
