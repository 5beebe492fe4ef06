/* SPDX-License-Identifier: GPL-3.0-or-later */
/* machine.c - the replay of a program, event by event.
 *
 *   new -> (load | resume) -> (run_until | step)* -> result
 *   inside: act = { an event of now before READY | a message of a collective | a ready task
 *                   | an accelerator's start | an event of now from START on
 *                   | settle, then on to the next time }
 *
 * Within an instant things happen in the order of th_priority; settle comes when nothing is left to
 * happen at it, so rates and collapsed ends follow from all of it at once. Tasks that become ready
 * at an instant and accelerators that may start are kept least first: no result depends on the
 * order of pushing. Invariant: a task is waiting[t] > 0, in ready, in an accelerator's queue,
 * running, or ended - one of them. */
#include <config.h>

#include "sim/machine/machine.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/machine/machine_state.h"

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
    m->events = th_events_new();
    m->accels = th_alloc_zero((size_t)s->n_accels + 1, sizeof *m->accels);
    m->fresh = th_alloc_zero((size_t)s->n_accels + 1, sizeof *m->fresh);
    m->stale = th_alloc_zero((size_t)s->n_accels + 1, sizeof *m->stale);
    m->completions = m->options.completions ? m->options.completions
                                            : th_completion_cache_new(TH_COMPLETION_CACHE_MAX);
    if (th_hosts_new(m))
        goto fail;
    const th_tuner_context tuner = th_machine_tuner_context(m);
    m->replay = th_replay_new(&tuner);
    m->network = m->options.network->create(s, &m->options.network_options, err);
    if (!m->network) { /* it has said why */
        th_machine_free(m);
        return NULL;
    }
    if (m->options.expand_seed)
        m->random = th_random_stream(m->options.expand_seed, "expand", 0);
    if (!m->events || !m->accels || !m->fresh || !m->stale || !m->completions || !m->replay ||
        (m->options.expand_seed && !m->random))
        goto fail;
    for (int a = 0; a < s->n_accels; a++)
        m->any_shared |= m->network->is_shared[a];
    return m;
fail:
    th_error_no_memory(err);
    th_machine_free(m);
    return NULL;
}

void th_machine_free(th_machine *m)
{
    if (!m)
        return;
    for (int a = 0; m->accels && a < m->system->n_accels; a++) {
        th_ready_queue_clear(&m->accels[a].ready);
        th_free(m->accels[a].history.change);
    }
    th_free(m->accels);
    th_hosts_free(m);
    th_free(m->fresh);
    th_free(m->stale);
    th_free(m->layers);
    if (m->network)
        m->options.network->destroy(m->network);
    th_replay_free(m->replay);
    th_events_free(m->events);
    if (!m->options.completions)
        th_completion_cache_free(m->completions);
    th_property_events_free(m);
    th_free(m->prefetch.tasks);
    th_free(m->kept.runs);
    th_free(m->kept.demands);
    if (m->random)
        gsl_rng_free(m->random);
    th_free(m->waiting);
    th_free(m->times);
    th_free(m->input_end);
    th_ready_queue_clear(&m->ready);
    th_ready_queue_clear(&m->startable);
    th_free(m);
}

static void reset_accels(th_machine *m)
{
    for (int i = 0; i < m->system->n_accels; i++) {
        th_accel_state *a = &m->accels[i];
        a->mode = TH_ACCEL_IDLE;
        a->task = a->last_task = a->scaled = -1;
        a->event = TH_NO_EVENT;
        a->rates_are_old = false;
        th_ready_queue_reset(&a->ready);
        a->is_counted = false;
        a->sum = (th_accel_result){0};
    }
}

static void reset(th_machine *m)
{
    th_events_reset(m->events);
    m->options.network->reset(m->network);
    th_property_events_reset(m);
    reset_accels(m);
    th_ready_queue_reset(&m->ready);
    th_ready_queue_reset(&m->startable);
    m->n_fresh = m->n_stale = 0;
    th_hosts_reset(m);
    m->now = m->last_end = 0;
    m->n_events = m->n_done = m->n_expanded = m->moved_bytes = 0;
    m->settled = m->kept.is_on = false;
    m->kept.n_demands = 0;
}

/* What a READY event leads to besides its task. */
enum { RELEASE_ALONE, RELEASE_CHAIN };

static int post_release(th_machine *m, int32_t task, uint32_t chain)
{
    th_event e = {m->program->tasks[task].release_ps, TH_PRIORITY_READY, (uint32_t)task, 0, chain};
    return th_events_push(m->events, &e) == TH_NO_EVENT ? -1 : 0;
}

/* Tasks without predecessors that wait for a release form chains, each as long as releases do not
 * go back in program order: only the first of a chain is pending, and posts the next one. So a
 * trace of a million releases in order does not fill the queue. The next such task from task first
 * on; n_tasks: none. */
static int32_t next_released(const th_program *p, int32_t first)
{
    while (first < p->n_tasks && (p->n_predecessors[first] > 0 || p->tasks[first].release_ps <= 0))
        first++;
    return first;
}

static int post_chains(th_machine *m)
{
    const th_program *p = m->program;
    th_time last = TH_TIME_MAX;
    for (int32_t t = next_released(p, 0); t < p->n_tasks; t = next_released(p, t + 1)) {
        if (p->tasks[t].release_ps < last && post_release(m, t, RELEASE_CHAIN))
            return -1;
        last = p->tasks[t].release_ps;
    }
    return 0;
}

static int go_on_with_chain(th_machine *m, int32_t task)
{
    const th_program *p = m->program;
    int32_t t = next_released(p, task + 1);
    if (t == p->n_tasks || p->tasks[t].release_ps < p->tasks[task].release_ps)
        return 0;
    return post_release(m, t, RELEASE_CHAIN);
}

/* A task whose predecessors have ended; it may wait for its release besides. */
static int make_ready(th_machine *m, int32_t task)
{
    const th_task *t = &m->program->tasks[task];
    if (t->release_ps > m->now) {
        return post_release(m, task, RELEASE_ALONE);
    }
    m->times[task].ready_ps = m->now;
    return th_ready_queue_add(&m->ready, task);
}

static int load(th_machine *m, const th_program *p, th_error *err)
{
    enum {
        TASKS_BETWEEN = 1 << 20
    }; /* two looks for Ctrl-C; a machine that held something is never left half loaded */
    bool may_give_up = m->program == NULL && m->options.is_interrupted;
    size_t n = (size_t)p->n_tasks + 1, inputs = (size_t)p->n_inputs + 1;
    if (th_grow(&m->waiting, &m->waiting_capacity, n, sizeof *m->waiting) ||
        th_grow(&m->times, &m->times_capacity, n, sizeof *m->times) ||
        th_grow(&m->input_end, &m->input_capacity, inputs, sizeof *m->input_end))
        return th_error_no_memory(err);
    reset(m);
    m->program = p;
    if (m->options.per_layer && th_layers_load(m))
        return th_error_no_memory(err);
    if (th_replay_load(m->replay, p, !m->options.network->collective, err))
        return -1;
    memcpy(m->waiting, p->n_predecessors, (size_t)p->n_tasks * sizeof *m->waiting);
    for (int32_t t = 0; t < p->n_tasks; t++) {
        if (may_give_up && t % TASKS_BETWEEN == 0 && m->options.is_interrupted())
            return th_error_interrupted(err, "nothing was loaded");
        m->times[t] = (th_task_result){-1, -1, -1, -1};
    }
    for (size_t i = 0; i < inputs; i++)
        m->input_end[i] = -1;
    return th_prefetch_load(m) ? th_error_no_memory(err) : 0;
}

/* Tasks from number first on that wait for nothing. */
static int begin(th_machine *m, int32_t first, th_error *err)
{
    const th_program *p = m->program;
    for (int32_t t = first; t < p->n_tasks; t++)
        if (m->waiting[t] == 0 && p->tasks[t].release_ps <= 0 && make_ready(m, t))
            return th_error_no_memory(err);
    return post_chains(m) ? th_error_no_memory(err) : 0;
}

int th_machine_load(th_machine *m, const th_program *p, th_error *err)
{
    TH_NOTIFY(m->observers, restart, p);
    return load(m, p, err) || begin(m, 0, err) ? -1 : 0;
}

bool th_machine_can_resume(const th_machine *m)
{
    bool any_prefetch = false;
    for (int a = 0; a < m->system->n_accels; a++)
        any_prefetch |= th_prefetch_is_on(m, a);
    return m->options.network->is_memoryless && !m->options.network_options.weigh_by_latency &&
           !m->any_shared && !any_prefetch && !th_compute_cost_uses_hosts(m->costs) &&
           !m->options.expand_all && !m->options.expand_seed;
}

int th_machine_resume(th_machine *m, const th_program *p, const th_in_flight *u, int32_t n,
                      th_error *err)
{
    if (th_grow(&m->kept.runs, &m->kept.capacity, (size_t)p->n_tasks + 1, sizeof *m->kept.runs))
        return th_error_no_memory(err);
    if (load(m, p, err))
        return -1;
    m->kept.is_on = true;
    for (int32_t t = 0; t < n; t++) {
        m->times[t].ready_ps = m->times[t].start_ps = 0;
        if (th_accelerator_resume(m, t, &u[t], err))
            return -1;
    }
    return begin(m, n, err);
}

th_in_flight th_machine_in_flight_at(const th_machine *m, int32_t task, th_time t)
{
    const th_kept_run *run = &m->kept.runs[task];
    const th_demand_change *demands = &m->kept.demands[run->first];
    size_t n = run->n;
    while (n > 0 && run->started + demands[n - 1].at >= t)
        n--;
    return (th_in_flight){run->started - t, demands, n};
}

/* --- tasks ------------------------------------------------------------------------------------ */

void th_machine_task_starts(th_machine *m, int32_t task, int32_t cause)
{
    m->times[task].start_ps = m->now;
    m->times[task].cause = cause;
    m->n_events++;
    if (m->n_layers > 0)
        th_layers_start(m, task);
    TH_NOTIFY(m->observers, task_start, m->now, task);
}

int th_machine_task_ends(th_machine *m, int32_t task, th_error *err)
{
    const th_program *p = m->program;
    m->times[task].end_ps = m->last_end = m->now;
    m->input_end[p->tasks[task].input] = m->now;
    m->n_events++;
    m->n_done++;
    if (m->n_layers > 0)
        th_layers_end(m, task);
    TH_NOTIFY(m->observers, task_end, m->now, task);
    for (int32_t i = p->successor_start[task]; i < p->successor_start[task + 1]; i++) {
        int32_t next = p->successors[i];
        m->times[next].cause = task;
        if (--m->waiting[next] == 0 && make_ready(m, next))
            return th_error_no_memory(err);
    }
    return 0;
}

/* All at once if the network knows when it ends, else message by message. */
static int start_collective(th_machine *m, int32_t task, th_error *err)
{
    const th_collective *c = &m->program->collectives[m->program->tasks[task].collective];
    const th_network_type *type = m->options.network;
    th_time end = m->now;
    int as_a_whole = type->collective ? type->collective(m->network, c, m->now, &end, err) : 0;
    if (as_a_whole < 0)
        return -1;
    if (as_a_whole == 0)
        return th_replay_start(m->replay, task, err);
    th_event e = {end, TH_PRIORITY_RELEASE, (uint32_t)task, 0, 0};
    return th_events_push(m->events, &e) == TH_NO_EVENT ? th_error_no_memory(err) : 0;
}

static int start_ready(th_machine *m, int32_t task, th_error *err)
{
    const th_task *t = &m->program->tasks[task];
    int accel;
    switch ((th_task_kind)t->kind) {
    case TH_TASK_HOST: /* without a node takes no time, but starts and ends singly */
        if (t->node >= 0)
            return th_hosts_add(m, task) ? th_error_no_memory(err) : 0;
        th_machine_task_starts(m, task, m->times[task].cause);
        if (th_events_push(m->events, &(th_event){m->now, TH_PRIORITY_RELEASE, (uint32_t)task, 0,
                                                  0}) == TH_NO_EVENT)
            return th_error_no_memory(err);
        return 0;
    case TH_TASK_TRANSFER:
        th_machine_task_starts(m, task, m->times[task].cause);
        if (m->network->type->start(m->network, m->events, m->now, task,
                                    &(th_message){t->node, t->peer, t->bytes, t->delay_ps}))
            return th_network_failed(m->network, err);
        return 0;
    case TH_TASK_COMPUTE:
        accel = m->system->nodes[t->node].accel;
        TH_NOTIFY(m->observers, queued, m->now, accel);
        if (th_ready_queue_add(&m->accels[accel].ready, task) ||
            (th_accelerator_is_free(&m->accels[accel]) && th_ready_queue_add(&m->startable, accel)))
            return th_error_no_memory(err);
        return 0;
    case TH_TASK_COLLECTIVE:
        th_machine_task_starts(m, task, m->times[task].cause);
        return start_collective(m, task, err);
    }
    return 0;
}

static void add_bytes(int64_t *sum, int64_t bytes)
{
    *sum = th_bytes_add(*sum, bytes);
}

static void count_bytes(th_machine *m, const th_message *sent)
{
    int from = m->system->nodes[sent->src].accel, to = m->system->nodes[sent->dst].accel;
    add_bytes(&m->moved_bytes, sent->bytes);
    if (from >= 0)
        add_bytes(&m->accels[from].sum.sent_bytes, sent->bytes);
    if (to >= 0)
        add_bytes(&m->accels[to].sum.received_bytes, sent->bytes);
}

static int end_transfer(th_machine *m, int32_t task, th_error *err)
{
    const th_task *t = &m->program->tasks[task];
    count_bytes(m, &(th_message){t->node, t->peer, t->bytes, 0});
    return th_machine_task_ends(m, task, err);
}

/* --- collectives ------------------------------------------------------------------------------ */

/* The next message or end of a collective. */
static int replay(th_machine *m, th_error *err)
{
    th_replay_step does;
    switch (th_replay_next(m->replay, &does)) {
    case TH_REPLAY_NOTHING:
        return 0;
    case TH_REPLAY_SENDS:
        m->n_events++;
        TH_NOTIFY(m->observers, message_start, m->now, does.flow, &does.message);
        return m->network->type->start(m->network, m->events, m->now, does.flow, &does.message)
                   ? th_network_failed(m->network, err)
                   : 0;
    case TH_REPLAY_STAYS:
        m->n_events += 2;
        return 0;
    case TH_REPLAY_ENDS:
        return th_machine_task_ends(m, does.task, err);
    }
    return 0;
}

static void end_message(th_machine *m, int32_t flow)
{
    th_message arrived;
    m->n_events++;
    th_replay_arrive(m->replay, flow, &arrived);
    TH_NOTIFY(m->observers, message_end, m->now, flow, &arrived);
    count_bytes(m, &arrived);
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Of an input, of what a host did, or of a collective. */
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
        if (!m->network->type->event(m->network, m->events, m->now, e))
            return 0;
        if ((int64_t)e->object < m->program->n_tasks)
            return end_transfer(m, (int32_t)e->object, err);
        end_message(m, (int32_t)e->object);
        return 0;
    case TH_PRIORITY_COMPUTE_END:
        return th_accelerator_event(m, e, err);
    case TH_PRIORITY_READY:
        if (make_ready(m, (int32_t)e->object) ||
            (e->argument == RELEASE_CHAIN && go_on_with_chain(m, (int32_t)e->object)))
            return th_error_no_memory(err);
        return 0;
    case TH_PRIORITY_RELEASE:
        return end_release(m, (int32_t)e->object, err);
    case TH_PRIORITY_PROPERTY:
        return th_property_event_apply(m, (int32_t)e->object, err);
    case TH_PRIORITY_SAMPLE:
        break;
    }
    assert(!"an event that nobody posts");
    return 0;
}

/* The next event, now. */
static int pop(th_machine *m, th_error *err)
{
    th_event e;
    th_events_pop(m->events, &e);
    m->now = e.time;
    m->settled = false;
    return dispatch(m, &e, err);
}

/* Something was changed, and this stands still for it. Returns -1, or 0. */
static int stands_still(const th_machine *m, th_error *err)
{
    for (int a = 0; m->properties.frequency_factor && a < m->system->n_accels; a++)
        if (m->properties.frequency_factor[a] == 0 &&
            (m->accels[a].task >= 0 || m->accels[a].ready.n > 0))
            return th_error_set(err, "SIM-0223", "accel/%s is dead: task/%d cannot end",
                                m->system->nodes[m->system->accel_node[a]].name,
                                m->accels[a].task >= 0 ? m->accels[a].task
                                                       : th_ready_queue_peek(&m->accels[a].ready));
    for (int l = 0; m->properties.medium_factor && l < m->system->n_links; l++)
        if (m->properties.medium_factor[m->system->links[l].medium] == 0 &&
            m->network->link_flows[l] > 0)
            return th_error_set(err, "SIM-0224", "link/%s is down: what is on it cannot arrive",
                                m->system->links[l].name);
    return 0;
}

/* What is under way, or released, would go on at TH_TIME_MAX. Returns -1, or 0 if nothing is. */
static int lasts_too_long(const th_machine *m, th_error *err)
{
    for (int32_t t = 0; t < m->program->n_tasks; t++)
        if (m->times[t].end_ps < 0 && m->waiting[t] == 0)
            return th_error_set(err, "SIM-0012",
                                "task/%d (layer %d, input %d) would not end within 2^63 ps (106 "
                                "days), where simulated time ends",
                                t, m->program->tasks[t].layer, m->program->tasks[t].input);
    return 0;
}

typedef enum { ACTED, NOTHING_LEFT, BEYOND_LIMIT, FAILED } outcome;

/* Before an act. Packets move without events of the program: so acts are counted, not those. */
static bool is_interrupted(th_machine *m)
{
    enum { ACTS_BETWEEN = 4096 }; /* a power of two; well below a tenth of a second */
    return m->options.is_interrupted && (++m->n_acts & (ACTS_BETWEEN - 1)) == 0 &&
           m->options.is_interrupted();
}

static int start_host(th_machine *m, th_error *err)
{
    return th_hosts_start(m, th_ready_queue_take(&m->startable_hosts)) ? th_error_no_memory(err)
                                                                       : 0;
}

/* The next thing that happens, if it happens by limit. */
static outcome act(th_machine *m, th_time limit, th_error *err)
{
    th_time next = TH_TIME_MAX;
    uint32_t priority = 0;
    bool any = th_events_next(m->events, &next, &priority), is_now = any && next == m->now;
    if (is_now && priority <= TH_PRIORITY_READY)
        return pop(m, err) ? FAILED : ACTED;
    if (m->program->n_collectives > 0 && !th_replay_is_quiet(m->replay)) {
        m->settled = false;
        return replay(m, err) ? FAILED : ACTED;
    }
    if (m->ready.n > 0) {
        m->settled = false;
        return start_ready(m, th_ready_queue_take(&m->ready), err) ? FAILED : ACTED;
    }
    if (m->startable.n > 0) {
        m->settled = false;
        return th_accelerator_start(m, th_ready_queue_take(&m->startable), err) ? FAILED : ACTED;
    }
    if (m->startable_hosts.n > 0) {
        m->settled = false;
        return start_host(m, err) ? FAILED : ACTED;
    }
    if (is_now)
        return pop(m, err) ? FAILED : ACTED;
    if (!m->settled) {
        m->settled = true;
        if (th_accelerator_settle(m, err))
            return FAILED;
        any = th_events_next(m->events, &next, &priority);
        if (any && next == m->now) /* something follows at once */
            return ACTED;
    }
    if (!any)
        return NOTHING_LEFT;
    if (next > limit)
        return BEYOND_LIMIT;
    if (next == TH_TIME_MAX) {
        lasts_too_long(m, err);
        return FAILED;
    }
    return pop(m, err) ? FAILED : ACTED;
}

static th_stop finish(const th_machine *m, th_error *err)
{
    if (th_machine_is_done(m))
        return TH_STOP_DONE;
    if (stands_still(m, err) || th_replay_report_deadlock(m->replay, err) || lasts_too_long(m, err))
        return TH_STOP_ERROR;
    int32_t t = 0;
    while (m->times[t].end_ps >= 0)
        t++;
    th_error_set(
        err, "SIM-0006",
        "task/%d (layer %d, input %d) can never run: %d of its predecessors have not ended", t,
        m->program->tasks[t].layer, m->program->tasks[t].input, m->waiting[t]);
    return TH_STOP_ERROR;
}

/* Until n_events program events have happened in all (UNTIL), or what comes next is past limit
 * (BOUND). */
static th_stop run(th_machine *m, th_time limit, int64_t n_events, th_error *err)
{
    while (m->n_events < n_events) {
        if (is_interrupted(m))
            return TH_STOP_INTERRUPTED;
        switch (act(m, limit, err)) {
        case ACTED:
            if (th_observers_stop_run(m->observers))
                return TH_STOP_OBSERVER;
            break;
        case NOTHING_LEFT:
            return finish(m, err);
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
    th_stop stop = run(m, TH_TIME_MAX, m->n_events + n, err);
    if (stop != TH_STOP_UNTIL)
        return stop;
    /* What is left is the network's own, of this instant: statistics are complete after it. */
    return th_machine_is_done(m) ? th_machine_run_bounded(m, TH_TIME_MAX, err) : TH_STOP_UNTIL;
}
