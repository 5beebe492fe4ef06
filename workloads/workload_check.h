/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload_check.h - the checks of th_workload_sort and finish. Each returns 0, or -1 with err
 * naming file and line (if known), layer, and the expected value. */
#ifndef TH_WORKLOADS_WORKLOAD_CHECK_H
#define TH_WORKLOADS_WORKLOAD_CHECK_H
#include "workloads/workload.h"

int th_workload_check_names(const th_workload *w, th_error *err);  /* a layer; unique, printable */
int th_workload_check_inputs(const th_workload *w, th_error *err); /* number, range of producers */
int th_workload_check_shapes(const th_workload *w, th_error *err); /* of layers and their edges */
int th_workload_check_totals(const th_workload *w, th_error *err); /* sums fit into 53 bits */

/* Fills err with 'FILE:LINE: layer "NAME": TEXT' (the workload's name where no file is known). -1.
 */
int th_workload_layer_error(const th_workload *w, const th_layer *l, th_error *err, const char *id,
                            const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
