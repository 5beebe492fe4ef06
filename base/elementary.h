/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elementary.h - logarithm, exponential and power with the same last bit on every machine.
 *
 * C libraries round these functions differently, and a last bit can change a comparison. The
 * functions here use additions, multiplications and divisions of doubles, which IEEE 754 rounds in
 * one way only. All code that simulates or searches uses them (tests/check/libm.sh checks this);
 * sqrt, floor, frexp, ldexp and the rounding functions are exact in every library. Errors are below
 * 1e-15 of the value; of th_pow, of 1 + |y ln x|. */
#ifndef TH_BASE_ELEMENTARY_H
#define TH_BASE_ELEMENTARY_H

double th_log(double x);           /* natural; x >= 0, finite; -INFINITY of 0 */
double th_exp(double x);           /* 0 and INFINITY where the value does not fit */
double th_pow(double x, double y); /* x > 0 */

#endif
