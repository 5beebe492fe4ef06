/* SPDX-License-Identifier: GPL-3.0-or-later */
/* double_double.h - numbers with twice the digits of a double: the unevaluated sum of two, of which
 * lo is at most half a unit in the last place of hi (T. J. Dekker, "A floating-point technique for
 * extending the available precision", Numerische Mathematik 18, 1971).
 * sum and product of two doubles are exact; else errors are below 2^-100 of the greatest operand.
 * Operands are finite, and neither overflow nor become subnormal. */
#ifndef TH_SIM_KERNEL_DOUBLE_DOUBLE_H
#define TH_SIM_KERNEL_DOUBLE_DOUBLE_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct th_double_double {
    double hi, lo;
} th_double_double;

static inline th_double_double th_dd_sum(double a, double b)
{
    double hi = a + b, part = hi - a;
    return (th_double_double){hi, (a - (hi - part)) + (b - part)};
}

static inline th_double_double th_dd_product(double a, double b)
{
    double hi = a * b;
    return (th_double_double){hi, fma(a, b, -hi)};
}

static inline th_double_double th_dd_add(th_double_double a, th_double_double b)
{
    th_double_double s = th_dd_sum(a.hi, b.hi);
    return th_dd_sum(s.hi, s.lo + (a.lo + b.lo));
}

static inline th_double_double th_dd_subtract(th_double_double a, th_double_double b)
{
    return th_dd_add(a, (th_double_double){-b.hi, -b.lo});
}

/* a times n >= 0, which may have more digits than a double. */
static inline th_double_double th_dd_times(double a, int64_t n)
{
    enum { LOW_BITS = 32 };
    int64_t high = n >> LOW_BITS << LOW_BITS;
    if (high == 0)
        return th_dd_product(a, (double)n);
    return th_dd_add(th_dd_product(a, (double)high), th_dd_product(a, (double)(n - high)));
}

static inline bool th_dd_is_less(th_double_double a, th_double_double b)
{
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

#endif
