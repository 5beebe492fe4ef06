/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trees.c - sums of decision trees. Rows go through in blocks, a tree at a time, so that its
 * questions stay in the nearest cache. A walk down a tree waits at each question for the answer to
 * the one before; so some are made abreast, of rows in one tree, or of one row in several trees.
 * Processors with wide vectors make more at once (trees_vector.c); sums are the same whichever way.
 */
#include <config.h>

#include "predictor/regress/trees.h"

#include "base/alloc.h"

enum { BLOCK = TH_TREES_BLOCK, ABREAST = 8 };

static size_t questions_of(const th_trees *t)
{
    return ((size_t)1 << t->depth) - 1;
}

int th_trees_init(th_trees *t, int n, int depth)
{
    size_t questions = ((size_t)1 << depth) - 1,
           room = ((size_t)n + ABREAST - 1) / ABREAST * ABREAST;
    *t = (th_trees){.n = n, .depth = depth};
    t->question = th_alloc_zero(room * questions + 1, sizeof *t->question);
    t->leaf = th_alloc_zero(room * (questions + 1) + 1, sizeof *t->leaf);
    if (t->question && t->leaf)
        return 0;
    th_trees_clear(t);
    return -1;
}

void th_trees_clear(th_trees *t)
{
    th_free(t->question);
    th_free(t->leaf);
    *t = (th_trees){.n = 0};
}

/* A key whose last bits are set is not below a question's word where it is not below the threshold.
 */
static int32_t key_of(float x)
{
    return th_trees_key(x) | (TH_TREES_FEATURES_MAX - 1);
}

/* Eight walks abreast, written out so that a compiler keeps their places in registers. Places count
 * from 1, so that those of the children of i are 2 i and 2 i + 1. */
#define ABREAST_STEPS STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)

/* Of one row: the sum over ABREAST trees. */
static int32_t answer_trees(const int32_t *question, const int32_t *leaf, int depth,
                            const int32_t *key)
{
    size_t questions = ((size_t)1 << depth) - 1, at[ABREAST];
    int32_t sum = 0;
    for (size_t k = 0; k < ABREAST; k++)
        at[k] = 1;
#define STEP(k)                                                                                    \
    {                                                                                              \
        int32_t q = question[(k)*questions + at[k] - 1];                                           \
        at[k] = 2 * at[k] + (key[th_trees_feature(q)] >= q);                                       \
    }
    for (int d = 0; d < depth; d++) {
        ABREAST_STEPS
    }
#undef STEP
    for (size_t k = 0; k < ABREAST; k++)
        sum += leaf[k * (questions + 1) + at[k] - questions - 1];
    return sum;
}

/* Adds the answers of one tree for ABREAST rows. */
static void answer_rows(const int32_t *question, const int32_t *leaf, int depth, const int32_t *key,
                        size_t width, int32_t *sum)
{
    size_t questions = ((size_t)1 << depth) - 1, at[ABREAST];
    for (size_t k = 0; k < ABREAST; k++)
        at[k] = 1;
#define STEP(k)                                                                                    \
    {                                                                                              \
        int32_t q = question[at[k] - 1];                                                           \
        at[k] = 2 * at[k] + (key[(k)*width + th_trees_feature(q)] >= q);                           \
    }
    for (int d = 0; d < depth; d++) {
        ABREAST_STEPS
    }
#undef STEP
    for (size_t k = 0; k < ABREAST; k++)
        sum[k] += leaf[at[k] - questions - 1];
}

double th_trees_sum(const th_trees *t, const float *x, size_t width)
{
    int32_t key[TH_TREES_FEATURES_MAX], sum = 0;
    size_t questions = questions_of(t);
    for (size_t f = 0; f < width; f++)
        key[f] = key_of(x[f]);
    for (size_t tree = 0; tree < (size_t)t->n; tree += ABREAST) /* further ones add nothing */
        sum += answer_trees(t->question + tree * questions, t->leaf + tree * (questions + 1),
                            t->depth, key);
    return sum * TH_TREES_UNIT;
}

static void sum_block(const th_trees *t, const float *x, size_t n, size_t width, double *out)
{
    int32_t key[BLOCK * TH_TREES_FEATURES_MAX], sum[BLOCK] = {0};
    size_t questions = questions_of(t);
    for (size_t i = 0; i < n * width; i++)
        key[i] = key_of(x[i]);
    for (size_t tree = 0; tree < (size_t)t->n; tree++)
        for (size_t r = 0; r < n; r += ABREAST)
            answer_rows(t->question + tree * questions, t->leaf + tree * (questions + 1), t->depth,
                        key + r * width, width, sum + r);
    for (size_t r = 0; r < n; r++)
        out[r] = sum[r] * TH_TREES_UNIT;
}

void th_trees_sum_many(const th_trees *t, const float *x, size_t n, size_t width, double *out)
{
    size_t from = 0;
    while (from + ABREAST <= n) {
        size_t rows = n - from < BLOCK ? (n - from) / ABREAST * ABREAST : BLOCK;
        if (rows < BLOCK || !th_trees_sum_block(t, x + from * width, width, out + from))
            sum_block(t, x + from * width, rows, width, out + from);
        from += rows;
    }
    for (; from < n; from++)
        out[from] = th_trees_sum(t, x + from * width, width);
}
