/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker.h - remote evaluation of mappings, as serialised messages (serializer.h); pool_mpi.c
 * transports them.
 *   worker: new -> (read_problem | evaluate)* -> free
 *   client: write_problem once; write_chunk -> (transport) -> read_answer for each of its
 * mappings, in order -> read_counts */
#ifndef TH_MAPPER_WORKER_H
#define TH_MAPPER_WORKER_H
#include "mapper/serialize/serializer.h"

typedef struct th_worker th_worker;

/* The provider answers for procedures of designs, whose text comes with each problem. */
th_worker *th_worker_new(const th_script_provider *scripts, th_error *err);
void th_worker_free(th_worker *w); /* accepts NULL */
/* Replaces the current problem. If the problem is invalid, the answer to every chunk is the
 * error. */
void th_worker_read_problem(th_worker *w, const void *bytes, size_t n);
/* Evaluates the mappings of a chunk; clears and writes *answer. 0, or -1: out of memory. */
int th_worker_evaluate(th_worker *w, const void *bytes, size_t n, th_serializer *answer);

int th_worker_write_problem(th_serializer *out, const th_problem *p, th_error *err); /* 0 or -1 */
void th_worker_write_chunk(th_serializer *out, th_mapping *const *mappings, int n, double bound);
/* 0, or -1: err says why. */
int th_worker_read_answer(th_serializer *answer, th_fitness *fitness, th_error *err);
/* The counts of the worker's segment memo since it read the problem; after the answers of all
 * mappings of a chunk. *counts is unchanged if the answer is cut off. */
void th_worker_read_counts(th_serializer *answer, th_segment_counts *counts);

#endif
