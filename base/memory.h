/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.h - blocks that belong to one object and are freed with it.
 *   (all 0) -> take* -> free
 * Each is a block of its own: unlike a piece of an arena (base/arena.h), it takes no memory until
 * it is written. */
#ifndef TH_BASE_MEMORY_H
#define TH_BASE_MEMORY_H
#include <stdbool.h>
#include <stddef.h>

typedef struct th_memory {
    struct th_memory_block *last;
    bool is_out; /* some take has failed */
} th_memory;

/* n elements, all 0; NULL: memory is out. */
void *th_memory_take(th_memory *m, size_t n, size_t size);
void th_memory_free(th_memory *m); /* all 0 again */

#endif
