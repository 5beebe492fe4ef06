/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ready_queue.c - a priority queue of indices, lowest first: a binary heap. */
#include <config.h>

#include "sim/kernel/ready_queue.h"

#include <string.h>

#include "base/alloc.h"

int th_ready_queue_add(th_ready_queue *q, int32_t item)
{
    if (th_grow(&q->item, &q->capacity, q->n + 1, sizeof *q->item))
        return -1;
    size_t i = q->n++;
    for (; i > 0 && item < q->item[(i - 1) / 2]; i = (i - 1) / 2)
        q->item[i] = q->item[(i - 1) / 2];
    q->item[i] = item;
    return 0;
}

int32_t th_ready_queue_take(th_ready_queue *q)
{
    int32_t least = q->item[0], last = q->item[--q->n];
    size_t i = 0;
    for (size_t child = 1; child < q->n; child = 2 * i + 1) {
        if (child + 1 < q->n && q->item[child + 1] < q->item[child])
            child++;
        if (last <= q->item[child])
            break;
        q->item[i] = q->item[child];
        i = child;
    }
    q->item[i] = last;
    return least;
}

void th_ready_queue_clear(th_ready_queue *q)
{
    th_free(q->item);
}
