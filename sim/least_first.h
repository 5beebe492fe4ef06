/* SPDX-License-Identifier: GPL-3.0-or-later */
/* least_first.h - a set of small integers that gives the least first, so that no result depends on
 * the order of adding.
 *   all zero -> (add | take)* -> th_free(item) */
#ifndef TH_SIM_LEAST_FIRST_H
#define TH_SIM_LEAST_FIRST_H
#include <stddef.h>
#include <stdint.h>

typedef struct th_least_first {
    int32_t *item;
    size_t n, capacity;
} th_least_first;

int th_least_first_add(th_least_first *q, int32_t item); /* 0, or -1: memory is out */
int32_t th_least_first_take(th_least_first *q);          /* q must not be empty */

#endif
