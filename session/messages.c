/* SPDX-License-Identifier: GPL-3.0-or-later */
/* messages.c - see messages.h. */
#include <config.h>
#include "session/messages.h"
#include "base/alloc.h"
#include "session/property_events.h"

typedef struct recorder {
    th_observer observer; /* first: notify functions cast it */
    th_sent_messages *out;
    int32_t n_tasks;
    int32_t *in_flight; /* by flow - n_tasks: its message */
    size_t n_flows;     /* room there */
    bool failed;        /* memory is out, or there are more than INT32_MAX */
} recorder;

static bool add(th_sent_messages *x, th_sent_message m)
{
    if (x->n == INT32_MAX || th_grow(&x->all, &x->capacity, x->n + 1, sizeof *x->all) != 0)
        return false;
    x->all[x->n++] = m;
    return true;
}

static void message_start(th_observer *o, th_time now, int32_t task, int32_t flow,
                          const th_message *m)
{
    recorder *r = (recorder *)o;
    size_t slot = (size_t)(flow - r->n_tasks);
    r->failed |= th_grow(&r->in_flight, &r->n_flows, slot + 1, sizeof *r->in_flight) != 0 ||
                 !add(r->out, (th_sent_message){task, m->src, m->dst, m->bytes, now, -1});
    if (!r->failed)
        r->in_flight[slot] = (int32_t)r->out->n - 1;
    o->stops_run = r->failed;
}

static void message_end(th_observer *o, th_time now, int32_t flow, const th_message *m)
{
    recorder *r = (recorder *)o;
    (void)m;
    if (!r->failed)
        r->out->all[r->in_flight[flow - r->n_tasks]].end_ps = now;
}

static int add_transfers(const th_simulation *sim, th_sent_messages *out)
{
    const th_task_result *times = th_machine_times(sim->machine);
    for (int32_t i = 0; i < sim->program->n_tasks; i++) {
        const th_task *t = &sim->program->tasks[i];
        if (t->kind == TH_TASK_TRANSFER && times[i].start_ps >= 0 &&
            !add(out, (th_sent_message){i, t->node, t->peer, t->bytes, times[i].start_ps,
                                        times[i].end_ps}))
            return -1;
    }
    return 0;
}

/* 0 or -1. */
static int add_collectives(th_session *s, th_sent_messages *out, th_error *err)
{
    static const th_observer_type type = {.message_start = message_start,
                                          .message_end = message_end};
    recorder r = {.observer.type = &type, .out = out, .n_tasks = s->simulation->program->n_tasks};
    th_simulation *again = th_session_new_simulation(s, &s->simulation->options, err);
    int failed = !again || th_machine_observe(again->machine, &r.observer, err) != 0 ||
                 th_property_events_catch_up(s, again, err) != 0;
    if (r.failed)
        failed = th_error_no_memory(err);
    th_simulation_free(again);
    th_free(r.in_flight);
    return failed ? -1 : 0;
}

const th_sent_messages *th_session_messages(th_session *s, th_error *err)
{
    static const th_sent_messages none = {NULL, 0, 0};
    if (!s->simulation || !s->simulation->has_begun)
        return &none;
    if (s->simulation->messages)
        return s->simulation->messages;
    th_sent_messages *x = th_alloc_zero(1, sizeof *x);
    int failed = !x || add_transfers(s->simulation, x) != 0 ? th_error_no_memory(err) : 0;
    if (!failed && s->simulation->program->n_collectives > 0)
        failed = add_collectives(s, x, err);
    if (!failed)
        return s->simulation->messages = x;
    if (x)
        th_free(x->all);
    th_free(x);
    return NULL;
}
