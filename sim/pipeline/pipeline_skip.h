/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_skip.h - jumping whole periods of a tile pipeline that has reached a steady state. */
#ifndef TH_SIM_PIPELINE_PIPELINE_SKIP_H
#define TH_SIM_PIPELINE_PIPELINE_SKIP_H
#include "sim/pipeline/pipeline.h"

/* Two states of earlier moves of one loop. The newest finds periods of one move at once, the anchor
 * longer ones: it stays for gap moves, and every next one for twice as many. They may be one. */
typedef struct th_pipeline_seen {
    bool known;
    int newest, anchor; /* in state */
    int32_t gap;
    th_pipeline state[2];
} th_pipeline_seen;

/* Lives as long as rates from outside are constant. */
typedef struct th_pipeline_skip {
    th_pipeline_seen of[TH_N_LOOPS];
} th_pipeline_skip;

void th_pipeline_skip_init(th_pipeline_skip *k);

/* To be called when a step has just computed and all that follows at this instant has been done. If
 * the state is that of an earlier move of the loop that moved last, jumps as many whole periods as
 * end by limit. */
void th_pipeline_try_skip(th_pipeline_skip *k, th_pipeline *p, const th_schedule *s,
                          const th_port *port, th_time limit);

#endif
