/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.c - measured times, one per layer shape, without interpolation.
 *
 * The file must have a time for every shape that the program uses (sim/design/table_read.h). A
 * missing shape is an error that names the nearest row; the model does not interpolate between
 * measurements. A layer is one step of the measured time that moves no bytes, because the measured
 * time includes the memory traffic. Not modelled, so measured or absent: precision, dilation,
 * unequal strides, density. Other users of the DRAM do not slow a layer down. A transposed
 * convolution is looked up as the convolution into which canonical.c converts it. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/strbuf.h"
#include "sim/design/designs.h"
#include "sim/design/table_read.h"
#include "sim/design/tiles.h"

enum { FILE_NAME };

static const th_design_key keys[] = {
    [FILE_NAME] = {"file", TH_KEY_FILE, true, 0, 0, 0,
                   "comma-separated times, beside the system file", NULL},
    {.name = NULL},
};

/* The path of a file that a system file names, relative to the folder of the system file. */
static int path_beside(const char *file, const char *name, th_strbuf *out, th_error *err)
{
    const char *slash = strrchr(file, '/');
    if (*name != '/' && slash)
        th_strbuf_printf(out, "%.*s", (int)(slash - file + 1), file);
    th_strbuf_printf(out, "%s", name);
    return out->failed ? th_error_no_memory(err) : 0;
}

static int prepare(th_design_config *d, const th_design_block *block, th_error *err)
{
    th_strbuf path = TH_STRBUF_INIT;
    if (path_beside(block->file, d->text[FILE_NAME], &path, err) == 0)
        d->data = th_time_table_read(path.text, err);
    th_strbuf_clear(&path);
    return d->data ? 0 : -1;
}

static void release(th_design_config *d)
{
    th_time_table_free(d->data);
    d->data = NULL;
}

static void describe(const th_timed_shape *s, th_strbuf *out)
{
    th_strbuf_printf(out, "%s", th_timed_kind_name(s->kind));
    for (int d = 0; d < TH_N_DIMS; d++)
        th_strbuf_printf(out, " %c %d", th_dim_letters[d], (int)s->dim[d]);
    th_strbuf_printf(out, " stride %d groups %d", (int)s->stride, (int)s->groups);
}

static int fail_unknown(const th_time_table *t, const th_timed_shape *shape, th_error *err)
{
    const th_timed_row *near = th_time_table_nearest(t, shape);
    th_strbuf wanted = TH_STRBUF_INIT, found = TH_STRBUF_INIT;
    describe(shape, &wanted);
    if (near) {
        th_strbuf_printf(&found, "the nearest, on line %d, is ", (int)near->line);
        describe(&near->shape, &found);
    } else {
        th_strbuf_printf(&found, "there is no %s at all", th_timed_kind_name(shape->kind));
    }
    th_error_set(err, "SIM-0083", "%s: no time for %s: %s", t->path, wanted.text ? wanted.text : "",
                 found.text ? found.text : "");
    th_strbuf_clear(&wanted);
    th_strbuf_clear(&found);
    return -1;
}

static th_timed_shape shape_of(const th_shard *s)
{
    th_timed_shape shape = {.kind = s->kind, .stride = s->stride_h, .groups = s->groups};
    memcpy(shape.dim, s->dim, sizeof shape.dim);
    return shape;
}

static int schedule(const th_design_config *d, const th_shard *s, const th_port *memory,
                    th_schedule *out, th_error *err)
{
    (void)memory;
    const th_time_table *t = d->data;
    th_timed_shape shape = shape_of(s);
    if (s->stride_h != s->stride_w || s->dilation_h != 1 || s->dilation_w != 1)
        return th_error_set(
            err, "SIM-0084",
            "%s: strides %d x %d, dilation %d x %d: must be one stride and no dilation", t->path,
            (int)s->stride_h, (int)s->stride_w, (int)s->dilation_h, (int)s->dilation_w);
    const th_timed_row *row = th_time_table_find(t, &shape);
    if (!row)
        return fail_unknown(t, &shape, err);
    *out = th_measured_schedule(row->time_ps, "measured");
    return 0;
}

static double row_macs(const th_timed_shape *x)
{
    th_shard s = {.kind = x->kind, .groups = x->groups};
    memcpy(s.dim, x->dim, sizeof s.dim);
    return (double)th_shard_macs(&s);
}

/* True if a part of the shard may have the shape. */
static bool may_be_part(const th_timed_shape *x, const th_timed_shape *whole)
{
    bool fits = x->kind == whole->kind && x->stride == whole->stride && x->groups <= whole->groups;
    for (int d = 0; d < TH_N_DIMS; d++)
        fits &= x->dim[d] <= whole->dim[d];
    return fits;
}

/* The rate of the best row. */
static th_design_peak peak_of(const th_design_config *d, const th_shard *s)
{
    const th_time_table *t = d->data;
    const th_timed_shape whole = shape_of(s);
    th_design_peak most = {0, TH_PS_PER_S};
    for (size_t i = 0; i < t->n; i++)
        if (may_be_part(&t->rows[i].shape, &whole))
            most.macs_per_cycle =
                fmax(most.macs_per_cycle, row_macs(&t->rows[i].shape) / (double)t->rows[i].time_ps);
    return most;
}

const th_design_type th_design_table = {
    .name = "table",
    .synopsis = "measured times per layer shape, from a file",
    .keys = keys,
    .schedule = schedule,
    .peak = peak_of,
    .kinds = 1u << TH_LAYER_LSTM | 1u << TH_LAYER_GRU | 1u << TH_LAYER_RNN,
    .is_measured = true,
    .prepare = prepare,
    .release = release,
};
