/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort_by_time.h - sorts numbers by their times. */
#ifndef TH_BASE_SORT_BY_TIME_H
#define TH_BASE_SORT_BY_TIME_H
#include <stddef.h>
#include "base/units.h"

typedef struct th_timed {
    th_time at; /* 0 or more */
    int32_t number;
} th_timed;

/* Puts n of them in the order of their times, the least first; those of one time stay in the order
 * they are in. scratch has room for as many. Time: proportional to n and to the digits of the
 * latest. */
void th_sort_by_time(th_timed *all, size_t n, th_timed *scratch);

#endif
