/* SPDX-License-Identifier: GPL-3.0-or-later */
/* quantity.c - see quantity.h. */
#include <config.h>
#include "report/table/quantity.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

th_quantity th_text(const char *text)
{
    return (th_quantity){.kind = TH_KIND_TEXT, .is_absent = !text, .text = text};
}

th_quantity th_count(int64_t n)
{
    return (th_quantity){.kind = TH_KIND_COUNT, .whole = n};
}

th_quantity th_ps(th_time ps)
{
    return (th_quantity){.kind = TH_KIND_TIME, .whole = ps};
}

th_quantity th_ps_or_absent(th_time ps)
{
    return (th_quantity){.kind = TH_KIND_TIME, .whole = ps, .is_absent = ps < 0};
}

th_quantity th_bytes(int64_t bytes)
{
    return (th_quantity){.kind = TH_KIND_BYTES, .whole = bytes};
}

th_quantity th_bandwidth(int64_t bits_per_s)
{
    return (th_quantity){.kind = TH_KIND_BANDWIDTH, .whole = bits_per_s};
}

th_quantity th_share(double share)
{
    return (th_quantity){.kind = TH_KIND_SHARE, .real = share};
}

th_quantity th_change(double change)
{
    return (th_quantity){.kind = TH_KIND_CHANGE, .real = change};
}

th_quantity th_rate(double per_s)
{
    return (th_quantity){.kind = TH_KIND_RATE, .real = per_s};
}

th_quantity th_mean(double mean)
{
    return (th_quantity){.kind = TH_KIND_MEAN, .real = mean};
}

th_quantity th_number(double number)
{
    return (th_quantity){.kind = TH_KIND_NUMBER, .real = number};
}

th_quantity th_joules(double joules)
{
    return (th_quantity){.kind = TH_KIND_ENERGY, .real = joules};
}

th_quantity th_factor(double factor)
{
    return (th_quantity){.kind = TH_KIND_FACTOR, .real = factor};
}

th_quantity th_absent(th_kind kind)
{
    return (th_quantity){.kind = kind, .is_absent = true};
}

bool th_kind_is_real(th_kind kind)
{
    return kind == TH_KIND_SHARE || kind == TH_KIND_CHANGE || kind == TH_KIND_RATE ||
           kind == TH_KIND_MEAN || kind == TH_KIND_NUMBER || kind == TH_KIND_ENERGY ||
           kind == TH_KIND_FACTOR;
}

double th_quantity_number(const th_quantity *q, double otherwise)
{
    if (q->is_absent || q->kind == TH_KIND_TEXT)
        return otherwise;
    return th_kind_is_real(q->kind) ? q->real : (double)q->whole;
}

double th_ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* With a decimal prefix: "4.1M". */
static void format_rate(double per_s, char *out, size_t size)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    size_t i = 0;
    while (fabs(per_s) >= 1000 && i + 1 < sizeof prefixes / sizeof *prefixes) {
        per_s /= 1000;
        i++;
    }
    snprintf(out, size, "%.6g%s", per_s, prefixes[i]);
}

void th_quantity_format(const th_quantity *q, th_strbuf *out)
{
    char text[64] = "";
    if (q->is_absent) {
        th_strbuf_add(out, "-");
        return;
    }
    switch (q->kind) {
    case TH_KIND_TEXT:
        th_strbuf_add(out, q->text);
        return;
    case TH_KIND_COUNT:
        snprintf(text, sizeof text, "%lld", (long long)q->whole);
        break;
    case TH_KIND_TIME:
        th_format_time(q->whole, text, sizeof text);
        break;
    case TH_KIND_BYTES:
        th_format_bytes(q->whole, text, sizeof text);
        break;
    case TH_KIND_BANDWIDTH:
        th_format_bandwidth(q->whole, text, sizeof text);
        break;
    case TH_KIND_SHARE:
    case TH_KIND_CHANGE:
    case TH_KIND_MEAN:
    case TH_KIND_NUMBER:
        snprintf(text, sizeof text, "%.6g", q->real);
        break;
    case TH_KIND_RATE:
        format_rate(q->real, text, sizeof text);
        strcat(text, "/s");
        break;
    case TH_KIND_ENERGY:
        th_format_energy(q->real, text, sizeof text);
        break;
    case TH_KIND_FACTOR:
        th_format_factor(q->real, text, sizeof text);
        break;
    }
    th_strbuf_add(out, text);
}

static int parse_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out) ? 0 : -1;
}

int th_quantity_parse(th_kind kind, const char *text, th_quantity *out, th_error *err)
{
    th_quantity q = {.kind = kind};
    int failed = 0;
    switch (kind) {
    case TH_KIND_TEXT:
        q.text = text;
        break;
    case TH_KIND_TIME:
        failed = th_parse_time(text, &q.whole, err);
        break;
    case TH_KIND_BYTES:
        failed = th_parse_bytes(text, &q.whole, err);
        break;
    case TH_KIND_BANDWIDTH:
        failed = th_parse_bandwidth(text, &q.whole, err);
        break;
    case TH_KIND_ENERGY:
        failed = th_parse_energy(text, &q.whole, err);
        q.real = (double)q.whole * TH_J_PER_AJ;
        break;
    case TH_KIND_FACTOR:
        failed = th_parse_factor(text, &q.real, err);
        break;
    case TH_KIND_COUNT:
    case TH_KIND_SHARE:
    case TH_KIND_CHANGE:
    case TH_KIND_RATE:
    case TH_KIND_MEAN:
    case TH_KIND_NUMBER:
        if ((failed = parse_number(text, &q.real)) != 0)
            th_error_set(err, "TCL-0032", "\"%s\": must be a number", text);
        q.whole = (int64_t)q.real;
        break;
    }
    if (!failed)
        *out = q;
    return failed;
}

int th_quantity_compare(const th_quantity *a, const th_quantity *b)
{
    if (a->is_absent || b->is_absent)
        return (int)b->is_absent - (int)a->is_absent;
    if (a->kind == TH_KIND_TEXT) {
        int order = strcmp(a->text, b->text);
        return (order > 0) - (order < 0);
    }
    if (th_kind_is_real(a->kind))
        return (a->real > b->real) - (a->real < b->real);
    return (a->whole > b->whole) - (a->whole < b->whole);
}
