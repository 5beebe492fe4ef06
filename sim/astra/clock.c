/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.c - events of one time happen in the order in which they were scheduled. A rank schedules
 * its calls of one time as one event, at the place of the first of them; a call that schedules
 * another for the same time adds it to the same event. */
#include <config.h>
#include "sim/astra/trace_replay_state.h"

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
    return th_pool_at(&s->buckets, i, sizeof(th_bucket));
}

/* The rank's bucket of this time, made where there is none; -1: memory is out. */
static int32_t bucket_of(th_replay_state *s, int32_t rank, int64_t delay_ns)
{
    int64_t at_ns = th_astra_add(s->now_ns, delay_ns);
    for (int32_t i = s->ranks[rank].buckets; i >= 0; i = bucket_at(s, i)->next)
        if (bucket_at(s, i)->at_ns == at_ns)
            return i;
    int32_t fresh = th_pool_take(&s->buckets, sizeof(th_bucket));
    if (fresh < 0)
        return -1;
    *bucket_at(s, fresh) = (th_bucket){s->ranks[rank].buckets, rank, -1, -1, at_ns};
    s->ranks[rank].buckets = fresh;
    th_at(s, delay_ns, TH_AT_CALLS, fresh);
    return fresh;
}

void th_call_after(th_replay_state *s, int32_t rank, int64_t delay_ns, th_call_kind kind,
                   int32_t index)
{
    int32_t bucket = bucket_of(s, rank, delay_ns);
    int32_t call = th_pool_take(&s->calls, sizeof(th_pending_call));
    if (bucket < 0 || call < 0) {
        s->failed = true;
        return;
    }
    *(th_pending_call *)th_pool_at(&s->calls, call, sizeof(th_pending_call)) =
        (th_pending_call){-1, (int32_t)kind, index};
    th_bucket *b = bucket_at(s, bucket);
    if (b->last < 0)
        b->first = call;
    else
        ((th_pending_call *)th_pool_at(&s->calls, b->last, sizeof(th_pending_call)))->next = call;
    b->last = call;
}

static void call(th_replay_state *s, int32_t rank, const th_pending_call *c)
{
    switch ((th_call_kind)c->kind) {
    case TH_CALL_NODE:
    case TH_CALL_COLLECTIVE:
        th_units_done(s, rank, c->index);
        break;
    case TH_CALL_BUNDLE:
        th_algorithm_bundle(s, c->index);
        break;
    case TH_CALL_MEMORY:
        th_units_memory_free(s, rank, c->index);
        break;
    }
}

void th_clock_calls(th_replay_state *s, int32_t bucket)
{
    int32_t rank = bucket_at(s, bucket)->rank, first;
    while (!s->failed && (first = bucket_at(s, bucket)->first) >= 0) {
        th_pending_call c =
            *(th_pending_call *)th_pool_at(&s->calls, first, sizeof(th_pending_call));
        bucket_at(s, bucket)->first = c.next;
        if (c.next < 0)
            bucket_at(s, bucket)->last = -1;
        th_pool_give(&s->calls, first, sizeof(th_pending_call));
        call(s, rank, &c);
    }
    int32_t *link = &s->ranks[rank].buckets;
    while (*link != bucket)
        link = &bucket_at(s, *link)->next;
    *link = bucket_at(s, bucket)->next;
    th_pool_give(&s->buckets, bucket, sizeof(th_bucket));
}
