/* SPDX-License-Identifier: GPL-3.0-or-later */
/* choices.c - see choices.h. */
#include <config.h>

#include "sim/replay/choices.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

enum { CHOICES_MAX = 1 << 16 };

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

th_collective_choice_key th_collective_choices_key_of_any(const th_collective *c, uint64_t options)
{
    size_t n = (size_t)c->n_ranks;
    th_collective_choice_key k = {{options, ~options}}, *key = &k;
    add_word(key, (uint64_t)c->kind);
    add_word(key, (uint64_t)c->bytes);
    add_word(key, (uint64_t)c->delay_ps);
    add_word(key, (uint64_t)c->n_ranks << 32 | (uint32_t)c->root);
    add_word(key, (uint64_t)c->chunks << 32 | (uint32_t)c->n_dims);
    add_bytes(key, c->dims, (size_t)c->n_dims * sizeof *c->dims);
    add_word(key, (uint64_t) !!c->algorithm << 1 | (uint64_t) !!c->pair_bytes);
    if (c->algorithm)
        add_bytes(key, c->algorithm->name, strlen(c->algorithm->name));
    if (c->pair_bytes)
        add_bytes(key, c->pair_bytes, n * n * sizeof *c->pair_bytes);
    return k;
}

th_collective_choice_key th_collective_choices_key(const th_collective *c, uint64_t options)
{
    th_collective_choice_key k = th_collective_choices_key_of_any(c, options);
    add_bytes(&k, c->rank_node, (size_t)c->n_ranks * sizeof *c->rank_node);
    return k;
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
