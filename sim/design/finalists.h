/* SPDX-License-Identifier: GPL-3.0-or-later */
/* finalists.h - schedules that a design has chosen by estimate: the pipeline decides among them. */
#ifndef TH_SIM_DESIGN_FINALISTS_H
#define TH_SIM_DESIGN_FINALISTS_H
#include "sim/pipeline/port.h"
#include "sim/pipeline/schedule.h"

enum { TH_FINALISTS_MAX = 6 };

/* The number of the fastest of n > 0 schedules, the best by estimate first; of equally fast ones
 * the first. At most 60,000 steps are simulated, and none for a single schedule. */
int th_fastest_schedule(const th_schedule *s, int n, const th_port *memory);

#endif
