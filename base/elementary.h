/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elementary.h - logarithm, exponential and power, the same to the last bit on every machine.
 *
 * C libraries round theirs differently, and a last bit is enough to turn a comparison. These are
 * made of additions, multiplications and divisions of doubles, which IEEE 754 rounds in one way
 * alone. What simulates and what searches takes them (tests/check/libm.sh holds that); sqrt, floor,
 * frexp, ldexp and the rounding functions are exact in every library. Errors are below 1e-15 of the
 * value; of th_pow, of 1 + |y ln x|. */
#ifndef TH_BASE_ELEMENTARY_H
#define TH_BASE_ELEMENTARY_H

double th_log(double x);           /* natural; x >= 0, finite; -INFINITY of 0 */
double th_exp(double x);           /* 0 and INFINITY where the value does not fit */
double th_pow(double x, double y); /* x > 0 */

#endif
