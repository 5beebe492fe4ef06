/* SPDX-License-Identifier: GPL-3.0-or-later */
/* error.c - one line that says what went wrong, where, and what was expected. */
#include <config.h>
#include "base/error.h"
#include "base/alloc.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/strbuf.h"

/* A message is one line, whatever a file or a user put into it: a control character becomes a
 * space, also of those behind 127, which terminals obey, and so does a byte that is no UTF-8. */
static void flatten(char *text)
{
    for (char *c = text; *c;) {
        const char *next = c;
        uint32_t code = th_utf8_next(&next);
        bool is_raw = next == c + 1 && (unsigned char)*c >= 128;
        if (code < ' ' || (code >= 127 && code < 160) || is_raw)
            memset(c, ' ', (size_t)(next - c));
        c += next - c;
    }
}

int th_error_set(th_error *err, const char *id, const char *format, ...)
{
    if (!err)
        return -1;
    va_list args;
    va_start(args, format);
    /* The text is formed aside, as an argument may point into *err itself. */
    char text[TH_ERROR_TEXT_MAX];
    th_print_list(text, sizeof text, format, args);
    va_end(args);
    flatten(text);
    snprintf(err->text, sizeof err->text, "%s", text); /* without the bytes after its end */
    snprintf(err->id, sizeof err->id, "%s", id);
    return -1;
}

/* Where one block was large, its size says more than that the rest has been used up. */
int th_error_no_memory(th_error *err)
{
    const size_t large = (size_t)1 << 20;
    size_t refused = th_alloc_refused();
    char size[64] = "";
    if (refused >= large && refused < SIZE_MAX)
        snprintf(size, sizeof size, ": there is no block of %zu bytes", refused);
    return th_error_set(err, "BASE-0001", "memory ran out%s", size);
}

static bool is_like(const th_error *err, const th_error *other)
{
    return strcmp(err->id, other->id) == 0;
}

bool th_error_is_no_memory(const th_error *err)
{
    th_error expected;
    th_error_no_memory(&expected);
    return is_like(err, &expected);
}

int th_error_interrupted(th_error *err, const char *so)
{
    return th_error_set(err, "BASE-0008", "interrupted; %s", so);
}

bool th_error_is_interrupted(const th_error *err)
{
    th_error expected;
    th_error_interrupted(&expected, "");
    return is_like(err, &expected);
}
