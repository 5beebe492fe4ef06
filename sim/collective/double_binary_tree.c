/* SPDX-License-Identifier: GPL-3.0-or-later */
/* double_binary_tree.c - two binary trees, each with half of the data.
 *
 * Tree 0 numbers its m nodes 1 .. m in order. Node v is at the height h of its lowest set bit; its
 * children are v - 2^(h-1) and v + 2^(h-1), or, where the latter exceeds m, the highest node that
 * does not. The root is the highest power of two; odd numbers are leaves. Tree 1 is tree 0 mirrored
 * (m even) or rotated by one (m odd), so that every node is an inner node of at most one tree. So a
 * node sends and receives about S in each half of the operation, for any n, in chunks pipelined
 * through both trees (P. Sanders, J. Speck, J. L. Traeff, "Two-tree algorithms for full bandwidth
 * broadcast, reduction and scan", Parallel Computing 35, 2009, 581-594).
 *   all_reduce: all n ranks in both trees, up and down again
 *   broadcast, reduce: the root is the parent of the roots of both trees of the n - 1 others
 * With k chunks per tree, c = S / (2 k) bytes each, every edge on a link of its own, and the
 * deepest leaf d edges below the top:
 *   broadcast, reduce   (d + k - 1) (latency + c / bw)
 *   all_reduce          (2 d + k - 1) (latency + c / bw)
 * `chunks` are those of each tree.
 *
 * topology_tree: nodes are in the order of ring_order.h. With islands there are two trees on each
 * rail, whose nodes are islands: the ranks of an island are a chain, its head is the node, and on
 * every rail another rank is the head. So an island of L ranks sends and receives about S over the
 * cards of all its ranks. In the island of the root, which is above the trees of every rail, the
 * root comes before the head.
 *
 * Threads: up and down, of each tree. Ports, by tree: in from the left and right child and from the
 * next of the chain, in from the parent; out to the same: messages to different neighbours do not
 * wait for each other.
 * Not modelled: the time of additions. */
#include <config.h>

#include "sim/collective/algorithms.h"
#include "sim/collective/ports.h"
#include "sim/collective/ring_order.h"

enum { LEFT, RIGHT, NEXT, PARENT, N_NEIGHBOURS };
enum { N_TREES = 2 }; /* of a rail */

typedef struct double_tree {
    int32_t n_nodes; /* of each tree */
    int32_t n_trees; /* N_TREES on each rail */
    int32_t apart;   /* the node above both trees, that of the root; -1: none */
    int32_t chunks;
    bool up, down;
    bool has_islands;    /* nodes are the stretches of `order`, not ranks */
    th_ring_order order; /* of topology_tree; n 0: the order of the ranks */
} double_tree;

/* The neighbours of a rank in a tree, as ranks; -1: none. */
typedef struct place {
    int32_t at[N_NEIGHBOURS];
    int32_t side; /* of its parent, LEFT, RIGHT or NEXT */
} place;

/* --- the in-order tree ------------------------------------------------------------------------ */

static int32_t highest_power(int32_t n)
{
    int32_t power = 1;
    while (power <= n / 2)
        power *= 2;
    return power;
}

static int32_t right_child(int32_t v, int32_t half, int32_t m)
{
    if (v >= m)
        return 0;
    int32_t step = highest_power(m - v);
    return v + (step < half ? step : half);
}

/* 0: none. */
static int32_t parent_of(int32_t v, int32_t m)
{
    int64_t at = v;
    if (v == highest_power(m))
        return 0;
    do {
        int64_t bit = at & -at;
        at = (at & ~bit) | bit << 1;
    } while (at > m);
    return (int32_t)at;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* Nodes are islands, or places in the order, or ranks: 0 .. */
static int32_t node_of(const double_tree *d, int32_t rank)
{
    if (d->order.n == 0)
        return rank;
    int32_t at = d->order.position[rank];
    return d->has_islands ? d->order.island[at] : at;
}

static int32_t head_of(const double_tree *d, int32_t tree, int32_t node)
{
    if (d->has_islands)
        return th_ring_order_rank(&d->order, tree / N_TREES, d->order.first[node]);
    return d->order.n > 0 ? d->order.rank[node] : node;
}

/* The rank that is number v of a tree; of 0 the one above it, -1: none. */
static int32_t rank_of(const double_tree *d, int32_t tree, int32_t v)
{
    int32_t m = d->n_nodes, i = v - 1;
    if (v == 0)
        return d->apart < 0 ? -1 : head_of(d, tree, d->apart);
    if (tree % N_TREES == 1)
        i = m % 2 == 0 ? m - v : v % m;
    return head_of(d, tree, d->apart < 0 ? i : (d->apart + 1 + i) % (m + 1));
}

static int32_t number_of(const double_tree *d, int32_t tree, int32_t node)
{
    int32_t m = d->n_nodes, i = d->apart < 0 ? node : (node - d->apart + m) % (m + 1);
    if (tree % N_TREES == 0)
        return i + 1;
    return m % 2 == 0 ? m - i : (i + m - 1) % m + 1;
}

/* The chain through an island, in which the root comes first; false: the rank is not its head. */
static bool find_chain(const th_collective_schedule *cs, int32_t tree, int32_t rank, place *p)
{
    const double_tree *d = cs->data;
    const th_ring_order *o = &d->order;
    if (!d->has_islands)
        return true;
    int32_t rail = tree / N_TREES, at = th_ring_order_position(o, rail, rank), root = -1;
    int32_t first = o->first[o->island[at]], end = o->first[o->island[at] + 1];
    if (o->island[at] == d->apart)
        root = th_ring_order_position(o, rail, cs->collective->root);
    if (root <= first)
        root = -1; /* elsewhere, or first as it is */
    int32_t next = at == root ? first : at + 1 == root ? at + 2 : at + 1;
    int32_t before = at == first ? root : at - 1 == root ? at - 2 : at - 1;
    if (next < end)
        p->at[NEXT] = th_ring_order_rank(o, rail, next);
    if (at != root && before >= 0) {
        p->at[PARENT] = th_ring_order_rank(o, rail, before);
        p->side = NEXT;
    }
    return at == first;
}

static void find_place(const th_collective_schedule *cs, int32_t tree, int32_t rank, place *p)
{
    const double_tree *d = cs->data;
    int32_t m = d->n_nodes, node = node_of(d, rank);
    *p = (place){.at = {-1, -1, -1, -1}, .side = LEFT};
    if (m == 0 || !find_chain(cs, tree, rank, p))
        return;
    if (node == d->apart) {
        p->at[LEFT] = rank_of(d, tree, highest_power(m));
        return;
    }
    int32_t v = number_of(d, tree, node), half = (v & -v) / 2;
    int32_t right = half > 0 ? right_child(v, half, m) : 0, parent = parent_of(v, m);
    if (half > 0)
        p->at[LEFT] = rank_of(d, tree, v - half);
    if (right > 0)
        p->at[RIGHT] = rank_of(d, tree, right);
    p->at[PARENT] = rank_of(d, tree, parent);
    p->side = parent > 0 && v > parent ? RIGHT : LEFT;
}

/* --- the algorithm ---------------------------------------------------------------------------- */

static int prepare(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    bool has_root = c->kind != TH_ALL_REDUCE;
    double_tree *d = th_memory_take(&cs->memory, 1, sizeof *d);
    if (!d)
        return th_error_no_memory(err);
    d->chunks = th_chunks_used(c);
    d->up = c->kind != TH_BROADCAST;
    d->down = c->kind != TH_REDUCE;
    d->n_trees = N_TREES;
    cs->data = d;
    if (cs->algorithm == &th_algorithm_topology_tree) {
        if (th_ring_order_init(&d->order, cs, err))
            return -1;
        d->n_trees *= d->order.rails;
        d->has_islands = d->order.rails > 1;
    }
    d->n_nodes = (d->has_islands ? d->order.n_islands : c->n_ranks) - has_root;
    d->apart = has_root ? node_of(d, c->root) : -1;
    return th_collective_schedule_set_ranks(cs, 2 * d->n_trees, d->n_trees * N_NEIGHBOURS, err);
}

static void send(const th_collective_schedule *cs, int32_t tree, int32_t neighbour, const place *at,
                 int64_t chunk, th_collective_step *out)
{
    const double_tree *d = cs->data;
    th_range half = th_range_pieces(cs->collective->bytes, tree, tree + 1, d->n_trees);
    th_collective_step_send(out, tree * N_NEIGHBOURS + neighbour, at->at[neighbour],
                            tree * N_NEIGHBOURS + (neighbour == PARENT ? at->side : PARENT),
                            th_range_part(half, chunk, d->chunks));
    out->reduces = neighbour == PARENT;
}

static void wait_for(int32_t tree, int32_t neighbour, int64_t chunk, th_collective_step *out)
{
    out->wait_port = tree * N_NEIGHBOURS + neighbour;
    out->wait_count = (int32_t)chunk + 1;
}

/* For each chunk: from the left, the right and the next, then to the parent. */
static bool go_up(const th_collective_schedule *cs, int32_t tree, const place *at, int64_t step,
                  th_collective_step *out)
{
    const double_tree *d = cs->data;
    int64_t chunk = step / PARENT;
    int32_t neighbour = (int32_t)(step % PARENT);
    if (at->at[PARENT] < 0 || chunk >= d->chunks)
        return false;
    if (at->at[neighbour] >= 0)
        wait_for(tree, neighbour, chunk, out);
    if (neighbour == NEXT)
        send(cs, tree, PARENT, at, chunk, out);
    return true;
}

/* For each chunk: from the parent, then to the left, the right and the next. The root of an
 * all_reduce waits for these instead. */
static bool go_down(const th_collective_schedule *cs, int32_t tree, const place *at, int64_t step,
                    th_collective_step *out)
{
    enum { LAST_WAIT = NEXT, PARTS = LAST_WAIT + PARENT };
    const double_tree *d = cs->data;
    int64_t chunk = step / PARTS;
    int32_t part = (int32_t)(step % PARTS), to = part - LAST_WAIT;
    bool is_top = d->up && at->at[PARENT] < 0;
    if ((at->at[LEFT] < 0 && at->at[NEXT] < 0) || chunk >= d->chunks)
        return false;
    if (is_top && part <= LAST_WAIT && at->at[part] >= 0)
        wait_for(tree, part, chunk, out);
    if (!is_top && part == 0 && at->at[PARENT] >= 0)
        wait_for(tree, PARENT, chunk, out);
    if (to >= 0 && at->at[to] >= 0)
        send(cs, tree, to, at, chunk, out);
    return true;
}

static bool get_step(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                     int64_t step, th_collective_step *out)
{
    const double_tree *d = cs->data;
    int32_t tree = thread / 2;
    bool is_up = thread % 2 == 0;
    place at;
    *out = TH_COLLECTIVE_STEP_NONE;
    if (is_up ? !d->up : !d->down)
        return false;
    find_place(cs, tree, participant, &at);
    return is_up ? go_up(cs, tree, &at, step, out) : go_down(cs, tree, &at, step, out);
}

const th_algorithm th_algorithm_double_binary_tree = {
    .name = "double_binary_tree",
    .synopsis = "two complementary trees, each with half of the data",
    .kinds = 1u << TH_ALL_REDUCE | 1u << TH_BROADCAST | 1u << TH_REDUCE,
    .prepare = prepare,
    .get_step = get_step,
};

const th_algorithm th_algorithm_topology_tree = {
    .name = "topology_tree",
    .synopsis = "double trees of near islands on each rail, chains inside islands",
    .kinds = 1u << TH_ALL_REDUCE | 1u << TH_BROADCAST | 1u << TH_REDUCE,
    .prepare = prepare,
    .get_step = get_step,
};
