/* SPDX-License-Identifier: GPL-3.0-or-later */
/* constraints.h - constraints on mappings: the accelerators that a layer may use, and a partial
 * mapping to be completed.
 *   new -> (allow | forbid | th_mapping_read_partial)* -> validate -> (allows | check | apply ...)*
 *   -> free
 * After validate, constraints do not change. */
#ifndef TH_MAPPER_CONSTRAINTS_H
#define TH_MAPPER_CONSTRAINTS_H
#include "mapper/mapping.h"

enum { TH_DESIGN_ANY = -2 }; /* of a set of a partial mapping: left to the search */

typedef struct th_constraints {
    int32_t n_layers, n_accels;
    /* private except for mapping_read.c */
    bool *is_allowed, *is_forbidden; /* by layer and accelerator */
    bool *is_restricted;             /* by layer: only allowed accelerators may run it */
    th_mapping *partial;             /* NULL: none; layers on set -1 are free */
    bool *has_strategy;              /* by layer of partial */
} th_constraints;

th_constraints *th_constraints_new(const th_system *s, const th_workload *w); /* NULL: no memory */
void th_constraints_free(th_constraints *c);                                  /* accepts NULL */

/* Allows or forbids accelerators to the layers whose names match glob patterns. Several calls that
 * allow add up; forbidding overrides allowing. 0, or -1: no layer or accelerator matches. */
int th_constraints_allow(th_constraints *c, const th_system *s, const th_workload *w,
                         const char *layers, const char *accels, th_error *err);
int th_constraints_forbid(th_constraints *c, const th_system *s, const th_workload *w,
                          const char *layers, const char *accels, th_error *err);
/* Fails if a layer has no accelerator left, or if the partial mapping violates a constraint. */
int th_constraints_validate(const th_constraints *c, const th_system *s, const th_workload *w,
                            th_error *err);

/* In all functions below, c may be NULL: no constraints. */

bool th_constraints_allows(const th_constraints *c, int layer, int32_t accel);
/* True if every member may run the layer and, if the partial mapping puts the layer on a set, it is
 * this set. */
bool th_constraints_allows_set(const th_constraints *c, int layer, const th_set *set);
/* True if the partial mapping puts the layer on a set. */
bool th_constraints_fixes_layer(const th_constraints *c, int layer);
/* Sets of the partial mapping. */
int32_t th_constraints_n_sets(const th_constraints *c);
/* True if the accelerator is a member of one of these sets. */
bool th_constraints_fixes_accel(const th_constraints *c, int32_t accel);
/* The set of the partial mapping with the same members in the same order; NULL: none. */
const th_set *th_constraints_fixed_set(const th_constraints *c, const th_set *set);
/* The strategy of the layer in the partial mapping; NULL: not given. */
const th_strategy *th_constraints_fixed_strategy(const th_constraints *c, int layer);

/* 0, or -1 with the violated constraint in err. */
int th_constraints_check(const th_constraints *c, const th_mapping *m, const th_system *s,
                         const th_workload *w, th_error *err);
/* Applies the partial mapping to m, for those of its sets that m has. batch: images that a strategy
 * may split. 0, or -1: memory is out. */
int th_constraints_apply(const th_constraints *c, th_mapping *m, const th_workload *w,
                         int32_t batch);

#endif
