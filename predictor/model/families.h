/* SPDX-License-Identifier: GPL-3.0-or-later */
/* families.h - families of operations: those that differ in numbers of tokens alone.
 *
 * What is measured of a network's operators are many rows of few families (weights of a size, rows
 * of a width and function, heads), so rows held out at random tell little of the errors on another
 * network; families held out whole do.
 *   th_families_add ... -> th_families_find ... -> th_families_clear */
#ifndef TH_PREDICTOR_MODEL_FAMILIES_H
#define TH_PREDICTOR_MODEL_FAMILIES_H
#include <stddef.h>

#include "predictor/op/op.h"

enum { TH_FAMILIES_MAX = 1024 };

typedef struct th_families {
    uint64_t *of; /* ascending */
    int n;
    size_t capacity;
} th_families;

/* A digest of the kind and of all numbers but batch, rows, keys and precision. */
uint64_t th_family_of(const th_op *op);
/* Adds one that may be there already; n becomes TH_FAMILIES_MAX + 1 at most. 0, or -1: memory is
 * out. */
int th_families_add(th_families *f, uint64_t family);
/* The place of one; -1: it is not there. */
int th_families_find(const th_families *f, uint64_t family);
void th_families_clear(th_families *f);

#endif
