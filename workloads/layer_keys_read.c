/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_keys_read.c - see layer_keys_read.h. */
#include <config.h>
#include "workloads/layer_keys_read.h"
#include "workloads/workload_check.h"

#include "base/names.h"

#include <stdio.h>
#include <string.h>

enum { LARGEST_PADDING = 1 << 20 };

const char *th_read_hint(const char *nearest, char *out, size_t size)
{
    out[0] = '\0';
    if (nearest)
        snprintf(out, size, " (did you mean \"%s\"?)", nearest);
    return out;
}

int th_read_extent(const th_config_node *n, const char *key, bool required, int64_t max,
                   int32_t *out, th_error *err)
{
    int64_t value = *out;
    if (th_config_int(n, key, required, (th_int_range){1, max}, &value, err) < 0)
        return -1;
    *out = (int32_t)value;
    return 0;
}

int th_read_precision(const th_config_node *n, const char *key, th_precision *out, th_error *err)
{
    const char *name = NULL, *names[TH_N_PRECISIONS];
    char near[TH_ERROR_TEXT_MAX];
    if (th_config_string(n, key, false, &name, err) < 0)
        return -1;
    for (int p = 0; name && p < TH_N_PRECISIONS; p++) {
        names[p] = th_precision_name((th_precision)p);
        if (strcmp(name, names[p]) == 0) {
            *out = (th_precision)p;
            return 0;
        }
    }
    if (!name)
        return 0;
    return th_error_set(
        err, "WORK-0037",
        "%s:%d: key \"%s\": \"%s\"%s must be one of fp32, fp16, bf16, int16, int8, int4",
        th_config_file(n), th_config_line(th_config_member(n, key)), key, name,
        th_read_hint(th_name_nearest(name, names, TH_N_PRECISIONS), near, sizeof near));
}

int th_read_density(const th_config_node *n, const char *key, double *out, th_error *err)
{
    double density = *out;
    if (th_config_double(n, key, false, &density, err) < 0)
        return -1;
    if (!(density > 0 && density <= 1))
        return th_error_set(
            err, "WORK-0038",
            "%s:%d: key \"%s\": %g: must be the part that is not zero, above 0 and at most 1",
            th_config_file(n), th_config_line(th_config_member(n, key)), key, density);
    *out = density;
    return 0;
}

int th_layer_read_extent(const th_layer_source *s, const char *key, bool required, int32_t *out)
{
    return th_read_extent(s->n, key, required, TH_LARGEST_EXTENT, out, s->err);
}

int th_layer_read_bool(const th_layer_source *s, const char *key, bool *out)
{
    return th_config_bool(s->n, key, false, out, s->err);
}

/* A key that is one integer or a list of as many as one of the two counts allows. Returns how many
 * were read (1, or the list's length), 0 when absent, -1 on failure. */
static int read_integers(const th_layer_source *s, const char *key, int64_t min, int64_t max,
                         int largest_count, int64_t values[4])
{
    const th_config_node *member = th_config_member(s->n, key);
    if (!member)
        return 0;
    if (th_config_kind_of(member) != TH_CONFIG_LIST)
        return th_config_as_int(member, min, max, &values[0], s->err) < 0 ? -1 : 1;
    int count = th_config_count(member);
    if (count != 2 && count != largest_count)
        return th_error_set(s->err, "WORK-0020",
                            "%s:%d: key \"%s\": %d numbers: one or [height, width]%s "
                            "expected",
                            th_config_file(member), th_config_line(member), key, count,
                            largest_count == 4 ? " or [top, left, bottom, right]" : "");
    for (int i = 0; i < count; i++)
        if (th_config_as_int(th_config_at(member, i), min, max, &values[i], s->err) < 0)
            return -1;
    return count;
}

/* kernel, stride, dilation: one number for both axes, or [height, width]; absent: both stay. */
int th_layer_read_pair(const th_layer_source *s, const char *key, int64_t min, int32_t *height,
                       int32_t *width)
{
    int64_t values[4];
    int count = read_integers(s, key, min, TH_LARGEST_EXTENT, 2, values);
    if (count <= 0)
        return count;
    *height = (int32_t)values[0];
    *width = (int32_t)values[count - 1];
    return 0;
}

int th_layer_read_padding(const th_layer_source *s, th_padding *out)
{
    int64_t v[4] = {0, 0, 0, 0};
    int count = read_integers(s, "padding", 0, LARGEST_PADDING, 4, v);
    if (count < 0)
        return -1;
    if (count == 1)
        v[1] = v[0];
    if (count <= 2) {
        v[2] = v[0];
        v[3] = v[1];
    }
    *out = (th_padding){(int32_t)v[0], (int32_t)v[1], (int32_t)v[2], (int32_t)v[3]};
    return 0;
}

/* A key that repeats what the graph already says must say the same. */
int th_layer_check_stated(const th_layer_source *s, const char *key, int32_t inferred)
{
    int32_t stated = inferred;
    if (th_layer_read_extent(s, key, false, &stated) < 0)
        return -1;
    if (stated == inferred)
        return 0;
    return th_workload_layer_error(s->w, s->layer, s->err, "WORK-0021",
                                   "key \"%s\" is %d, but %d follows from its "
                                   "input",
                                   key, (int)stated, (int)inferred);
}

/* A key that says nothing here: of the other form of its type. */
int th_layer_refuse_key(const th_layer_source *s, const char *key, const char *why)
{
    if (!th_config_member(s->n, key))
        return 0;
    return th_workload_layer_error(s->w, s->layer, s->err, "WORK-0039", "key \"%s\": %s", key, why);
}
