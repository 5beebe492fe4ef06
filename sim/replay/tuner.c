/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tuner.c - the algorithm `auto`: estimates every candidate, simulates the best two on the idle
 * system and selects the faster.
 *   is it known? -> list candidates with estimates -> simulate two -> remember
 *
 * Candidates are all algorithms of the table that implement the kind (or the given algorithm), each
 * with the given number of chunks, or with 1, 4, 16 and 64 as long as a chunk keeps CHUNK_MIN bytes
 * and ranks times chunks stay below CHUNKS_IN_ALL. An estimate stops once it is later than the
 * second best so far, a simulation once it is later than the first. The tuner skips algorithms that
 * do not support the group and, while another algorithm remains, those that are slow to simulate:
 * more than MESSAGES_MAX messages, or more than AT_ONCE_MAX at once. Not modelled: other traffic at
 * the time of the collective. */
#include <config.h>

#include "sim/replay/tuner.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/collective/algorithms.h"

enum {
    CHUNKS_MOST = 64,
    CHUNKS_STEP = 4,
    CHUNKS_IN_ALL = 4096,   /* ranks times chunks */
    CHUNK_MIN = 4096,       /* bytes; smaller chunks cost more latency than they save */
    MESSAGES_MAX = 1 << 21, /* a ring all_reduce of 1024 ranks is just below */
    AT_ONCE_MAX = 1 << 15,
    CANDIDATES_MAX = 128, /* algorithms times numbers of chunks */
    SIMULATED = 2
};

typedef struct candidate {
    const th_algorithm *algorithm;
    int32_t chunks;
    double ps;    /* estimate */
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
    bool is_exact; /* no estimate is stopped */
    th_time best;  /* TH_TIME_MAX: none yet */
    const candidate *chosen;
    int n_simulated;
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

/* The better of two candidates that have not been simulated; either may be NULL. */
static candidate *better(candidate *a, candidate *b)
{
    if (!a || !b)
        return a ? a : b;
    return b->ps < a->ps ? b : a;
}

/* The candidate to simulate next: the least estimate among the algorithms that have not been tried
 * (`but` aside); with a given algorithm, among all. NULL: none. */
static candidate *next_best(tuning *k, const candidate *but)
{
    candidate *best = NULL;
    for (int i = 0; i < k->n; i++) {
        candidate *d = &k->candidates[i];
        bool is_other = !but || (k->open->algorithm ? d != but : d->algorithm != but->algorithm);
        if (!d->is_done && is_other)
            best = better(best, d);
    }
    return best;
}

/* What an estimate must not exceed to matter. */
static double bound_of(tuning *k)
{
    const candidate *first = k->is_exact ? NULL : next_best(k, NULL);
    const candidate *second = first ? next_best(k, first) : NULL;
    return second ? second->ps : HUGE_VAL;
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
    th_estimate_limits limits = {bound_of(k), k->takes_large ? INT64_MAX : MESSAGES_MAX,
                                 k->takes_large ? INT64_MAX : AT_ONCE_MAX, NULL,
                                 k->context->is_interrupted};
    th_estimate_outcome o = th_collective_estimate(k->estimator, &cs, &limits, &d->ps, err);
    th_collective_schedule_clear(&cs);
    d->is_late = o == TH_ESTIMATE_LATE;
    d->is_done = o == TH_ESTIMATE_LARGE;
    k->skipped_large |= o == TH_ESTIMATE_LARGE;
    return o == TH_ESTIMATE_FAILED ? -1 : 0;
}

/* One algorithm with each number of chunks. 0 or -1. */
static int add_algorithm(tuning *k, const th_algorithm *a, th_error *err)
{
    const th_collective *open = k->open;
    bool any = open->chunks == 0;
    for (int32_t chunks = any ? 1 : open->chunks;; chunks *= CHUNKS_STEP) {
        candidate d = {.algorithm = a, .chunks = chunks};
        if (estimate(k, &d, err))
            return -1;
        if (d.is_done)
            return 0;
        assert(k->n < CANDIDATES_MAX);
        k->candidates[k->n++] = d;
        int32_t more = chunks * CHUNKS_STEP;
        if (!any || more > CHUNKS_MOST || open->bytes / more < CHUNK_MIN ||
            (int64_t)more * open->n_ranks > CHUNKS_IN_ALL)
            return 0;
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

/* Estimates to the end what was stopped because others were better, which have been refused. */
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

/* Simulates the best two that the network does not refuse. One alone needs no simulation. */
static int compare(tuning *k, th_error *err)
{
    candidate *d = next_best(k, NULL);
    if (d && !next_best(k, d)) {
        k->chosen = d;
        return 0;
    }
    while (d && k->n_simulated < SIMULATED) {
        if (begin_simulations(k, err) || simulate(k, d, err))
            return -1;
        if (k->is_refused_late && !k->is_exact && finish_estimates(k, err))
            return -1;
        d = next_best(k, d);
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
