/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.c - collectives, expanded as they go.
 *
 *   new -> load -> (start | next* | arrive)* -> load again -> ... -> free
 *
 * A running collective holds, per participant and lane, the action to come, and per participant and
 * port what has come in and what is on its way out. Something that happens to a participant (the
 * start, a port that becomes free, a message that comes in) puts it on its collective's list of
 * those to be looked at, once, and the collective on the replay's; `next` looks at one lane after
 * the other and hands out what they post.
 *
 * Flows are numbered n_tasks + base + participant * n_ports + port: base is the lowest range that
 * is free when a collective starts, so a number depends on the model only.
 *
 * Invariants: active is sorted by base and its ranges are disjoint; a participant is on the list
 * once; lanes_left counts lanes with an action to come, in_flight the busy ports. */
#include <config.h>

#include "sim/replay/replay.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/replay/schedule_cache.h"

typedef struct {
    th_action action; /* to come */
    int64_t step;     /* its number; -1: the lane is through */
} lane;

typedef struct {
    int64_t bytes; /* of the message on its way out */
    int32_t to, to_port;
    int32_t n_arrived; /* messages that have come in */
    bool is_busy;
} port;

enum { UNLISTED = -2, LAST = -1 };

typedef struct {
    const th_expansion *x;
    int32_t task, base;
    int64_t lanes_left, in_flight;
    lane *lanes;   /* by participant, lane */
    port *ports;   /* by participant, port */
    int32_t *next; /* by participant, in the list of those to be looked at; UNLISTED, or LAST */
    int32_t first, last; /* of that list, LAST when it is empty */
    int32_t cursor;      /* lane of the first at which looking goes on */
    bool is_listed;
    int32_t next_listed; /* of the replay's list of collectives */
    size_t lane_room, port_room, next_room;
} running;

struct th_replay {
    const th_system *system;
    const th_program *program;
    th_prepared *prepared;
    const th_expansion **expansions; /* by collective of the program, NULL: not yet */
    size_t expansion_room;
    running *runs; /* slots, reused with their memory */
    int32_t n_runs;
    size_t run_room;
    int32_t *free_runs; /* a stack of slots without a collective */
    size_t n_free, free_room;
    int32_t *active; /* slots, sorted by base */
    size_t n_active, active_room;
    int32_t first, last; /* collectives with participants to be looked at, LAST: none */
};

/* --- life ------------------------------------------------------------------------------------- */

th_replay *th_replay_new(const th_tuner_context *w)
{
    th_replay *r = th_alloc_zero(1, sizeof *r);
    if (!r)
        return NULL;
    r->system = w->system;
    r->first = r->last = LAST;
    r->prepared = th_prepared_new(w);
    if (r->prepared)
        return r;
    th_free(r);
    return NULL;
}

void th_replay_free(th_replay *r)
{
    if (!r)
        return;
    for (int32_t i = 0; i < r->n_runs; i++) {
        th_free(r->runs[i].lanes);
        th_free(r->runs[i].ports);
        th_free(r->runs[i].next);
    }
    th_prepared_free(r->prepared);
    th_free(r->expansions);
    th_free(r->runs);
    th_free(r->free_runs);
    th_free(r->active);
    th_free(r);
}

static void stop_all(th_replay *r)
{
    r->n_active = r->n_free = 0;
    for (int32_t i = r->n_runs - 1; i >= 0; i--)
        r->free_runs[r->n_free++] = i;
    r->first = r->last = LAST;
}

int th_replay_load(th_replay *r, const th_program *p, bool prepare, th_error *err)
{
    size_t n = (size_t)p->n_collectives;
    stop_all(r);
    r->program = p;
    th_prepared_forget(r->prepared);
    if (th_grow(&r->expansions, &r->expansion_room, n + 1, sizeof *r->expansions))
        return th_error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        r->expansions[i] = NULL;
        if (prepare && !(r->expansions[i] = th_prepared_get(r->prepared, &p->collectives[i], err)))
            return -1;
    }
    return 0;
}

const th_collective *th_replay_collective(const th_replay *r, int32_t number)
{
    return r->expansions[number] ? r->expansions[number]->collective : NULL;
}

/* --- the lists of those to be looked at ------------------------------------------------------- */

static void list_run(th_replay *r, int32_t slot)
{
    running *c = &r->runs[slot];
    if (c->is_listed)
        return;
    c->is_listed = true;
    c->next_listed = LAST;
    if (r->first == LAST)
        r->first = slot;
    else
        r->runs[r->last].next_listed = slot;
    r->last = slot;
}

static void unlist_first_run(th_replay *r)
{
    running *c = &r->runs[r->first];
    c->is_listed = false;
    r->first = c->next_listed;
}

/* Something has happened to this participant. */
static void list(running *c, int32_t participant)
{
    if (participant == c->first)
        c->cursor = 0; /* its lanes are being looked at: all of them again */
    if (c->next[participant] != UNLISTED)
        return;
    c->next[participant] = LAST;
    if (c->first == LAST)
        c->first = participant;
    else
        c->next[c->last] = participant;
    c->last = participant;
}

static void unlist_first(running *c)
{
    int32_t participant = c->first;
    c->first = c->next[participant];
    c->next[participant] = UNLISTED;
    c->cursor = 0;
}

/* --- numbers of flows ------------------------------------------------------------------------- */

static int64_t n_numbers(const running *c)
{
    return (int64_t)c->x->n_participants * c->x->n_ports;
}

/* The lowest range of numbers that is free, and its place among the active. */
static size_t find_range(const th_replay *r, int64_t size, int64_t *base)
{
    *base = r->program->n_tasks;
    for (size_t i = 0; i < r->n_active; i++) {
        const running *c = &r->runs[r->active[i]];
        if (c->base - *base >= size)
            return i;
        *base = c->base + n_numbers(c);
    }
    return r->n_active;
}

/* The slot of the collective to which a flow belongs. */
static int32_t run_of(const th_replay *r, int32_t flow)
{
    size_t low = 0, high = r->n_active;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (r->runs[r->active[middle]].base <= flow)
            low = middle;
        else
            high = middle;
    }
    return r->active[low];
}

/* --- starting --------------------------------------------------------------------------------- */

static int32_t take_slot(th_replay *r)
{
    if (r->n_free > 0)
        return r->free_runs[--r->n_free];
    size_t n = (size_t)r->n_runs + 1;
    if (th_grow(&r->runs, &r->run_room, n, sizeof *r->runs) ||
        th_grow(&r->free_runs, &r->free_room, n, sizeof *r->free_runs) ||
        th_grow(&r->active, &r->active_room, n, sizeof *r->active))
        return -1;
    r->runs[r->n_runs] = (running){0};
    return r->n_runs++;
}

static int make_room(running *c, const th_expansion *x)
{
    size_t participants = (size_t)x->n_participants;
    return th_grow(&c->lanes, &c->lane_room, participants * (size_t)x->n_lanes + 1,
                   sizeof *c->lanes) ||
           th_grow(&c->ports, &c->port_room, participants * (size_t)x->n_ports + 1,
                   sizeof *c->ports) ||
           th_grow(&c->next, &c->next_room, participants + 1, sizeof *c->next);
}

/* The lane goes on to its next step. */
static void go_on(running *c, lane *l, int32_t participant, int32_t number)
{
    l->step++;
    if (!c->x->algorithm->action(c->x, participant, number, l->step, &l->action)) {
        l->step = -1;
        c->lanes_left--;
    }
}

static void begin(running *c)
{
    const th_expansion *x = c->x;
    c->in_flight = 0;
    c->lanes_left = (int64_t)x->n_participants * x->n_lanes;
    c->first = c->last = LAST;
    c->cursor = 0;
    c->is_listed = false;
    memset(c->ports, 0, (size_t)n_numbers(c) * sizeof *c->ports);
    lane *l = c->lanes;
    for (int32_t p = 0; p < x->n_participants; p++) {
        c->next[p] = UNLISTED;
        for (int32_t i = 0; i < x->n_lanes; i++, l++) {
            l->step = -1;
            go_on(c, l, p, i);
        }
        list(c, p);
    }
}

int th_replay_start(th_replay *r, int32_t task, th_error *err)
{
    int32_t number = r->program->tasks[task].work;
    const th_expansion *x = r->expansions[number];
    if (!x && !(x = th_prepared_get(r->prepared, &r->program->collectives[number], err)))
        return -1;
    r->expansions[number] = x;
    int64_t base;
    size_t place = find_range(r, (int64_t)x->n_participants * x->n_ports, &base);
    if (base + (int64_t)x->n_participants * x->n_ports > INT32_MAX)
        return th_error_set(err, "SIM-0011",
                            "task/%d (%s): no numbers left for the messages of all collectives at "
                            "once: must be less than 2^31",
                            task, th_collective_names[x->collective->kind]);
    int32_t slot = take_slot(r);
    if (slot < 0)
        return th_error_no_memory(err);
    running *c = &r->runs[slot];
    if (make_room(c, x)) {
        r->free_runs[r->n_free++] = slot;
        return th_error_no_memory(err);
    }
    c->x = x;
    c->task = task;
    c->base = (int32_t)base;
    memmove(&r->active[place + 1], &r->active[place], (r->n_active - place) * sizeof *r->active);
    r->active[place] = slot;
    r->n_active++;
    begin(c);
    list_run(r, slot);
    return 0;
}

static void end(th_replay *r, int32_t slot)
{
    size_t i = 0;
    while (r->active[i] != slot)
        i++;
    r->n_active--;
    memmove(&r->active[i], &r->active[i + 1], (r->n_active - i) * sizeof *r->active);
    r->free_runs[r->n_free++] = slot;
}

/* --- messages --------------------------------------------------------------------------------- */

static port *port_of(const running *c, int32_t participant, int32_t number)
{
    return &c->ports[(int64_t)participant * c->x->n_ports + number];
}

static bool can_act(const running *c, int32_t participant, const lane *l)
{
    const th_action *a = &l->action;
    if (l->step < 0 ||
        (a->wait_port >= 0 && port_of(c, participant, a->wait_port)->n_arrived < a->wait_count))
        return false;
    return a->send_port < 0 || !port_of(c, participant, a->send_port)->is_busy;
}

static th_message message(const running *c, int32_t from, int32_t to, int64_t bytes)
{
    return (th_message){c->x->node[from], c->x->node[to], bytes, 0};
}

static th_replay_outcome post(running *c, int32_t participant, const th_action *a,
                              th_replay_step *out)
{
    assert(a->to >= 0 && a->to < c->x->n_participants && a->send_port < c->x->n_ports &&
           a->to_port >= 0 && a->to_port < c->x->n_ports && a->bytes >= 0);
    out->message = message(c, participant, a->to, a->bytes);
    if (out->message.src == out->message.dst) {
        port_of(c, a->to, a->to_port)->n_arrived++;
        list(c, a->to);
        return TH_REPLAY_STAYS;
    }
    port *p = port_of(c, participant, a->send_port);
    p->is_busy = true;
    p->bytes = a->bytes;
    p->to = a->to;
    p->to_port = a->to_port;
    c->in_flight++;
    out->message.delay_ps = c->x->collective->delay_ps;
    out->flow = c->base + participant * c->x->n_ports + a->send_port;
    return TH_REPLAY_SENDS;
}

/* What the first participant on the list does next, NOTHING when it can do no more. */
static th_replay_outcome look(running *c, th_replay_step *out)
{
    int32_t participant = c->first;
    lane *lanes = &c->lanes[(int64_t)participant * c->x->n_lanes];
    for (; c->cursor < c->x->n_lanes; c->cursor++) {
        lane *l = &lanes[c->cursor];
        while (can_act(c, participant, l)) {
            th_action a = l->action;
            go_on(c, l, participant, c->cursor);
            if (a.send_port >= 0)
                return post(c, participant, &a, out);
        }
    }
    return TH_REPLAY_NOTHING;
}

th_replay_outcome th_replay_next(th_replay *r, th_replay_step *out)
{
    while (r->first != LAST) {
        int32_t slot = r->first;
        running *c = &r->runs[slot];
        out->task = c->task;
        for (; c->first != LAST; unlist_first(c)) {
            th_replay_outcome does = look(c, out);
            if (does != TH_REPLAY_NOTHING)
                return does;
        }
        unlist_first_run(r);
        if (c->lanes_left == 0 && c->in_flight == 0) {
            end(r, slot);
            return TH_REPLAY_ENDS;
        }
    }
    return TH_REPLAY_NOTHING;
}

bool th_replay_is_quiet(const th_replay *r)
{
    return r->first == LAST;
}

void th_replay_arrive(th_replay *r, int32_t flow, th_message *m)
{
    int32_t slot = run_of(r, flow);
    running *c = &r->runs[slot];
    int32_t participant = (flow - c->base) / c->x->n_ports;
    port *p = &c->ports[flow - c->base];
    assert(p->is_busy);
    p->is_busy = false;
    c->in_flight--;
    port_of(c, p->to, p->to_port)->n_arrived++;
    *m = message(c, participant, p->to, p->bytes);
    list(c, participant);
    list(c, p->to);
    list_run(r, slot);
}

/* --- what is wrong ---------------------------------------------------------------------------- */

int th_replay_stuck(const th_replay *r, th_error *err)
{
    size_t first = 0;
    while (first < r->n_active && r->runs[r->active[first]].in_flight > 0)
        first++;
    if (first == r->n_active)
        return 0;
    const running *c = &r->runs[r->active[first]];
    const th_expansion *x = c->x;
    int64_t i = 0;
    while (c->lanes[i].step < 0)
        i++;
    int32_t participant = (int32_t)(i / x->n_lanes);
    const lane *l = &c->lanes[i];
    return th_error_set(err, "SIM-0010",
                        "task/%d: %s of %d ranks by %s can never end: %s %d, lane %" PRId64
                        " waits in step %" PRId64 " for message %d at port %d, where %d came in",
                        c->task, th_collective_names[x->collective->kind], x->collective->n_ranks,
                        x->algorithm->name,
                        participant < x->collective->n_ranks ? "rank" : "participant", participant,
                        i % x->n_lanes, l->step, l->action.wait_count, l->action.wait_port,
                        port_of(c, participant, l->action.wait_port)->n_arrived);
}
