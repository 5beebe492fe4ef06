/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tuner.c - the algorithm `auto`: simulates what bounds leave, on the idle system and the group
 * itself, and selects the fastest.
 *   is it known? -> list candidates with bounds -> simulate, the least bound first -> remember
 *
 * Candidates are all algorithms of the table that implement the kind (or the given algorithm), each
 * with the given number of chunks, or with 1, 2, 4 ... within CHUNKS_MOST, CHUNKS_IN_ALL,
 * CHUNK_MIN, MESSAGES_CHUNKED. Where the messages of all algorithms in one chunk are more than
 * MESSAGES_SMALL, only the ALGORITHMS_LARGE with the least bounds are simulated, in 1, 8, 64 ...
 * chunks. While others remain, those are left out that take long to simulate: more than
 * MESSAGES_MAX messages, or more than AT_ONCE_MAX at once, but for an all_to_all, whose data are as
 * many.
 *
 * The bound of a candidate: each of SAMPLES participants sends the messages of a port one after the
 * other, each with its overhead, its route's latency and its bytes at the least rate of the route;
 * and each medium carries all bytes that the participant sends over it. Not modelled: other traffic
 * at the time of the collective. */
#include <config.h>

#include "sim/replay/tuner.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/collective/algorithms.h"
#include "topology/routing/route.h"
#include "topology/routing/stripe.h"

enum {
    CHUNKS_MOST = 1024,
    CHUNKS_IN_ALL = 1 << 16,    /* ranks times chunks */
    CHUNK_MIN = 128,            /* bytes */
    MESSAGES_CHUNKED = 1 << 19, /* in all, with more than one chunk */
    MESSAGES_SMALL = 1 << 17,
    MESSAGES_MAX = 1 << 21, /* a ring all_reduce of 1024 ranks is just below */
    AT_ONCE_MAX = 1 << 19,  /* ports that send: a direct all_reduce of 512 ranks is just below */
    CHUNKS_FACTOR_LARGE = 8,
    ALGORITHMS_LARGE = 6,
    SAMPLES = 6,
    SAMPLE_STEPS = 4096,  /* of a participant */
    CANDIDATES_MAX = 256, /* algorithms times numbers of chunks */
};

typedef struct candidate {
    const th_algorithm *algorithm;
    int32_t chunks;
    double bound; /* ps */
    int64_t messages;
    bool is_slow; /* to simulate */
    bool is_done; /* simulated, or refused */
} candidate;

typedef struct tuning {
    const th_tuner_context *context;
    const th_collective *open;
    th_collective_kept *kept, own; /* of the group; own: where the context has none */
    double *load;                  /* ps by medium, of one participant */
    void *simulation;              /* NULL: not needed yet */
    th_program *program;
    candidate candidates[CANDIDATES_MAX];
    int n;
    th_time best; /* TH_TIME_MAX: none yet */
    const candidate *chosen;
    bool is_refused, is_refused_late; /* some candidate; while it ran, which says more */
    th_error refusal;                 /* of the first that was refused late; else, of the last */
} tuning;

/* The algorithm refuses the group, or the network the algorithm: 0, the candidate is skipped. -1:
 * out of memory, or interrupted. */
static int refuse(tuning *k, const th_error *why, bool is_late, th_error *err)
{
    if (th_error_is_interrupted(why))
        return th_error_interrupted(err, "no algorithm was chosen");
    if (strncmp(why->id, "BASE-", 5) == 0)
        return th_error_no_memory(err);
    if (!k->is_refused_late)
        k->refusal = *why;
    k->is_refused = true;
    k->is_refused_late |= is_late;
    return 0;
}

/* --- bounds ----------------------------------------------------------------------------------- */

/* What a participant sends. */
typedef struct sender {
    const th_collective_schedule *cs;
    int32_t participant;
    double *port_ps; /* per port: its messages so far */
    int64_t messages, ports;
    double most; /* of ports and media so far */
} sender;

static int add_message(const tuning *k, sender *x, const th_collective_step *s, th_error *why)
{
    const th_system *system = k->context->system;
    int links[TH_ROUTE_MAX], from = x->cs->node[x->participant], to = x->cs->node[s->to];
    int n = th_route(system, from, to, links);
    if (n < 0)
        return th_route_error(system, from, to, n, why);
    int64_t slowest = INT64_MAX;
    double ps = (double)s->work_ps;
    for (int i = 0; i < n; i++) {
        const th_link *l = &system->links[links[i]];
        int64_t bits = th_stripe_most_bits(system, links[i], s->bytes);
        double carried = (double)s->bytes * 8.0 * (double)TH_PS_PER_S / (double)bits;
        slowest = bits < slowest ? bits : slowest;
        ps += (double)l->latency_ps;
        k->load[l->medium] += k->context->has_no_sharing ? 0 : carried;
        x->most = fmax(x->most, k->load[l->medium] * (1 - 1e-9));
    }
    double *port = &x->port_ps[s->send_port];
    x->ports += *port < 0;
    *port = *port < 0 ? 0 : *port;
    *port += ps; /* whole numbers, so their sum is exact */
    if (n > 0)
        *port += (double)th_time_add(th_duration_ps(s->bytes, slowest), k->open->delay_ps);
    x->most = fmax(x->most, *port);
    x->messages++;
    return 0;
}

static int send_all(const tuning *k, sender *x, th_error *why)
{
    for (int32_t t = 0; t < x->cs->n_threads; t++) {
        th_collective_step s;
        for (int64_t i = 0; i < SAMPLE_STEPS; i++) {
            if (!x->cs->algorithm->get_step(x->cs, x->participant, t, i, &s))
                break;
            if (s.send_port >= 0 && add_message(k, x, &s, why))
                return -1;
        }
    }
    return 0;
}

/* Sets the bound and the number of messages, which is exact if all participants send as many. 0, or
 * -1: memory is out, or there is no route. */
static int find_bound(tuning *k, candidate *d, const th_collective_schedule *cs, th_error *why)
{
    size_t n_media = (size_t)k->context->system->n_media;
    int32_t stride = cs->n_participants / SAMPLES + 1, n = 0;
    sender x = {.cs = cs, .port_ps = th_alloc_array((size_t)cs->n_ports + 1, sizeof(double))};
    if (!x.port_ps)
        return th_error_no_memory(why);
    int failed = 0;
    for (; x.participant < cs->n_participants && !failed; x.participant += stride, n++) {
        for (int32_t i = 0; i < cs->n_ports; i++)
            x.port_ps[i] = -1; /* has not sent */
        memset(k->load, 0, n_media * sizeof *k->load);
        failed = send_all(k, &x, why);
    }
    d->bound = x.most;
    d->messages = x.messages * cs->n_participants / n;
    d->is_slow = d->messages > MESSAGES_MAX ||
                 (k->open->kind != TH_ALL_TO_ALL && x.ports * cs->n_participants / n > AT_ONCE_MAX);
    th_free(x.port_ps);
    return failed;
}

/* --- candidates ------------------------------------------------------------------------------- */

static int examine(tuning *k, candidate *d, th_error *err)
{
    th_collective c = *k->open;
    c.algorithm = d->algorithm;
    c.chunks = d->chunks;
    th_collective_schedule cs;
    th_error why = {"", ""};
    if (k->context->is_interrupted && k->context->is_interrupted())
        return th_error_interrupted(err, "no algorithm was chosen");
    d->is_done = th_collective_schedule_init_again(&cs, &c, k->context->system, k->kept, &why);
    if (!d->is_done) {
        d->is_done = find_bound(k, d, &cs, &why);
        th_collective_schedule_clear(&cs);
    }
    return d->is_done ? refuse(k, &why, false, err) : 0;
}

static bool may_have(const th_collective *open, int64_t chunks)
{
    return chunks <= CHUNKS_MOST && open->bytes / chunks >= CHUNK_MIN &&
           chunks * open->n_ranks <= CHUNKS_IN_ALL;
}

/* More chunks of candidate `first`, which has one, until they change nothing. 0 or -1. */
static int add_chunks(tuning *k, int first, int32_t factor, th_error *err)
{
    const candidate one = k->candidates[first];
    for (int32_t chunks = factor; may_have(k->open, chunks); chunks *= factor) {
        candidate d = {.algorithm = one.algorithm, .chunks = chunks};
        if (one.messages * chunks > MESSAGES_CHUNKED)
            return 0;
        if (examine(k, &d, err))
            return -1;
        if (d.is_done || (d.messages == one.messages && d.bound == one.bound))
            return 0;
        assert(k->n < CANDIDATES_MAX);
        k->candidates[k->n++] = d;
    }
    return 0;
}

static int add_algorithm(tuning *k, const th_algorithm *a, th_error *err)
{
    candidate d = {.algorithm = a, .chunks = k->open->chunks > 0 ? k->open->chunks : 1};
    if (examine(k, &d, err))
        return -1;
    if (!d.is_done)
        k->candidates[k->n++] = d;
    return 0;
}

/* Every algorithm once. 0 or -1. */
static int list_algorithms(tuning *k, th_error *err)
{
    const th_collective *c = k->open;
    if (c->algorithm || c->kind == TH_USER_SCHEDULE)
        return add_algorithm(k, c->algorithm ? c->algorithm : &th_algorithm_schedule, err);
    for (int i = 0; th_algorithms[i]; i++)
        if ((th_algorithms[i]->kinds >> c->kind & 1u) && add_algorithm(k, th_algorithms[i], err))
            return -1;
    return 0;
}

/* Before which candidate does it come in the table? */
static bool comes_first(const candidate *a, const candidate *b)
{
    for (int i = 0; th_algorithms[i]; i++)
        if (th_algorithms[i] == a->algorithm || th_algorithms[i] == b->algorithm)
            return a->algorithm == b->algorithm ? a->chunks < b->chunks
                                                : th_algorithms[i] == a->algorithm;
    return a->chunks < b->chunks;
}

/* Can it still be chosen? */
static bool can_win(const tuning *k, const candidate *d)
{
    return !d->is_done && (!k->chosen || d->bound < (double)k->best ||
                           (d->bound == (double)k->best && comes_first(d, k->chosen)));
}

/* The least bound of those that can still be chosen, slow ones last. NULL: none. */
static candidate *next_best(tuning *k, int n)
{
    candidate *best = NULL;
    for (int i = 0; i < n; i++) {
        candidate *d = &k->candidates[i];
        bool is_better = !best || d->is_slow < best->is_slow ||
                         (d->is_slow == best->is_slow && d->bound < best->bound);
        if (can_win(k, d) && is_better && !(d->is_slow && k->chosen))
            best = d;
    }
    return best;
}

/* --- simulations ------------------------------------------------------------------------------ */

static int begin_simulations(tuning *k, th_error *err)
{
    if (k->simulation)
        return 0;
    k->simulation = k->context->simulator->create(k->context->setup, err);
    k->program = k->simulation ? th_program_new(err) : NULL;
    return k->program ? 0 : -1;
}

/* Whether *d ends before what has been chosen, or with it, and comes before it in the table: then
 * it is chosen. 0 or -1. */
static int simulate(tuning *k, candidate *d, th_error *err)
{
    const th_task task = {.kind = TH_TASK_COLLECTIVE, .node = -1, .peer = -1, .layer = -1};
    th_program *p = k->program;
    th_collective c = *k->open;
    th_error why = {"", ""};
    th_time end = TH_TIME_MAX;
    c.algorithm = d->algorithm;
    c.chunks = d->chunks;
    d->is_done = true;
    if (k->context->choices)
        th_collective_choices_show(k->context->choices, &c);
    th_program_clear(p);
    if (th_program_add_collective(p, &c, err) < 0 || th_program_add(p, &task, err) < 0 ||
        th_program_finish(p, err))
        return -1;
    th_time bound = k->chosen && comes_first(d, k->chosen) ? k->best : k->best - 1;
    if (k->context->simulator->run(k->simulation, p, bound, &end, &why))
        return refuse(k, &why, true, err);
    if (end < TH_TIME_MAX) {
        k->best = end;
        k->chosen = d;
    }
    return 0;
}

/* Simulates candidates of the first n, the least bound first, but one alone needs none. 0 or -1. */
static int compare(tuning *k, int n, th_error *err)
{
    for (candidate *d = next_best(k, n); d; d = next_best(k, n))
        if (begin_simulations(k, err) || simulate(k, d, err))
            return -1;
    return 0;
}

/* Candidates from a number on, of at most so many messages, in their order. 0 or -1. */
static int compare_chunked(tuning *k, int first, int64_t messages, th_error *err)
{
    for (int i = first; i < k->n; i++) {
        candidate *d = &k->candidates[i];
        if (can_win(k, d) && d->messages <= messages && simulate(k, d, err))
            return -1;
    }
    return 0;
}

/* Of many messages: the algorithms with the least bounds one after the other, each first in one
 * chunk; those of many messages last, as they stop at the best of the others; others only where the
 * network refuses these. 0 or -1. */
static int compare_large(tuning *k, th_error *err)
{
    int n = k->n, taken = 0;
    bool may_chunk = k->open->chunks == 0;
    for (candidate *d = next_best(k, n); d && (taken < ALGORITHMS_LARGE || !k->chosen);
         d = next_best(k, n), taken++) {
        int first = k->n;
        if (begin_simulations(k, err) || simulate(k, d, err) ||
            (may_chunk && add_chunks(k, (int)(d - k->candidates), CHUNKS_FACTOR_LARGE, err)))
            return -1;
        if (compare_chunked(k, first, MESSAGES_SMALL, err))
            return -1;
    }
    return compare_chunked(k, n, INT64_MAX, err);
}

static int choose(tuning *k, th_error *err)
{
    if (list_algorithms(k, err))
        return -1;
    int64_t messages = 0;
    int n = k->n;
    for (int i = 0; i < n; i++)
        messages += k->candidates[i].is_slow ? MESSAGES_SMALL : k->candidates[i].messages;
    bool is_large = messages > MESSAGES_SMALL;
    for (int i = 0; i < n && !is_large && k->open->chunks == 0; i++)
        if (add_chunks(k, i, 2, err))
            return -1;
    if (k->n == 1 && (!is_large || k->open->chunks > 0))
        k->chosen = &k->candidates[0];
    else if (is_large ? compare_large(k, err) : compare(k, k->n, err))
        return -1;
    if (k->chosen)
        return 0;
    assert(k->is_refused); /* every kind has algorithms, and a run not refused ends */
    if (err)
        *err = k->refusal;
    return -1;
}

static int choose_new(tuning *k, th_collective_choice *out, th_error *err)
{
    th_collective_choices *known = k->context->choices;
    k->load = th_alloc_array((size_t)k->context->system->n_media + 1, sizeof *k->load);
    int failed = k->load ? choose(k, err) : th_error_no_memory(err);
    if (known && k->simulation)
        th_collective_choices_show(known, NULL);
    if (!failed)
        *out = (th_collective_choice){k->chosen->algorithm, k->chosen->chunks};
    th_program_free(k->program);
    if (k->simulation)
        k->context->simulator->destroy(k->simulation);
    th_free(k->load);
    th_collective_kept_clear(&k->own);
    return failed;
}

/* Of a group, or one of its form. */
static int find_or_choose(tuning *k, th_collective_choice *out, th_error *err)
{
    const th_tuner_context *t = k->context;
    th_collective_choice_key form;
    if (!t->choices || k->open->schedule)
        return choose_new(k, out, err);
    th_collective_choice_key key = th_collective_choices_key(k->open, t->options);
    if (th_collective_choices_find(t->choices, &key, out))
        return 0;
    int has_form = t->has_forms ? th_group_form(k->open, t->system, t->options, &form, err) : 0;
    bool is_known = has_form > 0 && th_collective_choices_find(t->choices, &form, out);
    if (has_form < 0 || (!is_known && choose_new(k, out, err)) ||
        (has_form > 0 && !is_known && th_collective_choices_add(t->choices, &form, *out, err)))
        return -1;
    return th_collective_choices_add(t->choices, &key, *out, err);
}

int th_tuner_choose(const th_tuner_context *t, const th_collective *c,
                    const th_algorithm **algorithm, int32_t *chunks, th_error *err)
{
    th_collective checked = *c;
    th_collective_choice choice = {NULL, 0};
    checked.chunks = c->chunks > 0 ? c->chunks : 1;
    if (th_collective_check(&checked, t->system, err))
        return -1;
    tuning *k = th_alloc_zero(1, sizeof *k);
    if (!k)
        return th_error_no_memory(err);
    *k = (tuning){.context = t, .open = c, .best = TH_TIME_MAX};
    k->kept = t->kept ? t->kept : &k->own;
    int failed = find_or_choose(k, &choice, err);
    th_free(k);
    if (failed)
        return -1;
    *algorithm = choice.algorithm;
    *chunks = choice.chunks;
    return 0;
}
