/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker.h - the evaluation of mappings somewhere else, as messages of bytes (serializer.h). How
 * they travel is the affair of others (pool_mpi.c). there: new -> (problem | chunk -> answer)* ->
 * free here:  put_problem once; put_chunk -> (bytes travel) -> take for every mapping of it, in
 * order
 *          -> take_counts */
#ifndef TH_MAPPER_WORKER_H
#define TH_MAPPER_WORKER_H
#include "mapper/pool/serializer.h"

typedef struct th_worker th_worker;

th_worker *th_worker_new(th_error *err);
void th_worker_free(th_worker *w); /* accepts NULL */
/* Takes a problem up in the place of the one before. What is wrong with it is the answer to every
 * chunk. */
void th_worker_read_problem(th_worker *w, const void *bytes, size_t n);
/* Evaluates the mappings of a chunk; *answer is cleared and written. 0, or -1: out of memory. */
int th_worker_evaluate(th_worker *w, const void *bytes, size_t n, th_serializer *answer);

void th_worker_write_problem(th_serializer *out, const th_problem *p);
/* Mappings which[i] for i < n. */
void th_worker_write_chunk(th_serializer *out, th_mapping *const *mappings, const int *which, int n,
                           double bound);

typedef enum {
    TH_ANSWER_DONE,
    TH_ANSWER_NEEDS_SCRIPT, /* a script design is asked, whose procedure is here alone */
    TH_ANSWER_FAILED        /* err says why */
} th_answer;
th_answer th_worker_read_answer(th_serializer *answer, th_fitness *fitness, th_error *err);
/* What its segment cache has done since the problem came; after take of all mappings of a chunk,
 * and left as it was where the answer is cut off. */
void th_worker_read_counts(th_serializer *answer, th_segment_counts *counts);

#endif
