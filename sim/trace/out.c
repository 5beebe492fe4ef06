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
    o->is_heard = false;
}

void th_out_many(th_out *o, const void *bytes, size_t n)
{
    const char *next = bytes;
    while (n > 0) {
        size_t part = n < TH_OUT_ROOM ? n : TH_OUT_ROOM;
        memcpy(th_out_room(o), next, part);
        o->n += part;
        next += part;
        n -= part;
    }
}

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445"
    "46474849505152535455565758596061626364656667686970717273747576777879808182838485868788899091"
    "9293949596979899";

static void put_four(char *to, uint32_t number)
{
    enum { BASE = 100 };
    memcpy(to, pairs + 2 * (number / BASE), 2);
    memcpy(to + 2, pairs + 2 * (number % BASE), 2);
}

/* Two digits at a time, from the last, and four by one division. */
size_t th_put_digits(char *to, uint64_t number)
{
    enum { DIGITS_MAX = 24, BASE = 100 };
    char digits[DIGITS_MAX];
    char *first = digits + DIGITS_MAX;
    for (; number >= BASE * BASE; number /= BASE * BASE) {
        first -= 4;
        put_four(first, (uint32_t)(number % (BASE * BASE)));
    }
    if (number >= BASE) {
        first -= 2;
        memcpy(first, pairs + 2 * (number % BASE), 2);
        number /= BASE;
    }
    *--first = pairs[2 * number + 1];
    if (number >= 10)
        *--first = pairs[2 * number];
    size_t n = (size_t)(digits + DIGITS_MAX - first);
    memcpy(to, first, n);
    return n;
}

void th_out_number(th_out *o, int64_t number)
{
    char *to = th_out_room(o);
    if (number < 0)
        *to = '-';
    o->n += number < 0;
    o->n += th_put_digits(to + (number < 0), number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void th_out_note_stamp(th_out *o)
{
    o->is_heard = o->n_stamps < TH_STAMPS_MAX;
    if (o->is_heard)
        o->stamp[o->n_stamps++] = o->n;
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
