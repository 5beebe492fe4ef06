/* SPDX-License-Identifier: GPL-3.0-or-later */
/* system_mtbf.h - the mean times between failures that the system file states.
 *   mtbf_us: of one object;  failures_of_system: kinds of failures, for a report */
#ifndef TH_TCL_RELIABILITY_SYSTEM_MTBF_H
#define TH_TCL_RELIABILITY_SYSTEM_MTBF_H
#include "report/objects/objects.h"
#include "tcl/reliability/failure_option.h"

/* Of an accelerator, a link (its cable) or a node; 0: the file does not say. */
int64_t th_system_mtbf_us(const th_system *s, th_object o);
/* A kind for accelerators, hosts, switches and cables each, with different means one for each mean.
 * Those that fail with an accelerator or a host take a spare unit. 0, or -1: memory is out, or
 * there are too many; clear all the same. */
int th_failure_kinds_of_system(const th_system *s, th_failure_kinds *out, th_error *err);

#endif
