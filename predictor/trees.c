/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trees.c - sums of decision trees. Rows go through in blocks, a tree at a time, so that its questions stay
 * in the nearest cache. A walk down a tree waits at each question for the answer to the one before; so some
 * are made abreast, of rows in one tree, or of one row in several trees. The sum of a row is taken in the
 * order of the trees either way. */
#include <config.h>

#include "predictor/trees.h"

#include "base/alloc.h"

enum { BLOCK = 64, ABREAST = 8 };

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

/* The answer of one tree. */
static float answer(const th_trees *t, size_t tree, const float *x)
{
    size_t questions = ((size_t)1 << t->depth) - 1;
    const uint8_t *feature = t->feature + tree * questions;
    const float *threshold = t->threshold + tree * questions;
    size_t at = 0;
    for (int d = 0; d < t->depth; d++)
        at = 2 * at + 2 - (x[feature[at]] < threshold[at]);
    return t->leaf[tree * (questions + 1) + at - questions];
}

/* Eight walks abreast, written out so that a compiler keeps their places in registers. */
#define ABREAST_STEPS STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)

/* Of ABREAST trees from `tree` on. */
static void answer_trees(const th_trees *t, size_t tree, const float *x, double *sum)
{
    size_t questions = ((size_t)1 << t->depth) - 1, at[ABREAST] = {0};
    const uint8_t *feature = t->feature + tree * questions;
    const float *threshold = t->threshold + tree * questions;
    const float *leaf = t->leaf + tree * (questions + 1);
#define STEP(k)                                                                                    \
    at[k] = 2 * at[k] + 2 -                                                                        \
            (x[feature[(k) * questions + at[k]]] < threshold[(k) * questions + at[k]]);
    for (int d = 0; d < t->depth; d++) {
        ABREAST_STEPS
    }
#undef STEP
    for (size_t k = 0; k < ABREAST; k++)
        *sum += (double)leaf[k * (questions + 1) + at[k] - questions];
}

/* Of one tree for ABREAST rows. */
static void answer_rows(const th_trees *t, size_t tree, const float *x, size_t stride, double *sum)
{
    size_t questions = ((size_t)1 << t->depth) - 1, at[ABREAST] = {0};
    const uint8_t *feature = t->feature + tree * questions;
    const float *threshold = t->threshold + tree * questions;
    const float *leaf = t->leaf + tree * (questions + 1);
#define STEP(k)                                                                                    \
    at[k] = 2 * at[k] + 2 - (x[(k) * stride + feature[at[k]]] < threshold[at[k]]);
    for (int d = 0; d < t->depth; d++) {
        ABREAST_STEPS
    }
#undef STEP
    for (size_t k = 0; k < ABREAST; k++)
        sum[k] += (double)leaf[at[k] - questions];
}

double th_trees_sum(const th_trees *t, const float *x)
{
    double sum = 0;
    size_t tree = 0, n = (size_t)t->n;
    for (; tree + ABREAST <= n; tree += ABREAST)
        answer_trees(t, tree, x, &sum);
    for (; tree < n; tree++)
        sum += (double)answer(t, tree, x);
    return sum;
}

static void sum_block(const th_trees *t, const float *x, size_t n, size_t stride, double *out)
{
    for (size_t r = 0; r < n; r++)
        out[r] = 0;
    for (size_t tree = 0; tree < (size_t)t->n; tree++)
        for (size_t r = 0; r < n; r += ABREAST)
            answer_rows(t, tree, x + r * stride, stride, out + r);
}

void th_trees_sum_many(const th_trees *t, const float *x, size_t n, size_t stride, double *out)
{
    size_t from = 0;
    while (from + ABREAST <= n) {
        size_t rows = n - from < BLOCK ? (n - from) / ABREAST * ABREAST : BLOCK;
        sum_block(t, x + from * stride, rows, stride, out + from);
        from += rows;
    }
    for (; from < n; from++)
        out[from] = th_trees_sum(t, x + from * stride);
}
