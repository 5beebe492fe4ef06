/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trees.c - sums of decision trees. Rows go through in blocks, a tree at a time, so that its questions stay
 * in the nearest cache; the sum of a row is taken in the order of the trees either way. */
#include <config.h>

#include "predictor/trees.h"

#include "base/alloc.h"

enum { BLOCK = 64 };

int th_trees_init(th_trees *t, int n, int depth)
{
    size_t questions = ((size_t)1 << depth) - 1, all = (size_t)n * questions;
    *t = (th_trees){.n = n, .depth = depth};
    t->feature = th_alloc_zero(all + 1, sizeof *t->feature);
    t->threshold = th_alloc_zero(all + 1, sizeof *t->threshold);
    t->leaf = th_alloc_zero((size_t)n * (questions + 1) + 1, sizeof *t->leaf);
    if (t->feature && t->threshold && t->leaf)
        return 0;
    th_trees_clear(t);
    return -1;
}

void th_trees_clear(th_trees *t)
{
    th_free(t->feature);
    th_free(t->threshold);
    th_free(t->leaf);
    *t = (th_trees){.n = 0};
}

static inline float answer(const th_trees *t, int tree, const float *x)
{
    size_t questions = ((size_t)1 << t->depth) - 1;
    const uint8_t *feature = t->feature + (size_t)tree * questions;
    const float *threshold = t->threshold + (size_t)tree * questions;
    size_t at = 0;
    for (int d = 0; d < t->depth; d++)
        at = 2 * at + 1 + !(x[feature[at]] < threshold[at]);
    return t->leaf[(size_t)tree * (questions + 1) + at - questions];
}

double th_trees_sum(const th_trees *t, const float *x)
{
    double sum = 0;
    for (int i = 0; i < t->n; i++)
        sum += (double)answer(t, i, x);
    return sum;
}

void th_trees_sum_many(const th_trees *t, const float *x, size_t n, size_t stride, double *out)
{
    for (size_t from = 0; from < n; from += BLOCK) {
        size_t to = from + BLOCK < n ? from + BLOCK : n;
        for (size_t r = from; r < to; r++)
            out[r] = 0;
        for (int i = 0; i < t->n; i++)
            for (size_t r = from; r < to; r++)
                out[r] += (double)answer(t, i, x + r * stride);
    }
}
