/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stream.h - the inputs of a run, and how each is cut into micro-batches. */
#ifndef TH_MAPPER_LOWER_STREAM_H
#define TH_MAPPER_LOWER_STREAM_H
#include "workloads/workload.h"

/* A stream of inputs: each is a whole batch of the workload, cut along B into successive micro-
 * batches. Input i is in the host (without a host: on the accelerators that need it) at time i *
 * interval. */
typedef struct th_stream {
    int32_t n_inputs; /* >= 1 */
    th_time interval_ps;
    int32_t micro_batches; /* >= 1, <= batch */
    int32_t in_flight; /* passes in the system at once; 0: the number of sets that have layers */
} th_stream;
extern const th_stream th_stream_single; /* one input, one micro-batch */
/* 0, or -1: a number is out of range, or there are more micro-batches than images. */
int th_stream_check(const th_stream *s, const th_workload *w, th_error *err);

#endif
