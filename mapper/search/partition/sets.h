/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sets.h - which accelerators can form a set: the system graph without its slowest links. */
#ifndef TH_MAPPER_SEARCH_PARTITION_SETS_H
#define TH_MAPPER_SEARCH_PARTITION_SETS_H
#include "mapper/mapping.h"

/* A tree of candidate sets: the root holds all accelerators; children part their parent along its
 * weakest links, or, where all links are alike, in two halves by number. Leaves are single
 * accelerators. */
typedef struct th_set_node {
    int32_t *accels;
    int32_t n;
    int32_t parent;                  /* -1: root */
    int32_t first_child, n_children; /* children are adjacent */
    bool spans_groups;
    bool is_split_by_links; /* links between children are slower than links inside them */
} th_set_node;

typedef struct th_set_tree {
    th_set_node *node;
    size_t n, capacity;
} th_set_tree;

/* Of all accelerators but those that are taken already (by number; NULL: none is). -1: out of
 * memory; clear all the same. */
int th_set_tree_init(th_set_tree *t, const th_system *s, const bool *is_taken);
/* A set beside the tree, without parent and children. Its node, or -1: out of memory. */
int32_t th_set_tree_add(th_set_tree *t, const th_system *s, const int32_t *accels, int32_t n);
void th_set_tree_clear(th_set_tree *t);

/* Can the members of a node be interleaved in blocks of equal size, taken from its children in
 * turn? Its children are as large as one another, larger than a block, and parted by slow links.
 */
bool th_set_tree_can_interleave(const th_set_tree *t, int32_t node, int32_t block);
/* The members of a node into accels, interleaved in blocks (0, or where that cannot be: as they
 * are). Of a mixed radix of splits the last digit then goes across the slow links, not the first.
 */
void th_set_tree_interleave(const th_set_tree *t, int32_t node, int32_t block, int32_t *accels);
/* The orders in which n accelerators may take the positions of one set: as given, then interleaved
 * in blocks of every size that can be. *out: the orders one after another, n accelerators each, by
 * number; the caller's (th_free). Their number, or -1: out of memory. */
int32_t th_set_orders(const th_system *s, const int32_t *accels, int32_t n, int32_t **out);

/* A mapping with one set per group of the system (two halves where there is one group of several).
 * Designs and layers are left at 0. NULL: out of memory. */
th_mapping *th_sets_by_group(const th_system *s, int n_layers);
/* Accelerators in the group of accelerator 0. */
int32_t th_sets_first_group_size(const th_system *s);

#endif
