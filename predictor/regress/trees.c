/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trees.c - the sum of an ensemble of decision trees for a row of features.
 *   init -> th_trees_sum | th_trees_sum_many -> clear
 * Each comparison in a tree depends on the previous one. Eight trees are therefore evaluated at a
 * time, which hides the latency; leaf values are integers, so the order of the sum does not matter.
 */
#include <config.h>

#include "predictor/regress/trees.h"

#include "base/alloc.h"

enum { AT_A_TIME = 8 };

int th_trees_init(th_trees *t, int n, int depth)
{
    size_t n_splits = ((size_t)1 << depth) - 1,
           capacity = ((size_t)n + AT_A_TIME - 1) / AT_A_TIME * AT_A_TIME;
    *t = (th_trees){.n = n, .depth = depth};
    t->split = th_alloc_zero(capacity * n_splits + 1, sizeof *t->split);
    t->leaf = th_alloc_zero(capacity * (n_splits + 1) + 1, sizeof *t->leaf);
    if (t->split && t->leaf)
        return 0;
    th_trees_clear(t);
    return -1;
}

void th_trees_clear(th_trees *t)
{
    th_free(t->split);
    th_free(t->leaf);
    *t = (th_trees){.n = 0};
}

/* The feature's key with its last bits set: it is below a split's word where the feature is below
 * the threshold. */
static int32_t key_of(float x)
{
    return th_trees_key(x) | (TH_TREES_FEATURES_MAX - 1);
}

/* The sum of AT_A_TIME trees. Nodes count from 1: the children of i are 2 i and 2 i + 1. The walks
 * are written out so that a compiler keeps their nodes in registers. */
static int32_t sum_of_trees(const int32_t *split, const int32_t *leaf, int depth,
                            const int32_t *key)
{
    size_t n_splits = ((size_t)1 << depth) - 1, node[AT_A_TIME];
    int32_t sum = 0;
    for (size_t k = 0; k < AT_A_TIME; k++)
        node[k] = 1;
#define STEP(k)                                                                                    \
    {                                                                                              \
        int32_t s = split[(k)*n_splits + node[k] - 1];                                             \
        node[k] = 2 * node[k] + (key[th_trees_feature(s)] >= s);                                   \
    }
    for (int d = 0; d < depth; d++) {
        STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
    }
#undef STEP
    for (size_t k = 0; k < AT_A_TIME; k++)
        sum += leaf[k * (n_splits + 1) + node[k] - n_splits - 1];
    return sum;
}

double th_trees_sum(const th_trees *t, const float *x, size_t width)
{
    int32_t key[TH_TREES_FEATURES_MAX], sum = 0;
    size_t n_splits = ((size_t)1 << t->depth) - 1;
    for (size_t f = 0; f < width; f++)
        key[f] = key_of(x[f]);
    for (size_t i = 0; i < (size_t)t->n; i += AT_A_TIME) /* those beyond n are all zero */
        sum += sum_of_trees(t->split + i * n_splits, t->leaf + i * (n_splits + 1), t->depth, key);
    return sum * TH_TREES_UNIT;
}

void th_trees_sum_many(const th_trees *t, const float *x, size_t n, size_t width, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = th_trees_sum(t, x + i * width, width);
}
