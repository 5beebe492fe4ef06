/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.h - designs and times at another clock than that of the system. A clock is a factor of the
 * system's, above 0; 1 changes nothing. */
#ifndef TH_SIM_DESIGN_CLOCK_H
#define TH_SIM_DESIGN_CLOCK_H
#include "sim/design/design.h"

/* The configuration with all of its frequencies times clock, as in a file with such frequencies;
 * and the accelerator with that of its vector unit. */
th_design_config th_design_at_clock(const th_design_type *type, const th_design_config *c,
                                    double clock);
th_accel th_accel_at_clock(const th_accel *a, double clock);

/* The seconds that bytes take through the DRAM; 0: it is unlimited. */
double th_dram_seconds(const th_accel *a, double bytes);
/* A given time of work that takes compute_s at the peak and memory_s through the DRAM. */
th_time th_ps_at_clock(th_time ps, double compute_s, double memory_s, double clock);
/* The same for the schedule of a shard on a design of measured times. */
void th_measured_at_clock(const th_design_type *type, const th_design_config *c, const th_accel *a,
                          const th_shard *s, double clock, th_schedule *out);

#endif
