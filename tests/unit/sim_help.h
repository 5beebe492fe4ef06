/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sim_help.h - what the tests of the simulator share: random integers, shards, systems from text.
 */
#ifndef TH_TESTS_UNIT_SIM_HELP_H
#define TH_TESTS_UNIT_SIM_HELP_H
#include <stdio.h>
#include <stdlib.h>
#include "base/random.h"
#include "sim/pipeline/schedule.h"
#include "topology/files/system_read.h"

/* Uniform in [lo, hi]. */
static inline int64_t pick(gsl_rng *r, int64_t lo, int64_t hi)
{
    return lo + (int64_t)th_random_below(r, (uint64_t)(hi - lo + 1));
}

/* 2-byte elements, stride 1, no padding, one group; the caller changes what it wants. */
static inline th_shard conv_shard(int b, int k, int c, int h, int w, int kernel)
{
    return (th_shard){.kind = TH_LAYER_CONV,
                      .dim = {b, k, c, h, w, kernel, kernel},
                      .groups = 1,
                      .in_h = h + kernel - 1,
                      .in_w = w + kernel - 1,
                      .stride_h = 1,
                      .stride_w = 1,
                      .dilation_h = 1,
                      .dilation_w = 1,
                      .precision = {TH_FP16, TH_FP16, TH_FP16},
                      .density_ppm = {1000000, 1000000, 1000000},
                      .up_h = 1,
                      .up_w = 1,
                      .n_operands = 1};
}

/* The system of a text that must be right. */
static inline th_system *system_of(const char *text)
{
    th_error e = {"", ""};
    th_system *s = th_system_read_text(text, "test", &e);
    if (!s) {
        printf("Bail out! %s %s\n", e.id, e.text);
        exit(1);
    }
    return s;
}

/* A system that is shipped. */
static inline th_system *shipped_system(const char *name)
{
    char path[4096];
    th_error e = {"", ""};
    const char *top = getenv("srcdir");
    snprintf(path, sizeof path, "%s/topology/systems/%s.cfg", top ? top : ".", name);
    th_system *s = th_system_read(path, &e);
    if (!s) {
        printf("Bail out! %s %s\n", e.id, e.text);
        exit(1);
    }
    return s;
}

#endif
