/* SPDX-License-Identifier: GPL-3.0-or-later */
/* together.c - a program that is a single collective, with one step, as the run event by event:
 * where the tuner has simulated just that, its result is taken over; where all messages start at
 * once, the network can tell from all of them when they end (th_network_type.together). Observers
 * see every event, so with them it runs event by event. */
#include <config.h>

#include "base/alloc.h"
#include "sim/machine/machine_state.h"

enum { MESSAGES_MIN = 1 << 12 }; /* fewer take no time */

/* Nothing has happened yet, and nothing but the collective will. */
static bool is_alone(const th_machine *m)
{
    const th_program *p = m->program;
    th_time next;
    uint32_t priority;
    return p->n_tasks == 1 && p->tasks[0].kind == TH_TASK_COLLECTIVE && m->tasks.ready.n == 1 &&
           m->now == 0 && m->counts.events == 0 && !m->observers && m->layers.n == 0 &&
           m->properties.n_events == 0 && m->watches_change == TH_TIME_MAX &&
           !th_events_next(m->events, &next, &priority);
}

static int end_all(th_machine *m, const th_message *message, int32_t n, th_time end, th_error *err)
{
    int32_t task = th_ready_queue_take(&m->tasks.ready);
    th_machine_task_starts(m, task, m->tasks.times[task].cause);
    for (int32_t i = 0; i < n; i++)
        th_machine_count_bytes(m, &message[i]);
    m->counts.events += 2 * (int64_t)n;
    m->now = end;
    return th_machine_task_ends(m, task, err);
}

/* The run is the tuner's, which has ended: takes its network and sums. No state is of a task that
 * still runs, and both networks began as they are after reset. */
static int take_over(th_machine *m, th_time limit, th_time *end, th_error *err)
{
    th_machine *x = m->tuned.machine;
    *end = x->now;
    if (*end > limit)
        return 1;
    th_network *network = m->network;
    th_events *events = m->events;
    m->network = x->network;
    m->events = x->events;
    x->network = network;
    x->events = events;
    for (int a = 0; a < m->system->n_accels; a++)
        m->accels[a].sum = x->accels[a].sum;
    m->counts.moved_bytes = x->counts.moved_bytes;
    m->counts.events += x->counts.events - 2; /* without start and end of the task */
    int failed = end_all(m, NULL, 0, x->last_end, err);
    m->now = *end;
    th_machine_drop_tuned(m);
    return failed ? -1 : 1;
}

int th_machine_run_together(th_machine *m, th_time limit, th_time *end, th_error *err)
{
    th_message *message;
    if (!m->program || !is_alone(m))
        return 0;
    const int32_t number = m->program->tasks[0].collective;
    if (th_machine_is_tuned(m, th_replay_collective(m->replay, number)))
        return take_over(m, limit, end, err);
    if (!m->network->type->together || m->any_shared)
        return 0;
    int32_t n = th_replay_at_once(m->replay, number, &message);
    int told =
        n >= MESSAGES_MIN ? m->network->type->together(m->network, message, n, limit, end) : 0;
    if (told < 0)
        th_error_no_memory(err);
    else if (told > 0 && *end <= limit)
        told = end_all(m, message, n, *end, err) ? -1 : 1;
    th_free(message);
    return told;
}
