/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trees.h - a sum of decision trees, all of one depth, laid out for speed.
 *
 * A tree of depth D is 2^D - 1 questions "feature < threshold?" in breadth-first order (no: right, the
 * child 2 i + 2) and 2^D answers. Trees that end earlier are filled up with questions whose answers agree.
 * It asks for no library: those that are trained with one (boost.h) are plain numbers here. */
#ifndef TH_PREDICTOR_TREES_H
#define TH_PREDICTOR_TREES_H
#include <stddef.h>
#include <stdint.h>

typedef struct th_trees {
    int n, depth;
    uint8_t *feature; /* by tree and question */
    float *threshold;
    float *leaf; /* by tree and answer */
} th_trees;

/* All zero. 0, or -1: memory is out. */
int th_trees_init(th_trees *t, int n, int depth);
void th_trees_clear(th_trees *t);

double th_trees_sum(const th_trees *t, const float *x);
/* Of n rows of stride features each; out[i] becomes what th_trees_sum gives. */
void th_trees_sum_many(const th_trees *t, const float *x, size_t n, size_t stride, double *out);

#endif
