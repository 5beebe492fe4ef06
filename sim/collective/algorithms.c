/* SPDX-License-Identifier: GPL-3.0-or-later */
/* algorithms.c - the table of algorithms of collectives. */
#include <config.h>

#include "sim/collective/algorithms.h"

#include <string.h>

const th_algorithm *const th_algorithms[] = {
    &th_algorithm_ring,
    &th_algorithm_ring_bidirectional,
    &th_algorithm_direct,
    &th_algorithm_pairwise,
    &th_algorithm_halving_doubling,
    &th_algorithm_binomial,
    &th_algorithm_double_binary_tree,
    &th_algorithm_bruck,
    &th_algorithm_hierarchical,
    &th_algorithm_in_switch,
    &th_algorithm_topology_ring,
    &th_algorithm_topology_tree,
    &th_algorithm_multi_axis,
    &th_algorithm_spanning_trees,
    NULL,
};

const th_algorithm *th_algorithm_find(const char *name)
{
    for (int i = 0; th_algorithms[i]; i++)
        if (strcmp(th_algorithms[i]->name, name) == 0)
            return th_algorithms[i];
    return NULL;
}
