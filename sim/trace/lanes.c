/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lanes.c - the running spans, and a lane for each.
 *
 *   new -> (acquire | release)* -> reset -> ... -> free
 * Viewers need spans of one track not to overlap. A span therefore gets the lowest free lane of its
 * object and kind; if at most one runs at a time, all are on lane 0. Invariant: spans[i] is running
 * if and only if is_used[place(spans[i])] has the bit of its lane. */
#include <config.h>

#include "base/alloc.h"
#include "sim/trace/trace_state.h"

enum { BITS = 64 };

/* One bit per lane in use. */
typedef struct {
    uint64_t *word;
    size_t n;
} lanes;

struct th_lanes {
    lanes *is_used; /* by object and kind; object -1 comes last */
    size_t n_places;
    int32_t n_objects;
    th_span *spans; /* by slot; lane -1: free, and number is the next free one */
    size_t n_spans, span_capacity;
    int32_t free_span; /* -1: none */
    int32_t *slot[2];  /* by number, of RECEIVE and of all others: slot + 1, 0: none */
    size_t slot_capacity[2];
};

th_lanes *th_lanes_new(int32_t n_objects)
{
    th_lanes *l = th_alloc_zero(1, sizeof *l);
    if (!l)
        return NULL;
    l->n_objects = n_objects;
    l->n_places = ((size_t)n_objects + 1) * TH_N_SPAN_KINDS;
    l->free_span = -1;
    l->is_used = th_alloc_zero(l->n_places, sizeof *l->is_used);
    if (l->is_used)
        return l;
    th_free(l);
    return NULL;
}

void th_lanes_free(th_lanes *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n_places; i++)
        th_free(l->is_used[i].word);
    th_free(l->is_used);
    th_free(l->spans);
    th_free(l->slot[0]);
    th_free(l->slot[1]);
    th_free(l);
}

void th_lanes_reset(th_lanes *l)
{
    th_span s;
    for (size_t i = 0; i < l->n_spans; i++)
        if (l->spans[i].lane >= 0)
            th_lanes_release(l, l->spans[i].kind, l->spans[i].number, &s);
}

static lanes *lanes_of(th_lanes *l, const th_span *s)
{
    int32_t object = s->object >= 0 ? s->object : l->n_objects;
    return &l->is_used[(size_t)object * TH_N_SPAN_KINDS + (size_t)s->kind];
}

/* Marks the lowest free lane as used and returns it; -1: memory is out. */
static int32_t acquire_lane(lanes *x)
{
    size_t w = 0;
    while (w < x->n && x->word[w] == UINT64_MAX)
        w++;
    if (w == x->n) {
        uint64_t *more = th_realloc_array(x->word, x->n + 1, sizeof *more);
        if (!more)
            return -1;
        x->word = more;
        x->word[x->n++] = 0;
    }
    int bit = __builtin_ctzll(~x->word[w]);
    x->word[w] |= (uint64_t)1 << bit;
    return (int32_t)(w * BITS) + bit;
}

static int32_t new_span(th_lanes *l)
{
    int32_t i = l->free_span;
    if (i >= 0) {
        l->free_span = l->spans[i].number;
        return i;
    }
    if (th_grow(&l->spans, &l->span_capacity, l->n_spans + 1, sizeof *l->spans))
        return -1;
    return (int32_t)l->n_spans++;
}

/* The slot of a number; grows the table. NULL: memory is out. */
static int32_t *slot_of(th_lanes *l, int32_t kind, int32_t number)
{
    int side = kind == TH_SPAN_RECEIVE;
    size_t before = l->slot_capacity[side];
    if (th_grow(&l->slot[side], &l->slot_capacity[side], (size_t)number + 1, sizeof *l->slot[side]))
        return NULL;
    if (l->slot_capacity[side] > before)
        memset(&l->slot[side][before], 0,
               (l->slot_capacity[side] - before) * sizeof *l->slot[side]);
    return &l->slot[side][number];
}

int32_t th_lanes_acquire(th_lanes *l, const th_span *s)
{
    int32_t *slot = slot_of(l, s->kind, s->number);
    int32_t i = slot ? new_span(l) : -1;
    if (i < 0)
        return -1;
    l->spans[i] = *s;
    l->spans[i].lane = acquire_lane(lanes_of(l, s));
    if (l->spans[i].lane < 0) {
        l->spans[i].number = l->free_span;
        l->free_span = i;
        return -1;
    }
    *slot = i + 1;
    return l->spans[i].lane;
}

bool th_lanes_release(th_lanes *l, int32_t kind, int32_t number, th_span *s)
{
    int side = kind == TH_SPAN_RECEIVE;
    if ((size_t)number >= l->slot_capacity[side] || l->slot[side][number] == 0)
        return false;
    int32_t i = l->slot[side][number] - 1;
    l->slot[side][number] = 0;
    *s = l->spans[i];
    lanes_of(l, s)->word[s->lane / BITS] &= ~((uint64_t)1 << (s->lane % BITS));
    l->spans[i].lane = -1;
    l->spans[i].number = l->free_span;
    l->free_span = i;
    return true;
}

bool th_lanes_open(const th_lanes *l, size_t i, th_span *s)
{
    for (size_t k = 0; k < l->n_spans; k++)
        if (l->spans[k].lane >= 0 && i-- == 0) {
            *s = l->spans[k];
            return true;
        }
    return false;
}
