/* SPDX-License-Identifier: GPL-3.0-or-later */
/* out.c - text on its way to a trace file, in blocks.
 * Numbers are written here rather than by printf, which takes longer than all the rest of a trace.
 * The first failure is kept, and asked for at the end; what comes behind it is dropped. */
#include <config.h>

#include "sim/trace/writer.h"

#include <errno.h>

#include "base/write_file.h"

static void put(th_out *o, size_t n)
{
    if (o->error == 0 && th_write_all(o->file, o->text, n) != 0)
        o->error = errno;
}

void th_out_flush(th_out *o)
{
    put(o, o->n);
    o->n = 0;
    o->is_heard = false;
}

void th_out_put_block(th_out *o)
{
    put(o, TH_OUT_BLOCK);
    o->n -= TH_OUT_BLOCK;
    memmove(o->text, o->text + TH_OUT_BLOCK, o->n);
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

/* Eight at a time: the first ones without the zeros before them, then all of the others. */
size_t th_put_digits(char *to, uint64_t number)
{
    enum { EIGHT = 8, BYTE = 8 };
    if (number < 10) {
        *to = (char)('0' + number);
        return 1;
    }
    size_t n = number < TH_STAMP_LOW ? 0 : th_put_digits(to, number / TH_STAMP_LOW);
    uint64_t digits = th_eight_digits((uint32_t)(number % TH_STAMP_LOW));
    uint64_t from_last = digits ^ UINT64_C(0x3030303030303030);
    int zeros = n > 0 ? 0 : __builtin_ctzll(from_last) / BYTE;
    digits = th_first_byte_lowest(digits >> zeros * BYTE);
    memcpy(to + n, &digits, EIGHT);
    return n + EIGHT - (size_t)zeros;
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
