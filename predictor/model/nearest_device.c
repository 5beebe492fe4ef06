/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nearest_device.c - similarity of GPUs.
 *   of: { distance of a device } -> the least -> share = exp(-distance^2 / 2 reach^2)
 * The distance is Euclidean over logarithms of data-sheet numbers. Only GPUs of one generation are
 * compared, because libraries use other kernels for the next one. A last-level cache of 16 MiB or
 * more indicates the generations from the A100 on, which run the same single-precision kernels and
 * so count as similar whatever their size. Older generations differ in the units of a
 * multiprocessor (Kepler 192; Maxwell, Pascal 128; P100, Volta, Turing 64), though not all. */
#include <config.h>

#include "predictor/model/nearest_device.h"

#include <math.h>
#include <stdbool.h>

static bool has_large_cache(const th_gpu *gpu)
{
    static const double MIB = 16;
    return gpu->x[TH_GPU_L2] >= MIB;
}

static bool is_of_generation(const th_gpu *a, const th_gpu *b)
{
    if (has_large_cache(a) || has_large_cache(b))
        return has_large_cache(a) && has_large_cache(b);
    return a->x[TH_GPU_CORES] == b->x[TH_GPU_CORES];
}

/* In units of the reach. */
static double distance(const th_gpu *a, const th_gpu *b)
{
    static const th_gpu_number numbers[] = {TH_GPU_BANDWIDTH, TH_GPU_SMS, TH_GPU_PEAK, TH_GPU_L2};
    static const double REACH = 0.35, REACH_OF_GENERATION = 4;
    if (!is_of_generation(a, b))
        return INFINITY;
    double sum = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double x = log(a->x[numbers[i]] / b->x[numbers[i]]);
        sum += x * x;
    }
    return sqrt(sum) / (has_large_cache(a) ? REACH_OF_GENERATION : REACH);
}

int th_nearest_device_find(const th_gpu *device, int n, const th_gpu *gpu, double *share)
{
    int nearest = -1;
    double least = INFINITY;
    *share = 0;
    for (int i = 0; i < n; i++) {
        double d = distance(&device[i], gpu);
        if (nearest >= 0 && d >= least)
            continue;
        nearest = i;
        least = d;
        *share = exp(-d * d / 2);
    }
    return nearest;
}

static double law_of(const th_layer_model *m, int device, const th_op *op, const th_gpu *gpu)
{
    th_terms t;
    th_law_terms(op, m->phase, gpu, NULL, &t);
    return th_law_ms(&t, m->weight + (size_t)device * (size_t)m->n_terms);
}

void th_nearest_device_adjust(const th_layer_model *m, const th_op *op, size_t n, const th_gpu *gpu,
                              double *ms)
{
    enum { BLOCK = 64 };
    static const double SHARE_MIN = 0.01; /* below, the correction is not worth its time */
    double share, nearest_ms[BLOCK];
    int nearest = th_nearest_device_find(m->device, m->n_devices, gpu, &share);
    if (share < SHARE_MIN)
        return;
    for (size_t from = 0; from < n; from += BLOCK) {
        size_t size = n - from < BLOCK ? n - from : BLOCK;
        th_layer_model_predict_as(
            m, op + from, size, (th_device_view){&m->device[nearest], nearest, false}, nearest_ms);
        for (size_t i = 0; i < size; i++) {
            double law = law_of(m, nearest, &op[from + i], &m->device[nearest]),
                   here = law_of(m, nearest, &op[from + i], gpu);
            if (law > 0 && here > 0)
                ms[from + i] *= pow(nearest_ms[i] * here / law / ms[from + i], share);
        }
    }
}
