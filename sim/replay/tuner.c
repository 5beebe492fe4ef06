/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tuner.c - the algorithm `auto`: estimates every candidate, simulates the best on the idle system
 * and selects the fastest.
 *   is it known? -> list candidates with estimates -> simulate the best -> remember
 *
 * Candidates are all algorithms of the table that implement the kind (or the given algorithm), each
 * with the given number of chunks, or with 1, 2, 4 ... up to the first that is worse than fewer or
 * changes nothing, within CHUNKS_MOST, CHUNKS_IN_ALL, CHUNK_MIN, THREADS_CHUNKED, MESSAGES_CHUNKED.
 * Simulated are the best two algorithms by their estimates, then, in the order of their estimates,
 * all candidates up to NEAR times the least simulated time, as long as their messages are
 * MESSAGES_NEAR in sum. An estimate stops once it is too late for that, a simulation once it is
 * later than the first. The tuner skips algorithms that do not support the group and, while another
 * algorithm remains, those that are slow to simulate: more than MESSAGES_MAX messages, or more than
 * AT_ONCE_MAX at once. Not modelled: other traffic at the time of the collective. */
#include <config.h>

#include "sim/replay/tuner.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/collective/algorithms.h"

enum {
    CHUNKS_MOST = 1024,
    CHUNKS_IN_ALL = 1 << 16,    /* ranks times chunks */
    CHUNK_MIN = 4096,           /* bytes; smaller chunks cost more latency than they save */
    THREADS_CHUNKED = 128,      /* of a participant, with more than one chunk */
    MESSAGES_CHUNKED = 1 << 20, /* in all, with more than one chunk */
    MESSAGES_MAX = 1 << 21,     /* a ring all_reduce of 1024 ranks is just below */
    MESSAGES_NEAR = 1 << 17,    /* a few hundredths of a second */
    AT_ONCE_MAX = 1 << 15,
    CANDIDATES_MAX = 256, /* algorithms times numbers of chunks */
    SIMULATED_LEAST = 2
};
static const double NEAR = 1.15;  /* errors of estimates are less, but for a few */
static const double WORSE = 1.02; /* than with fewer chunks: more will not be better */
static const double SAME = 1e-3;

typedef struct candidate {
    const th_algorithm *algorithm;
    int32_t chunks;
    double ps; /* estimate */
    int64_t messages;
    bool is_late; /* the estimate was stopped at ps */
    bool is_done; /* simulated, or refused */
} candidate;

typedef struct tuning {
    const th_tuner_context *context;
    const th_collective *open; /* of the size of its class */
    th_estimator *estimator;
    int32_t *tour;    /* th_collective_schedule.tour */
    void *simulation; /* NULL: not needed yet */
    th_program *program;
    candidate candidates[CANDIDATES_MAX];
    int n;
    bool is_exact; /* no estimate is stopped because of another */
    th_time best;  /* TH_TIME_MAX: none yet */
    const candidate *chosen;
    int n_simulated;
    int64_t near_messages;            /* simulated beyond the least number */
    bool takes_large;                 /* the large candidates, too */
    bool skipped_large;               /* a large candidate was skipped */
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

/* --- estimates -------------------------------------------------------------------------------- */

/* The least estimate among candidates that have not been simulated, of algorithms that have not
 * been (`but` aside); of a given algorithm, among all. NULL: none. */
static candidate *next_best(tuning *k, const candidate *but)
{
    candidate *best = NULL;
    for (int i = 0; i < k->n; i++) {
        candidate *d = &k->candidates[i];
        bool is_other = !but || (k->open->algorithm ? d != but : d->algorithm != but->algorithm);
        if (!d->is_done && is_other && (!best || d->ps < best->ps))
            best = d;
    }
    return best;
}

/* What an estimate must not exceed to matter. */
static double bound_of(tuning *k)
{
    if (k->best < TH_TIME_MAX)
        return NEAR * (double)k->best;
    const candidate *first = k->is_exact ? NULL : next_best(k, NULL);
    const candidate *second = first ? next_best(k, first) : NULL;
    if (!second)
        return HUGE_VAL;
    return second->ps > NEAR * first->ps ? second->ps : NEAR * first->ps;
}

static int estimate(tuning *k, candidate *d, th_error *err)
{
    th_collective c = *k->open;
    c.algorithm = d->algorithm;
    c.chunks = d->chunks;
    th_collective_schedule cs;
    th_error why = {"", ""};
    if (th_collective_schedule_init_again(&cs, &c, k->context->system, &k->tour, &why)) {
        d->is_done = true;
        return refuse(k, &why, false, err);
    }
    if (k->open->chunks == 0 && d->chunks > 1 && cs.n_threads > THREADS_CHUNKED) {
        d->is_done = true;
        th_collective_schedule_clear(&cs);
        return 0;
    }
    th_estimate_limits limits = {bound_of(k), k->takes_large ? INT64_MAX : MESSAGES_MAX,
                                 k->takes_large ? INT64_MAX : AT_ONCE_MAX, NULL,
                                 k->context->is_interrupted};
    th_collective_estimated e;
    th_estimate_outcome o = th_collective_estimate(k->estimator, &cs, &limits, &e, err);
    th_collective_schedule_clear(&cs);
    d->ps = e.ps;
    d->messages = e.messages;
    d->is_late = o == TH_ESTIMATE_LATE;
    d->is_done = o == TH_ESTIMATE_LARGE;
    k->skipped_large |= o == TH_ESTIMATE_LARGE;
    return o == TH_ESTIMATE_FAILED ? -1 : 0;
}

/* Whether `chunks` chunks are worth an estimate. */
static bool may_have(const th_collective *open, int32_t chunks)
{
    return chunks <= CHUNKS_MOST && open->bytes / chunks >= CHUNK_MIN &&
           (int64_t)chunks * open->n_ranks <= CHUNKS_IN_ALL;
}

/* Whether a candidate is estimated as one with fewer chunks: then more chunks change nothing. */
static bool is_same(const candidate *a, const candidate *b)
{
    double difference = a->ps > b->ps ? a->ps - b->ps : b->ps - a->ps;
    return a->is_late ? b->is_late && a->messages == b->messages && difference == 0
                      : !b->is_late && difference <= SAME * b->ps;
}

/* One algorithm with each number of chunks. 0 or -1. */
static int add_algorithm(tuning *k, const th_algorithm *a, th_error *err)
{
    const th_collective *open = k->open;
    const int first = k->n;
    double least = HUGE_VAL;
    for (int32_t chunks = open->chunks > 0 ? open->chunks : 1;; chunks *= 2) {
        candidate d = {.algorithm = a, .chunks = chunks};
        if (estimate(k, &d, err))
            return -1;
        if (d.is_done || (k->n > first && is_same(&d, &k->candidates[k->n - 1])))
            return 0;
        assert(k->n < CANDIDATES_MAX);
        k->candidates[k->n++] = d;
        if (open->chunks > 0 || d.ps > WORSE * least || !may_have(open, 2 * chunks) ||
            d.messages > MESSAGES_CHUNKED / 2)
            return 0;
        if (!d.is_late && d.ps < least)
            least = d.ps;
    }
}

static int list_candidates(tuning *k, th_error *err)
{
    const th_collective *c = k->open;
    k->n = 0;
    if (c->algorithm || c->kind == TH_USER_SCHEDULE)
        return add_algorithm(k, c->algorithm ? c->algorithm : &th_algorithm_schedule, err);
    for (int i = 0; th_algorithms[i]; i++)
        if ((th_algorithms[i]->kinds >> c->kind & 1u) && add_algorithm(k, th_algorithms[i], err))
            return -1;
    return 0;
}

/* Goes on with estimates that were stopped because others were better, which have been refused or
 * take longer than estimated. */
static int finish_estimates(tuning *k, th_error *err)
{
    k->is_exact = true;
    for (int i = 0; i < k->n; i++)
        if (k->candidates[i].is_late && !k->candidates[i].is_done &&
            estimate(k, &k->candidates[i], err))
            return -1;
    return 0;
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
    th_time bound = k->chosen && d < k->chosen ? k->best : k->best - 1;
    if (k->context->simulator->run(k->simulation, p, bound, &end, &why))
        return refuse(k, &why, true, err);
    k->n_simulated++;
    if (end < TH_TIME_MAX) {
        k->best = end;
        k->chosen = d;
    }
    return 0;
}

/* The candidate to simulate after `last`; NULL: enough have been simulated. */
static candidate *next_to_simulate(tuning *k, const candidate *last)
{
    candidate *best = k->n_simulated < SIMULATED_LEAST ? next_best(k, last) : NULL;
    if (best)
        return best;
    for (int i = 0; i < k->n; i++) {
        candidate *d = &k->candidates[i];
        if (!d->is_done && d->ps <= NEAR * (double)k->best &&
            d->messages <= MESSAGES_NEAR - k->near_messages && (!best || d->ps < best->ps))
            best = d;
    }
    return best;
}

static bool is_alone(const tuning *k)
{
    int n = 0;
    for (int i = 0; i < k->n; i++)
        n += !k->candidates[i].is_done;
    return n == 1;
}

/* Simulates the best that the network does not refuse. One alone needs no simulation. */
static int compare(tuning *k, th_error *err)
{
    candidate *d = next_best(k, NULL), *last = NULL;
    if (d && is_alone(k)) {
        k->chosen = d;
        return 0;
    }
    while (d) {
        bool was_bound = !k->is_exact;
        if (!d->is_late || !was_bound) {
            if (k->n_simulated >= SIMULATED_LEAST)
                k->near_messages += d->messages;
            if (begin_simulations(k, err) || simulate(k, d, err))
                return -1;
            last = d;
        }
        if (was_bound && (d->is_late || k->is_refused_late) && finish_estimates(k, err))
            return -1;
        d = next_to_simulate(k, last);
    }
    return 0;
}

static int choose(tuning *k, th_error *err)
{
    if (list_candidates(k, err) || compare(k, err))
        return -1;
    if (!k->chosen && k->skipped_large) {
        k->takes_large = true;
        k->is_exact = false;
        if (list_candidates(k, err) || compare(k, err))
            return -1;
    }
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
    int failed = choose(k, err);
    if (known && k->simulation)
        th_collective_choices_show(known, NULL);
    if (!failed)
        *out = (th_collective_choice){k->chosen->algorithm, k->chosen->chunks};
    th_program_free(k->program);
    if (k->simulation)
        k->context->simulator->destroy(k->simulation);
    return failed;
}

static int find_or_choose(tuning *k, th_collective_choice *out, th_error *err)
{
    const th_tuner_context *t = k->context;
    th_collective_choice_key key;
    if (!t->choices || k->open->schedule)
        return choose_new(k, out, err);
    if (th_collective_choices_key(k->open, t->system, k->estimator, t->options, &key, err))
        return -1;
    if (th_collective_choices_find(t->choices, &key, out))
        return 0;
    return choose_new(k, out, err) || th_collective_choices_add(t->choices, &key, *out, err) ? -1
                                                                                             : 0;
}

static int choose_by_size(const th_tuner_context *t, const th_collective *c, int64_t bytes,
                          th_collective_choice *choice, th_error *err)
{
    th_collective open = *c;
    open.bytes = bytes;
    tuning *k = th_alloc_zero(1, sizeof *k);
    if (!k)
        return th_error_no_memory(err);
    *k = (tuning){.context = t, .open = &open, .best = TH_TIME_MAX};
    k->estimator = th_estimator_new(t->system, !t->has_no_sharing);
    int failed = k->estimator ? find_or_choose(k, choice, err) : th_error_no_memory(err);
    th_estimator_free(k->estimator);
    th_free(k->tour);
    th_free(k);
    return failed;
}

int th_tuner_choose(const th_tuner_context *t, const th_collective *c,
                    const th_algorithm **algorithm, int32_t *chunks, th_error *err)
{
    th_collective checked = *c;
    th_collective_choice choice = {NULL, 0};
    th_error why = {"", ""};
    int64_t bytes = th_collective_choices_size(c);
    checked.chunks = c->chunks > 0 ? c->chunks : 1;
    if (th_collective_check(&checked, t->system, err))
        return -1;
    /* what a collective of the class cannot do, this one may, or says so of its own size */
    int failed = choose_by_size(t, c, bytes, &choice, &why);
    if (failed && bytes != c->bytes && strncmp(why.id, "BASE-", 5) != 0)
        failed = choose_by_size(t, c, c->bytes, &choice, &why);
    if (failed) {
        if (err)
            *err = why;
        return -1;
    }
    *algorithm = choice.algorithm;
    *chunks = choice.chunks;
    return 0;
}
