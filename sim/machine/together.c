/* SPDX-License-Identifier: GPL-3.0-or-later */
/* together.c - a program that is a single collective whose messages all start at once, on a network
 * that can tell from all of them when they end (th_network_type.together): as the run event by
 * event, with one step. Observers see every event, so with them it runs event by event. */
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
           !m->any_shared && m->watches_change == TH_TIME_MAX &&
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

int th_machine_run_together(th_machine *m, th_time limit, th_time *end, th_error *err)
{
    th_message *message;
    if (!m->network->type->together || !m->program || !is_alone(m))
        return 0;
    int32_t n = th_replay_at_once(m->replay, m->program->tasks[0].collective, &message);
    int told =
        n >= MESSAGES_MIN ? m->network->type->together(m->network, message, n, limit, end) : 0;
    if (told < 0)
        th_error_no_memory(err);
    else if (told > 0 && *end <= limit)
        told = end_all(m, message, n, *end, err) ? -1 : 1;
    th_free(message);
    return told;
}
