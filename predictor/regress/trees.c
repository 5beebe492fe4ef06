/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trees.c - the sum of an ensemble of decision trees for a row of features.
 *   init -> th_trees_sum | th_trees_sum_many -> clear
 * Each comparison in a tree depends on the previous one. Eight trees of a row, or eight rows of a
 * tree, are therefore evaluated at a time, which hides the latency; leaf values are integers, so
 * the order of the sum does not matter.
 */
#include <config.h>

#include "predictor/regress/trees.h"

#include "base/alloc.h"

enum { AT_A_TIME = 8, BLOCK = 16 /* rows */ };

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

/* One step of the walk number k, in the tree split + k * next_tree with the row key + k * next_row.
 * Nodes count from 1: the children of i are 2 i and 2 i + 1. The walks are written out so that a
 * compiler keeps their nodes in registers. */
#define STEP(k, next_tree, next_row)                                                               \
    {                                                                                              \
        int32_t s = split[(k) * (next_tree) + node[k] - 1];                                        \
        node[k] = 2 * node[k] + (key[(k) * (next_row) + th_trees_feature(s)] >= s);                \
    }
#define STEPS(a, b)                                                                                \
    STEP(0, a, b)                                                                                  \
    STEP(1, a, b)                                                                                  \
    STEP(2, a, b)                                                                                  \
    STEP(3, a, b)                                                                                  \
    STEP(4, a, b)                                                                                  \
    STEP(5, a, b)                                                                                  \
    STEP(6, a, b)                                                                                  \
    STEP(7, a, b)

/* The sum of AT_A_TIME trees. */
static int32_t sum_of_trees(const int32_t *split, const int32_t *leaf, int depth,
                            const int32_t *key)
{
    size_t n_splits = ((size_t)1 << depth) - 1, node[AT_A_TIME];
    int32_t sum = 0;
    for (size_t k = 0; k < AT_A_TIME; k++)
        node[k] = 1;
    for (int d = 0; d < depth; d++) {
        STEPS(n_splits, 0)
    }
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

/* Adds a tree's leaves of AT_A_TIME rows to their sums. */
static void add_tree(const int32_t *split, const int32_t *leaf, int depth, const int32_t *key,
                     int32_t *sum)
{
    size_t n_splits = ((size_t)1 << depth) - 1, node[AT_A_TIME];
    for (size_t k = 0; k < AT_A_TIME; k++)
        node[k] = 1;
    for (int d = 0; d < depth; d++) {
        STEPS(0, TH_TREES_FEATURES_MAX)
    }
    for (size_t k = 0; k < AT_A_TIME; k++)
        sum[k] += leaf[node[k] - n_splits - 1];
}

/* A tree goes through all rows of a block, so that it stays in the cache. */
static void sum_block(const th_trees *t, const float *x, size_t width, double *out)
{
    int32_t key[BLOCK][TH_TREES_FEATURES_MAX], sum[BLOCK] = {0};
    size_t n_splits = ((size_t)1 << t->depth) - 1;
    for (size_t i = 0; i < BLOCK; i++)
        for (size_t f = 0; f < width; f++)
            key[i][f] = key_of(x[i * width + f]);
    for (size_t k = 0; k < (size_t)t->n; k++)
        for (size_t i = 0; i < BLOCK; i += AT_A_TIME)
            add_tree(t->split + k * n_splits, t->leaf + k * (n_splits + 1), t->depth, key[i],
                     sum + i);
    for (size_t i = 0; i < BLOCK; i++)
        out[i] = sum[i] * TH_TREES_UNIT;
}

void th_trees_sum_many(const th_trees *t, const float *x, size_t n, size_t width, double *out)
{
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK)
        sum_block(t, x + i * width, width, out + i);
    for (; i < n; i++)
        out[i] = th_trees_sum(t, x + i * width, width);
}
