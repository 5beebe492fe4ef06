/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_schedule.h - pipeline schedules of training: the order of operations of every stage.
 *
 *   make (or read) -> check -> (order of execution) -> clear
 *
 * A model of v chunks per stage runs m micro-batches through p stages. Every micro-batch passes
 * every chunk forward (F) and backward (B). Where a schedule splits the backward operation, B
 * computes gradients of the inputs alone, and W, at any later time, those of the weights.
 *
 * Chunk c of stage s is step c p + s of the model; where chunks turn (is_v), the odd chunks run
 * from the last stage to the first: step c p + (p - 1 - s). */
#ifndef TH_TRAINING_PIPELINE_SCHEDULE_H
#define TH_TRAINING_PIPELINE_SCHEDULE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

typedef enum { TH_PIPELINE_FORWARD, TH_PIPELINE_BACKWARD, TH_PIPELINE_WEIGHTS } th_pipeline_kind;
enum { TH_PIPELINE_N_KINDS = TH_PIPELINE_WEIGHTS + 1 };

typedef struct th_pipeline_op {
    int32_t micro_batch;
    int16_t chunk, kind; /* th_pipeline_kind */
} th_pipeline_op;

enum { TH_STAGES_MAX = 1024, TH_CHUNKS_MAX_OF_STAGE = 256, TH_MICRO_BATCHES_MAX = 1 << 20 };

typedef struct th_pipeline_shape {
    int32_t stages, chunks, micro_batches; /* >= 1 */
} th_pipeline_shape;

typedef struct th_pipeline_schedule {
    th_pipeline_shape shape;
    bool splits_backward, is_v;
    /* A forward operation and the backward one of the other chunk behind it share their time: what
     * one of them sends travels while the other computes. */
    bool has_pairs;
    /* Of stage s: ops[s * n_ops .. (s + 1) * n_ops), every operation once. */
    th_pipeline_op *ops;
    int32_t n_ops;
    int32_t *order; /* indices of ops such that each comes after all that it waits for */
} th_pipeline_schedule;

typedef struct th_pipeline_list th_pipeline_list;

/* A row of the table. */
typedef struct th_pipeline_type {
    const char *name, *synopsis;
    bool splits_backward, is_v;
    int min_chunks, max_chunks;
    /* Does the rule hold for this shape? 0, or -1 with the number to change. NULL: for all. */
    int (*check)(const th_pipeline_shape *n, th_error *err);
    /* Appends the operations of a stage by th_pipeline_add. */
    void (*fill)(const th_pipeline_shape *n, int32_t stage, th_pipeline_list *out);
    bool has_pairs; /* see th_pipeline_schedule */
} th_pipeline_type;

extern const th_pipeline_type th_pipeline_types[]; /* ends in name NULL */
const th_pipeline_type *th_pipeline_find(const char *name);

/* The schedule of a row for a shape. 0, or -1 and nothing to clear. */
int th_pipeline_make(const th_pipeline_type *type, const th_pipeline_shape *shape,
                     th_pipeline_schedule *out, th_error *err);
/* pipeline_file.c: a user's schedule. Its number of stages is that of its lines. */
int th_pipeline_read(const char *path, th_pipeline_schedule *out, th_error *err);
void th_pipeline_clear(th_pipeline_schedule *s);

/* pipeline_check.c: every operation once on every stage, and no stage waits for ever; fills order.
 * what names the schedule. 0 or -1. */
int th_pipeline_check(th_pipeline_schedule *s, const char *what, th_error *err);

/* The step of the model that a chunk of a stage is, and back. */
int32_t th_pipeline_step(const th_pipeline_schedule *s, int32_t stage, int32_t chunk);
int32_t th_pipeline_stage_of(const th_pipeline_schedule *s, int32_t step);
/* Is the operation of this index the forward one of a pair? */
bool th_pipeline_opens_pair(const th_pipeline_schedule *s, int32_t i);
/* A number of each operation by kind, step and micro-batch, from 0 on; of kind TH_PIPELINE_N_KINDS,
 * step 0, micro-batch 0: how many numbers there are. */
size_t th_pipeline_number(const th_pipeline_schedule *s, int kind, int32_t step,
                          int32_t micro_batch);
char th_pipeline_letter(int kind); /* F, B, W */

#endif
