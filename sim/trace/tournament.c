/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tournament.c - of many that each have a time, the soonest; what happens once. */
#include <config.h>

#include "sim/trace/tournament.h"

#include "base/alloc.h"

int th_tournament_init(th_tournament *t, int32_t n)
{
    for (t->first_leaf = 1; t->first_leaf < n; t->first_leaf *= 2)
        ;
    t->node = th_alloc_array(2 * (size_t)t->first_leaf, sizeof *t->node);
    if (!t->node)
        return -1;
    th_tournament_reset(t);
    return 0;
}

void th_tournament_clear(th_tournament *t)
{
    th_free(t->node);
    *t = (th_tournament){0};
}

void th_tournament_reset(th_tournament *t)
{
    for (int32_t i = 0; i < 2 * t->first_leaf; i++)
        t->node[i] = (th_tournament_place){TH_TIME_MAX, -1};
}
