/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_stats.c - sums over the statistics of a tile pipeline. */
#include <config.h>

#include "sim/pipeline/pipeline.h"

th_time th_stats_stall_in(const th_pipeline_stats *s)
{
    return s->stall_ps[TH_ENGINE_INPUT] + s->stall_ps[TH_ENGINE_WEIGHT] +
           s->stall_ps[TH_ENGINE_PARTIAL];
}

th_time th_stats_occupied(const th_pipeline_stats *s)
{
    return s->busy_ps + th_stats_stall_in(s) + s->stall_ps[TH_ENGINE_OUTPUT];
}

int64_t th_stats_read(const th_pipeline_stats *s)
{
    return s->moved_bytes[TH_ENGINE_INPUT] + s->moved_bytes[TH_ENGINE_WEIGHT] +
           s->moved_bytes[TH_ENGINE_PARTIAL];
}

void th_stats_add(th_pipeline_stats *sum, const th_pipeline_stats *s)
{
    sum->busy_ps += s->busy_ps;
    for (int e = 0; e < TH_N_ENGINES; e++) {
        sum->stall_ps[e] += s->stall_ps[e];
        sum->moved_bytes[e] += s->moved_bytes[e];
    }
}
