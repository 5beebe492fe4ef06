/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heap.h - a 4-ary heap over an array, as a template. Before it is included, define
 *
 *   TH_HEAP_ITEM                  the type of an element
 *   TH_HEAP_OWNER                 the type that the macros below get a pointer to
 *   TH_HEAP_BEFORE(owner, a, b)   whether element *a leaves before *b
 *   TH_HEAP_MOVED(owner, item, i) records that *item is now at index i; may be empty
 *
 * One .c file has one heap. Invariant: no element leaves before its parent, heap[(i - 1) / 4]. The
 * array and its length belong to the caller, who appends with th_heap_up(owner, heap, n++, item)
 * and takes the first with item = heap[0], th_heap_remove(owner, heap, --n, 0).
 * (D. Johnson, "Priority queues with update and finding minimum spanning trees", Information
 * Processing Letters 4, 1975.) */
#ifndef TH_BASE_HEAP_H
#define TH_BASE_HEAP_H
#include <stddef.h>

#ifdef TH_HEAP_ITEM
enum { TH_HEAP_ARITY = 4 };

static inline void th_heap_put(TH_HEAP_OWNER *owner, TH_HEAP_ITEM *heap, size_t i,
                               const TH_HEAP_ITEM *item)
{
    (void)owner;
    heap[i] = *item;
    TH_HEAP_MOVED(owner, item, i);
}

/* Puts item at i, where the heap has a gap, or nearer to the root. */
static inline void th_heap_up(TH_HEAP_OWNER *owner, TH_HEAP_ITEM *heap, size_t i, TH_HEAP_ITEM item)
{
    while (i > 0) {
        size_t parent = (i - 1) / TH_HEAP_ARITY;
        if (!TH_HEAP_BEFORE(owner, &item, &heap[parent]))
            break;
        th_heap_put(owner, heap, i, &heap[parent]);
        i = parent;
    }
    th_heap_put(owner, heap, i, &item);
}

/* Puts item at i, where the heap of n elements has a gap, or farther from the root. */
static inline void th_heap_down(TH_HEAP_OWNER *owner, TH_HEAP_ITEM *heap, size_t n, size_t i,
                                TH_HEAP_ITEM item)
{
    for (;;) {
        size_t best = TH_HEAP_ARITY * i + 1, end = best + TH_HEAP_ARITY;
        if (best >= n)
            break;
        for (size_t c = best + 1; c < end && c < n; c++)
            if (TH_HEAP_BEFORE(owner, &heap[c], &heap[best]))
                best = c;
        if (!TH_HEAP_BEFORE(owner, &heap[best], &item))
            break;
        th_heap_put(owner, heap, i, &heap[best]);
        i = best;
    }
    th_heap_put(owner, heap, i, &item);
}

/* Puts item, which has changed its key, into the gap at i or where it belongs. */
static inline void th_heap_update(TH_HEAP_OWNER *owner, TH_HEAP_ITEM *heap, size_t n, size_t i,
                                  TH_HEAP_ITEM item)
{
    if (i > 0 && TH_HEAP_BEFORE(owner, &item, &heap[(i - 1) / TH_HEAP_ARITY]))
        th_heap_up(owner, heap, i, item);
    else
        th_heap_down(owner, heap, n, i, item);
}

/* Removes the element at i; n elements are left. */
static inline void th_heap_remove(TH_HEAP_OWNER *owner, TH_HEAP_ITEM *heap, size_t n, size_t i)
{
    if (i < n)
        th_heap_update(owner, heap, n, i, heap[n]);
}
#endif

#endif
