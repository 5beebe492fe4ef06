/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena.h - memory that is freed all at once. new -> alloc* -> (reset -> alloc*)* -> free */
#ifndef TH_BASE_ARENA_H
#define TH_BASE_ARENA_H
#include <stddef.h>

typedef struct th_arena th_arena;

th_arena *th_arena_new(void); /* NULL: memory is out */
/* 16-byte aligned, not cleared; NULL: memory is out. */
void *th_arena_alloc(th_arena *a, size_t size);
char *th_arena_string(th_arena *a, const char *text);
void th_arena_reset(th_arena *a); /* frees all pieces, keeps the blocks for reuse */
void th_arena_free(th_arena *a);  /* accepts NULL */

#endif
