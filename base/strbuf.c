/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strbuf.c - a growing text. Failure is sticky: check `failed` once, after all additions. */
#include <config.h>
#include "base/strbuf.h"
#include "base/alloc.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Makes room for n more bytes and the final 0. */
static bool reserve(th_strbuf *b, size_t n)
{
    if (b->failed)
        return false;
    if (n >= SIZE_MAX - b->length || th_grow(&b->text, &b->capacity, b->length + n + 1, 1) != 0)
        b->failed = true;
    return !b->failed;
}

void th_strbuf_add(th_strbuf *b, const char *text)
{
    th_strbuf_add_bytes(b, text, strlen(text));
}

void th_strbuf_add_bytes(th_strbuf *b, const void *bytes, size_t n)
{
    if (!reserve(b, n))
        return;
    if (n > 0)
        memcpy(b->text + b->length, bytes, n);
    b->length += n;
    b->text[b->length] = 0;
}

void th_strbuf_printf(th_strbuf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n < 0) {
        b->failed = true;
    } else if (reserve(b, (size_t)n)) {
        vsnprintf(b->text + b->length, (size_t)n + 1, format, again);
        b->length += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

/* Length of the UTF-8 character at c (RFC 3629, table 3.1.B of Unicode), or 0 if it is none. */
static size_t utf8_length(const unsigned char *c)
{
    static const struct {
        unsigned char first_lo, first_hi, second_lo, second_hi, length;
    } forms[] = {{0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
                 {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3},
                 {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
                 {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    if (c[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (c[0] < forms[i].first_lo || c[0] > forms[i].first_hi)
            continue;
        if (c[1] < forms[i].second_lo || c[1] > forms[i].second_hi)
            return 0;
        for (size_t k = 2; k < forms[i].length; k++)
            if (c[k] < 0x80 || c[k] > 0xBF)
                return 0;
        return forms[i].length;
    }
    return 0;
}

uint32_t th_utf8_next(const char **text)
{
    enum { REPLACEMENT = 0xFFFD };
    const unsigned char *c = (const unsigned char *)*text;
    size_t n = utf8_length(c);
    uint32_t code = n > 1 ? c[0] & (0x7Fu >> n) : c[0];
    for (size_t i = 1; i < n; i++)
        code = code << 6 | (c[i] & 0x3F);
    *text += n > 0 ? n : 1;
    return n > 0 ? code : REPLACEMENT;
}

void th_strbuf_add_visible(th_strbuf *b, const char *text)
{
    while (*text) {
        const char *from = text;
        uint32_t code = th_utf8_next(&text);
        bool is_raw = text == from + 1 && (unsigned char)*from >= 0x80;
        bool is_control =
            (code < ' ' && code != '\n' && code != '\t') || (code >= 127 && code < 160);
        if (is_raw || is_control)
            th_strbuf_printf(b, "\\x%02x", is_raw ? (unsigned char)*from : (unsigned)code);
        else
            th_strbuf_add_bytes(b, from, (size_t)(text - from));
    }
}

static void add_json_code(th_strbuf *b, uint32_t code)
{
    enum { PLANE = 0x10000 };
    if (code >= PLANE)
        th_strbuf_printf(b, "\\u%04x\\u%04x", (unsigned)(0xD800 + ((code - PLANE) >> 10)),
                         (unsigned)(0xDC00 + ((code - PLANE) & 0x3FF)));
    else if (code < ' ' || code > '~' || code == '<')
        th_strbuf_printf(b, "\\u%04x", (unsigned)code);
    else
        th_strbuf_printf(b, "%c", (char)code);
}

void th_strbuf_add_json(th_strbuf *b, const char *text)
{
    static const char named[] = "\"\"\\\\\nn\rr\tt"; /* pairs: a character, its letter after \ */
    th_strbuf_add(b, "\"");
    while (*text) {
        uint32_t code = th_utf8_next(&text);
        const char *p = named;
        while (*p && (uint32_t)*p != code)
            p += 2;
        if (*p)
            th_strbuf_printf(b, "\\%c", p[1]);
        else
            add_json_code(b, code);
    }
    th_strbuf_add(b, "\"");
}

/* The bytes at c with which a character begins that does not go on; 0: none. */
static size_t begun_length(const unsigned char *c)
{
    size_t needs = c[0] < 0xC2 || c[0] > 0xF4 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
    size_t n = 1;
    while (n < needs && c[n] >= 0x80 && c[n] <= 0xBF)
        n++;
    return n < needs ? n : 0;
}

void th_print_list(char *out, size_t size, const char *format, va_list args)
{
    vsnprintf(out, size, format, args);
    const char *from = out;
    char *to = out;
    while (*from) {
        size_t cut = begun_length((const unsigned char *)from);
        size_t n = cut > 0 ? 0 : utf8_length((const unsigned char *)from);
        from += cut;
        for (n += cut == 0 && n == 0; n > 0; n--)
            *to++ = *from++;
    }
    *to = '\0';
}

void th_print(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    th_print_list(out, size, format, args);
    va_end(args);
}

void th_strbuf_clear(th_strbuf *b)
{
    th_free(b->text);
    *b = (th_strbuf)TH_STRBUF_INIT;
}
