/* SPDX-License-Identifier: GPL-3.0-or-later */
/* remember.h - the fitness of mappings that a search has met, so that none is simulated twice.
 *   new -> (find | keep)* -> free
 * Mappings are told apart by a digest of 128 bits. What is remembered changes no result: a mapping
 * that was stopped is remembered as stopped by that bound and any tighter one. */
#ifndef TH_MAPPER_REMEMBER_H
#define TH_MAPPER_REMEMBER_H
#include "mapper/evaluate.h"

typedef struct th_remembered th_remembered;

th_remembered *th_remembered_new(void); /* NULL: memory is out */
void th_remembered_free(th_remembered *r);
/* Is it known what an evaluation of m with this bound gives? */
bool th_remembered_find(const th_remembered *r, const th_mapping *m, double bound,
                        th_fitness *fitness);
/* -1: memory is out, what was remembered still is. */
int th_remembered_keep(th_remembered *r, const th_mapping *m, double bound,
                       const th_fitness *fitness);

/* The digest: of sets, designs, layers and strategies. */
typedef struct th_mapping_digest {
    uint64_t half[2];
} th_mapping_digest;
th_mapping_digest th_mapping_digest_of(const th_mapping *m);

#endif
