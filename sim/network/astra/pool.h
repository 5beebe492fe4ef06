/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool.h - items of one size by index, which may be given back, and queues of them. Every item
 * begins with an int32_t, which is the queue's while it is in one and the pool's while it is free.
 * A queue of zeros is empty. */
#ifndef TH_SIM_NETWORK_ASTRA_POOL_H
#define TH_SIM_NETWORK_ASTRA_POOL_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "base/alloc.h"

typedef struct th_pool {
    void *items;
    size_t capacity, size; /* size: of an item */
    int32_t n, free;       /* free: the first that was given back + 1; 0: none */
} th_pool;
#define TH_POOL(type)                                                                              \
    {                                                                                              \
        .size = sizeof(type)                                                                       \
    }

typedef struct th_fifo {
    int32_t first, last; /* + 1; 0: none */
} th_fifo;

static inline void *th_pool_at(const th_pool *p, int32_t i)
{
    return (char *)p->items + (size_t)i * p->size;
}
/* The index + 1 of the item behind this one; 0: none. */
static inline int32_t *th_pool_next(const th_pool *p, int32_t i)
{
    return th_pool_at(p, i);
}

/* A copy of this item; -1: memory is out. Addresses of items change. */
static inline int32_t th_pool_add(th_pool *p, const void *item)
{
    int32_t i = p->free - 1;
    if (i >= 0)
        p->free = *th_pool_next(p, i);
    else if (p->n == INT32_MAX >> 3 || th_grow(&p->items, &p->capacity, (size_t)p->n + 1, p->size))
        return -1;
    else
        i = p->n++;
    memcpy(th_pool_at(p, i), item, p->size);
    return i;
}

static inline void th_pool_give(th_pool *p, int32_t i)
{
    *th_pool_next(p, i) = p->free;
    p->free = i + 1;
}

static inline void th_fifo_push(th_fifo *q, const th_pool *p, int32_t i)
{
    *th_pool_next(p, i) = 0;
    *(q->last > 0 ? th_pool_next(p, q->last - 1) : &q->first) = i + 1;
    q->last = i + 1;
}

/* It is in the queue. */
static inline void th_fifo_remove(th_fifo *q, const th_pool *p, int32_t i)
{
    int32_t before = 0, *link = &q->first;
    for (; *link != i + 1; link = th_pool_next(p, before - 1))
        before = *link;
    *link = *th_pool_next(p, i);
    if (q->last == i + 1)
        q->last = before;
}

/* -1: none. */
static inline int32_t th_fifo_pop(th_fifo *q, const th_pool *p)
{
    int32_t i = q->first - 1;
    if (i >= 0)
        th_fifo_remove(q, p, i);
    return i;
}

/* Copies the first item to *item and gives it back. False: there is none. */
static inline bool th_fifo_take(th_fifo *q, th_pool *p, void *item)
{
    int32_t i = th_fifo_pop(q, p);
    if (i < 0)
        return false;
    memcpy(item, th_pool_at(p, i), p->size);
    th_pool_give(p, i);
    return true;
}

#endif
