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
    /* private but for mapping_read.c */
    bool *is_allowed, *is_forbidden; /* by layer and accelerator */
    bool *is_restricted;             /* by layer: it may use no others */
    th_mapping *partial;             /* NULL: none; layers on set -1 are free */
    bool *has_strategy;              /* by layer of partial */
} th_constraints;

th_constraints *th_constraints_new(const th_system *s, const th_workload *w); /* NULL: no memory */
void th_constraints_free(th_constraints *c);                                  /* accepts NULL */

/* Allows or forbids accelerators to layers whose names match glob patterns. What several calls
 * allow a layer adds up; forbidding overrides allowing. 0; -1: nothing matches. */
int th_constraints_allow(th_constraints *c, const th_system *s, const th_workload *w,
                         const char *layers, const char *accels, th_error *err);
int th_constraints_forbid(th_constraints *c, const th_system *s, const th_workload *w,
                          const char *layers, const char *accels, th_error *err);
/* Refuses a layer without accelerators, and a partial mapping that violates a constraint. */
int th_constraints_validate(const th_constraints *c, const th_system *s, const th_workload *w,
                            th_error *err);

/* Everywhere below c may be NULL: no constraints. */

bool th_constraints_allows(const th_constraints *c, int layer, int32_t accel);
/* Every member may, and if the partial mapping puts the layer on a set it is this one. */
bool th_constraints_allows_set(const th_constraints *c, int layer, const th_set *set);
/* Does the partial mapping put the layer on a set? */
bool th_constraints_fixes_layer(const th_constraints *c, int layer);
/* Sets of the partial mapping. */
int32_t th_constraints_n_sets(const th_constraints *c);
/* Is the accelerator a member of one of them? */
bool th_constraints_fixes_accel(const th_constraints *c, int32_t accel);
/* That of them with the same members in the same order; NULL: none. */
const th_set *th_constraints_fixed_set(const th_constraints *c, const th_set *set);
/* What the partial mapping gives the layer; NULL: it is free. */
const th_strategy *th_constraints_fixed_strategy(const th_constraints *c, int layer);

uint64_t th_constraints_digest(const th_constraints *c); /* equal for equal ones; 0: none */

/* 0, or -1 with the violated constraint. */
int th_constraints_check(const th_constraints *c, const th_mapping *m, const th_system *s,
                         const th_workload *w, th_error *err);
/* Applies the partial mapping to m, as far as m has its sets. batch: images that a strategy may
 * split. 0, or -1: memory is out. */
int th_constraints_apply(const th_constraints *c, th_mapping *m, const th_workload *w,
                         int32_t batch);

#endif
