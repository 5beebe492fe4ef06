/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower.h - a mapping becomes a program: shards become computes, what they lack becomes transfers.
 *
 *   new -> (share) -> lower* -> free.  A th_lower keeps memos (redistributions, works) from one mapping
 * to the next. Those of several threads may share them. */
#ifndef TH_MAPPER_LOWER_H
#define TH_MAPPER_LOWER_H
#include "mapper/lower/plan.h"
#include "mapper/mapping.h"
#include "sim/program.h"
#include "sim/work.h"

/* A stream of inputs: each is a whole batch of the workload, cut along B into micro-batches that
 * follow one another; input i is in the host (or, without a host, on the accelerators that need it)
 * at i * interval. */
typedef struct th_stream {
    int32_t n_inputs; /* >= 1 */
    th_time interval_ps;
    int32_t micro_batches; /* >= 1, <= batch */
    int32_t in_flight; /* passes in the system at once; 0: the number of sets that have layers */
} th_stream;
extern const th_stream th_stream_single; /* one input, one micro-batch */
/* 0, or -1 when the stream is none, or cuts the workload's batch too fine. */
int th_stream_check(const th_stream *s, const th_workload *w, th_error *err);

typedef struct th_lower th_lower;

th_lower *th_lower_new(const th_system *s, const th_workload *w, th_error *err);
/* For another thread, with the plans and works of l; freed before l. NULL: memory is out. */
th_lower *th_lower_share(const th_lower *l, th_error *err);
void th_lower_free(th_lower *l);
const th_works *th_lower_works(const th_lower *l);
th_plans *th_lower_plans(th_lower *l);

/* Fills program (cleared first). The mapping must have passed th_mapping_check. 0, or -1: MAP-00xx
 * names accelerator, layer and missing bytes when memory does not suffice. */
int th_lower_program(th_lower *l, const th_mapping *m, const th_stream *stream, th_program *program,
                     th_error *err);

/* After a successful lowering: peak bytes of DRAM by accelerator index, and of weights alone. */
const int64_t *th_lower_peak_bytes(const th_lower *l);
const int64_t *th_lower_weight_bytes(const th_lower *l);

#endif
