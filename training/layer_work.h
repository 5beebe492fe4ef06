/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_work.h - what a rank does for a layer, or for the embedding or the output layer, of one
 * micro-batch: pieces, each a computation between two communications, or a collective.
 * docs/models/training.md has the equations. */
#ifndef TH_TRAINING_LAYER_WORK_H
#define TH_TRAINING_LAYER_WORK_H
#include "training/work_context.h"
#include "sim/collective/collective.h"

/* What the kernels of a computation do. */
typedef enum {
    TH_WORK_PRODUCTS,
    TH_WORK_ATTENTION,   /* scores and what they weigh */
    TH_WORK_NORMS,       /* and sums */
    TH_WORK_ROTARY,      /* embedding of positions */
    TH_WORK_ACTIVATIONS, /* of feed-forward networks */
    TH_WORK_TOKENS,      /* their copies for experts, made and added up */
    TH_WORK_CASTS,       /* of operands to 8 or 4 bits */
    TH_WORK_EMBEDDING,
    TH_WORK_LOGITS, /* passes over them */
    TH_WORK_OPTIMIZER,
    TH_WORK_OVERLAP, /* lost to messages beside: the run tells, no computation has it */
    TH_WORK_HOST,    /* waiting for the host to launch them */
    TH_N_WORK_PARTS
} th_work_part;
extern const char *const th_work_part_names[TH_N_WORK_PARTS + 1];

typedef struct th_piece {
    double s, host_s; /* of a computation; of the host, to launch its kernels */
    double part_s[TH_N_WORK_PARTS];
    th_collective_kind collective; /* of a collective: bytes > 0 */
    th_plan_group group;
    int64_t bytes;
    int64_t local_bytes; /* that TH_GROUP_EXPERT_LOCAL exchanges at the same time; 0: none */
    bool overlaps;       /* the computation behind it runs at the same time */
} th_piece;

enum { TH_PIECES_MAX = 48 };
typedef struct th_pieces {
    th_piece of[TH_PIECES_MAX];
    int n;
} th_pieces;

enum { TH_LAYER_EMBEDDING_STEP = -1, TH_LAYER_HEAD_STEP = -2 };
/* The pieces of an operation on a layer, or on the embedding or output layer. is_split: the
 * backward operation is B alone, W is another. */
void th_layer_work(const th_work_context *c, int32_t layer, th_pipeline_kind kind, bool is_split,
                   th_pieces *out);
/* Parameters of a layer on a rank, before ZeRO. */
int64_t th_layer_parameters_of_rank(const th_work_context *c, int32_t layer);
double th_optimizer_s(const th_work_context *c, int64_t parameters); /* of its shard */
/* Activations that a micro-batch keeps in a layer, bytes. */
int64_t th_layer_activation_bytes(const th_work_context *c, int32_t layer);
int64_t th_boundary_bytes(const th_work_context *c); /* of a message between stages */
/* Of its rate, that a computation loses to a collective beside it. */
double th_overlap_share(const th_work_context *c, th_plan_group group);
double th_message_host_s(const th_work_context *c); /* at one end of a message between stages */

#endif
