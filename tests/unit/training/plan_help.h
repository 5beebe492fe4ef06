/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_help.h - devices, random systems and models for tests of plans. */
#ifndef TH_TESTS_UNIT_TRAINING_PLAN_HELP_H
#define TH_TESTS_UNIT_TRAINING_PLAN_HELP_H
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include "training/parallel_plan.h"
#include "training/training_device.h"

/* Of 80 GB, that no table knows. */
static inline th_training_device device_of(double operations_per_s, double bytes_per_s)
{
    th_error err;
    th_training_device d = {.operations_per_s = operations_per_s,
                            .bytes_per_s = bytes_per_s,
                            .memory_bytes = INT64_C(80000000000)};
    CU_ASSERT_EQUAL_FATAL(
        th_training_device_find(&d, "other", (th_design_device){.is_core = true}, &err), 0);
    return d;
}

/* Of 4 to 16 accelerators. */
static inline th_system *random_system(gsl_rng *r, int gigabytes)
{
    static const char *const designs[] = {"a100_80", "h100_sxm", "npu"};
    static const char *const shapes[] = {
        "type = \"islands\"; dims = [%d, %d]; bandwidth = [\"%dGB/s\", \"%dGB/s\"]; "
        "latency = [\"500ns\", \"2us\"];",
        "type = \"torus\"; dims = [%d, %d]; bandwidth = [\"%dGB/s\", \"%dGB/s\"]; "
        "latency = [\"500ns\", \"2us\"];",
    };
    const char *design = designs[pick(r, 0, 2)];
    char shape[400], text[1200];
    snprintf(shape, sizeof shape, shapes[pick(r, 0, 1)], (int)pick(r, 2, 4), (int)pick(r, 2, 4),
             (int)pick(r, 5, 400), (int)pick(r, 1, 50));
    snprintf(text, sizeof text,
             "name = \"s\"; designs = ( { name = \"%s\"; type = \"roofline\"; clock = \"1GHz\"; "
             "macs_per_cycle = %d;%s } ); accelerators = ( { dram = { capacity = \"%dGB\"; "
             "bandwidth = \"%dGB/s\"; latency = \"100ns\"; burst = \"64B\"; }; "
             "vector = { clock = \"1GHz\"; elements_per_cycle = 512; }; designs = [\"%s\"]; } ); "
             "topology = { %s };",
             design, (int)pick(r, 20000, 400000),
             strcmp(design, "npu") == 0 ? " device = \"large_core\";" : "", gigabytes,
             (int)pick(r, 500, 4000), design, shape);
    return system_of(text);
}

/* Half of the accelerators get slower memory. */
static inline void make_unlike(th_system *s)
{
    for (int32_t i = s->n_accels / 2; i < s->n_accels; i++)
        s->nodes[s->accel_node[i]].a.dram_bits_per_s /= 8;
}

static inline th_transformer random_model(gsl_rng *r)
{
    const int32_t heads = (int32_t)pick(r, 1, 4) * 4;
    th_transformer t = {.name = "m",
                        .layers = (int32_t)pick(r, 1, 3) * 4,
                        .hidden = heads * 128,
                        .heads = heads,
                        .kv_heads = heads,
                        .head_dim = 128,
                        .ffn = heads * 512,
                        .vocab = (int32_t)pick(r, 100, 50000),
                        .gated = pick(r, 0, 1),
                        .tied = pick(r, 0, 1),
                        .norm_size = 1,
                        .positions = pick(r, 0, 1) ? 2048 : 0,
                        .window = pick(r, 0, 1) ? 512 : 0,
                        .window_every = (int32_t)pick(r, 1, 2)};
    if (pick(r, 0, 2) == 0)
        t.experts = (th_experts){
            .n = 8, .top_k = 2, .ffn = heads * 128, .dense_layers = (int32_t)pick(r, 0, 1)};
    return t;
}

#endif
