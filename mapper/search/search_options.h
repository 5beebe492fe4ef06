/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search_options.h - the options of a search, and the row of a search in the table of searches. */
#ifndef TH_MAPPER_SEARCH_OPTIONS_H
#define TH_MAPPER_SEARCH_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "mapper/mapping.h"
#include "mapper/pool/pool.h"

/* What a search with initial mappings starts from. */
typedef enum {
    TH_INITIAL_DEFAULT,  /* as the search's type has it */
    TH_INITIAL_RANDOM,   /* mappings drawn at random */
    TH_INITIAL_HEURISTIC /* those of variation.h: dynamic programming, uniform splits, a baseline
                          */
} th_initial_kind;

/* Which mappings it may make (space.h). */
typedef enum {
    TH_SPACE_DEFAULT, /* as the search's type has it */
    TH_SPACE_FULL,
    TH_SPACE_BASIC
} th_space;

typedef struct th_search_options {
    uint64_t seed;
    int64_t evaluations;      /* budget; 0: the type's default */
    double seconds;           /* budget of wall time, checked between batches; 0: none */
    int threads;              /* >= 1 */
    const th_pool_type *pool; /* NULL: threads */
    bool sets_inside_groups;  /* a set never spans groups */
    bool keep_late;           /* a best that misses a deadline is no error */
    /* evaluated first, and the first of the initial mappings; checked, not owned; NULL: none */
    const th_mapping *start;
    th_initial_kind initial;
    th_space space;
    int chunks;         /* most chunks of a shard, 1 .. TH_SHARD_CHUNKS_MAX */
    int steps;          /* of h2h: how many of its four; 0: all */
    double lower_bound; /* no mapping's value is less (bounds.h); 0: none is known */
    double stop_gap;    /* >= 0: done when the best is within this share of lower_bound */
    /* A best mapping survives any one failure (survival.h) with at most this loss. Mappings that
     * would become the best are checked; those that fail are infeasible. */
    bool survives;
    double most_loss; /* INFINITY: any */
} th_search_options;
extern const th_search_options th_search_defaults;

typedef struct th_search th_search;

typedef struct th_search_type {
    const char *name; /* two_level random computation_prioritized uniform ... */
    const char *synopsis;
    bool is_baseline;            /* deterministic without a seed; ends by itself */
    int64_t default_evaluations; /* 0: unlimited */
    th_initial_kind initial;     /* never TH_INITIAL_DEFAULT */
    size_t state_size;
    int (*init)(th_search *s, th_error *err);
    /* One batch; sets s->done when nothing is left to do. th_search_iterate checks budgets. */
    int (*iterate)(th_search *s, th_error *err);
    void (*clear)(th_search *s);
    bool finds_front; /* a Pareto front of several objectives */
    th_space space;   /* TH_SPACE_DEFAULT: full */
} th_search_type;

#endif
