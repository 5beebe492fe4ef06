/* SPDX-License-Identifier: GPL-3.0-or-later */
/* binomial.c - binomial trees: every rank that has the data forwards them in every round.
 *
 * Each range of ranks has one holder. A round halves every range, and the holder sends to the first
 * rank of the half in which it is not. So ceil(log2 n) rounds reach n ranks, for any n and root,
 * and the subtree below a rank is one range: gather and scatter move it in one message. For n a
 * power of two and root 0 this is the binomial tree. S bytes, equal links, no contention (Thakur,
 * Rabenseifner, Gropp, 2005, 2.1-2.3):
 *   broadcast, reduce   ceil(log2 n) (latency + S / bw)
 *   gather, scatter     ceil(log2 n) latency + (n - 1) / n S / bw      (n a power of two)
 *   all_reduce          reduce to rank 0, then broadcast from it; a barrier is one of no bytes
 * Chunks are pipelined down (and up) the tree; gather and scatter ignore them. Messages that leave
 * a node on one medium are sent in sequence, largest subtree first.
 *
 * Threads: 0 upwards (reduce, gather), 1 downwards (broadcast, scatter). Ports: in from child c is
 * c, from the parent n_rounds; out by first medium (ports.c).
 * Not modelled: the time of additions. */
#include <config.h>

#include "sim/collective/algorithms.h"
#include "sim/collective/ports.h"

enum { UP, DOWN, N_THREADS };

typedef struct binomial {
    int32_t n_rounds, chunks;
    bool up, down; /* which threads the kind uses */
    int32_t *port; /* per rank: to child 0 .. n_rounds - 1, then to the parent */
} binomial;

/* A rank in the tree. */
typedef struct place {
    int32_t parent, index; /* -1: it is the root; its number among the children */
    int32_t first, end;    /* the ranks at and below it */
    int32_t n_children;
    int32_t child[TH_MAX_ROUNDS], child_first[TH_MAX_ROUNDS], child_end[TH_MAX_ROUNDS];
} place;

static void add_child(place *p, int32_t child, int32_t first, int32_t end)
{
    p->child[p->n_children] = child;
    p->child_first[p->n_children] = first;
    p->child_end[p->n_children++] = end;
}

static void find_place(int32_t n, int32_t root, int32_t rank, place *p)
{
    int32_t first = 0, end = n, holder = root, given = 0;
    p->parent = p->index = -1;
    p->n_children = 0;
    p->first = 0;
    p->end = n;
    while (end - first > 1) {
        int32_t middle = first + (end - first + 1) / 2;
        bool is_low = holder < middle; /* the holder, so the other half is the high one */
        int32_t leader = is_low ? middle : first;
        int32_t other_end = is_low ? end : middle;
        bool is_other = rank >= leader && rank < other_end;
        if (rank == holder)
            add_child(p, leader, leader, other_end);
        if (rank == leader) {
            p->parent = holder;
            p->index = given;
            p->first = leader;
            p->end = other_end;
        }
        holder = is_other ? leader : holder;
        given = is_other ? 0 : given + 1;
        if (is_other == is_low)
            first = middle;
        else
            end = middle;
    }
}

static int32_t root_of(const th_collective *c)
{
    return c->kind == TH_ALL_REDUCE || c->kind == TH_BARRIER ? 0 : c->root;
}

static int32_t peer(const th_collective_schedule *cs, int32_t p, int32_t k)
{
    const binomial *b = cs->data;
    place at;
    find_place(cs->collective->n_ranks, root_of(cs->collective), p, &at);
    if (k == b->n_rounds)
        return at.parent;
    return k < at.n_children ? at.child[k] : -1;
}

static int prepare(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    bool whole = c->kind == TH_GATHER || c->kind == TH_SCATTER || c->kind == TH_BARRIER;
    binomial *b = th_memory_take(&cs->memory, 1, sizeof *b);
    if (!b)
        return th_error_no_memory(err);
    b->n_rounds = th_log2_ceil(c->n_ranks);
    b->chunks = whole ? 1 : th_chunks_used(c);
    b->up = c->kind != TH_BROADCAST && c->kind != TH_SCATTER;
    b->down = c->kind != TH_REDUCE && c->kind != TH_GATHER;
    cs->data = b;
    if (th_collective_schedule_set_ranks(cs, N_THREADS, b->n_rounds + 1, err))
        return -1;
    b->port = th_ports_by_medium(cs, b->n_rounds + 1, peer, err);
    return b->port ? 0 : -1;
}

/* Chunk j; of gather and scatter, the pieces of ranks first .. end - 1. */
static th_range what(const th_collective_schedule *cs, int64_t j, int32_t first, int32_t end)
{
    const th_collective *c = cs->collective;
    const binomial *b = cs->data;
    if (c->kind == TH_BARRIER)
        return (th_range){0, 0};
    if (c->kind == TH_GATHER || c->kind == TH_SCATTER)
        return th_range_pieces(c->bytes, first, end, c->n_ranks);
    return th_range_pieces(c->bytes, j, j + 1, b->chunks);
}

static void send_down(const th_collective_schedule *cs, int32_t p, const place *at, int64_t j,
                      int32_t child, th_collective_step *out)
{
    const binomial *b = cs->data;
    th_collective_step_send(out, b->port[p * (b->n_rounds + 1) + child], at->child[child],
                            b->n_rounds, what(cs, j, at->child_first[child], at->child_end[child]));
}

/* For each chunk: from every child, the smallest subtree first, then on to the parent. */
static bool go_up(const th_collective_schedule *cs, int32_t p, const place *at, int64_t step,
                  th_collective_step *out)
{
    const binomial *b = cs->data;
    int32_t per_chunk = at->n_children > 0 ? at->n_children : 1;
    int64_t j = step / per_chunk;
    int32_t i = (int32_t)(step % per_chunk);
    if (at->parent < 0 || j >= b->chunks)
        return false;
    if (at->n_children > 0) {
        out->wait_port = at->n_children - 1 - i;
        out->wait_count = (int32_t)j + 1;
    }
    if (i < per_chunk - 1)
        return true;
    th_collective_step_send(out, b->port[p * (b->n_rounds + 1) + b->n_rounds], at->parent,
                            at->index, what(cs, j, at->first, at->end));
    out->reduces = cs->collective->kind != TH_GATHER;
    return true;
}

/* For each chunk: from the parent (at the root of all_reduce: from every child), then to every
 * child. */
static bool go_down(const th_collective_schedule *cs, int32_t p, const place *at, int64_t step,
                    th_collective_step *out)
{
    const binomial *b = cs->data;
    int32_t n_waits = at->parent < 0 && b->up ? at->n_children : 0;
    int32_t per_chunk = at->n_children + n_waits;
    if (per_chunk == 0 || step / per_chunk >= b->chunks)
        return false;
    int64_t j = step / per_chunk;
    int32_t i = (int32_t)(step % per_chunk);
    if (i < n_waits || (i == 0 && at->parent >= 0)) {
        out->wait_port = i < n_waits ? at->n_children - 1 - i : b->n_rounds;
        out->wait_count = (int32_t)j + 1;
    }
    if (i >= n_waits)
        send_down(cs, p, at, j, i - n_waits, out);
    return true;
}

static bool get_step(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                     int64_t step, th_collective_step *out)
{
    const binomial *b = cs->data;
    place at;
    *out = TH_COLLECTIVE_STEP_NONE;
    if (thread == UP ? !b->up : !b->down)
        return false;
    find_place(cs->collective->n_ranks, root_of(cs->collective), participant, &at);
    return thread == UP ? go_up(cs, participant, &at, step, out)
                        : go_down(cs, participant, &at, step, out);
}

const th_algorithm th_algorithm_binomial = {
    .name = "binomial",
    .synopsis = "a tree of ceil(log2 n) rounds",
    .kinds = 1u << TH_ALL_REDUCE | 1u << TH_BROADCAST | 1u << TH_REDUCE | 1u << TH_GATHER |
             1u << TH_SCATTER | 1u << TH_BARRIER,
    .prepare = prepare,
    .get_step = get_step,
};
