/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_ways.h - private to the bounds: the ways of a set to run a layer, a short list in which no
 * way takes more of both its times than another. Times in ps.
 *   {0} -> add* -> pass */
#ifndef TH_MAPPER_EVALUATE_BOUNDS_WAYS_H
#define TH_MAPPER_EVALUATE_BOUNDS_WAYS_H
#include <stdbool.h>

typedef struct th_way {
    double work; /* accelerator time of all tasks */
    double span; /* of the shortest position or chunk, from its inputs to its outputs */
} th_way;

enum { TH_WAYS_MAX = 8 };
/* By ascending work, so descending span. n 0: the set cannot run it. */
typedef struct th_ways {
    int n;
    th_way way[TH_WAYS_MAX + 1]; /* the last: private to add */
} th_ways;

/* Does a way take no more of either? */
bool th_ways_cover(const th_ways *w, double work, double span);
/* Where there are too many, two become one that takes the lesser of both times. */
void th_ways_add(th_ways *w, double work, double span);
/* The work becomes that of so many passes, and of others that the second list runs. */
void th_ways_pass(th_ways *w, double passes, const th_ways *also, double also_passes);
#endif
