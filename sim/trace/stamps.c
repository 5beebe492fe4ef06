/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stamps.c - see stamps.h: what is not done in a few instructions. */
#include <config.h>

#include "sim/trace/stamps.h"
#include "sim/trace/writer.h"

enum { DECIMALS = 6, WORD = 8, HALF = 4, LOW_DIGITS = 8 };

/* The words of a stamp whose text is made. */
static void set_words(th_stamp *s)
{
    if (s->n >= WORD) {
        memcpy(&s->words.first, s->text, WORD);
        memcpy(&s->words.last, s->text + s->n - WORD, WORD);
    } else if (s->n >= HALF) {
        uint32_t first, last;
        memcpy(&first, s->text, HALF);
        memcpy(&last, s->text + s->n - HALF, HALF);
        s->words = (th_stamp_words){first, last};
    }
}

/* The digits of a number go behind n bytes of text, the full stop before the last six. */
static size_t put_number(char *text, int64_t number, bool has_point)
{
    char digits[TH_STAMP_BYTES + DECIMALS + 1] = "000000";
    size_t n = th_put_digits(digits + DECIMALS, (uint64_t)number);
    char *from = digits + DECIMALS;
    if (has_point && n <= DECIMALS) {
        from -= DECIMALS + 1 - n;
        n = DECIMALS + 1;
    }
    size_t n_whole = has_point ? n - DECIMALS : n;
    memcpy(text, from, n_whole);
    if (has_point) {
        text[n_whole] = '.';
        memcpy(text + n_whole + 1, from + n_whole, DECIMALS);
    }
    return n + has_point;
}

/* What the numbers that follow begin with. */
static void set_high(th_stamp *s, int64_t number, char behind)
{
    int32_t n = s->n - LOW_DIGITS - (behind != 0);
    s->from = 0;
    if (number < TH_STAMP_LOW || n >= WORD)
        return;
    s->from = number - number % TH_STAMP_LOW;
    s->n_high = n;
    s->high = th_first_byte_lowest(s->words.first) & (((uint64_t)1 << 8 * n) - 1);
}

void th_stamp_number(th_stamp *s, char before, int64_t number, char behind)
{
    uint64_t low = (uint64_t)(number - s->from);
    if (s->at >= 0 && s->from > 0 && low < TH_STAMP_LOW) {
        s->words = th_decimal_words(s->high, s->n_high, (uint32_t)low, behind);
        s->n = s->n_high + LOW_DIGITS + (behind != 0);
        return;
    }
    size_t n = before != 0;
    s->text[0] = before;
    n += put_number(s->text + n, number, behind == '.');
    if (behind != 0 && behind != '.')
        s->text[n++] = behind;
    s->n = (int32_t)n;
    set_words(s);
    set_high(s, number, behind);
}

void th_stamp_varint(th_stamp *s, uint64_t number)
{
    int32_t n = 1;
    for (uint64_t left = number >> 7; left > 0; left >>= 7)
        n++;
    if (n >= HALF && n <= WORD) {
        s->words = th_varint_words(number, n);
        s->n = n;
        return;
    }
    for (int32_t i = 0; i < n; i++, number >>= 7)
        s->text[i] = (char)(number | (i + 1 < n ? 0x80 : 0));
    s->n = n;
    set_words(s);
}

th_time th_trace_stamp_unit(const th_trace *t)
{
    return t->type->stamp.unit_ps > 0 ? t->type->stamp.unit_ps : t->options.resolution_ps;
}

bool th_stamp_is_as_long(const th_trace *t, const th_stamp *s, th_time at)
{
    th_stamp other = {.at = -1};
    if (s->from > 0 && at / th_trace_stamp_unit(t) - s->from < TH_STAMP_LOW)
        return true;
    th_stamp_set(t, &other, at);
    return other.n == s->n;
}

void th_stamp_set(const th_trace *t, th_stamp *s, th_time at)
{
    const th_stamp_form *form = &t->type->stamp;
    th_time unit = th_trace_stamp_unit(t), number = unit == 1 ? at : at / unit;
    if (form->is_varint)
        th_stamp_varint(s, (uint64_t)number);
    else
        th_stamp_number(s, form->before, number, form->behind);
    s->at = at;
}
