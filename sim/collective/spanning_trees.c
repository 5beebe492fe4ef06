/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spanning_trees.c - broadcast, reduce and all_reduce along spanning trees of the cables between the
 * ranks (tree_packing.h), of which each has an equal part of the data.
 *
 * Every rank gets (gives) each part over another cable, so a broadcast along t trees takes a t-th of
 * the time. With k chunks per tree, d cables to the deepest rank, no cable in two trees, S bytes,
 * links of bandwidth bw and latency L:
 *   broadcast, reduce   (d + k - 1) (L + S / (t k bw))
 *   all_reduce          (2 d + k - 1) (L + S / (t k bw))
 * On a torus of n axes t = 2 n, on a hypercube n, on a fully connected group one less than ranks,
 * where that is a scatter and an all_gather at once. all_reduce: about cables / (ranks - 1). Where
 * trees share a cable, they share its bandwidth. */
#include <config.h>

#include "sim/collective/algorithms.h"
#include "sim/collective/tree_packing.h"

static int prepare(th_collective_schedule *cs, th_error *err)
{
    return th_tree_packing_init(cs, err) ? -1 : th_trees_prepare(cs, err);
}

const th_algorithm th_algorithm_spanning_trees = {
    .name = "spanning_trees",
    .synopsis = "along spanning trees of the cables between the ranks, as disjoint as can be",
    .kinds = 1u << TH_ALL_REDUCE | 1u << TH_BROADCAST | 1u << TH_REDUCE,
    .prepare = prepare,
    .get_step = th_trees_get_step,
};
