/* SPDX-License-Identifier: GPL-3.0-or-later */
/* choices.c - see choices.h.
 * The shape of a group is what an estimate of a direct all_to_all without bytes goes over: every
 * route, by names in the order in which they appear; then the same of in_switch. */
#include <config.h>

#include "sim/replay/choices.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sim/collective/algorithms.h"

enum { SHAPE_RANKS_MAX = 256, CHOICES_MAX = 1 << 16 };

struct th_collective_choices {
    th_map *numbers; /* key -> number in choices */
    th_collective_choice *choices;
    size_t n, capacity;
    th_collective_choice_watch watch;
};

th_collective_choices *th_collective_choices_new(void)
{
    th_collective_choices *x = th_alloc_zero(1, sizeof *x);
    if (x && !(x->numbers = th_map_new())) {
        th_free(x);
        return NULL;
    }
    return x;
}

void th_collective_choices_free(th_collective_choices *x)
{
    if (!x)
        return;
    th_map_free(x->numbers);
    th_free(x->choices);
    th_free(x);
}

void th_collective_choices_clear(th_collective_choices *x)
{
    th_map_clear(x->numbers);
    x->n = 0;
}

void th_collective_choices_watch(th_collective_choices *x, th_collective_choice_watch w)
{
    x->watch = w;
}

void th_collective_choices_show(const th_collective_choices *x, const th_collective *candidate)
{
    if (x->watch.show)
        x->watch.show(x->watch.own, candidate);
}

int64_t th_collective_choices_size(const th_collective *c)
{
    int64_t low = 1, most = INT64_MAX / c->n_ranks;
    if (c->pair_bytes || c->bytes < 2 || c->bytes > most / 2)
        return c->bytes;
    while (low <= c->bytes / 2)
        low *= 2;
    int64_t quarter = low / 4, beyond = c->bytes - low;
    if (quarter == 0)
        return c->bytes;
    return low + (beyond + quarter / 2) / quarter * quarter;
}

/* --- keys ------------------------------------------------------------------------------------- */

static void add_word(th_collective_choice_key *k, uint64_t word)
{
    k->digest[0] = th_hash_word(k->digest[0], word);
    k->digest[1] = th_hash_word(k->digest[1], ~word);
}

static void add_bytes(th_collective_choice_key *k, const void *bytes, size_t n)
{
    k->digest[0] = th_hash(bytes, n, k->digest[0]);
    k->digest[1] = th_hash(bytes, n, k->digest[1]);
}

/* The island of a rank, as the number of the first rank on it; and its memory. */
static void add_rank(th_collective_choice_key *k, const th_collective *c, const th_system *s,
                     int32_t rank)
{
    const th_node *node = &s->nodes[c->rank_node[rank]];
    int32_t first = 0;
    while (s->nodes[c->rank_node[first]].group != node->group)
        first++;
    add_word(k, (uint64_t)first);
    add_word(k, (uint64_t)node->kind);
    if (node->kind != TH_NODE_ACCEL)
        return;
    add_word(k, (uint64_t)node->a.dram_bits_per_s);
    add_word(k, (uint64_t)node->a.dram_latency_ps);
    add_word(k, (uint64_t)node->a.dram_burst_bytes);
    add_word(k, (uint64_t)node->a.dram_channels);
}

/* The routes of an algorithm without bytes; nothing where it refuses the group. 0 or -1. */
static int add_routes(th_collective_choice_key *k, const th_collective *c, const th_system *s,
                      th_estimator *e, th_collective_kind kind, const th_algorithm *a,
                      th_error *err)
{
    th_collective empty = {.kind = kind,
                           .algorithm = a,
                           .rank_node = c->rank_node,
                           .n_ranks = c->n_ranks,
                           .chunks = 1};
    th_collective_schedule cs;
    th_error why = {"", ""};
    th_collective_estimated estimate;
    if (th_collective_schedule_init(&cs, &empty, s, &why)) {
        add_word(k, 0);
        return th_error_is_no_memory(&why) ? th_error_no_memory(err) : 0;
    }
    th_estimate_limits l = {1e300, INT64_MAX, INT64_MAX, &k->digest[0], NULL};
    th_estimate_outcome o = th_collective_estimate(e, &cs, &l, &estimate, err);
    th_collective_schedule_clear(&cs);
    k->digest[1] = th_hash_word(k->digest[1], k->digest[0]);
    return o == TH_ESTIMATE_DONE ? 0 : -1;
}

static bool any_switch_reduces(const th_system *s)
{
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].reduces)
            return true;
    return false;
}

static int add_shape(th_collective_choice_key *k, const th_collective *c, const th_system *s,
                     th_estimator *e, th_error *err)
{
    /* hierarchical takes the dimensions of the system for all of it, in order */
    bool is_whole = c->n_ranks == s->n_accels;
    for (int32_t i = 0; is_whole && i < c->n_ranks; i++)
        is_whole = c->rank_node[i] == s->accel_node[i];
    add_word(k, is_whole);
    for (int32_t i = 0; i < c->n_ranks; i++)
        add_rank(k, c, s, i);
    if (add_routes(k, c, s, e, TH_ALL_TO_ALL, &th_algorithm_direct, err))
        return -1;
    return any_switch_reduces(s)
               ? add_routes(k, c, s, e, TH_ALL_REDUCE, &th_algorithm_in_switch, err)
               : 0;
}

int th_collective_choices_key(const th_collective *c, const th_system *s, th_estimator *e,
                              uint64_t options, th_collective_choice_key *key, th_error *err)
{
    size_t n = (size_t)c->n_ranks;
    *key = (th_collective_choice_key){{options, ~options}};
    add_word(key, (uint64_t)c->kind);
    add_word(key, (uint64_t)c->bytes);
    add_word(key, (uint64_t)c->delay_ps);
    add_word(key, (uint64_t)c->n_ranks << 32 | (uint32_t)c->root);
    add_word(key, (uint64_t)c->chunks << 32 | (uint32_t)c->n_dims);
    add_bytes(key, c->dims, sizeof c->dims);
    if (c->algorithm)
        add_bytes(key, c->algorithm->name, strlen(c->algorithm->name));
    if (c->pair_bytes)
        add_bytes(key, c->pair_bytes, n * n * sizeof *c->pair_bytes);
    if (n <= SHAPE_RANKS_MAX)
        return add_shape(key, c, s, e, err);
    add_bytes(key, c->rank_node, n * sizeof *c->rank_node);
    return 0;
}

bool th_collective_choices_find(const th_collective_choices *x, const th_collective_choice_key *key,
                                th_collective_choice *out)
{
    int64_t number;
    if (!th_map_get(x->numbers, key, sizeof *key, &number))
        return false;
    *out = x->choices[number];
    return true;
}

int th_collective_choices_add(th_collective_choices *x, const th_collective_choice_key *key,
                              th_collective_choice choice, th_error *err)
{
    if (x->n >= CHOICES_MAX)
        th_collective_choices_clear(x);
    if (th_grow(&x->choices, &x->capacity, x->n + 1, sizeof *x->choices) ||
        th_map_put(x->numbers, key, sizeof *key, (int64_t)x->n))
        return th_error_no_memory(err);
    x->choices[x->n++] = choice;
    return 0;
}
