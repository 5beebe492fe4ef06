/* SPDX-License-Identifier: GPL-3.0-or-later */
/* algorithms.h - the rows of the table of collective algorithms; each family is one file. */
#ifndef TH_SIM_COLLECTIVE_ALGORITHMS_H
#define TH_SIM_COLLECTIVE_ALGORITHMS_H
#include "sim/collective/collective.h"

extern const th_algorithm th_algorithm_ring;
extern const th_algorithm th_algorithm_ring_bidirectional;
extern const th_algorithm th_algorithm_direct;
extern const th_algorithm th_algorithm_pairwise;
extern const th_algorithm th_algorithm_halving_doubling;
extern const th_algorithm th_algorithm_binomial;
extern const th_algorithm th_algorithm_double_binary_tree;
extern const th_algorithm th_algorithm_bruck;
extern const th_algorithm th_algorithm_hierarchical;
extern const th_algorithm th_algorithm_multi_axis;
extern const th_algorithm th_algorithm_spanning_trees;
/* Are the ranks all nodes of the system's shape, in order? Then its dimensions are theirs. */
bool th_collective_is_whole_shape(const th_collective *c, const th_system *s);
extern const th_algorithm th_algorithm_in_switch;
extern const th_algorithm th_algorithm_topology_ring;
extern const th_algorithm th_algorithm_topology_tree;
/* Of TH_USER_SCHEDULE only; not in the table. */
extern const th_algorithm th_algorithm_schedule;

#endif
