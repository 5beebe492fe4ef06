/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.c - see memory.h: a list of blocks. */
#include <config.h>
#include "base/memory.h"
#include "base/alloc.h"
#include <stdalign.h>

typedef struct th_memory_block {
    struct th_memory_block *before;
    alignas(16) unsigned char bytes[]; /* enough for every type */
} block;

void *th_memory_take(th_memory *m, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) ||
        __builtin_add_overflow(bytes, sizeof(block), &bytes))
        bytes = SIZE_MAX; /* which nobody gets */
    block *b = th_alloc_zero(1, bytes);
    if (!b) {
        m->is_out = true;
        return NULL;
    }
    b->before = m->last;
    m->last = b;
    return b->bytes;
}

void th_memory_free(th_memory *m)
{
    for (block *b = m->last, *before; b; b = before) {
        before = b->before;
        th_free(b);
    }
    *m = (th_memory){NULL, false};
}
