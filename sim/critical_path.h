/* SPDX-License-Identifier: GPL-3.0-or-later */
/* critical_path.h - why a run took as long as it did: the chain of tasks and waits whose sum is the
 * makespan to the picosecond. */
#ifndef TH_SIM_CRITICAL_PATH_H
#define TH_SIM_CRITICAL_PATH_H
#include "sim/result.h"

typedef struct th_path_entry {
    int32_t task;
    th_time wait_ps; /* between the cause's end (or 0) and this start */
    th_time start_ps, end_ps;
} th_path_entry;

/* The path in order of time, *path owned by the caller (th_free). Returns its length, or -1. */
int th_critical_path(const th_result *r, th_path_entry **path, th_error *err);

#endif
