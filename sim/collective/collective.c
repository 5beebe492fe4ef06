/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective.c - checks of collectives, their schedules, and helpers of algorithms.
 *   th_collective_check, or th_collective_schedule_init (which checks) -> action, range ->
 *   th_collective_schedule_clear */
#include <config.h>

#include "sim/collective/collective.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

const char *const th_collective_names[TH_N_COLLECTIVES + 1] = {
    [TH_ALL_REDUCE] = "all_reduce",
    [TH_ALL_GATHER] = "all_gather",
    [TH_REDUCE_SCATTER] = "reduce_scatter",
    [TH_ALL_TO_ALL] = "all_to_all",
    [TH_BROADCAST] = "broadcast",
    [TH_REDUCE] = "reduce",
    [TH_GATHER] = "gather",
    [TH_SCATTER] = "scatter",
    [TH_BARRIER] = "barrier",
    [TH_SEND_RECV] = "send_recv",
    [TH_USER_SCHEDULE] = "schedule",
    [TH_N_COLLECTIVES] = NULL,
};

/* --- checks ----------------------------------------------------------------------------------- */

static int check_node(const th_collective *c, const th_system *s, int32_t rank, th_error *err)
{
    int32_t node = c->rank_node[rank];
    const char *name = th_collective_names[c->kind];
    if (node < 0 || node >= s->n_nodes)
        return th_error_set(err, "COLL-0001", "%s: rank %d is node %d: must be 0 .. %d", name, rank,
                            node, s->n_nodes - 1);
    if (s->nodes[node].kind == TH_NODE_SWITCH)
        return th_error_set(err, "COLL-0002",
                            "%s: rank %d is switch %s: must be an accelerator or a host", name,
                            rank, s->nodes[node].name);
    return 0;
}

static int check_ranks(const th_collective *c, const th_system *s, th_error *err)
{
    if (c->n_ranks < 1 || c->n_ranks > s->n_nodes)
        return th_error_set(err, "COLL-0003", "%s of %d ranks: must be 1 .. %d",
                            th_collective_names[c->kind], c->n_ranks, s->n_nodes);
    th_map *rank_of = th_map_new(); /* by node: groups may be many, so not of all nodes */
    int failed = rank_of ? 0 : th_error_no_memory(err);
    for (int32_t i = 0; i < c->n_ranks && !failed; i++) {
        const int32_t *node = &c->rank_node[i];
        int64_t before;
        failed = check_node(c, s, i, err);
        if (!failed && th_map_get(rank_of, node, sizeof *node, &before))
            failed =
                th_error_set(err, "COLL-0004", "%s: ranks %d and %d are both node %s",
                             th_collective_names[c->kind], (int)before, i, s->nodes[*node].name);
        else if (!failed && th_map_put(rank_of, node, sizeof *node, i))
            failed = th_error_no_memory(err);
    }
    th_map_free(rank_of);
    return failed;
}

static int check_pairs(const th_collective *c, th_error *err)
{
    int64_t all = 0, n = c->n_ranks;
    if (!c->pair_bytes)
        return 0;
    if (c->kind != TH_ALL_TO_ALL)
        return th_error_set(err, "COLL-0005",
                            "%s: sizes per pair of ranks: all_to_all alone has them",
                            th_collective_names[c->kind]);
    for (int64_t i = 0; i < n * n; i++)
        if (c->pair_bytes[i] < 0 || __builtin_add_overflow(all, c->pair_bytes[i], &all))
            return th_error_set(err, "COLL-0006",
                                "all_to_all: %" PRId64 " bytes from rank %" PRId64
                                " to rank %" PRId64
                                ": must be 0 or more, and less than 2^63 in all",
                                c->pair_bytes[i], i / n, i % n);
    return 0;
}

static int check_dims(const th_collective *c, th_error *err)
{
    enum { DIMS_MAX = sizeof c->dims / sizeof *c->dims };
    int64_t product = 1;
    for (int32_t i = 0; i < c->n_dims && i < DIMS_MAX && product <= c->n_ranks; i++)
        product *= c->dims[i] > 0 ? c->dims[i] : INT32_MAX;
    if (c->n_dims < 0 || c->n_dims > DIMS_MAX || (c->n_dims > 0 && product != c->n_ranks))
        return th_error_set(
            err, "COLL-0007",
            "%s: %d dimensions: must be at most %d, their product %d as there are ranks",
            th_collective_names[c->kind], c->n_dims, DIMS_MAX, c->n_ranks);
    return 0;
}

static int check_numbers(const th_collective *c, th_error *err)
{
    const char *name = th_collective_names[c->kind];
    if (c->bytes < 0 || c->bytes > INT64_MAX / c->n_ranks)
        return th_error_set(err, "COLL-0008",
                            "%s of %" PRId64 " bytes: must be 0 or more, below 2^63 over all ranks",
                            name, c->bytes);
    if (c->root < 0 || c->root >= c->n_ranks)
        return th_error_set(err, "COLL-0009", "%s: root is rank %d: must be 0 .. %d", name, c->root,
                            c->n_ranks - 1);
    if (c->chunks < 1 || c->chunks > TH_CHUNKS_MAX)
        return th_error_set(err, "COLL-0010", "%s in %d chunks: must be 1 .. %d", name, c->chunks,
                            TH_CHUNKS_MAX);
    if (c->delay_ps < 0)
        return th_error_set(err, "COLL-0011",
                            "%s: overhead of %" PRId64 " ps: must not be negative", name,
                            c->delay_ps);
    if (c->kind == TH_SEND_RECV && c->n_ranks != 2)
        return th_error_set(err, "COLL-0012", "send_recv of %d ranks: must be 2", c->n_ranks);
    return 0;
}

int th_collective_check(const th_collective *c, const th_system *s, th_error *err)
{
    return check_ranks(c, s, err) || check_numbers(c, err) || check_pairs(c, err) ||
                   check_dims(c, err)
               ? -1
               : 0;
}

/* --- schedules -------------------------------------------------------------------------------- */

static int refuse_kind(const th_collective *c, th_error *err)
{
    char able[256] = "";
    for (int i = 0, n = 0; th_algorithms[i]; i++)
        if ((th_algorithms[i]->kinds >> c->kind & 1u) && n < (int)sizeof able)
            n += snprintf(able + n, sizeof able - (size_t)n, "%s%s", n > 0 ? ", " : "",
                          th_algorithms[i]->name);
    return th_error_set(err, "COLL-0014", "%s: algorithm %s cannot do it: must be one of %s",
                        th_collective_names[c->kind], c->algorithm->name, able);
}

/* Do the numbers of threads and ports fit? n_participants > 0. 0 or -1. */
static int check_size(const th_collective_schedule *cs, int64_t n_participants, int64_t n_threads,
                      int64_t n_ports, th_error *err)
{
    const int64_t most = INT32_MAX / 2;
    if (n_threads <= most / n_participants && n_ports <= most / n_participants)
        return 0;
    const th_collective *c = cs->collective;
    return th_error_set(err, "COLL-0015",
                        "%s of %d ranks by %s in %d chunks: too many messages at once: must be "
                        "less than 2^30",
                        th_collective_names[c->kind], c->n_ranks, cs->algorithm->name, c->chunks);
}

int th_collective_schedule_init(th_collective_schedule *cs, const th_collective *c,
                                const th_system *s, th_error *err)
{
    return th_collective_schedule_init_again(cs, c, s, NULL, err);
}

int th_collective_schedule_init_again(th_collective_schedule *cs, const th_collective *c,
                                      const th_system *s, th_collective_kept *kept, th_error *err)
{
    if (th_collective_check(c, s, err))
        return -1;
    if (!c->algorithm)
        return th_error_set(err, "COLL-0013", "%s of %d ranks: no algorithm has been chosen",
                            th_collective_names[c->kind], c->n_ranks);
    if (!(c->algorithm->kinds >> c->kind & 1u))
        return refuse_kind(c, err);
    th_collective_schedule made = {
        .collective = c, .system = s, .algorithm = c->algorithm, .kept = kept};
    if (c->algorithm->prepare(&made, err) ||
        check_size(&made, made.n_participants, made.n_threads, made.n_ports, err)) {
        th_collective_schedule_clear(&made);
        return -1;
    }
    *cs = made;
    return 0;
}

void th_collective_kept_clear(th_collective_kept *k)
{
    th_free(k->tour);
    th_free(k->trees);
    *k = (th_collective_kept){0};
}

void th_collective_schedule_clear(th_collective_schedule *cs)
{
    th_memory_free(&cs->memory);
    *cs = (th_collective_schedule){0};
}

int th_collective_schedule_set_ranks(th_collective_schedule *cs, int32_t n_threads, int32_t n_ports,
                                     th_error *err)
{
    size_t n = (size_t)cs->collective->n_ranks;
    if (check_size(cs, (int64_t)n, n_threads, n_ports, err))
        return -1;
    cs->node = th_memory_take(&cs->memory, n, sizeof *cs->node);
    if (!cs->node)
        return th_error_no_memory(err);
    memcpy(cs->node, cs->collective->rank_node, n * sizeof *cs->node);
    cs->n_participants = cs->collective->n_ranks;
    cs->n_threads = n_threads;
    cs->n_ports = n_ports;
    return 0;
}

/* --- pairs ------------------------------------------------------------------------------------ */

int64_t th_pair_bytes(const th_collective *c, int32_t from, int32_t to)
{
    if (c->pair_bytes)
        return c->pair_bytes[(int64_t)from * c->n_ranks + to];
    return th_piece_bytes(c->bytes, to, c->n_ranks);
}

int64_t th_pair_first(const th_collective *c, int32_t from, int32_t to)
{
    if (!c->pair_bytes)
        return from * c->bytes + th_piece_first(c->bytes, to, c->n_ranks);
    int64_t first = 0;
    for (int64_t i = 0; i < (int64_t)from * c->n_ranks + to; i++)
        first += c->pair_bytes[i];
    return first;
}

th_range th_pair_size(const th_collective *c, int32_t from, int32_t to)
{
    return (th_range){0, th_pair_bytes(c, from, to),
                      c->pair_bytes ? 0 : th_piece_most(c->bytes, 1, c->n_ranks)};
}

th_range th_pair_range(const th_collective *c, int32_t from, int32_t to)
{
    th_range r = th_pair_size(c, from, to);
    r.first = th_pair_first(c, from, to);
    return r;
}
