/* SPDX-License-Identifier: GPL-3.0-or-later */
/* choose.c - `auto`: the same machine simulates every candidate, alone on the system, and the
 * quickest is kept.
 *
 * Candidates are all algorithms of the table that do the kind (or the one that is given), each with
 * the chunks that are given, or with 1, 4, 16, 64 as long as a chunk keeps CHUNK_MIN bytes and
 * there are few ranks. A run is given up as soon as it is later than the best so far. Algorithms
 * that refuse the group are passed over; so are those that would take long to simulate, more than
 * MESSAGES_MAX messages, or more than AT_ONCE_MAX at once, where another one is left. Not modelled:
 * what else goes on at the time; the choice is for a system that is otherwise idle. */
#include <config.h>

#include "sim/replay/choose.h"

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

typedef struct choosing {
    const th_choice_world *world;
    th_machine *machine;
    th_program *program;
    th_time best; /* TH_TIME_MAX: none yet */
    const th_algorithm *algorithm;
    int32_t chunks;
    bool takes_all;                   /* the large ones too */
    bool left_out;                    /* a large one has been passed over */
    bool is_refused, is_refused_late; /* the group; while it ran, which says more */
    th_error refusal;                 /* why the first of those that ran did; else, the last */
} choosing;

/* Messages of a lane, until the count is over; at_once counts ports that are met for the first
 * time. */
static void count_lane(const th_expansion *x, int32_t p, int32_t lane, bool *met, int64_t *messages,
                       int64_t *at_once)
{
    th_action a;
    for (int64_t step = 0; *messages <= MESSAGES_MAX && x->algorithm->action(x, p, lane, step, &a);
         step++) {
        if (a.send_port < 0)
            continue;
        ++*messages;
        *at_once += !met[a.send_port];
        met[a.send_port] = true;
    }
}

/* 1: too large to be tried among others; 0; -1: memory. */
static int is_large(const th_expansion *x)
{
    int64_t messages = 0, at_once = 0;
    for (int32_t p = 0; p < x->n_participants; p++) {
        bool *met = th_alloc_zero((size_t)x->n_ports + 1, sizeof *met);
        if (!met)
            return -1;
        for (int32_t lane = 0; lane < x->n_lanes; lane++)
            count_lane(x, p, lane, met, &messages, &at_once);
        th_free(met);
        if (messages > MESSAGES_MAX || at_once > AT_ONCE_MAX)
            return 1;
    }
    return 0;
}

static int give_up(th_error *err)
{
    return th_error_interrupted(err, "no algorithm was chosen");
}

/* The algorithm refuses the group, or the network the algorithm: 0, it is passed over. -1: memory,
 * or Ctrl-C. */
static int refuse(choosing *k, const th_error *why, bool is_late, th_error *err)
{
    if (th_error_is_interrupted(why))
        return give_up(err);
    if (strncmp(why->id, "BASE-", 5) == 0)
        return th_error_no_memory(err);
    if (!k->is_refused_late)
        k->refusal = *why;
    k->is_refused = true;
    k->is_refused_late |= is_late;
    return 0;
}

/* May this one be simulated? 1, 0, or -1. */
static int can_try(choosing *k, const th_collective *c, th_error *err)
{
    th_expansion x;
    th_error why = {"", ""};
    if (th_expansion_init(&x, c, k->world->system, &why))
        return refuse(k, &why, false, err);
    int large = k->takes_all ? 0 : is_large(&x);
    th_expansion_clear(&x);
    if (large < 0)
        return th_error_no_memory(err);
    k->left_out |= large > 0;
    return !large;
}

/* When *c, which leaves nothing open, ends; TH_TIME_MAX: not before the best. 0 or -1. */
static int simulate(choosing *k, const th_collective *c, th_time *end, th_error *err)
{
    const th_task task = {.kind = TH_TASK_COLLECTIVE, .node = -1, .peer = -1, .layer = -1};
    th_program *p = k->program;
    th_error why = {"", ""};
    *end = TH_TIME_MAX;
    th_program_clear(p);
    if (th_program_add_collective(p, c, err) < 0 || th_program_add(p, &task, err) < 0 ||
        th_program_finish(p, err))
        return -1;
    th_stop stop = th_machine_load(k->machine, p, &why)
                       ? TH_STOP_ERROR
                       : th_machine_run_bounded(k->machine, k->best - 1, &why);
    if (stop == TH_STOP_BOUND && k->best == TH_TIME_MAX)
        stop = th_machine_run_bounded(k->machine, TH_TIME_MAX,
                                      &why); /* it says that time ends before */
    if (stop == TH_STOP_DONE)
        *end = th_machine_now(k->machine);
    if (stop == TH_STOP_INTERRUPTED)
        return give_up(err);
    return stop == TH_STOP_ERROR ? refuse(k, &why, true, err) : 0;
}

/* One algorithm with its chunks. 0 or -1. */
static int try_algorithm(choosing *k, const th_collective *open, const th_algorithm *a,
                         th_error *err)
{
    th_collective c = *open;
    bool any = open->chunks == 0;
    c.algorithm = a;
    for (c.chunks = any ? 1 : open->chunks;; c.chunks *= CHUNKS_STEP) {
        th_time end;
        int can = can_try(k, &c, err);
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

static int try_all(choosing *k, const th_collective *c, th_error *err)
{
    if (c->algorithm || c->kind == TH_USER_SCHEDULE)
        return try_algorithm(k, c, c->algorithm ? c->algorithm : &th_algorithm_schedule, err);
    for (int i = 0; th_algorithms[i]; i++)
        if ((th_algorithms[i]->kinds >> c->kind & 1u) && try_algorithm(k, c, th_algorithms[i], err))
            return -1;
    return 0;
}

static int choose(choosing *k, const th_collective *c, th_error *err)
{
    if (try_all(k, c, err))
        return -1;
    if (!k->algorithm && k->left_out) {
        k->takes_all = true;
        if (try_all(k, c, err))
            return -1;
    }
    if (k->algorithm)
        return 0;
    assert(k->is_refused); /* each kind has algorithms, and what is not refused ends */
    if (err)
        *err = k->refusal;
    return -1;
}

int th_collective_choose(const th_choice_world *w, const th_collective *c,
                         const th_algorithm **algorithm, int32_t *chunks, th_error *err)
{
    choosing k = {.world = w, .best = TH_TIME_MAX};
    th_machine_options options = *w->options;
    options.expand_seed = 0;
    k.machine = th_machine_new(w->system, w->costs, &options, err);
    k.program = k.machine ? th_program_new(err) : NULL;
    int failed = k.program ? choose(&k, c, err) : -1;
    th_program_free(k.program);
    th_machine_free(k.machine);
    if (failed)
        return -1;
    *algorithm = k.algorithm;
    *chunks = k.chunks;
    return 0;
}
