/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read_window.c - convolutions, transposed convolutions and pools with one to three spatial axes.
 *
 * A layer has two spatial axes, rows (the height) and columns (the width). The last spatial axis
 * becomes the columns; the axes before it, flattened, become the rows, and so do images that are no
 * batch. The kernel has the product of its extents along the flattened axes as rows; they are
 * spread over the input rows that the kernel reaches. Multiply-accumulates, parameters and sizes
 * are exact; the rows that a part of the output reads are bounded from above. */
#include <config.h>
#include "workloads/onnx/op.h"

#include <string.h>

/* One axis of a layer's window. */
typedef struct {
    int64_t in, kernel, stride, dilation, before, out;
} side;

static side side_of(const th_onnx_window *x, const th_onnx_value *in, int i)
{
    return (side){in->dim[i + 2], x->kernel[i], x->stride[i],
                  x->dilation[i], x->before[i], x->out[i]};
}

/* Flattens several axes into one; see above for the rows of the kernel. */
static side join_sides(const side *s, int n, int64_t images)
{
    side all = {images, 1, 1, 1, 0, images};
    int64_t reach = 0, inner = 1;
    for (int i = n - 1; i >= 0; i--) {
        all.in *= s[i].in;
        all.out *= s[i].out;
        all.kernel *= s[i].kernel;
        all.stride *= s[i].stride;
        all.before += s[i].before * inner;
        reach += (s[i].kernel - 1) * s[i].dilation * inner;
        inner *= s[i].in;
    }
    if (n == 1 && images == 1)
        return s[0];
    all.dilation = all.kernel > 1 ? (reach + all.kernel - 2) / (all.kernel - 1) : 1;
    all.dilation = all.dilation > 0 ? all.dilation : 1;
    return all;
}

static bool is_extent(int64_t n)
{
    return n >= 1 && n <= TH_ONNX_EXTENT_MAX;
}

static int set_rows(th_onnx_reader *r, th_layer *l, const side *h, const side *w)
{
    bool is_good = is_extent(h->kernel) && is_extent(w->kernel) && is_extent(h->out) &&
                   is_extent(w->out) && is_extent(h->stride) && is_extent(h->dilation) &&
                   h->before <= TH_ONNX_EXTENT_MAX;
    if (!is_good)
        return th_onnx_refuse_large(r);
    l->dim[TH_DIM_R] = (int32_t)h->kernel;
    l->dim[TH_DIM_S] = (int32_t)w->kernel;
    l->dim[TH_DIM_H] = (int32_t)h->out;
    l->dim[TH_DIM_W] = (int32_t)w->out;
    l->stride_h = (int32_t)h->stride;
    l->stride_w = (int32_t)w->stride;
    l->dilation_h = (int32_t)h->dilation;
    l->dilation_w = (int32_t)w->dilation;
    l->pad_top = (int32_t)h->before;
    l->pad_left = (int32_t)w->before;
    return 0;
}

/* A transposed convolution is a convolution of stride 1 over its input with zeros inserted between
 * neighbouring elements. */
static int set_spread(th_onnx_reader *r, th_layer *l, side *h, side *w)
{
    side *const sides[] = {h, w};
    int32_t *const up[] = {&l->up_h, &l->up_w};
    for (int i = 0; i < 2; i++) {
        int64_t pad = (sides[i]->kernel - 1) * sides[i]->dilation - sides[i]->before;
        if (!is_extent(sides[i]->stride))
            return th_onnx_refuse_large(r);
        *up[i] = (int32_t)sides[i]->stride;
        sides[i]->stride = 1;
        sides[i]->before = pad > 0 ? pad : 0;
    }
    return set_rows(r, l, h, w);
}

/* Sets the layer's window over in, which has the layout of images. */
static int set_window(th_onnx_reader *r, th_layer *l, const th_onnx_value *in,
                      const th_onnx_window *x, bool is_transposed)
{
    side s[TH_ONNX_RANK_MAX], w = {1, 1, 1, 1, 0, 1};
    int64_t pixels = 1;
    int n_rows = x->n > 1 ? x->n - 1 : 1;
    for (int i = 0; i < x->n; i++)
        s[i] = side_of(x, in, i);
    if (x->n > 1)
        w = s[x->n - 1];
    for (int i = 0; i < n_rows; i++)
        pixels *= s[i].in;
    side h = join_sides(s, n_rows, in->h / pixels);
    return is_transposed ? set_spread(r, l, &h, &w) : set_rows(r, l, &h, &w);
}

/* Adds the layer, which reads in and makes the first output in the layout of images; the image axis
 * has the factors of the input's. */
static int add_image(th_onnx_reader *r, th_layer *l, const th_onnx_value *in)
{
    int coordinates[TH_ONNX_RANK_MAX];
    int32_t from = in->layer, layer = th_onnx_add_layer(r, l, &from, 1, "");
    if (layer < 0)
        return -1;
    th_onnx_value v = th_onnx_made(r, 0, layer), axes = *in;
    axes.n_factors = 0;
    th_onnx_layout_copy(&axes, 0, in, 0);
    for (int32_t i = 1; i < v.rank; i++)
        th_onnx_layout_add(&axes, i, TH_ONNX_C, v.dim[i], 1);
    th_onnx_usual_coordinates(&v, true, coordinates);
    return th_onnx_layout_assign(&v, &axes, coordinates) ? -1 : th_onnx_define_output(r, 0, &v);
}

/* The first input in the layout of images. NULL: refused. */
static const th_onnx_value *image_input(th_onnx_reader *r)
{
    th_onnx_value *in = th_onnx_input_or_none(r, 0);
    if (r->batch > 1 && !th_onnx_has_batch(in)) {
        th_onnx_mixes_batch(r);
        return NULL;
    }
    return th_onnx_arrange_image(r, in);
}

/* variant: the number of the input that holds the weights; a bias may follow it. */
static int read_conv(th_onnx_reader *r, const th_onnx_operator *o, bool is_transposed)
{
    th_onnx_window x;
    if (!th_onnx_is_tensor(th_onnx_input_or_none(r, 0)))
        return th_onnx_gather_inputs(r, TH_FUNCTION_COPY, 0, "");
    const th_onnx_value *in = image_input(r);
    if (!in || th_onnx_window_of(r, o->variant, is_transposed, &x))
        return -1;
    th_layer l = th_onnx_layer_over(r, TH_LAYER_CONV, in);
    int64_t channels = r->out[0].dim[1];
    if (set_window(r, &l, in, &x, is_transposed))
        return -1;
    l.dim[TH_DIM_K] = (int32_t)channels;
    l.groups = (int32_t)th_onnx_int(r->node, "group", 1);
    size_t bias = o->variant == 3 ? 8 : strcmp(o->name, "DeformConv") == 0 ? 3 : 2;
    l.has_bias = strcmp(o->name, "ConvInteger") != 0 && th_onnx_input_or_none(r, bias);
    const th_onnx_value *w = th_onnx_input_or_none(r, (size_t)o->variant);
    return add_image(r, &l, in) ? -1 : th_onnx_tie(r, r->w->n_layers - 1, w, is_transposed, 0);
}

int th_onnx_read_conv(th_onnx_reader *r, const th_onnx_operator *o)
{
    return read_conv(r, o, false);
}

int th_onnx_read_conv_transpose(th_onnx_reader *r, const th_onnx_operator *o)
{
    return read_conv(r, o, true);
}

static int add_pool(th_onnx_reader *r, const th_onnx_operator *o, const th_onnx_value *in,
                    const th_onnx_window *x)
{
    th_layer l = th_onnx_layer_over(r, TH_LAYER_POOL, in);
    l.is_mean_pool = o->variant;
    return set_window(r, &l, in, x, false) ? -1 : add_image(r, &l, in);
}

/* variant: 1 for mean pools, 0 for maximum pools. */
int th_onnx_read_pool(th_onnx_reader *r, const th_onnx_operator *o)
{
    th_onnx_window x;
    const th_onnx_value *in = image_input(r);
    return !in || th_onnx_window_of(r, -1, false, &x) ? -1 : add_pool(r, o, in, &x);
}

int th_onnx_read_global_pool(th_onnx_reader *r, const th_onnx_operator *o)
{
    const th_onnx_value *in = image_input(r);
    th_onnx_window x = {.n = 0};
    for (; in && x.n < in->rank - 2; x.n++) {
        x.kernel[x.n] = in->dim[x.n + 2];
        x.stride[x.n] = x.dilation[x.n] = x.out[x.n] = 1;
    }
    return in ? add_pool(r, o, in, &x) : -1;
}
