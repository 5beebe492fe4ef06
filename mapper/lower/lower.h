/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower.h - lowers a mapping to a program: shards become computes, missing inputs become
 * transfers.
 *
 *   new -> (share) -> lower* -> free.  A th_lower keeps plans and compute costs from one
 * mapping to the next; several threads may share them. */
#ifndef TH_MAPPER_LOWER_H
#define TH_MAPPER_LOWER_H
#include "mapper/lower/plan.h"
#include "mapper/lower/stream.h"
#include "mapper/mapping.h"
#include "sim/program/program.h"
#include "sim/design/compute_cost.h"

typedef struct th_lower th_lower;

th_lower *th_lower_new(const th_system *s, const th_workload *w, th_error *err);
/* For another thread, with the plans and compute costs of l; freed before l. NULL: memory is out.
 */
th_lower *th_lower_share(const th_lower *l, th_error *err);
void th_lower_free(th_lower *l);
/* Called before each pass; true: th_lower_program gives up. NULL, as after new: never. */
void th_lower_set_interrupt_check(th_lower *l, bool (*is_interrupted)(void));
const th_compute_cost_cache *th_lower_costs(const th_lower *l);
th_plans *th_lower_plans(th_lower *l);

/* Fills program (cleared first). The mapping must have passed th_mapping_check. 0, or -1: MAP-00xx
 * names accelerator, layer and missing bytes when memory does not suffice. */
int th_lower_program(th_lower *l, const th_mapping *m, const th_stream *stream, th_program *program,
                     th_error *err);

/* After a successful lowering: peak bytes of DRAM by accelerator index, and of weights alone. */
const int64_t *th_lower_peak_bytes(const th_lower *l);
const int64_t *th_lower_weight_bytes(const th_lower *l);

/* Where the memory peak of an accelerator is: at a layer, when the tasks [first_task, end_task) of
 * a pass reach it, of the first pass with as many passes in flight as are counted. False: it holds
 * nothing. */
typedef struct th_peak_place {
    int32_t layer, first_task, end_task;
} th_peak_place;
bool th_lower_peak_of(const th_lower *l, int accel, th_peak_place *out);

/* What its memory holds then. */
typedef enum {
    TH_HELD_WEIGHTS, /* of the layer, from the start */
    TH_HELD_INPUT,   /* what was delivered for it, and maybe later layers */
    TH_HELD_OUTPUT,  /* its output, until the last reader is done */
    TH_HELD_BUFFER   /* pieces of a rotation, partial sums */
} th_held_kind;
typedef struct th_held {
    int32_t kind, layer;
    int64_t bytes; /* of all passes in flight */
} th_held;
typedef struct th_memory_peak {
    th_held *held; /* in no particular order; the bytes add up to the peak */
    size_t n, capacity;
    bool failed; /* private */
} th_memory_peak;
const char *th_held_name(int32_t kind); /* "weights" "input" "output" "buffer" */
/* Lists them in *out. m and stream are those of the last lowering, whose program stays valid. 0,
 * or -1 and nothing to clear. */
int th_lower_held(th_lower *l, const th_mapping *m, const th_stream *stream, int accel,
                  th_memory_peak *out, th_error *err);
void th_memory_peak_clear(th_memory_peak *p);

#endif
