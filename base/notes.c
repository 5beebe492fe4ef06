/* SPDX-License-Identifier: GPL-3.0-or-later */
/* notes.c - see notes.h. */
#include <config.h>
#include "base/notes.h"

#include <stdarg.h>
#include <stdio.h>

void th_note(th_strbuf *notes, const char *format, ...)
{
    enum { PART_MAX = 400 };
    char part[PART_MAX];
    va_list args;
    if (!notes)
        return;
    va_start(args, format);
    th_print_list(part, sizeof part, format, args);
    va_end(args);
    th_strbuf_printf(notes, "%s%s", notes->length > 0 ? "; " : "", part);
}

void th_lines_count(th_lines *l, int line)
{
    if (l->n++ == 0)
        l->first = line;
}

void th_note_lines(th_strbuf *notes, const th_lines *l, const char *what)
{
    if (l->n > 0)
        th_note(notes, "%d %s, %s: left out, the first is line %d", l->n,
                l->n > 1 ? "lines" : "line", what, l->first);
}
