/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table_read.h - measured times of layer shapes, from a file of comma-separated values. */
#ifndef TH_SIM_DESIGN_TABLE_READ_H
#define TH_SIM_DESIGN_TABLE_READ_H
#include "base/error.h"
#include "base/units.h"
#include "workloads/layer.h"

/* What times depend on: kind, extents, stride, groups. */
typedef struct th_timed_shape {
    int32_t kind; /* th_layer_kind, conv to gru */
    int32_t dim[TH_N_DIMS];
    int32_t stride, groups;
} th_timed_shape;

typedef struct th_timed_row {
    th_timed_shape shape;
    int32_t line;
    th_time time_ps;
} th_timed_row;

typedef struct th_time_table {
    char *path;
    th_timed_row *rows; /* ascending by shape */
    size_t n;
} th_time_table;

/* The columns kind, B, K, C, H, W, R, S, stride, groups and one of time_ps, time_ns, time_us,
 * time_ms, time_s, in any order, named in the first line; lines that begin with # and empty ones
 * do not count. NULL, with FILE:LINE in err, where a value makes no sense or a shape comes twice.
 */
th_time_table *th_time_table_read(const char *path, th_error *err);
void th_time_table_free(th_time_table *t); /* accepts NULL */

/* Its row, or NULL. */
const th_timed_row *th_time_table_find(const th_time_table *t, const th_timed_shape *shape);
/* The row of the same kind with the least sum of |ln| of ratios, the first of the file among
 * equals; NULL: none is of that kind. */
const th_timed_row *th_time_table_nearest(const th_time_table *t, const th_timed_shape *shape);

const char *th_timed_kind_name(int32_t kind);

#endif
