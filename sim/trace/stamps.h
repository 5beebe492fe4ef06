/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stamps.h - times as trace writers write them, kept as bytes that can be put at many places.
 *
 *   th_stamp_number | th_stamp_varint -> th_stamp_put*
 * Times of a trace follow one another, so most begin with the same digits; the last eight are made
 * at once. A stamp of 4 to 16 bytes is two words that overlap where it is short: two stores put it,
 * and nothing behind it. Here, so that the loops over whole tapes hold all of it. */
#ifndef TH_SIM_TRACE_STAMPS_H
#define TH_SIM_TRACE_STAMPS_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "base/units.h"

enum { TH_STAMP_BYTES = 24 };
#define TH_INLINE __attribute__((always_inline)) static inline

typedef struct th_stamp_words {
    uint64_t first, last; /* eight bytes each, four where it is shorter than eight */
} th_stamp_words;

typedef struct th_stamp {
    th_time at;                /* -1: none */
    int32_t n;                 /* bytes */
    th_stamp_words words;      /* n from 4 to 16: how it begins and ends */
    char text[TH_STAMP_BYTES]; /* else: all of it */
    /* Of decimals: the least number with the same digits but for eight, and what stands before
     * those; 0: that is too long, or not known. */
    int64_t from;
    uint64_t high;
    int32_t n_high;
} th_stamp;

/* How a writer writes times: as varints of protobuf, or in decimals, between characters; 0: none.
 * behind '.' stands before the last six of them, at least one before that. */
typedef struct th_stamp_form {
    th_time unit_ps; /* that is counted; 0: the resolution */
    bool is_varint;
    char before, behind;
} th_stamp_form;

/* *s becomes the decimals of number >= 0, or its varint. */
void th_stamp_number(th_stamp *s, char before, int64_t number, char behind);
void th_stamp_varint(th_stamp *s, uint64_t number);

/* Of n bytes, to where they are free. text: all of it, where n is not from 4 to 16. */
TH_INLINE void th_stamp_put_words(th_stamp_words w, int32_t n, const char *text, char *to)
{
    enum { WORD = 8, HALF = 4 };
    if (n >= WORD && n <= 2 * WORD) {
        memcpy(to, &w.first, WORD);
        memcpy(to + n - WORD, &w.last, WORD);
    } else if (n >= HALF && n < WORD) {
        uint32_t first = (uint32_t)w.first, last = (uint32_t)w.last;
        memcpy(to, &first, HALF);
        memcpy(to + n - HALF, &last, HALF);
    } else {
        memcpy(to, text, (size_t)n);
    }
}

TH_INLINE void th_stamp_put(const th_stamp *s, char *to)
{
    th_stamp_put_words(s->words, s->n, s->text, to);
}

/* ---- private --------------------------------------------------------------------------------- */

enum { TH_STAMP_LOW = 100000000 };

TH_INLINE uint64_t th_first_byte_lowest(uint64_t word)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(word) : word;
}

/* The digits of number < LOW, the first in the lowest byte: two numbers below 10,000, then four
 * below 100, then eight below 10, each half of what it was made of. The products are quotients,
 * rounded down, for all of them. */
TH_INLINE uint64_t th_eight_digits(uint32_t number)
{
    uint64_t x = number / 10000 | (uint64_t)(number % 10000) << 32;
    uint64_t high = ((x * 10486) >> 20) & UINT64_C(0x0000007f0000007f);
    x = high | (x - 100 * high) << 16;
    high = ((x * 103) >> 10) & UINT64_C(0x000f000f000f000f);
    x = high | (x - 10 * high) << 8;
    return x | UINT64_C(0x3030303030303030);
}

/* The words of what stands behind n_high bytes, fewer than eight: the digits of low, with a
 * character behind them, or with a full stop after two. */
TH_INLINE th_stamp_words th_decimal_words(uint64_t high, int32_t n_high, uint32_t low, char behind)
{
    const uint64_t two = 0xffff;
    uint64_t digits = th_eight_digits(low), first = digits, last = digits;
    if (behind == '.') {
        first = (digits & two) | (uint64_t)'.' << 16 | (digits & ~two) << 8;
        last = (digits >> 8 & 0xff) | (uint64_t)'.' << 8 | (digits & ~two);
    } else if (behind != 0) {
        last = digits >> 8 | (uint64_t)(unsigned char)behind << 56;
    }
    return (th_stamp_words){th_first_byte_lowest(high | first << 8 * n_high),
                            th_first_byte_lowest(last)};
}

/* The groups of seven bits of a number below 2^56, each in a byte, the lowest first. */
TH_INLINE uint64_t th_groups_of_seven(uint64_t x)
{
    x = (x & UINT64_C(0x000000000fffffff)) | (x & UINT64_C(0x00fffffff0000000)) << 4;
    x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x0fffc0000fffc000)) << 2;
    return (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x3f803f803f803f80)) << 1;
}

/* Those of the varint of n bytes, from 4 to 8, that it is. */
TH_INLINE th_stamp_words th_varint_words(uint64_t number, int32_t n)
{
    uint64_t word = th_groups_of_seven(number) | UINT64_C(0x0080808080808080) >> 8 * (8 - n);
    if (n == 8)
        return (th_stamp_words){th_first_byte_lowest(word), th_first_byte_lowest(word)};
    uint64_t last = word >> 8 * (n - 4);
    bool is_swapped = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return (th_stamp_words){is_swapped ? __builtin_bswap32((uint32_t)word) : (uint32_t)word,
                            is_swapped ? __builtin_bswap32((uint32_t)last) : (uint32_t)last};
}

#endif
