/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_keys_read.h - the keys that types of layers share: sizes, pairs, padding, precision,
 * density. An absent key leaves *out as it was. Each returns 0, or -1 with err. */
#ifndef TH_WORKLOADS_LAYER_KEYS_READ_H
#define TH_WORKLOADS_LAYER_KEYS_READ_H
#include "base/files/config_read.h"
#include "workloads/workload.h"

/* Keys of any group. */
int th_read_precision(const th_config_node *n, const char *key, th_precision *out, th_error *err);
int th_read_density(const th_config_node *n, const char *key, double *out, th_error *err);
/* ' (did you mean "conv"?)' in out, or nothing where nearest is NULL. Returns out. */
const char *th_read_hint(const char *nearest, char *out, size_t size);

/* A layer of a workload whose layers are in the order of the graph; all layers before it are
 * complete. */
typedef struct th_layer_source {
    const th_workload *w;
    th_layer *layer;         /* has its inputs */
    const th_config_node *n; /* its group in the file */
    th_error *err;
} th_layer_source;

typedef struct th_padding {
    int32_t top, left, bottom, right;
} th_padding;

int th_layer_read_extent(const th_layer_source *s, const char *key, bool required, int32_t *out);
int th_layer_read_bool(const th_layer_source *s, const char *key, bool *out);
/* kernel, stride, dilation: one number for both axes, or [height, width]. */
int th_layer_read_pair(const th_layer_source *s, const char *key, int64_t min, int32_t *height,
                       int32_t *width);
/* One number, [height, width] or [top, left, bottom, right]; absent: none. */
int th_layer_read_padding(const th_layer_source *s, th_padding *out);
/* A key that repeats a property of the graph must have the same value. */
int th_layer_check_stated(const th_layer_source *s, const char *key, int32_t inferred);
/* A key without meaning for this layer, of the other form of its type, must be absent. */
int th_layer_refuse_key(const th_layer_source *s, const char *key, const char *why);

#endif
