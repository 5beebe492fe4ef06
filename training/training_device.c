/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_device.c - see training_device.h. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "predictor/law/law.h"
#include "predictor/law/law_power.h"
#include "training/training_device.h"

static const double GIGA = 1e9;

/* One core of that peak with 8-bit products of twice the rate, as tensor processors have: assumed,
 * as are clock, cache and the time that nothing fills. */
static th_gpu unknown(double peak)
{
    return (th_gpu){.x = {[TH_GPU_SMS] = 1,
                          [TH_GPU_CORES] = 1,
                          [TH_GPU_CLOCK] = 1500,
                          [TH_GPU_PEAK] = peak / 6,
                          [TH_GPU_L2] = 48,
                          [TH_GPU_MEMORY] = 1},
                    .extra = {[TH_GPU_BF16] = peak,
                              [TH_GPU_FP8] = 2 * peak,
                              [TH_GPU_TENSOR_M] = 128,
                              [TH_GPU_TENSOR_N] = 128,
                              [TH_GPU_TENSOR_K] = 128}};
}

/* The row at the system's peak and bandwidth; its power is at the one what it is at the other. */
static void take_rates(th_training_device *d)
{
    th_gpu *g = &d->gpu;
    const th_op_precision half = th_gpu_nearest_precision(g, TH_PRECISION_BF16);
    const double times = d->operations_per_s / GIGA / th_gpu_peak(g, half);
    for (int i = TH_GPU_TF32; i <= TH_GPU_FP4; i++)
        g->extra[i] *= times;
    g->x[TH_GPU_PEAK] *= times;
    g->extra[TH_GPU_FP16_ENERGY] /= times;
    g->x[TH_GPU_BANDWIDTH] = d->bytes_per_s / GIGA;
}

static int fail_unknown(const th_training_device *d, const char *design, const char *name,
                        th_error *err)
{
    th_gpus all;
    char near[200] = "";
    if (th_gpus_read_shipped(&all, err))
        return -1;
    th_gpus_describe_near(&all, d->operations_per_s / GIGA, d->bytes_per_s / GIGA, near,
                          sizeof near);
    th_gpus_clear(&all);
    return th_error_set(err, "MAP-0800",
                        "design \"%s\": no row of devices.csv has the name %s: must say what it "
                        "is: device = \"ROW\", \"large_core\" (a TPU, an array), type learned "
                        "with its numbers, or a devices.csv along $THARSIS_PATH with a row%s",
                        design, name, near);
}

int th_training_device_find(th_training_device *d, const char *design, th_design_device by,
                            th_error *err)
{
    th_gpu *g = &d->gpu;
    char name[TH_GPU_NAME_MAX], *part;
    int status, limit = 0;
    snprintf(name, sizeof name, "%s", by.name && !by.is_core ? by.name : design);
    while ((status = th_gpu_shipped(name, g, err)) > 0 && (part = strrchr(name, '_'))) {
        sscanf(part, "_%5dw", &limit);
        *part = '\0';
    }
    if (status < 0)
        return -1;
    d->is_known = status == 0 || by.gpu;
    d->generation = status == 0 ? th_generation_of(g->name) : NULL;
    if (by.gpu)
        *g = *by.gpu;
    else if (!d->is_known && !by.is_core)
        return fail_unknown(d, design, by.name ? by.name : design, err);
    else if (!d->is_known)
        *g = unknown(d->operations_per_s / GIGA);
    const double idle = g->extra[TH_GPU_IDLE_POWER], usual = g->extra[TH_GPU_BOARD_POWER];
    th_gpu limited = *g;
    limited.extra[TH_GPU_BOARD_POWER] = limit;
    d->clock = limit > idle && usual > idle ? th_law_clock(&limited, usual - idle) : 1;
    take_rates(d);
    d->keeps_clock = th_law_keeps_clock(g);
    return 0;
}
