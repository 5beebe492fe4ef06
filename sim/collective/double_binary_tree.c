/* SPDX-License-Identifier: GPL-3.0-or-later */
/* double_binary_tree.c - two binary trees, each with half of the data.
 *
 * Tree 0 numbers its m nodes 1 .. m in order: node v stands at the height of its lowest set bit h,
 * with children v - 2^(h-1) and (v + 2^(h-1), or where that is beyond m the highest node that is
 * not); its root is the highest power of two. Odd numbers are leaves. Tree 1 is tree 0 mirrored (m
 * even) or turned by one (m odd), which makes every node an inner one of one tree at most. So a
 * node sends and receives about S in each half of the operation, whatever n, in chunks that go
 * through both trees one behind the other (P. Sanders, J. Speck, J. L. Traeff, "Two-tree algorithms
 * for full bandwidth broadcast, reduction and scan", Parallel Computing 35, 2009, 581-594).
 *   all_reduce: all n ranks in both trees, up and down again
 *   broadcast, reduce: the root stands above the roots of both trees of the n - 1 others
 * With k chunks per tree, c = S / (2 k) bytes each, every edge on a link of its own, and the
 * deepest leaf d edges below the top:
 *   broadcast, reduce   (d + k - 1) (latency + c / bw)
 *   all_reduce          (2 d + k - 1) (latency + c / bw)
 * `chunks` are those of each tree.
 *
 * Lanes: up and down, of each tree. Ports, by tree: in from the left and right child, in from the
 * parent; out to the same. What goes different ways goes side by side.
 * Not modelled: the time of adding. */
#include <config.h>

#include "base/alloc.h"
#include "sim/collective/algorithms.h"
#include "sim/collective/ports.h"

enum { LEFT, RIGHT, PARENT, N_WAYS };
enum { N_TREES = 2, N_LANES = 2 * N_TREES };

typedef struct double_tree {
    int32_t n_nodes; /* of each tree */
    int32_t apart;   /* the rank that stands above both, -1: none */
    int32_t chunks;
    bool up, down;
} double_tree;

/* What stands next to a rank in a tree, as ranks; -1: nothing. */
typedef struct place {
    int32_t at[N_WAYS];
    int32_t side; /* of its parent, LEFT or RIGHT */
} place;

/* --- the tree in order ------------------------------------------------------------------------ */

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

/* Its own inverse but for the turn. */
static int32_t rank_of(const double_tree *d, int32_t n_ranks, int32_t tree, int32_t v)
{
    int32_t m = d->n_nodes, i = v - 1;
    if (v == 0)
        return d->apart;
    if (tree == 1)
        i = m % 2 == 0 ? m - v : v % m;
    return d->apart < 0 ? i : (d->apart + 1 + i) % n_ranks;
}

static int32_t number_of(const double_tree *d, int32_t n_ranks, int32_t tree, int32_t rank)
{
    int32_t m = d->n_nodes;
    int32_t i = d->apart < 0 ? rank : (rank - d->apart - 1 + n_ranks) % n_ranks;
    if (tree == 0)
        return i + 1;
    return m % 2 == 0 ? m - i : (i + m - 1) % m + 1;
}

static void find_place(const th_expansion *x, int32_t tree, int32_t rank, place *p)
{
    const double_tree *d = x->data;
    int32_t n = x->collective->n_ranks, m = d->n_nodes;
    *p = (place){.at = {-1, -1, -1}, .side = LEFT};
    if (m == 0)
        return;
    if (rank == d->apart) {
        p->at[LEFT] = rank_of(d, n, tree, highest_power(m));
        return;
    }
    int32_t v = number_of(d, n, tree, rank), half = (v & -v) / 2;
    int32_t right = half > 0 ? right_child(v, half, m) : 0, parent = parent_of(v, m);
    if (half > 0)
        p->at[LEFT] = rank_of(d, n, tree, v - half);
    if (right > 0)
        p->at[RIGHT] = rank_of(d, n, tree, right);
    p->at[PARENT] = rank_of(d, n, tree, parent);
    p->side = parent > 0 && v > parent ? RIGHT : LEFT;
}

/* --- the algorithm ---------------------------------------------------------------------------- */

static int prepare(th_expansion *x, th_error *err)
{
    const th_collective *c = x->collective;
    bool has_root = c->kind != TH_ALL_REDUCE;
    double_tree *d = th_alloc_zero(1, sizeof *d);
    if (!d)
        return th_error_no_memory(err);
    d->n_nodes = has_root ? c->n_ranks - 1 : c->n_ranks;
    d->apart = has_root ? c->root : -1;
    d->chunks = th_chunks_used(c);
    d->up = c->kind != TH_BROADCAST;
    d->down = c->kind != TH_REDUCE;
    x->data = d;
    return th_expansion_of_ranks(x, N_LANES, N_TREES * N_WAYS, err);
}

static void send(const th_expansion *x, int32_t tree, int32_t way, const place *at, int64_t chunk,
                 th_action *out)
{
    const double_tree *d = x->data;
    th_range half = th_pieces(x->collective->bytes, tree, tree + 1, N_TREES);
    th_action_send(out, tree * N_WAYS + way, at->at[way],
                   tree * N_WAYS + (way == PARENT ? at->side : PARENT),
                   th_part(half, chunk, d->chunks));
    out->reduces = way == PARENT;
}

static void wait_for(int32_t tree, int32_t way, int64_t chunk, th_action *out)
{
    out->wait_port = tree * N_WAYS + way;
    out->wait_count = (int32_t)chunk + 1;
}

/* For each chunk: from the left, from the right, then to the parent. */
static bool go_up(const th_expansion *x, int32_t tree, const place *at, int64_t step,
                  th_action *out)
{
    const double_tree *d = x->data;
    int64_t chunk = step / 2;
    bool is_second = step % 2 == 1;
    if (at->at[PARENT] < 0 || chunk >= d->chunks)
        return false;
    int32_t way = is_second ? RIGHT : LEFT;
    if (at->at[way] >= 0)
        wait_for(tree, way, chunk, out);
    if (is_second)
        send(x, tree, PARENT, at, chunk, out);
    return true;
}

/* For each chunk: from the parent, then to the left, to the right. At the top of an all_reduce it
 * comes from the left and from the right instead. */
static bool go_down(const th_expansion *x, int32_t tree, const place *at, int64_t step,
                    th_action *out)
{
    const double_tree *d = x->data;
    int64_t chunk = step / 3;
    int32_t part = (int32_t)(step % 3);
    bool turns = d->up && at->at[PARENT] < 0;
    if (at->at[LEFT] < 0 || chunk >= d->chunks)
        return false;
    if (part == 0 && (turns || at->at[PARENT] >= 0))
        wait_for(tree, turns ? LEFT : PARENT, chunk, out);
    if (part == 1 && turns && at->at[RIGHT] >= 0)
        wait_for(tree, RIGHT, chunk, out);
    if (part > 0 && at->at[part - 1] >= 0)
        send(x, tree, part - 1, at, chunk, out);
    return true;
}

static bool action(const th_expansion *x, int32_t participant, int32_t lane, int64_t step,
                   th_action *out)
{
    const double_tree *d = x->data;
    int32_t tree = lane / 2;
    bool is_up = lane % 2 == 0;
    place at;
    *out = TH_ACTION_NONE;
    if (is_up ? !d->up : !d->down)
        return false;
    find_place(x, tree, participant, &at);
    return is_up ? go_up(x, tree, &at, step, out) : go_down(x, tree, &at, step, out);
}

const th_algorithm th_algorithm_double_binary_tree = {
    .name = "double_binary_tree",
    .synopsis = "two complementary trees, each with half of the data",
    .kinds = 1u << TH_ALL_REDUCE | 1u << TH_BROADCAST | 1u << TH_REDUCE,
    .prepare = prepare,
    .action = action,
};
