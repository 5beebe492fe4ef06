/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimate.c - walks through the schedule of a collective in the order of time.
 *   th_collective_estimate: begin -> (walk_participant of all that are awake -> dispatch ->
 *                                     arrive)* -> end
 * A medium carries messages one batch after the other, not each with a share that changes when
 * another enters or leaves: so a message's arrival is known when it is sent, and costs no solver.
 * A batch are the messages that start at one time, but for a small part (1 / WINDOW_PART) of the
 * shortest message; they share their media. */
#include <config.h>

#include "sim/replay/estimate.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sim/kernel/event.h"
#include "topology/routing/route.h"

enum { POLL_BATCHES = 64, WINDOW_PART = 16 };
static const double LATEST_PS = 9e18; /* times are th_time in the queue */

typedef struct path {
    int32_t to; /* participant + 1; 0: none yet */
    int32_t n;
    size_t first; /* in the estimator's path_media */
    th_time latency_ps;
} path;

/* A message of this batch. */
typedef struct message {
    size_t port; /* that it leaves */
    double start_ps, bytes, work_ps;
} message;

typedef struct medium {
    double ps_per_byte;
    double free_ps; /* when it has carried all batches before, of this schedule */
    double load_ps; /* of this batch */
    int64_t batch;  /* the last that used it */
} medium;

struct th_estimator {
    const th_system *s;
    bool shares;
    th_events *events; /* arrivals; object: the port that the message left */
    medium *media;
    int64_t now;         /* the batch; never repeats */
    int64_t first;       /* batch of this schedule */
    int32_t *path_media; /* of the paths */
    size_t n_path_media, path_capacity;
    int32_t *medium_name, *node_name; /* for the digest: by first appearance, 0: none yet */
};

typedef struct thread {
    th_collective_step next;
    int64_t step;    /* number of next; -1: the thread has ended */
    double ready_ps; /* its next step is not earlier */
} thread;

typedef struct port {
    path way;
    double arrived_ps; /* the last arrival so far */
    double free_ps;    /* the last message that left arrives */
    int32_t received;
    int32_t to, to_port; /* of the message that it sends */
    bool is_busy, has_sent;
} port;

/* One schedule. */
typedef struct walk {
    th_estimator *e;
    const th_collective_schedule *cs;
    const th_estimate_limits *limits;
    thread *threads; /* by participant and thread */
    port *ports;     /* by participant and port */
    int32_t *awake;  /* participants to be walked in this batch */
    int32_t n_awake;
    int64_t *woken; /* by participant: the batch for which it was woken last */
    message *messages;
    size_t n, capacity;
    double ps;          /* the last arrival of all */
    double shortest_ps; /* of all messages that take time */
    int64_t n_messages, n_ports;
    int32_t n_names[2]; /* of nodes and media, for the digest */
} walk;

th_estimator *th_estimator_new(const th_system *s, bool shares)
{
    th_estimator *e = th_alloc_zero(1, sizeof *e);
    if (!e)
        return NULL;
    *e = (th_estimator){.s = s, .shares = shares};
    e->media = th_alloc_zero((size_t)s->n_media + 1, sizeof *e->media);
    e->events = th_events_new();
    if (!e->media || !e->events) {
        th_estimator_free(e);
        return NULL;
    }
    for (int i = 0; i < s->n_media; i++)
        e->media[i].ps_per_byte = 8.0 * (double)TH_PS_PER_S / (double)s->media[i].bits_per_s;
    return e;
}

void th_estimator_free(th_estimator *e)
{
    if (!e)
        return;
    th_events_free(e->events);
    th_free(e->media);
    th_free(e->path_media);
    th_free(e);
}

/* --- routes ----------------------------------------------------------------------------------- */

static uint64_t name_of(walk *w, int which, int32_t *names, int32_t of)
{
    if (names[of] == 0)
        names[of] = ++w->n_names[which];
    return (uint64_t)names[of];
}

static void digest_ends(walk *w, int32_t from, int32_t to)
{
    uint64_t d = *w->limits->digest;
    d = th_hash_word(d, name_of(w, 0, w->e->node_name, w->cs->node[from]));
    *w->limits->digest = th_hash_word(d, name_of(w, 0, w->e->node_name, w->cs->node[to]));
}

static void digest_link(walk *w, const th_link *l)
{
    const th_system *s = w->e->s;
    uint64_t d = *w->limits->digest;
    d = th_hash_word(d, name_of(w, 0, w->e->node_name, l->to >= 0 ? l->to : s->n_nodes));
    d = th_hash_word(d, l->to >= 0 ? (uint64_t)s->nodes[l->to].kind : UINT64_MAX);
    d = th_hash_word(d, name_of(w, 1, w->e->medium_name, l->medium));
    d = th_hash_word(d, (uint64_t)s->media[l->medium].bits_per_s);
    *w->limits->digest = th_hash_word(d, (uint64_t)l->latency_ps);
}

static int find_path(walk *w, path *p, int32_t from, int32_t to, th_error *err)
{
    th_estimator *e = w->e;
    const th_system *s = e->s;
    int links[TH_ROUTE_MAX], n = th_route(s, w->cs->node[from], w->cs->node[to], links);
    if (n < 0)
        return th_route_error(s, w->cs->node[from], w->cs->node[to], n, err);
    if (p->to == 0 || n > p->n) {
        if (th_grow(&e->path_media, &e->path_capacity, e->n_path_media + (size_t)n + 1,
                    sizeof *e->path_media))
            return th_error_no_memory(err);
        p->first = e->n_path_media;
        e->n_path_media += (size_t)n;
    }
    *p = (path){.to = to + 1, .n = n, .first = p->first};
    for (int i = 0; i < n; i++) {
        const th_link *l = &s->links[links[i]];
        e->path_media[p->first + (size_t)i] = l->medium;
        p->latency_ps += l->latency_ps;
        if (w->limits->digest)
            digest_link(w, l);
    }
    return 0;
}

/* --- media ------------------------------------------------------------------------------------ */

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Medium i of a path. */
static medium *medium_of(const th_estimator *e, const path *way, int32_t i)
{
    return &e->media[e->path_media[way->first + (size_t)i]];
}

/* Adds the message to the loads of this batch. */
static void load(walk *w, const message *m)
{
    const path *way = &w->ports[m->port].way;
    for (int32_t i = 0; i < way->n; i++) {
        medium *a = medium_of(w->e, way, i);
        if (a->batch < w->e->first)
            a->free_ps = 0;
        if (a->batch < w->e->now)
            a->load_ps = 0;
        a->batch = w->e->now;
        a->load_ps += m->bytes * a->ps_per_byte;
    }
}

/* When it arrives: the media of its route carry what they have, then all bytes of this batch. */
static double arrival_of(const walk *w, const message *m)
{
    const path *way = &w->ports[m->port].way;
    double last = m->start_ps;
    if (way->n == 0) /* within a node */
        return last + m->work_ps;
    for (int32_t i = 0; i < way->n; i++) {
        const medium *a = medium_of(w->e, way, i);
        double ps = w->e->shares ? later(a->free_ps, m->start_ps) + a->load_ps
                                 : m->start_ps + m->bytes * a->ps_per_byte;
        last = later(last, ps);
    }
    return last + (double)(way->latency_ps + w->cs->collective->delay_ps);
}

static void occupy(walk *w, const message *m)
{
    const path *way = &w->ports[m->port].way;
    for (int32_t i = 0; i < way->n; i++) {
        medium *a = medium_of(w->e, way, i);
        a->free_ps = later(a->free_ps, m->start_ps) + a->load_ps;
        a->load_ps = 0; /* of all messages of the batch */
    }
}

/* --- steps ------------------------------------------------------------------------------------ */

static void wake(walk *w, int32_t participant)
{
    if (w->woken[participant] == w->e->now)
        return;
    w->woken[participant] = w->e->now;
    w->awake[w->n_awake++] = participant;
}

static int send(walk *w, int32_t p, const th_collective_step *s, double ready_ps, th_error *err)
{
    size_t number = (size_t)p * (size_t)w->cs->n_ports + (size_t)s->send_port;
    port *out = &w->ports[number];
    if (out->way.to != s->to + 1 && find_path(w, &out->way, p, s->to, err))
        return -1;
    if (th_grow(&w->messages, &w->capacity, w->n + 1, sizeof *w->messages))
        return th_error_no_memory(err);
    if (w->limits->digest)
        digest_ends(w, p, s->to);
    message *m = &w->messages[w->n++];
    *m = (message){.port = number,
                   .start_ps = later(ready_ps, out->free_ps),
                   .bytes = (double)s->bytes,
                   .work_ps = (double)s->work_ps};
    load(w, m);
    w->n_ports += !out->has_sent;
    out->is_busy = out->has_sent = true;
    out->to = s->to;
    out->to_port = s->to_port;
    w->n_messages++;
    return 0;
}

static void load_next_step(walk *w, int32_t p, int32_t number, thread *t)
{
    t->step++;
    if (!w->cs->algorithm->get_step(w->cs, p, number, t->step, &t->next))
        t->step = -1;
}

/* The steps of a thread that can be done in this batch. */
static int walk_thread(walk *w, int32_t p, int32_t number, th_error *err)
{
    thread *t = &w->threads[(int64_t)p * w->cs->n_threads + number];
    const port *ports = &w->ports[(int64_t)p * w->cs->n_ports];
    const th_collective_step *s = &t->next;
    while (t->step >= 0) {
        const port *in = s->wait_port >= 0 ? &ports[s->wait_port] : NULL;
        if (in && in->received < s->wait_count)
            return 0;
        t->ready_ps = in ? later(t->ready_ps, in->arrived_ps) : t->ready_ps;
        if (s->send_port >= 0 && ports[s->send_port].is_busy)
            return 0;
        if (s->send_port >= 0 && send(w, p, s, t->ready_ps, err))
            return -1;
        load_next_step(w, p, number, t);
    }
    return 0;
}

static int dispatch(walk *w, th_error *err)
{
    for (size_t i = 0; i < w->n; i++) {
        const message *m = &w->messages[i];
        double ps = arrival_of(w, m);
        if (ps > LATEST_PS)
            ps = LATEST_PS;
        th_event e = {.time = (th_time)ps, .object = (uint32_t)m->port};
        if (th_events_push(w->e->events, &e) == TH_NO_EVENT)
            return th_error_no_memory(err);
        if (ps > m->start_ps && ps - m->start_ps < w->shortest_ps)
            w->shortest_ps = ps - m->start_ps;
        w->ports[m->port].free_ps = ps;
        w->ps = later(w->ps, ps);
    }
    for (size_t i = 0; i < w->n; i++)
        occupy(w, &w->messages[i]);
    w->n = 0;
    return 0;
}

/* What arrives next, and shortly after. */
static void arrive(walk *w)
{
    th_event e;
    w->e->now++;
    w->n_awake = 0;
    if (!th_events_peek(w->e->events, &e))
        return;
    double last = (double)e.time + w->shortest_ps / WINDOW_PART;
    while (th_events_peek(w->e->events, &e) && (double)e.time <= last) {
        th_events_pop(w->e->events, &e);
        port *out = &w->ports[e.object];
        port *in = &w->ports[(int64_t)out->to * w->cs->n_ports + out->to_port];
        out->is_busy = false;
        in->received++;
        in->arrived_ps = later(in->arrived_ps, out->free_ps);
        wake(w, (int32_t)(e.object / (uint32_t)w->cs->n_ports));
        wake(w, out->to);
    }
}

static int begin(walk *w, th_error *err)
{
    const th_collective_schedule *cs = w->cs;
    size_t n = (size_t)cs->n_participants;
    th_estimator *e = w->e;
    w->threads = th_alloc_zero(n * (size_t)cs->n_threads + 1, sizeof *w->threads);
    w->ports = th_alloc_zero(n * (size_t)cs->n_ports + 1, sizeof *w->ports);
    w->awake = th_alloc_array(n + 1, sizeof *w->awake);
    w->woken = th_alloc_zero(n + 1, sizeof *w->woken);
    if (w->limits->digest) {
        e->medium_name = th_alloc_zero((size_t)e->s->n_media + 1, sizeof *e->medium_name);
        e->node_name = th_alloc_zero((size_t)e->s->n_nodes + 1, sizeof *e->node_name);
    }
    if (!w->threads || !w->ports || !w->awake || !w->woken ||
        (w->limits->digest && (!e->medium_name || !e->node_name)))
        return th_error_no_memory(err);
    th_events_reset(e->events);
    e->n_path_media = 0;
    e->first = ++e->now;
    w->shortest_ps = HUGE_VAL;
    for (int32_t p = 0; p < cs->n_participants; p++) {
        for (int32_t t = 0; t < cs->n_threads; t++) {
            thread *a = &w->threads[(int64_t)p * cs->n_threads + t];
            a->step = -1;
            load_next_step(w, p, t, a);
        }
        wake(w, p);
    }
    return 0;
}

static void end(walk *w)
{
    th_free(w->threads);
    th_free(w->ports);
    th_free(w->awake);
    th_free(w->woken);
    th_free(w->messages);
    th_free(w->e->medium_name);
    th_free(w->e->node_name);
    w->e->medium_name = w->e->node_name = NULL;
}

static th_estimate_outcome all_batches(walk *w, th_error *err)
{
    const th_estimate_limits *l = w->limits;
    for (int64_t batch = 1; w->n_awake > 0; batch++) {
        for (int32_t i = 0; i < w->n_awake; i++) {
            for (int32_t t = 0; t < w->cs->n_threads; t++)
                if (walk_thread(w, w->awake[i], t, err))
                    return TH_ESTIMATE_FAILED;
            if (w->n_messages > l->messages || w->n_ports > l->ports)
                return TH_ESTIMATE_LARGE;
        }
        if (dispatch(w, err))
            return TH_ESTIMATE_FAILED;
        if (w->ps > l->bound_ps)
            return TH_ESTIMATE_LATE;
        if (l->is_interrupted && batch % POLL_BATCHES == 0 && l->is_interrupted()) {
            th_error_interrupted(err, "no algorithm was chosen");
            return TH_ESTIMATE_FAILED;
        }
        arrive(w);
    }
    return TH_ESTIMATE_DONE;
}

th_estimate_outcome th_collective_estimate(th_estimator *e, const th_collective_schedule *cs,
                                           const th_estimate_limits *limits,
                                           th_collective_estimated *out, th_error *err)
{
    walk w = {.e = e, .cs = cs, .limits = limits};
    *out = (th_collective_estimated){0, 0};
    /* a port is there for a message: as many, and their memory, are not for an estimate */
    if ((int64_t)cs->n_participants * cs->n_ports > limits->messages)
        return TH_ESTIMATE_LARGE;
    th_estimate_outcome o = begin(&w, err) ? TH_ESTIMATE_FAILED : all_batches(&w, err);
    *out = (th_collective_estimated){w.ps, w.n_messages};
    end(&w);
    return o;
}
