/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stamps.c - times as writers write them: one, or many in a text.
 *
 * Times of a trace follow one another, so most begin with the same digits: all but the last eight are written
 * when they change. Of many, the same is done at each place of a text in a few stores. */
#include <config.h>

#include "sim/trace/writer.h"

enum { LOW = 100000000, DECIMALS = 6 }; /* eight digits */

static uint64_t first_byte_lowest(uint64_t word)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}

/* The digits of number < LOW, the first in the lowest byte: two numbers below 10,000, then four below 100, then
 * eight below 10, each half of what it was made of. The products are quotients, rounded down, for all of them. */
static inline uint64_t eight_digits(uint32_t number)
{
    uint64_t x = number / 10000 | (uint64_t)(number % 10000) << 32;
    uint64_t high = ((x * 10486) >> 20) & UINT64_C(0x0000007f0000007f);
    x = high | (x - 100 * high) << 16;
    high = ((x * 103) >> 10) & UINT64_C(0x000f000f000f000f);
    x = high | (x - 10 * high) << 8;
    return x | UINT64_C(0x3030303030303030);
}

/* With a full stop behind the second; the last digit is left out. */
static inline uint64_t with_point(uint64_t digits)
{
    uint64_t first = 0xffff;
    return (digits & first) | (uint64_t)'.' << 16 | (digits & ~first) << 8;
}

static void set_low(th_stamp *s, uint32_t number, char behind)
{
    uint64_t digits = eight_digits(number);
    bool has_point = behind == '.';
    s->low[0] = first_byte_lowest(has_point ? with_point(digits) : digits);
    s->low[1] = first_byte_lowest(has_point ? digits >> 56 : (uint64_t)(unsigned char)behind);
    s->n = s->n_high + 8 + (behind != 0);
}

/* All of it: it is short, or begins with other digits than last time. */
static void set_all(th_stamp *s, char before, int64_t number, char behind)
{
    char digits[TH_STAMP_BYTES] = "000000";
    size_t n_before = before != 0, n = th_put_digits(digits + DECIMALS, (uint64_t)number);
    char *from = digits + DECIMALS;
    s->high[0] = before;
    s->first = number - number % LOW;
    if (number >= LOW) {
        s->n_high = (int32_t)(n_before + n - 8);
        memcpy(s->high + n_before, from, n - 8);
        set_low(s, (uint32_t)(number % LOW), behind);
        return;
    }
    if (behind == '.' && n <= DECIMALS) {
        from -= DECIMALS + 1 - n;
        n = DECIMALS + 1;
    }
    char *to = s->high + n_before;
    size_t n_whole = behind == '.' ? n - DECIMALS : n;
    memcpy(to, from, n_whole);
    to[n_whole] = behind;
    if (behind == '.')
        memcpy(to + n_whole + 1, from + n_whole, DECIMALS);
    s->n = s->n_high = (int32_t)(n_before + n) + (behind != 0);
}

void th_stamp_number(th_stamp *s, char before, int64_t number, char behind)
{
    uint64_t low = (uint64_t)(number - s->first);
    if (s->at >= 0 && s->first > 0 && low < LOW)
        set_low(s, (uint32_t)low, behind);
    else
        set_all(s, before, number, behind);
}

static void set_varint(th_stamp *s, uint64_t number)
{
    int32_t n = 0;
    for (; number >= 0x80; number >>= 7)
        s->high[n++] = (char)(number | 0x80);
    s->high[n++] = (char)number;
    s->n = s->n_high = n;
}

static th_time unit_of(const th_trace *t)
{
    return t->type->stamp.unit_ps > 0 ? t->type->stamp.unit_ps : t->options.resolution_ps;
}

void th_stamp_set(const th_trace *t, th_stamp *s, th_time at)
{
    const th_stamp_form *form = &t->type->stamp;
    th_time unit = unit_of(t), number = unit == 1 ? at : at / unit;
    if (form->is_varint)
        set_varint(s, (uint64_t)number);
    else
        th_stamp_number(s, form->before, number, form->behind);
    s->at = at;
}

/* ---- many ------------------------------------------------------------------------------------ */

static inline void store(char *to, uint64_t word)
{
    memcpy(to, &word, sizeof word);
}

/* *s, of at least eight digits, is that of a time not long before. What stands behind the digits is in the text. */
static inline void put_decimals(th_stamp *s, th_stamp_form form, char *text, const th_mark *mark, size_t n,
                                th_time from, th_time unit, bool has_point)
{
    uint64_t high[2] = {0};
    size_t last = 0; /* of the high bytes, eight */
    for (size_t i = 0, is_new = 1; i < n; i++) {
        int64_t number = (from + mark[i].after) / unit;
        if ((uint64_t)(number - s->first) >= LOW)
            set_all(s, form.before, number, form.behind), is_new = 1;
        if (is_new) {
            last = s->n_high > 8 ? (size_t)s->n_high - 8 : 0;
            memcpy(&high[0], s->high, sizeof high[0]);
            memcpy(&high[1], s->high + last, sizeof high[1]);
            is_new = 0;
        }
        uint64_t digits = eight_digits((uint32_t)(number - s->first));
        char *to = text + mark[i].at;
        store(to, high[0]);
        store(to + last, high[1]);
        store(to + s->n_high, first_byte_lowest(has_point ? with_point(digits) : digits));
        if (has_point)
            to[s->n_high + 8] = (char)(digits >> 56);
    }
}

enum { VARINT_MOST = 8 };

/* The groups of seven bits of a number below 2^56, each in a byte, the lowest first. */
static inline uint64_t groups(uint64_t x)
{
    x = (x & UINT64_C(0x000000000fffffff)) | (x & UINT64_C(0x00fffffff0000000)) << 4;
    x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x0fffc0000fffc000)) << 2;
    return (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x3f803f803f803f80)) << 1;
}

/* Of n_bytes each. What stands behind them in the text is left as it is in `as_is`. */
static inline void put_varints(size_t n_bytes, char *text, const char *as_is, const th_mark *mark, size_t n,
                               th_time from, th_time unit)
{
    uint64_t of_stamp = n_bytes < VARINT_MOST ? ((uint64_t)1 << 8 * n_bytes) - 1 : UINT64_MAX;
    uint64_t more = UINT64_C(0x8080808080808080) & of_stamp >> 8;
    for (size_t i = 0; i < n; i++) {
        uint64_t rest;
        memcpy(&rest, as_is + mark[i].at, sizeof rest);
        uint64_t stamp = groups((uint64_t)((from + mark[i].after) / unit)) | more;
        store(text + mark[i].at, first_byte_lowest((first_byte_lowest(rest) & ~of_stamp) | stamp));
    }
}

static void put_each(const th_trace *t, char *text, const th_mark *mark, size_t n, th_time from)
{
    th_stamp s = t->stamp;
    for (size_t i = 0; i < n; i++) {
        char *to = text + mark[i].at;
        th_stamp_set(t, &s, th_trace_tick_of(t, from + mark[i].after));
        memcpy(to, s.high, (size_t)s.n_high);
        memcpy(to + s.n_high, s.low, (size_t)(s.n - s.n_high));
    }
}

void th_stamps_put(const th_trace *t, char *text, const char *as_is, const th_mark *mark, size_t n, th_time from)
{
    th_stamp_form form = t->type->stamp;
    th_stamp s = t->stamp;
    th_time unit = unit_of(t);
    bool is_each = unit != t->options.resolution_ps || (form.is_varint ? s.n > VARINT_MOST : s.first == 0);
    if (is_each)
        put_each(t, text, mark, n, from);
    else if (form.is_varint)
        put_varints((size_t)s.n, text, as_is, mark, n, from, unit);
    else if (unit == 1 && form.behind == '.')
        put_decimals(&s, form, text, mark, n, from, 1, true);
    else if (unit == 1)
        put_decimals(&s, form, text, mark, n, from, 1, false);
    else
        put_decimals(&s, form, text, mark, n, from, unit, form.behind == '.');
}
