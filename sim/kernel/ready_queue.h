/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ready_queue.h - a priority queue of indices (tasks, accelerators, hosts), lowest first, so that
 * no result depends on the order of insertion.
 *   all zero -> (add | take)* -> clear */
#ifndef TH_SIM_KERNEL_READY_QUEUE_H
#define TH_SIM_KERNEL_READY_QUEUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct th_ready_queue {
    int32_t *item; /* n of them from first on: in order or, from 0 on, a binary heap */
    size_t first, n, capacity;
    bool is_heap;
} th_ready_queue;

/* Where the next one does not come after all others, or a heap gives. */
int th_ready_queue_insert(th_ready_queue *q, int32_t item);
int32_t th_ready_queue_take_from_heap(th_ready_queue *q);

/* 0, or -1: memory is out. Most are added in order. */
static inline int th_ready_queue_add(th_ready_queue *q, int32_t item)
{
    size_t end = q->first + q->n;
    if (q->is_heap || end == q->capacity || (q->n > 0 && item < q->item[end - 1]))
        return th_ready_queue_insert(q, item);
    q->item[end] = item;
    q->n++;
    return 0;
}

/* q must not be empty. */
static inline int32_t th_ready_queue_peek(const th_ready_queue *q)
{
    return q->item[q->first];
}

/* q must not be empty. */
static inline int32_t th_ready_queue_take(th_ready_queue *q)
{
    if (q->is_heap)
        return th_ready_queue_take_from_heap(q);
    int32_t least = q->item[q->first++];
    if (--q->n == 0)
        q->first = 0;
    return least;
}

static inline void th_ready_queue_reset(th_ready_queue *q)
{
    q->first = q->n = 0;
    q->is_heap = false;
}

void th_ready_queue_clear(th_ready_queue *q);

#endif
