/* SPDX-License-Identifier: GPL-3.0-or-later */
/* failure_law.h - when the units of one kind fail: a renewal process.
 *   new -> (at, unit -> renew)* -> free
 * A failed unit is replaced by a new one. Times between failures of a unit, with mean M:
 *   exponential     P(X > t) = exp(-t / M); the n units together fail at rate n / M
 *   Weibull, k      P(X > t) = exp(-(t / s)^k), s = M / Gamma(1 + 1/k); k < 1: early failures,
 *                   k > 1: wear; k = 1 is the exponential law. All units are new at time 0.
 *   a trace         the times of a list
 * Weibull, A statistical distribution function of wide applicability, J. Appl. Mech. 18, 1951;
 * that k of 0.7 to 0.8 fits the failures of large machines: Schroeder, Gibson, A large-scale study
 * of failures in high-performance computing systems, DSN 2006. */
#ifndef TH_SIM_RELIABILITY_FAILURE_LAW_H
#define TH_SIM_RELIABILITY_FAILURE_LAW_H
#include <stdbool.h>
#include <stdint.h>

enum { TH_FAILURE_UNITS_MAX = 1 << 24 };

typedef struct th_failure_kind {
    const char *name;
    int64_t n_units;       /* 1 .. TH_FAILURE_UNITS_MAX */
    double mtbf_s;         /* of one unit; more than 0 */
    double shape;          /* of the Weibull law; 1: exponential */
    const double *times_s; /* a trace, ascending, of the units together; NULL: none */
    int64_t n_times;
    bool takes_spare; /* the failed unit is replaced by a spare one: see training_run.h */
} th_failure_kind;

/* Mean time between failures of all units together; of a trace over duration_s. */
double th_failure_kind_mtbf(const th_failure_kind *k, double duration_s);

typedef struct th_failure_stream th_failure_stream;

/* The failures of a kind, which must outlive it; they depend on (seed, index) alone. NULL: memory
 * is out. */
th_failure_stream *th_failure_stream_new(const th_failure_kind *k, uint64_t seed, uint64_t index);
void th_failure_stream_free(th_failure_stream *f); /* accepts NULL */
/* The next failure, in seconds; infinity: there is none. */
double th_failure_stream_at(const th_failure_stream *f);
/* Which unit fails then; of a trace 0. */
int64_t th_failure_stream_unit(const th_failure_stream *f);
/* The unit that fails next has failed, and is new at from_s, at or after the failure. Nothing fails
 * before from_s: units that would have are new then, too. */
void th_failure_stream_renew(th_failure_stream *f, double from_s);

#endif
