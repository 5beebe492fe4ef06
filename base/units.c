/* SPDX-License-Identifier: GPL-3.0-or-later */
/* units.c - conversion of text with units to integers, and back.
 *
 * A quantity is digits * 10^exponent * scale, all three integers: "1.5us" is 15 * 10^-1 * 10^6 ps.
 * It is computed in 128 bits and rounded once, half upwards, without doubles and locales.
 *   split off the number -> look the unit up -> multiply -> check the range
 * A number may have a fraction and an exponent, and blanks before its unit. Digits after the 19th
 * count as zeros. */
#include <config.h>
#include "base/units.h"
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef unsigned __int128 u128;

typedef struct scale {
    const char *name;
    int64_t factor;
} scale;

/* What a kind of quantity is called, how it is written, and what it may be. */
typedef struct quantity {
    const char *noun;
    const char *expected;
    const scale *prefixes;
    const scale *units;
    bool may_be_zero;
} quantity;

static const scale no_prefix[] = {{"", 1}, {NULL, 0}};
static const scale decimal[] = {{"", 1},           {"k", 1000},          {"M", 1000000},
                                {"G", 1000000000}, {"T", 1000000000000}, {"P", 1000000000000000},
                                {NULL, 0}};
static const scale decimal_and_binary[] = {{"", 1},
                                           {"k", 1000},
                                           {"M", 1000000},
                                           {"G", 1000000000},
                                           {"T", 1000000000000},
                                           {"P", 1000000000000000},
                                           {"Ki", 1LL << 10},
                                           {"Mi", 1LL << 20},
                                           {"Gi", 1LL << 30},
                                           {"Ti", 1LL << 40},
                                           {NULL, 0}};
static const scale time_units[] = {{"ps", 1},
                                   {"ns", 1000},
                                   {"us", 1000000},
                                   {"ms", 1000000000},
                                   {"s", TH_PS_PER_S},
                                   {"min", 60 * TH_PS_PER_S},
                                   {"h", 3600 * TH_PS_PER_S},
                                   {"d", 24 * 3600 * TH_PS_PER_S},
                                   {NULL, 0}};
static const scale duration_units[] = {{"us", 1},
                                       {"ms", 1000},
                                       {"s", 1000000},
                                       {"min", 60000000},
                                       {"h", 3600000000L},
                                       {"d", 24 * 3600000000L},
                                       {"y", 365 * 24 * 3600000000L},
                                       {NULL, 0}};
static const scale byte_units[] = {{"B", 1}, {NULL, 0}};
static const scale bandwidth_units[] = {{"bps", 1}, {"b/s", 1}, {"B/s", 8}, {NULL, 0}};
static const scale frequency_units[] = {{"Hz", 1}, {NULL, 0}};

static const scale energy_units[] = {{"aJ", 1},
                                     {"fJ", 1000},
                                     {"pJ", 1000000},
                                     {"nJ", 1000000000},
                                     {"uJ", 1000000000000},
                                     {"mJ", 1000000000000000},
                                     {"J", 1000000000000000000},
                                     {NULL, 0}};
static const scale power_units[] = {{"nW", 1},         {"uW", 1000},          {"mW", 1000000},
                                    {"W", 1000000000}, {"kW", 1000000000000}, {NULL, 0}};

static const quantity time_quantity = {"time", "ps, ns, us, ms, s, min, h, d (as in 1.5us)",
                                       no_prefix, time_units, true};
static const quantity duration_quantity = {"duration", "us, ms, s, min, h, d, y (as in 30min)",
                                           no_prefix, duration_units, true};
static const quantity bytes_quantity = {"size",
                                        "B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB (as in 64GiB)",
                                        decimal_and_binary, byte_units, true};
static const quantity bandwidth_quantity = {
    "bandwidth", "bps, b/s, B/s with a prefix k, M, G, T, P, Ki, Mi, Gi, Ti (as in 8Gbps, 16GB/s)",
    decimal_and_binary, bandwidth_units, false};
static const quantity frequency_quantity = {
    "frequency", "Hz, kHz, MHz, GHz, THz, PHz (as in 200MHz)", decimal, frequency_units, false};

static const quantity energy_quantity = {"energy", "aJ, fJ, pJ, nJ, uJ, mJ, J (as in 0.9pJ)",
                                         no_prefix, energy_units, true};
static const quantity power_quantity = {"power", "nW, uW, mW, W, kW (as in 2W)", no_prefix,
                                        power_units, true};

/* ---- text to number ---- */

typedef struct number {
    bool is_negative;
    uint64_t digits;
    int exponent;     /* of ten */
    const char *rest; /* what follows: the unit */
} number;

/* Reads digits from *text on; every digit after the point lowers the exponent. Returns how many. */
static int read_digits(const char **text, bool after_point, number *n)
{
    const uint64_t full = 1000000000000000000u; /* 10^18: no room for another digit from here on */
    int count = 0;
    for (; isdigit((unsigned char)**text); (*text)++, count++) {
        bool fits = n->digits < full;
        if (fits)
            n->digits = n->digits * 10 + (uint64_t)(**text - '0');
        n->exponent += (fits ? 0 : 1) - (after_point ? 1 : 0);
    }
    return count;
}

/* An exponent, if one follows: "e9", "E-3". */
static void read_exponent(const char **text, number *n)
{
    enum { EXPONENT_MAX = 10000 }; /* far beyond every range, and far from an overflow of int */
    const char *c = *text + 1;
    if ((**text != 'e' && **text != 'E') || !(isdigit((unsigned char)c[*c == '+' || *c == '-'])))
        return;
    char *end;
    long exponent = strtol(c, &end, 10);
    if (exponent > EXPONENT_MAX)
        exponent = EXPONENT_MAX;
    if (exponent < -EXPONENT_MAX)
        exponent = -EXPONENT_MAX;
    n->exponent += (int)exponent;
    *text = end;
}

static bool read_number(const char *text, number *n)
{
    *n = (number){.is_negative = *text == '-'};
    if (*text == '-' || *text == '+')
        text++;
    int count = read_digits(&text, false, n);
    if (*text == '.') {
        text++;
        count += read_digits(&text, true, n);
    }
    if (count == 0)
        return false;
    read_exponent(&text, n);
    while (*text == ' ')
        text++;
    n->rest = text;
    return true;
}

/* The factor of a unit with its prefix, or 0 if there is no such thing. */
static int64_t find_scale(const quantity *q, const char *unit)
{
    for (const scale *p = q->prefixes; p->name; p++) {
        size_t n = strlen(p->name);
        if (strncmp(unit, p->name, n) != 0)
            continue;
        for (const scale *u = q->units; u->name; u++)
            if (strcmp(unit + n, u->name) == 0)
                return p->factor * u->factor;
    }
    return 0;
}

/* ---- the unit that was meant ---- */

/* What people write at the end of a unit, and what is read. "GBps" is bytes: GB/s, not Gbps. */
static const struct {
    const char *written, *meant;
} spellings[] = {{"Bps", "B/s"},      {"bits/s", "b/s"},  {"bit/s", "b/s"},  {"bytes/s", "B/s"},
                 {"byte/s", "B/s"},   {"bytes", "B"},     {"byte", "B"},     {"seconds", "s"},
                 {"second", "s"},     {"secs", "s"},      {"sec", "s"},      {"\xc2\xb5s", "us"},
                 {"\xce\xbcs", "us"}, {"minutes", "min"}, {"minute", "min"}, {"hours", "h"},
                 {"hour", "h"},       {"hrs", "h"},       {"hr", "h"},       {"days", "d"},
                 {"day", "d"},        {"years", "y"},     {"year", "y"},     {"hertz", "Hz"},
                 {"joules", "J"},     {"watts", "W"}};

enum { UNIT_MAX = 16 };

/* In any letters, but for the B of bytes. */
static bool is_spelled(const char *text, const char *written)
{
    return strcasecmp(text, written) == 0 && (*written != 'B' || *text == 'B');
}

/* The unit with the usual spelling of its end. */
static void respell(const char *unit, char out[UNIT_MAX])
{
    size_t n = strlen(unit);
    snprintf(out, UNIT_MAX, "%s", unit);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        size_t m = strlen(spellings[i].written);
        if (n < UNIT_MAX && n >= m && is_spelled(unit + n - m, spellings[i].written)) {
            snprintf(out + n - m, UNIT_MAX - (n - m), "%s", spellings[i].meant);
            return;
        }
    }
}

/* How much of a known unit is written otherwise: 1 for a letter of the other case, 10 for a bit
 * that is a byte, 100 for an end that lacks; -1: another unit. */
static int difference(const char *written, const char *known)
{
    int n = 0;
    for (; *written; written++, known++) {
        if (tolower((unsigned char)*written) != tolower((unsigned char)*known))
            return -1;
        if (*written != *known)
            n += tolower((unsigned char)*known) == 'b' ? 10 : 1;
    }
    bool lacks_end =
        strcmp(known, "/s") == 0 || strcmp(known, "B") == 0 || strcmp(known, "Hz") == 0;
    return *known == '\0' ? n : lacks_end ? n + 100 : -1;
}

/* The known unit that is nearest to an unknown one into out; false: none is near. */
static bool find_near_unit(const quantity *q, const char *unit, char out[UNIT_MAX])
{
    char written[UNIT_MAX], known[UNIT_MAX];
    int least = -1;
    respell(unit, written);
    for (const scale *p = q->prefixes; p->name; p++)
        for (const scale *u = q->units; u->name; u++) {
            snprintf(known, sizeof known, "%s%s", p->name, u->name);
            int n = difference(written, known);
            if (n < 0 || (least >= 0 && n >= least))
                continue;
            least = n;
            memcpy(out, known, UNIT_MAX);
        }
    return least >= 0;
}

static int refuse_unit(const quantity *q, const char *text, const char *unit, th_error *err)
{
    char near[UNIT_MAX], meant[UNIT_MAX + 24] = "";
    bool is_near = find_near_unit(q, unit, near);
    if (is_near)
        snprintf(meant, sizeof meant, "did you mean \"%s\"? (", near);
    return th_error_set(err, "BASE-0004", "%s \"%s\": unknown unit \"%s\": %smust be one of %s%s",
                        q->noun, text, unit, meant, q->expected, is_near ? ")" : "");
}

/* ---- the value ---- */

/* digits * factor * 10^exponent, rounded half upwards; false when it does not fit. */
static bool multiply(uint64_t digits, int64_t factor, int exponent, int64_t *out)
{
    u128 value = (u128)digits * (u128)factor; /* below 2^64 * 2^60: fits */
    for (; exponent > 0 && value != 0; exponent--) {
        if (value > INT64_MAX)
            return false;
        value *= 10;
    }
    bool round_up = false;
    for (; exponent < 0 && value != 0; exponent++) {
        /* Only the last digit cut off decides about half upwards: those below it cannot change
         * it. */
        round_up = value % 10 >= 5;
        value /= 10;
    }
    value += exponent == 0 && round_up;
    if (value > INT64_MAX)
        return false;
    *out = (int64_t)value;
    return true;
}

static int parse(const quantity *q, const char *text, int64_t *out, th_error *err)
{
    number n;
    if (!read_number(text, &n))
        return th_error_set(err, "BASE-0002",
                            "%s \"%s\": must be a number with one of the units %s", q->noun, text,
                            q->expected);
    if (!*n.rest && !(n.digits == 0 && q->may_be_zero))
        return th_error_set(err, "BASE-0003", "%s \"%s\": has no unit: must be one of %s", q->noun,
                            text, q->expected);
    int64_t factor = *n.rest ? find_scale(q, n.rest) : 1;
    if (factor == 0)
        return refuse_unit(q, text, n.rest, err);
    if (n.is_negative && n.digits != 0)
        return th_error_set(err, "BASE-0005", "%s \"%s\": must not be negative", q->noun, text);
    int64_t value;
    if (!multiply(n.digits, factor, n.exponent, &value))
        return th_error_set(err, "BASE-0006", "%s \"%s\": too large: must fit 63 bits", q->noun,
                            text);
    if (value == 0 && !q->may_be_zero)
        return th_error_set(err, "BASE-0007", "%s \"%s\": must be greater than zero", q->noun,
                            text);
    *out = value;
    return 0;
}

int th_parse_seconds(const char *text, double *out_s, th_error *err)
{
    int64_t value;
    if (th_parse_time(text, &value, NULL) == 0) {
        *out_s = (double)value * 1e-12;
        return 0;
    }
    if (th_parse_duration(text, &value, err) != 0)
        return -1;
    *out_s = (double)value * 1e-6;
    return 0;
}

int th_parse_percent(const char *text, double *share)
{
    char *end;
    double percent = strtod(text, &end);
    if (end == text || strcmp(end, "%") != 0 || !isfinite(percent))
        return -1;
    *share = percent / 100;
    return 0;
}

int th_parse_time(const char *text, th_time *out_ps, th_error *err)
{
    return parse(&time_quantity, text, out_ps, err);
}

int th_parse_duration(const char *text, int64_t *out_us, th_error *err)
{
    return parse(&duration_quantity, text, out_us, err);
}

int th_parse_bytes(const char *text, int64_t *out_bytes, th_error *err)
{
    return parse(&bytes_quantity, text, out_bytes, err);
}

int th_parse_bandwidth(const char *text, int64_t *out_bits_per_s, th_error *err)
{
    return parse(&bandwidth_quantity, text, out_bits_per_s, err);
}

int th_parse_frequency(const char *text, int64_t *out_hz, th_error *err)
{
    return parse(&frequency_quantity, text, out_hz, err);
}

int th_parse_energy(const char *text, int64_t *out_aj, th_error *err)
{
    return parse(&energy_quantity, text, out_aj, err);
}

int th_parse_power(const char *text, int64_t *out_nw, th_error *err)
{
    return parse(&power_quantity, text, out_nw, err);
}

int th_parse_factor(const char *text, double *out, th_error *err)
{
    char *end = NULL;
    bool is_decimal =
        *text == 'x' && text[1] != '-' && text[1 + strspn(text + 1, "0123456789.eE+-")] == '\0';
    double factor = is_decimal ? strtod(text + 1, &end) : -1;
    if (!is_decimal || end == text + 1 || *end != '\0' || !isfinite(factor))
        return th_error_set(err, "BASE-0009",
                            "factor \"%.100s\": must be an x and a number (as in x0.5)", text);
    *out = factor;
    return 0;
}

/* ---- durations ---- */

/* ceil(a * b / divisor), saturating. a and b are below 2^63: the product fits. Most fit into
 * 64 bits, where a division is one instruction. */
static th_time ceil_ratio(int64_t a, int64_t b, int64_t divisor)
{
    uint64_t sum;
    if (!__builtin_mul_overflow((uint64_t)a, (uint64_t)b, &sum) &&
        !__builtin_add_overflow(sum, (uint64_t)divisor - 1, &sum)) {
        uint64_t ratio = sum / (uint64_t)divisor;
        return ratio > TH_TIME_MAX ? TH_TIME_MAX : (th_time)ratio;
    }
    u128 quotient = ((u128)a * (u128)b + (u128)divisor - 1) / (u128)divisor;
    return quotient > TH_TIME_MAX ? TH_TIME_MAX : (th_time)quotient;
}

th_time th_duration_ps(int64_t bytes, int64_t bits_per_s)
{
    return ceil_ratio(bytes, 8 * TH_PS_PER_S, bits_per_s);
}

th_time th_cycles_ps(int64_t cycles, int64_t hz)
{
    return ceil_ratio(cycles, TH_PS_PER_S, hz);
}

int64_t th_part_of(int64_t whole, int64_t part, int64_t of)
{
    return ceil_ratio(whole, part, of);
}

/* ---- number to text ---- */

/* The first of the ascending scales in which the value is written with less than 1000, else the
 * last. It is decided by the text: 999999999 ps is 1ms, as 1000us is not below 1000. */
static char *format(int64_t value, const scale *scales, const char *unit, char *out, size_t size)
{
    enum { LIMIT = 1000, TEXT_MAX = 40 };
    for (const scale *s = scales;; s++) {
        char text[TEXT_MAX];
        snprintf(text, sizeof text, "%.6g", (double)value / (double)s->factor);
        if (strtod(text, NULL) < LIMIT || !s[1].name) {
            snprintf(out, size, "%s%s%s", text, s->name, unit);
            return out;
        }
    }
}

char *th_format_time(th_time ps, char *out, size_t size)
{
    if (ps == 0)
        return format(0, no_prefix, "s", out, size);
    return format(ps, time_units, "", out, size);
}

/* "1GiB", "1.5MiB"; false where six digits do not say it exactly. */
static bool format_binary(int64_t bytes, char *out, size_t size)
{
    const scale *s = decimal_and_binary;
    while (strcmp(s->name, "Ki") != 0)
        s++;
    if (bytes < s->factor)
        return false;
    while (s[1].name && bytes >= s[1].factor)
        s++;
    int64_t back;
    snprintf(out, size, "%.6g%sB", (double)bytes / (double)s->factor, s->name);
    return th_parse_bytes(out, &back, NULL) == 0 && back == bytes;
}

/* Binary when that is exact and no longer than the decimal text: 65536 is 64KiB, but 64000 is 64kB
 * rather than 62.5KiB. */
char *th_format_bytes(int64_t bytes, char *out, size_t size)
{
    enum { TEXT_MAX = 40 };
    char binary[TEXT_MAX], plain[TEXT_MAX];
    format(bytes, decimal, "B", plain, sizeof plain);
    bool use_binary =
        format_binary(bytes, binary, sizeof binary) && strlen(binary) <= strlen(plain);
    snprintf(out, size, "%s", use_binary ? binary : plain);
    return out;
}

enum { BITS = 8 }; /* of a byte */
static const int64_t TERABIT = 1000000000000;

char *th_format_bandwidth(int64_t bits_per_s, char *out, size_t size)
{
    if (bits_per_s == TH_UNLIMITED) {
        snprintf(out, size, "unlimited");
        return out;
    }
    if (bits_per_s >= TERABIT && bits_per_s % BITS == 0)
        return format(bits_per_s / BITS, decimal, "B/s", out, size);
    return format(bits_per_s, decimal, "bps", out, size);
}

char *th_format_byte_rate(int64_t bits_per_s, char *out, size_t size)
{
    if (bits_per_s == TH_UNLIMITED || bits_per_s % BITS != 0)
        return th_format_bandwidth(bits_per_s, out, size);
    return format(bits_per_s / BITS, decimal, "B/s", out, size);
}

char *th_format_frequency(int64_t hz, char *out, size_t size)
{
    return format(hz, decimal, "Hz", out, size);
}

/* Sums of many small energies pass what an integer of attojoules holds. */
char *th_format_energy(double joules, char *out, size_t size)
{
    static const char *const units[] = {"aJ", "fJ", "pJ", "nJ", "uJ", "mJ", "J", "kJ", "MJ"};
    enum { N_UNITS = sizeof units / sizeof *units, TEXT_MAX = 40 };
    double value = joules / TH_J_PER_AJ;
    char text[TEXT_MAX] = "0";
    int u = joules > 0 ? 0 : N_UNITS - 3; /* nothing is 0J */
    for (; joules > 0; value /= 1000, u++) {
        snprintf(text, sizeof text, "%.6g", value);
        if (strtod(text, NULL) < 1000 || u == N_UNITS - 1)
            break;
    }
    snprintf(out, size, "%s%s", text, units[u]);
    return out;
}

char *th_format_factor(double factor, char *out, size_t size)
{
    enum { FEWEST_DIGITS = 6, EXACT_DIGITS = 17 };
    double back = -1;
    for (int digits = FEWEST_DIGITS; digits <= EXACT_DIGITS && back != factor; digits++) {
        snprintf(out, size, "x%.*g", digits, factor);
        back = strtod(out + 1, NULL);
    }
    return out;
}
