/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trees.h - the sum of an ensemble of decision trees of one depth.
 *
 * A tree of depth D is 2^D - 1 splits "is the feature below the threshold?" in breadth-first order
 * (no: right, the child 2 i + 2) and 2^D leaf values. A branch that ends earlier is filled up with
 * splits whose leaves are equal. A split is one word: the threshold's key (th_trees_key) without
 * its last 7 bits, and the feature's number, which is below 127, in these; so thresholds have 17
 * significant binary digits. Leaf values are integer multiples of TH_TREES_UNIT, so that sums are
 * exact in any order.
 * Trees need no library; XGBoost trains them (boost.h). */
#ifndef TH_PREDICTOR_REGRESS_TREES_H
#define TH_PREDICTOR_REGRESS_TREES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TH_TREES_FEATURES_MAX = 127, TH_TREES_FEATURE_BITS = 127 };
#define TH_TREES_UNIT 0x1p-14

typedef struct th_trees {
    int n, depth;
    uint32_t *split; /* by tree and node */
    int32_t *leaf;   /* by tree and leaf, in units */
} th_trees;

/* n trees of zeros. 0, or -1: memory is out. */
int th_trees_init(th_trees *t, int n, int depth);
void th_trees_clear(th_trees *t);

/* For one row of features. */
double th_trees_sum(const th_trees *t, const float *x, size_t width);
/* A whole number that is in the order of the floats (but for NAN). */
static inline uint32_t th_trees_key(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

/* The threshold is rounded down, so that a row that is equal to it stays not below. */
static inline uint32_t th_trees_split(unsigned feature, float threshold)
{
    return (th_trees_key(threshold) & ~(uint32_t)TH_TREES_FEATURE_BITS) | feature;
}

static inline unsigned th_trees_feature(uint32_t split)
{
    return split & TH_TREES_FEATURE_BITS;
}

static inline float th_trees_threshold(uint32_t split)
{
    uint32_t key = split & ~(uint32_t)TH_TREES_FEATURE_BITS;
    float x;
    key = key >> 31 ? key & 0x7fffffffu : ~key;
    memcpy(&x, &key, sizeof x);
    return x;
}

#endif
