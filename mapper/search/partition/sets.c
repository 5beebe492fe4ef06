/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sets.c - candidate sets: the connected components that remain when the slowest links are removed
 * (MARS, DAC 2023).
 *
 * A part is split at the lowest bandwidth such that removing all links up to it disconnects its
 * accelerators from each other; links through hosts and switches count. A part that only falls
 * apart into single accelerators, all at once, is halved by number instead: its links are alike. */
#include <config.h>

#include "mapper/search/partition/sets.h"

#include <string.h>

#include "base/alloc.h"

static int group_of(const th_system *s, int accel)
{
    return s->nodes[s->accel_node[accel]].group;
}

int32_t th_sets_first_group_size(const th_system *s)
{
    int32_t n = 0;
    for (int a = 0; a < s->n_accels; a++)
        n += group_of(s, a) == group_of(s, 0);
    return n;
}

th_mapping *th_sets_by_group(const th_system *s, int n_layers)
{
    bool one_group = th_sets_first_group_size(s) == s->n_accels;
    int32_t *set_of = th_alloc_zero((size_t)s->n_accels, sizeof *set_of);
    int32_t *sizes = th_alloc_zero((size_t)s->n_accels, sizeof *sizes);
    th_mapping *m = NULL;
    int n = 0;
    for (int a = 0; set_of && sizes && a < s->n_accels; a++) {
        int same = 0;
        while (same < a &&
               (one_group ? same / ((s->n_accels + 1) / 2) != a / ((s->n_accels + 1) / 2)
                          : group_of(s, same) != group_of(s, a)))
            same++;
        set_of[a] = same < a ? set_of[same] : n++;
        sizes[set_of[a]]++;
    }
    if (set_of && sizes)
        m = th_mapping_new(n, sizes, n_layers);
    if (m) {
        memset(sizes, 0, (size_t)s->n_accels * sizeof *sizes);
        for (int a = 0; a < s->n_accels; a++)
            m->sets[set_of[a]].accels[sizes[set_of[a]]++] = a;
    }
    th_free(set_of);
    th_free(sizes);
    return m;
}

/* --- the tree --- */

static int32_t find_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Joins nodes over links faster than bits_per_s. Accelerators outside the part do not help. */
static void join(const th_system *s, const bool *inside, int64_t bits_per_s, int32_t *parent)
{
    for (int i = 0; i < s->n_nodes; i++)
        parent[i] = i;
    for (int l = 0; l < s->n_links; l++) {
        const th_link *link = &s->links[l];
        if (link->from < 0 || link->is_dead)
            continue;
        if (s->media[link->medium].bits_per_s > bits_per_s && inside[link->from] &&
            inside[link->to])
            parent[find_root(parent, link->from)] = find_root(parent, link->to);
    }
}

static int32_t count_parts(const th_system *s, const th_set_node *node, int32_t *parent,
                           int32_t *part_of)
{
    int32_t n = 0;
    for (int i = 0; i < node->n; i++) {
        int32_t root = find_root(parent, s->accel_node[node->accels[i]]);
        int j = 0;
        while (j < i && find_root(parent, s->accel_node[node->accels[j]]) != root)
            j++;
        part_of[i] = j < i ? part_of[j] : n++;
    }
    return n;
}

/* The next higher bandwidth among links; -1 when there is none. */
static int64_t next_bandwidth(const th_system *s, int64_t parent)
{
    int64_t next = -1;
    for (int m = 0; m < s->n_media; m++)
        if (s->media[m].bits_per_s > parent && (next < 0 || s->media[m].bits_per_s < next))
            next = s->media[m].bits_per_s;
    return next;
}

/* Scratch of a tree that grows: by node of the system, and by accelerator of a set. */
typedef struct {
    bool *inside;
    int32_t *parent; /* of a union-find forest */
    int32_t *part_of;
} scratch;

/* Fills part_of for each accelerator of the node; returns the number of parts, >= 2 for node->n
 * >= 2. */
static int32_t part(const th_system *s, th_set_node *node, const scratch *x)
{
    int32_t n = 1;
    for (int i = 0; i < s->n_nodes; i++)
        x->inside[i] = s->nodes[i].kind != TH_NODE_ACCEL;
    for (int i = 0; i < node->n; i++)
        x->inside[s->accel_node[node->accels[i]]] = true;
    for (int64_t b = next_bandwidth(s, 0); b > 0 && n == 1; b = next_bandwidth(s, b)) {
        join(s, x->inside, b, x->parent);
        n = count_parts(s, node, x->parent, x->part_of);
    }
    node->is_split_by_links = n > 1 && n < node->n;
    if (node->is_split_by_links)
        return n;
    for (int i = 0; i < node->n; i++)
        x->part_of[i] = i >= (node->n + 1) / 2;
    return 2;
}

static int32_t add_node(th_set_tree *t, int32_t parent, int32_t n)
{
    if (th_grow(&t->node, &t->capacity, t->n + 1, sizeof *t->node))
        return -1;
    int32_t *accels = th_alloc_array((size_t)n + 1, sizeof *accels);
    if (!accels)
        return -1;
    t->node[t->n] = (th_set_node){.accels = accels, .parent = parent};
    return (int32_t)t->n++;
}

static void note_groups(const th_system *s, th_set_node *node)
{
    for (int i = 1; i < node->n; i++)
        node->spans_groups |= group_of(s, node->accels[i]) != group_of(s, node->accels[0]);
}

static int add_children(th_set_tree *t, const th_system *s, int32_t parent, const int32_t *part_of,
                        int32_t parts)
{
    int32_t first = (int32_t)t->n;
    for (int32_t p = 0; p < parts; p++)
        if (add_node(t, parent, t->node[parent].n) < 0)
            return -1;
    for (int i = 0; i < t->node[parent].n; i++) {
        th_set_node *child = &t->node[first + part_of[i]];
        child->accels[child->n++] = t->node[parent].accels[i];
    }
    for (int32_t p = 0; p < parts; p++)
        note_groups(s, &t->node[first + p]);
    t->node[parent].first_child = first;
    t->node[parent].n_children = parts;
    return 0;
}

/* At most most_parted nodes get children, the root first. */
static int grow_tree(th_set_tree *t, const th_system *s, const bool *is_taken, size_t most_split,
                     const scratch *x)
{
    if (add_node(t, -1, s->n_accels) < 0)
        return -1;
    t->node[0].n = 0;
    for (int32_t a = 0; a < s->n_accels; a++)
        if (!is_taken || !is_taken[a])
            t->node[0].accels[t->node[0].n++] = a;
    note_groups(s, &t->node[0]);
    for (size_t i = 0; i < t->n && i < most_split; i++) {
        if (t->node[i].n < 2)
            continue;
        int32_t parts = part(s, &t->node[i], x);
        if (add_children(t, s, (int32_t)i, x->part_of, parts))
            return -1;
    }
    return 0;
}

static int init_tree(th_set_tree *t, const th_system *s, const bool *is_taken, size_t most_split)
{
    size_t nodes = (size_t)s->n_nodes + 1;
    const scratch x = {.inside = th_alloc_zero(nodes, sizeof *x.inside),
                       .parent = th_alloc_zero(nodes, sizeof *x.parent),
                       .part_of = th_alloc_zero(nodes, sizeof *x.part_of)};
    *t = (th_set_tree){0};
    int failed = x.inside && x.parent && x.part_of ? grow_tree(t, s, is_taken, most_split, &x) : -1;
    th_free(x.inside);
    th_free(x.parent);
    th_free(x.part_of);
    return failed;
}

int th_set_tree_init(th_set_tree *t, const th_system *s, const bool *is_taken)
{
    return init_tree(t, s, is_taken, SIZE_MAX);
}

int32_t th_set_tree_add(th_set_tree *t, const th_system *s, const int32_t *accels, int32_t n)
{
    int32_t node = add_node(t, -1, n);
    if (node < 0)
        return -1;
    memcpy(t->node[node].accels, accels, (size_t)n * sizeof *accels);
    t->node[node].n = n;
    note_groups(s, &t->node[node]);
    return node;
}

bool th_set_tree_can_interleave(const th_set_tree *t, int32_t node, int32_t block)
{
    const th_set_node *at = &t->node[node], *child = &t->node[at->first_child];
    bool can = at->is_split_by_links && block > 0 && block < child->n && child->n % block == 0;
    for (int32_t c = 1; can && c < at->n_children; c++)
        can = child[c].n == child->n;
    return can;
}

void th_set_tree_interleave(const th_set_tree *t, int32_t node, int32_t block, int32_t *accels)
{
    const th_set_node *at = &t->node[node], *child = &t->node[at->first_child];
    memcpy(accels, at->accels, (size_t)at->n * sizeof *accels);
    if (!th_set_tree_can_interleave(t, node, block))
        return;
    for (int32_t i = 0; i < at->n; i++) {
        int32_t round = i / (block * at->n_children), c = i / block % at->n_children;
        accels[i] = child[c].accels[round * block + i % block];
    }
}

/* Room for the order as given, and behind it the interleaved orders of the root's members. */
static int32_t list_orders(const th_set_tree *t, int32_t n, int32_t **out)
{
    int32_t n_orders = 1;
    for (int32_t block = 1; block < n; block++)
        n_orders += th_set_tree_can_interleave(t, 0, block);
    *out = th_alloc_array((size_t)n_orders * (size_t)n, sizeof **out);
    for (int32_t block = 1, i = 1; *out && i < n_orders; block++)
        if (th_set_tree_can_interleave(t, 0, block))
            th_set_tree_interleave(t, 0, block, *out + (size_t)i++ * (size_t)n);
    return *out ? n_orders : -1;
}

int32_t th_set_orders(const th_system *s, const int32_t *accels, int32_t n, int32_t **out)
{
    bool *is_outside = th_alloc_array((size_t)s->n_accels, sizeof *is_outside);
    th_set_tree t = {0};
    int32_t n_orders = -1;
    *out = NULL;
    for (int32_t a = 0; is_outside && a < s->n_accels; a++)
        is_outside[a] = true;
    for (int32_t i = 0; is_outside && i < n; i++)
        is_outside[accels[i]] = false;
    if (is_outside && init_tree(&t, s, is_outside, 1) == 0)
        n_orders = list_orders(&t, n, out);
    if (n_orders > 0)
        memcpy(*out, accels, (size_t)n * sizeof *accels);
    th_set_tree_clear(&t);
    th_free(is_outside);
    return n_orders;
}

void th_set_tree_clear(th_set_tree *t)
{
    for (size_t i = 0; i < t->n; i++)
        th_free(t->node[i].accels);
    th_free(t->node);
    *t = (th_set_tree){0};
}
