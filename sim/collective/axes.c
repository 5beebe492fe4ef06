/* SPDX-License-Identifier: GPL-3.0-or-later */
/* axes.c - the axes of a Cartesian product of graphs.
 *   cables -> colour their arcs by axis -> coordinates along each colour -> are all places taken?
 *
 * In a product, two edges at a node are along different axes if and only if they are two sides of
 * exactly one square, whose diagonals are no edges; opposite sides are along the same axis (W.
 * Imrich, S. Klavzar, "Product Graphs", 2000, chapter 4; here rings of 4 come out as two axes of 2,
 * as they are products themselves). So arcs get the colour of their axis by joining all pairs of
 * edges at a node, and opposite sides. Nodes that are connected without a colour have the same
 * coordinate along its axis. The last check finds graphs that are no products. */
#include <config.h>

#include "sim/collective/axes.h"

#include <string.h>

#include "sim/collective/cables.h"

enum { DEGREE_MAX = 64 }; /* a product of more cables at a node would take long */

typedef struct finding {
    th_cables g;
    int32_t *same;          /* by arc: another of its axis; itself: none before it */
    int32_t *colour;        /* by arc: its axis */
    int32_t *joined;        /* by rank: as same, of the ranks of one coordinate */
    int32_t *number;        /* by rank: of its coordinate, in the order of ranks */
    int32_t *n_next, *next; /* by such a number: how many neighbours it has, and the first two */
    int32_t *order;         /* by such a number: the coordinate */
    th_axis axis;           /* the one whose coordinates these are */
} finding;

static int32_t first_of(int32_t *joined, int32_t i)
{
    while (joined[i] != i)
        i = joined[i] = joined[joined[i]];
    return i;
}

static void join(int32_t *joined, int32_t a, int32_t b)
{
    a = first_of(joined, a);
    b = first_of(joined, b);
    joined[a > b ? a : b] = a < b ? a : b;
}

/* --- colours ---------------------------------------------------------------------------------- */

/* The only common neighbour of a and b but v, or -1. */
static int32_t only_other(const th_cables *g, int32_t a, int32_t b, int32_t v)
{
    int32_t i = g->first[a], j = g->first[b], found = -1;
    while (i < g->first[a + 1] && j < g->first[b + 1]) {
        if (g->to[i] == g->to[j] && g->to[i] != v) {
            if (found >= 0)
                return -1;
            found = g->to[i];
        }
        int32_t step = g->to[i] - g->to[j];
        i += step <= 0;
        j += step >= 0;
    }
    return found;
}

/* Two arcs of node v. */
static void join_pair(finding *f, int32_t v, int32_t one, int32_t other)
{
    const th_cables *g = &f->g;
    int32_t a = g->to[one], b = g->to[other];
    if (first_of(f->same, one) == first_of(f->same, other))
        return;
    int32_t across = th_cables_find(g, a, b) >= 0 ? -1 : only_other(g, a, b, v);
    if (across >= 0 && th_cables_find(g, v, across) < 0) {
        join(f->same, one, th_cables_find(g, b, across));
        join(f->same, other, th_cables_find(g, a, across));
    } else {
        join(f->same, one, other);
    }
}

/* The number of colours; 0: an arc has no way back, or a node too many arcs. */
static int32_t colour_arcs(finding *f)
{
    const th_cables *g = &f->g;
    int32_t n = 0;
    for (int32_t i = 0; i < g->n_arcs; i++)
        f->same[i] = i;
    for (int32_t v = 0; v < g->n; v++)
        for (int32_t i = g->first[v]; i < g->first[v + 1]; i++) {
            int32_t back = th_cables_find(g, g->to[i], v);
            if (back < 0 || g->first[v + 1] - g->first[v] > DEGREE_MAX)
                return 0;
            join(f->same, i, back);
        }
    for (int32_t v = 0; v < g->n; v++)
        for (int32_t i = g->first[v]; i < g->first[v + 1]; i++)
            for (int32_t j = g->first[v]; j < i; j++)
                join_pair(f, v, j, i);
    for (int32_t i = 0; i < g->n_arcs; i++) { /* the first of an axis is its least */
        int32_t first = first_of(f->same, i);
        f->colour[i] = first == i ? n++ : f->colour[first];
    }
    return n;
}

/* --- coordinates ------------------------------------------------------------------------------ */

/* Numbers the coordinates along a colour: what the others connect has the same. */
static void number_coordinates(finding *f, int32_t colour)
{
    const th_cables *g = &f->g;
    f->axis.extent = 0;
    for (int32_t v = 0; v < g->n; v++)
        f->joined[v] = v;
    for (int32_t v = 0; v < g->n; v++)
        for (int32_t i = g->first[v]; i < g->first[v + 1]; i++)
            if (f->colour[i] != colour)
                join(f->joined, v, g->to[i]);
    for (int32_t v = 0; v < g->n; v++) {
        int32_t first = first_of(f->joined, v);
        f->number[v] = first == v ? f->axis.extent++ : f->number[first];
    }
}

/* The neighbours of each coordinate, up to two; how many: 3 for more. */
static void add_neighbour(finding *f, int32_t a, int32_t b)
{
    int32_t *n = &f->n_next[a], *next = &f->next[2 * a];
    if ((*n > 0 && next[0] == b) || (*n > 1 && next[1] == b) || *n == 3)
        return;
    if (*n < 2)
        next[*n] = b;
    ++*n;
}

/* Orders coordinates as a line, folded so that it goes out and back, or a ring. False: neither. */
static bool order_axis(finding *f)
{
    const int32_t d = f->axis.extent;
    int32_t at = 0, back = -1, ends = 0;
    for (int32_t a = d - 1; a >= 0; a--) {
        f->order[a] = -1;
        at = f->n_next[a] == 1 ? a : at;
        ends += f->n_next[a] == 1;
        if (f->n_next[a] != 1 && f->n_next[a] != 2)
            return false;
    }
    f->axis.kind = ends > 0 ? TH_TOPOLOGY_DIM_LINE : TH_TOPOLOGY_DIM_RING;
    for (int32_t p = 0; p < d; p++) {
        if (f->order[at] >= 0)
            return false;
        f->order[at] = ends == 0 ? p : p % 2 == 0 ? p / 2 : d - 1 - p / 2;
        const int32_t *next = &f->next[2 * at];
        int32_t to = f->n_next[at] == 1 || next[0] != back ? next[0] : next[1];
        back = at;
        at = to;
    }
    return true;
}

/* An axis from the arcs of a colour: its kind, cost, and order. False: it is none. */
static bool find_axis(finding *f, int32_t colour)
{
    const th_cables *g = &f->g;
    th_axis *x = &f->axis;
    int64_t least = INT64_MAX, arcs = 0, n = g->n, d;
    number_coordinates(f, colour);
    d = x->extent;
    memset(f->n_next, 0, (size_t)d * sizeof *f->n_next);
    for (int32_t v = 0; v < n; v++)
        for (int32_t i = g->first[v]; i < g->first[v + 1]; i++) {
            if (f->colour[i] != colour)
                continue;
            if (f->number[v] == f->number[g->to[i]])
                return false;
            add_neighbour(f, f->number[v], f->number[g->to[i]]);
            least = g->bits_per_s[i] < least ? g->bits_per_s[i] : least;
            arcs++;
        }
    x->kind = TH_TOPOLOGY_DIM_FULL;
    for (int32_t a = 0; a < d; a++)
        f->order[a] = a;
    if (arcs != n * (d - 1) && !order_axis(f))
        return false;
    bool is_full = x->kind == TH_TOPOLOGY_DIM_FULL, is_ring = x->kind == TH_TOPOLOGY_DIM_RING;
    x->cost = is_full ? 1e12 : is_ring ? 5e11 * (double)(d - 1) : 1e12 * (double)(d - 1);
    x->cost /= (double)d * (double)least;
    return is_full || arcs * d == 2 * n * (is_ring ? d : d - 1);
}

/* Coordinates of all ranks along all colours. False: no product. */
static bool find_places(th_axes *x, finding *f)
{
    int64_t stride = 1;
    for (int32_t q = 0; q < x->n; q++) {
        if (!find_axis(f, q) || f->g.n % (stride * f->axis.extent) != 0)
            return false;
        x->axis[q] = f->axis;
        for (int32_t v = 0; v < f->g.n; v++)
            x->place[v] += f->order[f->number[v]] * (int32_t)stride;
        stride *= f->axis.extent;
    }
    for (int32_t v = 0; v < f->g.n; v++)
        x->rank[v] = -1;
    for (int32_t v = 0; v < f->g.n; v++) {
        if (x->rank[x->place[v]] >= 0)
            return false;
        x->rank[x->place[v]] = v;
    }
    return stride == f->g.n;
}

int th_axes_init(th_axes *x, th_collective_schedule *cs, th_error *err)
{
    finding f = {.axis = {0}};
    *x = (th_axes){0};
    if (th_cables_init(&f.g, cs, err))
        return -1;
    size_t n = (size_t)f.g.n, arcs = (size_t)f.g.n_arcs + 1;
    f.same = th_memory_take(&cs->memory, arcs, sizeof *f.same);
    f.colour = th_memory_take(&cs->memory, arcs, sizeof *f.colour);
    f.joined = th_memory_take(&cs->memory, n, sizeof *f.joined);
    f.number = th_memory_take(&cs->memory, n, sizeof *f.number);
    f.order = th_memory_take(&cs->memory, n, sizeof *f.order);
    f.n_next = th_memory_take(&cs->memory, n, sizeof *f.n_next);
    f.next = th_memory_take(&cs->memory, 2 * n, sizeof *f.next);
    x->place = th_memory_take(&cs->memory, n, sizeof *x->place);
    x->rank = th_memory_take(&cs->memory, n, sizeof *x->rank);
    if (cs->memory.is_out)
        return th_error_no_memory(err);
    x->n = colour_arcs(&f);
    if (x->n <= TH_MAX_DIMS && find_places(x, &f))
        return 0;
    return th_error_set(err, "COLL-0206",
                        "%s of %d ranks by %s: the cables between them are those of no torus, mesh "
                        "or hypercube",
                        th_collective_names[cs->collective->kind], cs->collective->n_ranks,
                        cs->algorithm->name);
}
