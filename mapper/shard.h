/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shard.h - sharding geometry: how a set of accelerators splits one layer, in boxes of index space.
 *
 * Exclusive shards (ES): dimension d is cut into split[d] pieces; the product over d is the size of
 * the set. The coordinates of position r of the set are the digits of r in the mixed radix of the
 * splits, the last dimension (S) fastest (behind it the copy, if there are several). Even cuts
 * differ by at most one element: piece i of n over extent e is [i*e/n, (i+1)*e/n), never empty
 * because n <= e. If the members of a set have shares (positive integers, such as their speeds),
 * cuts are proportional: the weight w_i of piece i of a dimension is the sum of the shares of all
 * positions with that coordinate, and cut i is at e * (w_0 + .. + w_{i-1}) / (sum of w), rounded
 * down, then moved by the least amount that leaves every piece an element (along rotate: one per
 * phase; along chunk_dim: one per chunk). Equal shares give the even cuts. Groups that must not be
 * divided stay whole; if even pieces are parts of groups, shares are ignored.
 *
 * Shared shards (SS), in one additional dimension, rotate: an operand that ES replicates on a group
 * of positions is cut into as many pieces as the group has members. Each member starts with the
 * piece of its own rank and passes pieces on along the ring of the group, computing one phase with
 * each.
 *
 * Chunks: a position computes its shard in this number of parts, one task after the other, cut
 * evenly along one dimension that is no reduction. What a chunk has made can leave while the next
 * one computes, and a chunk starts when its own inputs are there. Not together with a rotation.
 *
 * Copies: a set may run a layer several times over. In c copies, position r of the set is position
 * r / c of copy r % c, and every copy computes the whole layer as a set of its own would: rings and
 * partners never leave it. The product of the splits times c is the size of the set. */
#ifndef TH_MAPPER_SHARD_H
#define TH_MAPPER_SHARD_H
#include <stddef.h>
#include "base/error.h"
#include "workloads/workload.h"

enum {
    TH_NO_ROTATION = -1,
    TH_SHARD_CHUNKS_MAX = 4, /* more tasks cost more than they hide */
    TH_SHARE_MAX = 10000     /* of one accelerator of a set */
};

/* Has no padding bytes: memos and digests read it as words. */
typedef struct th_strategy {
    int32_t split[TH_N_DIMS]; /* by th_dim, each >= 1 */
    int32_t rotate;           /* th_dim or TH_NO_ROTATION */
    int32_t chunks;    /* of each shard, 2 .. TH_SHARD_CHUNKS_MAX; 0: it is computed in one */
    int32_t chunk_dim; /* th_dim; 0 without chunks */
    int32_t copies;    /* of the layer on the set, 2 or more; 0: it is computed once */
} th_strategy;
enum { TH_STRATEGY_WORDS = TH_N_DIMS + 4 };
_Static_assert(sizeof(th_strategy) == TH_STRATEGY_WORDS * sizeof(int32_t), "no padding");

typedef enum { TH_OPERAND_NONE, TH_OPERAND_INPUT, TH_OPERAND_WEIGHT } th_operand;

extern const th_strategy th_strategy_single; /* a set of one */
/* chunks up to 1: none. */
void th_strategy_set_chunks(th_strategy *s, int32_t chunks, int32_t dim);
void th_strategy_set_copies(th_strategy *s, int32_t copies); /* up to 1: none */
/* The chunks of another one, unless s rotates. */
void th_strategy_take_chunks(th_strategy *s, const th_strategy *from);

/* 0, or -1 with the reason if n positions cannot run layer l (with batch images) by strategy s:
 * the product of the splits and copies is not n, there are more pieces than elements, this kind
 * cannot split a dimension, a rotation has no replicated operand or fewer elements than members,
 * a chunk would be empty, or there are more than INT32_MAX messages. prefix is put before the
 * reason in err. */
int th_strategy_check(const th_strategy *s, const th_layer *l, int32_t batch, int n,
                      const char *prefix, th_error *err);
bool th_strategy_fits(const th_strategy *s, const th_layer *l, int32_t batch, int n);
bool th_strategy_equal(const th_strategy *a, const th_strategy *b);
/* "K4", "H2 K2 rotate C", "K4 chunks H2", "K2 copies 4", "-" for a set of one. Into out[size],
 * returned. */
char *th_strategy_format(const th_strategy *s, char *out, size_t size);

/* The part of the loop nest of position r: ES only, and in phase p of the rotation (0 without
 * rotation). shares, here and below: of all positions; NULL: equal shares. */
th_loop_box th_shard_loops(const th_layer *l, int32_t batch, const th_strategy *s,
                           const int32_t *shares, int r);
th_loop_box th_shard_phase_loops(const th_layer *l, int32_t batch, const th_strategy *s,
                                 const int32_t *shares, int r, int phase);
int th_shard_phases(const th_layer *l, const th_strategy *s); /* 1 without rotation */
int th_shard_chunks(const th_strategy *s);                    /* 1 without chunks */
int th_shard_copies(const th_strategy *s);                    /* 1 where there are no several */
/* The part of the loop nest of position r that its chunk number i computes. */
th_loop_box th_shard_chunk_loops(const th_layer *l, int32_t batch, const th_strategy *s,
                                 const int32_t *shares, int r, int chunk);
th_operand th_shard_rotating(const th_layer *l, const th_strategy *s);
/* The members of r's ring in order (positions), and r's rank in it. Returns the number of
 * members. */
int th_shard_ring(const th_layer *l, const th_strategy *s, int r, int *members, int *rank);
/* The member that stands `ahead` places after r in its ring. The next one sends it pieces. */
int th_shard_ring_member(const th_layer *l, const th_strategy *s, int r, int ahead);

/* Positions that hold partial sums of the same output box as r, ascending; 1 (r alone) when no
 * reduction dimension is split. */
int th_shard_partners(const th_strategy *s, const th_layer *l, int r, int *members, int *rank);
int th_shard_partner(const th_strategy *s, const th_layer *l, int r, int i); /* the i-th of them */
/* The part of the output that position r holds when a chunk of the layer has ended (0 without
 * chunks): the chunk's output box or, after the reduce-scatter of a split reduction, its piece of
 * that box (cut evenly along the longest dimension, whatever the shares; may be empty if there are
 * fewer elements than partners). */
th_box th_shard_held(const th_layer *l, int32_t batch, const th_strategy *s, const int32_t *shares,
                     int r, int chunk);
/* The same, for loops of th_shard_chunk_loops. */
th_box th_shard_held_of(const th_layer *l, const th_strategy *s, int r, const th_loop_box *loops);

/* Bytes of the weights of a part of the loop nest in memory and in transfers: compressed if they
 * are not dense (th_shard_bytes). 0 for a matmul of two inputs, whose second input is no weight. */
int64_t th_shard_weight_piece_bytes(const th_layer *l, const th_loop_box *loops);
int64_t th_shard_weight_box_bytes(const th_layer *l,
                                  const th_box *box); /* of th_layer_weight_box */
/* Bytes of parameters that position r keeps resident: the weights of its shard (under SS the
 * rotating piece of one phase), and the dense parameters of its output channels (biases, scales,
 * shifts). */
int64_t th_shard_weight_bytes(const th_layer *l, const th_strategy *s, const int32_t *shares,
                              int r);
int32_t th_density_ppm(double density); /* parts per million, as in th_shard */

/* a minus b as at most 2 * TH_TENSOR_DIMS disjoint boxes into out; returns their number. */
int th_box_subtract(const th_box *a, const th_box *b, th_box *out);

#endif
