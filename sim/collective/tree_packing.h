/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_packing.h - spanning trees of the cables between the ranks of a group that together use the
 * cables as well as they can: each tree has an equal part of the data. */
#ifndef TH_SIM_COLLECTIVE_TREE_PACKING_H
#define TH_SIM_COLLECTIVE_TREE_PACKING_H
#include "sim/collective/trees.h"

/* Makes them cs->data (trees.h). For the kind of cs: broadcast, reduce: from (to) the root, no two
 * trees use one direction of a cable, and they are as many as possible; all_reduce: along both
 * directions. Kept as cs->kept says. 0, or -1: COLL-0207 (the cables do not connect the ranks),
 * COLL-0208 (they are too many), or memory is out. */
int th_tree_packing_init(th_collective_schedule *cs, th_error *err);

#endif
