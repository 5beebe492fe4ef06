/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.c - executes the schedules of the collectives of a program, step by step.
 *
 *   new -> load -> (start | next* | arrive)* -> load again -> ... -> free
 *
 * An execution stores the next step per participant and thread, and the number of messages received
 * and the message being sent per participant and port. Every change after which a participant may
 * continue (the start, a port that becomes free, a message that arrives) puts the participant on
 * the pending list of its execution, once, and the execution on that of the replay. `next` takes
 * pending participants in that order and returns the messages that their threads send, the first
 * thread first. Of the threads it looks only at those that are ready: one that cannot continue is a
 * waiter of the port that holds it up, until a message arrives there or the port becomes free.
 *
 * Flows are numbered n_tasks + base + participant * n_ports + port. base is the lowest free range
 * when a collective starts, so flow numbers depend on the model only.
 *
 * Invariants: `active` is sorted by base, and the ranges are disjoint; threads_left counts threads
 * that have a next step, in_flight the busy ports. */
#include <config.h>

#include "sim/replay/replay.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/replay/schedule_cache.h"

typedef struct {
    th_collective_step next;
    int64_t step; /* number of next; -1: the thread has ended */
    bool has_waited;
    int32_t next_waiter; /* at the same port; thread + 1, 0: none */
} thread;

typedef struct {
    int64_t bytes, padded; /* of the message being sent */
    int32_t to, to_port;   /* of that message */
    int32_t n_received;
    int32_t first_waiter; /* thread of its participant + 1, 0: none */
    bool is_busy, has_sent;
} port;

enum { NOT_PENDING = -2, NONE = -1 };

typedef struct {
    const th_collective_schedule *schedule;
    int32_t task; /* -1: the slot is free */
    int32_t base;
    int64_t threads_left, in_flight;
    thread *threads;       /* by participant and thread */
    port *ports;           /* by participant and port */
    uint64_t *ready;       /* by participant n_words: a bit for each thread that may continue */
    int32_t n_words;       /* of a participant */
    int32_t *next_pending; /* by participant: the next on the list, NONE, or NOT_PENDING */
    int32_t first_pending, last_pending; /* participants; first NONE: the list is empty */
    bool is_pending;
    int32_t next_execution; /* on the replay's pending list, or NONE */
    size_t thread_capacity, port_capacity, ready_capacity, pending_capacity;
} execution;

struct th_replay {
    const th_system *system;
    const th_program *program;
    th_collective_schedule_cache *cache;
    const th_collective_schedule **schedules; /* by collective of the program, NULL: not yet made */
    size_t schedule_capacity;
    execution *executions; /* slots, reused with their memory */
    int32_t n_executions;
    size_t execution_capacity;
    int32_t *active; /* slots in use, sorted by base */
    size_t n_active, active_capacity;
    int32_t first_pending, last_pending; /* slots; first NONE: the list is empty */
};

/* --- life ------------------------------------------------------------------------------------- */

th_replay *th_replay_new(const th_tuner_context *t)
{
    th_replay *r = th_alloc_zero(1, sizeof *r);
    if (!r)
        return NULL;
    r->system = t->system;
    r->first_pending = NONE;
    r->cache = th_collective_schedule_cache_new(t);
    if (r->cache)
        return r;
    th_free(r);
    return NULL;
}

void th_replay_free(th_replay *r)
{
    if (!r)
        return;
    for (int32_t i = 0; i < r->n_executions; i++) {
        th_free(r->executions[i].threads);
        th_free(r->executions[i].ports);
        th_free(r->executions[i].ready);
        th_free(r->executions[i].next_pending);
    }
    th_collective_schedule_cache_free(r->cache);
    th_free(r->schedules);
    th_free(r->executions);
    th_free(r->active);
    th_free(r);
}

int th_replay_load(th_replay *r, const th_program *p, bool prepare, th_error *err)
{
    size_t n = (size_t)p->n_collectives;
    for (int32_t i = 0; i < r->n_executions; i++)
        r->executions[i].task = -1;
    r->n_active = 0;
    r->first_pending = NONE;
    r->program = p;
    th_collective_schedule_cache_trim(r->cache);
    if (th_grow(&r->schedules, &r->schedule_capacity, n + 1, sizeof *r->schedules))
        return th_error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        r->schedules[i] = NULL;
        if (prepare && !(r->schedules[i] =
                             th_collective_schedule_cache_get(r->cache, &p->collectives[i], err)))
            return -1;
    }
    return 0;
}

const th_collective *th_replay_collective(const th_replay *r, int32_t number)
{
    return r->schedules[number] ? r->schedules[number]->collective : NULL;
}

/* Adds those of a participant. False: a step waits; or memory is out, and *out is NULL. */
static bool add_at_once(const th_collective_schedule *cs, int32_t participant, th_message **out,
                        size_t *n, size_t *room)
{
    th_collective_step s;
    for (int32_t i = 0, last = -1; cs->algorithm->get_step(cs, participant, 0, i, &s); i++) {
        if (s.wait_port >= 0 || s.send_port <= last || cs->node[participant] == cs->node[s.to] ||
            *n >= INT32_MAX)
            return false;
        last = s.send_port;
        if (th_grow(out, room, *n + 1, sizeof **out)) {
            th_free(*out);
            *out = NULL;
            return false;
        }
        (*out)[(*n)++] = (th_message){
            cs->node[participant], cs->node[s.to], s.bytes,
            th_time_add(cs->collective->delay_ps, cs->system->collective_start_ps), s.padded};
    }
    return true;
}

int32_t th_replay_at_once(const th_replay *r, int32_t number, th_message **out)
{
    const th_collective_schedule *cs = r->schedules[number];
    size_t n = 0, room = 0;
    *out = NULL;
    bool all = cs && cs->n_threads == 1 && !th_grow(out, &room, 1, sizeof **out);
    for (int32_t p = 0; all && p < cs->n_participants; p++)
        all = add_at_once(cs, p, out, &n, &room);
    if (all)
        return (int32_t)n;
    th_free(*out);
    *out = NULL;
    return 0;
}

/* --- pending lists ---------------------------------------------------------------------------- */

static void set_execution_pending(th_replay *r, int32_t slot)
{
    execution *e = &r->executions[slot];
    if (e->is_pending)
        return;
    e->is_pending = true;
    e->next_execution = NONE;
    if (r->first_pending == NONE)
        r->first_pending = slot;
    else
        r->executions[r->last_pending].next_execution = slot;
    r->last_pending = slot;
}

static void drop_first_execution(th_replay *r)
{
    execution *e = &r->executions[r->first_pending];
    e->is_pending = false;
    r->first_pending = e->next_execution;
}

static void set_pending(execution *e, int32_t participant)
{
    if (e->next_pending[participant] != NOT_PENDING)
        return;
    e->next_pending[participant] = NONE;
    if (e->first_pending == NONE)
        e->first_pending = participant;
    else
        e->next_pending[e->last_pending] = participant;
    e->last_pending = participant;
}

static void drop_first(execution *e)
{
    int32_t participant = e->first_pending;
    e->first_pending = e->next_pending[participant];
    e->next_pending[participant] = NOT_PENDING;
}

/* --- flow numbers ----------------------------------------------------------------------------- */

static int64_t n_ports(const th_collective_schedule *s)
{
    return (int64_t)s->n_participants * s->n_ports;
}

/* Finds the lowest free range of numbers; returns its index in `active`. */
static size_t find_range(const th_replay *r, int64_t size, int64_t *base)
{
    *base = r->program->n_tasks;
    for (size_t i = 0; i < r->n_active; i++) {
        const execution *e = &r->executions[r->active[i]];
        if (e->base - *base >= size)
            return i;
        *base = e->base + n_ports(e->schedule);
    }
    return r->n_active;
}

/* The slot of the execution to which a flow belongs. */
static int32_t slot_of_flow(const th_replay *r, int32_t flow)
{
    size_t low = 0, high = r->n_active;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (r->executions[r->active[middle]].base <= flow)
            low = middle;
        else
            high = middle;
    }
    return r->active[low];
}

/* --- starting --------------------------------------------------------------------------------- */

/* A free slot, or -1. */
static int32_t find_slot(th_replay *r)
{
    for (int32_t i = 0; i < r->n_executions; i++)
        if (r->executions[i].task < 0)
            return i;
    size_t n = (size_t)r->n_executions + 1;
    if (th_grow(&r->executions, &r->execution_capacity, n, sizeof *r->executions) ||
        th_grow(&r->active, &r->active_capacity, n, sizeof *r->active))
        return -1;
    r->executions[r->n_executions] = (execution){.task = -1};
    return r->n_executions++;
}

static int reserve(execution *e, const th_collective_schedule *s)
{
    size_t participants = (size_t)s->n_participants;
    e->n_words = (s->n_threads + 63) / 64;
    return th_grow(&e->threads, &e->thread_capacity, participants * (size_t)s->n_threads + 1,
                   sizeof *e->threads) ||
           th_grow(&e->ports, &e->port_capacity, (size_t)n_ports(s) + 1, sizeof *e->ports) ||
           th_grow(&e->ready, &e->ready_capacity, participants * (size_t)e->n_words + 1,
                   sizeof *e->ready) ||
           th_grow(&e->next_pending, &e->pending_capacity, participants + 1,
                   sizeof *e->next_pending);
}

static void load_next_step(execution *e, thread *t, int32_t participant, int32_t number)
{
    t->step++;
    if (!e->schedule->algorithm->get_step(e->schedule, participant, number, t->step, &t->next)) {
        t->step = -1;
        e->threads_left--;
    }
}

static void set_ready(execution *e, int32_t participant, int32_t number)
{
    e->ready[(int64_t)participant * e->n_words + number / 64] |= UINT64_C(1) << number % 64;
}

static void begin(execution *e)
{
    const th_collective_schedule *s = e->schedule;
    e->in_flight = 0;
    e->threads_left = (int64_t)s->n_participants * s->n_threads;
    e->first_pending = e->last_pending = NONE;
    e->is_pending = false;
    memset(e->ports, 0, (size_t)n_ports(s) * sizeof *e->ports);
    memset(e->ready, 0, (size_t)s->n_participants * (size_t)e->n_words * sizeof *e->ready);
    thread *t = e->threads;
    for (int32_t p = 0; p < s->n_participants; p++) {
        e->next_pending[p] = NOT_PENDING;
        for (int32_t i = 0; i < s->n_threads; i++, t++) {
            t->step = -1;
            t->has_waited = false;
            load_next_step(e, t, p, i);
            set_ready(e, p, i);
        }
        set_pending(e, p);
    }
}

int th_replay_start(th_replay *r, int32_t task, th_error *err)
{
    int32_t number = r->program->tasks[task].compute_cost;
    const th_collective_schedule *s = r->schedules[number];
    if (!s &&
        !(s = th_collective_schedule_cache_get(r->cache, &r->program->collectives[number], err)))
        return -1;
    r->schedules[number] = s;
    int64_t base;
    size_t place = find_range(r, n_ports(s), &base);
    if (base + n_ports(s) > INT32_MAX)
        return th_error_set(err, "SIM-0011",
                            "task/%d (%s): no numbers left for the messages of all collectives at "
                            "once: must be less than 2^31",
                            task, th_collective_names[s->collective->kind]);
    int32_t slot = find_slot(r);
    if (slot < 0 || reserve(&r->executions[slot], s))
        return th_error_no_memory(err);
    execution *e = &r->executions[slot];
    e->schedule = s;
    e->task = task;
    e->base = (int32_t)base;
    memmove(&r->active[place + 1], &r->active[place], (r->n_active - place) * sizeof *r->active);
    r->active[place] = slot;
    r->n_active++;
    begin(e);
    set_execution_pending(r, slot);
    return 0;
}

static void end(th_replay *r, int32_t slot)
{
    size_t i = 0;
    while (r->active[i] != slot)
        i++;
    r->n_active--;
    memmove(&r->active[i], &r->active[i + 1], (r->n_active - i) * sizeof *r->active);
    r->executions[slot].task = -1;
}

/* --- steps ------------------------------------------------------------------------------------ */

static port *port_of(const execution *e, int32_t participant, int32_t number)
{
    return &e->ports[(int64_t)participant * e->schedule->n_ports + number];
}

/* The first thread of the participant that may continue, or NONE. */
static int32_t first_ready(const execution *e, int32_t participant)
{
    const uint64_t *ready = &e->ready[(int64_t)participant * e->n_words];
    for (int32_t w = 0; w < e->n_words; w++)
        if (ready[w] != 0)
            return w * 64 + __builtin_ctzll(ready[w]);
    return NONE;
}

/* The port that holds up a thread before its next step, or NULL. */
static port *blocking_port(const execution *e, int32_t participant, const th_collective_step *s)
{
    port *p = s->wait_port >= 0 ? port_of(e, participant, s->wait_port) : NULL;
    if (p && p->n_received < s->wait_count)
        return p;
    p = s->send_port >= 0 ? port_of(e, participant, s->send_port) : NULL;
    return p && p->is_busy ? p : NULL;
}

/* The thread is no longer ready: it has ended, or is a waiter of the port `at`. */
static void put_to_sleep(execution *e, int32_t participant, int32_t number, port *at)
{
    thread *t = &e->threads[(int64_t)participant * e->schedule->n_threads + number];
    e->ready[(int64_t)participant * e->n_words + number / 64] &= ~(UINT64_C(1) << number % 64);
    if (t->step < 0)
        return;
    t->next_waiter = at->first_waiter;
    at->first_waiter = number + 1;
}

/* A message has arrived at the port of the participant, or the port has become free. */
static void wake(execution *e, int32_t participant, port *at)
{
    const thread *threads = &e->threads[(int64_t)participant * e->schedule->n_threads];
    for (int32_t i = at->first_waiter; i > 0; i = threads[i - 1].next_waiter)
        set_ready(e, participant, i - 1);
    at->first_waiter = 0;
    set_pending(e, participant);
}

static th_message message(const execution *e, int32_t from, int32_t to, int64_t bytes,
                          int64_t padded)
{
    return (th_message){e->schedule->node[from], e->schedule->node[to], bytes, 0, padded};
}

static th_replay_outcome send(execution *e, int32_t participant, const th_collective_step *s,
                              bool begins, th_replay_step *out)
{
    const th_collective_schedule *cs = e->schedule;
    assert(s->to >= 0 && s->to < cs->n_participants && s->send_port < cs->n_ports &&
           s->to_port >= 0 && s->to_port < cs->n_ports && s->bytes >= 0);
    out->message = message(e, participant, s->to, s->bytes, s->padded);
    bool is_local = out->message.src == out->message.dst;
    if (is_local && s->work_ps == 0) {
        port *at = port_of(e, s->to, s->to_port);
        at->n_received++;
        wake(e, s->to, at);
        return TH_REPLAY_LOCAL;
    }
    port *p = port_of(e, participant, s->send_port);
    begins &= !is_local && !p->has_sent;
    p->is_busy = p->has_sent = true;
    p->bytes = s->bytes;
    p->padded = s->padded;
    p->to = s->to;
    p->to_port = s->to_port;
    e->in_flight++;
    out->message.delay_ps = is_local ? 0 : cs->collective->delay_ps;
    if (begins)
        out->message.delay_ps = th_time_add(out->message.delay_ps, cs->system->collective_start_ps);
    out->task = e->task;
    out->flow = e->base + participant * cs->n_ports + s->send_port;
    out->work_ps = s->work_ps;
    return is_local ? TH_REPLAY_WORKS : TH_REPLAY_SENDS;
}

/* Runs the threads of the first pending participant up to the next message; NOTHING: all wait. */
static th_replay_outcome run_first(execution *e, th_replay_step *out)
{
    int32_t participant = e->first_pending;
    thread *threads = &e->threads[(int64_t)participant * e->schedule->n_threads];
    for (int32_t i = first_ready(e, participant); i != NONE; i = first_ready(e, participant)) {
        thread *t = &threads[i];
        port *at = NULL;
        while (t->step >= 0 && !(at = blocking_port(e, participant, &t->next))) {
            th_collective_step s = t->next;
            t->has_waited |= s.wait_port >= 0;
            load_next_step(e, t, participant, i);
            if (s.send_port >= 0)
                return send(e, participant, &s, !t->has_waited, out);
        }
        put_to_sleep(e, participant, i, at);
    }
    return TH_REPLAY_NOTHING;
}

th_replay_outcome th_replay_next(th_replay *r, th_replay_step *out)
{
    while (r->first_pending != NONE) {
        int32_t slot = r->first_pending;
        execution *e = &r->executions[slot];
        out->task = e->task;
        for (; e->first_pending != NONE; drop_first(e)) {
            th_replay_outcome outcome = run_first(e, out);
            if (outcome != TH_REPLAY_NOTHING)
                return outcome;
        }
        drop_first_execution(r);
        if (e->threads_left == 0 && e->in_flight == 0) {
            end(r, slot);
            return TH_REPLAY_ENDS;
        }
    }
    return TH_REPLAY_NOTHING;
}

bool th_replay_is_idle(const th_replay *r)
{
    return r->first_pending == NONE;
}

void th_replay_arrive(th_replay *r, int32_t flow, th_message *m)
{
    int32_t slot = slot_of_flow(r, flow);
    execution *e = &r->executions[slot];
    int32_t participant = (flow - e->base) / e->schedule->n_ports;
    port *p = &e->ports[flow - e->base];
    assert(p->is_busy);
    p->is_busy = false;
    port *at = port_of(e, p->to, p->to_port);
    e->in_flight--;
    at->n_received++;
    *m = message(e, participant, p->to, p->bytes, p->padded);
    wake(e, participant, p);
    wake(e, p->to, at);
    set_execution_pending(r, slot);
}

/* --- deadlock --------------------------------------------------------------------------------- */

int th_replay_report_deadlock(const th_replay *r, th_error *err)
{
    size_t first = 0;
    while (first < r->n_active && r->executions[r->active[first]].in_flight > 0)
        first++;
    if (first == r->n_active)
        return 0;
    const execution *e = &r->executions[r->active[first]];
    const th_collective_schedule *s = e->schedule;
    int64_t i = 0;
    while (e->threads[i].step < 0)
        i++;
    int32_t participant = (int32_t)(i / s->n_threads);
    const thread *t = &e->threads[i];
    return th_error_set(err, "SIM-0010",
                        "task/%d: %s of %d ranks by %s can never end: %s %d, thread %" PRId64
                        " waits in step %" PRId64 " for message %d at port %d, where %d came in",
                        e->task, th_collective_names[s->collective->kind], s->collective->n_ranks,
                        s->algorithm->name,
                        participant < s->collective->n_ranks ? "rank" : "participant", participant,
                        i % s->n_threads, t->step, t->next.wait_count, t->next.wait_port,
                        port_of(e, participant, t->next.wait_port)->n_received);
}
