/* SPDX-License-Identifier: GPL-3.0-or-later */
/* finalists.c - simulates the schedules that are best by estimate, and takes the fastest. */
#include <config.h>

#include "sim/design/finalists.h"

#include "sim/pipeline/pipeline.h"

enum { RUN_STEPS_MAX = 60000 };

static th_time run(const th_schedule *s, const th_port *memory)
{
    th_pipeline p;
    th_pipeline_start(&p, s, memory, &(th_pipeline_options){.skip = true});
    return th_pipeline_finish(&p, s, memory);
}

int th_fastest_schedule(const th_schedule *s, int n, const th_port *memory)
{
    th_time least = TH_TIME_MAX;
    int64_t steps = 0;
    int best = 0;
    for (int i = 0; i < n && n > 1; i++) {
        int64_t own = th_schedule_sum(&s[i]).n_steps;
        if (own > RUN_STEPS_MAX - steps)
            continue;
        steps += own;
        th_time took = run(&s[i], memory);
        if (took < least) {
            least = took;
            best = i;
        }
    }
    return best;
}
