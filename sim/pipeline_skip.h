/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_skip.h - jumping whole periods of a tile pipeline that has reached a steady state. */
#ifndef TH_SIM_PIPELINE_SKIP_H
#define TH_SIM_PIPELINE_SKIP_H
#include "sim/pipeline.h"

/* The state at the last time that each loop moved on; lives as long as rates from outside are
 * constant. */
typedef struct th_pipeline_skip {
    bool known[TH_N_LOOPS];
    th_pipeline at[TH_N_LOOPS];
} th_pipeline_skip;

void th_pipeline_skip_init(th_pipeline_skip *k);

/* To be called when a step has just computed and all that follows at this instant has been done. If
 * the state recurs since the loop that moved last moved before, jumps as many whole periods as end
 * by limit. */
void th_pipeline_try_skip(th_pipeline_skip *k, th_pipeline *p, const th_schedule *s,
                          const th_port *port, th_time limit);

#endif
