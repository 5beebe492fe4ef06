/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report_scale.c - see report_scale.h. A unit is picked by the largest value, or given by name. */
#include <config.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "render/text/report_scale.h"

/* ---- units ---- */

typedef struct th_unit {
    const char *name;
    double divisor;
} th_unit;

static const th_unit time_units[] = {{"s", 1e12}, {"ms", 1e9}, {"us", 1e6},
                                     {"ns", 1e3}, {"ps", 1},   {NULL, 0}};
static const th_unit byte_units[] = {{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6},
                                     {"kB", 1e3},  {"B", 1},    {NULL, 0}};
static const th_unit bandwidth_units[] = {{"Tbps", 1e12}, {"Gbps", 1e9}, {"Mbps", 1e6},
                                          {"kbps", 1e3},  {"bps", 1},    {NULL, 0}};
static const th_unit byte_rate_units[] = {{"TB/s", 8e12}, {"GB/s", 8e9}, {"MB/s", 8e6},
                                          {"kB/s", 8e3},  {"B/s", 8},    {NULL, 0}};
static const th_unit energy_units[] = {{"J", 1},     {"mJ", 1e-3},  {"uJ", 1e-6},
                                       {"nJ", 1e-9}, {"pJ", 1e-12}, {NULL, 0}};
/* A rate of inputs stays in 1/s up to a million. */
static const th_unit rate_units[] = {
    {"T/s", 1e12}, {"G/s", 1e9}, {"M/s", 1e6}, {"1/s", 1}, {NULL, 0}};

/* The largest unit that leaves at least 1 before the point, with `digits` significant digits. */
static th_scale pick_unit(const th_unit *units, double largest, int digits)
{
    while (units[1].name && largest < units->divisor)
        units++;
    double shown = largest / units->divisor;
    int before = shown >= 100 ? 3 : shown >= 10 ? 2 : 1;
    int decimals = !units[1].name && units->divisor == 1 ? 0
                   : digits > before                     ? digits - before
                                                         : 0;
    return (th_scale){units->name, units->divisor, decimals};
}

static const th_unit *units_of(th_kind kind)
{
    static const th_unit *const units[TH_N_KINDS] = {
        [TH_KIND_TIME] = time_units,           [TH_KIND_BYTES] = byte_units,
        [TH_KIND_BANDWIDTH] = bandwidth_units, [TH_KIND_BYTE_RATE] = byte_rate_units,
        [TH_KIND_RATE] = rate_units,           [TH_KIND_ENERGY] = energy_units};
    return units[kind];
}

/* Of bandwidths those in bits, then those in bytes. */
const char *th_kind_unit_name(th_kind kind, int i)
{
    enum { N_BANDWIDTHS = sizeof bandwidth_units / sizeof *bandwidth_units - 1 };
    return kind == TH_KIND_BANDWIDTH && i >= N_BANDWIDTHS ? byte_rate_units[i - N_BANDWIDTHS].name
                                                          : units_of(kind)[i].name;
}

const char *th_kind_unit(th_kind kind, double largest, double *divisor)
{
    bool is_share = kind == TH_KIND_SHARE || kind == TH_KIND_CHANGE;
    th_scale scale = is_share ? (th_scale){"%", 0.01, 0} : (th_scale){"", 1, 0};
    if (units_of(kind))
        scale = pick_unit(units_of(kind), largest, 0);
    *divisor = scale.divisor;
    return scale.unit;
}

/* ---- columns ---- */

/* The unit that the user has set for a kind; NULL: none. */
static const char *wanted_unit(const th_report *r, th_kind kind)
{
    return r->units ? r->units[kind] : NULL;
}

/* A unit by name, with `digits` significant digits of the largest. */
static th_scale fixed_unit(th_kind kind, const char *name, double largest, int digits)
{
    enum { MOST_DECIMALS = 12 };
    const th_unit *u = units_of(kind);
    if (kind == TH_KIND_BANDWIDTH || kind == TH_KIND_BYTE_RATE)
        u = strstr(name, "B/s") ? byte_rate_units : bandwidth_units;
    while (strcmp(u->name, name) != 0)
        u++;
    int before = largest > 0 ? (int)floor(log10(largest / u->divisor)) + 1 : 1;
    int decimals = digits - before;
    bool is_whole = u->divisor == 1 && kind != TH_KIND_ENERGY; /* ps, B, bps */
    return (th_scale){u->name, u->divisor,
                      is_whole || decimals < 0   ? 0
                      : decimals < MOST_DECIMALS ? decimals
                                                 : MOST_DECIMALS};
}

static th_scale unit_for(const th_table *t, th_kind kind, double largest, int digits)
{
    const char *wanted = wanted_unit(t->report, kind);
    return wanted ? fixed_unit(kind, wanted, largest, digits)
                  : pick_unit(units_of(kind), largest, digits);
}

static double largest_in(const th_table *t, int column)
{
    double largest = t->total ? fabs(th_quantity_number(&t->total[column], 0)) : 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        largest = fmax(largest, fabs(th_quantity_number(th_table_cell(t, row, column), 0)));
    }
    return largest;
}

/* Times (sizes, energies) of one table share a unit, to be compared by eye. Over all columns of the
 * kind, the largest time or energy decides; for sizes, which vary more, the column with the
 * smallest maximum. */
static double reference_of_kind(const th_table *t, th_kind kind)
{
    double reference = 0;
    for (int c = 0; c < t->n_columns; c++) {
        double largest = t->columns[c].kind == kind ? largest_in(t, c) : 0;
        bool is_better = kind != TH_KIND_BYTES ? largest > reference : largest < reference;
        if (largest > 0 && (reference == 0 || is_better))
            reference = largest;
    }
    return reference;
}

/* Bandwidths are often round: no more decimals than any of them needs. */
static void drop_decimals(const th_table *t, int column, th_scale *scale)
{
    int needed = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        double value = th_quantity_number(th_table_cell(t, row, column), 0) / scale->divisor;
        while (needed < scale->decimals &&
               fabs(value * pow(10, needed) - round(value * pow(10, needed))) > 1e-6)
            needed++;
    }
    scale->decimals = needed;
}

/* The smallest value of a column but 0, which its unit must still show; 0: there is none. */
static double smallest_in(const th_table *t, int column)
{
    double smallest = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        double value = fabs(th_quantity_number(th_table_cell(t, row, column), 0));
        if (value > 0 && (smallest == 0 || value < smallest))
            smallest = value;
    }
    return smallest;
}

/* The value that decides the unit of a column. */
static double reference_of_column(const th_table *t, int column)
{
    return t->has_wide_range ? smallest_in(t, column)
                             : reference_of_kind(t, t->columns[column].kind);
}

static int digits_of(const th_table *t, int by_kind)
{
    return t->report->display.digits > 0 ? t->report->display.digits : by_kind;
}

/* A share in percent, a mean: two decimals, unless the user has set the digits. */
static th_scale with_decimals(const th_table *t, const char *unit, double divisor, double largest)
{
    enum { DECIMALS = 2 };
    int before = largest >= divisor ? (int)floor(log10(largest / divisor)) + 1 : 1;
    int decimals = digits_of(t, before + DECIMALS) - before;
    return (th_scale){unit, divisor, decimals > 0 ? decimals : 0};
}

th_scale th_scale_of_column(const th_table *t, int column)
{
    double largest = largest_in(t, column);
    th_scale scale = {"", 1, 0};
    switch (t->columns[column].kind) {
    case TH_KIND_TEXT:
    case TH_KIND_COUNT:
    case TH_KIND_NUMBER:
    case TH_KIND_FACTOR:
    case TH_KIND_DURATION: /* each value has a unit of its own */
        break;
    case TH_KIND_TIME:
        return unit_for(t, TH_KIND_TIME, reference_of_column(t, column), digits_of(t, 6));
    case TH_KIND_BYTES:
        return unit_for(t, TH_KIND_BYTES, reference_of_column(t, column), digits_of(t, 4));
    case TH_KIND_BANDWIDTH:
    case TH_KIND_BYTE_RATE: /* th_format_bandwidth */
        scale = unit_for(t, largest >= 1e12 ? TH_KIND_BYTE_RATE : t->columns[column].kind, largest,
                         digits_of(t, 4));
        drop_decimals(t, column, &scale);
        break;
    case TH_KIND_RATE:
        scale = pick_unit(rate_units, largest, digits_of(t, 6));
        if (t->report->display.digits == 0)
            scale.decimals = scale.decimals > 0 ? scale.decimals : largest < 10 ? 4 : 2;
        break;
    case TH_KIND_ENERGY:
        return unit_for(t, TH_KIND_ENERGY, reference_of_column(t, column), digits_of(t, 6));
    case TH_KIND_MEAN:
        return with_decimals(t, "", 1, largest);
    case TH_KIND_SHARE:
    case TH_KIND_CHANGE:
        return with_decimals(t, "%", 0.01, largest);
    }
    return scale;
}

/* ---- values ---- */

const char *th_cell_format(const th_table *t, const th_quantity *q, const th_scale *scale,
                           char *out, size_t size)
{
    if (q->is_absent)
        return "-";
    if (q->kind == TH_KIND_TEXT)
        return q->text;
    if (q->kind == TH_KIND_CHANGE)
        snprintf(out, size, "%+.*f", scale->decimals, q->real / scale->divisor);
    else if (q->kind == TH_KIND_COUNT)
        snprintf(out, size, "%lld", (long long)q->whole);
    else if (q->kind == TH_KIND_NUMBER)
        snprintf(out, size, "%.*g", digits_of(t, 6), q->real);
    else if (q->kind == TH_KIND_FACTOR)
        th_format_factor(q->real, out, size);
    else if (q->kind == TH_KIND_DURATION)
        th_format_seconds(q->real, digits_of(t, 6), out, size);
    else
        snprintf(out, size, "%.*f", scale->decimals, th_quantity_number(q, 0) / scale->divisor);
    return out;
}

bool th_value_format(const th_report *r, const th_quantity *q, char *out, size_t size)
{
    enum { DIGITS = 6 };
    const char *wanted = wanted_unit(r, q->kind);
    if (q->is_absent || !wanted)
        return false;
    th_scale scale = fixed_unit(q->kind, wanted, fabs(th_quantity_number(q, 0)), DIGITS);
    snprintf(out, size, "%.*f%s", scale.decimals, th_quantity_number(q, 0) / scale.divisor,
             scale.unit);
    return true;
}

int th_text_width(const char *text)
{
    int n = 0;
    for (; text && *text != '\0'; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}
