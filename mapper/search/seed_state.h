/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seed_state.h - private to the dynamic programme: what it has looked up, and chooses from. */
#ifndef TH_MAPPER_SEED_STATE_H
#define TH_MAPPER_SEED_STATE_H
#include "base/map.h"
#include "mapper/search/seed.h"

struct th_seeder {
    th_evaluator *evaluator;
    th_pool *pool; /* NULL: works alone */
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

/* Parts of what is made when it is first asked for, for filling memos in other threads (seed_warm.c): with a
 * copy of the seeder that has their plans, what comes of them is of no interest. They forget no plans. */
int th_seed_time_all(th_seeder *s, const th_set *set, int layer, th_timed **out, th_error *err);
int th_seed_fill_matrix(th_seeder *s, const th_set *set, const th_seed_path *p, int layer,
                        const th_choices *from, const th_choices *to, th_time *matrix,
                        th_error *err);
/* What is known by now; -1: memory is out. */
int th_seed_knows_choices(th_seeder *s, const th_set *set, int layer, th_error *err);
int th_seed_knows_matrix(th_seeder *s, const th_set *set, const th_seed_path *p, int layer,
                         th_error *err);

#endif
