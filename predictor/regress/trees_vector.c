/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trees_vector.c - a block of rows through all trees by AVX-512, where the processor has it:
 * sixteen rows to a vector, four vectors at once. sum_block: keys, a feature's of all rows side by
 * side -> { tree: first levels -> further ones -> leaves } To gather words from memory is what
 * costs: so the first three levels compare with all of their seven questions, and combine masks; up
 * to the eighth, the questions of a level fit into registers and are permuted. Elsewhere
 * th_trees_sum_block does nothing, and trees.c does the same one by one. */
#include <config.h>

#include "predictor/regress/trees.h"

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>

enum { LANES = 16, VECTORS = TH_TREES_BLOCK / LANES, BLOCK = TH_TREES_BLOCK };
#define VECTOR __attribute__((target("avx512f")))

/* The keys of a question's feature, of vector v; which of them are not below it. */
VECTOR static inline __mmask16 ask(__mmask16 asked, int32_t question, const int32_t *key, int v)
{
    const int32_t *of_feature = key + th_trees_feature(question) * BLOCK + v * LANES;
    return _mm512_mask_cmpge_epi32_mask(asked, _mm512_loadu_si512(of_feature),
                                        _mm512_set1_epi32(question));
}

/* Places in the fourth level, 0 .. 7. */
VECTOR static inline __m512i first_levels(const int32_t *question, const int32_t *key, int v)
{
    const __mmask16 all = 0xFFFF;
    __mmask16 a = ask(all, question[0], key, v), not_a = (__mmask16)~a;
    __mmask16 b = ask(not_a, question[1], key, v) | ask(a, question[2], key, v),
              not_b = (__mmask16)~b;
    __mmask16 c = ask(not_a & not_b, question[3], key, v) | ask(not_a & b, question[4], key, v) |
                  ask(a & not_b, question[5], key, v) | ask(a & b, question[6], key, v);
    __m512i at = _mm512_maskz_set1_epi32(a, 4);
    at = _mm512_mask_add_epi32(at, b, at, _mm512_set1_epi32(2));
    return _mm512_mask_add_epi32(at, c, at, _mm512_set1_epi32(1));
}

/* The questions at these places of 32, of 64. */
VECTOR static inline __m512i of_32(const int32_t *level, __m512i at)
{
    return _mm512_permutex2var_epi32(_mm512_loadu_si512(level), at,
                                     _mm512_loadu_si512(level + LANES));
}

VECTOR static inline __m512i of_64(const int32_t *level, __m512i at)
{
    __mmask16 is_high = _mm512_test_epi32_mask(at, _mm512_set1_epi32(2 * LANES));
    return _mm512_mask_mov_epi32(of_32(level, at), is_high, of_32(level + 2 * LANES, at));
}

/* The questions at these places of a level of 2^depth. */
VECTOR static inline __m512i questions_at(const int32_t *level, int depth, __m512i at)
{
    if (depth <= 4) {
        __mmask16 there = (__mmask16)((1u << (1u << depth)) - 1);
        return _mm512_permutexvar_epi32(at, _mm512_maskz_loadu_epi32(there, level));
    }
    if (depth == 5)
        return of_32(level, at);
    if (depth == 6)
        return of_64(level, at);
    if (depth == 7) {
        __mmask16 is_high = _mm512_test_epi32_mask(at, _mm512_set1_epi32(4 * LANES));
        return _mm512_mask_mov_epi32(of_64(level, at), is_high, of_64(level + 4 * LANES, at));
    }
    return _mm512_i32gather_epi32(at, level, sizeof *level);
}

VECTOR static inline __m512i step(const int32_t *level, int depth, const int32_t *key, int v,
                                  __m512i at)
{
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                  feature_bits = _mm512_set1_epi32(TH_TREES_FEATURES_MAX - 1),
                  one = _mm512_set1_epi32(1);
    __m512i question = questions_at(level, depth, at);
    __m512i place =
        _mm512_mullo_epi32(_mm512_and_si512(question, feature_bits), _mm512_set1_epi32(BLOCK));
    __m512i keys =
        _mm512_i32gather_epi32(_mm512_add_epi32(place, lanes), key + v * LANES, sizeof *key);
    __mmask16 right = _mm512_cmpge_epi32_mask(keys, question);
    at = _mm512_slli_epi32(at, 1);
    return _mm512_mask_add_epi32(at, right, at, one);
}

/* Loops over vectors are unrolled, so that places and sums stay in registers. */
VECTOR static inline void answer_rows(const int32_t *question, const int32_t *leaf, int depth,
                                      const int32_t *key, __m512i *sum)
{
    enum { FIRST = 3 };
    __m512i at[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++)
        at[v] = first_levels(question, key, v);
    for (int d = FIRST; d < depth; d++)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++)
            at[v] = step(question + (1 << d) - 1, d, key, v, at[v]);
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++)
        sum[v] = _mm512_add_epi32(sum[v], _mm512_i32gather_epi32(at[v], leaf, sizeof *leaf));
}

/* Keys of x[BLOCK][width], a feature's side by side: th_trees_key of sixteen at once. */
VECTOR static void key_rows(const float *x, size_t width, int32_t *key)
{
    const __m512i by_row =
        _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                           _mm512_set1_epi32((int)width));
    for (int v = 0; v < VECTORS; v++)
        for (size_t f = 0; f < width; f++) {
            __m512i bits =
                _mm512_i32gather_epi32(by_row, x + (size_t)v * LANES * width + f, sizeof *x);
            __m512i sign = _mm512_srli_epi32(_mm512_srai_epi32(bits, 31), 1);
            _mm512_storeu_si512(key + f * BLOCK + v * LANES,
                                _mm512_or_si512(_mm512_xor_si512(bits, sign),
                                                _mm512_set1_epi32(TH_TREES_FEATURES_MAX - 1)));
        }
}

VECTOR static void sum_block(const th_trees *t, const float *x, size_t width, int32_t *out)
{
    int32_t key[BLOCK * TH_TREES_FEATURES_MAX] __attribute__((aligned(64)));
    size_t questions = ((size_t)1 << t->depth) - 1;
    __m512i sum[VECTORS];
    key_rows(x, width, key);
    for (int v = 0; v < VECTORS; v++)
        sum[v] = _mm512_setzero_si512();
    for (size_t tree = 0; tree < (size_t)t->n; tree++)
        answer_rows(t->question + tree * questions, t->leaf + tree * (questions + 1), t->depth, key,
                    sum);
    for (int v = 0; v < VECTORS; v++)
        _mm512_storeu_si512(out + v * LANES, sum[v]);
}

bool th_trees_sum_block(const th_trees *t, const float *x, size_t width, double *out)
{
    enum { DEPTH_MIN = 3 };
    int32_t sum[BLOCK];
    if (t->depth < DEPTH_MIN || !__builtin_cpu_supports("avx512f"))
        return false;
    sum_block(t, x, width, sum);
    for (int r = 0; r < BLOCK; r++)
        out[r] = sum[r] * TH_TREES_UNIT;
    return true;
}

#else

bool th_trees_sum_block(const th_trees *t, const float *x, size_t width, double *out)
{
    (void)t, (void)x, (void)width, (void)out;
    return false;
}

#endif
