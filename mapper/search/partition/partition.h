/* SPDX-License-Identifier: GPL-3.0-or-later */
/* partition.h - the partitioning of a mapping: sets, designs, and the layers of each set.
 *   init -> (designs_init -> (next | draw)*, mapping)* -> clear
 * Another thread may use a copy whose generator is a shared one (initial_mapping.h); the copy is
 * not cleared. */
#ifndef TH_MAPPER_SEARCH_PARTITION_PARTITION_H
#define TH_MAPPER_SEARCH_PARTITION_PARTITION_H
#include "base/shared_map.h"
#include "mapper/search/initial/initial_mapping.h"
#include "mapper/search/partition/sets.h"

enum {
    TH_PARTITION_SETS_MAX = 64,
    TH_PARTITION_DESIGNS_MAX = 8 /* of a set: the fastest are kept */
};

/* How a partition gets its layers. A layer that its set cannot run goes to the one that runs it
 * fastest. */
typedef enum {
    TH_ASSIGN_RANGES,          /* contiguous in an order of whole branches, near-equal times */
    TH_ASSIGN_EARLIEST_FINISH, /* list scheduling: where a layer ends earliest */
    TH_ASSIGN_UNEVEN,          /* the second set has all that it can run */
    TH_ASSIGN_BRANCHES /* branches to all sets but the first, what joins them to the first */
} th_layer_assignment;

/* A partition of the system: nodes of the tree that do not overlap, those of the partial mapping
 * first; with TH_ASSIGN_BRANCHES the root, and nodes that part it, all with the root's design. */
typedef struct th_partition {
    int32_t n;
    int32_t node[TH_PARTITION_SETS_MAX];
    th_layer_assignment assignment;
    int32_t block; /* members of a node are interleaved in such blocks where they can (sets.h); 0:
                      none are */
    bool equal_shares;    /* of members of several kinds too */
    int32_t first_branch; /* of the branches by falling work, the one that is placed first */
} th_partition;

/* What a set of accelerators can do with a design. */
typedef struct th_capability {
    struct th_capability *next; /* list of all */
    th_time *time; /* by layer: its own least time; TH_TIME_MAX: none; 0 off the array */
    /* in proportion to speed, over all layers that each member can run; NULL: equal */
    int32_t *shares;
} th_capability;

/* Shared by all copies of a partitioner. */
typedef struct th_capability_cache {
    th_shared_map *by_key;
    _Atomic(th_capability *) all;
} th_capability_cache;

typedef struct th_partitioner {
    const th_problem *problem;
    th_initial_generator *generator;
    th_set_tree tree; /* behind it, further sets: of accelerators that can run the same layers */
    int32_t n_places; /* the first nodes: those that ranges of layers may move to */
    bool inside_groups;
    int32_t first_given,
        n_given; /* nodes: the sets of the partial mapping, part of every partition */
    /* the first layer that none of the accelerators it may use can run alone */
    th_error infeasibility;
    th_partition *partitions; /* candidates, coarse ones first */
    size_t n, capacity;
    int32_t *kind_of; /* by accelerator: the first one of the same kind */
    int32_t *leaf_of; /* by accelerator: its node */
    /* by layer: the branch of the network; -1 behind the meeting of branches */
    int32_t *branch_of;
    int32_t n_branches;
    int32_t *order; /* the layers, branch by branch */
    th_capability_cache *capabilities;
} th_partitioner;

/* All candidate partitions: one set of every size in the tree, and of others that leave some equal
 * accelerators idle; every frontier of the tree; where a layer cannot be split over a set, one
 * accelerator beside it; for heterogeneous accelerators those of heterogeneous_sets.c; last, those
 * with sets of several kinds once more, with equal shares. With inside_groups no set spans groups.
 * The generator and the problem must outlive it. 0 or -1 (clear all the same). */
int th_partitioner_init(th_partitioner *pr, th_initial_generator *s, const th_problem *p,
                        bool inside_groups, th_error *err);
void th_partitioner_clear(th_partitioner *pr);
/* Where branches of the network meet, adds candidates whose branches run side by side on subsets of
 * the accelerators, and what follows on all. 0, or -1: out of memory. */
int th_partitioner_add_branches(th_partitioner *pr);

/* Are there several kinds of accelerators? Those of one kind can take the same designs and have
 * equal memories and vector units. plans: of the system. */
bool th_has_several_kinds(const th_plans *plans, const th_system *s);
bool th_partitioner_has_several_kinds(const th_partitioner *pr);

/* The designs that the sets of a partition can have: one that all members can take, or, where there
 * is none, each its own. Fast ones for the layers that the set would run come first. */
typedef struct th_design_vectors {
    int32_t n, n_of[TH_PARTITION_SETS_MAX], of[TH_PARTITION_SETS_MAX][TH_PARTITION_DESIGNS_MAX];
    /* private: which come next */
    int32_t digit[TH_PARTITION_SETS_MAX], sum, uniform;
} th_design_vectors;

int th_design_vectors_init(th_design_vectors *d, th_partitioner *pr, const th_partition *p,
                           th_error *err);
/* The next vector into design[i] of set i: the fastest of every set; one design for all; then the
 * others, those that depart from the fastest by fewer ranks first. False, and design
 * unchanged: there is none left. */
bool th_design_vectors_next(th_design_vectors *d, int32_t *design);
void th_design_vectors_draw(const th_design_vectors *d, gsl_rng *r,
                            int32_t *design); /* all equally likely */

/* A mapping with these sets and designs (design[i] of set i), shares as the partition says, layers
 * as its way has it (times perturbed by jitter), strategies by dynamic programming. *out NULL when
 * some layer cannot run anywhere. 0 or -1. */
int th_partitioner_mapping(th_partitioner *pr, const th_partition *p, const int32_t *design,
                           th_jitter jitter, th_mapping **out, th_error *err);

/* New shares for the layers that the set of m runs now: in proportion to speed where its members
 * are heterogeneous, else none. 0 or -1. */
int th_partitioner_set_shares(th_partitioner *pr, th_mapping *m, int set, th_error *err);

#endif
