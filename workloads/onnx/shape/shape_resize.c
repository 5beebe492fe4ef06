/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shape_resize.c - shapes of operators that change the height and width of images; see op.h. */
#include <config.h>
#include "workloads/onnx/op.h"

#include <math.h>
#include <string.h>

/* Reads real numbers of an input or an attribute. Returns their number; -1: absent; -2: refused. */
static int reals_of(th_onnx_reader *r, size_t input, const char *attribute, double *out)
{
    const th_onnx_value *v = th_onnx_input_or_none(r, input);
    const th_onnx_attribute *a = th_onnx_attribute_of(r->node, attribute);
    if (v && th_onnx_is_known(v)) {
        int64_t n = th_onnx_elements(v);
        for (int64_t i = 0; i < n && i < TH_ONNX_RANK_MAX; i++)
            out[i] = th_onnx_real_number(v, i);
        return n > 0 ? (int)(n < TH_ONNX_RANK_MAX ? n : TH_ONNX_RANK_MAX) : -1;
    }
    if (v && th_onnx_elements(v) != 0) {
        th_onnx_refuse_unknown(r, input);
        return -2;
    }
    for (size_t i = 0; a && i < a->n_floats && i < TH_ONNX_RANK_MAX; i++)
        out[i] = (double)a->floats[i];
    return a ? (int)a->n_floats : -1;
}

static int scale_axis(th_onnx_reader *r, int32_t axis, double scale)
{
    double extent = floor((double)r->out[0].dim[axis] * scale);
    if (!(scale > 0) || extent > (double)TH_ONNX_EXTENT_MAX)
        return th_onnx_refuse_number(r, "a scale", scale);
    r->out[0].dim[axis] = (int64_t)extent;
    return 0;
}

/* Changes the sizes so that all axes have the same scale, the smallest or the largest. */
static void keep_proportions(th_onnx_reader *r, const th_onnx_value *in, const int32_t *axis,
                             double *sizes, int n)
{
    bool is_larger = th_onnx_is(r->node, "keep_aspect_ratio_policy", "not_smaller");
    if (!is_larger && !th_onnx_is(r->node, "keep_aspect_ratio_policy", "not_larger"))
        return;
    double scale = sizes[0] / (double)in->dim[axis[0]];
    for (int i = 1; i < n; i++) {
        double s = sizes[i] / (double)in->dim[axis[i]];
        scale = is_larger == (s > scale) ? s : scale;
    }
    for (int i = 0; i < n; i++)
        sizes[i] = floor((double)in->dim[axis[i]] * scale + 0.5);
}

/* variant: 0 Resize (scales, sizes are inputs 2 and 3, input 1 is a region), 1 Upsample (scales).
 */
int th_onnx_shape_resize(th_onnx_reader *r, const th_onnx_operator *o)
{
    double x[TH_ONNX_RANK_MAX];
    int64_t axes[TH_ONNX_RANK_MAX];
    int32_t axis[TH_ONNX_RANK_MAX] = {0};
    const th_onnx_value *in = th_onnx_begin(r);
    bool is_sized = false;
    if (!in)
        return -1;
    size_t scales = o->variant || r->opset < 11 ? 1 : 2;
    int n = reals_of(r, scales, "scales", x), n_axes;
    if (n == -1 && scales == 2) {
        n = reals_of(r, 3, "sizes", x);
        is_sized = true;
    }
    n_axes = th_onnx_ints(r->node, "axes", axes, TH_ONNX_RANK_MAX);
    if (n == -2)
        return -1;
    if (n != (n_axes >= 0 ? n_axes : in->rank))
        return th_onnx_expected(r, "a scale or a size of every axis");
    for (int i = 0; i < n; i++)
        if ((axis[i] = n_axes >= 0 ? th_onnx_axis(r, axes[i], in->rank) : i) < 0)
            return -1;
    if (is_sized)
        keep_proportions(r, in, axis, x, n);
    for (int i = 0; i < n; i++) {
        if (is_sized && x[i] >= 0 && x[i] <= (double)TH_ONNX_EXTENT_MAX)
            r->out[0].dim[axis[i]] = (int64_t)x[i];
        else if (is_sized)
            return th_onnx_refuse_number(r, "a size", x[i]);
        else if (scale_axis(r, axis[i], x[i]))
            return -1;
    }
    return 0;
}

static int move_blocks(th_onnx_reader *r, bool to_space)
{
    const th_onnx_value *in = th_onnx_begin(r);
    int64_t b = th_onnx_int(r->node, "blocksize", 0);
    if (!in)
        return -1;
    bool is_good = in->rank == 4 && b > 0 && b <= TH_ONNX_EXTENT_MAX;
    if (is_good && to_space)
        is_good = in->dim[1] % (b * b) == 0;
    else if (is_good)
        is_good = in->dim[2] % b == 0 && in->dim[3] % b == 0;
    if (!is_good)
        return th_onnx_refuse_number(r, "a blocksize", (double)b);
    int64_t *d = r->out[0].dim;
    d[1] = to_space ? d[1] / (b * b) : d[1] * b * b;
    d[2] = to_space ? d[2] * b : d[2] / b;
    d[3] = to_space ? d[3] * b : d[3] / b;
    return 0;
}

int th_onnx_shape_depth_to_space(th_onnx_reader *r, const th_onnx_operator *o)
{
    (void)o;
    return move_blocks(r, true);
}

int th_onnx_shape_space_to_depth(th_onnx_reader *r, const th_onnx_operator *o)
{
    (void)o;
    return move_blocks(r, false);
}
