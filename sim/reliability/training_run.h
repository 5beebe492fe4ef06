/* SPDX-License-Identifier: GPL-3.0-or-later */
/* training_run.h - a training run of days or months with checkpoints and failures, from failure to
 * failure.
 *   th_training_run_simulate: one run; expected_share, best_interval: closed forms
 *
 * The run trains for interval_s, then stops for stall_s while a checkpoint is taken; the checkpoint
 * is complete write_s after it began, while training may continue. At a failure the run has lost
 * what it trained since the last complete checkpoint began. It notices after detection_s, takes a
 * spare unit, or waits for one, restarts for restart_s and continues from the checkpoint. A failure
 * during detection or restart begins both again; while it waits for a spare nothing fails. A failed
 * unit is a spare one again repair_s after the failure was noticed. Between two failures nothing is
 * simulated step by step: whole periods are counted.
 *
 * With exponential failures of mean M, stall_s = write_s = d and R = detection + restart, without a
 * lack of spares, the share of the time that trains is (J. Daly, A higher order estimate of the
 * optimum checkpoint interval for restart dumps, Future Generation Computer Systems 22, 2006, eq.
 * 20)
 *     t / (M exp(R/M) (exp((t + d)/M) - 1))          t = interval_s
 * It is greatest where (1 - t/M) exp(t/M) = exp(-d/M). For d << M: sqrt(2 d M) (J. Young, A first
 * order approximation to the optimum checkpoint interval, Comm. ACM 17, 1974); Daly's eq. 37:
 *     sqrt(2 d M) (1 + sqrt(d/2M)/3 + (d/2M)/9) - d          d < 2M, else M
 * Not modelled: failures that depend on each other, failed checkpoints, runs that continue on fewer
 * accelerators. */
#ifndef TH_SIM_RELIABILITY_TRAINING_RUN_H
#define TH_SIM_RELIABILITY_TRAINING_RUN_H
#include "base/error.h"
#include "sim/reliability/failure_law.h"

enum { TH_FAILURE_KINDS_MAX = 64 };

typedef struct th_training_run {
    double duration_s;       /* from the start to the end of the observation */
    double interval_s;       /* trained between two checkpoints; more than 0 */
    double stall_s, write_s; /* 0 <= stall_s <= write_s <= interval_s + stall_s */
    double detection_s, restart_s;
    double repair_s;  /* infinity: failed units never return */
    int64_t n_spares; /* -1: any number */
    const th_failure_kind *kinds;
    int n_kinds;
    bool (*is_interrupted)(void); /* polled; true: stop. NULL: never */
} th_training_run;

/* Where the time went; the parts up to waiting_s sum to the duration. */
typedef struct th_training_outcome {
    double trained_s; /* that was not lost */
    double stalled_s; /* for checkpoints */
    double lost_s;    /* trained, and lost by a failure */
    double detection_s, restart_s;
    double waiting_s;      /* for spares */
    int64_t n_checkpoints; /* completed */
    int64_t n_failures;
    int64_t n_failures_of[TH_FAILURE_KINDS_MAX];
    double lost_of[TH_FAILURE_KINDS_MAX]; /* all time lost after a failure of the kind */
} th_training_outcome;

/* The number-th run with this seed; it depends on nothing else. 0, or -1: memory is out, or it was
 * interrupted. */
int th_training_run_simulate(const th_training_run *r, uint64_t seed, uint64_t number,
                             th_training_outcome *out, th_error *err);

/* How many times of failures a run draws, in the mean, which is what its simulation costs: those
 * of the units at its start, unless they are exponential, and one after every failure. */
double th_training_run_draws(const th_training_run *r);
/* Mean time between failures of all kinds together. */
double th_training_run_mtbf(const th_training_run *r);
/* The closed forms above, for a mean m. */
double th_expected_training_share(double interval_s, double stall_s, double restart_s, double m);
double th_young_interval(double stall_s, double m);
double th_daly_interval(double stall_s, double m);
double th_best_interval(double stall_s, double m); /* the maximum of the expected share */

#endif
