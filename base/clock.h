/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.h - wall-clock time, for budgets, limits and progress; no simulated time depends on it. */
#ifndef TH_BASE_CLOCK_H
#define TH_BASE_CLOCK_H

double th_clock_s(void); /* in s since a fixed time; never runs backwards */

#endif
