/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fluid_time.h - when a fluid quantity runs out at a rate that may change (th_duration_ps of
 * base/units.h: bytes at a fixed whole rate). */
#ifndef TH_SIM_KERNEL_FLUID_TIME_H
#define TH_SIM_KERNEL_FLUID_TIME_H
#include "sim/kernel/double_double.h"
#include "base/units.h"

/* A duration that is an integer number of picoseconds except for the rounding of doubles must not
 * be rounded up. An excess of this size is ignored: a thousandth of a picosecond or a few units in
 * the last place, at most half a picosecond. */
static inline double th_fluid_slack(double ps)
{
    double slack = ps * 0x1p-50;
    return slack < 1e-3 ? 1e-3 : slack < 0.5 ? slack : 0.5;
}

/* Picoseconds that bytes need at bytes_per_s, rounded up; TH_TIME_MAX at rate 0. */
static inline th_time th_fluid_duration(double bytes, double bytes_per_s)
{
    if (bytes <= 0)
        return 0;
    double ps = bytes * (double)TH_PS_PER_S / bytes_per_s;
    if (!(ps < 9.0e18))
        return TH_TIME_MAX;
    double least = ps - th_fluid_slack(ps);
    th_time whole = (th_time)least; /* towards 0; ceil() is slow */
    return whole + (least > (double)whole);
}

/* The bytes left after elapsed_ps at bytes_per_s, clamped at 0. */
static inline double th_fluid_left(double bytes, double bytes_per_s, th_time elapsed_ps)
{
    double left = bytes - bytes_per_s * ((double)elapsed_ps * 1e-12);
    return left > 0 ? left : 0;
}

/* When `left`, in bytes / TH_PS_PER_S, runs out if it shrinks by bytes_per_s from `since` on,
 * rounded up to a picosecond; TH_TIME_MAX: not within simulated time. The slack is that of the end
 * time, not of the duration, so the result does not depend on `since`. */
static inline th_time th_fluid_end_time(th_double_double left, double bytes_per_s, th_time since)
{
    if (left.hi <= 0)
        return since;
    double ps = left.hi / bytes_per_s;
    if (!(ps < 9.0e18))
        return TH_TIME_MAX;
    th_time whole = (th_time)ps;
    th_double_double rest = th_dd_subtract(left, th_dd_times(bytes_per_s, whole));
    double slack = th_fluid_slack((double)th_time_add(since, whole));
    double excess = rest.hi / bytes_per_s - slack;
    th_time more = (th_time)excess; /* towards 0; ceil() is slow */
    return th_time_add(since, whole + more + (excess > (double)more));
}

#endif
