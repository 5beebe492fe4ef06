/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimate.c - walks through the schedule of a collective round by round.
 *   th_collective_estimate: begin -> (walk_participant of all that are awake -> end_round)* -> end
 * Invariant: what has arrived counts from the next round on, so the order in which participants are
 * walked does not matter, but for the order in which loads are added. Rounds say which messages
 * share media; times follow the dependencies, so that short messages do not wait for long ones that
 * go elsewhere. */
#include <config.h>

#include "sim/replay/estimate.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "topology/routing/route.h"

enum { POLL_ROUNDS = 64 };

typedef struct path {
    int32_t to; /* participant + 1; 0: none yet */
    int32_t n;
    size_t first; /* in the estimator's media */
    th_time latency_ps;
} path;

/* A message of this round. */
typedef struct message {
    int32_t to, to_port;
    size_t port; /* that it leaves */
    const path *way;
    double start_ps, bytes, work_ps;
} message;

struct th_estimator {
    const th_system *s;
    bool shares;
    double *ps_per_byte; /* by medium */
    double *load_ps;     /* by medium: of this round, where round says so */
    double *total_ps;    /* by medium: of this schedule, where round says so */
    int64_t *round;      /* by medium */
    int64_t now;         /* the round; never repeats */
    int64_t first;       /* round of this schedule */
    int32_t *media;      /* of the paths */
    size_t n_media, media_capacity;
    int32_t *medium_name, *node_name; /* for the digest: by first appearance, 0: none yet */
};

/* One schedule. */
typedef struct walk {
    th_estimator *e;
    const th_collective_schedule *cs;
    const th_estimate_limits *limits;
    int64_t *step;         /* by participant and thread */
    int32_t *received;     /* by participant and port */
    int64_t *busy;         /* by participant and port: the last round in which it sent */
    path *paths;           /* by participant and port */
    int32_t *awake, *next; /* participants to be walked in this round, in the next one */
    int32_t n_awake, n_next;
    int64_t *woken; /* by participant: the round for which it was woken last */
    message *messages;
    size_t n, capacity;
    double *ready_ps;   /* by participant and thread: its next step is not earlier */
    double *arrived_ps; /* by participant and port: the last arrival so far */
    double *free_ps;    /* by participant and port: the last message that left has arrived */
    double ps;          /* the last arrival of all, or the longest load of a medium */
    int64_t n_messages, n_ports;
    int32_t n_names[2]; /* of nodes and media, for the digest */
} walk;

th_estimator *th_estimator_new(const th_system *s, bool shares)
{
    size_t n = (size_t)s->n_media + 1;
    th_estimator *e = th_alloc_zero(1, sizeof *e);
    if (!e)
        return NULL;
    *e = (th_estimator){.s = s, .shares = shares};
    e->ps_per_byte = th_alloc_array(n, sizeof *e->ps_per_byte);
    e->load_ps = th_alloc_zero(n, sizeof *e->load_ps);
    e->total_ps = th_alloc_zero(n, sizeof *e->total_ps);
    e->round = th_alloc_zero(n, sizeof *e->round);
    if (!e->ps_per_byte || !e->load_ps || !e->total_ps || !e->round) {
        th_estimator_free(e);
        return NULL;
    }
    for (int i = 0; i < s->n_media; i++)
        e->ps_per_byte[i] = 8.0 * (double)TH_PS_PER_S / (double)s->media[i].bits_per_s;
    return e;
}

void th_estimator_free(th_estimator *e)
{
    if (!e)
        return;
    th_free(e->ps_per_byte);
    th_free(e->load_ps);
    th_free(e->total_ps);
    th_free(e->round);
    th_free(e->media);
    th_free(e);
}

/* --- routes ----------------------------------------------------------------------------------- */

static uint64_t name_of(walk *w, int which, int32_t *names, int32_t of)
{
    if (names[of] == 0)
        names[of] = ++w->n_names[which];
    return (uint64_t)names[of];
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
        if (th_grow(&e->media, &e->media_capacity, e->n_media + (size_t)n + 1, sizeof *e->media))
            return th_error_no_memory(err);
        p->first = e->n_media;
        e->n_media += (size_t)n;
    }
    *p = (path){.to = to + 1, .n = n, .first = p->first};
    for (int i = 0; i < n; i++) {
        const th_link *l = &s->links[links[i]];
        e->media[p->first + (size_t)i] = l->medium;
        p->latency_ps += l->latency_ps;
        if (w->limits->digest)
            digest_link(w, l);
    }
    return 0;
}

/* Adds the message to the loads of this round and of all. */
static void load(walk *w, const message *m)
{
    th_estimator *e = w->e;
    for (int32_t i = 0; e->shares && i < m->way->n; i++) {
        int32_t medium = e->media[m->way->first + (size_t)i];
        double ps = m->bytes * e->ps_per_byte[medium];
        bool is_known = e->round[medium] >= e->first;
        e->load_ps[medium] = ps + (e->round[medium] == e->now ? e->load_ps[medium] : 0);
        e->total_ps[medium] = ps + (is_known ? e->total_ps[medium] : 0);
        e->round[medium] = e->now;
        w->ps = e->total_ps[medium] > w->ps ? e->total_ps[medium] : w->ps;
    }
}

/* When it arrives: its bytes take as long as those of this round on its busiest medium. */
static double arrival_of(const walk *w, const message *m)
{
    const th_estimator *e = w->e;
    double longest = 0;
    if (m->way->n == 0) /* within a node */
        return m->start_ps + m->work_ps;
    for (int32_t i = 0; i < m->way->n; i++) {
        int32_t medium = e->media[m->way->first + (size_t)i];
        double ps = e->shares ? e->load_ps[medium] : m->bytes * e->ps_per_byte[medium];
        longest = ps > longest ? ps : longest;
    }
    return m->start_ps + (double)(m->way->latency_ps + w->cs->collective->delay_ps) + longest;
}

/* --- steps ------------------------------------------------------------------------------------ */

static void wake(walk *w, int32_t participant)
{
    if (w->woken[participant] == w->e->now + 1)
        return;
    w->woken[participant] = w->e->now + 1;
    w->next[w->n_next++] = participant;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

static int send(walk *w, int32_t p, const th_collective_step *s, double ready_ps, th_error *err)
{
    size_t port = (size_t)p * (size_t)w->cs->n_ports + (size_t)s->send_port;
    path *way = &w->paths[port];
    if (way->to != s->to + 1 && find_path(w, way, p, s->to, err))
        return -1;
    if (th_grow(&w->messages, &w->capacity, w->n + 1, sizeof *w->messages))
        return th_error_no_memory(err);
    if (w->limits->digest)
        *w->limits->digest = th_hash_word(
            th_hash_word(*w->limits->digest, name_of(w, 0, w->e->node_name, w->cs->node[p])),
            name_of(w, 0, w->e->node_name, w->cs->node[s->to]));
    message *m = &w->messages[w->n++];
    *m = (message){.to = s->to,
                   .to_port = s->to_port,
                   .port = port,
                   .way = way,
                   .start_ps = later(ready_ps, w->free_ps[port]),
                   .bytes = (double)s->bytes,
                   .work_ps = (double)s->work_ps};
    load(w, m);
    w->n_ports += w->busy[port] == 0;
    w->busy[port] = w->e->now;
    w->n_messages++;
    return 0;
}

/* The steps of a thread that can be done in this round. */
static int walk_thread(walk *w, int32_t p, int32_t thread, th_error *err)
{
    const th_collective_schedule *cs = w->cs;
    int64_t *step = &w->step[(int64_t)p * cs->n_threads + thread];
    double *ready_ps = &w->ready_ps[(int64_t)p * cs->n_threads + thread];
    th_collective_step s;
    for (; cs->algorithm->get_step(cs, p, thread, *step, &s); ++*step) {
        int64_t ports = (int64_t)p * cs->n_ports;
        if (s.wait_port >= 0 && w->received[ports + s.wait_port] < s.wait_count)
            return 0;
        if (s.wait_port >= 0)
            *ready_ps = later(*ready_ps, w->arrived_ps[ports + s.wait_port]);
        if (s.send_port < 0)
            continue;
        if (w->busy[ports + s.send_port] == w->e->now) {
            wake(w, p);
            return 0;
        }
        if (send(w, p, &s, *ready_ps, err))
            return -1;
    }
    return 0;
}

static void end_round(walk *w)
{
    for (size_t i = 0; i < w->n; i++) {
        const message *m = &w->messages[i];
        int64_t to = (int64_t)m->to * w->cs->n_ports + m->to_port;
        double ps = arrival_of(w, m);
        w->free_ps[m->port] = ps;
        w->arrived_ps[to] = later(w->arrived_ps[to], ps);
        w->ps = later(w->ps, ps);
        w->received[to]++;
        wake(w, m->to);
    }
    int32_t *swap = w->awake;
    w->awake = w->next;
    w->n_awake = w->n_next;
    w->next = swap;
    w->n_next = 0;
    w->n = 0;
    w->e->now++;
}

static int begin(walk *w, th_error *err)
{
    size_t n = (size_t)w->cs->n_participants, threads = n * (size_t)w->cs->n_threads + 1;
    size_t ports = n * (size_t)w->cs->n_ports + 1;
    th_estimator *e = w->e;
    w->step = th_alloc_zero(threads, sizeof *w->step);
    w->received = th_alloc_zero(ports, sizeof *w->received);
    w->busy = th_alloc_zero(ports, sizeof *w->busy);
    w->paths = th_alloc_zero(ports, sizeof *w->paths);
    w->awake = th_alloc_array(n + 1, sizeof *w->awake);
    w->next = th_alloc_array(n + 1, sizeof *w->next);
    w->woken = th_alloc_zero(n + 1, sizeof *w->woken);
    w->ready_ps = th_alloc_zero(threads, sizeof *w->ready_ps);
    w->arrived_ps = th_alloc_zero(ports, sizeof *w->arrived_ps);
    w->free_ps = th_alloc_zero(ports, sizeof *w->free_ps);
    if (w->limits->digest) {
        e->medium_name = th_alloc_zero((size_t)e->s->n_media + 1, sizeof *e->medium_name);
        e->node_name = th_alloc_zero((size_t)e->s->n_nodes + 1, sizeof *e->node_name);
    }
    if (!w->step || !w->received || !w->busy || !w->paths || !w->awake || !w->next || !w->woken ||
        !w->ready_ps || !w->arrived_ps || !w->free_ps ||
        (w->limits->digest && (!e->medium_name || !e->node_name)))
        return th_error_no_memory(err);
    e->n_media = 0;
    e->first = ++e->now;
    for (int32_t p = 0; p < w->cs->n_participants; p++)
        w->awake[w->n_awake++] = p;
    return 0;
}

static void end(walk *w)
{
    th_free(w->step);
    th_free(w->received);
    th_free(w->busy);
    th_free(w->paths);
    th_free(w->awake);
    th_free(w->next);
    th_free(w->woken);
    th_free(w->messages);
    th_free(w->ready_ps);
    th_free(w->arrived_ps);
    th_free(w->free_ps);
    th_free(w->e->medium_name);
    th_free(w->e->node_name);
    w->e->medium_name = w->e->node_name = NULL;
}

static th_estimate_outcome all_rounds(walk *w, th_error *err)
{
    const th_estimate_limits *l = w->limits;
    for (int64_t round = 1; w->n_awake > 0; round++) {
        for (int32_t i = 0; i < w->n_awake; i++) {
            for (int32_t t = 0; t < w->cs->n_threads; t++)
                if (walk_thread(w, w->awake[i], t, err))
                    return TH_ESTIMATE_FAILED;
            if (w->n_messages > l->messages || w->n_ports > l->ports)
                return TH_ESTIMATE_LARGE;
        }
        end_round(w);
        if (w->ps > l->bound_ps)
            return TH_ESTIMATE_LATE;
        if (l->is_interrupted && round % POLL_ROUNDS == 0 && l->is_interrupted()) {
            th_error_interrupted(err, "no algorithm was chosen");
            return TH_ESTIMATE_FAILED;
        }
    }
    return TH_ESTIMATE_DONE;
}

th_estimate_outcome th_collective_estimate(th_estimator *e, const th_collective_schedule *cs,
                                           const th_estimate_limits *limits, double *ps,
                                           th_error *err)
{
    walk w = {.e = e, .cs = cs, .limits = limits};
    th_estimate_outcome o = begin(&w, err) ? TH_ESTIMATE_FAILED : all_rounds(&w, err);
    *ps = w.ps;
    end(&w);
    return o;
}
