/* SPDX-License-Identifier: GPL-3.0-or-later */
/* quantity.c - see quantity.h. */
#include <config.h>
#include "session/table/quantity.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds ---- */

static const struct {
    const char *name, *suffix;
    bool is_real;
} kinds[TH_N_KINDS] = {
    [TH_KIND_TEXT] = {"text", "", false},
    [TH_KIND_COUNT] = {"count", "", false},
    [TH_KIND_TIME] = {"time", "_ps", false},
    [TH_KIND_BYTES] = {"bytes", "_bytes", false},
    [TH_KIND_BANDWIDTH] = {"bandwidth", "_bits_per_s", false},
    [TH_KIND_BYTE_RATE] = {"byte_rate", "_bits_per_s", false},
    [TH_KIND_SHARE] = {"share", "_percent", true},
    [TH_KIND_CHANGE] = {"change", "_percent", true},
    [TH_KIND_RATE] = {"rate", "_per_s", true},
    [TH_KIND_MEAN] = {"mean", "", true},
    [TH_KIND_NUMBER] = {"number", "", true},
    [TH_KIND_ENERGY] = {"energy", "_j", true},
    [TH_KIND_FACTOR] = {"factor", "", true},
    [TH_KIND_DURATION] = {"duration", "_s", true},
};

const char *th_kind_name(th_kind kind)
{
    return kinds[kind].name;
}

bool th_kind_is_real(th_kind kind)
{
    return kinds[kind].is_real;
}

const char *th_kind_suffix(th_kind kind, const char *name)
{
    return kind == TH_KIND_BYTES && strcmp(name, "bytes") == 0 ? "" : kinds[kind].suffix;
}

/* ---- values ---- */

#define WHOLE(kind_, value) ((th_quantity){.kind = kind_, .whole = value})
#define REAL(kind_, value)  ((th_quantity){.kind = kind_, .real = value})
#define MAKER(name, type, quantity)                                                                \
    th_quantity name(type x)                                                                       \
    {                                                                                              \
        return quantity;                                                                           \
    }
MAKER(th_count, int64_t, WHOLE(TH_KIND_COUNT, x))
MAKER(th_ps, th_time, WHOLE(TH_KIND_TIME, x))
MAKER(th_bytes, int64_t, WHOLE(TH_KIND_BYTES, x))
MAKER(th_bandwidth, int64_t, WHOLE(TH_KIND_BANDWIDTH, x))
MAKER(th_share, double, REAL(TH_KIND_SHARE, x))
MAKER(th_change, double, REAL(TH_KIND_CHANGE, x))
MAKER(th_rate, double, REAL(TH_KIND_RATE, x))
MAKER(th_mean, double, REAL(TH_KIND_MEAN, x))
MAKER(th_number, double, REAL(TH_KIND_NUMBER, x))
MAKER(th_joules, double, REAL(TH_KIND_ENERGY, x))
MAKER(th_factor, double, REAL(TH_KIND_FACTOR, x))
MAKER(th_absent, th_kind, ((th_quantity){.kind = x, .is_absent = true}))
MAKER(th_text, const char *, ((th_quantity){.kind = TH_KIND_TEXT, .is_absent = !x, .text = x}))

th_quantity th_ps_or_absent(th_time ps)
{
    return (th_quantity){.kind = TH_KIND_TIME, .whole = ps, .is_absent = ps < 0};
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

void th_format_seconds(double s, int digits, char *out, size_t size)
{
    static const struct {
        const char *name;
        double s;
    } units[] = {{"y", 365 * 86400.0}, {"d", 86400}, {"h", 3600},
                 {"min", 60},          {"s", 1},     {"ms", 1e-3}};
    size_t i = s == 0 ? 4 : 0;
    while (s != 0 && i + 1 < sizeof units / sizeof *units && fabs(s) < units[i].s)
        i++;
    snprintf(out, size, "%.*g%s", digits, s / units[i].s, units[i].name);
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
    case TH_KIND_BYTE_RATE:
        th_format_byte_rate(q->whole, text, sizeof text);
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
    case TH_KIND_DURATION:
        th_format_seconds(q->real, 6, text, sizeof text);
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
    case TH_KIND_BYTE_RATE:
        failed = th_parse_bandwidth(text, &q.whole, err);
        break;
    case TH_KIND_ENERGY:
        failed = th_parse_energy(text, &q.whole, err);
        q.real = (double)q.whole * TH_J_PER_AJ;
        break;
    case TH_KIND_FACTOR:
        failed = th_parse_factor(text, &q.real, err);
        break;
    case TH_KIND_DURATION:
        failed = th_parse_seconds(text, &q.real, err);
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

/* As "lsort -dictionary" of Tcl: numbers in texts by their values, "run2" before "run10", letters
 * whatever their case; where only leading zeros or cases differ, by the first of these. */
static int compare_texts(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    for (int second = 0;;) {
        int order = tolower((unsigned char)*a) - tolower((unsigned char)*b), n = 1, m = 1;
        int difference = (unsigned char)*a - (unsigned char)*b;
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            int zeros = (int)strspn(a, "0"), others = (int)strspn(b, "0");
            n = zeros + (int)strspn(a + zeros, digits);
            m = others + (int)strspn(b + others, digits);
            difference = zeros - others;
            order = n - m - difference;
            if (order == 0)
                order = strncmp(a + zeros, b + others, (size_t)(n - zeros));
        }
        second = second ? second : difference;
        if (order != 0 || *a == '\0')
            return order ? order : second;
        a += n;
        b += m;
    }
}

int th_quantity_compare(const th_quantity *a, const th_quantity *b)
{
    if (a->is_absent || b->is_absent)
        return (int)b->is_absent - (int)a->is_absent;
    if (a->kind == TH_KIND_TEXT) {
        int order = compare_texts(a->text, b->text);
        return (order > 0) - (order < 0);
    }
    if (th_kind_is_real(a->kind))
        return (a->real > b->real) - (a->real < b->real);
    return (a->whole > b->whole) - (a->whole < b->whole);
}
