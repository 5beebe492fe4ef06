/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout.c - the layout of a system figure, computed from its topology without a search.
 *
 * Trees, fat trees and hosts with islands: levels, every switch in the middle above its leaves, and
 * switches with the same leaves side by side. One dimension other than a line, or no dimensions: a
 * circle. Dimensions: a grid, with every further pair of dimensions a grid of grids. Islands
 * without levels: a circle of circles. Switches that join leaves across such levels, or two
 * islands, are a row beside them. Nodes without a position after that (hosts, switches of a
 * dimension) are placed in the middle of their neighbours, or next to it. */
#include <config.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "report/html/layout.h"

typedef struct th_placing {
    const th_system *system;
    th_html_position *at;
    bool *is_placed;
} th_placing;

static void place(th_placing *p, int node, double x, double y)
{
    p->at[node] = (th_html_position){x, y};
    p->is_placed[node] = true;
}

/* ---- levels ---- */

/* Levels with a root above all leaves; a dragonfly has none. */
static bool has_levels(const th_system *s)
{
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].level > 0 && s->nodes[i].n_leaves == s->n_accels)
            return true;
    return false;
}

static bool are_siblings(const th_node *a, const th_node *b)
{
    return a->level == b->level && a->leaf_first == b->leaf_first && a->n_leaves == b->n_leaves;
}

/* The rank of a node among its siblings, which are placed in a row, and their number. */
static void count_siblings(const th_system *s, int node, int *number, int *n)
{
    int first = node, last = node;
    while (first > 0 && are_siblings(&s->nodes[first - 1], &s->nodes[node]))
        first--;
    while (last + 1 < s->n_nodes && are_siblings(&s->nodes[last + 1], &s->nodes[node]))
        last++;
    *number = node - first;
    *n = last - first + 1;
}

static void place_levels(th_placing *p)
{
    const th_system *s = p->system;
    int top = 1;
    for (int i = 0; i < s->n_nodes; i++)
        top = s->nodes[i].level > top ? s->nodes[i].level : top;
    double step = fmax(1.5, 0.35 * s->n_accels / top);
    step = fmin(step, 6);
    for (int i = 0; i < s->n_nodes; i++) {
        const th_node *node = &s->nodes[i];
        int number = 0, n = 1;
        if (node->n_leaves == 0)
            continue;
        if (node->level > 0)
            count_siblings(s, i, &number, &n);
        place(p, i, node->leaf_first + node->n_leaves * (number + 0.5) / n - 0.5,
              (top - node->level) * step);
    }
}

/* ---- circles ---- */

#define TURN (2 * 3.14159265358979323846)

/* The radius of a circle that n nodes just fit on. */
static double radius_of(int n, double apart)
{
    return n < 2 ? 0 : n == 2 ? apart / 2 : apart / 2 / sin(TURN / 2 / n);
}

static void place_circle(th_placing *p, int n)
{
    double radius = radius_of(n, 1.25);
    for (int i = 0; i < n; i++)
        place(p, i, radius * sin(TURN * i / n), -radius * cos(TURN * i / n));
}

/* ---- grids ---- */

static void place_grid(th_placing *p, int n)
{
    const th_system *s = p->system;
    for (int i = 0; i < n; i++) {
        double at[2] = {0, 0}, extent[2] = {0, 0};
        int rest = i;
        for (int d = 0; d < s->n_dims; d++) {
            int axis = d % 2;
            double step = d < 2 ? 1.25 : extent[axis] + 2;
            at[axis] += step * (rest % s->dims[d].size);
            extent[axis] = step * (s->dims[d].size - 1) + (d < 2 ? 0 : extent[axis]);
            rest /= s->dims[d].size;
        }
        place(p, i, at[0], at[1]);
    }
}

static int n_with_coordinates(const th_system *s)
{
    int n = 1;
    for (int d = 0; d < s->n_dims; d++)
        n *= s->dims[d].size;
    return n;
}

/* ---- islands ---- */

/* Groups, if accelerators or switches form some, are numbered from 0; 1: all are of one. */
static int count_groups(const th_system *s)
{
    int n = 1;
    for (int i = 0; i < s->n_nodes; i++)
        n = s->nodes[i].kind != TH_NODE_HOST && s->nodes[i].group >= n ? s->nodes[i].group + 1 : n;
    return n < s->n_nodes ? n : 1;
}

typedef struct th_islands {
    int n, most;          /* accelerators in the largest */
    int *size, *number;   /* accelerators in each; placed so far */
    double radius, small; /* radius of the circle of islands; two are placed side by side */
} th_islands;

static th_html_position middle_of(const th_islands *g, int group)
{
    double turn = g->n == 2 ? TURN * (group + 1) / 2 : TURN * group / g->n - TURN / 4;
    return (th_html_position){g->radius * cos(turn), g->radius * sin(turn)};
}

/* Are accelerators of more than one island at the node's links? */
static bool joins_islands(const th_system *s, int node)
{
    int group = -1;
    for (int32_t k = s->adjacency.out_start[node]; k < s->adjacency.out_start[node + 1]; k++) {
        const th_node *n = &s->nodes[s->links[s->adjacency.out_links[k]].to];
        if (n->kind != TH_NODE_ACCEL)
            continue;
        if (group >= 0 && n->group != group)
            return true;
        group = n->group;
    }
    return false;
}

/* A switch goes between the middle of its island and that of its leaves. */
static void place_router(th_placing *p, const th_islands *g, int node)
{
    const th_node *n = &p->system->nodes[node];
    th_html_position middle = middle_of(g, n->group), sum = {0, 0};
    for (int i = 0; i < n->n_leaves; i++) {
        th_html_position leaf = p->at[p->system->accel_node[n->leaf_first + i]];
        sum = (th_html_position){sum.x + leaf.x / n->n_leaves, sum.y + leaf.y / n->n_leaves};
    }
    place(p, node, 0.4 * middle.x + 0.6 * sum.x, 0.4 * middle.y + 0.6 * sum.y);
}

static void place_on_islands(th_placing *p, th_islands *g)
{
    const th_system *s = p->system;
    for (int a = 0; a < s->n_accels; a++)
        if (++g->size[s->nodes[s->accel_node[a]].group] > g->most)
            g->most++;
    g->small = radius_of(g->most, 1.25);
    g->radius = radius_of(g->n, 2 * g->small + 2.5);
    for (int a = 0; a < s->n_accels; a++) {
        int group = s->nodes[s->accel_node[a]].group;
        double turn = TURN * (g->number[group]++ + 0.5) / g->size[group];
        th_html_position middle = middle_of(g, group);
        place(p, s->accel_node[a], middle.x + g->small * sin(turn),
              middle.y - g->small * cos(turn));
    }
    for (int i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].level > 0 && s->nodes[i].n_leaves > 0 && g->most > 2 &&
            !joins_islands(s, i))
            place_router(p, g, i);
}

static int place_islands(th_placing *p, int n_groups)
{
    th_islands g = {.n = n_groups, .most = 1};
    g.size = th_alloc_zero((size_t)n_groups, sizeof *g.size);
    g.number = th_alloc_zero((size_t)n_groups, sizeof *g.number);
    int failed = !g.size || !g.number;
    if (!failed)
        place_on_islands(p, &g);
    th_free(g.size);
    th_free(g.number);
    return failed ? -1 : 0;
}

/* ---- remaining nodes ---- */

static bool is_free(const th_placing *p, double x, double y)
{
    for (int i = 0; i < p->system->n_nodes; i++)
        if (p->is_placed[i] && hypot(p->at[i].x - x, p->at[i].y - y) < TH_HTML_NODE_DISTANCE_MIN)
            return false;
    return true;
}

/* Places the node at x, y, or at the first free place on a spiral round it. */
static void place_near(th_placing *p, int node, double x, double y)
{
    for (int k = 0;; k++) {
        double angle = 0.9 * k, distance = 0.22 * sqrt(k) * (k > 0);
        double px = x + distance * cos(angle), py = y + distance * sin(angle);
        if (is_free(p, px, py)) {
            place(p, node, px, py);
            return;
        }
    }
}

/* Places the node in the middle of its placed neighbours. */
static void place_between(th_placing *p, int node)
{
    const th_system *s = p->system;
    double x = 0, y = 0;
    int n = 0;
    for (int32_t k = s->adjacency.out_start[node]; k < s->adjacency.out_start[node + 1]; k++) {
        int to = s->links[s->adjacency.out_links[k]].to;
        if (!p->is_placed[to])
            continue;
        x += p->at[to].x;
        y += p->at[to].y;
        n++;
    }
    place_near(p, node, n > 0 ? x / n : 0, n > 0 ? y / n : 0);
}

/* ---- a row of switches ---- */

static bool is_left_switch(const th_placing *p, int node)
{
    return !p->is_placed[node] && p->system->nodes[node].kind == TH_NODE_SWITCH;
}

/* Places the switches that are left in a row over the width of all that is placed, at a distance
 * below it (negative: above). */
static void place_row(th_placing *p, double distance)
{
    const double apart = 1.25;
    double left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY;
    int n = 0, number = 0;
    for (int i = 0; i < p->system->n_nodes; i++) {
        n += is_left_switch(p, i);
        if (!p->is_placed[i])
            continue;
        left = fmin(left, p->at[i].x);
        right = fmax(right, p->at[i].x);
        top = fmin(top, p->at[i].y);
        bottom = fmax(bottom, p->at[i].y);
    }
    double step = fmax(apart, (right - left) / (n > 0 ? n : 1));
    double first = (left + right) / 2 - step * (n - 1) / 2;
    for (int i = 0; i < p->system->n_nodes; i++)
        if (is_left_switch(p, i))
            place(p, i, first + step * number++, distance < 0 ? top + distance : bottom + distance);
}

int th_html_layout(const th_system *s, th_html_position *at)
{
    th_placing p = {s, at, th_alloc_zero((size_t)s->n_nodes + 1, sizeof *p.is_placed)};
    if (!p.is_placed)
        return -1;
    int n_groups = count_groups(s);
    int failed = 0;
    bool is_line = s->n_dims == 1 && s->dims[0].kind == TH_TOPOLOGY_DIM_LINE;
    if (has_levels(s)) {
        place_levels(&p);
        place_row(&p, 2);
    } else if (s->n_dims > 1 || is_line)
        place_grid(&p, n_with_coordinates(s));
    else if (s->n_dims == 1)
        place_circle(&p, n_with_coordinates(s));
    else if (n_groups > 1) {
        failed = place_islands(&p, n_groups);
        for (int i = 0; !failed && i < s->n_nodes; i++)
            if (!p.is_placed[i] && !joins_islands(s, i))
                place_between(&p, i);
        if (!failed && n_groups == 2)
            place_row(&p, -2);
    } else
        place_circle(&p, s->n_accels);
    for (int i = 0; !failed && i < s->n_nodes; i++)
        if (!p.is_placed[i])
            place_between(&p, i);
    th_free(p.is_placed);
    return failed;
}
