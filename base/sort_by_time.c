/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sort_by_time.c - see sort_by_time.h. A radix sort from the least significant digit on: each pass
 * is stable, so after the last one everything is in order. On the millions of tasks of a long run
 * it is several times as fast as a comparison sort. */
#include <config.h>

#include "base/sort_by_time.h"

#include <string.h>

enum { DIGIT_BITS = 10, N_DIGITS = 1 << DIGIT_BITS };

static size_t digit_of(const th_timed *x, int shift)
{
    return (uint64_t)x->at >> shift & (N_DIGITS - 1);
}

/* Where the first one with each digit goes. */
static void find_places(const th_timed *all, size_t n, int shift, size_t *place)
{
    size_t before = 0;
    memset(place, 0, N_DIGITS * sizeof *place);
    for (size_t i = 0; i < n; i++)
        place[digit_of(&all[i], shift)]++;
    for (int d = 0; d < N_DIGITS; d++) {
        size_t here = place[d];
        place[d] = before;
        before += here;
    }
}

void th_sort_by_time(th_timed *all, size_t n, th_timed *scratch)
{
    size_t place[N_DIGITS];
    th_timed *from = all, *to = scratch;
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++)
        bits |= (uint64_t)all[i].at;
    for (int shift = 0; shift < 64 && bits >> shift != 0; shift += DIGIT_BITS) {
        find_places(from, n, shift, place);
        for (size_t i = 0; i < n; i++)
            to[place[digit_of(&from[i], shift)]++] = from[i];
        th_timed *other = from;
        from = to;
        to = other;
    }
    if (from != all)
        memcpy(all, from, n * sizeof *all);
}
