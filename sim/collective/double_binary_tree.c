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
 * Threads: up and down, of each tree. Ports, by tree: in from the left and right child, in from the
 * parent; out to the same: messages to different neighbours do not wait for each other.
 * Not modelled: the time of additions. */
#include <config.h>

#include "base/alloc.h"
#include "sim/collective/algorithms.h"
#include "sim/collective/ports.h"

enum { LEFT, RIGHT, PARENT, N_NEIGHBOURS };
enum { N_TREES = 2, N_THREADS = 2 * N_TREES };

typedef struct double_tree {
    int32_t n_nodes; /* of each tree */
    int32_t apart;   /* the rank above both trees, -1: none */
    int32_t chunks;
    bool up, down;
} double_tree;

/* The neighbours of a rank in a tree, as ranks; -1: none. */
typedef struct place {
    int32_t at[N_NEIGHBOURS];
    int32_t side; /* of its parent, LEFT or RIGHT */
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

static void find_place(const th_collective_schedule *cs, int32_t tree, int32_t rank, place *p)
{
    const double_tree *d = cs->data;
    int32_t n = cs->collective->n_ranks, m = d->n_nodes;
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

static int prepare(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    bool has_root = c->kind != TH_ALL_REDUCE;
    double_tree *d = th_alloc_zero(1, sizeof *d);
    if (!d)
        return th_error_no_memory(err);
    d->n_nodes = has_root ? c->n_ranks - 1 : c->n_ranks;
    d->apart = has_root ? c->root : -1;
    d->chunks = th_chunks_used(c);
    d->up = c->kind != TH_BROADCAST;
    d->down = c->kind != TH_REDUCE;
    cs->data = d;
    return th_collective_schedule_set_ranks(cs, N_THREADS, N_TREES * N_NEIGHBOURS, err);
}

static void send(const th_collective_schedule *cs, int32_t tree, int32_t neighbour, const place *at,
                 int64_t chunk, th_collective_step *out)
{
    const double_tree *d = cs->data;
    th_range half = th_range_pieces(cs->collective->bytes, tree, tree + 1, N_TREES);
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

/* For each chunk: from the left, from the right, then to the parent. */
static bool go_up(const th_collective_schedule *cs, int32_t tree, const place *at, int64_t step,
                  th_collective_step *out)
{
    const double_tree *d = cs->data;
    int64_t chunk = step / 2;
    bool is_second = step % 2 == 1;
    if (at->at[PARENT] < 0 || chunk >= d->chunks)
        return false;
    int32_t neighbour = is_second ? RIGHT : LEFT;
    if (at->at[neighbour] >= 0)
        wait_for(tree, neighbour, chunk, out);
    if (is_second)
        send(cs, tree, PARENT, at, chunk, out);
    return true;
}

/* For each chunk: from the parent, then to the left, to the right. The root of an all_reduce waits
 * for the left and the right instead. */
static bool go_down(const th_collective_schedule *cs, int32_t tree, const place *at, int64_t step,
                    th_collective_step *out)
{
    const double_tree *d = cs->data;
    int64_t chunk = step / 3;
    int32_t part = (int32_t)(step % 3);
    bool is_top = d->up && at->at[PARENT] < 0;
    if (at->at[LEFT] < 0 || chunk >= d->chunks)
        return false;
    if (part == 0 && (is_top || at->at[PARENT] >= 0))
        wait_for(tree, is_top ? LEFT : PARENT, chunk, out);
    if (part == 1 && is_top && at->at[RIGHT] >= 0)
        wait_for(tree, RIGHT, chunk, out);
    if (part > 0 && at->at[part - 1] >= 0)
        send(cs, tree, part - 1, at, chunk, out);
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
