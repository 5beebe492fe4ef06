/* SPDX-License-Identifier: GPL-3.0-or-later */
/* features.c - numbers of an operation for the learners.
 *   fill: plane | matrix -> remainders -> shares of the law -> the device */
#include <config.h>

#include "predictor/regress/features.h"

#include <math.h>

typedef struct {
    float *x;
    int n;
} row;

/* The name is for who reads the code. */
static inline void add(row *f, double value, const char *name)
{
    (void)name;
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

static void fields(row *f, const th_op *op)
{
    /* the law knows what precisions mean (bytes and peaks), and which kernel runs */
    static const uint64_t of_the_law = TH_OP_BIT(TH_OP_PRECISION) | TH_OP_BIT(TH_OP_KERNEL) |
                                       TH_OP_BIT(TH_OP_KV_PRECISION) | TH_OP_BIT(TH_OP_PAGED) |
                                       TH_OP_BIT(TH_OP_LATENT);
    uint64_t there = th_op_fields(op->kind) & ~of_the_law;
    while (there)
        add(f, op->x[th_op_take_field(&there)], "field");
}

static void sizes(row *f, const th_op_sizes *s)
{
    add(f, logarithm(s->flops), "ln operations");
    add(f, logarithm(s->input), "ln input");
    add(f, logarithm(s->weights), "ln weights");
    add(f, logarithm(s->output), "ln output");
}

static void conv_tiles(row *f, double pixels, double channels)
{
    static const int widths[] = {128, 64, 32};
    for (int i = 0; i < 3; i++)
        add(f, th_law_ceil(pixels / 128) * th_law_ceil(channels / widths[i]), "tiles");
}

static void plane(row *f, const th_op *op, const th_op_sizes *size)
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

static void matrix(row *f, const th_op *op)
{
    static const int pieces[] = {4, 8, 32, 64, 128};
    const th_product_shape p = th_product_shape_of(op);
    double in = p.inner, out = p.columns, rows = p.rows, batch = p.members;
    for (int i = 0; i < 5; i++)
        add(f, rest(in, pieces[i]), "inner mod");
    for (int i = 0; i < 5; i++)
        add(f, rest(out, pieces[i]), "columns mod");
    add(f, rest(rows, 4), "rows mod 4");
    add(f, rest(rows, 32), "rows mod 32");
    add(f, rest(rows, 128), "rows mod 128");
    add(f, batch * th_law_ceil(rows / 128) * th_law_ceil(out / 128), "tiles 128x128");
    add(f, batch * th_law_ceil(rows / 64) * th_law_ceil(out / 64), "tiles 64x64");
    add(f, batch * th_law_ceil(rows / 32) * th_law_ceil(out / 32), "tiles 32x32");
    add(f, logarithm(rows / in), "ln rows / inner");
    add(f, logarithm(out / in), "ln columns / inner");
}

/* Divides four at a time, which processors do at once. */
static void shares(row *f, const th_terms *t, const double *weight, double law_ms)
{
    enum { ABREAST = 4 };
    double share[TH_TERM_GROUPS_MAX];
    float part[TH_TERM_GROUPS_MAX];
    for (int i = 0; i < t->n_groups; i += ABREAST)
        for (int k = i; k < i + ABREAST; k++)
            share[k] = 0;
    for (int i = 0; i < t->n_active; i++) {
        int place = t->active[i];
        share[t->group[place]] += t->amount[place] * weight[place];
    }
    for (int i = 0; i < t->n_groups; i += ABREAST)
        for (int k = i; k < i + ABREAST; k++)
            part[k] = (float)(share[k] / law_ms);
    for (int i = 0; i < t->n_groups; i++)
        f->x[f->n++] = part[i];
}

int th_features_fill(const th_op *op, const th_gpu *gpu, const th_terms *terms,
                     const double *weight, double law_ms, float *x)
{
    row f = {x, 0};
    fields(&f, op);
    sizes(&f, &terms->sizes);
    if (th_op_has(op->kind, TH_OP_IN_H))
        plane(&f, op, &terms->sizes);
    else if (th_op_has(op->kind, TH_OP_CHANNELS_OUT))
        matrix(&f, op);
    add(&f, logarithm(law_ms), "ln law");
    add(&f, logarithm(terms->sizes.flops / law_ms), "ln operations / law");
    shares(&f, terms, weight, law_ms);
    add(&f, gpu->x[TH_GPU_PEAK] / gpu->x[TH_GPU_BANDWIDTH], "peak / bandwidth");
    add(&f, gpu->x[TH_GPU_SMS], "sms");
    add(&f, gpu->x[TH_GPU_BANDWIDTH] / gpu->x[TH_GPU_SMS], "bandwidth / sm");
    return f.n;
}
