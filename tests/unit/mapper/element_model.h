/* SPDX-License-Identifier: GPL-3.0-or-later */
/* element_model.h - sharding element by element: what tests hold the mapper's boxes against.
 *
 * It knows the documented rules alone (docs/models/sharding.md, workloads/layer.h) and none of the
 * project's geometry: it marks elements that some step of a loop nest touches, and never computes
 * with boxes but for the least spans around what was touched. */
#ifndef TH_TESTS_UNIT_MAPPER_ELEMENT_MODEL_H
#define TH_TESTS_UNIT_MAPPER_ELEMENT_MODEL_H
#include "tests/unit/random_net.h"

enum {
    ELEMENTS_MAX = RANDOM_BATCH_MAX * RANDOM_CHANNELS_MAX * RANDOM_EXTENT_MAX * RANDOM_EXTENT_MAX
};

typedef struct {
    int32_t lo[TH_N_DIMS], hi[TH_N_DIMS];
} loops;

/* Piece i of n of dimension d. */
void cut(loops *x, int d, int i, int n);
/* shares: by position; NULL: equal ones. */
loops loops_of(const th_layer *l, int32_t batch, const th_strategy *s, const int32_t *shares,
               int r);

int copies_of(const th_strategy *s); /* of the layer on its set */
bool rotates_weights(const th_layer *l, const th_strategy *s);
/* Of a set of n, the positions with the same rotating operand as r, or with the same output
 * elements, ascending; *rank is r's place among them. */
int ring_of(const th_layer *l, const th_strategy *s, int n, int r, int *member, int *rank);
int partners_of(const th_strategy *s, int n, int r, int *member, int *rank);

typedef struct {
    int32_t lo, hi;
} span; /* lo >= hi: empty */

/* A set of elements of one tensor: ((b * C + c) * H + h) * W + w, all inside four spans. */
typedef struct {
    bool at[ELEMENTS_MAX];
    int32_t size; /* elements of the tensor; the rest of at is undefined */
    int64_t n;
    span channels, rows, columns;
} elements;

/* What loops x read of an input, and what they write; of that, with several partners, the rank-th
 * piece along the longest extent. */
void inputs_read(const th_layer *l, int input, const loops *x, elements *out);
void outputs_held(const th_layer *l, const loops *x, int rank, int n, elements *out);

/* Steps of the loop nest: a C that is not cut, or that is part of a group, counts as one. count,
 * one number per step, goes up by one for every step of x. */
int64_t steps_of(const th_layer *l, int32_t batch);
void count_steps(const th_layer *l, const loops *x, uint8_t *count);

/* Pairs of a row and a key that it sees, of one head of an attention. */
int64_t scores_of(const th_layer *l, const loops *x);

/* Is s the part x of the layer? reads: what x reads of each input. */
bool is_shard_of(const th_shard *s, const th_layer *l, const loops *x, const elements *reads,
                 bool adds);
int64_t bytes_of(int64_t n_elements, th_precision p);
/* Of the weights that x multiplies with, as they lie in memory: packed when some are zero. */
int64_t weight_bytes_of(const th_layer *l, const loops *x);

#endif
