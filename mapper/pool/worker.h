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

th_worker *th_worker_new(th_error *err);
void th_worker_free(th_worker *w); /* accepts NULL */
/* Replaces the current problem. If the problem is invalid, the answer to every chunk is the
 * error. */
void th_worker_read_problem(th_worker *w, const void *bytes, size_t n);
/* Evaluates the mappings of a chunk; clears and writes *answer. 0, or -1: out of memory. */
int th_worker_evaluate(th_worker *w, const void *bytes, size_t n, th_serializer *answer);

void th_worker_write_problem(th_serializer *out, const th_problem *p);
/* Mappings which[i] for i < n. */
void th_worker_write_chunk(th_serializer *out, th_mapping *const *mappings, const int *which, int n,
                           double bound);

typedef enum {
    TH_ANSWER_DONE,
    TH_ANSWER_NEEDS_SCRIPT, /* a script design is needed, whose procedure only rank 0 has */
    TH_ANSWER_FAILED        /* err says why */
} th_answer;
th_answer th_worker_read_answer(th_serializer *answer, th_fitness *fitness, th_error *err);
/* The counts of the worker's segment memo since it read the problem; after the answers of all
 * mappings of a chunk. *counts is unchanged if the answer is cut off. */
void th_worker_read_counts(th_serializer *answer, th_segment_counts *counts);

#endif
