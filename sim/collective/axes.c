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

#include "sim/collective/cables.h"

enum { DEGREE_MAX = 64 }; /* a product of more cables at a node would take long */

typedef struct finding {
    th_cables g;
    int32_t *same;   /* by arc: another of its axis; itself: none before it */
    int32_t *colour; /* by arc: its axis */
    int32_t *joined; /* by rank: as same, of the ranks of one coordinate */
    int32_t *number; /* by rank: of its coordinate, in the order of ranks */
    int32_t *order;  /* by such a number: the coordinate */
    th_axis axis;    /* the one whose coordinates these are */
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

/* The next rank along the axis, not back; -1: none. n: how many there are. */
static int32_t next_along(const finding *f, int32_t colour, int32_t v, int32_t back, int32_t *n)
{
    int32_t next = -1;
    *n = 0;
    for (int32_t i = f->g.first[v]; i < f->g.first[v + 1]; i++)
        if (f->colour[i] == colour) {
            ++*n;
            if (f->g.to[i] != back && next < 0)
                next = f->g.to[i];
        }
    return next;
}

/* From rank 0 to an end of a line, or once around a ring. */
static int32_t find_end(const finding *f, int32_t colour)
{
    int32_t v = 0, back = -1, n, next = next_along(f, colour, v, back, &n);
    for (int32_t steps = 0; next >= 0 && n == 2 && steps < f->axis.extent; steps++) {
        back = v;
        v = next;
        next = next_along(f, colour, v, back, &n);
    }
    return v;
}

/* The coordinate of position p of a line, and back: it goes out and back. */
static int32_t folded(int32_t p, int32_t extent)
{
    return p % 2 == 0 ? p / 2 : extent - 1 - p / 2;
}
static int32_t unfolded(int32_t coordinate, int32_t extent)
{
    int32_t back = extent - 1 - coordinate;
    return 2 * coordinate < extent ? 2 * coordinate : 2 * back + 1;
}

/* Orders the coordinates by the axis through rank 0. False: it is no axis. */
static bool order_axis(finding *f, int32_t colour)
{
    th_axis *x = &f->axis;
    int32_t n, back = -1, v, next = next_along(f, colour, 0, -1, &n);
    x->kind = TH_TOPOLOGY_DIM_FULL;
    int32_t n_of_next = n;
    if (next >= 0)
        next_along(f, colour, next, -1, &n_of_next);
    bool is_full = n == x->extent - 1 && n_of_next == n; /* not the middle of a line of 3 */
    for (int32_t i = 0; i < x->extent; i++)
        f->order[i] = is_full ? i : -1;
    if (is_full)
        return true;
    v = find_end(f, colour);
    next_along(f, colour, v, -1, &n);
    x->kind = n == 1 ? TH_TOPOLOGY_DIM_LINE : TH_TOPOLOGY_DIM_RING;
    for (int32_t p = 0; p < x->extent; p++, back = v, v = next) {
        if (v < 0 || f->order[f->number[v]] >= 0)
            return false;
        f->order[f->number[v]] = n == 1 ? folded(p, x->extent) : p;
        int32_t degree;
        next = next_along(f, colour, v, back, &degree);
        if (degree > 2)
            return false;
    }
    return true;
}

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

/* Do arcs of the colour connect neighbours along the axis alone? Sets its cost; counts the arcs. */
static bool fits(finding *f, int32_t colour, int32_t *arcs)
{
    const th_cables *g = &f->g;
    th_axis *x = &f->axis;
    int64_t least = INT64_MAX;
    for (int32_t v = 0; v < g->n; v++)
        for (int32_t i = g->first[v]; i < g->first[v + 1]; i++) {
            if (f->colour[i] != colour)
                continue;
            int32_t a = f->order[f->number[v]], b = f->order[f->number[g->to[i]]];
            bool is_line = x->kind == TH_TOPOLOGY_DIM_LINE;
            int32_t apart = is_line ? unfolded(b, x->extent) - unfolded(a, x->extent) : b - a;
            bool is_next = apart == 1 || apart == -1 ||
                           (!is_line && (apart == x->extent - 1 || apart == 1 - x->extent));
            if (a == b || (x->kind != TH_TOPOLOGY_DIM_FULL && !is_next))
                return false;
            least = g->bits_per_s[i] < least ? g->bits_per_s[i] : least;
            ++*arcs;
        }
    double d = x->extent;
    x->cost = x->kind == TH_TOPOLOGY_DIM_FULL   ? 1e12 / d
              : x->kind == TH_TOPOLOGY_DIM_RING ? 5e11 * (d - 1) / d
                                                : 1e12 * (d - 1) / d;
    x->cost /= (double)least;
    return true;
}

/* Cables of all ranks along an axis, in both directions. */
static int64_t arcs_of(const th_axis *x, int32_t n)
{
    int64_t of_one = x->kind == TH_TOPOLOGY_DIM_FULL   ? (int64_t)x->extent * (x->extent - 1)
                     : x->kind == TH_TOPOLOGY_DIM_RING ? 2 * x->extent
                                                       : 2 * (x->extent - 1);
    return n / x->extent * of_one;
}

/* Coordinates of all ranks along all colours. False: no product. */
static bool find_places(th_axes *x, finding *f)
{
    int64_t stride = 1;
    for (int32_t q = 0; q < x->n; q++) {
        int32_t arcs = 0;
        number_coordinates(f, q);
        if (f->g.n % (stride * f->axis.extent) != 0 || !order_axis(f, q) || !fits(f, q, &arcs) ||
            arcs != arcs_of(&f->axis, f->g.n))
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
