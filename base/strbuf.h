/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strbuf.h - a growing text. Failure is sticky: check `failed` once, after all additions. */
#ifndef TH_BASE_STRBUF_H
#define TH_BASE_STRBUF_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
/* Adds text as a JSON string in ASCII, quotes and escapes included; "<" is escaped, so that the
 * string cannot end a script block of an HTML page. */
void th_strbuf_add_json(th_strbuf *b, const char *text);
/* Adds text as a terminal may have it: control characters but line feed and tab, and bytes that are
 * no UTF-8, become "\\x1b". */
void th_strbuf_add_visible(th_strbuf *b, const char *text);
/* The code point of the UTF-8 character at *text, not its end, and moves *text behind it. A byte
 * that is no UTF-8 (file names may hold any) becomes U+FFFD. */
uint32_t th_utf8_next(const char **text);
/* As snprintf and vsnprintf, but no character is cut in two by size, or by a precision as in
 * "%.40s". */
void th_print(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void th_print_list(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
void th_strbuf_clear(th_strbuf *b); /* frees; ready for use again */

#endif
