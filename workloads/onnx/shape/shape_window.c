/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shape_window.c - shapes of convolutions, pools, recurrent layers and transforms; see op.h.
 *
 * Along each axis a window gives floor((in + pads - (kernel - 1) dilation - 1) / stride) + 1, and a
 * transposed convolution (in - 1) stride - pads + (kernel - 1) dilation + output_padding + 1. */
#include <config.h>
#include "workloads/onnx/op.h"
#include "base/integer.h"

#include <string.h>

/* ---- windows --------------------------------------------------------------------------------- */

static int read_numbers(th_onnx_reader *r, const char *attribute, int n, int64_t least,
                        int64_t otherwise, int64_t *out)
{
    for (int i = 0; i < n; i++)
        out[i] = otherwise;
    int found = th_onnx_ints(r->node, attribute, out, 2 * TH_ONNX_RANK_MAX);
    bool is_good = found == n || (found == -1 && otherwise >= least);
    for (int i = 0; i < n; i++)
        is_good &= out[i] >= least && out[i] <= TH_ONNX_EXTENT_MAX;
    if (is_good)
        return 0;
    return th_onnx_refuse(r, "WORK-0085", "%s: must be %d numbers from %d to %d", attribute, n,
                          (int)least, TH_ONNX_EXTENT_MAX);
}

static int64_t reach_of(const th_onnx_window *x, int i)
{
    return (x->kernel[i] - 1) * x->dilation[i] + 1;
}

/* Sets the padding (auto_pad SAME) that gives ceil(input / stride) outputs; an odd element goes
 * before the input (SAME_LOWER) or after it (SAME_UPPER). */
static void pad_same(const int64_t *in, bool is_lower, th_onnx_window *x)
{
    for (int i = 0; i < x->n; i++) {
        int64_t steps = th_ceil_div(in[i], x->stride[i]) - 1;
        int64_t all = steps * x->stride[i] + reach_of(x, i) - in[i];
        all = all > 0 ? all : 0;
        x->before[i] = is_lower ? (all + 1) / 2 : all / 2;
        x->after[i] = all - x->before[i];
    }
}

static int read_pads(th_onnx_reader *r, const int64_t *in, th_onnx_window *x)
{
    int64_t pads[2 * TH_ONNX_RANK_MAX] = {0};
    bool is_lower = th_onnx_is(r->node, "auto_pad", "SAME_LOWER");
    if (is_lower || th_onnx_is(r->node, "auto_pad", "SAME_UPPER")) {
        pad_same(in, is_lower, x);
        return 0;
    }
    if (!th_onnx_is(r->node, "auto_pad", "VALID") && read_numbers(r, "pads", 2 * x->n, 0, 0, pads))
        return -1;
    for (int i = 0; i < x->n; i++) {
        x->before[i] = pads[i];
        x->after[i] = pads[i + x->n];
    }
    return 0;
}

static int slide(th_onnx_reader *r, const int64_t *in, bool is_open, th_onnx_window *x)
{
    for (int i = 0; i < x->n; i++) {
        int64_t size = in[i] + x->before[i] + x->after[i], left = size - reach_of(x, i);
        if (left < 0)
            return th_onnx_refuse(r, "WORK-0086",
                                  "a kernel of %lld (dilation %lld) is larger than its input of "
                                  "%lld with padding",
                                  (long long)x->kernel[i], (long long)x->dilation[i],
                                  (long long)size);
        x->out[i] = (is_open ? left + x->stride[i] - 1 : left) / x->stride[i] + 1;
        if (is_open && (x->out[i] - 1) * x->stride[i] >= in[i] + x->before[i])
            x->out[i]--; /* it would begin in the padding */
    }
    return 0;
}

/* If output_shape is given, the padding follows from it. */
static int spread(th_onnx_reader *r, const int64_t *in, th_onnx_window *x)
{
    int64_t extra[2 * TH_ONNX_RANK_MAX], shape[2 * TH_ONNX_RANK_MAX] = {0};
    bool is_upper = th_onnx_is(r->node, "auto_pad", "SAME_UPPER"), has_shape = false;
    bool is_same = is_upper || th_onnx_is(r->node, "auto_pad", "SAME_LOWER");
    if (read_numbers(r, "output_padding", x->n, 0, 0, extra))
        return -1;
    if (th_onnx_has(r->node, "output_shape")) {
        has_shape = true;
        if (read_numbers(r, "output_shape", x->n, 1, 0, shape))
            return -1;
    }
    for (int i = 0; i < x->n; i++) {
        int64_t all = (in[i] - 1) * x->stride[i] + reach_of(x, i) + extra[i];
        if (is_same && !has_shape)
            shape[i] = in[i] * x->stride[i];
        if (is_same || has_shape) {
            int64_t pads = all > shape[i] ? all - shape[i] : 0;
            x->before[i] = is_upper ? pads / 2 : pads - pads / 2;
            x->after[i] = pads - x->before[i];
            x->out[i] = shape[i];
        } else {
            x->out[i] = all - x->before[i] - x->after[i];
        }
        if (x->out[i] < 1)
            return th_onnx_refuse(r, "WORK-0087", "the padding crops all %lld elements of an axis",
                                  (long long)all);
    }
    return 0;
}

static int check_extents(th_onnx_reader *r, const th_onnx_value *in)
{
    if (in->rank < 3)
        return th_onnx_expected(r, "inputs of at least 3 axes");
    for (int32_t i = 0; i < in->rank; i++)
        if (in->dim[i] < 1 || in->dim[i] > TH_ONNX_EXTENT_MAX)
            return th_onnx_refuse_extent(r, in->dim[i], 1, TH_ONNX_EXTENT_MAX);
    return 0;
}

int th_onnx_window_of(th_onnx_reader *r, int weights, bool is_transposed, th_onnx_window *out)
{
    int64_t numbers[2 * TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_input(r, 0),
                        *w = in && weights > 0 ? th_onnx_input(r, (size_t)weights) : NULL;
    if (!in || check_extents(r, in) || (weights > 0 && (!w || check_extents(r, w))))
        return -1;
    *out = (th_onnx_window){.n = in->rank - 2};
    if (w && w->rank != in->rank)
        return th_onnx_expected(r, "weights of as many axes as the input");
    bool has_kernel = !w || th_onnx_has(r->node, "kernel_shape");
    if (has_kernel && read_numbers(r, "kernel_shape", out->n, 1, 0, numbers))
        return -1;
    memcpy(out->kernel, w ? w->dim + 2 : numbers, (size_t)out->n * sizeof *numbers);
    if (has_kernel && memcmp(out->kernel, numbers, (size_t)out->n * sizeof *numbers) != 0)
        return th_onnx_expected(r, "the kernel_shape of its weights");
    if (read_numbers(r, "strides", out->n, 1, 1, numbers))
        return -1;
    memcpy(out->stride, numbers, (size_t)out->n * sizeof *numbers);
    if (read_numbers(r, "dilations", out->n, 1, 1, numbers))
        return -1;
    memcpy(out->dilation, numbers, (size_t)out->n * sizeof *numbers);
    bool is_open = !w && th_onnx_int(r->node, "ceil_mode", 0) != 0;
    if (is_transposed && (th_onnx_is(r->node, "auto_pad", "SAME_UPPER") ||
                          th_onnx_is(r->node, "auto_pad", "SAME_LOWER")))
        return spread(r, in->dim + 2, out);
    if (read_pads(r, in->dim + 2, out))
        return -1;
    return is_transposed ? spread(r, in->dim + 2, out) : slide(r, in->dim + 2, is_open, out);
}

static void set_image(th_onnx_reader *r, int64_t channels, const th_onnx_window *x)
{
    th_onnx_begin(r);
    for (size_t i = 0; i < r->n_out; i++) {
        r->out[i].dim[1] = channels;
        memcpy(r->out[i].dim + 2, x->out, (size_t)x->n * sizeof *x->out);
    }
}

static int check_groups(th_onnx_reader *r, int64_t groups, int64_t channels, int64_t inputs)
{
    if (groups >= 1 && groups <= TH_ONNX_EXTENT_MAX && channels * groups == inputs)
        return 0;
    return th_onnx_refuse(r, "WORK-0145", "%lld groups of %lld channels: the input has %lld",
                          (long long)groups, (long long)channels, (long long)inputs);
}

/* variant: the number of the input that holds the weights. */
int th_onnx_shape_conv(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_window x;
    if (th_onnx_window_of(r, o->variant, false, &x))
        return -1;
    const th_onnx_value *in = th_onnx_input(r, 0), *w = th_onnx_input(r, (size_t)o->variant);
    int64_t groups = th_onnx_int(r->node, "group", 1);
    set_image(r, w->dim[0], &x);
    if (check_groups(r, groups, w->dim[1], in->dim[1]))
        return -1;
    return w->dim[0] % groups == 0
               ? 0
               : th_onnx_expected(r, "a number of weights that its groups divide");
}

int th_onnx_shape_conv_transpose(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_window x;
    int64_t groups = th_onnx_int(r->node, "group", 1);
    if (th_onnx_window_of(r, o->variant, true, &x))
        return -1;
    const th_onnx_value *in = th_onnx_input(r, 0), *w = th_onnx_input(r, (size_t)o->variant);
    if (groups < 1 || groups > TH_ONNX_EXTENT_MAX || w->dim[0] != in->dim[1] ||
        in->dim[1] % groups != 0)
        return th_onnx_expected(r, "weights for each channel of the input");
    set_image(r, w->dim[1] * groups, &x);
    return 0;
}

int th_onnx_shape_pool(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_window x;
    (void)o;
    if (th_onnx_window_of(r, -1, false, &x))
        return -1;
    set_image(r, th_onnx_input(r, 0)->dim[1], &x);
    return 0;
}

int th_onnx_shape_global_pool(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input(r, 0);
    th_onnx_window x = {.n = in ? in->rank - 2 : 0};
    (void)o;
    if (!in || check_extents(r, in))
        return -1;
    for (int i = 0; i < x.n; i++)
        x.out[i] = 1;
    set_image(r, in->dim[1], &x);
    return 0;
}

int th_onnx_shape_unpool(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t shape[TH_ONNX_RANK_MAX];
    th_onnx_window x;
    int n = th_onnx_list(r, 2, NULL, shape, TH_ONNX_RANK_MAX);
    (void)o;
    if (n == -2 || th_onnx_window_of(r, -1, true, &x))
        return -1;
    const th_onnx_value *in = th_onnx_input(r, 0);
    for (int i = 0; n == in->rank && i < x.n; i++)
        x.out[i] = shape[i + 2];
    set_image(r, in->dim[1], &x);
    return 0;
}

/* ---- recurrent layers ------------------------------------------------------------------------ */

/* Y: steps x directions x batch x hidden, or batch first where layout is 1; Y_h, Y_c: without the
 * steps. */
int th_onnx_shape_recurrent(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input(r, 0), *w = in ? th_onnx_input(r, 2) : NULL;
    (void)o;
    if (!w)
        return -1;
    if (in->rank != 3 || w->rank != 3)
        return th_onnx_expected(r, "inputs of three axes");
    bool is_batch_first = th_onnx_int(r->node, "layout", 0) != 0;
    int64_t steps = in->dim[is_batch_first ? 1 : 0], batch = in->dim[is_batch_first ? 0 : 1],
            directions = w->dim[0], hidden = w->dim[2];
    const int64_t y[] = {steps, directions, batch, hidden},
                  y_first[] = {batch, steps, directions, hidden};
    const int64_t last[] = {directions, batch, hidden}, last_first[] = {batch, directions, hidden};
    for (size_t i = 0; i < r->n_out; i++) {
        r->out[i].type = in->type;
        r->out[i].rank = i == 0 ? 4 : 3;
        memcpy(r->out[i].dim,
               i == 0 ? (is_batch_first ? y_first : y) : (is_batch_first ? last_first : last),
               (size_t)r->out[i].rank * sizeof *y);
    }
    return 0;
}

/* ---- transforms and regions ------------------------------------------------------------------ */

/* N x C and the extents of the grid. */
int th_onnx_shape_grid(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_begin(r), *grid = in ? th_onnx_input(r, 1) : NULL;
    (void)o;
    if (!grid || check_extents(r, in))
        return -1;
    if (grid->rank != in->rank)
        return th_onnx_expected(r, "inputs of equally many axes");
    for (int32_t i = 2; i < in->rank; i++)
        r->out[0].dim[i] = grid->dim[i - 1];
    return 0;
}

/* variant: 0 RoiAlign (attributes), 1 MaxRoiPool (pooled_shape). */
int th_onnx_shape_roi(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input(r, 0), *roi = in ? th_onnx_input(r, 1) : NULL;
    int64_t size[2] = {th_onnx_int(r->node, "output_height", 1),
                       th_onnx_int(r->node, "output_width", 1)};
    if (!roi)
        return -1;
    if (o->variant)
        th_onnx_ints(r->node, "pooled_shape", size, 2);
    if (in->rank != 4 || roi->rank != 2 || size[0] < 1 || size[1] < 1)
        return th_onnx_expected(r, "an image and a list of regions");
    r->out[0].rank = 4;
    r->out[0].type = in->type;
    memcpy(r->out[0].dim, (int64_t[]){roi->dim[0], in->dim[1], size[0], size[1]},
           4 * sizeof size[0]);
    return 0;
}

int th_onnx_shape_col2im(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t image[TH_ONNX_RANK_MAX], block[TH_ONNX_RANK_MAX], area = 1;
    const th_onnx_value *in = th_onnx_input(r, 0);
    int n = in ? th_onnx_list(r, 1, NULL, image, TH_ONNX_RANK_MAX - 2) : -2;
    int n_block = n == -2 ? -2 : th_onnx_list(r, 2, NULL, block, TH_ONNX_RANK_MAX - 2);
    (void)o;
    if (n_block == -2)
        return -1;
    for (int i = 0; i < n_block; i++)
        area *= block[i] > 0 && block[i] <= TH_ONNX_EXTENT_MAX && area <= TH_ONNX_EXTENT_MAX
                    ? block[i]
                    : 0;
    if (in->rank != 3 || n < 1 || n_block != n || area == 0)
        return th_onnx_expected(r, "an image's and a block's extents");
    r->out[0].rank = n + 2;
    r->out[0].type = in->type;
    r->out[0].dim[0] = in->dim[0];
    r->out[0].dim[1] = in->dim[1] / area;
    memcpy(r->out[0].dim + 2, image, (size_t)n * sizeof *image);
    return 0;
}

int th_onnx_shape_affine_grid(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t size[TH_ONNX_RANK_MAX];
    const th_onnx_value *in = th_onnx_input(r, 0);
    int n = in ? th_onnx_list(r, 1, NULL, size, TH_ONNX_RANK_MAX) : -2;
    (void)o;
    if (n == -2)
        return -1;
    if (n != 4 && n != 5)
        return th_onnx_expected(r, "a size of 4 or 5 numbers");
    r->out[0].rank = n;
    r->out[0].type = in->type;
    r->out[0].dim[0] = size[0];
    for (int i = 1; i < n - 1; i++)
        r->out[0].dim[i] = size[i + 1];
    r->out[0].dim[n - 1] = n - 2;
    return 0;
}

/* The axis, of dft_length, is halved where onesided; the last axis holds two parts. */
int th_onnx_shape_dft(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_begin(r);
    int64_t axis = r->opset < 20 ? 1 : -2, length = -1;
    (void)o;
    if (!in || th_onnx_scalar(r, 2, "axis", &axis) || th_onnx_scalar(r, 1, NULL, &length))
        return -1;
    int32_t k = th_onnx_axis(r, axis, in->rank);
    if (k < 0)
        return -1;
    if (length >= 0)
        r->out[0].dim[k] = length;
    if (th_onnx_int(r->node, "onesided", 0))
        r->out[0].dim[k] = r->out[0].dim[k] / 2 + 1;
    r->out[0].dim[in->rank - 1] = 2;
    return 0;
}

int th_onnx_shape_stft(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = th_onnx_input(r, 0), *window = th_onnx_input_or_none(r, 2);
    int64_t step = 0, length = window && window->rank == 1 ? window->dim[0] : 0;
    (void)o;
    if (!in || th_onnx_scalar(r, 1, NULL, &step) || th_onnx_scalar(r, 3, NULL, &length))
        return -1;
    if (in->rank < 2 || step < 1 || length < 1 || length > in->dim[1])
        return th_onnx_expected(r, "a signal, a step and a frame");
    int64_t bins = th_onnx_int(r->node, "onesided", 1) ? length / 2 + 1 : length;
    r->out[0].rank = 4;
    r->out[0].type = in->type;
    memcpy(r->out[0].dim, (int64_t[]){in->dim[0], (in->dim[1] - length) / step + 1, bins, 2},
           4 * sizeof bins);
    return 0;
}

/* variant: 0: HannWindow and other window functions, a vector; 1: MelWeightMatrix, bins x spectrum.
 */
int th_onnx_shape_window_function(th_onnx_reader *r, const th_onnx_operator *o)
{
    int64_t size = 0, length = 0;
    if (!th_onnx_input(r, 0) || th_onnx_scalar(r, 0, NULL, &size) ||
        (o->variant && th_onnx_scalar(r, 1, NULL, &length)))
        return -1;
    if (size < 0 || length < 0)
        return th_onnx_refuse_extent(r, (size < 0 ? size : length), 0, TH_ONNX_EXTENT_MAX);
    r->out[0].type = TH_ONNX_FLOAT;
    r->out[0].rank = o->variant ? 2 : 1;
    r->out[0].dim[0] = o->variant ? length / 2 + 1 : size;
    r->out[0].dim[1] = size;
    return 0;
}
