/* SPDX-License-Identifier: GPL-3.0-or-later */
/* law_conv.c - terms of a convolution's time, as cuDNN and the frameworks above it work.
 *
 * A framework whose tensors have channels last transposes the input to channels first, runs
 * cuDNN's kernel and transposes the output back. Without bias and activation two shapes are one
 * matrix product ("gemm") and need no transposition: a 1 x 1 kernel with stride 1, and a kernel
 * that covers the unpadded input. cuDNN has no odd padding, so the framework copies the input into
 * a larger one. Kernels work on tiles of 128 pixels by 128, 64 or 32 output channels and 8 inner
 * steps, full or not. cuDNN chooses its algorithm by kernel size and stride, so each pair has its
 * own efficiency. Fourier transforms work on planes of multiples of 32, Winograd's on 4 x 4
 * outputs. */
#include <config.h>

#include <math.h>
#include <stdbool.h>

#include "predictor/law/law.h"

enum { KERNELS = 7, STEP = 8, PIXELS = 128 };

typedef struct {
    double batch, in, out, out_h, out_w, pixels, inner, input, weights, output, flops;
    int kernel; /* class of its size, 1 .. KERNELS */
    bool has_stride, is_gemm, is_bare_cudnn, is_odd, has_bias, has_activation;
} conv;

static double round_up(double n, double tile)
{
    return th_law_ceil(n / tile) * tile;
}

static conv conv_of(const th_op *op, const th_op_sizes *size)
{
    const int32_t *x = op->x;
    double area = (double)x[TH_OP_KERNEL_H] * x[TH_OP_KERNEL_W];
    int side = (int)(sqrt(area) + 0.5);
    bool is_bare = !x[TH_OP_BIAS] && x[TH_OP_ACTIVATION] == TH_ACT_NONE;
    bool is_point = area == 1 && x[TH_OP_STRIDE_H] == 1 && x[TH_OP_STRIDE_W] == 1;
    bool is_whole = x[TH_OP_KERNEL_H] == x[TH_OP_IN_H] && x[TH_OP_KERNEL_W] == x[TH_OP_IN_W] &&
                    x[TH_OP_PAD_H] == 0 && x[TH_OP_PAD_W] == 0;
    conv c = {
        .batch = x[TH_OP_BATCH],
        .in = x[TH_OP_CHANNELS_IN],
        .out = x[TH_OP_CHANNELS_OUT],
        .out_h = size->out_h,
        .out_w = size->out_w,
        .inner = area * x[TH_OP_CHANNELS_IN],
        .input = size->input,
        .weights = size->weights,
        .output = size->output,
        .flops = size->flops,
        .kernel = side < 1         ? 1
                  : side > KERNELS ? KERNELS
                                   : side,
        .has_stride = x[TH_OP_STRIDE_H] > 1 || x[TH_OP_STRIDE_W] > 1,
        .is_gemm = is_bare && (is_point || is_whole),
        .is_odd = x[TH_OP_PAD_H] % 2 == 1 || x[TH_OP_PAD_W] % 2 == 1,
        .has_bias = x[TH_OP_BIAS],
        .has_activation = x[TH_OP_ACTIVATION] != TH_ACT_NONE,
    };
    c.is_bare_cudnn = is_bare && !c.is_gemm;
    c.is_odd = c.is_odd && !c.is_gemm;
    c.pixels = c.batch * c.out_h * c.out_w;
    return c;
}

static inline void add(th_terms *t, th_term_class class, bool is_there, double amount,
                       const char *name)
{
    th_terms_one(t, class, is_there ? amount : 0, name);
}

/* Calls, copies and passes over whole tensors. */
static void passes(th_terms *t, const conv *c, const th_op *op)
{
    static const struct {
        const char *call, *input, *weights, *output;
    } names[] = {{"call cudnn", "input cudnn", "weights cudnn", "output cudnn"},
                 {"call gemm", "input gemm", "weights gemm", "output gemm"},
                 {"call bare", "input bare", "weights bare", "output bare"}};
    const bool is[] = {!c->is_gemm, c->is_gemm, c->is_bare_cudnn};
    add(t, TH_TERM_HOST, true, 1, "call");
    add(t, TH_TERM_TRANSFER, true, c->output, "returned");
    for (int i = 0; i < 3; i++) {
        add(t, TH_TERM_HOST, is[i], 1, names[i].call);
        add(t, i == 0 ? TH_TERM_LAYOUT : TH_TERM_MEMORY, is[i], c->input, names[i].input);
        add(t, TH_TERM_MEMORY, is[i], c->weights, names[i].weights);
        add(t, i == 0 ? TH_TERM_LAYOUT : TH_TERM_MEMORY, is[i], c->output, names[i].output);
    }
    add(t, TH_TERM_HOST, c->has_bias, 1, "call bias");
    add(t, TH_TERM_PASS, c->has_bias, c->output, "bias");
    add(t, TH_TERM_HOST, c->has_activation, 1, "call activation");
    add(t, TH_TERM_PASS, c->has_activation, c->output, "activation");
    add(t, TH_TERM_HOST, c->is_odd, 1, "call odd padding");
    add(t, TH_TERM_MEMORY, c->is_odd,
        4 * c->batch * c->in * ((double)op->x[TH_OP_IN_H] + 1) * ((double)op->x[TH_OP_IN_W] + 1),
        "odd padding");
    add(t, TH_TERM_MEMORY, !c->is_gemm && c->out_h * c->out_w == 1, c->weights,
        "weights of one pixel");
}

static void gemm(th_terms *t, const conv *c)
{
    static const int tiles[][2] = {{128, 128}, {128, 64}, {64, 64}, {32, 32}};
    enum { TERMS = 5 };
    bool is_skipped = !c->is_gemm && th_terms_skip(t, TERMS);
    th_terms_begin_group(t);
    for (int i = 0; !is_skipped && i < 4; i++)
        th_terms_add(t, TH_TERM_COMPUTE,
                     c->is_gemm ? 2 * round_up(c->pixels, tiles[i][0]) *
                                      round_up(c->out, tiles[i][1]) * round_up(c->inner, STEP)
                                : 0,
                     "gemm %dx%d", tiles[i][0], tiles[i][1]);
    if (!is_skipped)
        th_terms_add(t, TH_TERM_COMPUTE, c->is_gemm ? c->flops : 0, "gemm", 0, 0);
    /* A tile walks the whole inner dimension, however few tiles there are. */
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_STEP, c->is_gemm ? c->inner * 1e-6 : 0, "inner steps gemm", 0, 0);
    th_terms_begin_group(t);
    th_terms_add(t, TH_TERM_STEP, c->is_gemm ? 0 : c->inner * 1e-6, "inner steps cudnn", 0, 0);
}

/* One efficiency per kernel size, stride and width of tiles; and what unrolled inputs move. */
enum { PAIRS = 2 * KERNELS, TERMS_OF_PAIR = 5 };

static void tiles_of_pair(th_terms *t, const conv *c, int pair, bool is)
{
    static const int widths[] = {128, 64, 32};
    int k = pair / 2 + 1, s = pair % 2;
    for (int i = 0; i < 3; i++)
        th_terms_add(t, TH_TERM_COMPUTE,
                     is ? 2 * round_up(c->pixels, PIXELS) * round_up(c->out, widths[i]) *
                              round_up(c->inner, STEP)
                        : 0,
                     s ? "k%d strided 128x%d" : "k%d 128x%d", k, widths[i]);
    th_terms_add(t, TH_TERM_COMPUTE, is ? c->flops : 0, s ? "k%d strided" : "k%d", k, 0);
    th_terms_add(t, TH_TERM_MEMORY, is ? 4 * c->pixels * c->inner : 0,
                 s ? "k%d strided unrolled" : "k%d unrolled", k, 0);
}

static void tiles_of_kernel(th_terms *t, const conv *c)
{
    int mine = c->is_gemm ? PAIRS : 2 * (c->kernel - 1) + c->has_stride;
    th_terms_begin_group(t);
    if (th_terms_skip(t, mine * TERMS_OF_PAIR)) {
        if (mine < PAIRS) {
            tiles_of_pair(t, c, mine, true);
            th_terms_skip(t, (PAIRS - mine - 1) * TERMS_OF_PAIR);
        }
        return;
    }
    for (int pair = 0; pair < PAIRS; pair++)
        tiles_of_pair(t, c, pair, pair == mine);
}

static void transforms(th_terms *t, const conv *c, const th_op *op)
{
    enum { FFT_KERNEL = 5, WINOGRAD_KERNEL = 3, PLANE = 32, POINTS = 36 };
    bool can = !c->is_gemm && !c->has_stride, is_fft = can && c->kernel >= FFT_KERNEL,
         is_winograd = can && c->kernel == WINOGRAD_KERNEL;
    double plane = round_up((double)op->x[TH_OP_IN_H] + op->x[TH_OP_KERNEL_H] - 1, PLANE) *
                   round_up((double)op->x[TH_OP_IN_W] + op->x[TH_OP_KERNEL_W] - 1, PLANE);
    add(t, TH_TERM_MEMORY, is_fft, 4 * c->batch * c->in * plane, "fft input");
    add(t, TH_TERM_MEMORY, is_fft, 4 * c->batch * c->out * plane, "fft output");
    add(t, TH_TERM_MEMORY, can && c->kernel >= WINOGRAD_KERNEL, 4 * c->in * c->out * PLANE * PLANE,
        "fft weights tiled");
    add(t, TH_TERM_MEMORY, is_fft, 4 * c->in * c->out * plane, "fft weights");
    add(t, TH_TERM_COMPUTE, is_fft, c->batch * c->in * c->out * plane, "fft products");
    add(t, TH_TERM_MEMORY, is_winograd, 4 * c->in * c->out * POINTS, "winograd weights");
    add(t, TH_TERM_COMPUTE, is_winograd,
        2 * c->batch * th_law_ceil(c->out_h / 4) * th_law_ceil(c->out_w / 4) *
            round_up(c->out, 32) * round_up(c->in, STEP) * POINTS,
        "winograd");
}

void th_law_conv(const th_op *op, th_phase phase, th_terms *t)
{
    conv c = conv_of(op, &t->sizes);
    passes(t, &c, op);
    gemm(t, &c);
    tiles_of_kernel(t, &c);
    transforms(t, &c, op);
    th_terms_optimizers(t, op, phase, c.weights);
}
