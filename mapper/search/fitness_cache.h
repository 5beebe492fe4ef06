/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fitness_cache.h - the fitness of mappings that a search has met, so that none is simulated twice.
 *   new -> (find | keep)* -> free
 * Mappings are told apart by a digest of 128 bits. What is remembered changes no result: a mapping
 * that was stopped is remembered as stopped by that bound and any tighter one. */
#ifndef TH_MAPPER_SEARCH_FITNESS_CACHE_H
#define TH_MAPPER_SEARCH_FITNESS_CACHE_H
#include "mapper/evaluate/evaluate.h"

typedef struct th_fitness_cache th_fitness_cache;

th_fitness_cache *th_fitness_cache_new(void); /* NULL: out of memory */
void th_fitness_cache_free(th_fitness_cache *r);
/* Is it known what an evaluation of m with this bound gives? */
bool th_fitness_cache_find(const th_fitness_cache *r, const th_mapping *m, double bound,
                           th_fitness *fitness);
/* -1: out of memory, what was remembered still is. */
int th_fitness_cache_keep(th_fitness_cache *r, const th_mapping *m, double bound,
                          const th_fitness *fitness);

#endif
