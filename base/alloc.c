/* SPDX-License-Identifier: GPL-3.0-or-later */
/* alloc.c - all allocation on the heap.
 *   th_alloc* | th_realloc_array | th_grow -> th_free
 * Counters are atomic, so that threads may allocate concurrently. A test that fails the k-th call
 * must use a single thread, because the order of calls of several threads is undefined. Not
 * modelled: a limit in bytes. Callers limit the sizes that they read from files instead. */
#include <config.h>
#include "base/alloc.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static atomic_int_fast64_t n_live;
static atomic_int_fast64_t n_calls;
static atomic_int_fast64_t n_bytes;
static atomic_int_fast64_t fail_at; /* the value of n_calls that fails; 0: none */

static _Thread_local size_t refused; /* bytes of the last block that there was no memory for */

static bool must_fail(void)
{
    int64_t call = atomic_fetch_add(&n_calls, 1) + 1;
    return atomic_load(&fail_at) == call;
}

/* The block of that many bytes, or the note that there was none. */
static void *counted(void *block, size_t bytes)
{
    atomic_fetch_add(&n_bytes, (int64_t)bytes);
    if (block)
        atomic_fetch_add(&n_live, 1);
    else
        refused = bytes;
    return block;
}

/* Zero bytes give a block too: NULL means failure and nothing else. */
static size_t at_least_one(size_t size)
{
    return size ? size : 1;
}

void *th_alloc(size_t size)
{
    return counted(must_fail() ? NULL : malloc(at_least_one(size)), size);
}

void *th_alloc_zero(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return counted(NULL, SIZE_MAX);
    return counted(must_fail() ? NULL : calloc(1, at_least_one(bytes)), bytes);
}

void *th_alloc_array(size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? counted(NULL, SIZE_MAX) : th_alloc(bytes);
}

void *th_realloc_array(void *block, size_t n, size_t size)
{
    if (!block)
        return th_alloc_array(n, size);
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        bytes = SIZE_MAX;
    void *moved = bytes == SIZE_MAX || must_fail() ? NULL : realloc(block, at_least_one(bytes));
    atomic_fetch_add(&n_bytes, (int64_t)bytes);
    if (!moved)
        refused = bytes;
    return moved;
}

char *th_alloc_string(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = th_alloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void th_free(void *block)
{
    if (block)
        atomic_fetch_sub(&n_live, 1);
    free(block);
}

int th_grow_now(void *block_pointer, size_t *capacity, size_t n, size_t size)
{
    enum { FIRST = 8 }; /* elements: small enough to waste little, large enough to grow rarely */
    size_t wanted = *capacity > SIZE_MAX / 2 ? n : *capacity * 2;
    if (wanted < FIRST)
        wanted = FIRST;
    if (wanted < n)
        wanted = n;
    /* *block_pointer may have any object type; memcpy reads it without breaking aliasing rules. */
    void *block;
    memcpy(&block, block_pointer, sizeof block);
    block = th_realloc_array(block, wanted, size);
    if (!block)
        return -1;
    memcpy(block_pointer, &block, sizeof block);
    *capacity = wanted;
    return 0;
}

void th_alloc_fail_at(int64_t k)
{
    atomic_store(&fail_at, k > 0 ? atomic_load(&n_calls) + k : 0);
}

size_t th_alloc_refused(void)
{
    return refused;
}

int64_t th_alloc_live(void)
{
    return atomic_load(&n_live);
}

int64_t th_alloc_bytes(void)
{
    return atomic_load(&n_bytes);
}

int64_t th_alloc_calls(void)
{
    return atomic_load(&n_calls);
}
