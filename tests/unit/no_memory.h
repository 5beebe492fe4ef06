/* SPDX-License-Identifier: GPL-3.0-or-later */
/* no_memory.h - a function under allocations that fail, for what no command of tests/soak reaches.
 */
#ifndef TH_TESTS_UNIT_NO_MEMORY_H
#define TH_TESTS_UNIT_NO_MEMORY_H
#include "base/error.h"

/* Calls attempt with its first allocation failing, then its second, and so on (the first fifty,
 * then ever fewer), until it needs no more. It returns 0, or -1 with an error, and frees what it
 * made. Asserts that each time it says that memory ran out, overlooks no failure and leaves as many
 * blocks as there were. Returns how often it failed. */
int fail_each_allocation(int (*attempt)(const void *context, th_error *e), const void *context);

#endif
