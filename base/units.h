/* SPDX-License-Identifier: GPL-3.0-or-later */
/* units.h - conversion of text with units to integers, and back.
 *
 * Internally: time in int64 picoseconds, sizes in bytes, bandwidth in bits per second, frequency in
 * hertz. Decimal prefixes are powers of 1000 (k M G T P), binary ones of 1024 (Ki Mi Gi Ti). "b" is
 * bit, "B" is byte. A number without a unit is an error unless it is 0. */
#ifndef TH_BASE_UNITS_H
#define TH_BASE_UNITS_H
#include <math.h>
#include <stdint.h>
#include "base/error.h"
#include "base/strbuf.h"

typedef int64_t th_time;      /* picoseconds */
#define TH_TIME_MAX INT64_MAX /* 106 days: never a time at which something happens */
#define TH_PS_PER_S 1000000000000LL

/* A bandwidth in bits per second that never limits anything. */
#define TH_UNLIMITED INT64_MAX

static inline double th_seconds(th_time ps)
{
    return (double)ps / (double)TH_PS_PER_S;
}

/* Sum of two times, neither negative; saturates at TH_TIME_MAX. */
static inline th_time th_time_add(th_time a, th_time b)
{
    return a < TH_TIME_MAX - b ? a + b : TH_TIME_MAX;
}
/* Likewise of two numbers of bytes; saturates at INT64_MAX. */
static inline int64_t th_bytes_add(int64_t a, int64_t b)
{
    return a < INT64_MAX - b ? a + b : INT64_MAX;
}

/* Parse exactly one quantity; on failure *out is unchanged and err says what was expected.
 * time "1.5us" (ps ns us ms s min h d; rounded to the nearest ps), bytes "64GiB" (B kB MB GB KiB
 * MiB GiB ...), bandwidth "8Gbps" "8Gb/s" "16GB/s" "16GiB/s", frequency "200MHz". Negative
 * quantities are refused; so are zero, NaN, infinities and overflow, except that time and bytes may
 * be 0. */
int th_parse_time(const char *text, th_time *out_ps, th_error *err);
int th_parse_bytes(const char *text, int64_t *out_bytes, th_error *err);
int th_parse_bandwidth(const char *text, int64_t *out_bits_per_s, th_error *err);
/* energy "0.9pJ" (aJ fJ pJ nJ uJ mJ J), power "2W" (nW uW mW W kW); both may be 0. */
int th_parse_energy(const char *text, int64_t *out_aj, th_error *err);
int th_parse_power(const char *text, int64_t *out_nw, th_error *err);
#define TH_J_PER_AJ 1e-18
#define TH_W_PER_NW 1e-9
int th_parse_frequency(const char *text, int64_t *out_hz, th_error *err);
/* Times longer than th_time holds, in us: "30min", "50000h", "54d" (us ms s min h d); may be 0. */
int th_parse_duration(const char *text, int64_t *out_us, th_error *err);
/* A duration, or a time with ps and ns, in seconds. */
int th_parse_seconds(const char *text, double *out_s, th_error *err);
/* "20%": a finite number with the sign; *share 0.2. 0, or -1 with *share as it was. */
int th_parse_percent(const char *text, double *share);
/* "x0.5": a multiple of another quantity. Finite, not negative. A number without the x is
 * refused. */
int th_parse_factor(const char *text, double *out, th_error *err);

/* ceil(bytes * 8 * 1e12 / bits_per_s) in 128 bits: the time that bytes need on a link, in ps.
 * bytes >= 0, bits_per_s > 0; saturates at TH_TIME_MAX. */
th_time th_duration_ps(int64_t bytes, int64_t bits_per_s);
/* ceil(cycles * 1e12 / hz) in 128 bits. cycles >= 0, hz > 0; saturates. */
th_time th_cycles_ps(int64_t cycles, int64_t hz);
/* ceil(whole * part / of) in 128 bits. whole >= 0, 0 <= part <= of, of > 0. */
int64_t th_part_of(int64_t whole, int64_t part, int64_t of);

/* Human-readable, six significant digits at most, shortest unit that keeps the number below 1000:
 * "1.5us", "8Gbps", "1GiB" (binary prefixes only when exact, else "1.5MB"). Into out[size],
 * returned. */
char *th_format_time(th_time ps, char *out, size_t size);
char *th_format_bytes(int64_t bytes, char *out, size_t size);
char *th_format_bandwidth(int64_t bits_per_s, char *out, size_t size);
/* A bandwidth from 1 Tbit/s on is written in bytes, "450GB/s", as data sheets of links on a board
 * do; those of networks are below. byte_rate: always, "16GB/s"; "9bps" where it is no whole number
 * of bytes per second. */
char *th_format_byte_rate(int64_t bits_per_s, char *out, size_t size);
char *th_format_frequency(int64_t hz, char *out, size_t size);
char *th_format_energy(double joules, char *out, size_t size); /* not negative */
/* "x0.5", with as many digits as it takes to read the same factor back. */
char *th_format_factor(double factor, char *out, size_t size);

/* hz times factor, in whole Hz, at least 1. */
static inline int64_t th_scaled_hz(int64_t hz, double factor)
{
    double scaled = (double)hz * factor;
    return scaled < 1 ? 1 : (int64_t)llround(scaled);
}

#endif
