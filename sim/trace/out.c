/* SPDX-License-Identifier: GPL-3.0-or-later */
/* out.c - text on its way to a trace file, in blocks.
 * Numbers are written here rather than by printf, which takes longer than all the rest of a trace.
 * Failures stay in the stream, and are asked for at the end. */
#include <config.h>

#include "sim/trace/writer.h"

void th_out_flush(th_out *o)
{
    if (o->n > 0)
        fwrite(o->text, 1, o->n, o->file);
    o->n = 0;
}

void th_out_bytes(th_out *o, const void *bytes, size_t n)
{
    if (n <= TH_OUT_ROOM) {
        memcpy(th_out_room(o), bytes, n);
        o->n += n;
        return;
    }
    const char *next = bytes;
    while (n > 0) {
        size_t part = n < TH_OUT_ROOM ? n : TH_OUT_ROOM;
        memcpy(th_out_room(o), next, part);
        o->n += part;
        next += part;
        n -= part;
    }
}

void th_out_text(th_out *o, const char *text)
{
    th_out_bytes(o, text, strlen(text));
}

void th_out_number(th_out *o, int64_t number)
{
    enum { DIGITS_MAX = 20 };
    char digits[DIGITS_MAX];
    int n = 0;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char *to = th_out_room(o);
    do {
        digits[n++] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (number < 0)
        *to++ = '-';
    o->n += (size_t)n + (number < 0);
    while (n > 0)
        *to++ = digits[--n];
}

/* What need not be escaped goes as it is. */
void th_out_json(th_out *o, const char *text)
{
    size_t plain = 0;
    while ((unsigned char)text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\')
        plain++;
    th_out_bytes(o, text, plain);
    text += plain;
    static const char hex[] = "0123456789abcdef";
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            th_out_char(o, '\\');
            th_out_char(o, *text);
        } else if (c < ' ') {
            th_out_text(o, "\\u00");
            th_out_char(o, hex[c >> 4]);
            th_out_char(o, hex[c & 15]);
        } else {
            th_out_char(o, *text);
        }
    }
}
