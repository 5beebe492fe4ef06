/* SPDX-License-Identifier: GPL-3.0-or-later */
/* notes.h - what a reader of a file left out, as parts of one line: "columns are not read: \"a\"; 2
 * lines, without a time: left out, the first is line 7". */
#ifndef TH_BASE_NOTES_H
#define TH_BASE_NOTES_H
#include "base/strbuf.h"

typedef struct th_lines {
    int n, first; /* how many, and the number of the first */
} th_lines;

/* Adds a part. notes NULL: none is wanted. */
void th_note(th_strbuf *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
void th_lines_count(th_lines *l, int line);
/* "N lines, WHAT: left out, the first is line M", where there are some. */
void th_note_lines(th_strbuf *notes, const th_lines *l, const char *what);

#endif
