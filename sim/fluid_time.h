/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fluid_time.h - when a fluid quantity runs out: the one place where doubles become picoseconds. */
#ifndef TH_SIM_FLUID_TIME_H
#define TH_SIM_FLUID_TIME_H
#include "base/units.h"

/* Picoseconds that bytes need at bytes_per_s, rounded up; TH_TIME_MAX at rate 0. A duration that is
 * whole but for the rounding of doubles stays whole: excess below a thousandth of a picosecond, or
 * below a few units in the last place of long durations, does not count. */
static inline th_time th_fluid_duration(double bytes, double bytes_per_s)
{
    if (bytes <= 0)
        return 0;
    double ps = bytes * (double)TH_PS_PER_S / bytes_per_s;
    if (!(ps < 9.0e18))
        return TH_TIME_MAX;
    double slack = ps * 0x1p-50, least = ps - (slack > 1e-3 ? slack : 1e-3);
    th_time whole = (th_time)least; /* towards 0; a call of ceil would cost more than the rest */
    return whole + (least > (double)whole);
}

/* What is left of bytes after elapsed_ps at bytes_per_s, clamped at 0. */
static inline double th_fluid_left(double bytes, double bytes_per_s, th_time elapsed_ps)
{
    double left = bytes - bytes_per_s * ((double)elapsed_ps * 1e-12);
    return left > 0 ? left : 0;
}

#endif
