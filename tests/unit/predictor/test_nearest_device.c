/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_nearest_device.c - which device is the nearest, and what its times say. */
#include <config.h>
#include "base/alloc.h"
#include "predictor/model/nearest_device.h"
#include "tests/unit/tap.h"

/* GB/s, multiprocessors, 1e9 operations/s, MiB. */
static th_gpu gpu_of(const char *name, double bandwidth, double sms, double peak, double l2)
{
    th_gpu g = {.name = ""};
    snprintf(g.name, sizeof g.name, "%s", name);
    for (int i = 0; i < TH_N_GPU_NUMBERS; i++)
        g.x[i] = 1;
    g.x[TH_GPU_BANDWIDTH] = bandwidth;
    g.x[TH_GPU_SMS] = sms;
    g.x[TH_GPU_PEAK] = peak;
    g.x[TH_GPU_L2] = l2;
    return g;
}

/* Without large caches, e^0.35 in one number is a reach: share exp(-1/2). Twice as far, exp(-2). */
TEST(alike_by_the_data_sheet)
{
    th_gpu known[] = {gpu_of("far", 100 * exp(0.7), 10, 1000, 4),
                      gpu_of("near", 100, 10, 1000 * exp(0.35), 4)};
    th_gpu gpu = gpu_of("new", 100, 10, 1000, 4), same = gpu_of("same", 100, 10, 1000, 4);
    double share;
    CU_ASSERT_EQUAL(th_nearest_device_find(known, 2, &gpu, &share), 1);
    CU_ASSERT_DOUBLE_EQUAL(share, exp(-0.5), 1e-12);
    CU_ASSERT_EQUAL(th_nearest_device_find(known, 1, &gpu, &share), 0);
    CU_ASSERT_DOUBLE_EQUAL(share, exp(-2), 1e-12);
    CU_ASSERT_EQUAL(th_nearest_device_find(&same, 1, &gpu, &share), 0);
    CU_ASSERT_EQUAL(share, 1);
    CU_ASSERT_EQUAL(th_nearest_device_find(NULL, 0, &gpu, &share), -1);
    CU_ASSERT_EQUAL(share, 0);
}

/* An A100 serves an H100, however far: logarithms 0.791, 0.201, 1.233, 0.223 apart, exp(-(1.496 /
 * 4)^2 / 2). No V100 does. */
TEST(generations_of_large_caches)
{
    th_gpu a100 = gpu_of("A100", 1555, 108, 19492, 40), v100 = gpu_of("V100", 900, 80, 14130, 6);
    th_gpu h100 = gpu_of("H100", 3430, 132, 66908, 50), both[] = {v100, a100};
    double share;
    CU_ASSERT_EQUAL(th_nearest_device_find(both, 2, &h100, &share), 1);
    CU_ASSERT_DOUBLE_EQUAL(share, 0.9325, 0.0002);
    th_nearest_device_find(&v100, 1, &h100, &share);
    CU_ASSERT_EQUAL(share, 0);
}

/* Multiprocessors of other units are of another generation. */
TEST(generations_of_small_caches)
{
    th_gpu gpu = gpu_of("new", 100, 10, 1000, 4), other = gpu;
    double share;
    other.x[TH_GPU_CORES] = 2;
    th_nearest_device_find(&other, 1, &gpu, &share);
    CU_ASSERT_EQUAL(share, 0);
}

/* The law has but "call" (2 ms by its weight) on a device whose learner adds nothing: a law alone.
 * The nearest device, of similarity exp(-1/2), says as much, as calls do not depend on the GPU; the
 * common law said 8 ms: 8 (2/8)^share. */
TEST(times_move_towards_the_nearest_device)
{
    th_gpu near = gpu_of("near", 100, 10, 1000 * exp(0.35), 4);
    th_gpu gpu = gpu_of("new", 100, 10, 1000, 4);
    th_layer_model m = {
        .kind = TH_OP_DENSE, .phase = TH_PHASE_EXECUTION, .device = &near, .n_devices = 1};
    th_layer_model_count(&m);
    m.weight = th_alloc_zero(2 * (size_t)m.n_terms, sizeof *m.weight);
    m.weight[0] = 2;
    m.weight[m.n_terms] = 8;
    m.seen.ensemble = m.unseen.ensemble =
        (th_ensemble){.member = {{&th_learner_law, NULL, 1}}, .n = 1};
    th_op op = {TH_OP_DENSE,
                {[TH_OP_BATCH] = 3, [TH_OP_CHANNELS_IN] = 5, [TH_OP_CHANNELS_OUT] = 7}};
    CU_ASSERT_DOUBLE_EQUAL(th_layer_model_predict(&m, &op, &near), 2, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(th_layer_model_predict(&m, &op, &gpu), 8 * pow(0.25, exp(-0.5)), 1e-9);
    th_free(m.weight);
}

TAP_MAIN("nearest_device")
