/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alloc.h - all allocation on the heap: counts live blocks, and can fail the k-th call in tests. */
#ifndef TH_BASE_ALLOC_H
#define TH_BASE_ALLOC_H
#include <stddef.h>
#include <stdint.h>

/* As malloc, calloc, realloc and free; NULL when memory is out, when the size overflows, or when a
 * test said so. th_alloc_array(n, size) is overflow-checked and does not clear. */
void *th_alloc(size_t size);
void *th_alloc_zero(size_t n, size_t size);
void *th_alloc_array(size_t n, size_t size);
void *th_realloc_array(void *block, size_t n, size_t size);
char *th_alloc_string(const char *text);
void th_free(void *block);

/* Makes room for at least n elements of the given size in *block, doubling *capacity (elements).
 * Returns 0, or -1 with both left as they were. */
int th_grow_now(void *block_pointer, size_t *capacity, size_t n, size_t size); /* n > *capacity */
static inline int th_grow(void *block_pointer, size_t *capacity, size_t n, size_t size)
{
    return n <= *capacity ? 0 : th_grow_now(block_pointer, capacity, n, size);
}

/* Bytes of the last block that this thread was refused (SIZE_MAX: beyond addresses); 0: none. */
size_t th_alloc_refused(void);

/* Tests only: the k-th allocation from now fails (1 = the next one; 0 = none), and all after it
 * succeed again. Over all threads: live blocks, and calls and bytes asked for so far. */
void th_alloc_fail_at(int64_t k);
int64_t th_alloc_live(void);
int64_t th_alloc_calls(void);
int64_t th_alloc_bytes(void);

#endif
