/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.h - near misses: the known name that is most similar to a given one; how long names are. */
#ifndef TH_BASE_NAMES_H
#define TH_BASE_NAMES_H
#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"

/* Bytes of a name of a system, a workload or a layer: it can be written in any file, and read. */
enum { TH_NAME_BYTES_MAX = 2000 };

/* Edit distance (insert, delete, replace, swap of neighbours: 1 each), capped at 64 characters. */
int th_name_distance(const char *a, const char *b);
/* The closest of n names if it is near enough (distance <= 1 + length / 4), else NULL. Of equally
 * close ones the first. */
const char *th_name_nearest(const char *name, const char *const *names, size_t n);

/* Is the name, case and what is no letter or digit apart, one of those that ";" divides? */
bool th_name_is_among(const char *names, const char *name);

/* Fills err with "what "name": did you mean "near"? (must be one of a, b, c)"; names end in NULL.
 * Returns -1. */
int th_error_unknown(th_error *err, const char *id, const char *what, const char *name,
                     const char *const *names);

#endif
