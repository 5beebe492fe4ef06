/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_numbers.c - see training_numbers.h. scripts/fit_training.tcl fits the numbers. */
#include <config.h>
#include <string.h>
#include "training/training_numbers.h"

const th_number_meaning th_number_meanings[] = {
    [TH_NUMBER_PRODUCTS_A100] = {"products_a100", 0.7437, "share of the peak that products reach"},
    [TH_NUMBER_PRODUCTS_H100] = {"products_h100", 0.6471, "the same, on H100 and later"},
    [TH_NUMBER_PRODUCTS_FP8] = {"products_fp8", 0.5854, "the same, in 8 bits"},
    [TH_NUMBER_PRODUCTS_TPU] = {"products_tpu", 0.8646, "the same, on TPUs"},
    [TH_NUMBER_CLOCK_LIMITED] = {"clock_limited", 0.6969,
                                 "share of the clock that a limit of power of 5/7 leaves"},
    [TH_NUMBER_ATTENTION_PORTABLE] = {"attention_portable", 0.4212,
                                      "fused attention that is not the vendor's, likewise"},
    [TH_NUMBER_ATTENTION] = {"attention", 0.6474, "fused attention, as a share of that"},
    [TH_NUMBER_PASSES_FUSED] = {"passes_fused", 1, "passes over memory of fused kernels"},
    [TH_NUMBER_PASSES_EAGER] = {"passes_eager", 2.051, "passes over memory of eager kernels"},
    [TH_NUMBER_OVERLAP_COST] = {"overlap_cost", 0.3095,
                                "share of its rate that computation loses to a message beside it"},
    [TH_NUMBER_OVERLAP_TENSOR] = {"overlap_tensor", 0.2869, "the same of messages of tensor ranks"},
    [TH_NUMBER_HOST_KERNEL] = {"host_kernel", 6e-6, "s of the host per kernel"},
    [TH_NUMBER_HOST_PYTHON] = {"host_python", 4e-5, "the same, launched one by one from Python"},
    [TH_NUMBER_HOST_GRAPH] = {"host_graph", 1.5e-6, "the same, of a graph launched as a whole"},
    [TH_NUMBER_HOST_EXPERTS] = {"host_experts", 1.765e-05,
                                "s of the host per kernel of a layer of experts"},
    [TH_N_NUMBERS] = {NULL, 0, NULL},
};

th_training_numbers th_training_numbers_shipped(void)
{
    th_training_numbers n;
    for (int i = 0; i < TH_N_NUMBERS; i++)
        n.of[i] = th_number_meanings[i].shipped;
    return n;
}

/* Streaming multiprocessors, factors of 8 and 4 bits: the vendors' data sheets, as in
 * predictor/devices.csv. The first prefix that matches a design's name counts. */
static const th_generation generations[] = {
    {"h100_500w", TH_NUMBER_PRODUCTS_H100, 132, 2, 0, true, true},
    {"v100", TH_NUMBER_PRODUCTS_A100, 80, 0, 0, false, false},
    {"a100", TH_NUMBER_PRODUCTS_A100, 108, 0, 0, false, true},
    {"a800", TH_NUMBER_PRODUCTS_A100, 108, 0, 0, false, false},
    {"a10", TH_NUMBER_PRODUCTS_A100, 72, 0, 0, false, false},
    {"a30", TH_NUMBER_PRODUCTS_A100, 56, 0, 0, false, false},
    {"a40", TH_NUMBER_PRODUCTS_A100, 84, 0, 0, false, false},
    {"l40", TH_NUMBER_PRODUCTS_H100, 142, 2, 0, false, false},
    {"l4", TH_NUMBER_PRODUCTS_H100, 58, 2, 0, false, false},
    {"h100", TH_NUMBER_PRODUCTS_H100, 132, 2, 0, false, true},
    {"h800", TH_NUMBER_PRODUCTS_H100, 132, 2, 0, false, false},
    {"h200", TH_NUMBER_PRODUCTS_H100, 132, 2, 0, false, false},
    {"gh200", TH_NUMBER_PRODUCTS_H100, 132, 2, 0, false, false},
    {"b200", TH_NUMBER_PRODUCTS_H100, 148, 2, 4, false, false},
    {"gb200", TH_NUMBER_PRODUCTS_H100, 148, 2, 4, false, false},
    {"b300", TH_NUMBER_PRODUCTS_H100, 148, 2, 6, false, false},
    {"gb300", TH_NUMBER_PRODUCTS_H100, 148, 2, 6, false, false},
    {"tpu_v5e", TH_NUMBER_PRODUCTS_TPU, 0, 0, 0, false, true},
    {"tpu", TH_NUMBER_PRODUCTS_TPU, 0, 0, 0, false, false},
    {"mi210", TH_NUMBER_PRODUCTS_A100, 104, 0, 0, false, false},
    {"mi250", TH_NUMBER_PRODUCTS_A100, 208, 0, 0, false, false},
    {"mi300x", TH_NUMBER_PRODUCTS_H100, 304, 2, 0, false, false},
    {"mi355x", TH_NUMBER_PRODUCTS_H100, 256, 2, 4, false, false},
    {NULL, TH_NUMBER_PRODUCTS_H100, 0, 2, 0, false, false},
};

const th_generation *th_generation_find(const char *design)
{
    const th_generation *g = generations;
    while (g->prefix && strncmp(design, g->prefix, strlen(g->prefix)) != 0)
        g++;
    return g;
}
