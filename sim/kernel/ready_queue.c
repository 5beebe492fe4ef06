/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ready_queue.c - a priority queue of indices, lowest first.
 *
 * The queue is a sorted array while every index that is added belongs within FEW places of its end,
 * as the tasks that become ready at one time step mostly do. Any other index turns the array into a
 * binary heap (a sorted array is one) until the queue is empty. Adding and taking are O(log n). */
#include <config.h>

#include "sim/kernel/ready_queue.h"

#include <string.h>

#include "base/alloc.h"

enum { FEW = 8 }; /* that are moved rather than the order given up */

static void move_to_front(th_ready_queue *q)
{
    if (q->first > 0)
        memmove(q->item, q->item + q->first, q->n * sizeof *q->item);
    q->first = 0;
}

static void add_to_heap(th_ready_queue *q, int32_t item)
{
    size_t i = q->n++;
    for (; i > 0 && item < q->item[(i - 1) / 2]; i = (i - 1) / 2)
        q->item[i] = q->item[(i - 1) / 2];
    q->item[i] = item;
}

/* At its place in the order; false: that is too far in front. */
static bool add_in_order(th_ready_queue *q, int32_t item)
{
    int32_t *from = q->item + q->first, *at = from + q->n;
    if (q->n > FEW && item < at[-FEW])
        return false;
    for (; at > from && item < at[-1]; at--)
        *at = at[-1];
    *at = item;
    q->n++;
    return true;
}

int th_ready_queue_insert(th_ready_queue *q, int32_t item)
{
    if (th_grow(&q->item, &q->capacity, 2 * q->n + 1,
                sizeof *q->item)) /* moved once per n at most */
        return -1;
    if (q->first + q->n == q->capacity)
        move_to_front(q);
    if (!q->is_heap && add_in_order(q, item))
        return 0;
    move_to_front(q);
    q->is_heap = true;
    add_to_heap(q, item);
    return 0;
}

int32_t th_ready_queue_take_from_heap(th_ready_queue *q)
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
    q->is_heap = q->n > 0;
    return least;
}

void th_ready_queue_clear(th_ready_queue *q)
{
    th_free(q->item);
}
