/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool.h - items of one size by index, which may be given back. Every item begins with an int32_t
 * that is its own to use while it is taken. */
#ifndef TH_SIM_ASTRA_POOL_H
#define TH_SIM_ASTRA_POOL_H
#include <stdint.h>
#include "base/alloc.h"

typedef struct th_pool {
    void *items;
    size_t capacity;
    int32_t n, free; /* free: the first that was given back + 1; 0: none */
} th_pool;

static inline void *th_pool_at(const th_pool *p, int32_t i, size_t size)
{
    return (char *)p->items + (size_t)i * size;
}

/* An item of any content; -1: memory is out. Addresses of items change. */
static inline int32_t th_pool_take(th_pool *p, size_t size)
{
    int32_t i = p->free - 1;
    if (i >= 0) {
        p->free = *(int32_t *)th_pool_at(p, i, size);
        return i;
    }
    if (p->n == INT32_MAX >> 3 || th_grow(&p->items, &p->capacity, (size_t)p->n + 1, size))
        return -1;
    return p->n++;
}

static inline void th_pool_give(th_pool *p, int32_t i, size_t size)
{
    *(int32_t *)th_pool_at(p, i, size) = p->free;
    p->free = i + 1;
}

#endif
