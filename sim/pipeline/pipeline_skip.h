/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_skip.h - skips whole periods of a tile pipeline in a steady state. */
#ifndef TH_SIM_PIPELINE_PIPELINE_SKIP_H
#define TH_SIM_PIPELINE_PIPELINE_SKIP_H
#include "sim/pipeline/pipeline_state.h"
#include "sim/pipeline/port.h"

/* Two states at earlier advances of one loop. The newest finds periods of one advance, the anchor
 * longer ones: it stays for gap advances, and each next one for twice as many. They may be one. */
typedef struct th_pipeline_states {
    bool known;         /* any state is kept */
    int newest, anchor; /* in state */
    int32_t gap;
    th_pipeline state[2];
} th_pipeline_states;

/* Valid while the DRAM demand is constant. */
typedef struct th_pipeline_skip {
    th_pipeline_states of[TH_N_LOOPS];
} th_pipeline_skip;

void th_pipeline_skip_init(th_pipeline_skip *k);

/* To be called after a step has computed and all events of this time are handled. If the state is
 * one at an earlier advance of the same loop, skips as many whole periods as end by limit. */
void th_pipeline_try_skip(th_pipeline_skip *k, th_pipeline *p, const th_schedule *s,
                          const th_port *port, th_time limit);

#endif
