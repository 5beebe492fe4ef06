/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elementary.c - see elementary.h.
 *   ln x = e ln 2 + 2 artanh f,  x = m 2^e,  sqrt(1/2) <= m < sqrt(2),  f = (m - 1) / (m + 1), by
 *                                            its series
 *   exp x = 2^k exp r,  r = x - k ln 2,  |r| <= ln 2 / 2, by its series
 * ln 2 is in two parts, the first with few enough bits that its multiples are exact. */
#include <config.h>
#include "base/elementary.h"
#include <math.h>

#define LN2_HIGH 0x1.62e42fee00000p-1  /* 33 bits */
#define LN2_LOW  0x1.a39ef35793c76p-33 /* ln 2 - LN2_HIGH */

double th_log(double x)
{
    enum { LAST = 23 }; /* f^25 / 25 is below 2^-66 for |f| <= 0.172 */
    int e;
    double m = frexp(x, &e), sum = 0;
    if (x == 0)
        return -INFINITY;
    if (m < M_SQRT1_2) {
        m *= 2;
        e--;
    }
    double f = (m - 1) / (m + 1), square = f * f;
    for (int i = LAST; i > 1; i -= 2)
        sum = (sum + 1.0 / i) * square;
    return e * LN2_HIGH + (2 * f + (2 * f * sum + e * LN2_LOW));
}

double th_exp(double x)
{
    enum { LAST = 14 };                           /* r^15 / 15! is below 2^-63 for |r| <= 0.347 */
    static const double least = -746, most = 710; /* beyond them all is 0, or infinite */
    if (x < least)
        return 0;
    if (x > most)
        return INFINITY;
    double k = floor(x / M_LN2 + 0.5), r = (x - k * LN2_HIGH) - k * LN2_LOW, sum = 1;
    for (int i = LAST; i >= 1; i--)
        sum = 1 + sum * r / i;
    return ldexp(sum, (int)k);
}

double th_pow(double x, double y)
{
    return th_exp(y * th_log(x));
}
