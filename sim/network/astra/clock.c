/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.c - events of one time happen in the order in which they were scheduled. A rank schedules
 * its calls of one time as one event, at the place of the first of them; a call that schedules
 * another for the same time adds it to the same event. */
#include <config.h>
#include "sim/network/astra/trace_replay_state.h"

#include "sim/network/astra/astra_message.h"

void th_at(th_replay_state *s, int64_t delay_ns, th_at_kind kind, int32_t index)
{
    th_event e = {.time = th_astra_add(s->now_ns, delay_ns),
                  .object = (uint32_t)(s->n_scheduled >> 32),
                  .sequence = (uint32_t)s->n_scheduled,
                  .argument = (uint32_t)kind << TH_AT_KIND_SHIFT | (uint32_t)index};
    s->n_scheduled++;
    if (th_events_push(s->events, &e) == TH_NO_EVENT)
        s->failed = true;
}

static th_bucket *bucket_at(const th_replay_state *s, int32_t i)
{
    return th_pool_at(&s->buckets, i);
}

/* The rank's bucket of this time, made where there is none; -1: memory is out. */
static int32_t bucket_of(th_replay_state *s, int32_t rank, int64_t delay_ns)
{
    th_fifo *mine = &s->ranks[rank].buckets;
    th_bucket fresh = {.rank = rank, .at_ns = th_astra_add(s->now_ns, delay_ns)};
    for (int32_t i = mine->first - 1; i >= 0; i = bucket_at(s, i)->next - 1)
        if (bucket_at(s, i)->at_ns == fresh.at_ns)
            return i;
    int32_t made = th_replay_add(s, &s->buckets, &fresh);
    if (made < 0)
        return -1;
    th_fifo_push(mine, &s->buckets, made);
    th_at(s, delay_ns, TH_AT_CALLS, made);
    return made;
}

void th_call_after(th_replay_state *s, int32_t rank, int64_t delay_ns, th_call_kind kind,
                   int32_t index)
{
    int32_t bucket = bucket_of(s, rank, delay_ns);
    if (bucket >= 0)
        th_replay_push(s, &bucket_at(s, bucket)->calls, &s->calls,
                       &(th_pending_call){0, (int32_t)kind, index});
}

static void call(th_replay_state *s, int32_t rank, const th_pending_call *c)
{
    switch ((th_call_kind)c->kind) {
    case TH_CALL_NODE:
        th_units_done(s, rank, c->index);
        break;
    case TH_CALL_BUNDLE:
        th_algorithm_bundle(s, c->index);
        break;
    case TH_CALL_CHUNK:
        th_chunks_next_phase(s, c->index);
        break;
    case TH_CALL_MEMORY:
        th_units_memory_free(s, rank);
        break;
    }
}

void th_clock_calls(th_replay_state *s, int32_t bucket)
{
    int32_t rank = bucket_at(s, bucket)->rank;
    th_pending_call c;
    while (!s->failed && th_fifo_take(&bucket_at(s, bucket)->calls, &s->calls, &c))
        call(s, rank, &c);
    th_fifo_remove(&s->ranks[rank].buckets, &s->buckets, bucket);
    th_pool_give(&s->buckets, bucket);
}
