/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench_operators.c - what predictions of operators of language models take, with the default
 * predictor, 16 bits, on an H100: one operation alone with its interval, rows of products in
 * batches, a network of 10,000 operations. Each the least of some rounds. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "predictor/model/network_prediction.h"
#include "predictor/model/operator_time.h"
#include "tests/bench/bench.h"
#include "workloads/workload_read.h"

enum { ROUNDS = 50, N_ROWS = 4096, N_BLOCKS = 2000 };

static void stop_unless(bool fine, const th_error *e)
{
    if (fine)
        return;
    fprintf(stderr, "bench: Error %s: %s\n", e->id, e->text);
    exit(1);
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
    printf("%8.2f us for one %s alone, %s (asked: 2 us; by %s; checksum %g)\n",
           least / N_ROWS * 1e6, name, th_phase_name(phase), t.model ? "a model" : "the law", sum);
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
    printf("%8.2f us per row of them, times alone (asked: 0.5 us; checksum %g)\n",
           least / N_ROWS * 1e6, sum);
}

/* Blocks of five layers: fc, elementwise, fc, elementwise, norm. */
static th_workload *stack_of_layers(void)
{
    static const char *const head =
        "name = \"stack\"; batch = 512; precision = \"bf16\"; "
        "input = { channels = 512; height = 1; width = 1; }; layers = ( ";
    static const char *const block =
        "%s{ name = \"a%d\"; type = \"fc\"; outputs = 2048; }, { name = \"b%d\"; type = \"gelu\"; "
        "}, { name = \"c%d\"; type = \"fc\"; outputs = 512; }, { name = \"d%d\"; type = \"relu\"; "
        "}, { name = \"e%d\"; type = \"rms_norm\"; }";
    th_strbuf text = TH_STRBUF_INIT;
    th_error e = {"", ""};
    th_strbuf_add(&text, head);
    for (int i = 0; i < N_BLOCKS; i++)
        th_strbuf_printf(&text, block, i > 0 ? ", " : "", i, i, i, i, i);
    th_strbuf_add(&text, " );");
    th_workload *w = th_workload_read_text(text.text, "stack", 0, &e);
    stop_unless(w, &e);
    th_strbuf_clear(&text);
    return w;
}

static void network(const th_predictor *p, const th_gpu *gpu)
{
    enum { FEW = 10 };
    th_workload *w = stack_of_layers();
    const th_network_prediction_options o = {.gpu = gpu, .precision = TH_PRECISION_BF16};
    double least = INFINITY;
    th_time total = 0;
    for (int r = 0; r < FEW; r++) {
        th_network_prediction f;
        th_error e = {"", ""};
        double begun = th_bench_cpu_seconds();
        stop_unless(th_predict_network(&f, p, w, &o, &e) == 0, &e);
        least = fmin(least, th_bench_cpu_seconds() - begun);
        total = f.total;
        th_network_prediction_clear(&f);
    }
    printf("%8.1f ms for a network of %d operations (asked: 20 ms; it takes %g ms)\n", least * 1e3,
           (int)w->n_layers, (double)total * 1e-9);
    th_workload_free(w);
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
    network(p, gpu);
    th_predictor_free(p);
    th_gpus_clear(&known);
}
