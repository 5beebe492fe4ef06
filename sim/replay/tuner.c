/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tuner.c - the algorithm `auto`: simulates every candidate algorithm on the idle system and
 * selects the fastest.
 *
 * Candidates are all algorithms of the table that implement the kind (or the given algorithm), each
 * with the given number of chunks, or with 1, 4, 16 and 64 as long as a chunk keeps CHUNK_MIN bytes
 * and ranks times chunks stay below CHUNKS_IN_ALL. A simulation stops once it is later than the
 * best so far. The tuner skips algorithms that do not support the group and, while another
 * algorithm remains, those that are slow to simulate: more than MESSAGES_MAX messages, or more than
 * AT_ONCE_MAX at once. Not modelled: other traffic at the time of the collective. */
#include <config.h>

#include "sim/replay/tuner.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/collective/algorithms.h"

enum {
    CHUNKS_MOST = 64,
    CHUNKS_STEP = 4,
    CHUNKS_IN_ALL = 4096,   /* ranks times chunks */
    CHUNK_MIN = 4096,       /* bytes; smaller chunks cost more latency than they save */
    MESSAGES_MAX = 1 << 21, /* a ring all_reduce of 1024 ranks is just below */
    AT_ONCE_MAX = 1 << 15
};

typedef struct tuning {
    const th_tuner_context *context;
    void *simulation;
    th_program *program;
    th_time best; /* TH_TIME_MAX: none yet */
    const th_algorithm *algorithm;
    int32_t chunks;
    bool takes_large;                 /* simulates the large candidates, too */
    bool skipped_large;               /* a large candidate was skipped */
    bool is_refused, is_refused_late; /* some candidate; while it ran, which says more */
    th_error refusal;                 /* of the first that was refused late; else, of the last */
} tuning;

/* Adds the messages of a thread, up to MESSAGES_MAX, and to at_once the ports that it is the first
 * to use. */
static void count_thread(const th_collective_schedule *cs, int32_t p, int32_t thread, bool *used,
                         int64_t *messages, int64_t *at_once)
{
    th_collective_step s;
    for (int64_t step = 0;
         *messages <= MESSAGES_MAX && cs->algorithm->get_step(cs, p, thread, step, &s); step++) {
        if (s.send_port < 0)
            continue;
        ++*messages;
        *at_once += !used[s.send_port];
        used[s.send_port] = true;
    }
}

/* 1: too large to be simulated while others remain; 0; -1: out of memory. */
static int is_large(const th_collective_schedule *cs)
{
    int64_t messages = 0, at_once = 0;
    for (int32_t p = 0; p < cs->n_participants; p++) {
        bool *used = th_alloc_zero((size_t)cs->n_ports + 1, sizeof *used);
        if (!used)
            return -1;
        for (int32_t thread = 0; thread < cs->n_threads; thread++)
            count_thread(cs, p, thread, used, &messages, &at_once);
        th_free(used);
        if (messages > MESSAGES_MAX || at_once > AT_ONCE_MAX)
            return 1;
    }
    return 0;
}

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

/* Whether to simulate candidate *c: 1, 0, or -1. */
static int check_candidate(tuning *k, const th_collective *c, th_error *err)
{
    th_collective_schedule cs;
    th_error why = {"", ""};
    if (th_collective_schedule_init(&cs, c, k->context->system, &why))
        return refuse(k, &why, false, err);
    int large = k->takes_large ? 0 : is_large(&cs);
    th_collective_schedule_clear(&cs);
    if (large < 0)
        return th_error_no_memory(err);
    k->skipped_large |= large > 0;
    return !large;
}

/* *end: the end time of *c, whose algorithm and chunks are set; TH_TIME_MAX: not before the best. 0
 * or -1. */
static int simulate(tuning *k, const th_collective *c, th_time *end, th_error *err)
{
    const th_task task = {.kind = TH_TASK_COLLECTIVE, .node = -1, .peer = -1, .layer = -1};
    th_program *p = k->program;
    th_error why = {"", ""};
    *end = TH_TIME_MAX;
    th_program_clear(p);
    if (th_program_add_collective(p, c, err) < 0 || th_program_add(p, &task, err) < 0 ||
        th_program_finish(p, err))
        return -1;
    if (!k->context->simulator->run(k->simulation, p, k->best - 1, end, &why))
        return 0;
    *end = TH_TIME_MAX;
    return refuse(k, &why, true, err);
}

/* One algorithm with each number of chunks. 0 or -1. */
static int tune_chunks(tuning *k, const th_collective *open, const th_algorithm *a, th_error *err)
{
    th_collective c = *open;
    bool any = open->chunks == 0;
    c.algorithm = a;
    for (c.chunks = any ? 1 : open->chunks;; c.chunks *= CHUNKS_STEP) {
        th_time end;
        int can = check_candidate(k, &c, err);
        if (can <= 0)
            return can;
        if (simulate(k, &c, &end, err))
            return -1;
        if (end < k->best) {
            k->best = end;
            k->algorithm = a;
            k->chunks = c.chunks;
        }
        int32_t more = c.chunks * CHUNKS_STEP;
        if (!any || more > CHUNKS_MOST || c.bytes / more < CHUNK_MIN ||
            (int64_t)more * c.n_ranks > CHUNKS_IN_ALL)
            return 0;
    }
}

static int try_all(tuning *k, const th_collective *c, th_error *err)
{
    if (c->algorithm || c->kind == TH_USER_SCHEDULE)
        return tune_chunks(k, c, c->algorithm ? c->algorithm : &th_algorithm_schedule, err);
    for (int i = 0; th_algorithms[i]; i++)
        if ((th_algorithms[i]->kinds >> c->kind & 1u) && tune_chunks(k, c, th_algorithms[i], err))
            return -1;
    return 0;
}

static int choose(tuning *k, const th_collective *c, th_error *err)
{
    if (try_all(k, c, err))
        return -1;
    if (!k->algorithm && k->skipped_large) {
        k->takes_large = true;
        if (try_all(k, c, err))
            return -1;
    }
    if (k->algorithm)
        return 0;
    assert(k->is_refused); /* every kind has algorithms, and a run not refused ends */
    if (err)
        *err = k->refusal;
    return -1;
}

int th_tuner_choose(const th_tuner_context *t, const th_collective *c,
                    const th_algorithm **algorithm, int32_t *chunks, th_error *err)
{
    tuning k = {.context = t, .best = TH_TIME_MAX};
    k.simulation = t->simulator->create(t->setup, err);
    k.program = k.simulation ? th_program_new(err) : NULL;
    int failed = k.program ? choose(&k, c, err) : -1;
    th_program_free(k.program);
    t->simulator->destroy(k.simulation);
    if (failed)
        return -1;
    *algorithm = k.algorithm;
    *chunks = k.chunks;
    return 0;
}
