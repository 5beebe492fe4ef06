/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective_shapes.h - collectives over all accelerators of generated systems, and how long one
 * takes. */
#ifndef TH_TESTS_UNIT_COLLECTIVE_SHAPES_H
#define TH_TESTS_UNIT_COLLECTIVE_SHAPES_H
#include "sim/collective/collective.h"
#include "tests/unit/collective_time.h"
#include "tests/unit/generated.h"

/* Of all accelerators, in order. */
static inline th_collective collective(const th_system *s, int kind, const char *algorithm,
                                       int64_t bytes)
{
    return (th_collective){.kind = kind,
                           .algorithm = th_algorithm_find(algorithm),
                           .rank_node = s->accel_node,
                           .n_ranks = s->n_accels,
                           .bytes = bytes,
                           .chunks = 1};
}

#endif
