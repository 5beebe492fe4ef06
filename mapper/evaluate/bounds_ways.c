/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_ways.c - ways of a set to run a layer, of which no other takes less of both. */
#include <config.h>

#include "mapper/evaluate/bounds_ways.h"

#include <math.h>

bool th_ways_cover(const th_ways *w, double work, double span)
{
    bool is_covered = false;
    for (int i = 0; i < w->n; i++)
        is_covered |= w->way[i].work <= work && w->way[i].span <= span;
    return is_covered;
}

static void remove_way(th_ways *w, int i)
{
    for (w->n--; i < w->n; i++)
        w->way[i] = w->way[i + 1];
}

/* Two neighbours become one way that takes the lesser of both: those that differ least in work. */
static void merge_nearest(th_ways *w)
{
    int nearest = 0;
    double least = INFINITY;
    for (int i = 0; i + 1 < w->n; i++) {
        const double ratio = w->way[i + 1].work / fmax(w->way[i].work, 1);
        if (ratio < least) {
            least = ratio;
            nearest = i;
        }
    }
    w->way[nearest].span = w->way[nearest + 1].span;
    remove_way(w, nearest + 1);
}

void th_ways_add(th_ways *w, double work, double span)
{
    if (th_ways_cover(w, work, span))
        return;
    for (int i = w->n - 1; i >= 0; i--)
        if (w->way[i].work >= work && w->way[i].span >= span)
            remove_way(w, i);
    int at = w->n++;
    for (; at > 0 && w->way[at - 1].work > work; at--)
        w->way[at] = w->way[at - 1];
    w->way[at] = (th_way){work, span};
    if (w->n > TH_WAYS_MAX)
        merge_nearest(w);
}

void th_ways_pass(th_ways *w, double passes, const th_ways *also, double also_passes)
{
    const double work = also_passes > 0 && also->n > 0 ? also_passes * also->way[0].work : 0,
                 span = also_passes > 0 && also->n > 0 ? also->way[also->n - 1].span : INFINITY;
    if (also_passes > 0 && also->n == 0)
        w->n = 0;
    for (int i = 0; i < w->n; i++)
        w->way[i] = (th_way){passes * w->way[i].work + work, fmin(w->way[i].span, span)};
}
