/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu.c - what follows from the numbers of a data sheet: peaks by precision, the rate of the cache.
 */
#include <config.h>

#include "predictor/data/gpu.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const th_gpu_extra places[TH_N_OP_PRECISIONS] = {
    [TH_PRECISION_TF32] = TH_GPU_TF32, [TH_PRECISION_FP16] = TH_GPU_FP16,
    [TH_PRECISION_BF16] = TH_GPU_BF16, [TH_PRECISION_FP8] = TH_GPU_FP8,
    [TH_PRECISION_FP4] = TH_GPU_FP4,
};

double th_gpu_peak(const th_gpu *gpu, th_op_precision p)
{
    return p == TH_PRECISION_FP32 ? gpu->x[TH_GPU_PEAK] : gpu->extra[places[p]];
}

th_op_precision th_gpu_nearest_precision(const th_gpu *gpu, th_op_precision p)
{
    /* fp16 and bf16 are as wide, so either stands for the other. */
    static const th_op_precision orders[TH_N_OP_PRECISIONS][4] = {
        [TH_PRECISION_TF32] = {TH_PRECISION_TF32},
        [TH_PRECISION_FP16] = {TH_PRECISION_FP16, TH_PRECISION_BF16, TH_PRECISION_TF32},
        [TH_PRECISION_BF16] = {TH_PRECISION_BF16, TH_PRECISION_FP16, TH_PRECISION_TF32},
        [TH_PRECISION_FP8] = {TH_PRECISION_FP8, TH_PRECISION_BF16, TH_PRECISION_FP16,
                              TH_PRECISION_TF32},
        [TH_PRECISION_FP4] = {TH_PRECISION_FP4, TH_PRECISION_FP8, TH_PRECISION_BF16,
                              TH_PRECISION_FP16},
    };
    for (int i = 0; i < 4; i++)
        if (th_gpu_peak(gpu, orders[p][i]) > 0)
            return orders[p][i];
    return TH_PRECISION_FP32;
}

int th_gpu_check_precision(const th_gpu *gpu, th_op_precision p, th_error *err)
{
    if (th_gpu_peak(gpu, p) > 0)
        return 0;
    char has[80];
    size_t n = 0;
    int n_has = 0;
    const char *name = th_op_word(TH_OP_PRECISION, (int32_t)p);
    for (int i = 0; i < TH_N_OP_PRECISIONS; i++)
        if (th_gpu_peak(gpu, (th_op_precision)i) > 0)
            n += (size_t)snprintf(has + n, sizeof has - n, "%s%s", n_has++ > 0 ? ", " : "",
                                  th_op_word(TH_OP_PRECISION, i));
    return th_error_set(err, "PRED-0163", "precision %s: %s has %s%s, or describe its peak (%s)",
                        name, gpu->name, has,
                        n_has == 1 ? " alone; choose that" : "; choose one of these",
                        th_gpu_extra_column(places[p]));
}

double th_gpu_l2_bandwidth(const th_gpu *gpu)
{
    /* A slice gives a multiprocessor 64 bytes per clock: NVIDIA A100 white paper 2020, 5120 bytes
     * per clock for 108 of them reach 47. */
    static const double BYTES_PER_CLOCK = 64, MHZ_PER_GHZ = 1e3;
    double given = gpu->extra[TH_GPU_L2_BANDWIDTH],
           paths = gpu->x[TH_GPU_SMS] * gpu->x[TH_GPU_CLOCK] * BYTES_PER_CLOCK / MHZ_PER_GHZ;
    return given > 0 ? given : fmax(paths, gpu->x[TH_GPU_BANDWIDTH]);
}

/* Of another name of the series, how far the numbers in both lie apart in logarithms; INFINITY: it
 * is none of the series. */
static double apart_in_series(const char *a, const char *b)
{
    size_t n = 0;
    while (isalpha((unsigned char)a[n]) &&
           tolower((unsigned char)a[n]) == tolower((unsigned char)b[n]))
        n++;
    if (n == 0 || isalpha((unsigned char)a[n]) || isalpha((unsigned char)b[n]))
        return INFINITY;
    return fabs(log(fmax(1, atof(a + n)) / fmax(1, atof(b + n))));
}

/* What rows are compared with: a name, or else a peak and a bandwidth. */
typedef struct {
    const char *name;
    double peak, bandwidth;
} wanted;

static double apart(const wanted *w, const th_gpu *gpu)
{
    double half = th_gpu_peak(gpu, th_gpu_nearest_precision(gpu, TH_PRECISION_BF16));
    return w->name ? apart_in_series(w->name, gpu->name)
                   : fabs(log(half / w->peak)) + fabs(log(gpu->x[TH_GPU_BANDWIDTH] / w->bandwidth));
}

static void describe(const th_gpus *g, const wanted *w, const char *lead, char *text, size_t size)
{
    enum { SHOWN = 3 };
    double beyond = -1; /* the rows so near are shown already */
    int last = -1;
    *text = '\0';
    for (int n = 0; n < SHOWN; n++) {
        double least = INFINITY;
        int next = -1;
        for (int i = 0; i < g->n; i++) {
            double d = apart(w, &g->gpu[i]);
            if ((d > beyond || (d == beyond && i > last)) && d < least) {
                least = d;
                next = i;
            }
        }
        if (next < 0)
            return;
        const th_gpu *gpu = &g->gpu[next];
        th_op_precision p = th_gpu_nearest_precision(gpu, TH_PRECISION_FP16);
        size_t used = strlen(text);
        th_print(text + used, size - used, "%s%s (%.0f GB/s, %.0f TFLOP/s in %s)",
                 n == 0 ? lead : ", ", gpu->name, gpu->x[TH_GPU_BANDWIDTH],
                 th_gpu_peak(gpu, p) / 1e3, th_op_word(TH_OP_PRECISION, (int32_t)p));
        beyond = least;
        last = next;
    }
}

void th_gpus_describe_series(const th_gpus *g, const char *name, char *text, size_t size)
{
    describe(g, &(wanted){.name = name}, "; of its series ", text, size);
}

void th_gpus_describe_near(const th_gpus *g, double peak, double bandwidth, char *text, size_t size)
{
    describe(g, &(wanted){NULL, peak, bandwidth}, "; nearest are ", text, size);
}
