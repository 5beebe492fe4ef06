/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload_fields.h - the groups of a workload file, but for its layers, as tables of fields. */
#ifndef TH_WORKLOADS_WORKLOAD_FIELDS_H
#define TH_WORKLOADS_WORKLOAD_FIELDS_H
#include "base/files/fields.h"
#include "workloads/workload.h"

typedef enum { TH_SHAPES_MATCHED, TH_SHAPES_FREE, TH_SHAPES_OWN } th_shapes;

typedef struct th_workload_head {
    int32_t batch, precision, shapes; /* th_precision, th_shapes */
} th_workload_head;

extern const th_field th_workload_fields[];                 /* th_workload_head */
extern const th_field th_input_fields[], th_model_fields[]; /* th_model */

#endif
