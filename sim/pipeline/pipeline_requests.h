/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline_requests.h - private to pipeline.c, inlined for speed: the loops of a schedule, and the
 * bytes of each request. */
#ifndef TH_SIM_PIPELINE_PIPELINE_REQUESTS_H
#define TH_SIM_PIPELINE_PIPELINE_REQUESTS_H
#include "base/integer.h"
#include "sim/pipeline/pipeline_state.h"

/* The next iteration, innermost fastest; returns the outermost loop that advanced. Without C: the
 * next tile, where C is the innermost loop. */
static inline int32_t advance_index(int32_t *index, const th_pipeline *p, const th_schedule *s,
                                    bool without_c)
{
    int place = without_c ? TH_N_LOOPS - 2 : TH_N_LOOPS - 1;
    while (place > 0 && index[p->loops.order[place]] == s->count[p->loops.order[place]] - 1)
        index[p->loops.order[place--]] = 0;
    index[p->loops.order[place]]++;
    return p->loops.order[place];
}

/* Has an index run through all its iterations? */
static inline bool is_past_end(const int32_t *index, const th_pipeline *p, const th_schedule *s)
{
    return index[p->loops.order[0]] == s->count[p->loops.order[0]];
}

static inline unsigned last_mask(const int32_t *index, const th_schedule *s)
{
    unsigned mask = 0;
    for (int loop = TH_LOOP_H; loop <= TH_LOOP_C; loop++)
        mask |= (unsigned)(index[loop] == s->count[loop] - 1) << (loop - TH_LOOP_H);
    return mask;
}

static inline bool stays_on_chip(const int32_t *index, unsigned stays)
{
    unsigned begun = 0;
    for (int loop = 0; loop < TH_N_LOOPS; loop++)
        begun |= (unsigned)(index[loop] != 0) << loop;
    return (begun & stays) != 0;
}

/* Bytes of the partial sums that a step reads back: of the visit before it, or of another task. */
static inline int64_t partial_request(const th_pipeline *p, const th_schedule *s,
                                      const int32_t *index, unsigned tile)
{
    if (index[TH_LOOP_C] == 0)
        return s->reads_sums ? s->output_bytes[tile] : 0;
    return p->loops.spills ? s->partial_bytes[tile] : 0;
}

static inline int64_t request_bytes(const th_pipeline *p, const th_schedule *s, int e,
                                    const int32_t *index)
{
    unsigned mask = last_mask(index, s), tile = mask & (TH_N_STORE_KINDS - 1);
    switch ((th_engine_kind)e) {
    case TH_ENGINE_INPUT:
        if (stays_on_chip(index, s->input_stays))
            return 0;
        return s->step[mask].input_bytes + (index[TH_LOOP_H] == 0 ? s->first_row_extra_bytes : 0);
    case TH_ENGINE_WEIGHT:
        return stays_on_chip(index, s->weight_stays) ? 0 : s->step[mask].weight_bytes;
    case TH_ENGINE_PARTIAL:
        return partial_request(p, s, index, tile);
    case TH_ENGINE_OUTPUT:
        if (p->loops.revisits && !(mask & TH_LAST_C))
            return p->loops.spills ? s->partial_bytes[tile] : 0;
        return s->output_bytes[tile];
    case TH_N_ENGINES:
        break;
    }
    return 0;
}

/* The first operand of the next step that is not loaded; TH_ENGINE_OUTPUT: all are. */
static inline th_engine_kind missing_operand(const th_pipeline *p)
{
    unsigned missing = 1u << TH_ENGINE_OUTPUT;
    missing |= (unsigned)(p->engine[TH_ENGINE_INPUT].n_done <= p->steps_done) << TH_ENGINE_INPUT;
    missing |= (unsigned)(p->engine[TH_ENGINE_WEIGHT].n_done <= p->steps_done) << TH_ENGINE_WEIGHT;
    missing |=
        (unsigned)(p->loops.reads_partials & (p->engine[TH_ENGINE_PARTIAL].n_done <= p->steps_done))
        << TH_ENGINE_PARTIAL;
    return (th_engine_kind)__builtin_ctz(missing);
}

/* n modulo slots; most designs have two, and division is slow. */
static inline int slot_of(int64_t n, int32_t slots)
{
    return (int)(slots == 2 ? n & 1 : n % slots);
}

static inline int64_t round_up(int64_t bytes, int64_t burst)
{
    return burst <= 1 ? bytes : th_ceil_div(bytes, burst) * burst;
}

/* Bytes moved by a request of contiguous runs, each rounded up to whole bursts. */
static inline int64_t bytes_in_bursts(int64_t bytes, int64_t run, int64_t burst)
{
    if (run <= 0 || run >= bytes)
        return round_up(bytes, burst);
    return bytes / run * round_up(run, burst) + round_up(bytes % run, burst);
}

#endif
