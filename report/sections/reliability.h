/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reliability.h - a training run with failures, simulated many times: its report.
 *   th_section_reliability: simulate -> tables */
#ifndef TH_REPORT_SECTIONS_RELIABILITY_H
#define TH_REPORT_SECTIONS_RELIABILITY_H
#include "report/table/report.h"
#include "sim/reliability/training_run.h"

typedef enum {
    TH_INTERVAL_GIVEN, /* run.interval_s */
    TH_INTERVAL_YOUNG,
    TH_INTERVAL_DALY,
    TH_INTERVAL_BEST /* of the closed form */
} th_interval_rule;

typedef struct th_reliability {
    th_training_run run; /* interval_s is filled unless the rule is GIVEN */
    th_interval_rule rule;
    double step_s; /* intervals are whole steps; 0: any time */
    uint64_t seed;
    int64_t n_runs;
} th_reliability;

/* Times of failures that all runs together may draw, per interval between checkpoints: 20 intervals
 * take some minutes. */
#define TH_RELIABILITY_DRAWS_MAX 1e8

/* 0, or -1: the checkpoint does not fit into an interval, the runs draw too much, memory is out, or
 * it was interrupted. */
int th_section_reliability(th_reliability *x, th_report *r, th_error *err);

#endif
