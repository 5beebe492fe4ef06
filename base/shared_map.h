/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shared_map.h - a hash map from byte strings to values for several threads, as for caches that
 * evaluators share.
 *   new -> (find | add | number)* -> clear -> ... -> free
 * find takes no lock. An entry stays until clear, and neither it nor its value changes, so a value
 * may be read without a lock too. The map is never iterated. */
#ifndef TH_BASE_SHARED_MAP_H
#define TH_BASE_SHARED_MAP_H
#include <stddef.h>
#include <stdint.h>

typedef struct th_shared_map th_shared_map;

th_shared_map *th_shared_map_new(void); /* NULL: memory is out */
/* The value of the key; NULL: it has none, yet. */
const void *th_shared_map_find(const th_shared_map *m, const void *key, size_t n);
/* Adds the key with this value, not NULL, unless it has one; returns the value that it has then.
 * NULL: memory is out, the map is unchanged. */
const void *th_shared_map_add(th_shared_map *m, const void *key, size_t n, const void *value);
/* In a map of numbers alone: the number of the key; keys are numbered from 0 as they are added. -1:
 * memory is out. */
int64_t th_shared_map_number(th_shared_map *m, const void *key, size_t n);
size_t th_shared_map_count(th_shared_map *m);
/* Removes all keys; no other thread may use the map meanwhile. */
void th_shared_map_clear(th_shared_map *m);
void th_shared_map_free(th_shared_map *m); /* accepts NULL */

#endif
