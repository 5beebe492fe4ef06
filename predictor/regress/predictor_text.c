/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor_text.c - lines of predictors.
 *   open: next -> convert: { a letter of the format | read_value or write_value } */
#include <config.h>

#include "predictor/regress/predictor_text.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int th_text_fail(const th_text_io *io)
{
    return th_error_set(io->err, "PRED-0080", "%s:%d: is no line of a predictor", io->path,
                        io->line);
}

int th_text_check(const th_text_io *io, bool holds)
{
    return io->out || holds ? 0 : th_text_fail(io);
}

char *th_text_next(th_text_io *io)
{
    char *line = io->rest;
    if (!line || *line == '\0')
        return NULL;
    char *end = strchr(line, '\n');
    io->rest = end ? end + 1 : NULL;
    io->line++;
    if (end)
        *end = '\0';
    char *remark = strstr(line, " #");
    if (remark)
        *remark = '\0';
    return line;
}

/* ---- values ---- */

static int read_word(th_text_io *io, char *out)
{
    size_t n = strcspn(io->at, " ");
    if (n == 0 || n >= TH_TEXT_WORD_MAX)
        return -1;
    memcpy(out, io->at, n);
    out[n] = '\0';
    io->at += n;
    return 0;
}

static int end_number(th_text_io *io, char *end)
{
    bool is_good = end != io->at && (*end == ' ' || *end == '\0');
    io->at = end;
    return is_good ? 0 : -1;
}

static int read_real(th_text_io *io, char kind, void *out)
{
    char *end;
    double x = strtod(io->at, &end);
    if (!isfinite(x) || (kind == 'g' && fabs(x) > FLT_MAX))
        return -1;
    if (kind == 'g')
        *(float *)out = (float)x;
    else
        *(double *)out = x;
    return end_number(io, end);
}

static int read_whole(th_text_io *io, char kind, void *out)
{
    char *end;
    errno = 0;
    if (kind == 'x') {
        *(uint64_t *)out = strtoull(io->at, &end, 16);
    } else {
        long long x = strtoll(io->at, &end, 10);
        if (kind == 'z' ? x < 0 : x < INT32_MIN || x > INT32_MAX)
            return -1;
        if (kind == 'z')
            *(size_t *)out = (size_t)x;
        else
            *(int32_t *)out = (int32_t)x;
    }
    return errno != 0 ? -1 : end_number(io, end);
}

static int read_value(th_text_io *io, char kind, void *out)
{
    io->at += strspn(io->at, " ");
    if (kind == 's')
        return read_word(io, out);
    if (kind == 'e' && *io->at == '-') {
        *(double *)out = INFINITY;
        io->at++;
        return 0;
    }
    return strchr("efg", kind) ? read_real(io, kind, out) : read_whole(io, kind, out);
}

static void write_float(float x, th_strbuf *out)
{
    enum { DIGITS = 9 };
    char text[40];
    for (int digits = 4; digits <= DIGITS; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x)
            break;
    }
    th_strbuf_add(out, text);
}

static void write_value(th_strbuf *out, char kind, const void *value)
{
    if (kind == 's')
        th_strbuf_add(out, value);
    else if (kind == 'd')
        th_strbuf_printf(out, "%" PRId32, *(const int32_t *)value);
    else if (kind == 'z')
        th_strbuf_printf(out, "%zu", *(const size_t *)value);
    else if (kind == 'x')
        th_strbuf_printf(out, "%016" PRIx64, *(const uint64_t *)value);
    else if (kind == 'g')
        write_float(*(const float *)value, out);
    else if (kind == 'e' && !isfinite(*(const double *)value))
        th_strbuf_add(out, "-");
    else
        th_strbuf_printf(out, kind == 'e' ? "%.6g" : "%.17g", *(const double *)value);
}

/* ---- lines ---- */

static int convert(th_text_io *io, const char *format, va_list values)
{
    for (; *format != '\0'; format++) {
        bool is_value = *format == '%';
        if (is_value && io->out)
            write_value(io->out, *++format, va_arg(values, void *));
        else if (io->out)
            th_strbuf_add_bytes(io->out, format, 1);
        else if (is_value ? read_value(io, *++format, va_arg(values, void *)) : *io->at != *format)
            return th_text_fail(io);
        else
            io->at += !is_value;
    }
    return 0;
}

static int begin(th_text_io *io)
{
    if (io->out)
        return 0;
    io->at = th_text_next(io);
    return io->at ? 0 : th_text_fail(io);
}

int th_text_more(th_text_io *io, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int failed = convert(io, format, values);
    va_end(values);
    return failed;
}

int th_text_open(th_text_io *io, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int failed = begin(io) || convert(io, format, values) ? -1 : 0;
    va_end(values);
    return failed;
}

int th_text_close(th_text_io *io, const char *remark)
{
    if (!io->out)
        return th_text_check(io, io->at[strspn(io->at, " ")] == '\0');
    th_strbuf_printf(io->out, "%s%s\n", remark ? " # " : "", remark ? remark : "");
    return 0;
}

int th_text_line(th_text_io *io, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int failed = begin(io) || convert(io, format, values) || th_text_close(io, NULL) ? -1 : 0;
    va_end(values);
    return failed;
}
