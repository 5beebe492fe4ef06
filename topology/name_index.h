/* SPDX-License-Identifier: GPL-3.0-or-later */
/* name_index.h - which element of an array has a given name: a hash of positions.
 *   {0} -> (add | find)* -> clear
 * The names stay where they are, in the array: the index holds four to eight bytes per name. */
#ifndef TH_TOPOLOGY_NAME_INDEX_H
#define TH_TOPOLOGY_NAME_INDEX_H
#include <stddef.h>
#include <stdint.h>

typedef struct th_name_index {
    int32_t *slots;  /* position + 1 of a name, 0 free */
    int32_t n_slots; /* 0 or a power of two */
    int32_t n;       /* slots taken */
} th_name_index;

/* An array of structs whose first member is the name, a char pointer. */
typedef struct th_named {
    const void *first;
    size_t stride; /* bytes of one struct */
} th_named;

/* The position of the name, or -1. */
int th_name_index_find(const th_name_index *x, th_named of, const char *name);
/* Adds the position, whose name must not be there yet. 0, or -1 (memory; unchanged). */
int th_name_index_add(th_name_index *x, th_named of, int position);
void th_name_index_clear(th_name_index *x);

#endif
