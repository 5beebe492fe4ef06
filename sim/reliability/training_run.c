/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_run.c - see training_run.h.
 *   start -> (train up to the next failure -> recover)* -> train up to the end
 * Invariant: the parts of the outcome sum to the time so far. */
#include <config.h>

#include "sim/reliability/training_run.h"

#include <math.h>

#include "base/alloc.h"
#include "base/elementary.h"

typedef struct state {
    const th_training_run *run;
    th_failure_stream *streams[TH_FAILURE_KINDS_MAX];
    th_training_outcome *out;
    double now;
    /* Failed units in repair: when each is a spare again. Repairs all take the same time, so they
     * end in the order of failure. */
    double *repaired_at;
    size_t first, n, capacity;
    int64_t n_spares;
} state;

/* At the start, and at some of the failures. */
static bool is_interrupted(const state *s)
{
    enum { FAILURES_BETWEEN = 4096 }; /* polls */
    return s->run->is_interrupted && s->out->n_failures % FAILURES_BETWEEN == 0 &&
           s->run->is_interrupted();
}

/* ---- failures ---- */

/* The kind that fails next. */
static int next_kind(const state *s)
{
    int first = 0;
    for (int k = 1; k < s->run->n_kinds; k++)
        if (th_failure_stream_at(s->streams[k]) < th_failure_stream_at(s->streams[first]))
            first = k;
    return first;
}

static double next_failure(const state *s)
{
    return s->run->n_kinds > 0 ? th_failure_stream_at(s->streams[next_kind(s)]) : INFINITY;
}

/* Counts the failure that is next; its kind. */
static int take_failure(state *s)
{
    int kind = next_kind(s);
    s->out->n_failures++;
    s->out->n_failures_of[kind]++;
    th_failure_stream_renew(s->streams[kind], th_failure_stream_at(s->streams[kind]));
    return kind;
}

/* Nothing has failed from the last failure up to now. */
static void skip_failures(state *s)
{
    for (int k = 0; k < s->run->n_kinds; k++)
        while (th_failure_stream_at(s->streams[k]) < s->now)
            th_failure_stream_renew(s->streams[k], s->now);
}

/* ---- training ---- */

/* Trains up to a failure, or up to the end. Returns what a failure then loses. */
static double train(state *s, double until)
{
    const th_training_run *r = s->run;
    double period = r->interval_s + r->stall_s, elapsed = until - s->now;
    double whole = floor(elapsed / period), rest = elapsed - whole * period;
    double trained = whole * r->interval_s + fmin(rest, r->interval_s);
    double first = r->interval_s + r->write_s; /* the end of the first checkpoint */
    double complete = elapsed >= first ? floor((elapsed - first) / period) + 1 : 0;
    s->out->trained_s += trained;
    s->out->stalled_s += elapsed - trained;
    s->out->n_checkpoints += (int64_t)complete;
    s->now = until;
    return trained - complete * r->interval_s;
}

/* ---- recovery ---- */

/* Spends seconds on a part of the recovery, up to the end of the run. */
static void spend(state *s, double seconds, double *part)
{
    double left = s->run->duration_s - s->now;
    double spent = fmin(seconds, left);
    *part += spent;
    s->now += spent;
}

/* Spends up to seconds. True: the next failure came before. */
static bool fails_within(state *s, double seconds, double *part)
{
    double failure = next_failure(s);
    bool fails = failure < s->now + seconds && failure < s->run->duration_s;
    spend(s, fails ? fmax(failure - s->now, 0) : seconds, part);
    return fails;
}

/* Takes a spare unit, and sends the failed one to repair. 0, or -1: memory is out. */
static int take_spare(state *s, th_error *err)
{
    if (s->run->n_spares < 0)
        return 0;
    if (th_grow(&s->repaired_at, &s->capacity, s->n + 1, sizeof *s->repaired_at))
        return th_error_no_memory(err);
    s->repaired_at[s->n++] = s->now + s->run->repair_s;
    for (; s->first < s->n && s->repaired_at[s->first] <= s->now; s->first++)
        s->n_spares++;
    if (s->n_spares > 0) {
        s->n_spares--;
        return 0;
    }
    spend(s, s->repaired_at[s->first++] - s->now, &s->out->waiting_s);
    skip_failures(s);
    return 0;
}

static int interrupted(th_error *err)
{
    return th_error_interrupted(err, "the training was not simulated to its end");
}

/* From a failure to the restart. 0, or -1: memory is out, or it was interrupted. */
static int recover(state *s, th_error *err)
{
    const th_training_run *r = s->run;
    bool fails = true;
    while (fails && s->now < r->duration_s) {
        double began = s->now;
        int kind = take_failure(s);
        if (is_interrupted(s))
            return interrupted(err);
        fails = fails_within(s, r->detection_s, &s->out->detection_s);
        if (!fails && r->kinds[kind].takes_spare && take_spare(s, err))
            return -1;
        if (!fails)
            fails = fails_within(s, r->restart_s, &s->out->restart_s);
        s->out->lost_of[kind] += s->now - began;
    }
    return 0;
}

static int simulate(state *s, th_error *err)
{
    const th_training_run *r = s->run;
    if (is_interrupted(s))
        return interrupted(err);
    while (s->now < r->duration_s) {
        double failure = next_failure(s);
        if (failure >= r->duration_s) {
            train(s, r->duration_s);
            return 0;
        }
        double lost = train(s, failure);
        s->out->trained_s -= lost;
        s->out->lost_s += lost;
        s->out->lost_of[next_kind(s)] += lost;
        if (recover(s, err))
            return -1;
    }
    return 0;
}

int th_training_run_simulate(const th_training_run *r, uint64_t seed, uint64_t number,
                             th_training_outcome *out, th_error *err)
{
    state s = {.run = r, .out = out, .n_spares = r->n_spares};
    int failed = 0;
    *out = (th_training_outcome){0};
    for (int k = 0; k < r->n_kinds; k++) {
        s.streams[k] =
            th_failure_stream_new(&r->kinds[k], seed, number * TH_FAILURE_KINDS_MAX + (uint64_t)k);
        if (!s.streams[k])
            failed = th_error_no_memory(err);
    }
    if (!failed)
        failed = simulate(&s, err);
    for (int k = 0; k < r->n_kinds; k++)
        th_failure_stream_free(s.streams[k]);
    th_free(s.repaired_at);
    return failed ? -1 : 0;
}

/* ---- closed forms ---- */

double th_training_run_draws(const th_training_run *r)
{
    double draws = 0;
    for (int k = 0; k < r->n_kinds; k++) {
        const th_failure_kind *kind = &r->kinds[k];
        bool has_new_units = !kind->times_s && kind->shape != 1;
        draws += r->duration_s / th_failure_kind_mtbf(kind, r->duration_s) +
                 (has_new_units ? (double)kind->n_units : 0);
    }
    return draws;
}

double th_training_run_mtbf(const th_training_run *r)
{
    double rate = 0;
    for (int k = 0; k < r->n_kinds; k++)
        rate += 1 / th_failure_kind_mtbf(&r->kinds[k], r->duration_s);
    return 1 / rate;
}

double th_expected_training_share(double interval_s, double stall_s, double restart_s, double m)
{
    if (isinf(m))
        return interval_s / (interval_s + stall_s);
    double periods = th_exp((interval_s + stall_s) / m) - 1;
    return interval_s / (m * th_exp(restart_s / m) * periods);
}

double th_young_interval(double stall_s, double m)
{
    return sqrt(2 * stall_s * m);
}

double th_daly_interval(double stall_s, double m)
{
    double x = stall_s / (2 * m);
    return stall_s < 2 * m ? sqrt(2 * stall_s * m) * (1 + sqrt(x) / 3 + x / 9) - stall_s : m;
}

double th_best_interval(double stall_s, double m)
{
    double low = 0, high = 1, target = th_exp(-stall_s / m);
    if (isinf(m))
        return INFINITY;
    for (int i = 0; i < 100; i++) { /* more than the bits of a double */
        double x = (low + high) / 2;
        if ((1 - x) * th_exp(x) > target)
            low = x;
        else
            high = x;
    }
    return low * m;
}
