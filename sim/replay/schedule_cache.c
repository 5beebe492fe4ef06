/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule_cache.c - expansions by the contents of their collective, so that a program that is
 * lowered anew finds those of the last one. new -> (get* | forget)* -> free A schedule of the
 * user's is known by its address only, which may hold another one tomorrow: its expansion is
 * forgotten each time. */
#include <config.h>

#include "sim/replay/schedule_cache.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

typedef struct {
    th_collective collective; /* owns its arrays */
    th_expansion expansion;
} entry;

struct th_prepared {
    th_tuner_context tuner;
    th_map *numbers; /* digest -> number in entries */
    entry **entries; /* each at an address of its own, which its expansion knows */
    size_t n, capacity;
    bool has_schedules;
};

enum { KEPT_MAX = 1024 };

th_prepared *th_prepared_new(const th_tuner_context *w)
{
    th_prepared *p = th_alloc_zero(1, sizeof *p);
    if (!p)
        return NULL;
    p->tuner = *w;
    p->numbers = th_map_new();
    if (!p->numbers) {
        th_free(p);
        return NULL;
    }
    return p;
}

static void drop(entry *e)
{
    if (!e)
        return;
    th_expansion_clear(&e->expansion);
    th_free(e->collective.rank_node);
    th_free(e->collective.pair_bytes);
    th_free(e);
}

static void drop_all(th_prepared *p)
{
    for (size_t i = 0; i < p->n; i++)
        drop(p->entries[i]);
    p->n = 0;
    p->has_schedules = false;
    th_map_clear(p->numbers);
}

void th_prepared_free(th_prepared *p)
{
    if (!p)
        return;
    drop_all(p);
    th_map_free(p->numbers);
    th_free(p->entries);
    th_free(p);
}

void th_prepared_forget(th_prepared *p)
{
    if (p->has_schedules || p->n > KEPT_MAX)
        drop_all(p);
}

/* All that an expansion can depend on, without the padding between. */
typedef struct {
    const void *algorithm, *schedule;
    int64_t bytes, delay_ps;
    int32_t kind, n_ranks, root, chunks, n_dims, is_uneven, dims[8];
} essence;

typedef struct {
    uint64_t half[2];
} digest;

static digest digest_of(const th_collective *c)
{
    size_t n = (size_t)c->n_ranks;
    essence e;
    digest d = {{0, ~UINT64_C(0)}};
    memset(&e, 0, sizeof e);
    e = (essence){c->algorithm, c->schedule, c->bytes,  c->delay_ps,           c->kind, c->n_ranks,
                  c->root,      c->chunks,   c->n_dims, c->pair_bytes != NULL, {0}};
    memcpy(e.dims, c->dims, sizeof e.dims);
    for (int i = 0; i < 2; i++) {
        d.half[i] = th_hash(&e, sizeof e, d.half[i]);
        d.half[i] = th_hash(c->rank_node, n * sizeof *c->rank_node, d.half[i]);
        if (c->pair_bytes)
            d.half[i] = th_hash(c->pair_bytes, n * n * sizeof *c->pair_bytes, d.half[i]);
    }
    return d;
}

static int copy_arrays(th_collective *to, const th_collective *from)
{
    size_t n = (size_t)from->n_ranks;
    to->rank_node = th_alloc_array(n, sizeof *to->rank_node);
    if (!to->rank_node)
        return -1;
    memcpy(to->rank_node, from->rank_node, n * sizeof *to->rank_node);
    if (!from->pair_bytes)
        return 0;
    to->pair_bytes = th_alloc_array(n * n, sizeof *to->pair_bytes);
    if (!to->pair_bytes)
        return -1;
    memcpy(to->pair_bytes, from->pair_bytes, n * n * sizeof *to->pair_bytes);
    return 0;
}

static entry *new_entry(const th_prepared *p, const th_collective *c, th_error *err)
{
    entry *e = th_alloc_zero(1, sizeof *e);
    if (!e) {
        th_error_no_memory(err);
        return NULL;
    }
    e->collective = *c;
    e->collective.rank_node = NULL;
    e->collective.pair_bytes = NULL;
    th_collective *own = &e->collective;
    if (copy_arrays(own, c))
        th_error_no_memory(err);
    else if ((!th_tuner_is_needed(own) ||
              !th_tuner_choose(&p->tuner, own, &own->algorithm, &own->chunks, err)) &&
             !th_expansion_init(&e->expansion, own, p->tuner.system, err))
        return e;
    drop(e);
    return NULL;
}

const th_expansion *th_prepared_get(th_prepared *p, const th_collective *c, th_error *err)
{
    digest key = digest_of(c);
    int64_t number;
    if (th_map_get(p->numbers, &key, sizeof key, &number))
        return &p->entries[number]->expansion;
    entry *e = new_entry(p, c, err);
    if (!e)
        return NULL;
    if (th_grow(&p->entries, &p->capacity, p->n + 1, sizeof *p->entries) ||
        th_map_put(p->numbers, &key, sizeof key, (int64_t)p->n)) {
        drop(e);
        th_error_no_memory(err);
        return NULL;
    }
    p->entries[p->n++] = e;
    p->has_schedules |= c->schedule != NULL;
    return &e->expansion;
}
