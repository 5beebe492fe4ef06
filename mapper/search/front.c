/* SPDX-License-Identifier: GPL-3.0-or-later */
/* front.c - fast non-dominated sort and crowding distances (front.h), O(values n^2). */
#include <config.h>

#include "mapper/search/front.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

bool th_point_dominates(const th_point *a, const th_point *b, int n_values)
{
    bool is_better = false;
    if (a->lateness_ps != b->lateness_ps)
        return a->lateness_ps < b->lateness_ps;
    for (int i = 0; i < n_values; i++) {
        if (a->value[i] > b->value[i])
            return false;
        is_better |= a->value[i] < b->value[i];
    }
    return is_better;
}

/* --- ranks --- */

/* count[i]: points that dominate i; below[i * n ..]: those that i dominates, n_below[i] of them. */
typedef struct {
    int32_t *count, *n_below, *below;
} dominance;

static void compare_all(const th_point *p, int n, int n_values, dominance *d)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (th_point_dominates(&p[i], &p[j], n_values)) {
                d->below[(size_t)i * (size_t)n + (size_t)d->n_below[i]++] = j;
                d->count[j]++;
            }
}

/* Removes the points of a rank, which exposes the next one. Returns how many points the rank
 * has. */
static int peel(th_point *p, int n, int32_t rank, dominance *d)
{
    int taken = 0;
    for (int i = 0; i < n; i++) {
        if (p[i].rank != rank)
            continue;
        taken++;
        for (int32_t k = 0; k < d->n_below[i]; k++) {
            int32_t j = d->below[(size_t)i * (size_t)n + (size_t)k];
            if (--d->count[j] == 0)
                p[j].rank = rank + 1;
        }
    }
    return taken;
}

/* --- crowding --- */

typedef struct {
    double value;
    int index;
} place;

static int by_value(const void *a, const void *b)
{
    const place *x = a, *y = b;
    int order = (x->value > y->value) - (x->value < y->value);
    return order != 0 ? order : x->index - y->index;
}

/* Along one objective; n >= 1 points of one rank are in order. */
static void add_distances(th_point *p, const place *order, int n)
{
    double range = order[n - 1].value - order[0].value;
    p[order[0].index].crowding = p[order[n - 1].index].crowding = INFINITY;
    for (int i = 1; i + 1 < n && range > 0; i++)
        p[order[i].index].crowding += (order[i + 1].value - order[i - 1].value) / range;
}

static void crowd(th_point *p, int n, int32_t rank, int n_values, place *order)
{
    for (int v = 0; v < n_values; v++) {
        int members = 0;
        for (int i = 0; i < n; i++)
            if (p[i].rank == rank)
                order[members++] = (place){p[i].value[v], i};
        if (members == 0)
            return;
        qsort(order, (size_t)members, sizeof *order, by_value);
        add_distances(p, order, members);
    }
}

int th_points_rank(th_point *p, int n, int n_values)
{
    size_t cells = (size_t)n + 1;
    dominance d = {th_alloc_zero(cells, sizeof *d.count), th_alloc_zero(cells, sizeof *d.n_below),
                   th_alloc_array(cells * cells, sizeof *d.below)};
    place *order = th_alloc_array(cells, sizeof *order);
    int failed = d.count && d.n_below && d.below && order ? 0 : -1;
    if (!failed)
        compare_all(p, n, n_values, &d);
    for (int i = 0; !failed && i < n; i++) {
        p[i].rank = d.count[i] == 0 ? 0 : -1;
        p[i].crowding = 0;
    }
    for (int32_t rank = 0; !failed && peel(p, n, rank, &d) > 0; rank++)
        crowd(p, n, rank, n_values, order);
    th_free(d.count);
    th_free(d.n_below);
    th_free(d.below);
    th_free(order);
    return failed;
}

void th_front_free(th_front *f)
{
    if (!f)
        return;
    for (int i = 0; i < f->n; i++)
        th_mapping_free(f->mapping[i]);
    th_free(f->mapping);
    th_free(f->metrics);
    th_free(f);
}
