/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena.c - memory that is freed all at once: a chain of blocks, and a mark that moves along it.
 *   new -> alloc* -> (reset -> alloc*)* -> free
 * Invariants: every block before current is full or was skipped as too small; `used` counts in
 * current alone; sizes are multiples of ALIGN, so that every piece starts aligned.
 * Not modelled: giving back a single piece. */
#include <config.h>
#include "base/arena.h"
#include "base/alloc.h"
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

enum {
    ALIGN = 16, /* bytes: enough for every type, long double and vectors of 128 bits included */
#ifdef TH_PARANOID
    BLOCK_BYTES = 64, /* tiny, so that every run crosses block borders */
#else
    BLOCK_BYTES = 64 * 1024, /* few calls to the heap, and little waste for a small user */
#endif
};

typedef struct block {
    struct block *next;
    size_t size;
    alignas(ALIGN) unsigned char bytes[];
} block;

struct th_arena {
    block *first, *current;
    size_t used;
};

th_arena *th_arena_new(void)
{
    return th_alloc_zero(1, sizeof(th_arena));
}

/* A block of its own after current, large enough for size. */
static block *add_block(th_arena *a, size_t size)
{
    size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    size_t bytes;
    if (__builtin_add_overflow(room, sizeof(block), &bytes))
        return NULL;
    block *b = th_alloc(bytes);
    if (!b)
        return NULL;
    b->size = room;
    block **link = a->current ? &a->current->next : &a->first;
    b->next = *link;
    *link = b;
    return b;
}

/* The next block that is large enough: one kept by a reset, or a new one. */
static block *next_block(th_arena *a, size_t size)
{
    block *b = a->current ? a->current->next : a->first;
    return b && b->size >= size ? b : add_block(a, size);
}

void *th_arena_alloc(th_arena *a, size_t size)
{
    if (size > SIZE_MAX - ALIGN)
        return NULL;
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (size == 0)
        size = ALIGN;
    if (!a->current || a->current->size - a->used < size) {
        block *b = next_block(a, size);
        if (!b)
            return NULL;
        a->current = b;
        a->used = 0;
    }
    void *piece = a->current->bytes + a->used;
    a->used += size;
    return piece;
}

char *th_arena_string(th_arena *a, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = th_arena_alloc(a, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void th_arena_reset(th_arena *a)
{
    for (block **link = &a->first; *link;) { /* large ones fit few later pieces */
        block *b = *link;
        if (b->size != BLOCK_BYTES) {
            *link = b->next;
            th_free(b);
        } else {
            link = &b->next;
        }
    }
    a->current = NULL;
    a->used = 0;
}

void th_arena_free(th_arena *a)
{
    if (!a)
        return;
    for (block *b = a->first, *next; b; b = next) {
        next = b->next;
        th_free(b);
    }
    th_free(a);
}
