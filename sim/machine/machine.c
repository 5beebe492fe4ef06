/* SPDX-License-Identifier: GPL-3.0-or-later */
/* machine.c - the replay of a program, event by event.
 *
 *   new -> (load | resume) -> (run_until | step)* -> result
 *   inside: act = { an event of the current time before READY | a message of a collective | a ready
 *                   task | the start of an accelerator or host | an event of the current time from
 *                   START on | settle, then advance to the next event time }
 *
 * Within a time step, events are processed in the order of th_priority. settle runs when no event
 * of this time is left, so that rates and the ends of collapsed tasks take all of them into
 * account. Ready tasks, and accelerators that may start, are taken lowest number first, so no
 * result depends on the order of insertion. Invariant: a task is in exactly one state: waiting[t] >
 * 0, in ready, in the queue of an accelerator, running, or ended. */
#include <config.h>

#include "sim/machine/machine.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/machine/machine_state.h"
#include "sim/network/stripes.h"

/* --- life ------------------------------------------------------------------------------------- */

th_machine *th_machine_new(const th_system *s, const th_compute_cost_cache *w,
                           const th_machine_options *o, th_error *err)
{
    th_machine *m = th_alloc_zero(1, sizeof *m);
    if (!m)
        goto fail;
    m->system = s;
    m->costs = w;
    m->options = o ? *o : (th_machine_options){0};
    if (!m->options.network)
        m->options.network = th_network_types[0];
    const size_t accels = (size_t)s->n_accels + 1;
    m->events = th_events_new();
    m->watches_change = TH_TIME_MAX;
    m->accels = th_memory_take(&m->memory, accels, sizeof *m->accels);
    m->pipelines = th_memory_take(&m->memory, accels, sizeof *m->pipelines);
    m->settle.started = th_memory_take(&m->memory, accels, sizeof *m->settle.started);
    m->settle.stale = th_memory_take(&m->memory, accels, sizeof *m->settle.stale);
    m->completions = m->options.completions ? m->options.completions
                                            : th_completion_cache_new(TH_COMPLETION_CACHE_MAX);
    m->hosts = th_memory_take(&m->memory, (size_t)s->n_hosts + 1, sizeof *m->hosts);
    if (!m->options.choices && !(m->choices = th_collective_choices_new()))
        goto fail;
    const th_tuner_context tuner = th_machine_tuner_context(m);
    m->replay = th_replay_new(&tuner);
    m->network = m->options.network->create(s, &m->options.network_options, err);
    if (!m->network) { /* err is set */
        th_machine_free(m);
        return NULL;
    }
    if (m->memory.is_out || !m->events || !m->completions || !m->replay)
        goto fail;
    for (int a = 0; a < s->n_accels; a++) {
        m->any_shared |= m->network->is_shared[a];
        m->accels[a].pipeline = &m->pipelines[a];
    }
    return m;
fail:
    th_error_no_memory(err);
    th_machine_free(m);
    return NULL;
}

static void free_accels(th_machine *m)
{
    for (int a = 0; m->accels && a < m->system->n_accels; a++) {
        th_ready_queue_clear(&m->accels[a].ready);
        th_free(m->accels[a].history.change);
    }
    th_ready_queue_clear(&m->startable_accels);
}

static void free_tasks(th_machine_tasks *t)
{
    th_free(t->waiting);
    th_free(t->times);
    th_free(t->fault_times);
    th_free(t->input_end);
    th_ready_queue_clear(&t->ready);
}

void th_machine_free(th_machine *m)
{
    if (!m)
        return;
    free_accels(m);
    free_tasks(&m->tasks);
    th_hosts_free(m);
    if (m->network)
        m->options.network->destroy(m->network);
    th_replay_free(m->replay);
    th_machine_drop_tuned(m);
    th_collective_choices_free(m->choices);
    th_events_free(m->events);
    if (!m->options.completions)
        th_completion_cache_free(m->completions);
    th_free(m->layers.states);
    th_free(m->run_log.runs);
    th_free(m->run_log.demands);
    th_property_events_free(m);
    th_memory_free(&m->memory);
    th_free(m);
}

static void reset_accels(th_machine *m)
{
    for (int i = 0; i < m->system->n_accels; i++) {
        th_accel_state *a = &m->accels[i];
        a->mode = TH_ACCEL_IDLE;
        a->task = a->last_task = a->scaled = -1;
        a->event = TH_NO_EVENT;
        a->rates_are_stale = false;
        th_ready_queue_reset(&a->ready);
        a->observed.is_counted = false;
        a->n_beside = 0;
        a->slowdown = 0;
        a->sum = (th_accel_result){0};
    }
}

static void reset(th_machine *m)
{
    th_events_reset(m->events);
    m->options.network->reset(m->network);
    th_property_events_reset(m);
    th_machine_drop_tuned(m);
    reset_accels(m);
    th_hosts_reset(m);
    th_ready_queue_reset(&m->tasks.ready);
    th_ready_queue_reset(&m->startable_accels);
    m->settle.n_started = m->settle.n_stale = 0;
    m->settle.is_done = false;
    m->now = m->last_end = 0;
    m->counts = (th_machine_counts){0};
    m->run_log.is_on = false;
    m->run_log.n_demands = 0;
}

/* To be called when the predecessors of a task have ended; it may still wait for its release. */
static int make_ready(th_machine *m, int32_t task)
{
    const th_task *t = &m->program->tasks[task];
    if (t->release_ps > m->now) {
        th_event release = {t->release_ps, TH_PRIORITY_READY, (uint32_t)task, 0, 0};
        return th_events_push(m->events, &release) == TH_NO_EVENT ? -1 : 0;
    }
    m->tasks.times[task].ready_ps = m->now;
    return th_ready_queue_add(&m->tasks.ready, task);
}

static int load(th_machine *m, const th_program *p, th_error *err)
{
    enum {
        TASKS_BETWEEN = 1 << 20
    }; /* polls of is_interrupted; a machine that was loaded before is never left half loaded */
    bool may_stop = !m->program && m->options.is_interrupted;
    size_t n = (size_t)p->n_tasks + 1, inputs = (size_t)p->n_inputs + 1;
    if (th_grow(&m->tasks.waiting, &m->tasks.waiting_capacity, n, sizeof *m->tasks.waiting) ||
        th_grow(&m->tasks.times, &m->tasks.times_capacity, n, sizeof *m->tasks.times) ||
        th_grow(&m->tasks.input_end, &m->tasks.input_capacity, inputs, sizeof *m->tasks.input_end))
        return th_error_no_memory(err);
    reset(m);
    m->program = p;
    if (m->options.per_layer && th_layers_load(m))
        return th_error_no_memory(err);
    if (th_replay_load(m->replay, p, !m->options.network->collective, err))
        return -1;
    memcpy(m->tasks.waiting, p->n_predecessors, (size_t)p->n_tasks * sizeof *m->tasks.waiting);
    for (int32_t t = 0; t < p->n_tasks; t++) {
        if (may_stop && t % TASKS_BETWEEN == 0 && m->options.is_interrupted())
            return th_error_interrupted(err, "nothing was loaded");
        m->tasks.times[t] = (th_task_result){-1, -1, -1, -1};
    }
    for (size_t i = 0; i < inputs; i++)
        m->tasks.input_end[i] = -1;
    return 0;
}

/* Makes the tasks from number first on that have no predecessors ready. */
static int begin(th_machine *m, int32_t first, th_error *err)
{
    const th_program *p = m->program;
    for (int32_t t = first; t < p->n_tasks; t++)
        if (m->tasks.waiting[t] == 0 && make_ready(m, t))
            return th_error_no_memory(err);
    return 0;
}

int th_machine_load(th_machine *m, const th_program *p, th_error *err)
{
    TH_NOTIFY(m->observers, restart, p);
    return load(m, p, err) || th_machine_watch(m, 0, err) || begin(m, 0, err) ? -1 : 0;
}

bool th_machine_can_resume(const th_machine *m)
{
    return m->options.network->is_memoryless && !m->options.network_options.weigh_by_latency &&
           !m->any_shared && !th_compute_cost_uses_hosts(m->costs);
}

int th_machine_resume(th_machine *m, const th_program *p, const th_in_flight *f, int32_t n,
                      th_error *err)
{
    if (th_grow(&m->run_log.runs, &m->run_log.capacity, (size_t)p->n_tasks + 1,
                sizeof *m->run_log.runs))
        return th_error_no_memory(err);
    if (load(m, p, err))
        return -1;
    m->run_log.is_on = true;
    for (int32_t t = 0; t < n; t++) {
        m->tasks.times[t].ready_ps = m->tasks.times[t].start_ps = 0;
        if (th_accelerator_resume(m, t, &f[t], err))
            return -1;
    }
    return begin(m, n, err);
}

th_in_flight th_machine_in_flight_at(const th_machine *m, int32_t task, th_time t)
{
    const th_logged_run *run = &m->run_log.runs[task];
    const th_demand_change *demands = &m->run_log.demands[run->first];
    size_t n = run->n;
    while (n > 0 && run->started + demands[n - 1].at >= t)
        n--;
    return (th_in_flight){run->started - t, demands, n};
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* The accelerators beside which a task is under way. */
static void slow(th_machine *m, const th_task *t, int sign)
{
    const th_node *node = m->system->nodes;
    if (t->kind == TH_TASK_HOST && t->node < 0 && t->slowdown > 0 && t->peer >= 0 &&
        node[t->peer].accel >= 0)
        th_accelerator_slow(m, node[t->peer].accel, t->slowdown, sign);
    const th_collective *c =
        t->kind == TH_TASK_COLLECTIVE ? &m->program->collectives[t->collective] : NULL;
    for (int32_t i = 0; c && c->slowdown > 0 && i < c->n_ranks; i++)
        if (node[c->rank_node[i]].accel >= 0)
            th_accelerator_slow(m, node[c->rank_node[i]].accel, c->slowdown, sign);
}

void th_machine_task_starts(th_machine *m, int32_t task, int32_t cause)
{
    slow(m, &m->program->tasks[task], 1);
    m->tasks.times[task].start_ps = m->now;
    m->tasks.times[task].cause = cause;
    m->counts.events++;
    if (m->layers.n > 0)
        th_layers_start(m, task);
    TH_NOTIFY(m->observers, task_start, m->now, task);
}

int th_machine_task_ends(th_machine *m, int32_t task, th_error *err)
{
    const th_program *p = m->program;
    slow(m, &p->tasks[task], -1);
    m->tasks.times[task].end_ps = m->last_end = m->now;
    m->tasks.input_end[p->tasks[task].input] = m->now;
    m->counts.events++;
    m->counts.tasks_done++;
    if (m->layers.n > 0)
        th_layers_end(m, task);
    TH_NOTIFY(m->observers, task_end, m->now, task);
    for (int32_t i = p->successor_start[task]; i < p->successor_start[task + 1]; i++) {
        int32_t next = p->successors[i];
        m->tasks.times[next].cause = task;
        if (--m->tasks.waiting[next] == 0 && make_ready(m, next))
            return th_error_no_memory(err);
    }
    return 0;
}

static int end_at(th_machine *m, int32_t task, th_time at, th_error *err)
{
    th_event e = {at, TH_PRIORITY_RELEASE, (uint32_t)task, 0, 0};
    return th_events_push(m->events, &e) == TH_NO_EVENT ? th_error_no_memory(err) : 0;
}

/* As one event if the network computes its end, else message by message. */
static int start_collective(th_machine *m, int32_t task, th_error *err)
{
    const th_collective *c = &m->program->collectives[m->program->tasks[task].collective];
    const th_network_type *type = m->options.network;
    th_time end = m->now;
    int is_whole = type->collective ? type->collective(m->network, c, m->now, &end, err) : 0;
    if (is_whole < 0)
        return -1;
    if (is_whole == 0)
        return th_replay_start(m->replay, task, err);
    return end_at(m, task, end, err);
}

static int start_ready(th_machine *m, int32_t task, th_error *err)
{
    const th_task *t = &m->program->tasks[task];
    int accel;
    switch ((th_task_kind)t->kind) {
    case TH_TASK_HOST: /* without a node: a delay */
        if (t->node >= 0)
            return th_hosts_add(m, task) ? th_error_no_memory(err) : 0;
        th_machine_task_starts(m, task, m->tasks.times[task].cause);
        return end_at(m, task, th_time_add(m->now, t->delay_ps), err);
    case TH_TASK_TRANSFER:
        th_machine_task_starts(m, task, m->tasks.times[task].cause);
        if (th_network_send(m->network, m->events, m->now, task,
                            &(th_message){t->node, t->peer, t->bytes, t->delay_ps, 0}))
            return th_network_failed(m->network, err);
        return 0;
    case TH_TASK_COMPUTE:
        accel = m->system->nodes[t->node].accel;
        TH_NOTIFY(m->observers, queued, m->now, accel);
        if (th_ready_queue_add(&m->accels[accel].ready, task) ||
            (th_accelerator_is_free(&m->accels[accel]) &&
             th_ready_queue_add(&m->startable_accels, accel)))
            return th_error_no_memory(err);
        return 0;
    case TH_TASK_COLLECTIVE:
        th_machine_task_starts(m, task, m->tasks.times[task].cause);
        return start_collective(m, task, err);
    }
    return 0;
}

static void add_bytes(int64_t *sum, int64_t bytes)
{
    *sum = th_bytes_add(*sum, bytes);
}

void th_machine_count_bytes(th_machine *m, const th_message *sent)
{
    int from = m->system->nodes[sent->src].accel, to = m->system->nodes[sent->dst].accel;
    add_bytes(&m->counts.moved_bytes, sent->bytes);
    if (from >= 0)
        add_bytes(&m->accels[from].sum.sent_bytes, sent->bytes);
    if (to >= 0)
        add_bytes(&m->accels[to].sum.received_bytes, sent->bytes);
}

static int end_transfer(th_machine *m, int32_t task, th_error *err)
{
    const th_task *t = &m->program->tasks[task];
    th_machine_count_bytes(m, &(th_message){t->node, t->peer, t->bytes, 0});
    if (m->tasks.has_fault_times)
        m->tasks.fault_times[task] = m->network->fault_ps;
    return th_machine_task_ends(m, task, err);
}

/* --- collectives ------------------------------------------------------------------------------ */

/* The next message or end of a collective. */
static int replay(th_machine *m, th_error *err)
{
    th_replay_step step;
    switch (th_replay_next(m->replay, &step)) {
    case TH_REPLAY_NOTHING:
        return 0;
    case TH_REPLAY_SENDS:
        m->counts.events++;
        TH_NOTIFY(m->observers, message_start, m->now, step.task, step.flow, &step.message);
        return th_network_send(m->network, m->events, m->now, step.flow, &step.message)
                   ? th_network_failed(m->network, err)
                   : 0;
    case TH_REPLAY_WORKS:
        m->counts
            .events++; /* within a node: its event has the number of its flow, which no task has */
        return end_at(m, step.flow, th_time_add(m->now, step.work_ps), err);
    case TH_REPLAY_LOCAL:
        m->counts.events += 2;
        return 0;
    case TH_REPLAY_ENDS:
        return th_machine_task_ends(m, step.task, err);
    }
    return 0;
}

/* is_sent: by the network; else it is one within a node. */
static void end_message(th_machine *m, int32_t flow, bool is_sent)
{
    th_message arrived;
    m->counts.events++;
    th_replay_arrive(m->replay, flow, &arrived);
    if (!is_sent)
        return;
    TH_NOTIFY(m->observers, message_end, m->now, flow, &arrived);
    th_machine_count_bytes(m, &arrived);
}

/* --- the loop --------------------------------------------------------------------------------- */

/* The end of a host task or of a collective. */
static int end_release(th_machine *m, int32_t task, th_error *err)
{
    const th_task *t = &m->program->tasks[task];
    if (t->kind == TH_TASK_HOST && t->node >= 0 && th_hosts_ended(m, task))
        return th_error_no_memory(err);
    return th_machine_task_ends(m, task, err);
}

static int dispatch(th_machine *m, const th_event *e, th_error *err)
{
    switch ((th_priority)e->priority) {
    case TH_PRIORITY_TRANSFER_END:
    case TH_PRIORITY_START:
        if (!th_network_arrives(m->network, m->events, m->now, e))
            return 0;
        if ((int64_t)e->object < m->program->n_tasks)
            return end_transfer(m, (int32_t)e->object, err);
        end_message(m, (int32_t)e->object, true);
        return 0;
    case TH_PRIORITY_COMPUTE_END:
        return th_accelerator_event(m, e, err);
    case TH_PRIORITY_READY:
        return make_ready(m, (int32_t)e->object) ? th_error_no_memory(err) : 0;
    case TH_PRIORITY_RELEASE:
        if ((int64_t)e->object >= m->program->n_tasks) {
            end_message(m, (int32_t)e->object, false);
            return 0;
        }
        return end_release(m, (int32_t)e->object, err);
    case TH_PRIORITY_PROPERTY:
        return th_property_event_apply(m, (int32_t)e->object, err);
    case TH_PRIORITY_SAMPLE:
        break;
    }
    assert(!"no event has this priority");
    return 0;
}

/* Advances to the next event. */
static int pop(th_machine *m, th_error *err)
{
    th_event e;
    th_events_pop(m->events, &e);
    m->now = e.time;
    m->settle.is_done = false;
    return dispatch(m, &e, err);
}

typedef enum { ACTED, NOTHING_LEFT, BEYOND_LIMIT, FAILED } outcome;

/* Polls is_interrupted once per ACTS_BETWEEN acts (packets move without events of the program). */
static bool is_interrupted(th_machine *m)
{
    enum { ACTS_BETWEEN = 4096 }; /* a power of two; much less than 0.1 s */
    return m->options.is_interrupted && (++m->n_polls & (ACTS_BETWEEN - 1)) == 0 &&
           m->options.is_interrupted();
}

static int update_contention(th_machine *m, th_error *err)
{
    th_network *n = m->network;
    bool can_change = n->type->update_contention && !m->options.always_contended;
    if (can_change && n->type->update_contention(n, m->now))
        return th_network_failed(n, err);
    return th_accelerators_begin_contended(m, can_change, err);
}

/* Nothing more happens at this time: the network shares its links, then tasks begin. */
static int settle(th_machine *m, th_error *err)
{
    if (m->any_shared && update_contention(m, err))
        return -1;
    if (m->network->type->settle(m->network, m->events, m->now))
        return th_network_failed(m->network, err);
    return th_accelerators_settle(m, err);
}

/* Handles the next event or start, if it is not after limit. */
static outcome act(th_machine *m, th_time limit, th_error *err)
{
    th_time next = TH_TIME_MAX;
    uint32_t priority = 0;
    bool any = th_events_next(m->events, &next, &priority), is_now = any && next == m->now;
    if (is_now && priority <= TH_PRIORITY_READY)
        return pop(m, err) ? FAILED : ACTED;
    if (m->program->n_collectives > 0 && !th_replay_is_idle(m->replay)) {
        m->settle.is_done = false;
        return replay(m, err) ? FAILED : ACTED;
    }
    if (m->tasks.ready.n > 0) {
        m->settle.is_done = false;
        return start_ready(m, th_ready_queue_take(&m->tasks.ready), err) ? FAILED : ACTED;
    }
    if (m->startable_accels.n > 0) {
        m->settle.is_done = false;
        return th_accelerator_start(m, th_ready_queue_take(&m->startable_accels), err) ? FAILED
                                                                                       : ACTED;
    }
    if (m->startable_hosts.n > 0) {
        m->settle.is_done = false;
        return th_hosts_start(m, th_ready_queue_take(&m->startable_hosts), err) ? FAILED : ACTED;
    }
    if (is_now)
        return pop(m, err) ? FAILED : ACTED;
    if (!m->settle.is_done) {
        m->settle.is_done = true;
        if (settle(m, err))
            return FAILED;
        any = th_events_next(m->events, &next, &priority);
        if (any && next == m->now) /* settle has posted an event of now */
            return ACTED;
    }
    if (!any || (priority == TH_PRIORITY_PROPERTY && th_machine_is_done(m)))
        return NOTHING_LEFT;
    if (m->watches_change < TH_TIME_MAX && m->watches_change <= next && m->watches_change <= limit)
        return th_machine_watch(m, m->watches_change, err) ? FAILED : ACTED;
    if (next > limit)
        return BEYOND_LIMIT;
    if (next == TH_TIME_MAX) {
        if (!th_machine_report_time_limit(m, err))
            th_machine_report_dead_end(m, err);
        return FAILED;
    }
    return pop(m, err) ? FAILED : ACTED;
}

/* Runs until n_events program events have happened in all (UNTIL), or the next event is after limit
 * (BOUND). */
static th_stop run(th_machine *m, th_time limit, int64_t n_events, th_error *err)
{
    th_time end;
    if (n_events == INT64_MAX && th_machine_run_together(m, limit, &end, err) < 0)
        return TH_STOP_ERROR;
    while (m->counts.events < n_events) {
        if (is_interrupted(m))
            return TH_STOP_INTERRUPTED;
        switch (act(m, limit, err)) {
        case ACTED:
            if (th_observers_stop_run(m->observers))
                return TH_STOP_OBSERVER;
            break;
        case NOTHING_LEFT:
            return th_machine_is_done(m) ? TH_STOP_DONE : th_machine_report_dead_end(m, err);
        case BEYOND_LIMIT:
            return TH_STOP_BOUND;
        case FAILED:
            return TH_STOP_ERROR;
        }
    }
    return TH_STOP_UNTIL;
}

th_stop th_machine_run_bounded(th_machine *m, th_time bound, th_error *err)
{
    return run(m, bound, INT64_MAX, err);
}

th_stop th_machine_run_until(th_machine *m, th_time until, th_error *err)
{
    th_stop stop = th_machine_run_bounded(m, until, err);
    if (stop != TH_STOP_BOUND)
        return stop;
    if (until > m->now)
        m->now = until;
    return TH_STOP_UNTIL;
}

th_stop th_machine_step(th_machine *m, int64_t n, th_error *err)
{
    int64_t most = INT64_MAX - m->counts.events;
    th_stop stop = run(m, TH_TIME_MAX, m->counts.events + (n < most ? n : most), err);
    if (stop != TH_STOP_UNTIL)
        return stop;
    /* The network may have events of this time left that complete its statistics. */
    return th_machine_is_done(m) ? th_machine_run_bounded(m, TH_TIME_MAX, err) : TH_STOP_UNTIL;
}
