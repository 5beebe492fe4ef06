/* SPDX-License-Identifier: GPL-3.0-or-later */
/* level1.h - the upper level of a mapping: sets, designs, and which layers each set runs. */
#ifndef TH_MAPPER_LEVEL1_H
#define TH_MAPPER_LEVEL1_H
#include "mapper/seed.h"
#include "mapper/sets.h"

enum { TH_LEVEL1_SETS_MAX = 16 };

/* A partition of the system: nodes of the tree that do not overlap. */
typedef struct th_partition {
    int32_t n;
    int32_t node[TH_LEVEL1_SETS_MAX];
    bool is_uneven; /* one accelerator, for layers that cannot be split over the set after it */
} th_partition;

typedef struct th_level1 {
    const th_problem *problem;
    th_set_tree tree;
    th_partition *partitions; /* candidates, coarse ones first */
    size_t n, capacity;
} th_level1;

/* All candidate partitions: one set of every size in the tree, every frontier of the tree, and where
 * a layer cannot be split over a set, one accelerator beside it. With inside_groups no set spans
 * groups. 0, or -1: memory is out (clear all the same). */
int th_level1_init(th_level1 *l, const th_problem *p, bool inside_groups);
void th_level1_clear(th_level1 *l);

/* A mapping with these sets and designs (design[i] of set i), the layers given to the sets in
 * contiguous ranges of near-equal estimated time (of an uneven partition, to the second set what it
 * can run); strategies by the dynamic programme. *out NULL when some layer cannot run where it
 * falls. 0 or -1. */
int th_level1_mapping(const th_level1 *l, th_seeder *s, const th_partition *p,
                      const int32_t *design, double jitter, gsl_rng *r, th_mapping **out,
                      th_error *err);

/* The next vector of designs that the sets of p can take, counting up from all -1 (first call);
 * false when there is none left. */
bool th_level1_next_designs(const th_level1 *l, const th_partition *p, int32_t *design);

#endif
