/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_operators.c - what predictions of operators of language models take, with the default
 * predictor, 16 bits, on an H100: one operation alone with its interval, and rows of products in
 * batches. Each the least of some rounds. */
#include <config.h>

#include <math.h>
#include <stdio.h>

#include "predictor/model/operator_time.h"
#include "tests/bench/bench.h"

enum { ROUNDS = 50, N_ROWS = 4096 };

static void stop_unless(bool fine, const th_error *e)
{
    if (!fine)
        th_bench_stop_at(e);
}

/* Shapes that differ from row to row, as of tokens of a serving engine. */
static th_op product(int i)
{
    return th_op_product(1 + i * 631 % 4096, 512 * (1 + i * 7 % 16), 512 * (1 + i * 11 % 28),
                         TH_PRECISION_BF16);
}

static th_op norm(int i)
{
    return th_op_rows(TH_OP_RMS_NORM, 1 + i * 631 % 4096, 512 * (1 + i * 7 % 16),
                      TH_PRECISION_BF16);
}

static th_op attention(int i)
{
    return th_op_attention(1 + i * 37 % 64, 1, 1 + i * 631 % 16384, 32, 8, 128, TH_PRECISION_BF16);
}

static void alone(const th_predictor *p, const th_gpu *gpu, const char *name, th_op (*op)(int),
                  th_phase phase)
{
    static th_operator o[N_ROWS];
    th_operator_time t = {.ms = 0};
    th_error e = {"", ""};
    double least = INFINITY, sum = 0;
    for (int i = 0; i < N_ROWS; i++)
        o[i] = (th_operator){op(i), phase, NULL};
    for (int r = 0; r < ROUNDS; r++) {
        double begun = th_bench_cpu_seconds();
        for (int i = 0; i < N_ROWS; i++) {
            stop_unless(th_operator_predict(&t, p, &o[i], gpu, &e) == 0, &e);
            sum += t.ms;
        }
        least = fmin(least, th_bench_cpu_seconds() - begun);
    }
    printf("%8.2f us for one %s alone, %s (asked: %g us; by %s; checksum %g)\n",
           least / N_ROWS * 1e6, name, th_phase_name(phase), t.model ? 0.6 : 0.25,
           t.model ? "a model" : "the law", sum);
}

static void times_alone(const th_predictor *p, const th_gpu *gpu)
{
    static th_op op[N_ROWS];
    static double ms[N_ROWS];
    double least = INFINITY, sum = 0;
    for (int i = 0; i < N_ROWS; i++)
        op[i] = product(i);
    const th_layer_model *m = th_predictor_find_op(p, op, TH_PHASE_EXECUTION);
    th_error e = {"BENCH", "the default predictor has no model of products at 16 bits"};
    stop_unless(m, &e);
    const th_device_view view = {gpu, th_layer_model_device(m, gpu->name), false};
    for (int r = 0; r < ROUNDS; r++) {
        double begun = th_bench_cpu_seconds();
        th_layer_model_predict_as(m, op, N_ROWS, view, ms);
        least = fmin(least, th_bench_cpu_seconds() - begun);
        sum += ms[r];
    }
    printf("%8.2f us per row of them, times alone (asked: 0.4 us; checksum %g)\n",
           least / N_ROWS * 1e6, sum);
}

void th_bench_operators(void)
{
    th_gpus known = {.gpu = NULL};
    th_error e = {"", ""};
    stop_unless(th_gpus_read(&known, "predictor/devices.csv", NULL, &e) == 0, &e);
    th_predictor *p = th_predictor_read("predictor/models/default.model", &e);
    stop_unless(p, &e);
    const th_gpu *gpu = th_gpus_find(&known, "h100");
    printf("default predictor, 16 bits, %s\n", gpu->name);
    alone(p, gpu, "product", product, TH_PHASE_EXECUTION);
    alone(p, gpu, "norm", norm, TH_PHASE_EXECUTION);
    alone(p, gpu, "attention", attention, TH_PHASE_EXECUTION);
    alone(NULL, gpu, "product", product, TH_PHASE_EXECUTION);
    alone(NULL, gpu, "attention", attention, TH_PHASE_EXECUTION);
    times_alone(p, gpu);
    th_predictor_free(p);
    th_gpus_clear(&known);
}
