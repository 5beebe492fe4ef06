/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tournament.h - of many that each have a time, the soonest.
 *
 *   init -> (set | first | at | reset)* -> clear
 * Players are the leaves of a binary tree, and in every node is the sooner of the two below it, the
 * left one where they are equal: so of equals the player of the least number is first. A new time
 * costs as many comparisons as the tree is high, whether it is sooner or later than the old one. */
#ifndef TH_SIM_TRACE_TOURNAMENT_H
#define TH_SIM_TRACE_TOURNAMENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

typedef struct th_tournament_place {
    th_time at;     /* TH_TIME_MAX: never */
    int32_t player; /* -1: none was ever set */
} th_tournament_place;

typedef struct th_tournament {
    th_tournament_place
        *node; /* i stands above 2 i and 2 i + 1, 1 above all; leaves from first_leaf on */
    int32_t first_leaf;
} th_tournament;

/* Players 0 to n - 1, all at TH_TIME_MAX. Returns 0, or -1: memory is out, and it may be cleared
 * all the same. */
int th_tournament_init(th_tournament *t, int32_t n);
void th_tournament_clear(th_tournament *t); /* accepts all zero */
void th_tournament_reset(th_tournament *t); /* as after init */

static inline th_time th_tournament_at(const th_tournament *t, int32_t player)
{
    return t->node[t->first_leaf + player].at;
}

static inline th_tournament_place th_tournament_first(const th_tournament *t)
{
    return t->node[1];
}

/* Without a branch on who is sooner: nobody could foresee it. */
static inline void th_tournament_set(th_tournament *t, int32_t player, th_time at)
{
    th_tournament_place *node = t->node;
    size_t i = (size_t)(t->first_leaf + player);
    th_tournament_place p = {at, player};
    node[i] = p;
    for (; i > 1; i /= 2) {
        th_tournament_place other = node[i ^ 1];
        bool other_first = other.at < p.at || (other.at == p.at && (i & 1));
        p.at = other_first ? other.at : p.at;
        p.player = other_first ? other.player : p.player;
        node[i / 2] = p;
    }
}

#endif
