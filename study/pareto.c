/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pareto.c - Pareto fronts.
 * In the lexicographic order of their values no point is dominated by a later one. So one pass
 * finds the front: each point is compared with the members found so far, the latest first. n log n
 * for the order, then n times the size of the front at worst. */
#include <config.h>
#include "study/pareto.h"
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

typedef struct {
    const double *value; /* of the objectives */
    size_t index;
    int n_objectives;
} member;

static int by_values(const void *a, const void *b)
{
    const member *p = a, *q = b;
    for (int k = 0; k < p->n_objectives; k++)
        if (p->value[k] != q->value[k])
            return p->value[k] < q->value[k] ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

/* a precedes b in the order: it is no worse in the first objective. Equal points do not dominate
 * each other. */
static bool dominates(const member *a, const member *b)
{
    bool is_better = false;
    for (int k = 0; k < a->n_objectives; k++) {
        if (a->value[k] > b->value[k])
            return false;
        is_better |= a->value[k] < b->value[k];
    }
    return is_better;
}

int th_pareto_front(const double *values, size_t n, int n_objectives, bool *is_in)
{
    member *all = th_alloc_array(n + 1, sizeof *all);
    if (!all)
        return -1;
    for (size_t i = 0; i < n; i++)
        all[i] = (member){&values[i * (size_t)n_objectives], i, n_objectives};
    qsort(all, n, sizeof *all, by_values);
    size_t n_front = 0; /* all[0 .. n_front) are members, in order */
    for (size_t i = 0; i < n; i++) {
        const member p = all[i];
        bool is_out = false;
        for (size_t k = n_front; k > 0 && !is_out; k--)
            is_out = dominates(&all[k - 1], &p);
        is_in[p.index] = !is_out;
        if (!is_out)
            all[n_front++] = p;
    }
    th_free(all);
    return 0;
}
