/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_inspect.c - the state of the tiles at p->now, for observers. Changes nothing. */
#include <config.h>

#include "sim/pipeline/pipeline.h"
#include "sim/pipeline/pipeline_requests.h"

const char *th_array_state_name(int32_t state)
{
    static const char *const names[] = {
        [TH_ARRAY_IDLE] = "idle",
        [TH_ARRAY_COMPUTES] = "computing",
        [TH_ARRAY_STALLS_INPUT] = "stalled_input",
        [TH_ARRAY_STALLS_WEIGHT] = "stalled_weight",
        [TH_ARRAY_STALLS_PARTIAL] = "stalled_partial",
        [TH_ARRAY_STALLS_OUTPUT] = "stalled_output",
    };
    return names[state];
}

/* Steps whose operands are all in, and that have not computed. */
static int64_t steps_loaded(const th_pipeline *p)
{
    int64_t least = p->engine[TH_ENGINE_INPUT].n_done;
    if (p->engine[TH_ENGINE_WEIGHT].n_done < least)
        least = p->engine[TH_ENGINE_WEIGHT].n_done;
    if (p->loops.reads_partials && p->engine[TH_ENGINE_PARTIAL].n_done < least)
        least = p->engine[TH_ENGINE_PARTIAL].n_done;
    return least - p->steps_done;
}

static th_array_state array_state(const th_pipeline *p, const th_schedule *s)
{
    if (p->compute_end != TH_TIME_MAX)
        return TH_ARRAY_COMPUTES;
    if (is_past_end(p->index, p, s))
        return TH_ARRAY_STALLS_OUTPUT;
    return (th_array_state)(TH_ARRAY_STALLS_INPUT + (int)missing_operand(p));
}

th_tiles th_pipeline_tiles(const th_pipeline *p, const th_schedule *s)
{
    if (p->done)
        return (th_tiles){.done = p->steps_done};
    int64_t in = steps_loaded(p), out = p->tiles_done - p->engine[TH_ENGINE_OUTPUT].n_done;
    return (th_tiles){.done = p->steps_done,
                      .fill = (int32_t)(in + out),
                      .is_full = in >= s->slots_in || out >= s->slots_out,
                      .array = (int32_t)array_state(p, s),
                      .moving = p->moving};
}
