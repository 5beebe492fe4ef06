/* SPDX-License-Identifier: GPL-3.0-or-later */
/* predictor_text.c - lines of predictors. Numbers have enough digits to be read back exactly. */
#include <config.h>

#include "predictor/regress/predictor_text.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int th_text_fail(const th_text_reader *r)
{
    return th_error_set(r->err, "PRED-0080", "%s:%d: is no line of a predictor", r->path, r->line);
}

char *th_text_line(th_text_reader *r)
{
    char *line = r->rest;
    if (!line || *line == '\0')
        return NULL;
    char *end = strchr(line, '\n');
    r->rest = end ? end + 1 : NULL;
    r->line++;
    if (end)
        *end = '\0';
    char *remark = strstr(line, " #");
    if (remark)
        *remark = '\0';
    return line;
}

int th_text_scan(th_text_reader *r, int n_fields, const char *format, ...)
{
    va_list list;
    const char *line = th_text_line(r);
    if (!line)
        return th_text_fail(r);
    va_start(list, format);
    int n = vsscanf(line, format, list);
    va_end(list);
    return n == n_fields ? 0 : th_text_fail(r);
}

char *th_text_skip(th_text_reader *r, const char *word)
{
    char *line = th_text_line(r);
    size_t n = strlen(word);
    return line && strncmp(line, word, n) == 0 && line[n] == ' ' ? line + n + 1 : NULL;
}

int th_text_number(char **at, double *out)
{
    char *end;
    *out = strtod(*at, &end);
    if (end == *at || !isfinite(*out) || (*end != ' ' && *end != '\0'))
        return -1;
    *at = end;
    return 0;
}

/* Nothing but blanks is left of a line. 0 or -1. */
static int end_line(const th_text_reader *r, const char *at)
{
    return at && at[strspn(at, " ")] == '\0' ? 0 : th_text_fail(r);
}

int th_text_doubles(th_text_reader *r, const char *word, double *x, size_t n)
{
    char *at = th_text_skip(r, word);
    for (size_t i = 0; i < n; i++)
        if (!at || th_text_number(&at, &x[i]))
            return th_text_fail(r);
    return end_line(r, at);
}

int th_text_floats(th_text_reader *r, const char *word, float *x, size_t n)
{
    char *at = th_text_skip(r, word);
    double number;
    for (size_t i = 0; i < n; i++) {
        if (!at || th_text_number(&at, &number) || fabs(number) > FLT_MAX)
            return th_text_fail(r);
        x[i] = (float)number;
    }
    return end_line(r, at);
}

static void add_float(float x, th_strbuf *out)
{
    enum { DIGITS = 9 };
    char text[40];
    for (int digits = 4; digits <= DIGITS; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x)
            break;
    }
    th_strbuf_printf(out, " %s", text);
}

void th_text_add_floats(const char *word, const float *x, size_t n, th_strbuf *out)
{
    th_strbuf_add(out, word);
    for (size_t i = 0; i < n; i++)
        add_float(x[i], out);
    th_strbuf_add(out, "\n");
}

void th_text_add_doubles(const char *word, const double *x, size_t n, th_strbuf *out)
{
    th_strbuf_add(out, word);
    for (size_t i = 0; i < n; i++)
        th_strbuf_printf(out, " %.17g", x[i]);
    th_strbuf_add(out, "\n");
}
