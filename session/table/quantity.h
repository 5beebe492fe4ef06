/* SPDX-License-Identifier: GPL-3.0-or-later */
/* quantity.h - a value that knows its unit: attributes of objects and cells of reports. */
#ifndef TH_SESSION_TABLE_QUANTITY_H
#define TH_SESSION_TABLE_QUANTITY_H
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/strbuf.h"
#include "base/units.h"

typedef enum {
    TH_KIND_TEXT,
    TH_KIND_COUNT,     /* integer */
    TH_KIND_TIME,      /* integer, ps */
    TH_KIND_BYTES,     /* integer */
    TH_KIND_BANDWIDTH, /* integer, bits per second */
    TH_KIND_BYTE_RATE, /* the same of a memory, shown in bytes per second, as data sheets do */
    TH_KIND_SHARE,     /* real, 0 .. 1 */
    TH_KIND_CHANGE,    /* real, relative: -0.1 is 10 % less */
    TH_KIND_RATE,      /* real, per second */
    TH_KIND_MEAN,      /* real, of counts */
    TH_KIND_NUMBER,    /* real, of any magnitude */
    TH_KIND_ENERGY,    /* real, J */
    TH_KIND_FACTOR,    /* real, relative to the system; written x0.5 */
    TH_KIND_DURATION   /* real, s: also years, which no time in ps holds; written 3.5h */
} th_kind;
enum { TH_N_KINDS = TH_KIND_DURATION + 1 };

typedef struct th_quantity {
    th_kind kind;
    bool is_absent;   /* no value: "-", null */
    int64_t whole;    /* integers */
    double real;      /* reals */
    const char *text; /* text, not owned */
} th_quantity;

th_quantity th_text(const char *text);
th_quantity th_count(int64_t n);
th_quantity th_ps(th_time ps);
th_quantity th_bytes(int64_t bytes);
th_quantity th_bandwidth(int64_t bits_per_s);
th_quantity th_share(double share);
th_quantity th_change(double change);
th_quantity th_rate(double per_s);
th_quantity th_mean(double mean);
th_quantity th_number(double number);
th_quantity th_joules(double joules);
th_quantity th_factor(double factor);
th_quantity th_absent(th_kind kind);
th_quantity th_ps_or_absent(th_time ps); /* absent when negative */

/* As text, each value with its own unit: "2.28134ms", "0.5231", "4.1M/s". */
void th_quantity_format(const th_quantity *q, th_strbuf *out);
/* In the largest unit of which it has one: "3.5h", "14d". */
void th_format_seconds(double s, int digits, char *out, size_t size);
/* Reads the literal of a filter of this kind ("10us", "0.5", "idle"). 0 or -1. */
int th_quantity_parse(th_kind kind, const char *text, th_quantity *out, th_error *err);
/* -1, 0, 1; absent values come before all others; numbers in texts have their order. */
int th_quantity_compare(const th_quantity *a, const th_quantity *b);
bool th_kind_is_real(th_kind kind);
const char *th_kind_name(th_kind kind); /* "time" */
/* The suffix of a field in CSV and JSON: "_ps"; "" if the name has it. */
const char *th_kind_suffix(th_kind kind, const char *name);
/* The number of a quantity; otherwise, if it is absent or a text. */
double th_quantity_number(const th_quantity *q, double otherwise);
/* part / whole; 0 where whole is 0. */
double th_ratio(double part, double whole);

#endif
