/* SPDX-License-Identifier: GPL-3.0-or-later */
/* goal_option.h - reads "-objective" of map_workload. */
#ifndef TH_TCL_GOAL_OPTION_H
#define TH_TCL_GOAL_OPTION_H
#include "session/goal.h"
#include "tcl/command.h"
#include "tcl/tcl_session.h"

/* "energy"; "latency 1 energy 0.5", a weighted sum; "pareto latency energy" or "latency energy", a
 * front. Latency where the option is not given. The deadline is not changed. 0 or -1. */
int th_goal_parse(th_call *c, int option, th_goal *out);

#endif
