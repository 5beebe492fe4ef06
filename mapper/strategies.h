/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strategies.h - lists the strategies that a layer can run, and finds the one nearest to a given
 * strategy. */
#ifndef TH_MAPPER_STRATEGIES_H
#define TH_MAPPER_STRATEGIES_H
#include "mapper/mapping.h"

/* All strategies over B, K, C, H, W by which n positions can run layer l, with and without
 * rotation, in a fixed order; *list is the caller's (th_free). Returns their number, or -1: memory
 * is out. Kernels are not split here: R and S are small, and a split of C does the same with less
 * halo. */
int th_strategies_list(const th_layer *l, int32_t batch, int n, th_strategy **list);

/* The same, and behind them those with copies: if any, with every number of them; else, and only if
 * there is no strategy without, with the fewest. */
int th_strategies_list_copied(const th_layer *l, int32_t batch, int n, bool any,
                              th_strategy **list);

/* All without copies, with kernels split too. */
int th_strategies_list_all(const th_layer *l, int32_t batch, int n, th_strategy **list);

/* The same, and if wanted with every number of copies. */
int th_strategies_list_full(const th_layer *l, int32_t batch, int n, bool copies,
                            th_strategy **list);

/* Changes *s to the nearest strategy that the layer can run: factors of dimensions that cannot take
 * them move to the dimensions with most elements per piece, and become copies where none can be cut
 * further. *s keeps its rotation or its chunks if they still fit. */
bool th_strategy_repair(th_strategy *s, const th_layer *l, int32_t batch, int n);

/* For layers of the vector unit: split and chunks of the producer, so that almost no data move.
 * producer may be NULL. */
bool th_strategy_follow(th_strategy *s, const th_layer *l, int32_t batch, int n,
                        const th_strategy *producer);

/* n split into two near-equal factors over the two longest of dims (a 0-ended list, ties to the
 * earlier), extents of 1 skipped. */
bool th_strategy_longest(th_strategy *s, const th_layer *l, int32_t batch, int n,
                         const th_dim *dims, int n_dims);

/* May the layer have any strategy? True of layers of the array, and of those of the vector unit
 * that have one of their own or read nothing from their own set, as the first of a network; the
 * others follow. */
bool th_mapping_is_free(const th_mapping *m, const th_workload *w, int layer);

/* Gives every layer of the vector unit in the mapping the strategy that follows its first producer
 * on the same set; where it has one of its own (m->own) or there is no producer, the one nearest to
 * what it has. One that is what following gives is no longer its own. False if a layer cannot run
 * on its set. */
bool th_mapping_follow(th_mapping *m, const th_workload *w, int32_t batch);
bool th_mapping_follow_one(th_mapping *m, const th_workload *w, int32_t batch, int layer);
/* Which layers of a mapping that was given have strategies of their own. */
void th_mapping_find_own(th_mapping *m, const th_workload *w, int32_t batch);

#endif
