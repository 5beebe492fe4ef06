/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_cuts.c - how pieces that are held meet pieces that are needed, along one axis.
 *   add: boxes -> the different ranges of their positions; meet: piece by piece, reader by reader
 * The boxes of a strategy are products of ranges, so what holds along each axis holds for boxes. */
#include <config.h>

#include "mapper/evaluate/bounds_cuts.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/min_max.h"

static bool has_ranges(const th_cut *c, int i, const th_box *boxes, int axis)
{
    bool equal = true;
    for (int k = 0; k < c->chunks; k++)
        equal &= c->lo[i * c->chunks + k] == boxes[k].lo[axis] &&
                 c->hi[i * c->chunks + k] == boxes[k].hi[axis];
    return equal;
}

static bool is_equal(const th_cut *a, const th_cut *b)
{
    const size_t size = (size_t)(a->n * a->chunks) * sizeof *a->lo;
    return a->n == b->n && a->chunks == b->chunks && memcmp(a->lo, b->lo, size) == 0 &&
           memcmp(a->hi, b->hi, size) == 0;
}

int32_t th_cut_add(th_cut_list *l, const th_box *boxes, int n, int chunks, int axis)
{
    if (th_grow(&l->item, &l->capacity, l->n + 1, sizeof *l->item))
        return -1;
    th_cut *c = &l->item[l->n];
    *c = (th_cut){.chunks = chunks};
    for (int r = 0; r < n; r++) {
        int i = 0;
        while (i < c->n && !has_ranges(c, i, &boxes[r * chunks], axis))
            i++;
        for (int k = 0; i == c->n && k < chunks; k++) {
            c->lo[i * chunks + k] = boxes[r * chunks + k].lo[axis];
            c->hi[i * chunks + k] = boxes[r * chunks + k].hi[axis];
        }
        c->n += i == c->n;
    }
    size_t i = 0;
    while (!is_equal(&l->item[i], c)) /* c at the latest */
        i++;
    l->n += i == l->n;
    return (int32_t)i;
}

void th_cut_clear(th_cut_list *l)
{
    th_free(l->item);
    *l = (th_cut_list){NULL, 0, 0};
}

/* How a position reads a piece. */
typedef struct {
    double all, least; /* elements: of all chunks together, of any chunk that reads */
    int32_t chunks;    /* that read */
} reading;

static reading read_piece(const th_cut *c, int i, int32_t lo, int32_t hi)
{
    reading x = {.least = INFINITY};
    int32_t end = INT32_MIN;
    for (int k = i * c->chunks; k < (i + 1) * c->chunks; k++) {
        const int32_t from = th_max(lo, c->lo[k]), to = th_min(hi, c->hi[k]);
        if (from >= to)
            continue;
        x.all += th_max(to - th_max(from, end), 0);
        x.least = fmin(x.least, to - from);
        x.chunks++;
        end = th_max(end, to);
    }
    return x;
}

/* Lowers m to one piece that is held. */
static void meet_piece(th_meeting *m, const th_cut *needed, int32_t lo, int32_t hi)
{
    th_meeting x = {.each = INFINITY, .each_chunk = INFINITY, .each_chunks = INT32_MAX};
    for (int i = 0; i < needed->n; i++) {
        const reading by = read_piece(needed, i, lo, hi);
        if (by.chunks == 0)
            continue;
        x.readers++;
        x.each = fmin(x.each, by.all);
        x.each_chunk = fmin(x.each_chunk, by.least);
        x.each_chunks = th_min(x.each_chunks, by.chunks);
        if (by.all > x.most || (by.all == x.most && by.chunks > x.most_chunks)) {
            x.most = by.all;
            x.most_chunk = by.least;
            x.most_chunks = by.chunks;
        }
    }
    m->readers = th_min(m->readers, x.readers);
    m->most = fmin(m->most, x.most);
    m->most_chunk = fmin(m->most_chunk, x.most_chunk);
    m->most_chunks = th_min(m->most_chunks, x.most_chunks);
    m->each = fmin(m->each, x.each);
    m->each_chunk = fmin(m->each_chunk, x.each_chunk);
    m->each_chunks = th_min(m->each_chunks, x.each_chunks);
}

th_meeting th_cut_meet(const th_cut *held, const th_cut *needed)
{
    th_meeting m = {INFINITY, INFINITY, INT32_MAX, INT32_MAX, INFINITY, INFINITY, INT32_MAX};
    for (int i = 0; i < held->n * held->chunks; i++)
        if (held->lo[i] < held->hi[i])
            meet_piece(&m, needed, held->lo[i], held->hi[i]);
    return m;
}
