/* SPDX-License-Identifier: GPL-3.0-or-later */
/* user_schedule.c - user-written schedules: their contents, checks, and the algorithm that runs
 * them. new -> add_* -> finish: number connections and messages -> match both ends -> execute ->
 * free
 *
 * A connection is (sender, receiver, channel) and has one port at either end; the k-th send of a
 * connection matches its k-th receive. `execute` ignores time: a thread runs until it receives a
 * message that has not been sent. If no thread can continue and steps are left, the schedule
 * deadlocks (a send never waits for a receive, so the order of trying threads does not matter).
 * Not modelled: the time of copying and adding; a limit on messages sent and not yet received. */
#include <config.h>

#include "sim/collective/user_schedule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "sim/collective/algorithms.h"

/* --- contents --------------------------------------------------------------------------------- */

th_user_schedule *th_user_schedule_new(const char *file, th_error *err)
{
    th_user_schedule *u = th_alloc_zero(1, sizeof *u);
    if (u)
        u->file = th_alloc_string(file);
    if (u && u->file &&
        th_grow(&u->rank_thread, &u->rank_capacity, 1, sizeof *u->rank_thread) == 0 &&
        th_grow(&u->thread_step, &u->thread_capacity, 1, sizeof *u->thread_step) == 0) {
        u->rank_thread[0] = u->thread_step[0] = 0;
        return u;
    }
    th_error_no_memory(err);
    th_user_schedule_free(u);
    return NULL;
}

void th_user_schedule_free(th_user_schedule *u)
{
    if (!u)
        return;
    th_free(u->file);
    th_free(u->rank_thread);
    th_free(u->thread_step);
    th_free(u->steps);
    th_free(u);
}

int th_user_schedule_add_rank(th_user_schedule *u, th_error *err)
{
    if (th_grow(&u->rank_thread, &u->rank_capacity, (size_t)u->n_ranks + 2, sizeof *u->rank_thread))
        return th_error_no_memory(err);
    u->rank_thread[++u->n_ranks] = u->n_threads;
    return 0;
}

int th_user_schedule_add_thread(th_user_schedule *u, th_error *err)
{
    if (th_grow(&u->thread_step, &u->thread_capacity, (size_t)u->n_threads + 2,
                sizeof *u->thread_step))
        return th_error_no_memory(err);
    u->thread_step[++u->n_threads] = u->n_steps;
    u->rank_thread[u->n_ranks] = u->n_threads;
    return 0;
}

int th_user_schedule_add_step(th_user_schedule *u, const th_user_schedule_step *step, th_error *err)
{
    if (th_grow(&u->steps, &u->step_capacity, (size_t)u->n_steps + 1, sizeof *u->steps))
        return th_error_no_memory(err);
    u->steps[u->n_steps++] = *step;
    u->thread_step[u->n_threads] = u->n_steps;
    return 0;
}

/* --- connections ------------------------------------------------------------------------------ */

/* One end of a connection: its sends, or its receives. */
typedef struct end {
    int32_t rank, thread, port;
    int32_t n_messages;
    int32_t first; /* in the list of its steps */
    int32_t next;  /* the next free index in that list */
} end;

typedef struct joining {
    th_user_schedule *u;
    th_map *numbers; /* (sends?, sender, receiver, channel) -> number in ends */
    end *ends;
    int32_t n_ends;
    size_t end_capacity;
    int32_t *end_of;  /* by step */
    int32_t *listed;  /* steps by end, in order */
    int32_t *n_ports; /* by rank and direction */
} joining;

typedef struct name {
    int32_t sends, sender, receiver, channel;
} name;

static name name_of(const th_user_schedule_step *s, int32_t rank, bool sends)
{
    return (name){sends, s->sends ? rank : s->peer, s->sends ? s->peer : rank, s->channel};
}

/* The other end of a step's connection; -1: there is none. */
static int32_t other_end(const joining *j, const th_user_schedule_step *s, int32_t rank)
{
    name n = name_of(s, rank, !s->sends);
    int64_t number;
    return th_map_get(j->numbers, &n, sizeof n, &number) ? (int32_t)number : -1;
}

static int check_step(const joining *j, const th_user_schedule_step *s, int32_t rank, th_error *err)
{
    const th_user_schedule *u = j->u;
    const char *verb = s->sends ? "send" : "recv";
    if (s->peer < 0 || s->peer >= u->n_ranks)
        return th_error_set(err, "COLL-0030", "%s:%d: %s = %d of rank %d: ranks are 0 .. %d",
                            u->file, s->line, verb, s->peer, rank, u->n_ranks - 1);
    if (s->peer == rank)
        return th_error_set(err, "COLL-0031", "%s:%d: %s = %d of rank %d: must be another rank",
                            u->file, s->line, verb, s->peer, rank);
    const th_user_schedule_size *size = &s->size, *at = &s->at;
    if (s->sends && size->b > 0 && at->b > 0 &&
        (int64_t)at->a * size->b + (int64_t)size->a * at->b > (int64_t)at->b * size->b)
        return th_error_set(
            err, "COLL-0046",
            "%s:%d: rank %d sends %d/%d from %d/%d on: beyond the end of the vector", u->file,
            s->line, rank, size->a, size->b, at->a, at->b);
    return 0;
}

static int add_to_end(joining *j, int32_t step, int32_t rank, int32_t thread, th_error *err)
{
    const th_user_schedule *u = j->u;
    const th_user_schedule_step *s = &u->steps[step];
    name n = name_of(s, rank, s->sends);
    int64_t number = j->n_ends;
    if (!th_map_get(j->numbers, &n, sizeof n, &number)) {
        if (th_grow(&j->ends, &j->end_capacity, (size_t)j->n_ends + 1, sizeof *j->ends) ||
            th_map_put(j->numbers, &n, sizeof n, number))
            return th_error_no_memory(err);
        j->ends[j->n_ends++] =
            (end){.rank = rank, .thread = thread, .port = j->n_ports[2 * rank + s->sends]++};
    }
    end *e = &j->ends[number];
    if (e->thread != thread)
        return th_error_set(err, "COLL-0032",
                            "%s:%d: rank %d %s rank %d in two threads: messages of one channel "
                            "belong to one thread (channel = N parts them)",
                            u->file, s->line, rank, s->sends ? "sends to" : "receives from",
                            s->peer);
    e->n_messages++;
    j->end_of[step] = (int32_t)number;
    return 0;
}

static int for_all_steps(joining *j,
                         int (*visit)(joining *j, int32_t step, int32_t rank, int32_t thread,
                                      th_error *err),
                         th_error *err)
{
    const th_user_schedule *u = j->u;
    for (int32_t r = 0; r < u->n_ranks; r++)
        for (int32_t t = u->rank_thread[r]; t < u->rank_thread[r + 1]; t++)
            for (int32_t s = u->thread_step[t]; s < u->thread_step[t + 1]; s++)
                if (visit(j, s, r, t, err))
                    return -1;
    return 0;
}

static int find_end(joining *j, int32_t step, int32_t rank, int32_t thread, th_error *err)
{
    return check_step(j, &j->u->steps[step], rank, err) || add_to_end(j, step, rank, thread, err);
}

static int list_step(joining *j, int32_t step, int32_t rank, int32_t thread, th_error *err)
{
    end *e = &j->ends[j->end_of[step]];
    (void)rank;
    (void)thread;
    (void)err;
    j->listed[e->first + e->next] = step;
    j->u->steps[step].number = e->next++;
    j->u->steps[step].port = e->port;
    return 0;
}

/* --- matching --------------------------------------------------------------------------------- */

static const char *size_text(const th_user_schedule_size *s, char *out, size_t n)
{
    if (s->b > 0)
        snprintf(out, n, "%d/%d", s->a, s->b);
    else
        snprintf(out, n, "%" PRId64 " B", s->bytes);
    return out;
}

static bool is_same_size(const th_user_schedule_size *one, const th_user_schedule_size *other)
{
    if ((one->b > 0) != (other->b > 0))
        return false;
    return one->b > 0 ? (int64_t)one->a * other->b == (int64_t)other->a * one->b
                      : one->bytes == other->bytes;
}

/* The peer has no receive (send) for this send (receive). */
static int no_match(const joining *j, const th_user_schedule_step *s, int32_t rank,
                    const end *other, th_error *err)
{
    const th_user_schedule *u = j->u;
    const char *does = s->sends ? "sends to" : "receives from";
    const char *answers = s->sends ? "receives" : "sends";
    if (!other)
        return th_error_set(err, "COLL-0033",
                            "%s:%d: rank %d %s rank %d, which never %s on channel %d", u->file,
                            s->line, rank, does, s->peer, answers, s->channel);
    int last = u->steps[j->listed[other->first + other->n_messages - 1]].line;
    return th_error_set(err, "COLL-0034",
                        "%s:%d: rank %d %s rank %d for the %d. time; rank %d %s %d times (last at "
                        "line %d)",
                        u->file, s->line, rank, does, s->peer, s->number + 1, s->peer, answers,
                        other->n_messages, last);
}

static int match_step(joining *j, int32_t step, int32_t rank, int32_t thread, th_error *err)
{
    th_user_schedule *u = j->u;
    th_user_schedule_step *s = &u->steps[step];
    int32_t number = other_end(j, s, rank);
    const end *other = number < 0 ? NULL : &j->ends[number];
    (void)thread;
    if (!other || s->number >= other->n_messages)
        return no_match(j, s, rank, other, err);
    s->match = j->listed[other->first + s->number];
    s->peer_port = other->port;
    const th_user_schedule_step *m = &u->steps[s->match];
    char here[40], there[40];
    if (!is_same_size(&s->size, &m->size))
        return th_error_set(
            err, "COLL-0035", "%s:%d: rank %d %s %s %s rank %d, which %s %s (line %d)", u->file,
            s->line, rank, s->sends ? "sends" : "receives", size_text(&s->size, here, sizeof here),
            s->sends ? "to" : "from", s->peer, s->sends ? "receives" : "sends",
            size_text(&m->size, there, sizeof there), m->line);
    return 0;
}

/* --- execution without time --------------------------------------------------------------------
 */

/* Runs every thread as far as it can; O(threads) a round, O(steps * threads) in all at worst. */
static bool run_threads(const th_user_schedule *u, int32_t *at, bool *done)
{
    bool moved = false;
    for (int32_t t = 0; t < u->n_threads; t++)
        for (; at[t] < u->thread_step[t + 1]; at[t]++) {
            const th_user_schedule_step *s = &u->steps[at[t]];
            if (!s->sends && !done[s->match])
                break;
            done[at[t]] = moved = true;
        }
    return moved;
}

static int32_t rank_of_step(const th_user_schedule *u, int32_t step)
{
    int32_t r = 0;
    while (u->thread_step[u->rank_thread[r + 1]] <= step)
        r++;
    return r;
}

static int report_deadlock(const th_user_schedule *u, const int32_t *at, th_error *err)
{
    int32_t t = 0;
    while (at[t] == u->thread_step[t + 1])
        t++;
    const th_user_schedule_step *s = &u->steps[at[t]], *m = &u->steps[s->match];
    int32_t rank = rank_of_step(u, at[t]), other = 0;
    while (u->thread_step[other + 1] <= s->match) /* the thread that should send it */
        other++;
    return th_error_set(
        err, "COLL-0036",
        "%s:%d: rank %d waits for rank %d, which would send at line %d but waits at "
        "line %d: nobody can go on",
        u->file, s->line, rank, s->peer, m->line, u->steps[at[other]].line);
}

static int execute(const th_user_schedule *u, th_error *err)
{
    int32_t *at = th_alloc_array((size_t)u->n_threads + 1, sizeof *at);
    bool *done = th_alloc_zero((size_t)u->n_steps + 1, sizeof *done);
    int failed = !at || !done ? th_error_no_memory(err) : 0;
    if (!failed) {
        memcpy(at, u->thread_step, (size_t)u->n_threads * sizeof *at);
        while (run_threads(u, at, done))
            continue;
        for (int32_t t = 0; t < u->n_threads && !failed; t++)
            if (at[t] < u->thread_step[t + 1])
                failed = report_deadlock(u, at, err);
    }
    th_free(at);
    th_free(done);
    return failed;
}

/* --- finishing -------------------------------------------------------------------------------- */

static void count_threads_and_ports(joining *j)
{
    th_user_schedule *u = j->u;
    u->max_rank_threads = u->max_rank_ports = 1;
    for (int32_t r = 0; r < u->n_ranks; r++) {
        int32_t threads = u->rank_thread[r + 1] - u->rank_thread[r];
        u->max_rank_threads = threads > u->max_rank_threads ? threads : u->max_rank_threads;
        for (int i = 0; i < 2; i++)
            if (j->n_ports[2 * r + i] > u->max_rank_ports)
                u->max_rank_ports = j->n_ports[2 * r + i];
    }
}

static int join(joining *j, th_error *err)
{
    th_user_schedule *u = j->u;
    j->numbers = th_map_new();
    j->end_of = th_alloc_array((size_t)u->n_steps + 1, sizeof *j->end_of);
    j->listed = th_alloc_array((size_t)u->n_steps + 1, sizeof *j->listed);
    j->n_ports = th_alloc_zero(2 * (size_t)u->n_ranks + 1, sizeof *j->n_ports);
    if (!j->numbers || !j->end_of || !j->listed || !j->n_ports)
        return th_error_no_memory(err);
    if (for_all_steps(j, find_end, err))
        return -1;
    for (int32_t i = 0, first = 0; i < j->n_ends; i++) {
        j->ends[i].first = first;
        first += j->ends[i].n_messages;
    }
    count_threads_and_ports(j);
    return for_all_steps(j, list_step, err) || for_all_steps(j, match_step, err) ? -1 : 0;
}

int th_user_schedule_finish(th_user_schedule *u, th_error *err)
{
    joining j = {.u = u};
    int failed = join(&j, err) || execute(u, err);
    th_map_free(j.numbers);
    th_free(j.ends);
    th_free(j.end_of);
    th_free(j.listed);
    th_free(j.n_ports);
    return failed ? -1 : 0;
}

/* --- the algorithm ---------------------------------------------------------------------------- */

static int prepare(th_collective_schedule *cs, th_error *err)
{
    const th_collective *c = cs->collective;
    const th_user_schedule *u = c->schedule;
    if (!u)
        return th_error_set(err, "COLL-0045", "%s of %d ranks by schedule: no schedule is given",
                            th_collective_names[c->kind], c->n_ranks);
    if (u->n_ranks != c->n_ranks)
        return th_error_set(err, "COLL-0037", "%s of %d ranks by schedule: %s is for %d",
                            th_collective_names[c->kind], c->n_ranks, u->file, u->n_ranks);
    return th_collective_schedule_set_ranks(cs, u->max_rank_threads, u->max_rank_ports, err);
}

static int64_t bytes_of(const th_user_schedule_size *s, int64_t all)
{
    return s->b > 0 ? (int64_t)((__int128)all * s->a / s->b) : s->bytes;
}

static int64_t most_of(const th_user_schedule_size *s, int64_t all)
{
    return s->b > 0 ? th_piece_most(all, s->a, s->b) : 0;
}

/* Begin and end are rounded one by one, so that neighbouring pieces meet whatever S is. */
static th_range range_of(const th_user_schedule_step *s, int64_t all)
{
    int64_t first = bytes_of(&s->at, all);
    if (s->size.b == 0 || s->at.b == 0)
        return (th_range){first, bytes_of(&s->size, all), most_of(&s->size, all)};
    __int128 past = (__int128)s->at.a * s->size.b + (__int128)s->size.a * s->at.b;
    return (th_range){first, (int64_t)(all * past / ((__int128)s->at.b * s->size.b)) - first,
                      most_of(&s->size, all)};
}

static bool get_step(const th_collective_schedule *cs, int32_t participant, int32_t thread,
                     int64_t step, th_collective_step *out)
{
    const th_user_schedule *u = cs->collective->schedule;
    int32_t t = u->rank_thread[participant] + thread;
    *out = TH_COLLECTIVE_STEP_NONE;
    if (t >= u->rank_thread[participant + 1] || step >= u->thread_step[t + 1] - u->thread_step[t])
        return false;
    const th_user_schedule_step *s = &u->steps[u->thread_step[t] + step];
    if (!s->sends) {
        out->wait_port = s->port;
        out->wait_count = s->number + 1;
        return true;
    }
    th_collective_step_send(out, s->port, s->peer, s->peer_port,
                            range_of(s, cs->collective->bytes));
    out->reduces = u->steps[s->match].reduces;
    return true;
}

const th_algorithm th_algorithm_schedule = {
    .name = "schedule",
    .synopsis = "as the schedule file says",
    .kinds = 1u << TH_USER_SCHEDULE,
    .prepare = prepare,
    .get_step = get_step,
};
