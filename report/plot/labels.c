/* SPDX-License-Identifier: GPL-3.0-or-later */
/* labels.c - places for the labels of points: each takes the first of eight places around its point
 * where it covers no point, no label and no edge. Labels of a front go first, as they matter
 * most. */
#include <config.h>
#include <math.h>
#include "base/alloc.h"
#include "report/plot/plot.h"
#include "report/table/report_scale.h"

typedef struct box {
    double left, bottom, right, top;
} box;

typedef struct placing {
    const th_plot *plot;
    const th_plot_area *area;
    box *taken;
    size_t n_taken;
} placing;

enum { N_CANDIDATES = 8 };
static const double MARKER = 5; /* half of a marker */

double th_plot_share(const th_plot_ticks *t, bool is_log, double value)
{
    return is_log && t->from > 0 ? log(value / t->from) / log(t->to / t->from)
                                 : (value - t->from) / (t->to - t->from);
}

static bool overlap(const box *a, const box *b)
{
    return a->left < b->right && b->left < a->right && a->bottom < b->top && b->bottom < a->top;
}

static bool is_free(const placing *p, const box *b)
{
    if (b->left < 0 || b->bottom < 0 || b->right > p->area->width || b->top > p->area->height)
        return false;
    for (size_t i = 0; i < p->n_taken; i++)
        if (overlap(b, &p->taken[i]))
            return false;
    return true;
}

static void position_of(const placing *p, const th_plot_point *point, double *x, double *y)
{
    *x = th_plot_share(p->area->x, p->plot->x.is_log, point->x) * p->area->width;
    *y = th_plot_share(p->area->y, p->plot->y.is_log, point->y) * p->area->height;
}

static th_plot_place candidate(const th_plot_area *a, int i)
{
    double near = 1.6 * MARKER, up = 0.5 * a->line + MARKER;
    const th_plot_place all[N_CANDIDATES] = {
        {near, 0, 1, true},   {near, up, 1, true}, {0, up, 0, true},      {-near, 0, -1, true},
        {near, -up, 1, true}, {0, -up, 0, true},   {-near, up, -1, true}, {-near, -up, -1, true},
    };
    return all[i];
}

static box box_of(const placing *p, const th_plot_point *point, const th_plot_place *c)
{
    double x, y, width = th_text_width(point->label) * p->area->letter;
    position_of(p, point, &x, &y);
    double left = x + c->dx - (c->side == 0 ? width / 2 : c->side < 0 ? width : 0);
    return (box){left, y + c->dy - p->area->line / 2, left + width, y + c->dy + p->area->line / 2};
}

static th_plot_place place(placing *p, const th_plot_point *point, bool must)
{
    for (int i = 0; i < N_CANDIDATES; i++) {
        th_plot_place c = candidate(p->area, i);
        box b = box_of(p, point, &c);
        if (!is_free(p, &b))
            continue;
        p->taken[p->n_taken++] = b;
        return c;
    }
    th_plot_place c = candidate(p->area, 0);
    c.is_shown = must;
    return c;
}

static void take_markers(placing *p)
{
    for (int s = 0; s < p->plot->n_series; s++)
        for (size_t i = 0; !p->plot->series[s].is_front && i < p->plot->series[s].n; i++) {
            double x, y;
            position_of(p, &p->plot->series[s].point[i], &x, &y);
            p->taken[p->n_taken++] = (box){x - MARKER, y - MARKER, x + MARKER, y + MARKER};
        }
}

/* A horizontal or vertical line of a front. */
static void take_line(placing *p, double x0, double y0, double x1, double y1)
{
    static const double HALF = 1; /* of its width */
    p->taken[p->n_taken++] =
        (box){fmin(x0, x1) - HALF, fmin(y0, y1) - HALF, fmax(x0, x1) + HALF, fmax(y0, y1) + HALF};
}

/* Each step goes level, then up or down. */
static void take_fronts(placing *p)
{
    for (int s = 0; s < p->plot->n_series; s++)
        for (size_t i = 1; p->plot->series[s].is_front && i < p->plot->series[s].n; i++) {
            double x0, y0, x1, y1;
            position_of(p, &p->plot->series[s].point[i - 1], &x0, &y0);
            position_of(p, &p->plot->series[s].point[i], &x1, &y1);
            take_line(p, x0, y0, x1, y0);
            take_line(p, x1, y0, x1, y1);
        }
}

/* Of fronts, or of the rest. */
static void place_all(placing *p, th_plot_place *out, bool of_front)
{
    size_t at = 0;
    for (int s = 0; s < p->plot->n_series; s++)
        for (size_t i = 0; i < p->plot->series[s].n; i++, at++) {
            const th_plot_series *series = &p->plot->series[s];
            if (series->is_front == of_front && series->point[i].label)
                out[at] = place(p, &series->point[i], of_front);
        }
}

th_plot_place *th_plot_place_labels(const th_plot *plot, const th_plot_area *a)
{
    size_t n = 1;
    for (int s = 0; s < plot->n_series; s++)
        n += plot->series[s].n;
    placing p = {plot, a, th_alloc_array(4 * n, sizeof *p.taken), 0};
    th_plot_place *out = th_alloc_zero(n, sizeof *out);
    if (p.taken && out) {
        take_markers(&p);
        take_fronts(&p);
        place_all(&p, out, true);
        place_all(&p, out, false);
    }
    if (!p.taken) {
        th_free(out);
        out = NULL;
    }
    th_free(p.taken);
    return out;
}
