/* SPDX-License-Identifier: GPL-3.0-or-later */
/* candidates.c - the list of candidate partitions: which ones are added to it. */
#include <config.h>

#include <string.h>

#include "base/alloc.h"
#include "base/min_max.h"
#include "mapper/search/partition/partition_state.h"

static bool has_own_designs(const th_partitioner *pr, const th_set_node *node)
{
    const th_system *s = pr->problem->system;
    bool all = true;
    for (int i = 0; i < node->n; i++)
        all &= s->nodes[s->accel_node[node->accels[i]]].a.n_designs > 0;
    return all;
}

bool th_partitioner_can_be_set(const th_partitioner *pr, int32_t node)
{
    if (pr->inside_groups && pr->tree.node[node].spans_groups)
        return false;
    return pr->tree.node[node].n > 0 && has_own_designs(pr, &pr->tree.node[node]);
}

static bool is_known(const th_partitioner *pr, const th_partition *p)
{
    for (size_t i = 0; i < pr->n; i++)
        if (pr->partitions[i].n == p->n && pr->partitions[i].assignment == p->assignment &&
            pr->partitions[i].block == p->block &&
            pr->partitions[i].equal_shares == p->equal_shares &&
            pr->partitions[i].first_branch == p->first_branch &&
            memcmp(pr->partitions[i].node, p->node, (size_t)p->n * sizeof *p->node) == 0)
            return true;
    return false;
}

/* The same sets with their members interleaved in blocks, wherever one of them can be: which links
 * neighbouring shards communicate over is as much a choice as the sets themselves. */
static int add_interleaved(th_partitioner *pr, const th_partition *p)
{
    for (int32_t block = 1; p->block == 0 && block < pr->problem->system->n_accels; block++) {
        th_partition interleaved = *p;
        bool can = false;
        for (int32_t i = 0; i < p->n; i++)
            can |= th_set_tree_can_interleave(&pr->tree, p->node[i], block);
        interleaved.block = block;
        if (can && th_partitioner_add(pr, &interleaved))
            return -1;
    }
    return 0;
}

int th_partitioner_add(th_partitioner *pr, const th_partition *p)
{
    th_partition with = {.n = pr->n_given,
                         .assignment = p->assignment,
                         .block = p->block,
                         .equal_shares = p->equal_shares,
                         .first_branch = p->first_branch};
    for (int32_t i = 0; i < p->n; i++)
        if (!th_partitioner_can_be_set(pr, p->node[i]))
            return 0;
    bool is_idle = p->assignment == TH_ASSIGN_RANGES && p->n > pr->problem->workload->n_layers;
    if (is_idle || p->n + pr->n_given > TH_PARTITION_SETS_MAX)
        return 0;
    for (int32_t i = 0; i < pr->n_given; i++)
        with.node[i] = pr->first_given + i;
    for (int32_t i = 0; i < p->n; i++)
        with.node[with.n++] = p->node[i];
    if (with.n == 0 || is_known(pr, &with))
        return 0;
    if (th_grow(&pr->partitions, &pr->capacity, pr->n + 1, sizeof *pr->partitions))
        return -1;
    pr->partitions[pr->n++] = with;
    return add_interleaved(pr, p);
}

int th_partitioner_add_equal_shares(th_partitioner *pr)
{
    size_t n = pr->n;
    for (size_t i = 0; i < n; i++) {
        th_partition equal = pr->partitions[i];
        bool differs = false;
        equal.equal_shares = true;
        equal.n -= pr->n_given; /* they are put before it again */
        memmove(equal.node, equal.node + pr->n_given, sizeof *equal.node * (size_t)equal.n);
        for (int32_t k = 0; k < equal.n; k++) {
            const th_set_node *node = &pr->tree.node[equal.node[k]];
            differs |= th_partitioner_is_heterogeneous(pr, node->accels, node->n);
        }
        if (differs && th_partitioner_add(pr, &equal))
            return -1;
    }
    return 0;
}

/* --- branches side by side --- */

enum { FIRST_BRANCHES = 3, BRANCH_SETS_MAX = 16 };

static bool branches_meet(const th_partitioner *pr)
{
    bool meet = false;
    for (int l = 0; l < pr->problem->workload->n_layers; l++)
        meet |= pr->branch_of[l] < 0;
    return meet && pr->n_branches > 1;
}

/* The children of the largest node but the first of the partition in its place, the first of equal
 * ones. False: none has children, or there would be too many. */
static bool part_largest(const th_partitioner *pr, th_partition *p)
{
    int32_t at = 0;
    for (int32_t i = 1; i < p->n; i++) {
        const th_set_node *node = &pr->tree.node[p->node[i]];
        if (node->n_children > 0 && (at == 0 || node->n > pr->tree.node[p->node[at]].n))
            at = i;
    }
    const th_set_node *parted = &pr->tree.node[p->node[at]];
    if (at == 0 || p->n - 1 + parted->n_children > BRANCH_SETS_MAX)
        return false;
    memmove(&p->node[at + parted->n_children], &p->node[at + 1],
            (size_t)(p->n - at - 1) * sizeof *p->node);
    for (int32_t c = 0; c < parted->n_children; c++)
        p->node[at + c] = parted->first_child + c;
    p->n += parted->n_children - 1;
    return true;
}

int th_partitioner_add_branches(th_partitioner *pr)
{
    th_partition p = {2, {0, 0}, TH_ASSIGN_BRANCHES};
    if (pr->n_given > 0 || !branches_meet(pr))
        return 0;
    while (p.n - 1 < pr->n_branches && part_largest(pr, &p)) {
        bool are_equal = true;
        for (int32_t i = 2; i < p.n; i++)
            are_equal &= pr->tree.node[p.node[i]].n == pr->tree.node[p.node[1]].n;
        int32_t n = are_equal ? 1 : th_min(pr->n_branches, FIRST_BRANCHES);
        for (p.first_branch = 0; p.first_branch < n; p.first_branch++)
            if (th_partitioner_add(pr, &p))
                return -1;
    }
    return 0;
}
