/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds_task.h - the least time of one task, whatever runs beside it. */
#ifndef TH_MAPPER_EVALUATE_BOUNDS_TASK_H
#define TH_MAPPER_EVALUATE_BOUNDS_TASK_H
#include "sim/pipeline/port.h"
#include "sim/pipeline/schedule.h"

/* How long a task of this schedule occupies its accelerator. */
double th_task_least_ps(const th_schedule *s, const th_port *port);
/* Its DRAM bytes, less what rounding may save. */
double th_task_least_bytes(const th_schedule *s, const th_port *port);

#endif
