/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strbuf.h - a text that grows. Failure is sticky: append at will, ask once at the end. */
#ifndef TH_BASE_STRBUF_H
#define TH_BASE_STRBUF_H
#include <stdbool.h>
#include <stddef.h>

typedef struct th_strbuf {
    char *text;    /* always ends in 0 once something was added; NULL before */
    size_t length; /* without the 0 */
    size_t capacity;
    bool failed; /* memory ran out: the text is incomplete */
} th_strbuf;

#define TH_STRBUF_INIT                                                                             \
    {                                                                                              \
        NULL, 0, 0, false                                                                          \
    }

void th_strbuf_add(th_strbuf *b, const char *text);
void th_strbuf_add_bytes(th_strbuf *b, const void *bytes, size_t n);
void th_strbuf_printf(th_strbuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds text as a JSON string, quotes and escapes included. */
void th_strbuf_add_json(th_strbuf *b, const char *text);
void th_strbuf_clear(th_strbuf *b); /* frees; ready for use again */

#endif
