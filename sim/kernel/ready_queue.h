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
    int32_t *item; /* a heap */
    size_t n, capacity;
} th_ready_queue;

/* 0, or -1: memory is out. */
int th_ready_queue_add(th_ready_queue *q, int32_t item);
/* The lowest; q must not be empty. */
int32_t th_ready_queue_take(th_ready_queue *q);
static inline int32_t th_ready_queue_peek(const th_ready_queue *q)
{
    return q->item[0];
}

static inline void th_ready_queue_reset(th_ready_queue *q)
{
    q->n = 0;
}

void th_ready_queue_clear(th_ready_queue *q);

#endif
