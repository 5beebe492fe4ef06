/* SPDX-License-Identifier: GPL-3.0-or-later */
/* features.c - numbers of an operation for the learners.
 *   fill: plane | matrix -> remainders -> shares of the law -> the device */
#include <config.h>

#include "predictor/features.h"

#include <math.h>
#include <stdio.h>

static inline void add(th_features *f, double value, const char *name)
{
    if (f->name)
        snprintf(f->name[f->n], TH_TERM_NAME_MAX, "%s", name);
    f->x[f->n++] = (float)value;
}

static double logarithm(double x)
{
    static const double LEAST = 1e-9;
    return log(x > LEAST ? x : LEAST);
}

/* How the last of the pieces, of a power of 2, is filled. */
static inline double rest(double n, int piece)
{
    static const double EXACT = 0x1p53;
    return n < EXACT ? (double)((int64_t)n & (piece - 1)) : 0;
}

static void fields(th_features *f, const th_op *op)
{
    for (int i = 0; i < TH_N_OP_FIELDS; i++)
        if (th_op_has(op->kind, (th_op_field)i))
            add(f, op->x[i], th_op_field_name((th_op_field)i));
}

static void sizes(th_features *f, const th_op_sizes *s)
{
    add(f, logarithm(s->flops), "ln operations");
    add(f, logarithm(s->input), "ln input");
    add(f, logarithm(s->weights), "ln weights");
    add(f, logarithm(s->output), "ln output");
}

static void conv_tiles(th_features *f, double pixels, double channels)
{
    static const int widths[] = {128, 64, 32};
    static const char *const names[] = {"tiles 128", "tiles 64", "tiles 32"};
    for (int i = 0; i < 3; i++)
        add(f, th_law_ceil(pixels / 128) * th_law_ceil(channels / widths[i]), names[i]);
}

static void plane(th_features *f, const th_op *op, const th_op_sizes *size)
{
    const int32_t *x = op->x;
    double out_h = size->out_h, out_w = size->out_w, in = x[TH_OP_CHANNELS_IN],
           batch = x[TH_OP_BATCH];
    double pixels = batch * out_h * out_w, area = (double)x[TH_OP_KERNEL_H] * x[TH_OP_KERNEL_W];
    double out = op->kind == TH_OP_CONV ? x[TH_OP_CHANNELS_OUT] : in;
    add(f, out_h, "out_h");
    add(f, logarithm(pixels), "ln pixels");
    add(f, logarithm(batch * x[TH_OP_IN_H] * x[TH_OP_IN_W]), "ln input pixels");
    add(f, logarithm(area * in), "ln inner");
    add(f, logarithm(pixels * area * in), "ln unrolled");
    add(f, rest(pixels, 128), "pixels mod 128");
    add(f, rest(out_h, 2), "out_h mod 2");
    add(f, rest(out_h, 16), "out_h mod 16");
    add(f, rest(x[TH_OP_IN_H], 16), "in_h mod 16");
    add(f, th_law_ceil((x[TH_OP_IN_H] + x[TH_OP_KERNEL_H] - 1) / 32.0), "planes of 32");
    add(f, (x[TH_OP_PAD_H] + x[TH_OP_PAD_W]) % 2, "odd padding");
    add(f, in * out / (out_h * out_w), "channels per pixel");
    add(f, in / out, "channels in / out");
    add(f, rest(in, 4), "channels_in mod 4");
    add(f, rest(in, 8), "channels_in mod 8");
    add(f, rest(in, 32), "channels_in mod 32");
    add(f, rest(in * x[TH_OP_IN_W], 32), "row mod 32");
    add(f, (double)x[TH_OP_KERNEL_H] / x[TH_OP_STRIDE_H], "kernel / stride");
    add(f, size->input, "input bytes");
    add(f, size->output, "output bytes");
    add(f, rest(out, 4), "channels_out mod 4");
    add(f, rest(out, 32), "channels_out mod 32");
    add(f, rest(out, 64), "channels_out mod 64");
    conv_tiles(f, pixels, out);
}

static void matrix(th_features *f, const th_op *op)
{
    static const int pieces[] = {4, 8, 32, 64, 128};
    static const char *const inner[] = {"inner mod 4", "inner mod 8", "inner mod 32",
                                        "inner mod 64", "inner mod 128"};
    static const char *const columns[] = {"columns mod 4", "columns mod 8", "columns mod 32",
                                          "columns mod 64", "columns mod 128"};
    double in = op->x[TH_OP_CHANNELS_IN], out = op->x[TH_OP_CHANNELS_OUT];
    double rows = op->kind == TH_OP_DENSE ? op->x[TH_OP_BATCH] : op->x[TH_OP_ROWS];
    double batch = op->kind == TH_OP_DENSE ? 1 : op->x[TH_OP_BATCH];
    for (int i = 0; i < 5; i++)
        add(f, rest(in, pieces[i]), inner[i]);
    for (int i = 0; i < 5; i++)
        add(f, rest(out, pieces[i]), columns[i]);
    add(f, rest(rows, 4), "rows mod 4");
    add(f, rest(rows, 32), "rows mod 32");
    add(f, rest(rows, 128), "rows mod 128");
    add(f, batch * th_law_ceil(rows / 128) * th_law_ceil(out / 128), "tiles 128x128");
    add(f, batch * th_law_ceil(rows / 64) * th_law_ceil(out / 64), "tiles 64x64");
    add(f, batch * th_law_ceil(rows / 32) * th_law_ceil(out / 32), "tiles 32x32");
    add(f, logarithm(rows / in), "ln rows / inner");
    add(f, logarithm(out / in), "ln columns / inner");
}

static void shares(th_features *f, const th_terms *t, const double *weight, double law_ms)
{
    static const char *const numbered = "share %d";
    double share[TH_SHARES_MAX] = {0};
    for (int i = 0; i < t->n_places; i++) {
        int place = t->place[i];
        share[t->share[place]] += t->amount[place] * weight[place];
    }
    for (int i = 0; i < t->n_shares; i++) {
        char name[TH_TERM_NAME_MAX];
        if (f->name)
            snprintf(name, sizeof name, numbered, i);
        add(f, share[i] / law_ms, f->name ? name : NULL);
    }
}

void th_features_fill(const th_op *op, const th_gpu *gpu, const th_terms *terms,
                      const double *weight, double law_ms, th_features *out)
{
    out->n = 0;
    fields(out, op);
    sizes(out, &terms->sizes);
    if (th_op_has(op->kind, TH_OP_IN_H))
        plane(out, op, &terms->sizes);
    else if (th_op_has(op->kind, TH_OP_CHANNELS_OUT))
        matrix(out, op);
    add(out, logarithm(law_ms), "ln law");
    add(out, logarithm(terms->sizes.flops / law_ms), "ln operations / law");
    shares(out, terms, weight, law_ms);
    add(out, gpu->x[TH_GPU_PEAK] / gpu->x[TH_GPU_BANDWIDTH], "peak / bandwidth");
    add(out, gpu->x[TH_GPU_SMS], "sms");
    add(out, gpu->x[TH_GPU_BANDWIDTH] / gpu->x[TH_GPU_SMS], "bandwidth / sm");
}
