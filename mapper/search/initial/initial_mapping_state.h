/* SPDX-License-Identifier: GPL-3.0-or-later */
/* initial_mapping_state.h - private to dynamic programming: kept choices and transition times. */
#ifndef TH_MAPPER_SEARCH_INITIAL_INITIAL_MAPPING_STATE_H
#define TH_MAPPER_SEARCH_INITIAL_INITIAL_MAPPING_STATE_H
#include <pthread.h>
#include <stdatomic.h>

#include "base/shared_map.h"
#include "mapper/search/initial/initial_mapping.h"

/* Kept by all generators that share it. The lock protects additions to the arrays, which own
 * everything that is to be freed, and rows of matrices while they are filled. */
typedef struct th_initial_cache {
    th_shared_map *choices_by_key, *matrices_by_key;
    pthread_mutex_t lock;
    th_choices **choices;
    size_t n_choices, choice_capacity;
    struct th_transition_matrix **matrices;
    size_t n_matrices, matrix_capacity;
} th_initial_cache;

struct th_initial_generator {
    th_evaluator *evaluator;
    th_plans *plans;
    const th_workload *workload;
    const th_constraints *constraints;
    int32_t batch;
    int chunks; /* of the mapping that is being solved (th_jitter); else 0 */
    th_initial_cache *cache;
    bool shares,
        /* it shares the cache of another generator; plans exceed their limit, which it may not
         * enforce */
        is_full;
    th_error infeasibility; /* the first of a design; before there is one, the first of a split */
    bool infeasibility_is_of_design;
    bool without_copies; /* of layers */
};

enum { TH_INITIAL_PATH_MAX = 8 };

/* From an ancestor to a layer, over the layers of the vector unit between them. */
typedef struct th_initial_path {
    int ancestor; /* -1: the external input, or another set */
    bool is_external;
    int n;
    int between[TH_INITIAL_PATH_MAX]; /* in order of computation */
} th_initial_path;

/* --- initial_mapping.c --- */

void th_choices_free(th_choices *c);
/* The time of a layer alone, in *pace (may be NULL) in its parts; TH_TIME_MAX: the design cannot
 * run it so. -1: error. */
th_time th_initial_layer_time(th_initial_generator *g, const th_set *set, int layer,
                              const th_strategy *strategy, th_layer_pace *pace, th_error *err);
/* On a set of one, which needs no split, the design is the reason that a layer cannot run. */
void th_initial_note_infeasibility(th_initial_generator *g, const th_error *reason,
                                   bool is_of_design);
/* Layers of one shape have the same choices, but for those whose strategy is given: the layer
 * itself; else -1. */
int32_t th_initial_given(const th_initial_generator *g, int layer);
/* Drops plans where there are too many. 0, or -1: it may not. */
int th_initial_trim_plans(th_initial_generator *g);

/* --- transition.c --- */

th_initial_path th_initial_path_to(const th_initial_generator *g, const th_mapping *m, int layer);
typedef struct th_transition_matrix th_transition_matrix;
/* Times of transition by (ancestor's choice, own choice), initially all unknown; owned by the
 * generator. NULL: error. */
th_transition_matrix *th_transition_matrix_of(th_initial_generator *g, const th_set *set,
                                              const th_initial_path *p, int layer, th_error *err);
void th_transition_matrix_free(th_transition_matrix *m);
/* The times after a choice of the ancestor, by own choice; negative: unknown. Other threads may be
 * writing them. */
typedef _Atomic th_time th_cached_time;
const th_cached_time *th_transition_row(const th_transition_matrix *m, int from);
/* The transition to a layer of a set over a path, whose matrix it is. */
typedef struct th_transition {
    const th_set *set;
    const th_initial_path *path;
    int layer;
    th_transition_matrix *matrix;
} th_transition;
/* The time from a choice of the ancestor to a choice of the layer; a time above `enough` may be any
 * lower bound that is above it. -1: error. Drops no plans. */
th_time th_transition_time(th_initial_generator *g, const th_transition *t, int from, int to,
                           th_time enough, th_error *err);
/* A lower bound of that time, which is computed without looking at all positions. -1: error. */
th_time th_transition_bound(th_initial_generator *g, const th_transition *t, int from, int to,
                            th_error *err);

#endif
