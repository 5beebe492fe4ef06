/* SPDX-License-Identifier: GPL-3.0-or-later */
/* canonical.c - converts shards of kinds that a design does not run into kinds that it runs.
 *   th_design_schedule: th_canonical_shard -> type->schedule -> adjust weight reuse for matmuls
 *
 * A transposed convolution (up > 1) is a convolution of its input with up - 1 zeros inserted
 * between neighbours; most of its products have such a zero as a factor. Output row h uses only the
 * kernel rows r with h - pad + r dilation = 0 (mod up). The outputs therefore fall into up phases,
 * and each phase is an ordinary convolution of the input with every up-th kernel row (W. Shi et
 * al., "Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
 * Convolutional Neural Network", CVPR 2016, and "Is the deconvolution layer the same as a
 * convolutional layer?", 2016). All phases read the same input with different kernels, as output
 * channels do, so phases become output channels:
 *     u = up / gcd(up, dilation)     K -> K u_h u_w     H, R -> ceil(H / u_h), ceil(R / u_h)
 * W and S are converted like H and R; the dilation becomes dilation / gcd. The conversion
 * over-counts the kernel rows and outputs that ceil adds (a kernel of 3 at up 2 counts as 4 taps:
 * 16/9 in two dimensions) and, where the dilation shares a factor with up, the outputs that no
 * input reaches. Not modelled: the outputs of one phase are not contiguous in DRAM.
 *
 * A layer of an LSTM or GRU has H time steps. Each step multiplies B rows of C + K elements by a
 * matrix of gates K columns. The time steps become the images of a matmul: a design that keeps
 * weights on chip across images keeps them across time steps. The conversion over-counts the
 * output: the sums of all gates leave the chip (gates K elements instead of K). Not modelled here:
 * the dependence of a step on the result of the previous one, and the element-wise work of the
 * gates; the design gemv models both.
 *
 * The second operand of a matmul of two activations differs in every image, so weight_stays
 * excludes the loop over images. */
#include <config.h>

#include "sim/design/design.h"
#include "sim/design/tiles.h"

static int32_t ceil_of(int32_t a, int32_t b)
{
    return (int32_t)th_ceil_div(a, b);
}

/* Converts the phases of a transposed convolution into output channels. */
static int phases_to_channels(th_shard *s, th_error *err)
{
    int32_t common_h = (int32_t)th_gcd(s->up_h, s->dilation_h);
    int32_t common_w = (int32_t)th_gcd(s->up_w, s->dilation_w);
    int32_t u_h = s->up_h / common_h, u_w = s->up_w / common_w;
    if (s->dim[TH_DIM_K] > INT32_MAX / u_h / u_w)
        return th_error_set(
            err, "SIM-0070",
            "a transposed convolution of %d channels and %d x %d phases: must be %d "
            "at most together",
            (int)s->dim[TH_DIM_K], (int)u_h, (int)u_w, INT32_MAX);
    s->dim[TH_DIM_K] *= u_h * u_w;
    s->dim[TH_DIM_H] = ceil_of(s->dim[TH_DIM_H], u_h);
    s->dim[TH_DIM_W] = ceil_of(s->dim[TH_DIM_W], u_w);
    s->dim[TH_DIM_R] = ceil_of(s->dim[TH_DIM_R], u_h);
    s->dim[TH_DIM_S] = ceil_of(s->dim[TH_DIM_S], u_w);
    s->dilation_h /= common_h;
    s->dilation_w /= common_w;
    s->up_h = s->up_w = 1;
    s->products_h = s->products_w = 0;
    return 0;
}

/* Converts the time steps of a recurrent layer into the images of a matmul. */
static int unroll_steps(th_shard *s, th_error *err)
{
    int32_t steps = s->dim[TH_DIM_H], rows = s->dim[TH_DIM_B];
    int64_t inner = (int64_t)s->dim[TH_DIM_C] + s->dim[TH_DIM_K];
    int64_t columns = (int64_t)th_layer_gates((th_layer_kind)s->kind) * s->dim[TH_DIM_K];
    if (columns > INT32_MAX || inner > INT32_MAX)
        return th_error_set(err, "SIM-0071",
                            "a recurrent layer of %d inputs and %d units: its gates and its inputs "
                            "must be %d at most each",
                            (int)s->dim[TH_DIM_C], (int)s->dim[TH_DIM_K], INT32_MAX);
    s->kind = TH_LAYER_MATMUL;
    s->dim[TH_DIM_B] = steps;
    s->dim[TH_DIM_H] = s->in_h = rows;
    s->dim[TH_DIM_K] = (int32_t)columns;
    s->dim[TH_DIM_C] = (int32_t)inner;
    s->dim[TH_DIM_W] = s->in_w = 1;
    s->dim[TH_DIM_R] = s->dim[TH_DIM_S] = 1;
    s->n_operands = 1;
    return 0;
}

int th_canonical_shard(const th_shard *shard, unsigned kinds, th_shard *out, th_error *err)
{
    *out = *shard;
    if (kinds >> shard->kind & 1u)
        return 0;
    if (th_layer_gates((th_layer_kind)shard->kind) > 0)
        return unroll_steps(out, err);
    if (shard->up_h > 1 || shard->up_w > 1)
        return phases_to_channels(out, err);
    return 0;
}

int th_design_schedule(const th_design_type *type, const th_design_config *config,
                       const th_shard *shard, const th_port *memory, th_schedule *out,
                       th_error *err)
{
    th_shard plain;
    if (th_canonical_shard(shard, type->kinds, &plain, err) ||
        type->schedule(config, &plain, memory, out, err))
        return -1;
    if (th_shard_multiplies_activations(&plain))
        out->weight_stays &= (uint8_t) ~(1u << TH_LOOP_B);
    return 0;
}

/* A transposed convolution counts as the canonical shards of its parts, without ceil: a part that
 * has a fraction of the outputs and kernel rows has that fraction of the products. th_shard_macs
 * also counts products that contribute to no output. */
double th_canonical_macs(const th_shard *s)
{
    if (s->up_h == 1 && s->up_w == 1)
        return (double)th_shard_macs(s);
    const int32_t *d = s->dim;
    double phases = (double)(s->up_h / th_gcd(s->up_h, s->dilation_h)) *
                    (double)(s->up_w / th_gcd(s->up_w, s->dilation_w));
    return (double)d[TH_DIM_B] * d[TH_DIM_K] * ((d[TH_DIM_C] + s->groups - 1) / s->groups) *
           d[TH_DIM_H] * d[TH_DIM_W] * d[TH_DIM_R] * d[TH_DIM_S] / phases;
}

/* Every part of a shard converts to a part of its canonical shard. */
bool th_design_peak_of(const th_design_type *type, const th_design_config *config,
                       const th_shard *shard, th_design_peak *out)
{
    th_shard plain;
    if (!type->peak || th_canonical_shard(shard, type->kinds, &plain, NULL))
        return false;
    *out = type->peak(config, &plain);
    return true;
}
