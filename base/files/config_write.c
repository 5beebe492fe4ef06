/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_write.c - see config_write.h. */
#include <config.h>
#include "base/files/config_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 64 };

void th_config_put_text(th_strbuf *out, const char *text)
{
    th_strbuf_add(out, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            th_strbuf_printf(out, "\\%c", *c);
        else if (*c < ' ' || *c == 0x7F)
            th_strbuf_printf(out, "\\x%02x", *c);
        else
            th_strbuf_add_bytes(out, c, 1);
    }
    th_strbuf_add(out, "\"");
}

/* Integers as such; those beyond 32 bits have their suffix. Others in as few digits as say them
 * exactly. */
void th_config_put_number(th_strbuf *out, double x)
{
    static const double exact_integers = 9007199254740992.0; /* 2^53 */
    char text[TEXT_MAX];
    if (x == floor(x) && fabs(x) < exact_integers) {
        th_strbuf_printf(out, "%" PRId64 "%s", (int64_t)x, fabs(x) > INT32_MAX ? "L" : "");
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    th_strbuf_add(out, text); /* has a point or an exponent, being no integer or a large one */
}

/* ---- quantities ---- */

typedef char *format_quantity(int64_t x, char *out, size_t size);
typedef int parse_quantity(const char *text, int64_t *out, th_error *err);

/* In the readable format where that is exact; else in the smallest unit. */
static void put_quantity(th_strbuf *out, int64_t x, format_quantity *format, parse_quantity *parse,
                         const char *smallest)
{
    char text[TEXT_MAX];
    int64_t back;
    th_error ignored;
    format(x, text, sizeof text);
    if (parse(text, &back, &ignored) != 0 || back != x)
        snprintf(text, sizeof text, "%" PRId64 "%s", x, smallest);
    th_strbuf_printf(out, "\"%s\"", text);
}

void th_config_put_time(th_strbuf *out, th_time ps)
{
    put_quantity(out, ps, th_format_time, th_parse_time, "ps");
}

void th_config_put_bytes(th_strbuf *out, int64_t bytes)
{
    put_quantity(out, bytes, th_format_bytes, th_parse_bytes, "B");
}

void th_config_put_bandwidth(th_strbuf *out, int64_t bits_per_s)
{
    if (bits_per_s == TH_UNLIMITED)
        th_strbuf_add(out, "\"unlimited\"");
    else
        put_quantity(out, bits_per_s, th_format_bandwidth, th_parse_bandwidth, "bps");
}

void th_config_put_frequency(th_strbuf *out, int64_t hz)
{
    put_quantity(out, hz, th_format_frequency, th_parse_frequency, "Hz");
}

void th_config_put_duration(th_strbuf *out, int64_t us)
{
    static const struct {
        const char *name;
        int64_t us;
    } units[] = {{"d", 86400000000}, {"h", 3600000000}, {"min", 60000000},
                 {"s", 1000000},     {"ms", 1000},      {"us", 1}};
    int i = 0;
    while (us % units[i].us != 0)
        i++;
    th_strbuf_printf(out, "\"%" PRId64 "%s\"", us / units[i].us, units[i].name);
}

void th_config_put_names(th_strbuf *out, const char *const *names, int n)
{
    th_strbuf_add(out, "[");
    for (int i = 0; i < n; i++) {
        th_strbuf_add(out, i > 0 ? ", " : "");
        th_config_put_text(out, names[i]);
    }
    th_strbuf_add(out, "]");
}
