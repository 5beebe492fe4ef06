/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trees.c - the sum of an ensemble of decision trees for a row of features.
 *   init -> th_trees_sum -> clear
 * Each comparison in a tree depends on the previous one. Sixteen trees are therefore evaluated at a
 * time, which hides the latency. */
#include <config.h>

#include "predictor/regress/trees.h"

#include "base/alloc.h"

enum { AT_A_TIME = 16 };

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

/* The feature's key with its last bits set: it is above a split's word unless the feature is below
 * the threshold. */
static uint32_t key_of(float x)
{
    return th_trees_key(x) | TH_TREES_FEATURE_BITS;
}

/* The node after `node`. Nodes count from 1: the children of i are 2 i and 2 i + 1. A compiler that
 * does not know that both terms are one adds the comparison's carry to them, which is quicker than
 * making a number of it. */
static inline size_t next(size_t node, uint32_t split, const uint32_t *key)
{
    size_t same = node;
#ifdef __GNUC__
    __asm__("" : "+r"(same));
#endif
    return node + same + (split < key[th_trees_feature(split)]);
}

/* The sum of AT_A_TIME trees. Inlined for depths that are known, and unrolled, so that a compiler
 * knows the places of the trees and keeps the nodes in registers. */
static inline __attribute__((always_inline)) int32_t
sum_of_trees(const uint32_t *split, const int32_t *leaf, int depth, const uint32_t *key)
{
    size_t n_leaves = (size_t)1 << depth, node[AT_A_TIME];
    int32_t sum = 0;
#pragma GCC unroll 16
    for (size_t k = 0; k < AT_A_TIME; k++)
        node[k] = 1;
    for (int d = 0; d < depth; d++)
#pragma GCC unroll 16
        for (size_t k = 0; k < AT_A_TIME; k++)
            node[k] = next(node[k], split[k * (n_leaves - 1) + node[k] - 1], key);
#pragma GCC unroll 16
    for (size_t k = 0; k < AT_A_TIME; k++)
        sum += leaf[k * n_leaves + node[k] - n_leaves];
    return sum;
}

static int32_t sum_of_depth_8(const uint32_t *split, const int32_t *leaf, const uint32_t *key)
{
    return sum_of_trees(split, leaf, 8, key);
}

static int32_t sum_of_depth_6(const uint32_t *split, const int32_t *leaf, const uint32_t *key)
{
    return sum_of_trees(split, leaf, 6, key);
}

double th_trees_sum(const th_trees *t, const float *x, size_t width)
{
    uint32_t key[TH_TREES_FEATURES_MAX];
    size_t n_leaves = (size_t)1 << t->depth;
    int32_t sum = 0;
    for (size_t f = 0; f < width; f++)
        key[f] = key_of(x[f]);
    for (size_t i = 0; i < (size_t)t->n; i += AT_A_TIME) { /* those beyond n are all zero */
        const uint32_t *split = t->split + i * (n_leaves - 1);
        const int32_t *leaf = t->leaf + i * n_leaves;
        sum += t->depth == 8   ? sum_of_depth_8(split, leaf, key)
               : t->depth == 6 ? sum_of_depth_6(split, leaf, key)
                               : sum_of_trees(split, leaf, t->depth, key);
    }
    return sum * TH_TREES_UNIT;
}
