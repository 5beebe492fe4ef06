/* SPDX-License-Identifier: GPL-3.0-or-later */
/* breed.h - what searches start from, and how they make new mappings of old ones.
 *   init -> (next_seed | draw | child | level1 ...)* -> clear
 * All draws come from one stream of random numbers, in the order of the calls. Every mapping that is
 * handed out can be lowered, if memory suffices and its designs can run its layers. */
#ifndef TH_MAPPER_BREED_H
#define TH_MAPPER_BREED_H
#include "mapper/level1.h"
#include "mapper/search.h"

typedef struct th_breed {
    th_search *search;
    th_level1 level1;
    th_seeder *seeder;
    gsl_rng *random;
    th_mapping **seeds;
    size_t n_seeds, seed_capacity, next_seed;
} th_breed;

/* Makes the seeds that the search's options ask for. stream: the name of the random numbers. 0 or
 * -1 (clear all the same). */
int th_breed_init(th_breed *b, th_search *s, const char *stream, th_error *err);
void th_breed_clear(th_breed *b);

/* The next seed, the caller's to free; NULL: that was all. */
th_mapping *th_breed_next_seed(th_breed *b);
bool th_breed_has_seeds(const th_breed *b);

/* All of these: 0 or -1; *out is the caller's, NULL when what was drawn cannot be made. */

/* Sets, designs and ranges of layers drawn at random; strategies at random, or by the dynamic
 * programme with blurred estimates. */
int th_breed_draw(th_breed *b, bool by_programme, th_mapping **out, th_error *err);
/* Strategies changed: now and then a run of layers taken from father (NULL: none), then mutations
 * of one layer, a run, or all layers of one shape. Sets and designs are mother's. */
int th_breed_child(th_breed *b, const th_mapping *mother, const th_mapping *father,
                   th_mapping **out, th_error *err);
/* Sets, designs or ranges changed, strategies by the dynamic programme. */
int th_breed_level1(th_breed *b, const th_mapping *mother, th_mapping **out, th_error *err);

bool th_breed_chance(th_breed *b, double p);
int th_breed_below(th_breed *b, int n);
int th_breed_rank(th_breed *b, int n); /* 0 with probability 1/2, 1 with 1/4, ... < n */

#endif
