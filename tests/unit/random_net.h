/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random_net.h - small random workloads of every kind of layer, half of them with equal extents
 * (images, channels, rows), and random mappings of them. */
#ifndef TH_TESTS_UNIT_RANDOM_NET_H
#define TH_TESTS_UNIT_RANDOM_NET_H
#include "tests/unit/map_help.h"

enum {
    RANDOM_LAYERS_MAX = 6,
    RANDOM_EXTENT_MAX = 7,
    RANDOM_CHANNELS_MAX = 8,
    RANDOM_BATCH_MAX = 4,
    RANDOM_INPUTS_MAX = 4,
    RANDOM_ACCELS_MAX = 8
};

/* Channels, rows, columns and precision of a tensor (a layer's output, or TH_EXTERNAL_INPUT). */
typedef struct {
    int32_t c, h, w;
    th_precision precision;
} random_shape;
random_shape shape_of_tensor(const th_workload *w, int tensor);

th_workload *random_workload(gsl_rng *r);
th_stream random_stream(gsl_rng *r, const th_workload *w);
/* NULL when some layer fits nowhere. smallest_batch: images of the smallest micro-batch. */
th_mapping *random_mapping(gsl_rng *r, const th_system *s, const th_workload *w,
                           int32_t smallest_batch);

#define RANDOM_TOPOLOGY(TEXT)                                                                      \
    "name = \"t\"; " MAP_HELP_ACCEL("1GiB") "topology = { " TEXT                                   \
                                            " bandwidth = \"8Gbps\"; latency = \"100ns\"; };"

/* -1 where it does not fit. */
th_time makespan_of(const th_problem *p, const th_mapping *m);

#endif
