/* SPDX-License-Identifier: GPL-3.0-or-later */
/* generated.h - systems of all shapes. */
#ifndef TH_TESTS_UNIT_GENERATED_H
#define TH_TESTS_UNIT_GENERATED_H
#include "tests/unit/sim_help.h"
#include "tests/unit/tap.h"
#include "topology/generate/generate.h"

static const int64_t gbps = 1000000000;

/* Links of 80 Gb/s (10 bytes per ns) and 500 ns, of two directions or of one for both. */
static inline th_system *generated_with(const char *type, const int *dims, int n_dims,
                                        bool half_duplex)
{
    th_error e = {"", ""};
    th_system *prototype = shipped_system("npu_v1");
    th_topology_options o = {.n_dims = n_dims, .half_duplex = half_duplex};
    for (int i = 0; i < n_dims; i++) {
        o.dims[i] = dims[i];
        o.bits_per_s[i] = 80 * gbps;
        o.latency_ps[i] = 500000;
    }
    th_system *s = th_topology_create("test", th_topology_find(type), &o, prototype, &e);
    th_system_free(prototype);
    if (!s) {
        printf("Bail out! %s %s\n", e.id, e.text);
        exit(1);
    }
    return s;
}

static inline th_system *generated(const char *type, const int *dims, int n_dims)
{
    return generated_with(type, dims, n_dims, false);
}

static inline th_system *of_size(const char *type, int n)
{
    return generated(type, &n, 1);
}

#endif
