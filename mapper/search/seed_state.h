/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seed_state.h - private to the dynamic programme: what it has looked up, and chooses from. */
#ifndef TH_MAPPER_SEED_STATE_H
#define TH_MAPPER_SEED_STATE_H
#include "base/map.h"
#include "mapper/search/seed.h"

struct th_seeder {
    th_evaluator *evaluator;
    th_plans *plans;
    const th_workload *workload;
    const th_constraints *constraints;
    int32_t batch;
    th_map *choice_numbers, *matrix_numbers;
    th_choices **choices;
    size_t n_choices, choice_capacity;
    th_time **matrices; /* transition times, row-major by (ancestor's choice, own choice) */
    size_t n_matrices, matrix_capacity;
    th_error misfit; /* the first of a design; before there is one, the first of a split */
    bool misfit_is_of_design;
};

enum { TH_SEED_PATH_MAX = 8 };

/* From an ancestor to a layer, over the layers of the vector unit between them. */
typedef struct th_seed_path {
    int ancestor; /* -1: the external input, or another set */
    bool is_external;
    int n;
    int between[TH_SEED_PATH_MAX]; /* in order of computation */
} th_seed_path;

th_seed_path th_seed_path_to(const th_seeder *s, const th_mapping *m, int layer);
/* Time of transition by (ancestor's choice, own choice); the seeder's. NULL: error. */
const th_time *th_seed_matrix(th_seeder *s, const th_set *set, const th_seed_path *p, int layer,
                              th_error *err);

#endif
