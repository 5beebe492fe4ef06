/* SPDX-License-Identifier: GPL-3.0-or-later */
/* up_down.c - routes in trees and fat trees: up until the destination is below, then down.
 *   prepare -> next*
 * Every node of the tree has a level and covers a range of accelerators, its leaves (th_node). Up:
 * towards the leaf with number j, a node on level l takes the link up with number
 *
 *   floor(j / (w_1 w_2 ... w_l)) mod w_(l + 1),   w_i: links up from each node on level i - 1
 *
 * which is D-mod-k (E. Zahavi, "D-Mod-K routing providing non-blocking traffic for shift
 * permutations on real life fat trees", 2010): the destination alone decides, so that the leaves
 * are spread evenly over the roots, and each root is the only one that sends to its leaves. Down:
 * to the child that covers the leaf. Fat trees: C. Leiserson, "Fat-trees: universal networks for
 * hardware-efficient supercomputing", 1985.
 * A leaf may hang below several kinds of parent (a switch of its island, one of the fabric): then
 * the lowest that covers the destination is taken, and the highest where none does. So down goes by
 * the destination's first leaf alone: a switch of a fabric may be above that and below a part of
 * the island only, whose own switch is then reached from that leaf. Leaves that are joined by a
 * link (an island without a switch) use it.
 * Switches are destinations too (they may reduce). Switches of one level above the same leaves are
 * numbered, 0 first; the number's digits in the mixed radix of the w_i are the links up that lead
 * to it, and stand for j. A switch whose own digits contradict that cannot go up and down: its
 * routes, and those of nodes outside the tree (hosts), are shortest ones, but for the direct link
 * where there is one. Costs O(log degree) per step and O(links) memory.
 * Not modelled: numbers of links up that differ between the nodes of one level. */
#include <config.h>
#include "topology/routing/types.h"

/* The links of each node in one direction: links[start[i] .. start[i + 1]). */
typedef struct rows {
    int32_t *start;
    int32_t *links;
} rows;

typedef struct up_down_data {
    rows down;        /* ascending by the first leaf of the child */
    rows up;          /* ascending by the level of the parent, then as added */
    int32_t *key;     /* by node: j above */
    int32_t *divisor; /* by node: w_1 ... w_l */
    bool joins_leaves;
} up_down_data;

static bool is_in_tree(const th_node *n)
{
    return n->n_leaves > 0;
}

static bool covers(const th_node *n, const th_node *other)
{
    return n->leaf_first <= other->leaf_first &&
           other->leaf_first + other->n_leaves <= n->leaf_first + n->n_leaves;
}

static bool covers_leaf(const th_node *n, int32_t leaf)
{
    return n->leaf_first <= leaf && leaf < n->leaf_first + n->n_leaves;
}

/* ---- a step ---- */

/* Whether the digits of dst can be reached from at; those of a leaf always can. */
static bool is_compatible(const th_system *s, const up_down_data *data, int at, int dst)
{
    if (s->nodes[at].level == 0 || s->nodes[dst].level == 0)
        return true;
    int32_t common =
        data->divisor[at] < data->divisor[dst] ? data->divisor[at] : data->divisor[dst];
    return data->key[at] % common == data->key[dst] % common;
}

/* The links [first, end) of a row that are equally good; by number, the one towards dst. */
static int link_of_run(const up_down_data *data, const int32_t *links, int n, int lower, int dst)
{
    return links[data->key[dst] / data->divisor[lower] % n];
}

static int link_down(const th_system *s, const up_down_data *data, int at, int dst)
{
    const int32_t *links = data->down.links;
    int first = data->down.start[at], high = data->down.start[at + 1] - 1, low = first;
    int32_t leaf = s->nodes[dst].leaf_first;
    while (low < high) { /* the last child that begins at leaf or before */
        int middle = low + (high - low + 1) / 2;
        if (s->nodes[s->links[links[middle]].to].leaf_first <= leaf)
            low = middle;
        else
            high = middle - 1;
    }
    int child = s->links[links[low]].to, n = 1;
    for (; low > first && s->links[links[low - 1]].to == child; n++)
        low--;
    return link_of_run(data, &links[low], n, child, dst);
}

/* The links of at's row from i on whose parents are on one level. */
static int run_up(const th_system *s, const up_down_data *data, int at, int i)
{
    const int32_t *links = data->up.links;
    int n = 1, level = s->nodes[s->links[links[i]].to].level;
    while (i + n < data->up.start[at + 1] && s->nodes[s->links[links[i + n]].to].level == level)
        n++;
    return n;
}

/* Whether the parent at the end of link, or another switch above the same leaves, is above dst or
 * is dst. */
static bool leads_above(const th_system *s, int link, int dst)
{
    const th_node *parent = &s->nodes[s->links[link].to], *there = &s->nodes[dst];
    return parent->level >= there->level && covers(parent, there);
}

static int link_up(const th_system *s, const up_down_data *data, int at, int dst)
{
    int i = data->up.start[at], end = data->up.start[at + 1];
    if (i == end)
        return th_route_shortest_next(s, at, dst);
    int n = run_up(s, data, at, i);
    while (i + n < end && !leads_above(s, data->up.links[i], dst)) {
        i += n;
        n = run_up(s, data, at, i);
    }
    return link_of_run(data, &data->up.links[i], n, at, dst);
}

static int link_towards(const th_system *s, int at, int dst)
{
    const up_down_data *data = s->routes.data;
    const th_node *here = &s->nodes[at], *there = &s->nodes[dst];
    bool is_inside = is_in_tree(here) && is_in_tree(there);
    if (!is_inside || (data->joins_leaves && here->level == 0 && there->level == 0)) {
        int direct = th_route_link_to(s, at, dst);
        if (direct >= 0 || !is_inside)
            return direct >= 0 ? direct : th_route_shortest_next(s, at, dst);
    }
    if (!is_compatible(s, data, at, dst))
        return th_route_shortest_next(s, at, dst);
    if (here->level > there->level && covers_leaf(here, there->leaf_first))
        return link_down(s, data, at, dst);
    return link_up(s, data, at, dst);
}

/* Parallel links up, and down to a switch, have numbers, of which the destination has chosen one.
 * All links down to a leaf are for one destination: its sources share them. */
static bool is_numbered(const th_system *s, int link)
{
    const th_node *from = &s->nodes[s->links[link].from], *to = &s->nodes[s->links[link].to];
    return is_in_tree(from) && is_in_tree(to) && to->level > 0;
}

static int next(const th_system *s, int at, int src, int dst)
{
    int link = link_towards(s, at, dst);
    return link < 0 || is_numbered(s, link) ? link : th_parallel_choose(s, link, src, dst);
}

/* ---- preparing ---- */

/* +1 up, -1 down, 0 elsewhere. */
static int direction(const th_system *s, int link)
{
    const th_node *from = &s->nodes[s->links[link].from], *to = &s->nodes[s->links[link].to];
    if (!is_in_tree(from) || !is_in_tree(to) || from->level == to->level)
        return 0;
    return to->level > from->level ? 1 : -1;
}

/* The key by which the links of a row ascend. */
static int32_t rank(const th_system *s, int link, int wanted)
{
    const th_node *to = &s->nodes[s->links[link].to];
    return wanted > 0 ? to->level : to->leaf_first;
}

/* Puts link behind the n links of a row that do not rank above it. Rows come nearly sorted. */
static void insert(const th_system *s, int32_t *row, int n, int link, int wanted)
{
    for (; n > 0 && rank(s, row[n - 1], wanted) > rank(s, link, wanted); n--)
        row[n] = row[n - 1];
    row[n] = link;
}

static int rows_init(rows *r, th_system *s, int wanted)
{
    r->start = th_memory_take(&s->memory, (size_t)s->n_nodes + 1, sizeof *r->start);
    r->links = th_memory_take(&s->memory, (size_t)s->n_links, sizeof *r->links);
    if (!r->start || !r->links)
        return -1;
    int n = 0;
    for (int node = 0; node < s->n_nodes; node++) {
        r->start[node] = n;
        for (int i = s->adjacency.out_start[node]; i < s->adjacency.out_start[node + 1]; i++)
            if (direction(s, s->adjacency.out_links[i]) == wanted) {
                insert(s, r->links + r->start[node], n - r->start[node], s->adjacency.out_links[i],
                       wanted);
                n++;
            }
    }
    r->start[s->n_nodes] = n;
    return 0;
}

/* How many links up a node has to its highest parents. */
static int n_up_links(const th_system *s, const up_down_data *data, int node)
{
    int end = data->up.start[node + 1], n = 0;
    while (end - n > data->up.start[node] &&
           rank(s, data->up.links[end - n - 1], 1) == rank(s, data->up.links[end - 1], 1))
        n++;
    return n;
}

/* Nodes come in ascending levels, and those of one level that cover the same leaves together. */
static void number_nodes(const th_system *s, up_down_data *data)
{
    for (int i = 0; i < s->n_nodes; i++) {
        const th_node *n = &s->nodes[i], *before = i > 0 ? n - 1 : NULL;
        bool same_leaves =
            before && before->level == n->level && before->leaf_first == n->leaf_first;
        data->key[i] = n->level == 0 ? n->leaf_first : same_leaves ? data->key[i - 1] + 1 : 0;
        data->divisor[i] = 1;
        if (n->level > 0 && data->down.start[i] < data->down.start[i + 1]) {
            int child = s->links[data->down.links[data->down.start[i]]].to;
            data->divisor[i] = data->divisor[child] * n_up_links(s, data, child);
        }
    }
}

static bool has_joined_leaves(const th_system *s)
{
    for (int l = 0; l < s->n_links; l++) {
        if (s->links[l].from < 0)
            continue; /* a segment */
        const th_node *from = &s->nodes[s->links[l].from], *to = &s->nodes[s->links[l].to];
        if (is_in_tree(from) && is_in_tree(to) && from->level == 0 && to->level == 0)
            return true;
    }
    return false;
}

static int check_tree(const th_system *s, th_error *err)
{
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].level > 0 && is_in_tree(&s->nodes[i]))
            return 0;
    return th_error_set(err, "TOPO-0089", "system \"%s\": up_down needs a generated tree", s->name);
}

static int prepare(th_system *s, th_error *err)
{
    if (check_tree(s, err) < 0)
        return -1;
    up_down_data *data = s->routes.data = th_memory_take(&s->memory, 1, sizeof *data);
    if (!data)
        return th_error_no_memory(err);
    data->key = th_memory_take(&s->memory, (size_t)s->n_nodes, sizeof *data->key);
    data->divisor = th_memory_take(&s->memory, (size_t)s->n_nodes, sizeof *data->divisor);
    if (!data->key || !data->divisor || rows_init(&data->down, s, -1) < 0 ||
        rows_init(&data->up, s, 1) < 0)
        return th_error_no_memory(err);
    number_nodes(s, data);
    data->joins_leaves = has_joined_leaves(s);
    return 0;
}

const th_routing_type th_routing_up_down = {
    "up_down", "up by the destination's number (D-mod-k) until it is below, then down", prepare,
    next};
