/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective_help.h - executes the expansion of a collective on real data, and tells what is wrong.
 *
 *   const char *wrong = collective_wrong(&c, system, seed);   NULL: every rank ends with the right
 *   data
 *
 * A little interpreter of threads and ports of its own: it knows no time; which message arrives
 * next is drawn at random (or the youngest first, seed 0), so that an algorithm that relies on an
 * order of arrivals nobody promised is found out. Every position holds a random word per rank, and
 * sums are modulo 2^64: a contribution that is missing or counted twice shows. A rank that sends
 * what it does not hold is found too. */
#ifndef TH_TESTS_UNIT_COLLECTIVE_HELP_H
#define TH_TESTS_UNIT_COLLECTIVE_HELP_H
#include <string.h>
#include <stdarg.h>
#include "base/alloc.h"
#include "sim/collective/collective.h"
#include "tests/unit/sim_help.h"

/* What one participant holds: a word per position, and whether it does. */
typedef struct {
    uint64_t *word;
    bool *has;
    uint8_t *knows; /* barrier: ranks that it has heard of */
} col_memory;

typedef struct {
    int32_t from, port, to, to_port, n_ranges;
    th_range *ranges;
    uint64_t *word; /* one range behind the other */
    bool *has;
    uint8_t *knows;
    int64_t bytes;
    bool reduces;
} col_flight;

typedef struct {
    const th_collective_schedule *x;
    const th_collective *c;
    int64_t n_positions;
    col_memory *memory;
    int64_t *step;    /* by thread; -1: through */
    int32_t *arrived; /* by port */
    bool *busy;
    col_flight *flights;
    int64_t n_flights;
    int64_t sent, received, n_messages;
    gsl_rng *random;
    char wrong[300];
} col_run;

static inline bool col_fail(col_run *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!r->wrong[0])
        vsnprintf(r->wrong, sizeof r->wrong, format, args);
    va_end(args);
    return false;
}

/* What a rank brings in at a position. */
static inline uint64_t col_contribution(int64_t rank, int64_t position)
{
    uint64_t z = (uint64_t)(rank * 1000003 + position + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
}

static inline uint64_t col_sum(const th_collective *c, int64_t position)
{
    uint64_t sum = 0;
    for (int32_t i = 0; i < c->n_ranks; i++)
        sum += col_contribution(i, position);
    return sum;
}

/* --- before and after ------------------------------------------------------------------------- */

static inline bool col_in(th_range r, int64_t position)
{
    return position >= r.first && position < r.first + r.bytes;
}

static inline bool col_in_row(const th_collective *c, int32_t rank, int64_t position)
{
    for (int32_t j = 0; j < c->n_ranks; j++)
        if (col_in((th_range){th_pair_first(c, rank, j), th_pair_bytes(c, rank, j)}, position))
            return true;
    return false;
}

static inline bool col_in_column(const th_collective *c, int32_t rank, int64_t position)
{
    for (int32_t i = 0; i < c->n_ranks; i++)
        if (col_in((th_range){th_pair_first(c, i, rank), th_pair_bytes(c, i, rank)}, position))
            return true;
    return false;
}

/* Does the rank hold the position at the start? */
static inline bool col_starts_with(const th_collective *c, int32_t rank, int64_t position)
{
    switch ((th_collective_kind)c->kind) {
    case TH_ALL_REDUCE:
    case TH_REDUCE_SCATTER:
    case TH_REDUCE:
        return true;
    case TH_ALL_GATHER:
    case TH_GATHER:
        return col_in(th_range_pieces(c->bytes, rank, rank + 1, c->n_ranks), position);
    case TH_BROADCAST:
    case TH_SCATTER:
        return rank == c->root;
    case TH_ALL_TO_ALL:
        return col_in_row(c, rank, position);
    case TH_SEND_RECV:
        return rank == 0;
    case TH_BARRIER:
    case TH_USER_SCHEDULE:
    case TH_N_COLLECTIVES:
        break;
    }
    return false;
}

static inline bool col_sums(const th_collective *c)
{
    return c->kind == TH_ALL_REDUCE || c->kind == TH_REDUCE_SCATTER || c->kind == TH_REDUCE;
}

/* Must the rank hold the right word there at the end? */
static inline bool col_ends_with(const th_collective *c, int32_t rank, int64_t position)
{
    switch ((th_collective_kind)c->kind) {
    case TH_ALL_REDUCE:
    case TH_ALL_GATHER:
    case TH_BROADCAST:
        return true;
    case TH_REDUCE_SCATTER:
    case TH_SCATTER:
        return col_in(th_range_pieces(c->bytes, rank, rank + 1, c->n_ranks), position);
    case TH_REDUCE:
    case TH_GATHER:
        return rank == c->root;
    case TH_ALL_TO_ALL:
        return col_in_column(c, rank, position);
    case TH_SEND_RECV:
        return rank == 1;
    case TH_BARRIER:
    case TH_USER_SCHEDULE:
    case TH_N_COLLECTIVES:
        break;
    }
    return false;
}

static inline uint64_t col_right_word(const th_collective *c, int64_t position)
{
    if (col_sums(c))
        return col_sum(c, position);
    for (int32_t i = 0; i < c->n_ranks; i++)
        if (col_starts_with(c, i, position))
            return col_contribution(i, position);
    return 0;
}

/* --- running ---------------------------------------------------------------------------------- */

/* The ranges of what a step sends; their number. */
static inline int32_t col_ranges(const col_run *r, int32_t p, int32_t thread, int64_t step,
                                 const th_collective_step *a, th_range **out)
{
    int32_t n = 0;
    th_range one;
    if (!r->x->algorithm->range) {
        *out = th_alloc_array(1, sizeof **out);
        (*out)[0] = (th_range){a->first, a->bytes};
        return 1;
    }
    while (r->x->algorithm->range(r->x, p, thread, step, n, &one))
        n++;
    *out = th_alloc_array((size_t)n + 1, sizeof **out);
    for (int32_t i = 0; i < n; i++)
        r->x->algorithm->range(r->x, p, thread, step, i, &(*out)[i]);
    return n;
}

/* Takes the data out of the sender's memory. */
static inline void col_load(col_run *r, col_flight *f)
{
    const col_memory *m = &r->memory[f->from];
    int64_t at = 0;
    f->word = th_alloc_array((size_t)f->bytes + 1, sizeof *f->word);
    f->knows = th_alloc_array((size_t)r->c->n_ranks, 1);
    memcpy(f->knows, m->knows, (size_t)r->c->n_ranks);
    for (int32_t i = 0; i < f->n_ranges; i++)
        for (int64_t j = 0; j < f->ranges[i].bytes; j++) {
            int64_t position = f->ranges[i].first + j;
            if (position < 0 || position >= r->n_positions || at >= f->bytes) {
                col_fail(r, "participant %d sends position %lld of %lld", f->from,
                         (long long)position, (long long)r->n_positions);
                return;
            }
            if (!m->has[position])
                col_fail(r, "participant %d sends position %lld to %d without having it", f->from,
                         (long long)position, f->to);
            f->word[at++] = m->word[position];
        }
    if (at != f->bytes)
        col_fail(r, "participant %d says %lld bytes and sends %lld", f->from, (long long)f->bytes,
                 (long long)at);
}

static inline bool col_post(col_run *r, int32_t p, int32_t thread, int64_t step,
                            const th_collective_step *a)
{
    const th_collective_schedule *x = r->x;
    if (a->to < 0 || a->to >= x->n_participants || a->send_port >= x->n_ports || a->to_port < 0 ||
        a->to_port >= x->n_ports || a->bytes < 0)
        return col_fail(r, "participant %d, thread %d, step %lld: nonsense", p, thread,
                        (long long)step);
    col_flight f = {.from = p,
                    .port = a->send_port,
                    .to = a->to,
                    .to_port = a->to_port,
                    .bytes = a->bytes,
                    .reduces = a->reduces};
    f.n_ranges = col_ranges(r, p, thread, step, a, &f.ranges);
    col_load(r, &f);
    r->busy[p * x->n_ports + a->send_port] = true;
    r->flights[r->n_flights++] = f;
    r->sent += f.bytes;
    r->n_messages++;
    return true;
}

/* Everything that threads of p can do now. True when they did something. */
static inline bool col_advance(col_run *r, int32_t p)
{
    const th_collective_schedule *x = r->x;
    bool did = false;
    for (int32_t l = 0; l < x->n_threads; l++) {
        int64_t *step = &r->step[p * x->n_threads + l];
        th_collective_step a;
        while (*step >= 0 && !r->wrong[0]) {
            if (!x->algorithm->get_step(x, p, l, *step, &a)) {
                *step = -1;
                break;
            }
            if ((a.wait_port >= 0 && r->arrived[p * x->n_ports + a.wait_port] < a.wait_count) ||
                (a.send_port >= 0 && r->busy[p * x->n_ports + a.send_port]))
                break;
            if (a.send_port >= 0)
                col_post(r, p, l, *step, &a);
            ++*step;
            did = true;
        }
    }
    return did;
}

static inline void col_arrive(col_run *r, int64_t number)
{
    col_flight f = r->flights[number];
    col_memory *m = &r->memory[f.to];
    int64_t at = 0;
    memmove(&r->flights[number], &r->flights[number + 1],
            (size_t)(r->n_flights - number - 1) * sizeof *r->flights);
    r->n_flights--;
    r->busy[f.from * r->x->n_ports + f.port] = false;
    r->arrived[f.to * r->x->n_ports + f.to_port]++;
    for (int32_t i = 0; i < f.n_ranges && !r->wrong[0]; i++)
        for (int64_t j = 0; j < f.ranges[i].bytes; j++, at++) {
            int64_t position = f.ranges[i].first + j;
            m->word[position] = f.word[at] + (f.reduces ? m->word[position] : 0);
            m->has[position] = true;
        }
    for (int32_t i = 0; i < r->c->n_ranks; i++)
        m->knows[i] |= f.knows[i];
    r->received += f.bytes;
    th_free(f.ranges);
    th_free(f.word);
    th_free(f.knows);
}

static inline void col_execute(col_run *r)
{
    while (!r->wrong[0]) {
        bool did = false;
        for (int32_t p = 0; p < r->x->n_participants; p++)
            did |= col_advance(r, p);
        if (r->n_flights > 0)
            col_arrive(r, r->random ? pick(r->random, 0, r->n_flights - 1) : r->n_flights - 1);
        else if (!did)
            break;
    }
    for (int64_t i = 0; i < (int64_t)r->x->n_participants * r->x->n_threads; i++)
        if (r->step[i] >= 0)
            col_fail(r, "participant %d, thread %d never gets past step %lld",
                     (int)(i / r->x->n_threads), (int)(i % r->x->n_threads), (long long)r->step[i]);
}

/* --- judging ---------------------------------------------------------------------------------- */

static inline void col_judge(col_run *r)
{
    const th_collective *c = r->c;
    if (r->sent != r->received)
        col_fail(r, "%lld bytes sent, %lld received", (long long)r->sent, (long long)r->received);
    for (int64_t position = 0; position < r->n_positions; position++) {
        uint64_t right = col_right_word(c, position);
        for (int32_t i = 0; i < c->n_ranks; i++) {
            if (!col_ends_with(c, i, position))
                continue;
            if (!r->memory[i].has[position])
                col_fail(r, "rank %d lacks position %lld", i, (long long)position);
            else if (r->memory[i].word[position] != right)
                col_fail(r, "rank %d has a wrong word at position %lld", i, (long long)position);
        }
    }
    for (int32_t i = 0; c->kind == TH_BARRIER && i < c->n_ranks; i++)
        for (int32_t j = 0; j < c->n_ranks; j++)
            if (!r->memory[i].knows[j])
                col_fail(r, "rank %d leaves the barrier without having heard of rank %d", i, j);
}

static inline int64_t col_positions(const th_collective *c)
{
    if (c->kind == TH_BARRIER)
        return 0;
    if (c->kind != TH_ALL_TO_ALL)
        return c->bytes;
    return th_pair_first(c, c->n_ranks - 1, c->n_ranks - 1) +
           th_pair_bytes(c, c->n_ranks - 1, c->n_ranks - 1);
}

static inline void col_set_up(col_run *r, const th_collective_schedule *x, uint64_t seed)
{
    const th_collective *c = x->collective;
    size_t participants = (size_t)x->n_participants, ports = participants * (size_t)x->n_ports;
    *r = (col_run){.x = x, .c = c, .n_positions = col_positions(c)};
    r->memory = th_alloc_zero(participants, sizeof *r->memory);
    r->step = th_alloc_zero(participants * (size_t)x->n_threads, sizeof *r->step);
    r->arrived = th_alloc_zero(ports, sizeof *r->arrived);
    r->busy = th_alloc_zero(ports, sizeof *r->busy);
    r->flights = th_alloc_zero(ports + 1, sizeof *r->flights);
    r->random = seed ? th_random_stream(seed, "collective", 0) : NULL;
    for (int32_t p = 0; p < x->n_participants; p++) {
        col_memory *m = &r->memory[p];
        m->word = th_alloc_zero((size_t)r->n_positions + 1, sizeof *m->word);
        m->has = th_alloc_zero((size_t)r->n_positions + 1, sizeof *m->has);
        m->knows = th_alloc_zero((size_t)c->n_ranks, 1);
        if (p < c->n_ranks)
            m->knows[p] = 1;
        for (int64_t i = 0; i < r->n_positions && p < c->n_ranks; i++)
            if ((m->has[i] = col_starts_with(c, p, i)))
                m->word[i] = col_contribution(p, i);
    }
}

static inline void col_take_down(col_run *r)
{
    for (int32_t p = 0; p < r->x->n_participants; p++) {
        th_free(r->memory[p].word);
        th_free(r->memory[p].has);
        th_free(r->memory[p].knows);
    }
    for (int64_t i = 0; i < r->n_flights; i++) {
        th_free(r->flights[i].ranges);
        th_free(r->flights[i].word);
        th_free(r->flights[i].knows);
    }
    th_free(r->memory);
    th_free(r->step);
    th_free(r->arrived);
    th_free(r->busy);
    th_free(r->flights);
    if (r->random)
        gsl_rng_free(r->random);
}

/* NULL, or what is wrong (valid until the next call). n_messages (may be NULL): how many were
 * sent. */
static inline const char *collective_wrong(const th_collective *c, const th_system *s,
                                           uint64_t seed, int64_t *n_messages)
{
    static char text[400];
    th_collective_schedule x;
    th_error e = {"", ""};
    col_run r;
    if (th_collective_schedule_init(&x, c, s, &e)) {
        snprintf(text, sizeof text, "%s %.300s", e.id, e.text);
        return text;
    }
    col_set_up(&r, &x, seed);
    col_execute(&r);
    if (!r.wrong[0])
        col_judge(&r);
    if (n_messages)
        *n_messages = r.n_messages;
    snprintf(text, sizeof text, "%s", r.wrong);
    col_take_down(&r);
    th_collective_schedule_clear(&x);
    return text[0] ? text : NULL;
}

#endif
