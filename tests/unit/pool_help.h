/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool_help.h - what tests of those who read or evaluate many mappings share: the mappings, and a
 * small problem. */
#ifndef TH_TESTS_UNIT_POOL_HELP_H
#define TH_TESTS_UNIT_POOL_HELP_H
#include "base/alloc.h"
#include "mapper/strategies.h"
#include "tests/unit/map_help.h"

/* Layers go to sets at random, and are cut and copied there at random. */
static inline void choose_at_random(th_mapping *m, gsl_rng *r, const th_workload *w)
{
    for (int l = 0; l < w->n_layers; l++) {
        th_strategy *list;
        m->set_of[l] = (int32_t)pick(r, 0, m->n_sets - 1);
        int n = th_strategies_list_copied(&w->layers[l], 1, m->sets[m->set_of[l]].n_accels, true,
                                          &list);
        m->strategy[l] = list[pick(r, 0, n - 1)];
        th_free(list);
    }
}

static inline th_mapping *random_mapping_on(gsl_rng *r, const char *sets, const th_workload *w)
{
    th_mapping *m = mapping_on(sets, w);
    choose_at_random(m, r, w);
    return m;
}

static inline th_system *ring_of_four(void)
{
    return system_of(
        "name = \"t\"; " MAP_HELP_ACCEL("1GiB") "topology = { type = \"ring\"; dims = [4]; "
                                                "bandwidth = \"8Gbps\"; latency = \"100ns\"; };");
}

/* A convolution, another one behind it, and the sum of both. */
static inline th_workload *three_layers(void)
{
    return workload_of(
        "name = \"n\"; batch = 1; input = { channels = 6; height = 10; width = 10; }; layers = ( "
        "{ name = \"a\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; },"
        "{ name = \"b\"; type = \"conv\"; outputs = 8; kernel = 3; padding = 1; },"
        "{ name = \"s\"; type = \"add\"; inputs = [\"a\", \"b\"]; } );");
}

#endif
