/* SPDX-License-Identifier: GPL-3.0-or-later */
/* error.h - what went wrong, where, and what was expected, in one line.
 *
 * A function that can fail returns 0 or -1 (or NULL) and fills a th_error that its caller owns.
 * On failure it leaves its other arguments as they were. */
#ifndef TH_BASE_ERROR_H
#define TH_BASE_ERROR_H
#include <stdbool.h>

enum { TH_ERROR_TEXT_MAX = 1000, TH_ERROR_ID_MAX = 12 };

typedef struct th_error {
    char id[TH_ERROR_ID_MAX];     /* "MAP-0012", listed in docs/messages.md; "" = no error */
    char text[TH_ERROR_TEXT_MAX]; /* one line without the id: 'FILE:LINE: key "x": must be ...' */
} th_error;

/* Fills *err (which may be NULL: then the text is dropped). Returns -1, so that a caller can write
 * "return th_error_set(...)". Line breaks and other control characters in the text turn into
 * spaces. */
int th_error_set(th_error *err, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Shorthand for BASE-0001, memory ran out. Returns -1. */
int th_error_no_memory(th_error *err);
bool th_error_is_no_memory(const th_error *err);

/* The same for BASE-0008, "interrupted; " and what holds now: "nothing was lowered". */
int th_error_interrupted(th_error *err, const char *so);
bool th_error_is_interrupted(const th_error *err);

#endif
