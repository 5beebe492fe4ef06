/* SPDX-License-Identifier: GPL-3.0-or-later */
/* initial_mapping.h - generates initial mappings for searches by dynamic programming over the
 * layers of a set.
 *   new -> (share) -> (choices | solve)* -> free */
#ifndef TH_MAPPER_SEARCH_INITIAL_INITIAL_MAPPING_H
#define TH_MAPPER_SEARCH_INITIAL_INITIAL_MAPPING_H
#include "base/random.h"
#include "mapper/pool/pool.h"

typedef struct th_initial_generator th_initial_generator;

/* Accelerators of a set from which on there are more choices, and transitions are planned one by
 * one. */
enum { TH_INITIAL_LARGE_SET = 32 };

/* How far estimates are perturbed: each is multiplied by a random factor from 1 to 1 + most. */
typedef struct th_jitter {
    double most; /* 0: not at all */
    gsl_rng *random;
    th_time enough; /* mappings of an estimate above it are not wanted, in ps; 0: all are */
    int chunks;     /* most of a shard; up to 1: none */
} th_jitter;
double th_jitter_factor(th_jitter j);

/* Uses the plans of an evaluator, which must outlive it. NULL on failure. */
th_initial_generator *th_initial_new(th_evaluator *e, th_error *err);
/* For another thread, with an evaluator that shares with that of g: both use the same kept choices
 * and transition times. It never drops plans that others may be using: where plans exceed their
 * limit its functions fail, and is_full is true. Freed before g. NULL: out of memory. */
th_initial_generator *th_initial_share(th_initial_generator *g, th_evaluator *e, th_error *err);
bool th_initial_is_full(const th_initial_generator *g);
void th_initial_free(th_initial_generator *g); /* accepts NULL */

/* The plans that it uses. */
th_plans *th_initial_plans(const th_initial_generator *g);
typedef struct th_timed_strategy {
    th_strategy strategy;
    th_time time; /* of its own, in ps */
    int order;    /* in the list of strategies.h, for ties */
} th_timed_strategy;
/* The strategies by which a set with its design can run a layer, by ascending time. The set must
 * outlive it. NULL: error. next: 1 with the next one in *out; 0: there is none left; -1: error.
 * narrow: only those that are wanted follow. */
typedef struct th_strategy_ranking th_strategy_ranking;
th_strategy_ranking *th_initial_rank(th_initial_generator *g, const th_set *set, int layer,
                                     bool with_rotations, th_error *err);
int th_ranking_next(th_strategy_ranking *r, th_timed_strategy *out, th_error *err);
void th_ranking_narrow(th_strategy_ranking *r, bool (*is_wanted)(const th_strategy *s));
void th_ranking_free(th_strategy_ranking *r); /* accepts NULL */
/* All of them; *out is the caller's (th_free). Their number, or -1. */
int th_initial_timed_strategies(th_initial_generator *g, const th_set *set, int layer,
                                th_timed_strategy **out, th_error *err);

/* The strategies to choose from for a layer on a set, by ascending time of the layer alone
 * (time[i], in ps), the bytes of parameters that each keeps at its fullest position, and their
 * number (0: the layer cannot run there); NULL: error. Behind them, up to n_states, are those of
 * them with chunks, for dynamic programming alone. Owned by the generator. */
typedef struct th_choices {
    int n, n_states;
    th_strategy *strategy;
    th_time *time;
    th_layer_pace *pace; /* known where there are any with chunks */
    int *plain;          /* from n on: which of the others it is without chunks */
    int64_t *resident_bytes;
} th_choices;
const th_choices *th_initial_choices(th_initial_generator *g, const th_set *set, int layer,
                                     th_error *err);

/* Why a design could not run the first strategy it was given; before there is one, the first layer
 * without any strategy; else "". */
const th_error *th_initial_infeasibility(const th_initial_generator *g);

/* Gives the layers of m on set the strategies of least estimated time, including transitions;
 * layers of the vector unit there follow. Estimates are perturbed by jitter. *estimate: the sum of
 * times. 0; 1 when some layer cannot run there, or the sum is above jitter.enough; -1: error. */
int th_initial_solve(th_initial_generator *g, th_mapping *m, int set, th_jitter jitter,
                     th_time *estimate, th_error *err);

#endif
