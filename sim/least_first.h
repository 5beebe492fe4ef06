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

/* Where several are, below. */
int th_least_first_add_to(th_least_first *q, int32_t item);
int32_t th_least_first_take_from(th_least_first *q);

/* 0, or -1: memory is out. */
static inline int th_least_first_add(th_least_first *q, int32_t item)
{
    if (q->n > 0 || q->capacity == 0)
        return th_least_first_add_to(q, item);
    q->item[q->n++] = item;
    return 0;
}

/* q must not be empty. */
static inline int32_t th_least_first_take(th_least_first *q)
{
    if (q->n > 1)
        return th_least_first_take_from(q);
    return q->item[--q->n];
}

#endif
