/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer_keys_read.c - see layer_keys_read.h. */
#include <config.h>
#include "workloads/layer_keys_read.h"
#include "workloads/workload_check.h"

#include "base/files/fields.h"

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

int th_read_precision(const th_config_node *n, const char *key, th_precision *out, th_error *err)
{
    int position = (int)*out;
    if (th_config_word(n, key, th_precision_names, &position, err) < 0)
        return -1;
    *out = (th_precision)position;
    return 0;
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
    int64_t value = *out;
    if (th_config_int(s->n, key, required, (th_int_range){1, TH_LARGEST_EXTENT}, &value, s->err) <
        0)
        return -1;
    *out = (int32_t)value;
    return 0;
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
                            "%s:%d: key \"%s\": %d numbers: must be one or [height, width]%s",
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
