/* SPDX-License-Identifier: GPL-3.0-or-later */
/* out.c - the buffer of a trace file, written in blocks. Numbers are converted here, because printf
 * would take longer than the rest of a trace. The first failure is kept in `error`; later bytes are
 * dropped. */
#include <config.h>

#include "sim/trace/trace_state.h"

#include <errno.h>

#include "base/strbuf.h"
#include "base/files/write_file.h"

static void write_bytes(th_out *o, size_t n)
{
    if (o->error == 0 && th_write_all(o->file, o->text, n) != 0)
        o->error = errno;
}

void th_out_flush(th_out *o)
{
    write_bytes(o, o->n);
    o->n = 0;
}

void th_out_write_block(th_out *o)
{
    write_bytes(o, TH_OUT_BLOCK);
    o->n -= TH_OUT_BLOCK;
    memmove(o->text, o->text + TH_OUT_BLOCK, o->n);
}

void th_out_long_text(th_out *o, const void *bytes, size_t n)
{
    const char *next = bytes;
    while (n > 0) {
        size_t part = n < TH_OUT_SPARE ? n : TH_OUT_SPARE;
        memcpy(th_out_reserve(o), next, part);
        o->n += part;
        next += part;
        n -= part;
    }
}

/* Two digits at a time. */
void th_out_number(th_out *o, int64_t number)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    enum { DIGITS_MAX = 20 };
    char digits[DIGITS_MAX], *end = digits + DIGITS_MAX, *first = end;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    for (; left >= 10; left /= 100)
        memcpy(first -= 2, &pairs[2 * (left % 100)], 2);
    if (left > 0 || first == end)
        *--first = (char)('0' + left);
    if (number < 0)
        th_out_char(o, '-');
    th_out_bytes(o, first, (size_t)(end - first));
}

/* Names are mostly plain ASCII, which needs no escapes. */
void th_out_json(th_out *o, const char *text)
{
    size_t plain = 0;
    while (text[plain] >= ' ' && text[plain] < 0x7f && text[plain] != '"' && text[plain] != '\\')
        plain++;
    if (text[plain] == 0) {
        th_out_char(o, '"');
        th_out_bytes(o, text, plain);
        th_out_char(o, '"');
        return;
    }
    th_strbuf escaped = TH_STRBUF_INIT;
    th_strbuf_add_json(&escaped, text);
    th_out_text(o, escaped.text ? escaped.text : "\"\"");
    th_strbuf_clear(&escaped);
}
