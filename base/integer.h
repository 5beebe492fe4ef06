/* SPDX-License-Identifier: GPL-3.0-or-later */
/* integer.h - arithmetic of whole numbers. */
#ifndef TH_BASE_INTEGER_H
#define TH_BASE_INTEGER_H
#include <stdint.h>

/* a / b, rounded up; a >= 0, b > 0, and their sum in range. */
static inline int64_t th_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* The greatest common divisor; of a and 0: a. */
static inline int64_t th_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
