/* SPDX-License-Identifier: GPL-3.0-or-later */
/* variation.h - initial mappings and variation operators: how searches make new mappings from old
 * ones.
 *   init -> (initial mappings | offspring batch: random | sharding | partitioning ...)*
 *     -> clear
 * Every member of an offspring batch draws from a stream of random numbers of its own, so that
 * several threads can make them. Every mapping that is returned can be lowered, if memory suffices
 * and its designs can run its layers. */
#ifndef TH_MAPPER_SEARCH_VARIATION_VARIATION_H
#define TH_MAPPER_SEARCH_VARIATION_VARIATION_H
#include "mapper/search/partition/partition.h"
#include "mapper/search/search.h"

typedef enum {
    TH_STAGE_START,                   /* the mapping given by options.start */
    TH_STAGE_DYNAMIC_PROGRAMMING,     /* dynamic programming on candidate partitions, exact and
                                         perturbed */
    TH_STAGE_COMPUTATION_PRIORITIZED, /* computation_prioritized */
    TH_STAGE_UNIFORM,
    TH_STAGE_RANDOM,
    TH_STAGE_END
} th_initial_stage;

/* The position in the sequence of initial mappings; all 0 at init. */
typedef struct th_initial_cursor {
    th_initial_stage stage;
    bool dynamic_programming_only; /* not perturbed, and nothing after it */
    uint64_t n_jobs;               /* of dynamic programming, so far */
    size_t partition;
    int32_t too_few;    /* accelerators: single sets of no more take too long */
    bool others;        /* the fastest designs of every partition are done, now the others */
    int vector, jitter; /* the next; vector 0: designs are yet to be listed */
    th_design_vectors designs;
    int32_t design[TH_PARTITION_SETS_MAX];
    th_strategy *splits; /* of the uniform ones */
    int n_splits, split;
    int32_t uniform_design;
    th_mapping *like; /* sets and design of the uniform ones */
    int n_drawn, tries;
} th_initial_cursor;

typedef struct th_variation {
    th_search *search;
    th_partitioner partitioner;
    th_initial_generator *generator; /* of the outermost search */
    gsl_rng *random;
    const char *stream;
    uint64_t n_offspring; /* members of offspring batches so far */
    th_initial_cursor cursor;
} th_variation;

/* Initial mappings follow the search's options. stream: the name of the random numbers, a literal.
 * 0 or -1 (clear all the same). */
int th_variation_init(th_variation *v, th_search *s, const char *stream, th_error *err);
void th_variation_clear(th_variation *v);

/* The next initial mappings into batch, the caller's to free: as many as are wanted while there are
 * any. Their number, or -1. */
int th_variation_initial(th_variation *v, th_mapping **batch, int wanted, th_error *err);
bool th_variation_has_initial(const th_variation *v); /* there may be more */

enum { TH_VARIATION_TRIES = 8 }; /* for offspring of parents; random mappings may need more */

/* Makes the i-th member of an offspring batch. v is the search's own or a thread's view of it,
 * with the random numbers of this member; it writes nothing else that is shared. 0 or -1; *out
 * NULL: what was drawn is impossible. */
typedef int th_offspring_function(th_variation *v, void *state, int i, th_mapping **out,
                                  th_error *err);
typedef struct th_offspring {
    th_offspring_function *make;
    void *state;
    int tries; /* of each member, until one is possible */
} th_offspring;
/* The n members of an offspring batch into out, several at once where the pool has threads; NULL
 * for members of which no try was possible. 0 or -1. */
int th_variation_offspring(th_variation *v, const th_offspring *how, int n, th_mapping **out,
                           th_error *err);
/* Which random numbers the members of a batch draw from: member i has stream number first + i. */
typedef struct th_offspring_numbers {
    const char *stream; /* a literal */
    uint64_t first;
} th_offspring_numbers;
/* As th_variation_offspring, with these random numbers. */
int th_variation_make_batch(th_variation *v, const th_offspring *how,
                            const th_offspring_numbers *numbers, int n, th_mapping **out,
                            th_error *err);
/* Moves the mappings that are not NULL to the front. Their number. */
int th_mappings_compact(th_mapping **batch, int n);

/* Frees the mappings beyond the budget; returns the number of the others. Batches are made whole
 * and then cut, so that a search with a smaller budget makes the same mappings as the start of a
 * search with a larger one. */
int th_variation_cut_to_budget(const th_variation *v, th_mapping **batch, int n);

/* The next mappings to evaluate into batch[size], within the budget: initial mappings while there
 * are any, then offspring, so that parents are evaluated before their offspring are made. Their
 * number, 0 where no more can be made or the budget is spent; or -1. */
int th_variation_next_batch(th_variation *v, const th_offspring *how, th_mapping **batch, int size,
                            th_error *err);

/* All of these: 0 or -1; *out is the caller's, NULL when what was drawn cannot be made. */

/* Sets, designs and ranges of layers drawn at random; strategies at random, or by dynamic
 * programming with perturbed estimates. */
int th_variation_random(th_variation *v, bool by_dynamic_programming, th_mapping **out,
                        th_error *err);
/* Changes strategies: sometimes a run of layers is taken from father (NULL: none), then mutations
 * of one layer, a run, or all layers of one shape. Sets and designs are mother's. */
int th_variation_sharding(th_variation *v, const th_mapping *mother, const th_mapping *father,
                          th_mapping **out, th_error *err);
/* New shares for heterogeneous members of a set, and strategies by dynamic programming: what is
 * best depends on design and range. 0; 1: some layer cannot run there; -1: error. */
int th_variation_reoptimise(th_variation *v, th_mapping *m, int set, double jitter, th_error *err);
/* Strategies of a run of layers, or of all, by dynamic programming with perturbed estimates; the
 * others, and sets and designs, are mother's. */
int th_variation_perturbed(th_variation *v, const th_mapping *mother, th_mapping **out,
                           th_error *err);
/* Sets, designs or ranges changed, strategies by dynamic programming. */
int th_variation_partitioning(th_variation *v, const th_mapping *mother, th_mapping **out,
                              th_error *err);

/* A range of layers on fewer, more or other accelerators, which stay in their other sets; or the
 * two sides of a join on two parts of their set (over_time.c). */
int th_variation_over_time(th_variation *v, const th_mapping *mother, th_mapping **out,
                           th_error *err);
/* Gives layers the chunks that they have in `from`, where they can have them. 0; 1: some layer of
 * the vector unit cannot follow. */
int th_variation_take_chunks(th_variation *v, th_mapping *m, const th_mapping *from);

/* The share of mother's offspring that change the partitioning: one_kind_rate where all
 * accelerators are of one kind; most of them elsewhere, since there the members of a set decide
 * more than the split of layers; and most where every set is one accelerator, which splits nothing.
 */
double th_variation_partitioning_rate(const th_variation *v, const th_mapping *mother,
                                      double one_kind_rate);

/* Are there members to change: several sets, or accelerators of several kinds? */
bool th_variation_has_members(const th_variation *v, const th_mapping *m);
/* One accelerator more, less or other in one or two sets (members.c); mother's strategies in the
 * other sets. */
int th_variation_members(th_variation *v, const th_mapping *mother, th_mapping **out,
                         th_error *err);

/* Other chunks, most often two along H, or none. */
void th_variation_draw_chunks(th_variation *v, th_strategy *s);
bool th_variation_chance(th_variation *v, double p);
int th_variation_below(th_variation *v, int n);
int th_variation_rank(th_variation *v, int n); /* 0 with probability 1/2, 1 with 1/4, ... < n */

#endif
