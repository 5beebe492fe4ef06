/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draw.h - random integers of a range. */
#ifndef TH_TESTS_UNIT_DRAW_H
#define TH_TESTS_UNIT_DRAW_H
#include "base/random.h"

/* from .. to, both included. */
static inline int draw(gsl_rng *r, int from, int to)
{
    return from + (int)th_random_below(r, (uint64_t)(to - from + 1));
}

#endif
