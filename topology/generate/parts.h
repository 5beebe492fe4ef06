/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parts.h - functions shared by the generators, and their rows; private to generate*.c. Functions
 * return 0 (or the new node), or -1 with err filled. */
#ifndef TH_TOPOLOGY_GENERATE_PARTS_H
#define TH_TOPOLOGY_GENERATE_PARTS_H
#include "topology/generate/generate.h"

extern const th_topology_type th_topology_line, th_topology_ring, th_topology_mesh,
    th_topology_torus, th_topology_hypercube, th_topology_fully_connected, th_topology_star,
    th_topology_switch, th_topology_composition;                          /* generate/dims.c */
extern const th_topology_type th_topology_tree, th_topology_fattree;      /* generate/tree.c */
extern const th_topology_type th_topology_dragonfly;                      /* generate/dragonfly.c */
extern const th_topology_type th_topology_pcie_tree, th_topology_islands; /* generate/hosts.c */
extern const th_topology_type th_topology_rails;                          /* generate/rails.c */

/* n accelerators "0", "1" ...; the system has none yet. */
int th_generate_accels(th_system *s, int64_t n, th_error *err);
int th_generate_too_many(const th_system *s, th_error *err);
/* A switch called sMAJOR.MINOR. Returns its node. */
int th_generate_switch(th_system *s, int major, int minor, th_error *err);
/* A cable of kind number cable between nodes a and b. */
int th_generate_join(th_system *s, const th_topology_options *o, int cable, int a, int b,
                     th_error *err);
/* The cables from n nodes, step apart, to one that is above them (-1: it could not be added). */
typedef struct th_fan {
    int first, step, n;
    int node;
    int cable;
} th_fan;

int th_generate_fan(th_system *s, const th_topology_options *o, th_fan f, th_error *err);
/* A cable between any two of n nodes from first on. */
int th_generate_clique(th_system *s, const th_topology_options *o, th_fan f, th_error *err);
/* Puts a node, or -1, into its tree: its level, and the leaves below it. Returns node. */
int th_generate_place(th_system *s, int node, int level, int leaf_first, int n_leaves);
/* base to the power of exponent, or some number above TH_MAX_ACCELS when it is larger. */
int64_t th_generate_power(int base, int exponent);

/* Levels of switches above leaves, which are nodes of their own; generate/tree.c has the
 * equations. */
typedef struct th_tree {
    int arity, n_levels;
    int n_up;                  /* links up from a switch */
    int first_leaf;            /* node; the other leaves follow */
    int leaf_span;             /* accelerators that a leaf stands for */
    int first_level;           /* th_node.level of the lowest switches */
    int first_cable, n_cables; /* kinds of cable, from the leaves up; the last one also above */
} th_tree;

int th_generate_tree(th_system *s, const th_topology_options *o, const th_tree *t, th_error *err);
/* The accelerators, all nodes so far, become leaves 0, 1 ..., in groups. */
void th_generate_leaves(th_system *s, int leaves_per_group);
/* arity / oversubscription, or -1 when that is no whole number. */
int th_generate_up_links(const th_system *s, const th_topology_options *o, int arity,
                         th_error *err);

/* For the rows: the same cable everywhere; one kind for each dimension. */
int th_generate_one_cable(const th_topology_options *o);
int th_generate_cable_per_dim(const th_topology_options *o);

#endif
