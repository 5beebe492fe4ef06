/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ready_queue.c - a priority queue of indices, lowest first. */
#include <config.h>

#include "sim/kernel/ready_queue.h"

#include "base/alloc.h"

#define TH_HEAP_ITEM            int32_t
#define TH_HEAP_OWNER           th_ready_queue
#define TH_HEAP_BEFORE(q, a, b) (*(a) < *(b))
#define TH_HEAP_MOVED(q, item, i)
#include "base/heap.h"

int th_ready_queue_add(th_ready_queue *q, int32_t item)
{
    if (th_grow(&q->item, &q->capacity, q->n + 1, sizeof *q->item))
        return -1;
    th_heap_up(q, q->item, q->n++, item);
    return 0;
}

int32_t th_ready_queue_take(th_ready_queue *q)
{
    int32_t lowest = q->item[0];
    th_heap_remove(q, q->item, --q->n, 0);
    return lowest;
}

void th_ready_queue_clear(th_ready_queue *q)
{
    th_free(q->item);
}
