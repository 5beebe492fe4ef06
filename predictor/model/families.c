/* SPDX-License-Identifier: GPL-3.0-or-later */
/* families.c - a sorted set of digests.
 * Invariant: of[0 .. n - 1] ascend, none twice. */
#include <config.h>

#include "predictor/model/families.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

uint64_t th_family_of(const th_op *op)
{
    const uint64_t tokens = TH_OP_BIT(TH_OP_BATCH) | TH_OP_BIT(TH_OP_ROWS) | TH_OP_BIT(TH_OP_KEYS) |
                            TH_OP_BIT(TH_OP_PRECISION);
    uint64_t digest = th_hash_word(0, (uint64_t)op->kind);
    uint64_t there = th_op_fields(op->kind) & ~tokens;
    while (there)
        digest = th_hash_word(digest, (uint64_t)op->x[th_op_take_field(&there)]);
    return digest;
}

/* How many are below. */
static int below(const th_families *f, uint64_t family)
{
    int from = 0, to = f->n;
    while (from < to) {
        int middle = (from + to) / 2;
        if (f->of[middle] < family)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

int th_families_find(const th_families *f, uint64_t family)
{
    int i = below(f, family);
    return i < f->n && f->of[i] == family ? i : -1;
}

int th_families_add(th_families *f, uint64_t family)
{
    int i = below(f, family);
    if ((i < f->n && f->of[i] == family) || f->n > TH_FAMILIES_MAX)
        return 0;
    if (th_grow(&f->of, &f->capacity, (size_t)f->n + 1, sizeof *f->of))
        return -1;
    memmove(f->of + i + 1, f->of + i, (size_t)(f->n - i) * sizeof *f->of);
    f->of[i] = family;
    f->n++;
    return 0;
}

void th_families_clear(th_families *f)
{
    th_free(f->of);
    *f = (th_families){.n = 0};
}
