/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ready_queue.h - a set of small integers that gives the least first, so that no result depends on
 * the order of adding.
 *   all zero -> (add | take)* -> clear */
#ifndef TH_SIM_KERNEL_READY_QUEUE_H
#define TH_SIM_KERNEL_READY_QUEUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct th_least_first {
    int32_t *item; /* n of them from first on: in order or, from 0 on, a binary heap */
    size_t first, n, capacity;
    bool is_heap;
} th_least_first;

/* Where the next one does not come after all others, or a heap gives. */
int th_least_first_insert(th_least_first *q, int32_t item);
int32_t th_least_first_take_from_heap(th_least_first *q);

/* 0, or -1: memory is out. Most are added in order. */
static inline int th_least_first_add(th_least_first *q, int32_t item)
{
    size_t end = q->first + q->n;
    if (q->is_heap || end == q->capacity || (q->n > 0 && item < q->item[end - 1]))
        return th_least_first_insert(q, item);
    q->item[end] = item;
    q->n++;
    return 0;
}

/* q must not be empty. */
static inline int32_t th_least_first_look(const th_least_first *q)
{
    return q->item[q->first];
}

/* q must not be empty. */
static inline int32_t th_least_first_take(th_least_first *q)
{
    if (q->is_heap)
        return th_least_first_take_from_heap(q);
    int32_t least = q->item[q->first++];
    if (--q->n == 0)
        q->first = 0;
    return least;
}

static inline void th_least_first_reset(th_least_first *q)
{
    q->first = q->n = 0;
    q->is_heap = false;
}

void th_least_first_clear(th_least_first *q);

#endif
